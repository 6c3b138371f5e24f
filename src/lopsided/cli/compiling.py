"""Compile what a learner needs before the clock runs, and say so if it takes long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import event
from scipy.sparse import csr_array
from sklearn.base import clone

ANNOUNCEMENT = "compiling for this machine, once ..."


class _FirstCompilation(event.Listener):
    """Numba sends an event for every function that it did not find in its cache on disk; the first one is announced."""

    def __init__(self, announce: Callable[[str], None]) -> None:
        self._announce = announce
        self._heard = False

    def on_start(self, _: Any) -> None:
        if not self._heard:
            self._heard = True
            self._announce(ANNOUNCEMENT)

    def on_end(self, _: Any) -> None:
        pass


def compile_ahead(
    learner: Any,
    classes: npt.NDArray[Any],
    *,
    n_features: int,
    is_sparse: bool = False,
    answers: bool = False,
    announce: Callable[[str], None],
) -> None:
    """Let a copy of the learner learn two rows, so that compilation is over when the stream begins.

    `announce` is called only if something is compiled: machine code is kept on disk, and a learner that finds it there
    starts in half a second. Wrong parameters of the learner are found here, before any row is learned. With `answers`
    the code of `decision_function` is made too.
    """
    if is_sparse:  # built as a stream builds it, because a row may be too wide to be written out
        indices, starts = np.zeros(1, dtype=np.int32), np.array([0, 0, 1], dtype=np.int32)
        rows = csr_array((np.ones(1), indices, starts), shape=(2, n_features))
    else:
        rows = np.zeros((2, n_features))
    copy = clone(learner)
    with event.install_listener("numba:compile", _FirstCompilation(announce)):
        copy.progressive_scores(rows, np.asarray(classes), classes=classes)
        if answers:
            copy.decision_function(rows)
