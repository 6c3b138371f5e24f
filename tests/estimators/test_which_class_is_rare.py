"""The larger label is the rare class unless told; that it turns out to be the common one is said, once."""

import warnings

import numpy as np
import pytest

import lopsided as lp
from lopsided.labels import LabelMap, Signs

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 2))
RARE = RNG.random(150) < 0.1


def fresh(**more):
    return lp.OnlinePerceptron(**more)


def batch(model, X, y):
    model.partial_fit(X, y)


def batches(model, X, y):
    for start in range(0, len(y), 30):
        model.partial_fit(X[start : start + 30], y[start : start + 30], classes=np.unique(y))


def loop(model, X, y):
    model.partial_fit(X[:1], y[:1], classes=np.unique(y))
    for x, label in zip(X[1:], y[1:].tolist(), strict=True):
        model.learn_one(x, label)


def late(model, X, y):
    lp.late.LateLearner(model, delay=5).progressive_scores(X, y)


WAYS = [
    lambda model, X, y: model.fit(X, y),
    batch,
    batches,
    loop,
    late,
    lambda model, X, y: model.progressive_scores(X, y),
    lambda model, X, y: lp.StreamPipeline(learner=model).partial_fit(X, y),
]


@pytest.mark.parametrize("learn", WAYS)
@pytest.mark.parametrize("labels", [(-1, 1), (0, 1), ("fraud", "ok"), (False, True)])
def test_a_rare_class_that_is_common_is_said_once(learn, labels):
    y = np.where(RARE, *labels)
    with pytest.warns(lp.CommonClassWarning, match=r"the larger one, but .* rows so far have it.* 'pos_label'") as said:
        learn(fresh(), X, y)
    assert len(said) == 1


def no_warning(learn, model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learn(model, X, y)


@pytest.mark.parametrize("learn", WAYS)
def test_nothing_is_said_where_nothing_is_wrong(learn):
    no_warning(learn, fresh(pos_label=-1), X, np.where(RARE, -1, 1))
    no_warning(learn, fresh(), X, np.where(RARE, 1, 0))
    no_warning(learn, fresh(), X[:90], np.where(RARE, 0, 1)[:90])
    no_warning(learn, fresh(), X, np.arange(150) % 2)
    no_warning(learn, fresh(), X, np.where(np.arange(150) < 75, 1, 0))


def test_balanced_streams_are_never_suspected():
    rng = np.random.default_rng(1)
    for _ in range(20):
        no_warning(loop, fresh(), rng.normal(size=(400, 1)), rng.integers(0, 2, 400))


def test_labels_that_a_stream_has_named_and_models_that_were_loaded_are_not_suspected(tmp_path):
    signs = Signs.of(np.where(RARE, -1.0, 1.0), LabelMap(np.array(["fraud", "ok"]), "ok"))
    model = fresh()
    no_warning(batch, model, X, signs)
    y = np.where(RARE, 0, 1)
    with pytest.warns(lp.CommonClassWarning):
        model = fresh().fit(X, y)
    model.save(tmp_path / "m")
    no_warning(loop, lp.load(tmp_path / "m"), X, y)
