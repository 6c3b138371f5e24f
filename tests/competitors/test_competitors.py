"""What learners are compared with runs, learns, and is tested before it is trained."""

import numpy as np
import pytest
import scipy.sparse as sp

from lopsided.competitors import COMPETITORS, competitor, installed
from lopsided.constraints import ParameterError
from lopsided.datasets import overlapping
from lopsided.metrics import auroc

STREAM = overlapping(500, 5, rare=0.3, random_state=0)


def test_all_of_them_are_installed_here():
    assert installed() == list(COMPETITORS)


@pytest.mark.parametrize("name", COMPETITORS)
def test_it_learns_and_a_row_is_scored_before_its_label_is_seen(name):
    X, y = STREAM.X, STREAM.y
    scores = competitor(name).progressive_scores(X, y, classes=[0, 1])
    assert auroc(y[250:], scores[250:]) > 0.75
    turned = y.copy()
    turned[400:] = 1 - turned[400:]  # what comes after a row cannot change its score
    other = competitor(name).progressive_scores(X[:401], turned[:401], classes=[0, 1])
    assert np.array_equal(scores[:401], other)


@pytest.mark.parametrize("name", COMPETITORS)
def test_parts_of_a_stream_are_the_stream(name):
    X, y = STREAM.X[:150], STREAM.y[:150]
    whole = competitor(name).progressive_scores(sp.csr_array(X), y, classes=[0, 1])
    learner = competitor(name)
    parts = [learner.progressive_scores(X[k : k + 50], y[k : k + 50], classes=[0, 1]) for k in (0, 50, 100)]
    assert np.allclose(whole, np.concatenate(parts), rtol=0, atol=1e-9)
    assert list(learner.classes_) == [0, 1]


@pytest.mark.parametrize("name", [name for name in COMPETITORS if name not in ("sgd", "vw")])
def test_what_is_learned_apart_from_scoring_is_learned_alike(name):
    X, y = STREAM.X[:150], STREAM.y[:150]
    whole, apart = competitor(name), competitor(name)
    whole.progressive_scores(X, y, classes=[0, 1])
    for start in (0, 50, 100):
        apart.partial_fit(X[start : start + 50], y[start : start + 50], classes=[0, 1])
    rows = STREAM.X[150:200]
    assert np.allclose(whole.decision_function(rows), apart.decision_function(rows), rtol=0, atol=1e-9)


REFITTED = ["extratrees", "lightgbm", "lightgbm-weighted", "lightgbm-small", "xgboost"]


@pytest.mark.parametrize("name", REFITTED)
def test_before_the_first_fit_a_score_is_the_share_of_positives_so_far(name):
    y = np.zeros(40, dtype=int)
    y[[10, 20]] = 1
    scores = competitor(name).progressive_scores(STREAM.X[:40], y, classes=[0, 1])
    assert (scores[:11] == -0.5).all()  # nothing is ranked below
    assert scores[11] == 1 / 11 - 0.5 and scores[20] == 1 / 20 - 0.5 and scores[39] == 2 / 39 - 0.5
    learner = competitor(name).partial_fit(STREAM.X[:40], y, classes=[0, 1])
    assert (learner.decision_function(STREAM.X[:3]) == 2 / 40 - 0.5).all()


@pytest.mark.parametrize("name", REFITTED)
def test_it_is_fitted_when_asked_to_and_only_then(name):
    learner = competitor(name, every=None).partial_fit(STREAM.X[:300], STREAM.y[:300], classes=[0, 1])
    assert np.ptp(learner.decision_function(STREAM.X[300:])) == 0.0
    first = learner.refit().decision_function(STREAM.X[300:])
    assert auroc(STREAM.y[300:], first) > 0.75
    learner.partial_fit(STREAM.X[300:], STREAM.y[300:])
    assert np.array_equal(learner.decision_function(STREAM.X[300:]), first)
    assert auroc(STREAM.y[300:], learner.refit().decision_function(STREAM.X[300:])) > auroc(STREAM.y[300:], first)


@pytest.mark.parametrize("name", REFITTED)
def test_rows_of_one_class_are_no_reason_to_fit(name):
    learner = competitor(name).partial_fit(STREAM.X[:120], np.zeros(120, dtype=int), classes=[0, 1])
    assert (learner.refit().decision_function(STREAM.X[:3]) == -0.5).all()


def test_positives_count_more_in_the_balanced_forest():
    stream = overlapping(500, 5, rare=0.1, random_state=1)
    plain, balanced = (competitor(name).progressive_scores(stream.X, stream.y) for name in ("arf", "arf-balanced"))
    assert (balanced[250:] > 0).mean() > 1.5 * (plain[250:] > 0).mean()


def test_an_unknown_one_is_refused():
    with pytest.raises(ParameterError, match="must be one of sgd"):
        competitor("catboost")
