"""Ctrl-C and SIGTERM between two portions, never within one: what was learned is whole and can be saved."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any, TypeVar

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_Item = TypeVar("_Item")


class Interruptible:
    """Loops over portions until they end, somebody presses Ctrl-C or the process is asked to end (SIGTERM).

    While a portion is worked on, that is noted and acted on afterwards; while the next one is waited for, at once.
    `interrupted` says whether it happened, and `exit_code` what a shell is to be told.
    """

    def __init__(self) -> None:
        self.interrupted = False
        self.exit_code = 0
        self._is_working = False

    def over(self, items: Iterable[_Item]) -> Iterator[_Item]:
        """The items; ends early when interrupted."""
        if threading.current_thread() is not threading.main_thread():
            yield from items
            return
        self._is_working = True
        before = {number: signal.signal(number, self._note) for number in _SIGNALS}
        try:
            iterator = iter(items)
            while not self.interrupted:
                try:
                    self._is_working = False
                    item = next(iterator)
                    self._is_working = True
                except StopIteration:
                    return
                except KeyboardInterrupt:
                    self._remember(signal.SIGINT)
                    return
                yield item
        finally:
            self._is_working = True
            for number, handler in before.items():
                signal.signal(number, handler)

    def undisturbed(self, work: Callable[[], object]) -> Callable[[], None]:
        """Work that is done while the next item is waited for, and must not end in the middle either."""

        def done() -> None:
            is_within, self._is_working = self._is_working, True
            try:
                work()
            finally:
                self._is_working = is_within
            if self.interrupted and not is_within:
                raise KeyboardInterrupt

        return done

    def _note(self, number: int, frame: FrameType | None) -> Any:
        is_at_once = self.interrupted or not self._is_working
        self._remember(number)
        if is_at_once:
            raise KeyboardInterrupt

    def _remember(self, number: int) -> None:
        """The first signal is the one that is reported."""
        self.interrupted = True
        self.exit_code = self.exit_code or 128 + number
