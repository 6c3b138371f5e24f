"""The cut that follows a stream of scores: against its oracle, and what it promises whatever the scores do."""

import numpy as np
import pytest

from lopsided.core.measures.share_above import (
    CORRECTION,
    FURTHEST,
    OWED,
    STEP,
    WINDOW,
    cut_of,
    decide_share,
    empty_share_above,
    follow_share,
    furthest_up,
)
from oracles.share_above import ShareAbove


def flags_of(scores, share):
    """Which scores lie above the cut in force when they come, and the corrections after them."""
    state, flagged, corrections = empty_share_above(share), [], []
    for score in scores:
        flagged.append(bool(state.tally[0]) and score > cut_of(state))
        follow_share(state, np.array([score]))
        corrections.append(state.levels[CORRECTION])
    return np.array(flagged), np.array(corrections)


def decided(scores, share):
    """Which scores are alerts if they are there to be decided on, and the correction at the end."""
    state, flagged = empty_share_above(share), np.zeros(scores.size, dtype=np.bool_)
    decide_share(state, scores, flagged)
    return flagged, state.levels[CORRECTION]


@pytest.mark.parametrize(
    ("share", "digits", "bounded"),
    [(0.2, 8, False), (0.01, 1, False), (0.0005, 0, False), (0.2, 0, True), (0.01, 8, True), (0.0005, 1, True)],
)
def test_it_is_the_rule(share, digits, bounded):
    rng = np.random.default_rng(0)
    scores = (rng.standard_normal(1200) * np.linspace(1, 3, 1200)).round(digits)  # with ties, and growing
    naive, state, flagged = ShareAbove(share), empty_share_above(share), np.zeros(1, dtype=np.bool_)
    for number, score in enumerate(scores):
        if number % 7 == 0:
            assert cut_of(state) == pytest.approx(naive.cut(), abs=1e-9)
        expected = naive.take(score, bounded=bounded)
        if bounded:
            decide_share(state, np.array([score]), flagged)
            assert flagged[0] == expected
        else:
            follow_share(state, np.array([score]))
    assert state.levels[CORRECTION] == pytest.approx(naive.correction, abs=1e-9)
    assert state.levels[OWED] == pytest.approx(naive.owed, abs=1e-9)
    assert np.array_equal(state.ranked, np.sort(scores[-WINDOW:]))


@pytest.mark.parametrize("digits", [2, 0])
def test_many_at_once_are_the_same_as_one_after_the_other(digits):
    scores = np.random.default_rng(1).standard_normal(3000).round(digits)
    one, many, decided_on = (empty_share_above(0.03) for _ in range(3))
    flagged = np.zeros(scores.size, dtype=np.bool_)
    for score in scores:
        follow_share(one, np.array([score]))
    for part in np.split(np.arange(scores.size), [1, 500, 2100]):
        follow_share(many, scores[part])
        decide_share(decided_on, scores[part], flagged[part[0] : part[-1] + 1])
    for mine, theirs in zip(one, many, strict=True):
        assert np.array_equal(mine, theirs)
    assert np.array_equal(flagged, decided(scores, 0.03)[0])


@pytest.mark.parametrize("share", [0.05, 0.01])
def test_the_share_of_independent_scores_is_kept(share):
    flagged, _ = flags_of(np.random.default_rng(2).standard_normal(20_000), share)
    assert flagged[4000:].mean() == pytest.approx(share, rel=0.05)


def growing(rng, n):
    return rng.standard_normal(n) * np.linspace(1, 20, n)


def swinging(rng, n):
    """As of a perceptron: all scores move at every step, and come back some time."""
    moved = np.zeros(n)
    for t in range(1, n):
        moved[t] = 0.98 * moved[t - 1] + 0.5 * rng.standard_normal()
    return rng.standard_normal(n) + moved


