"""What learning has to be: row by row in order, whatever form the rows come in."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from lopsided.checks.subject import (
    ensure,
    ensure_same_arrays,
    ensure_same_model,
    ensure_same_scores,
    fresh,
    learned,
    stream_for,
)

_ROUNDING = 1e-10  # sparse and dense rows are added up in another order


def check_batch_equals_loop(learner: Any) -> None:
    """A batch, batches of any size and a loop of single rows give the same model and the same scores."""
    stream, whole, batches, singles = stream_for(learner), fresh(learner), fresh(learner), fresh(learner)
    expected = whole.progressive_scores(stream.rows(), stream.y)
    scores: list[float] = []
    for start, stop in ((0, 2), (2, 3), (3, 40), (40, 41), (41, None)):
        scores.extend(batches.progressive_scores(stream.rows(start, stop), stream.y[start:stop]))
    for t, label in enumerate(stream.y.tolist()):
        singles.learn_one(stream.row(t), label)
    ensure_same_scores(scores, expected, "Batches of any size must report what one batch reports.")
    ensure_same_model(whole, batches, stream, "Batches of any size must give the model of one batch.")
    trained = learned(fresh(learner), stream)
    ensure_same_model(trained, singles, stream, "'learn_one' for each row must give the model of 'partial_fit'.")


def check_progressive_scores(learner: Any) -> None:
    """Progressive scores are those that the model would have answered before each row."""
    stream, asked = stream_for(learner), fresh(learner)
    expected = fresh(learner).progressive_scores(stream.rows(), stream.y)
    learned(asked, stream, 2)
    scores = []
    for t in range(2, len(stream.y)):
        scores.append(asked.raw_score_one(stream.row(t)))
        asked.learn_one(stream.row(t), stream.y[t])
    ensure_same_scores(scores, expected[2:], "'progressive_scores' must score, then learn.", within=1e-12)


def check_answered_scores_are_remembered(learner: Any) -> None:
    """Scores answered earlier change thresholds and probabilities, never the ranking; batch and loop agree."""
    stream, plain, batch, loop = stream_for(learner), fresh(learner), fresh(learner), fresh(learner)
    answered = np.linspace(-1.0, 1.0, len(stream.y)) + stream.y
    learned(plain, stream)
    batch.learn_many(stream.rows(), stream.y, scores=answered)
    for t, label in enumerate(stream.y.tolist()):
        loop.learn_one(stream.row(t), label, score=answered[t])
    ensure_same_model(batch, loop, stream, "'learn_many' with scores must equal 'learn_one' with each.")
    sentence = "Scores answered at the time must leave the ranking as it is."
    ensure_same_scores(batch.raw_scores(stream.rows()), plain.raw_scores(stream.rows()), sentence)
    told = (batch.predict_proba(stream.rows()), plain.predict_proba(stream.rows()))
    ensure(not np.array_equal(*told), "Probabilities must rest on the scores that were answered at the time.")


def check_fit_forgets(learner: Any) -> None:
    """`fit` forgets what was learned before; for a learner of streams it is one pass in order."""
    stream = stream_for(learner)
    again = learned(fresh(learner), stream, 60).fit(stream.rows(), stream.y)
    once = fresh(learner).fit(stream.rows(), stream.y)
    ensure_same_model(once, again, stream, "'fit' must forget everything that was learned before.")
    if hasattr(learner, "partial_fit") and hasattr(learner, "finish"):
        passed = learned(fresh(learner), stream).finish()
        ensure_same_model(once, passed, stream, "'fit' must be one pass over the rows in the order given.")


def check_zero_weight_is_no_row(learner: Any) -> None:
    """A row of weight 0 is not there; rows of weight 0 alone change nothing, and `fit` refuses them."""
    stream = stream_for(learner)
    weights = np.where(np.arange(len(stream.y)) % 3 == 2, 0.0, 1.0)
    kept = np.flatnonzero(weights)
    weighted = learned(fresh(learner), stream, sample_weight=weights)
    stream.X, stream.y = stream.X[kept], stream.y[kept]
    without = learned(fresh(learner), stream)
    ensure_same_model(weighted, without, stream, "A row of weight 0 must be the same as no row.")
    nothing = np.zeros(len(stream.y))
    if hasattr(weighted, "partial_fit"):
        before = weighted.to_bytes()
        weighted.partial_fit(stream.rows(), stream.y, sample_weight=nothing)
        weighted.learn_one(stream.row(0), stream.y[0], weight=0.0)
        ensure(weighted.to_bytes() == before, "Rows of weight 0 alone must change nothing.")
    try:
        fresh(learner).fit(stream.rows(), stream.y, sample_weight=nothing)
    except ValueError:
        return
    raise AssertionError("'fit' must refuse weights that are all 0. Got no error.")


def check_a_weight_counts_once(learner: Any) -> None:
    """`learn_one` with a weight is a batch of that row and weight."""
    stream, batch, loop = stream_for(learner), fresh(learner), fresh(learner)
    weights = np.where(np.arange(len(stream.y)) % 4 == 0, 0.5, 1.0)
    learned(batch, stream, sample_weight=weights)
    for t, label in enumerate(stream.y.tolist()):
        loop.learn_one(stream.row(t), label, weight=float(weights[t]))
    ensure_same_model(batch, loop, stream, "'learn_one' with a weight must equal 'partial_fit' with it.")


def check_rows_are_counted(learner: Any) -> None:
    """`n_seen_` counts the rows learned, `n_positives_seen_` those of the rare class."""
    stream = stream_for(learner)
    model = learned(fresh(learner), stream)
    got, expected = (model.n_seen_, model.n_positives_seen_), (len(stream.y), int(stream.y.sum()))
    ensure(got == expected, f"'n_seen_' and 'n_positives_seen_' must be {expected}. Got {got}.")


def check_input_is_left_alone(learner: Any) -> None:
    """Rows, labels and weights of the caller are never written to, and what is learned is no view of them."""
    stream, model = stream_for(learner), fresh(learner)
    X, y, weights = stream.rows(), stream.y.copy(), np.full(len(stream.y), 0.5)
    learned_from = str(X), y.copy(), weights.copy()
    (getattr(model, "partial_fit", None) or model.fit)(X, y, sample_weight=weights)
    scores = model.raw_scores(X)
    same = str(X) == learned_from[0] and np.array_equal(y, learned_from[1]) and np.array_equal(weights, learned_from[2])
    ensure(same, "Learning must leave the caller's rows, labels and weights as they were.")
    if isinstance(X, np.ndarray):
        X[:] = 1e3
    sentence = "A model must not change when the caller writes into rows that it has learned from."
    ensure_same_scores(model.raw_scores(stream.rows()), scores, sentence)


def check_sparse_equals_dense(learner: Any) -> None:
    """CSR rows give the model of the same rows written out, to rounding."""
    stream, rng = stream_for(learner), np.random.default_rng(3)
    more = rng.standard_normal((len(stream.y), 9)) * (rng.random((len(stream.y), 9)) < 0.3)
    stream.X = np.hstack([stream.X, more])
    dense, sparse = learned(fresh(learner), stream), fresh(learner)
    rows = sp.csr_matrix(stream.X)
    (getattr(sparse, "partial_fit", None) or sparse.fit)(rows, stream.y)
    expected = dense.raw_scores(stream.X)
    sentence = "CSR rows must give the scores of the same rows written out."
    for form in (rows, sp.csr_array(rows), stream.X):
        ensure_same_scores(sparse.raw_scores(form), expected, sentence, within=_ROUNDING)


def check_mappings_are_rows(learner: Any) -> None:
    """A mapping {name: number} is a row, whatever the order of its names; a missing or unknown name is refused."""
    stream, arrays, mappings = stream_for(learner), fresh(learner), fresh(learner)
    names = ["z", "a", "m"]
    for t, label in enumerate(stream.y.tolist()):
        row = dict(zip(names, stream.row(t).tolist(), strict=True))
        arrays.learn_one(stream.row(t), label)
        mappings.learn_one(row if t % 2 == 0 else dict(sorted(row.items())), label)
    ensure_same_arrays(arrays, mappings, "A mapping must be learned as the row of its numbers.")
    for t in range(0, len(stream.y), 10):
        row = dict(zip(names, stream.row(t).tolist(), strict=True))
        same = mappings.score_one(dict(sorted(row.items()))) == arrays.score_one(stream.row(t))
        ensure(same, "A mapping must be scored as the row of its numbers.")
    for wrong in ({"z": 1.0, "a": 1.0}, {**row, "unknown": 1.0}, {"z": 1.0, "a": 1.0, "M": 1.0}):
        before = mappings.to_bytes()
        try:
            mappings.learn_one(wrong, 0)
        except (ValueError, KeyError):
            ensure(mappings.to_bytes() == before, "A mapping that is refused must change nothing.")
            continue
        raise AssertionError(f"A mapping must have the names {names}. Got no error for {sorted(wrong)}.")


def check_missing_values(learner: Any) -> None:
    """NaN is a value that is not known: learned in batches as row by row, and answered with a finite score."""
    stream, whole, singles = stream_for(learner), fresh(learner), fresh(learner)
    X = np.where(stream.X == 0.0, np.nan, stream.X)
    whole.partial_fit(X, stream.y)
    for x, label in zip(X, stream.y.tolist(), strict=True):
        singles.learn_one(x, label)
    ensure_same_arrays(whole, singles, "Rows with missing values must be learned in batches as one by one.")
    scores = whole.raw_scores(np.full_like(X[:2], np.nan))
    ensure(np.isfinite(scores).all(), f"A row of which nothing is known must get a finite score. Got {scores[0]}.")
