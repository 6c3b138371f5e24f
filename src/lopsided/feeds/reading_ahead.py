"""Reading in a thread of its own, while what was read before is learned or scored."""

from __future__ import annotations

from collections.abc import Iterator
from queue import Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

_Item = TypeVar("_Item")

_PATIENCE = 0.1  # seconds after which a thread that waits looks whether anybody still wants something
_END = object()


class _Failed:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def read_ahead(items: Iterator[_Item]) -> Iterator[_Item]:
    """The same items in the same order; the next one is made by another thread while this one works.

    At most two items more than without it are in memory: one that waits, and one that is being made. What making an
    item raises is raised here, after all items before it. Whoever stops early waits for the item that is being made.
    """
    made: Queue[Any] = Queue(maxsize=1)
    unwanted = Event()

    def hand_over(item: Any) -> bool:
        while not unwanted.is_set():
            try:
                made.put(item, timeout=_PATIENCE)
                return True
            except Full:
                continue
        return False

    def make() -> None:
        try:
            for item in items:
                if not hand_over(item):
                    return
            hand_over(_END)
        except BaseException as error:
            hand_over(_Failed(error))

    maker = Thread(target=make, name="reading ahead", daemon=True)
    maker.start()
    try:
        while (item := made.get()) is not _END:
            if isinstance(item, _Failed):
                raise item.error
            yield item
    finally:
        unwanted.set()
        maker.join()
