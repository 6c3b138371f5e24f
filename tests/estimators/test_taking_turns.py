"""Rows that are learned and scored in turn by one call: the very bits of single rows, one after the other."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from estimators.trials import each, trials
from lopsided.datasets import four_clusters

STREAM = four_clusters(80, 320, random_state=3)
X, SIGNS = STREAM.X, np.where(STREAM.y == STREAM.y.max(), 1.0, -1.0)
LABELS = np.sort(np.unique(STREAM.y))
RNG = np.random.default_rng(7)
PLACES = RNG.permutation(len(X))[:300]
# Runs of either kind, of all lengths, and weights that are not all 1.
TURNS = np.where(np.repeat(RNG.random(60) < 0.5, 5) ^ (RNG.random(300) < 0.3), np.nan, SIGNS[PLACES])
WEIGHTS = np.where(RNG.random(300) < 0.2, 2.0, 1.0)
SCORED = np.isnan(TURNS)


def in_turn(learner, rows):
    """What the one call does, by calls for single rows."""
    answered = np.zeros(len(X))
    for place, turn, weight in zip(PLACES, TURNS, WEIGHTS, strict=True):
        if np.isnan(turn):
            answered[place] = learner.raw_scores(rows[[place]])[0]
        else:
            label, score = [STREAM.y[place]], [answered[place]]
            learner.learn_many(rows[[place]], label, scores=score, sample_weight=[weight])
    return answered


def assert_same_turns(learner, rows):
    together, scores = clone(learner).partial_fit(rows[:50], STREAM.y[:50], classes=LABELS), np.zeros(len(X))
    singly = together.snapshot()
    together.take_turns(rows[PLACES], TURNS, scores, PLACES, WEIGHTS)
    np.testing.assert_array_equal(scores, in_turn(singly, rows))
    np.testing.assert_array_equal(together.raw_scores(rows), singly.raw_scores(rows))
    if not sp.issparse(rows):  # room for sparse rows is made as they come, in other sizes
        assert together.to_bytes() == singly.to_bytes()


@each("learner", trials(is_learner=True, online=True, takes_tables=False))
def test_one_call_is_the_loop_of_its_rows(learner):
    assert_same_turns(learner, X)


@each("learner", trials("sparse", is_learner=True, online=True, takes_tables=False))
def test_sparse_rows_take_turns(learner):
    assert_same_turns(learner, sp.csr_array(np.where(np.abs(X) < 0.3, 0.0, X)))
