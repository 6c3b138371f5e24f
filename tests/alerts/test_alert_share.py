"""A share of rows as alerts, decided as they come: the rule, in whatever pieces, and going on from a state."""

import numpy as np
import pytest

from lopsided.alerts import AlertShare
from lopsided.constraints import ParameterError
from oracles.share_above import ShareAbove


@pytest.mark.parametrize("digits", [6, 0])
def test_it_is_the_rule_in_whatever_pieces_rows_come(digits):
    rng = np.random.default_rng(0)
    before, now = rng.standard_normal(1500).round(digits), (2.0 + rng.standard_normal(900)).round(digits)
    naive = ShareAbove(0.05, before)
    expected = [naive.take(score, bounded=True) for score in now.tolist()]
    at_once, pieces, single = (AlertShare(0.05, before) for _ in range(3))
    assert at_once.decide(now).tolist() == expected
    assert np.concatenate([pieces.decide(part) for part in np.split(now, [1, 2, 77, 500])]).tolist() == expected
    assert [single.decide_one(score) for score in now.tolist()] == expected
    assert (at_once.n_rows, at_once.n_alerts) == (900, sum(expected))


@pytest.mark.parametrize("known", [0, 10, 700, 3000])
def test_it_goes_on_from_its_state_as_if_it_had_never_stopped(known):
    scores = np.random.default_rng(1).standard_normal(known + 2500).round(1)
    whole = AlertShare(0.02, scores[:known])
    before = whole.decide(scores[known : known + 1500])
    again = AlertShare.restored(whole.state())
    assert np.array_equal(again.decide(scores[known + 1500 :]), whole.decide(scores[known + 1500 :]))
    assert (again.n_rows, again.n_alerts) == (whole.n_rows, whole.n_alerts)
    assert before.mean() == pytest.approx(0.02, rel=0.2)


def test_a_learner_that_has_not_begun_raises_no_alerts():
    scores = np.concatenate([np.zeros(300), np.random.default_rng(2).standard_normal(4000)])
    flagged = AlertShare(0.1).decide(scores)
    assert not flagged[:300].any() and flagged[300:].mean() == pytest.approx(0.1, rel=0.02)
    pieces = AlertShare(0.1)
    assert np.array_equal(np.concatenate([pieces.decide(part) for part in np.split(scores, [100, 290, 310])]), flagged)
    assert pieces.n_rows == 4000
    # A model whose scores are all the same, on the other hand, keeps its share.
    assert AlertShare(0.1, np.zeros(5)).decide(np.zeros(2000)).mean() == pytest.approx(0.1, rel=0.05)


def test_alerts_are_nearly_those_of_hindsight():
    rng = np.random.default_rng(3)
    positive = rng.random(20_000) < 0.01
    scores = rng.standard_normal(20_000) + 2.5 * positive
    online = AlertShare(0.02, rng.standard_normal(1000)).decide(scores)
    hindsight = scores > np.quantile(scores, 0.98)
    assert online[positive].mean() > 0.95 * hindsight[positive].mean()


@pytest.mark.parametrize("share", [0, 1.0, 5, "0.1", True, np.nan])
def test_shares_that_are_none_are_refused(share):
    with pytest.raises(ParameterError, match="share of an AlertShare must be a number between 0 and 1, got"):
        AlertShare(share)


def test_what_is_no_score_and_no_state_is_refused():
    follower = AlertShare(0.1)
    for scores in ([1.0, np.nan], [np.inf], [[1.0]], 1.0):
        with pytest.raises(ParameterError, match="must be one finite number for each row"):
            follower.decide(scores)
    assert follower.n_rows == 0
    state = follower.state()
    with pytest.raises(ParameterError, match="must be those of its state, got shapes"):
        AlertShare.restored(state | {"levels": np.zeros(2)})
    with pytest.raises(ParameterError, match="levels of an AlertShare must be those of its state"):
        AlertShare.restored(state | {"levels": np.array([0.1, np.nan, 0.0])})
