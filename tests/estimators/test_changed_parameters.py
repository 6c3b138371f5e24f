"""Parameters that are changed after learning began: a model goes by those it began with, and so does its file."""

import numpy as np
import pytest
from sklearn.base import clone

import lopsided as lp
from lopsided.datasets import four_clusters
from lopsided.kernels import Gaussian, Linear


@pytest.fixture(scope="module")
def stream():
    return four_clusters(60, 240, random_state=3)


CHANGES = [
    (lp.KOIL(gamma=20.0, budget=20, random_state=1), {"budget": 5}),
    (lp.KOIL(gamma=20.0, random_state=1), {"gamma": 0.01}),
    (lp.KOIL(gamma=20.0, random_state=1), {"C": 100.0}),
    (lp.SPA(gamma=20.0, random_state=1), {"sampling_scale": 1.0}),
    (lp.MultiKernelKOIL([Gaussian(gamma=20.0), Linear()], random_state=1), {"kernels": [Linear()]}),
    (lp.OMCSL(random_state=1), {"n_costs": 2}),
    (lp.OB2RMK(kernels=[Gaussian(gamma=2.0)], budget=10, max_sweeps=9), {"budget": 2, "n_neighbors": 1}),
    (lp.FourierRanker(n_components=20, random_state=1), {"n_components": 10}),
    (lp.StreamPipeline(lp.OnlineScaler(), lp.KOIL(random_state=1)), {"learner__budget": 5, "scaler__kind": "minmax"}),
    (lp.ExpertPool([lp.KOIL(), lp.SPA()], random_state=1), {"learners": [lp.KOIL()], "combine": "best"}),
]


@pytest.mark.parametrize("model, changes", CHANGES, ids=lambda value: str(value)[:40])
def test_a_change_has_no_effect_until_the_next_fit_and_does_not_spoil_the_file(model, changes, stream, tmp_path):
    first, rest = slice(0, 150), slice(150, None)
    unchanged, changed = (clone(model).partial_fit(stream.X[first], stream.y[first]) for _ in range(2))
    changed.set_params(**changes).save(tmp_path / "model")
    loaded = lp.load(tmp_path / "model")
    expected = unchanged.progressive_scores(stream.X[rest], stream.y[rest])
    for one in (changed, loaded):
        np.testing.assert_array_equal(one.progressive_scores(stream.X[rest], stream.y[rest]), expected)
    assert str(changed) != str(unchanged)
    assert str(changed.fit(stream.X, stream.y)) == str(clone(changed))


@pytest.mark.parametrize(
    "model, name",
    [(lp.KOIL(random_state=1), "threshold"), (lp.StreamPipeline(None, lp.KOIL(random_state=1)), "learner__threshold")],
)
def test_the_threshold_holds_at_once_and_in_the_file(model, name, stream, tmp_path):
    model = clone(model).partial_fit(stream.X, stream.y)
    model.set_params(**{name: "rate:0.1"})
    model.save(tmp_path / "model")
    for one in (model, lp.load(tmp_path / "model")):
        assert one.threshold_ != 0.0
        assert 0 < np.mean(one.predict(stream.X) == 1) < 0.25


def test_all_columns_have_their_scores_whatever_n_costs_says_now(stream):
    model = lp.OMCSL(n_costs=9).partial_fit(stream.X, stream.y).set_params(n_costs=2)
    assert model.progressive_expert_scores(stream.X, stream.y).shape == (300, 9)


def test_a_refused_seed_leaves_the_learner_as_it_was(stream):
    model = lp.KOIL(random_state=-1)
    with pytest.raises(ValueError):
        model.fit(stream.X, stream.y)
    assert model.set_params(random_state=0).partial_fit(stream.X, stream.y).n_support_ > 0
