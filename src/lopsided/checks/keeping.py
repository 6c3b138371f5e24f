"""What keeping a model has to be: going on with a kept one equals never having stopped, and copies are apart."""

from __future__ import annotations

import copy
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from lopsided.checks.subject import (
    ensure,
    ensure_same_model,
    ensure_same_scores,
    fresh,
    from_bytes,
    learned,
    loaded,
    stream_for,
)


def _check_going_on(learner: Any, again: Callable[[Any], Any], what: str, *, stops: tuple[int, ...] = (60,)) -> None:
    """Stop in the middle, after a batch and a single row; what `again` gives must go on as if nothing had happened."""
    stream, stopped = stream_for(learner), fresh(learner)
    if not hasattr(learner, "partial_fit"):
        learned(stopped, stream)
        ensure_same_model(stopped, again(stopped), stream, f"{what} must be the model that was kept.")
        return
    whole = fresh(learner)
    expected = whole.progressive_scores(stream.rows(), stream.y)
    for stop in stops:
        stopped = learned(fresh(learner), stream, stop)
        stopped.learn_one(stream.row(stop), stream.y[stop])
        resumed = again(stopped)
        ensure(type(resumed) is type(stopped), f"{what} must be of the same class. Got {type(resumed).__name__}.")
        ensure(str(resumed) == str(stopped), f"{what} must have the same parameters. Got {resumed}.")
        scores = resumed.progressive_scores(stream.rows(stop + 1), stream.y[stop + 1 :])
        ensure_same_scores(scores, expected[stop + 1 :], f"{what} must go on as if it had never stopped.")
        sentence = f"{what} must become what it would have become."
        ensure_same_scores(resumed.raw_scores(stream.rows()), whole.raw_scores(stream.rows()), sentence)
        told = (resumed.predict_proba(stream.rows()), whole.predict_proba(stream.rows()))
        ensure(np.array_equal(*told) and resumed.threshold_ == whole.threshold_, f"{what} must remember its scores.")
        ensure(np.array_equal(resumed.classes_, whole.classes_), f"{what} must keep its labels.")


def check_saving_and_loading(learner: Any) -> None:
    """A model that is saved and loaded goes on as if it had never stopped; saving twice gives the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"

        def again(model: Any) -> Any:
            model.save(path)
            ensure(path.read_bytes() == model.to_bytes(), "'save' must write what 'to_bytes' gives.")
            return loaded(model, path)

        _check_going_on(learner, again, "A loaded model", stops=(2, 60))


def check_bytes(learner: Any) -> None:
    """`from_bytes` of `to_bytes` goes on as if it had never stopped, and has the same bytes."""

    def again(model: Any) -> Any:
        resumed = from_bytes(model, model.to_bytes())
        ensure(resumed.to_bytes() == model.to_bytes(), "A model must have the bytes that it was read from.")
        return resumed

    _check_going_on(learner, again, "A model read from bytes")


def check_pickling(learner: Any) -> None:
    """A pickled model goes on as if it had never stopped, also from the read-only memory that joblib hands over."""
    _check_going_on(learner, lambda model: pickle.loads(pickle.dumps(model)), "A pickled model")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"

        def again(model: Any) -> Any:
            joblib.dump(model, path)
            return joblib.load(path, mmap_mode="r")

        _check_going_on(learner, again, "A model in memory that joblib maps")


def check_copies_are_apart(learner: Any) -> None:
    """`copy.deepcopy` and `snapshot` give models that go on alike, and apart from the original."""
    stream = stream_for(learner)
    expected = learned(fresh(learner), stream, 60).raw_scores(stream.rows())
    ways: dict[str, Callable[[Any], Any]] = {"deep copy": copy.deepcopy, "snapshot": lambda model: model.snapshot()}
    for kind, copied in ways.items():
        _check_going_on(learner, copied, f"A {kind}")
        one, other = (learned(fresh(learner), stream, 60) for _ in range(2))
        learned(copied(one), stream)
        sentence = f"A model must not learn from what its {kind} learns."
        ensure_same_scores(one.raw_scores(stream.rows()), expected, sentence)
        kept = copied(other)
        learned(other, stream)
        sentence = f"A {kind} must not learn from what its original learns."
        ensure_same_scores(kept.raw_scores(stream.rows()), expected, sentence)


def check_cloning(learner: Any) -> None:
    """A clone has the parameters and nothing that was learned."""
    stream = stream_for(learner)
    unused = clone(learned(fresh(learner), stream))
    ensure(str(unused) == str(fresh(learner)), f"A clone must have the parameters of its original. Got {unused}.")
    left = [name for name in vars(unused) if name.endswith("_") and not name.startswith("__")]
    ensure(not left, f"A clone must hold nothing that was learned. Got {left}.")