def in_bursts(rng, n):
    return rng.standard_normal(n) + 5.0 * (np.arange(n) // 300 % 2)


@pytest.mark.parametrize("make", [growing, swinging, in_bursts])
@pytest.mark.parametrize("share", [0.05, 0.01])
def test_no_stream_gets_away_with_more_or_less(make, share):
    """Alerts less those asked for are the way of the correction divided by a step, which its limits bound."""
    flagged, corrections = flags_of(make(np.random.default_rng(3), 12_000), share)
    assert corrections.min() > -FURTHEST and corrections.max() < furthest_up(share)
    excess = flagged[1:].sum() - share * (flagged.size - 1)
    assert excess == pytest.approx(-corrections[-1] / STEP, abs=1e-6)
    assert -furthest_up(share) / STEP < excess < FURTHEST / STEP


def rising_for_ever(rng, n):
    return np.exp(np.linspace(0, 500, n))


def falling_for_ever(rng, n):
    return -rising_for_ever(rng, n)


def all_the_same(rng, n):
    return np.zeros(n)


def moved_far(rng, n):
    return rng.standard_normal(n) + 1e6 * (np.arange(n) // 2000 % 3)


def few_levels(rng, n):
    return rng.integers(0, 4, n).astype(float)


def hardly_ever_more(rng, n):
    """As of voters that agree on all but one row in a thousand."""
    return (rng.random(n) < 0.001).astype(float)


@pytest.mark.parametrize(
    "make",
    [growing, swinging, in_bursts, rising_for_ever, falling_for_ever, all_the_same, moved_far, few_levels,
     hardly_ever_more],
)  # fmt: skip
@pytest.mark.parametrize("share", [0.3, 0.05, 0.01])
def test_no_scores_whatsoever_get_away_if_they_are_decided_on(make, share):
    scores = make(np.random.default_rng(6), 25_000)
    flagged, correction = decided(scores, share)
    excess = np.cumsum(flagged)[1:] - share * np.arange(1, scores.size)
    assert excess.max() <= FURTHEST / STEP and excess.min() >= -furthest_up(share) / STEP
    assert excess[-1] == pytest.approx(-correction / STEP, abs=1e-6)
    assert flagged.mean() == pytest.approx(share, rel=0.1)


@pytest.mark.parametrize("digits", [-3, 0, 3])
def test_a_sum_that_meets_its_bound_is_within_it_whatever_its_last_digits(digits):
    """-4 and four rows without an alert make -3.84, or a neighbour of it, by the order in which they are added."""
    state, flagged = empty_share_above(0.2), np.zeros(1, dtype=np.bool_)
    decide_share(state, np.arange(5.0), np.zeros(5, dtype=np.bool_))
    state.levels[CORRECTION] = -3.84 + digits * np.spacing(3.84)
    decide_share(state, np.array([1e9]), flagged)
    assert flagged[0]
    assert state.levels[CORRECTION] == pytest.approx(-4.0)


@pytest.mark.parametrize("make", [all_the_same, few_levels, hardly_ever_more])
def test_rows_with_the_same_score_take_turns(make):
    """Also where the cut is asked for before the score is known; once nothing of `all_the_same` was flagged."""
    flagged, _ = flags_of(make(np.random.default_rng(7), 6000), 0.05)
    assert flagged.mean() == pytest.approx(0.05, rel=0.1)
    if make is all_the_same:
        assert set(np.diff(np.flatnonzero(flagged))[10:].tolist()) <= {19, 20, 21}


def test_the_best_are_flagged_before_any_of_those_that_are_alike():
    scores = (np.random.default_rng(8).random(6000) < 0.02).astype(float)
    flagged, _ = decided(scores, 0.05)
    assert flagged[1000:][scores[1000:] > 0].mean() > 0.97


@pytest.mark.parametrize("shift", [6.0, -6.0])
def test_after_a_shift_the_share_is_back_within_a_thousand_rows(shift):
    rng = np.random.default_rng(4)
    scores = rng.standard_normal(24_000)
    scores[12_000:] += shift
    flagged, _ = flags_of(scores, 0.05)
    assert flagged[13_000:].mean() == pytest.approx(0.05, rel=0.1)
    assert flagged[13_000:15_000].mean() == pytest.approx(0.05, rel=0.3)


def test_scores_with_few_levels_are_flagged_as_often_as_asked():
    flagged, _ = flags_of(few_levels(np.random.default_rng(5), 20_000), 0.05)
    assert flagged[4000:].mean() == pytest.approx(0.05, rel=0.1)
