"""Compile what a learner needs before the clock runs, and say so if it takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

ANNOUNCEMENT = "compiling for this machine, once ..."


class Compilations(event.Listener):
    """Numba sends an event for every function that it did not find in its cache on disk; they are counted."""

    def __init__(self, announce: Callable[[str], None] | None = None) -> None:
        self.count = 0
        self._announce = announce

    def on_start(self, _: Any) -> None:
        if not self.count and self._announce is not None:
            self._announce(ANNOUNCEMENT)
        self.count += 1

    def on_end(self, _: Any) -> None:
        pass


@contextmanager
def counted_compilations(announce: Callable[[str], None] | None = None) -> Iterator[Compilations]:
    """Count the functions that are compiled meanwhile; `announce` is called at the first one."""
    compilations = Compilations(announce)
    with event.install_listener("numba:compile", compilations):
        yield compilations


def compile_ahead(
    learner: Any,
    classes: Any,
    *,
    n_features: int,
    is_sparse: bool = False,
    announce: Callable[[str], None],
) -> None:
    """Let the learner compile what it needs, so that compilation is over when the stream begins.

    `announce` is called only if something is compiled: machine code is kept on disk, and a learner that finds it there
    starts in half a second. Wrong parameters of the learner are found here, before any row is learned.
    """
    with counted_compilations(announce):
        learner.compile_ahead(n_features, sparse=is_sparse, classes=classes)
