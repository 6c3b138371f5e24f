"""Learning goes on: row by row, in batches of any size, and after a stop; all of it is the same."""

import pickle

import numpy as np

import lopsided
from core.agreement import clusters
from properties.inspection import assert_same_model

CLASSES = [-1, 1]


def one_by_one(learner, X, y):
    """Learn row by row; yields the number of each row after it was learned."""
    for t in range(len(y)):
        if t:
            learner.learn_one(X[t], y[t])
        else:
            learner.partial_fit(X[:1], y[:1], classes=CLASSES)
        yield t


def from_file(learner, folder):
    learner.save(folder / "a.model")
    return lopsided.load(folder / "a.model")


def from_pickle(learner, _):
    return pickle.loads(pickle.dumps(learner))


def assert_stops_do_not_matter(make, again):
    """Going on with what `again` makes of a learner equals never having stopped."""
    X, y = clusters(300)
    for stop in (1, 60, 230):
        steady, stopped = make(), make()
        expected = steady.progressive_scores(X, y, classes=CLASSES)
        stopped.partial_fit(X[:stop], y[:stop], classes=CLASSES)
        stopped = again(stopped)
        np.testing.assert_array_equal(stopped.progressive_scores(X[stop:], y[stop:]), expected[stop:])
        assert_same_model(steady, stopped)


def assert_batches_do_not_matter(make):
    """Batches of 1, 7, 64 and all, and single examples, give the same model and the same scores."""
    X, y = clusters(150)
    whole = make()
    expected = whole.progressive_scores(X, y, classes=CLASSES)
    for size in (1, 7, 64):
        learner = make()
        scores = [
            learner.progressive_scores(X[t : t + size], y[t : t + size], classes=CLASSES) for t in range(0, 150, size)
        ]
        np.testing.assert_array_equal(np.concatenate(scores), expected)
        assert_same_model(whole, learner)
    single = make()
    for _ in one_by_one(single, X, y):
        pass
    assert_same_model(whole, single)
