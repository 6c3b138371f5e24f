"""ONNX files that were compared with the model before anybody gets them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.constraints import ParameterError
from lopsided.encoding import EncodedRows
from lopsided.inspection import kernel_sums_of

_WORST = 1e-6
_ROWS = 16


def to_onnx(model: Any, *, names: list[str] | None = None) -> bytes:
    """A model as the content of an ONNX file, checked against the model's own scores.

    Parameters
    ----------
    model : a model whose score is a formula of the row: every learner of this package, pools and pipelines of them.
    names : what the columns of its input are called; default: as `feature_names` says.

    The graph takes `rows`, float64 of shape (n, n_features), as the model's encoder makes them (NaN for a missing
    number of a table; a matrix of numbers is such as it is), and gives `score`, which is `decision_function`, and
    `probability`, that of the positive label. The names of the columns and both labels are in its metadata. Needs the
    package onnx. ParameterError for models that are made otherwise, such as those of classes from elsewhere.
    """
    from lopsided.export.onnx_graph import graph_of

    if hasattr(model, "arrived"):
        raise ParameterError(
            "A model can be exported if its score follows from the row alone, and not from what keys did before. "
            f"Got a model of {type(model).__name__}."
        )
    model = model.snapshot()  # graph and scores are of one moment, whatever other threads do
    content = graph_of(model, names)
    if content is None or not largest_difference(content, model, rows_to_compare(model)) <= _WORST:
        raise ParameterError(
            "A model can be exported if its score is a formula of the row that lopsided.export knows, as those of its "
            f"own learners are. Got a model of {type(model.final_learner).__name__}, which is made otherwise."
        )
    return content


def largest_difference(content: bytes, model: Any, rows: npt.NDArray[np.float64]) -> float:
    """The largest difference between the scores of an ONNX file and of its model, as a share of the largest score."""
    from lopsided.export.onnx_graph import scores_of

    expected = model.raw_scores(rows.view(EncodedRows)) - model.threshold_
    return float(np.abs(scores_of(content, rows) - expected).max() / max(1.0, np.abs(expected).max()))


def rows_to_compare(model: Any) -> npt.NDArray[np.float64]:
    """Rows of the kind that the model has learned from, on which it is worth comparing.

    Normal draws on the learner's scale, half of them around what it keeps: far from it every kernel is 0.
    """
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(_ROWS, model.n_features_in_))
    kept = [terms.vectors for terms in kernel_sums_of(model) if terms.vectors.size]
    if kept:
        vectors = np.concatenate(kept)
        rows[::2] = vectors[rng.integers(len(vectors), size=len(rows[::2]))] + 0.1 * rows[::2]
    if hasattr(model, "unscaled"):
        return np.nan_to_num(model.unscaled(rows))
    centre, spread = getattr(model, "scale_", (model.typical_row_, 1.0))
    rows = np.asarray(centre + spread * rows)
    if getattr(model, "takes_missing", False):
        rows[1::3, rng.integers(rows.shape[1])] = np.nan
    return rows
