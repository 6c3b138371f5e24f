"""What a refusal has to be: an error at the door, and a model that is what it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from lopsided.checks.subject import Stream, ensure, fresh, learned, stream_for, takes_missing

_REFUSED = (ValueError, TypeError)
# A first `fit` takes any width and any two labels, and one without a schema any columns.
_ONLY_LATER = ("another number of features", "other labels")
_ONLY_BY_A_SCHEMA = ("a missing column", "a word for a number")


def _bad_rows(stream: Stream, *, may_miss: bool) -> Iterator[tuple[str, Any]]:
    if stream.as_table:
        yield "a missing column", {name: cells for name, cells in stream.rows(0, 5).items() if name != "a"}
        yield "a word for a number", stream.rows(0, 5) | {"a": ["x"] * 5}
        yield "columns of different length", stream.rows(0, 5) | {"a": [1.0]}
        yield "no rows", stream.rows(0, 0)
        yield "a number", 3.0
        return
    X = stream.rows(0, 5)
    for value in (np.inf, 1e200) if may_miss else (np.nan, np.inf, 1e200):
        bad = X.copy()
        bad[3, 1] = value
        yield f"a feature that is {value}", bad
        yield f"a sparse feature that is {value}", sp.csr_matrix(bad)
    yield "another number of features", X[:, :2]
    yield "no rows", X[:0]
    yield "no features", X[:, :0]
    yield "one dimension", X[0]
    yield "three dimensions", X[:, :, None]
    yield "words", [["a", "b", "c"]] * 5
    yield "objects", np.array([[object()] * X.shape[1]] * 5)
    yield "complex numbers", X + 1j


def _bad_labels(y: Any) -> Iterator[tuple[str, Any]]:
    yield "a third label", [0, 1, 2, 0, 1]
    yield "other labels", list("ababa")
    yield "too few labels", y[:4]
    yield "two columns of labels", np.stack([y[:5], y[:5]], axis=1)
    yield "no labels", None
    yield "labels that are NaN", [0.0, 1.0, np.nan, 0.0, 1.0]
    yield "continuous labels", [0.1, 0.7, 0.3, 0.2, 0.9]
    yield "labels of several types", np.array([0, "x", 1, None, 0], dtype=object)


def _bad_weights() -> Iterator[tuple[str, Any]]:
    yield "a negative weight", [-1.0] + [1.0] * 4
    yield "a weight that is NaN", [np.nan] * 5
    yield "too few weights", [1.0] * 4
    yield "two columns of weights", [[1.0, 1.0]] * 5
    yield "words for weights", "heavy"


def _ensure_refused(attempt: Callable[[], Any], what: str) -> None:
    try:
        attempt()
    except _REFUSED:
        return
    raise AssertionError(f"Bad input must be refused with a ValueError or TypeError. Got no error for {what}.")


def check_bad_batches_change_nothing(learner: Any) -> None:
    """Rows, labels and weights that cannot be are refused, and the model is what it was, to the byte."""
    stream = stream_for(learner)
    model = learned(fresh(learner), stream, 60)
    unused, before, y = fresh(learner), model.to_bytes(), stream.y[:5]
    only_later = _ONLY_LATER + (_ONLY_BY_A_SCHEMA if getattr(learner, "schema", stream) is None else ())
    bad_rows = _bad_rows(stream, may_miss=takes_missing(learner))
    bad = [(what, rows, y[: 1 if what == "one dimension" else 5], None) for what, rows in bad_rows]
    bad += [(what, stream.rows(0, 5), labels, None) for what, labels in _bad_labels(y)]
    bad += [(what, stream.rows(0, 5), y, weights) for what, weights in _bad_weights()]
    for what, rows, labels, weights in bad:
        _ensure_all_refuse(model, what, rows, labels, weights, is_fit_too=what not in only_later)
        ensure(model.to_bytes() == before, f"A refusal must leave the model as it was. Got another after {what}.")
        if what not in only_later:
            learn = getattr(unused, "partial_fit", None) or unused.fit
            _ensure_refused(lambda: learn(rows, labels, sample_weight=weights), f"a first batch with {what}")  # noqa: B023
            ensure(not hasattr(unused, "n_features_in_"), f"A refusal must not begin a model. Got one after {what}.")


def _ensure_all_refuse(model: Any, what: str, rows: Any, labels: Any, weights: Any, *, is_fit_too: bool) -> None:
    if is_fit_too:
        _ensure_refused(lambda: model.fit(rows, labels, sample_weight=weights), f"'fit' with {what}")
    if not hasattr(model, "partial_fit"):
        return
    _ensure_refused(lambda: model.partial_fit(rows, labels, sample_weight=weights), f"'partial_fit' with {what}")
    _ensure_refused(lambda: model.learn_many(rows, labels, sample_weight=weights), f"'learn_many' with {what}")
    if weights is None:
        _ensure_refused(lambda: model.progressive_scores(rows, labels), f"'progressive_scores' with {what}")


def check_bad_examples_change_nothing(learner: Any) -> None:
    """A single row, label, score or weight that cannot be is refused, and the model is what it was, to the byte."""
    stream = stream_for(learner)
    model = learned(fresh(learner), stream, 60)
    before, good = model.to_bytes(), stream.row(0)
    bad_rows: dict[str, Any] = {"no row": None, "a word": "x"}
    if not stream.as_table:
        bad_rows |= {
            "NaN": [np.nan, 0.0, 0.0],
            "infinity": [0.0, 0.0, -np.inf],
            "a feature without a finite square": [1e200, 0.0, 0.0],
            "too few features": [0.0, 0.0],
            "a row of two dimensions": [[0.0, 0.0, 0.0]],
            "words for numbers": ["a", "b", "c"],
        }
        if takes_missing(learner):
            bad_rows.pop("NaN")
    for what, x in bad_rows.items():
        for name, attempt in (("learn_one", lambda: model.learn_one(x, 1)), ("score_one", lambda: model.score_one(x))):  # noqa: B023
            _ensure_refused(attempt, f"'{name}' with {what}")
            ensure(model.to_bytes() == before, f"A refusal must leave the model as it was. Got another after {what}.")
    others: list[tuple[str, Any, dict[str, Any]]] = [
        ("a third label", 5, {}),
        ("no label", None, {}),
        ("a word as label", "fraud", {}),
    ]
    others += [("a score that is infinite", 1, {"score": np.inf}), ("a negative weight", 1, {"weight": -1.0})]
    for what, label, more in others:
        _ensure_refused(lambda: model.learn_one(good, label, **more), f"'learn_one' with {what}")  # noqa: B023
        ensure(model.to_bytes() == before, f"A refusal must leave the model as it was. Got another after {what}.")


def check_too_early(learner: Any) -> None:
    """A learner that has learned nothing says so when it is asked, saved, or looked into."""
    stream, unused = stream_for(learner), fresh(learner)
    for ask in ("decision_function", "raw_scores", "predict", "predict_proba", "answer"):
        _ensure_refused(lambda: getattr(unused, ask)(stream.rows()), f"'{ask}' before learning")  # noqa: B023
    for ask in ("score_one", "raw_score_one", "answer_one"):
        if hasattr(unused, ask):
            _ensure_refused(lambda: getattr(unused, ask)(stream.row(0)), f"'{ask}' before learning")  # noqa: B023
    _ensure_refused(unused.to_bytes, "'to_bytes' before learning")
    ensure(not unused.started_, "'started_' must be False before learning.")
    ensure(learned(unused, stream).started_, "'started_' must be True after learning.")


def check_one_class_is_not_enough_to_fit(learner: Any) -> None:
    """`fit` refuses rows of one class, because nobody could rank by them."""
    stream = stream_for(learner)
    _ensure_refused(lambda: fresh(learner).fit(stream.rows(), np.ones(len(stream.y), dtype=int)), "one class in 'fit'")
