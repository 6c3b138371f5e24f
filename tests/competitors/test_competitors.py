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
    other = competitor(name).progressive_scores(X, turned, classes=[0, 1])
    assert np.array_equal(scores[:401], other[:401])


@pytest.mark.parametrize("name", COMPETITORS)
def test_parts_of_a_stream_are_the_stream(name):
    X, y = STREAM.X[:150], STREAM.y[:150]
    whole = competitor(name).progressive_scores(sp.csr_array(X), y, classes=[0, 1])
    learner = competitor(name)
    parts = [learner.progressive_scores(X[k : k + 50], y[k : k + 50], classes=[0, 1]) for k in (0, 50, 100)]
    assert np.allclose(whole, np.concatenate(parts), rtol=0, atol=1e-9)
    assert list(learner.classes_) == [0, 1]


def test_an_unknown_one_is_refused():
    with pytest.raises(ParameterError, match="must be one of sgd"):
        competitor("xgboost")
