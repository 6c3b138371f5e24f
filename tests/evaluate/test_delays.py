"""Labels that come late: what a row is scored by."""

import numpy as np
import pandas as pd
import pytest

import lopsided as lp
from lopsided.datasets import four_clusters
from lopsided.evaluate import delayed_scores


class Witness:
    """Notes which rows it had learned when it was asked for a score; a row is its own number."""

    def __init__(self):
        self.learned, self.asked = [], {}

    def partial_fit(self, X, y, classes=None):
        self.learned += X[:, 0].astype(int).tolist()

    def decision_function(self, X):
        self.asked |= {int(row): list(self.learned) for row in X[:, 0]}
        return np.full(len(X), float(len(self.learned)))


def naive(delays):
    """Row t knows the rows s with s + delay_s < t, by arrival, then by age."""
    n = len(delays)
    return {t: sorted((s for s in range(n) if s + delays[s] < t), key=lambda s: (s + delays[s], s)) for t in range(n)}


@pytest.mark.parametrize("delays", [0, 3, [0, 5, 1, 0, 2, 7, 0, 0, 1, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]])
def test_a_row_is_scored_by_what_was_known_when_it_came(delays):
    X, y = np.arange(10.0)[:, None], np.arange(10) % 2
    witness = Witness()
    scores = delayed_scores(witness, X, y, delays)
    known = naive(np.broadcast_to(delays, 10).tolist())
    assert all(witness.asked.get(t, []) == known[t] for t in range(10))
    assert scores.tolist() == [float(len(known[t])) for t in range(10)]
    assert sorted(witness.learned) == list(range(10))  # nothing is lost in the end


def test_no_delay_is_test_then_train():
    stream = four_clusters(40, 160)
    scores = delayed_scores(lp.KOIL(random_state=0), stream.X, stream.y, 0)
    assert np.array_equal(scores, lp.KOIL(random_state=0).progressive_scores(stream.X, stream.y))


@pytest.mark.parametrize("delays", [-1, 0.5, [1, -2]])
def test_other_delays_are_refused(delays):
    with pytest.raises(ValueError, match="whole numbers >= 0"):
        delayed_scores(lp.KOIL(), np.zeros((2, 1)), [0, 1], delays)


def test_a_data_frame_and_a_single_class_are_taken():
    stream = four_clusters(20, 80, random_state=1)
    frame = pd.DataFrame(stream.X, columns=["a", "b"])
    late, expected = (delayed_scores(lp.KOIL(gamma=20.0, random_state=0), X, stream.y, 5) for X in (frame, stream.X))
    np.testing.assert_array_equal(late, expected)
    assert delayed_scores(lp.KOIL(random_state=0), stream.X, np.zeros(100, dtype=int), 5).size == 100


class Slow:
    """Hides the fast path for single examples."""

    def __init__(self, learner):
        self.learner = learner

    def partial_fit(self, X, y, classes=None):
        self.learner.partial_fit(X, y, classes=classes)

    def decision_function(self, X):
        return self.learner.decision_function(X)

    @property
    def threshold_(self):
        return self.learner.threshold_


@pytest.mark.parametrize("delays", [1, 7, np.arange(200) % 11])
def test_the_fast_path_is_the_slow_one(delays):
    stream = four_clusters(40, 160, random_state=2)
    options = {"gamma": 20.0, "threshold": "f1", "random_state": 0}
    fast = delayed_scores(lp.KOIL(**options), stream.X, stream.y, delays)
    np.testing.assert_allclose(fast, delayed_scores(Slow(lp.KOIL(**options)), stream.X, stream.y, delays), atol=1e-12)
