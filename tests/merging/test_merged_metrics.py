"""Metrics and samples of parts, merged: as if one had seen all, and bounds that hold."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lopsided as lp
from lopsided import metrics
from lopsided.metrics import AUPRC, AUROC, Confusion, WindowedAUROC

RNG = np.random.default_rng(7)
SCORES = np.concatenate([RNG.normal(size=900), RNG.normal(3.0, 5.0, 700)])
LABELS = (SCORES + RNG.normal(scale=2.0, size=SCORES.size) > 2.0).astype(int)


def filled(metric, start, stop):
    metric.update_many(LABELS[start:stop], SCORES[start:stop])
    return metric


def parts(make, cuts, alike):
    """Metrics of parts: each with bins of its own, or all with those of the first."""
    made = []
    for start, stop in pairwise(cuts):
        made.append(filled(lp.empty_like(made[0]) if made and alike else make(), start, stop))
    return made


EXACT_BINS = [
    (lambda: AUROC("sigmoid"), False),
    (lambda: AUROC("float"), False),
    (lambda: AUPRC("float", interpolation="step"), False),
    (AUROC, True),
    (AUPRC, True),
    (Confusion, False),
]


@pytest.mark.parametrize(("make", "alike"), EXACT_BINS)
def test_counts_add_up_bit_for_bit_in_any_order_and_grouping(make, alike):
    one, two, three = parts(make, (0, 500, 1_100, 1_600), alike)
    whole = filled(lp.empty_like(one) if alike else make(), 0, 1_600)
    merged = lp.merge([one, two, three])
    for other in (
        lp.merge([three, one, two]),
        lp.merge([lp.merge([one, two]), three]),
        lp.merge([one, lp.merge([two, three])]),
    ):
        assert (other.value, other.error_bound) == (merged.value, merged.error_bound)
    if make is not Confusion:
        assert (merged.value, merged.error_bound) == (whole.value, whole.error_bound)
        assert np.array_equal(merged._ranking.bins[:2], whole._ranking.bins[:2])
        assert merged._ranking.bins[2:] == pytest.approx(whole._ranking.bins[2:])
    assert merged.value == pytest.approx(whole.value, rel=1e-12)
    filled(merged, 0, 300)  # it goes on
    filled(whole, 0, 300)
    assert merged.value == pytest.approx(whole.value, rel=1e-12)


def area_of_straight_lines(labels, scores):
    """Under the precision-recall curve, its points joined, beginning with precision 1."""
    places = [0, *(np.flatnonzero(np.diff(np.sort(-scores))) + 1), scores.size]
    found = np.concatenate([[0], np.cumsum(labels[np.argsort(-scores, kind="stable")])])[places]
    recall = found / labels.sum()
    precision = np.concatenate([[1.0], found[1:] / np.array(places[1:])])
    return float(np.sum(np.diff(recall) * 0.5 * (precision[1:] + precision[:-1])))


@given(st.lists(st.integers(1, 1_599), min_size=1, max_size=6, unique=True), st.floats(0.01, 100.0))
def test_bounds_hold_where_bins_lie_elsewhere(cuts, stretch):
    """Each part has placed its own bins, of which those of later ones are far off."""
    for make, exact in (
        (AUROC, metrics.auroc),
        (AUPRC, area_of_straight_lines),
        (lambda: AUPRC(interpolation="step"), metrics.average_precision),
    ):
        edges = [0, *sorted(cuts), 1_600]
        scores = np.concatenate([SCORES[:800] * stretch, SCORES[800:]])
        made = []
        for start, stop in pairwise(edges):
            made.append(make())
            made[-1].update_many(LABELS[start:stop], scores[start:stop])
        merged = lp.merge([lp.merge(made[:2]), *made[2:]])
        for _ in range(2):  # also when more has come
            assert abs(merged.value - exact(LABELS, scores)) <= merged.error_bound + 1e-12
            assert merged.error_bound < 0.2
            again = make()
            again.restore(merged.state())
            assert (again.value, again.error_bound) == (merged.value, merged.error_bound)
            merged.update_many(LABELS, scores)


def test_few_scores_are_exact():
    merged = lp.merge([filled(AUROC(), 0, 100), filled(AUROC(), 100, 250)])
    assert merged.is_exact and merged.value == metrics.auroc(LABELS[:250], SCORES[:250]) and merged.error_bound == 0.0
    assert not lp.merge([merged, filled(AUROC(), 250, 300)]).is_exact


def test_faded_metrics_end_at_the_same_time():
    one, two = (filled(AUROC("float", fade=0.99), *own) for own in ((0, 300), (300, 600)))
    weights = 0.99 ** np.concatenate([np.arange(300)[::-1]] * 2)
    positive = LABELS[:600] == 1
    above = (
        (SCORES[:600][positive][:, None] > SCORES[:600][~positive]) * weights[positive][:, None] * weights[~positive]
    )
    exact = above.sum() / (weights[positive].sum() * weights[~positive].sum())
    merged = lp.merge([one, two])
    assert abs(merged.value - exact) <= merged.error_bound + 1e-9
    with pytest.raises(ValueError, match="must have the same bins where they fade"):
        lp.merge([filled(AUROC(fade=0.99), 0, 900), filled(AUROC(fade=0.99), 900, 1_600)])


def test_a_window_of_all_has_the_latest_of_each():
    merged = lp.merge([filled(WindowedAUROC(100), 0, 400), filled(WindowedAUROC(100), 400, 800)])
    own = np.r_[350:400, 750:800]
    assert merged.value == metrics.auroc(LABELS[own], SCORES[own])
    assert lp.merge([merged, WindowedAUROC(100)]).value == merged.value


@pytest.mark.parametrize("metric", [AUROC(), AUPRC(), Confusion(), WindowedAUROC(9)])
def test_an_empty_metric_changes_nothing_and_those_given_stay(metric):
    filled(metric, 0, 700)
    metric.update(1, 0.5)
    before = metric.value
    empty = lp.empty_like(metric)
    assert lp.merge([empty, metric]).value == lp.merge([metric, empty]).value == before == metric.value
    with pytest.raises(ValueError, match=r"'budget' parameter of merge must be None .*Got 3"):
        lp.merge([metric], budget=3)


def test_samples_of_parts_in_any_order_and_grouping():
    rows = RNG.normal(size=(300, 2))
    one = lp.PrioritySample(20, random_state=0).add(rows[:100])
    two, three = lp.empty_like(one).add(rows[100:220]), lp.empty_like(one).add(rows[220:])
    merged = lp.merge([one, two, three])
    for other in (
        lp.merge([three, two, one]),
        lp.merge([lp.merge([one, two]), three]),
        lp.merge([one, lp.merge([two, three])]),
    ):
        assert np.array_equal(other.rows, merged.rows) and np.array_equal(other.counts, merged.counts)
    assert merged.n_rows == 20 and merged.n_seen == 300 and one.n_seen == 100
    assert np.array_equal(lp.merge([one, lp.empty_like(one)]).rows, one.rows)
    assert lp.merge([one, two], budget=7).n_rows == 7
    means = [
        lp.merge([lp.PrioritySample(20, random_state=[s, p]).add(rows[p::2]) for p in (0, 1)]).counts.sum()
        for s in range(200)
    ]
    assert np.mean(means) == pytest.approx(300.0, abs=15.0)  # three of its standard deviations
