"""Labels that come later, against a loop that waits for each."""

import numpy as np
import pytest

import lopsided as lp
from lopsided.cli.delayed import Delayed
from lopsided.cli.options import Delay
from lopsided.datasets import four_clusters

STREAM = four_clusters(40, 160, random_state=1)


def learner():
    return lp.KOIL(gamma=20.0, random_state=0)


def slowly(X, y, is_known):
    """Scores of a model that before row t learns, in order, every row whose label is known by then."""
    model, scores, learned = learner(), [], 0
    for t in range(len(y)):
        while learned < t and is_known(learned, t):
            model.partial_fit(X[learned : learned + 1], y[learned : learned + 1], classes=[0, 1])
            learned += 1
        scores.append(model.score_one(X[t]) if learned else 0.0)
    return np.array(scores)


def in_pieces(delayed, sizes, times=None):
    scores, start = [], 0
    for size in sizes:
        rows = slice(start, start + size)
        delayed.times = None if times is None else times[rows]
        scores.append(delayed.progressive_scores(STREAM.X[rows], STREAM.y[rows], classes=[0, 1]))
        start += size
    assert start == len(STREAM.y)
    return np.concatenate(scores)


@pytest.mark.parametrize("rows", [1, 7, 60])
@pytest.mark.parametrize("sizes", [[200], [1, 50, 9, 140]])
def test_a_delay_of_rows(rows, sizes):
    scores = in_pieces(Delayed(learner(), Delay(rows=rows)), sizes)
    expected = slowly(STREAM.X, STREAM.y, lambda row, now: row < now - rows)
    np.testing.assert_allclose(scores, expected, atol=1e-10)


@pytest.mark.parametrize("sizes", [[200], [30, 170]])
def test_a_delay_in_time(sizes):
    # Moments far enough apart that no two rows fall into one group of a hundredth of the delay.
    times = np.cumsum(np.random.default_rng(0).integers(1, 30, 200)).astype(float)
    scores = in_pieces(Delayed(learner(), Delay(seconds=90.0)), sizes, times)
    expected = slowly(STREAM.X, STREAM.y, lambda row, now: times[row] < times[now] - 90.0)
    np.testing.assert_allclose(scores, expected, atol=1e-10)


def test_what_waits_at_the_end_is_learned_in_order():
    delayed = Delayed(learner(), Delay(rows=60))
    in_pieces(delayed, [200])
    delayed.finish()
    whole = learner().partial_fit(STREAM.X, STREAM.y)
    np.testing.assert_array_equal(delayed.model.decision_function(STREAM.X), whole.decision_function(STREAM.X))


def test_a_row_without_a_time_and_a_clock_that_runs_backwards():
    times = np.array([np.nan, 5.0, 3.0, 100.0] * 50)
    scores = in_pieces(Delayed(learner(), Delay(seconds=1.0)), [200], times)
    assert np.isfinite(scores).all()
