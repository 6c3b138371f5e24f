"""Ctrl-C between two portions, never within one: what was learned is whole and can be saved."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any, TypeVar

INTERRUPTED = 130  # 128 + SIGINT, as shells report it

_Item = TypeVar("_Item")


class Interruptible:
    """Loops over portions until they end or somebody presses Ctrl-C; `interrupted` says which.

    While a portion is worked on, Ctrl-C is noted and acted on afterwards; while the next one is waited for, at once.
    """

    def __init__(self) -> None:
        self.interrupted = False
        self._is_working = False

    def over(self, items: Iterable[_Item]) -> Iterator[_Item]:
        """The items; ends early when interrupted."""
        if threading.current_thread() is not threading.main_thread():
            yield from items
            return
        before = signal.signal(signal.SIGINT, self._note)
        try:
            iterator = iter(items)
            while not self.interrupted:
                try:
                    item = next(iterator)
                except StopIteration:
                    return
                except KeyboardInterrupt:
                    self.interrupted = True
                    return
                self._is_working = True
                yield item
                self._is_working = False
        finally:
            self._is_working = False
            signal.signal(signal.SIGINT, before)

    def _note(self, number: int, frame: FrameType | None) -> Any:
        if self.interrupted or not self._is_working:
            self.interrupted = True
            raise KeyboardInterrupt
        self.interrupted = True
