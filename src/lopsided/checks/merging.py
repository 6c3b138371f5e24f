"""What merging has to be: models of parts become one, whatever their order, and an empty one adds nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.checks.subject import (
    Stream,
    ensure,
    ensure_same_arrays,
    ensure_same_model,
    ensure_same_scores,
    fresh,
    from_bytes,
    learned,
    stream_for,
)

_ROUNDING = 1e-7  # of the largest score: a system of equations may magnify that of its sums


def _models_of_parts(learner: Any, stream: Stream, stop: int, end: int) -> tuple[Any, Any]:
    first = learned(fresh(learner), stream, stop)
    second = first.empty_like()
    second.partial_fit(stream.rows(stop, end), stream.y[stop:end])
    return first, second


def check_merging_with_an_empty_model(learner: Any) -> None:
    """An empty model has the same parameters and features, has seen nothing, and changes nothing when it is merged."""
    stream = stream_for(learner)
    model = learned(fresh(learner), stream, 60)
    empty = model.empty_like()
    ensure(empty.n_seen_ == 0, f"What 'empty_like' gives must have seen nothing. Got {empty.n_seen_} rows.")
    ensure(str(empty) == str(model), f"What 'empty_like' gives must have the same parameters. Got {empty}.")
    for what, merged in (("with", model.merged_with([empty])), ("into", empty.merged_with([model]))):
        ensure_same_model(merged, model, stream, f"Merging {what} an empty model must change nothing.")


def check_merging_in_any_order(learner: Any) -> None:
    """The order of models makes no difference, to the last bit; they stay as they are, and all rows are counted."""
    stream = stream_for(learner)
    first, second = _models_of_parts(learner, stream, 50, 90)
    third = first.empty_like()
    third.partial_fit(stream.rows(20, 50), stream.y[20:50])
    before = [model.to_bytes() for model in (first, second, third)]
    merged, turned = first.merged_with([second, third]), third.merged_with([second, first])
    ensure_same_arrays(merged, turned, "Models must give the same merge in any order.")
    after = [model.to_bytes() for model in (first, second, third)]
    ensure(before == after, "Models must stay as they are when they are merged.")
    counted = merged.n_seen_, merged.n_positives_seen_
    expected = 120, int(stream.y.sum() + stream.y[20:50].sum())
    ensure(counted == expected, f"A merged model must count all rows and positives, {expected}. Got {counted}.")


def check_merged_models_go_on(learner: Any) -> None:
    """A merged model answers, is saved and loaded, and learns on like any other."""
    stream = stream_for(learner)
    first, second = _models_of_parts(learner, stream, 50, 90)
    merged = first.merged_with([second])
    scores = merged.raw_scores(stream.rows())
    ensure(np.isfinite(scores).all(), "The scores of a merged model must be finite.")
    again = from_bytes(merged, merged.to_bytes())
    ensure_same_model(again, merged, stream, "A merged model must be what its bytes say.")
    merged.partial_fit(stream.rows(), stream.y)
    merged.learn_one(stream.row(0), stream.y[0])
    counted = merged.n_seen_
    ensure(counted == 181, f"A merged model must learn on from all rows that it has seen, to 181. Got {counted}.")


def check_parts_add_up(learner: Any) -> None:
    """The merge of models of two parts of a stream is, but for rounding, the model of the whole stream."""
    stream = Stream(as_table=stream_for(learner).as_table, n_rows=240)
    whole = learned(fresh(learner), stream, 240)
    first, second = _models_of_parts(learner, stream, 120, 240)
    merged = first.merged_with([second])
    for model in (whole, merged):
        if hasattr(model, "finish"):
            model.finish()
    expected = whole.raw_scores(stream.rows())
    within = _ROUNDING * max(1.0, float(np.abs(expected).max()))
    sentence = "The merge of models of two parts must be the model of the whole."
    ensure_same_scores(merged.raw_scores(stream.rows()), expected, sentence, within=within)
