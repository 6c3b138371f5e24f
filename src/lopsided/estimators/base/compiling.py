"""Compiling beforehand: a copy of a learner does once what the learner will do."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone


def compile_ahead(learner: Any, n_features: int | None, *, sparse: bool, classes: Any) -> None:
    """Let an untrained copy learn two rows and answer for them, in batches and one by one.

    More rows where a learner says that it does something else only later.
    """
    width = n_features if n_features is not None else getattr(learner, "n_features_in_", None)
    if width is None:
        raise ValueError(
            f"The parameter 'n_features' of {type(learner).__name__}.compile_ahead must be given before the first row. "
            "Got None."
        )
    pairs = _pairs_to_compile(learner)
    if sparse:  # built as a stream builds it, because a row may be too wide to be written out
        starts = np.repeat(np.array([0, 1], dtype=np.int32), [2 * pairs, 1])
        rows: Any = csr_array((np.ones(1), np.zeros(1, dtype=np.int32), starts), shape=(2 * pairs, width))
    else:
        rows = np.zeros((2 * pairs, width))
    labels = np.tile(np.asarray([0, 1] if classes is None else classes), pairs)
    copy = clone(learner)
    if not hasattr(copy, "progressive_scores"):
        copy.fit(rows, labels).answer(rows)
        return
    copy.progressive_scores(rows, labels, classes=labels[:2])
    copy.answer(rows)
    if not sparse:
        copy.learn_one(rows[0], labels[0]).answer_one(rows[0])


def _pairs_to_compile(learner: Any) -> int:
    """How many rows of either class it takes until everything has been used, also by what stands in a pipeline."""
    inner = getattr(learner, "learner", None)
    own = int(getattr(learner, "_pairs_to_compile", 1))
    return own if inner is None else max(own, _pairs_to_compile(inner))
