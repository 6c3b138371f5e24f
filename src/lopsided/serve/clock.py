"""What time it is, for a service that must not be fooled by a clock that jumps while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], float]


def steady_clock() -> Clock:
    """Seconds since 1970 that go on evenly, whatever becomes of the machine's clock while the service runs.

    A clock that jumps a month ahead would make every event that waits for its label expire.
    """
    began, ticks = time.time(), time.monotonic()
    return lambda: began + time.monotonic() - ticks
