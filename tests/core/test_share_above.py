"""The cut that follows a stream of scores: against its oracle, and what it promises whatever the scores do."""

import numpy as np
import pytest

from lopsided.core.measures.share_above import (
    CORRECTION,
    FURTHEST,
    STEP,
    WINDOW,
    cut_of,
    empty_share_above,
    follow_share,
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


@pytest.mark.parametrize("share", [0.2, 0.01, 0.0005])
@pytest.mark.parametrize("digits", [8, 1])
def test_it_is_the_rule(share, digits):
    rng = np.random.default_rng(0)
    scores = (rng.standard_normal(1500) * np.linspace(1, 3, 1500)).round(digits)  # with ties, and growing
    naive, state = ShareAbove(share), empty_share_above(share)
    for number, score in enumerate(scores):
        if number % 7 == 0:
            assert cut_of(state) == pytest.approx(naive.cut(), abs=1e-9)
        naive.take(score)
        follow_share(state, np.array([score]))
    assert state.levels[CORRECTION] == pytest.approx(naive.correction, abs=1e-12)
    assert np.array_equal(state.ranked, np.sort(scores[-WINDOW:]))


def test_many_at_once_are_the_same_as_one_after_the_other():
    scores = np.random.default_rng(1).standard_normal(3000).round(2)
    one, many = empty_share_above(0.03), empty_share_above(0.03)
    for score in scores:
        follow_share(one, np.array([score]))
    for part in np.split(scores, [1, 500, 2100]):
        follow_share(many, part)
    for mine, theirs in zip(one, many, strict=True):
        assert np.array_equal(mine, theirs)


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
    assert np.abs(corrections).max() < FURTHEST
    excess = flagged[1:].sum() - share * (flagged.size - 1)
    assert excess == pytest.approx(-corrections[-1] / STEP, abs=1e-6)
    assert abs(excess) < FURTHEST / STEP


@pytest.mark.parametrize("shift", [6.0, -6.0])
def test_after_a_shift_the_share_is_back_within_a_thousand_rows(shift):
    rng = np.random.default_rng(4)
    scores = rng.standard_normal(24_000)
    scores[12_000:] += shift
    flagged, _ = flags_of(scores, 0.05)
    assert flagged[13_000:].mean() == pytest.approx(0.05, rel=0.1)
    assert flagged[13_000:15_000].mean() == pytest.approx(0.05, rel=0.3)


def test_scores_with_few_levels_are_flagged_as_often_as_asked():
    scores = np.random.default_rng(5).integers(0, 4, 20_000).astype(float)
    flagged, _ = flags_of(scores, 0.05)
    assert flagged[4000:].mean() == pytest.approx(0.05, rel=0.1)
