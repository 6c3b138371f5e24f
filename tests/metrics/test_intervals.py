"""Intervals: known values, honest coverage, and room at 0 and 1."""

import numpy as np
import pytest
from scipy import stats

from lopsided.metrics import auroc, average_precision
from lopsided.metrics.intervals import auroc_interval, difference_interval, precision_area_interval, share_interval


def test_a_share_has_wilsons_interval():
    hits, n = np.array([0, 3, 10, 995]), np.array([10, 10, 10, 1000])
    low, high = share_interval(hits, n)
    for q in range(4):
        theirs = stats.binomtest(int(hits[q]), int(n[q])).proportion_ci(method="wilson")
        assert (low[q], high[q]) == (pytest.approx(theirs.low, abs=1e-9), pytest.approx(theirs.high, abs=1e-9))
    assert np.isnan(share_interval(0, 0)[0])


@pytest.mark.parametrize("positives", [6, 40])
def test_intervals_of_areas_hold_what_they_promise(positives):
    """Two normal classes: the true area is known, and lies inside about 95 times in 100."""
    rng = np.random.default_rng(0)
    truth = stats.norm.cdf(1.5 / np.sqrt(2.0))
    y = np.arange(1000) < positives
    areas = [auroc(y, rng.normal(size=1000) + 1.5 * y) for _ in range(400)]
    low, high = auroc_interval(areas, positives, 1000 - positives)
    assert 0.91 < np.mean((low <= truth) & (truth <= high)) <= 0.99


def test_an_area_of_one_is_not_certain_and_one_without_pairs_is_unknown():
    low, high = auroc_interval([1.0, 0.0, np.nan], [5, 5, 0], [100, 100, 100])
    assert 0.6 < low[0] < 0.9 and high[0] == 1.0
    assert low[1] == 0.0 and 0.1 < high[1] < 0.4
    assert np.isnan(low[2]) and np.isnan(high[2])


def test_intervals_of_average_precision_hold_what_they_promise():
    """The truth is the mean over many streams with the same share of positives."""
    rng = np.random.default_rng(0)
    y = np.arange(1500) < 30

    def drawn():
        return np.round(rng.normal(size=1500) + 2.0 * y, 1)  # with ties

    truth = np.mean([average_precision(y, drawn()) for _ in range(1000)])
    intervals = np.array([precision_area_interval(y, drawn()) for _ in range(200)])
    assert 0.88 < np.mean((intervals[:, 0] <= truth) & (truth <= intervals[:, 1])) <= 0.99


def test_average_precision_of_very_few_positives_has_no_interval():
    assert np.isnan(precision_area_interval(np.arange(50) < 4, np.zeros(50))).all()
    low, high = precision_area_interval(np.arange(50) < 5, np.zeros(50))
    assert low == high == pytest.approx(0.1)  # all scores alike: every draw gives the share of positives


def test_a_difference_is_as_sure_as_its_sides():
    low, high = difference_interval(0.8, (0.7, 0.88), 0.9, (0.85, 0.93))
    assert low < 0.1 < high
    assert (low, high) == pytest.approx((0.1 - np.hypot(0.05, 0.08), 0.1 + np.hypot(0.03, 0.1)))
