"""The squared hinge can explode: the learner must not."""

import warnings

import numpy as np
import pytest

import lopsided as lp
from lopsided.datasets import overlapping
from lopsided.kernels import Gaussian, Polynomial

STREAM = overlapping(3000, 5, rare=0.2, random_state=1)
EXPLODING = [
    lp.KOIL(C=100.0, learning_rate=0.1, loss="squared_hinge", gamma=0.2, random_state=0),
    lp.KOIL(C=1e200, gamma=0.2, random_state=0),
    lp.MultiKernelKOIL([Gaussian(gamma=0.2), Polynomial(3)], C=100.0, learning_rate=0.1, loss="squared_hinge"),
    lp.OILK(C=1e200, gamma=0.2),
]


@pytest.mark.parametrize("learner", EXPLODING, ids=lambda learner: str(learner)[:40])
def test_an_exploding_learner_stays_finite_counts_and_warns_once(learner):
    with pytest.warns(lp.DivergenceWarning, match=r"n_diverged_ counts them\); lower C") as caught:
        scores = learner.progressive_scores(STREAM.X, STREAM.y)
        learner.partial_fit(STREAM.X, STREAM.y)
        learner.learn_one(STREAM.X[0], STREAM.y[0])
    assert len(caught) == 1
    assert learner.n_diverged_ > 0
    assert np.isfinite(scores).all()
    assert np.isfinite(learner.decision_function(STREAM.X)).all()
    assert np.isfinite(learner.predict_proba(STREAM.X)).all()
    assert all(np.isfinite(array).all() for array in learner._arrays().values() if array.dtype.kind == "f")


def test_a_step_that_is_left_out_leaves_the_model_as_it_was():
    learner = lp.KOIL(C=1e160, random_state=0)
    with pytest.warns(lp.DivergenceWarning):
        learner.partial_fit(STREAM.X[:50], STREAM.y[:50])
    assert learner.n_diverged_ == 50
    assert learner.n_support_ == 0
    assert not learner.decision_function(STREAM.X).any()


def test_the_schedule_of_theory_is_the_cure():
    exploding = EXPLODING[0]
    cured = lp.KOIL(**(exploding.get_params() | {"schedule": "theory"}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = cured.progressive_scores(STREAM.X, STREAM.y)
    assert cured.n_diverged_ == 0
    assert lp.metrics.auroc(STREAM.y, scores) > 0.7


def test_single_examples_warn_too():
    learner = lp.KOIL(**EXPLODING[0].get_params())
    with pytest.warns(lp.DivergenceWarning):
        for x, y in zip(STREAM.X[:1500], STREAM.y[:1500], strict=True):
            learner.learn_one(x, y)
    assert np.isfinite(learner.score_one(STREAM.X[0]))
