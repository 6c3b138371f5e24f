"""What holds for streaming metrics whatever the scores: identities, bounds on the error, nothing lost over time."""

import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lopsided.core.measures.ranking import (
    CENTRE,
    SCALE,
    SETTLED,
    TOTAL,
    RankingPlan,
    U,
    bins_of,
    empty_ranking,
    observe_many,
    precision_recall_area,
    ranked_rightly,
    tied_pairs,
)
from lopsided.core.measures.score_keys import log_linear_key, sigmoid_key
from lopsided.core.measures.window import COUNT, U2
from lopsided.metrics import AUPRC, AUROC, Confusion, WindowedAUROC, auroc, average_precision
from lopsided.metrics.streaming import KEYS
from oracles import streaming_metrics as naive

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ROUNDING = 1e-12

few_values = st.sampled_from([-2.0, -0.5, -0.0, 0.0, 1e-3, 0.5, 0.505, 3.0])
any_values = st.floats(allow_nan=False)  # of any size, subnormal, infinite
near_values = st.floats(0.9, 1.1)  # many share a bin without being equal
values = st.one_of(few_values, any_values, near_values)
labels = st.sampled_from([-1.0, 1.0])
examples = st.one_of(
    *(st.lists(st.tuples(labels, kind), min_size=2, max_size=50) for kind in (few_values, near_values, values))
)
fades = st.sampled_from([1.0, 0.97, 0.6])


def split(pairs):
    return np.array([label for label, _ in pairs]), np.array([score for _, score in pairs])


def both_classes(pairs):
    y, scores = split(pairs)
    assume((y > 0).any() and (y < 0).any())
    return y, scores


def ranked(y, scores, key, *, n_bins=5, fade=1.0, per_class=False, keep=8):
    """The state behind AUROC and AUPRC; `centred` keeps fewer scores than in public, so that short streams see bins."""
    plan = RankingPlan(KEYS[key], bins_of(KEYS[key], n_bins), fade, per_class)
    ranking = empty_ranking(plan, keep)
    observe_many(ranking, plan, y, scores)
    return ranking


# ---- The error is never larger than the bound ----


@settings(max_examples=150)
@given(examples, st.sampled_from(list(KEYS)), fades, st.booleans())
def test_auroc_is_within_its_bound(pairs, key, fade, per_class):
    y, scores = both_classes(pairs)
    weights = (naive.faded_weights_per_class if per_class else naive.faded_weights)(y, fade)
    ranking = ranked(y, scores, key, fade=fade, per_class=per_class)
    assert 0.0 <= tied_pairs(ranking) <= 0.5
    assert abs(ranked_rightly(ranking) - naive.auroc(y, scores, weights)) <= tied_pairs(ranking) + ROUNDING


@settings(max_examples=150)
@given(examples, st.sampled_from(list(KEYS)), fades, st.booleans())
def test_auprc_is_within_its_bound(pairs, key, fade, trapezoid):
    y, scores = both_classes(pairs)
    exact = naive.precision_recall_trapezoid if trapezoid else naive.average_precision
    area, bound = precision_recall_area(ranked(y, scores, key, fade=fade), trapezoid)
    assert 0.0 <= bound <= 1.0
    assert abs(area - exact(y, scores, naive.faded_weights(y, fade))) <= bound + ROUNDING


@pytest.mark.parametrize("key", ["centred", "float", "sigmoid"])
@pytest.mark.parametrize("spread", [1.0, 0.01])
def test_areas_of_long_streams_are_within_their_bounds(key, spread):
    rng = np.random.default_rng(1)
    y = np.where(rng.random(5000) < 0.05, 1, -1)
    scores = spread * rng.normal(size=y.size) + np.where(y > 0, 1.0 + spread, 1.0)
    scores[2000:] += 40.0 * spread  # the location moves after the bins have been placed
    for metric, exact in [
        (AUROC(key, n_bins=50), auroc(y, scores)),
        (AUPRC(key, n_bins=50, interpolation="step"), average_precision(y, scores)),
        (AUPRC(key, n_bins=50), naive.precision_recall_trapezoid(y, scores)),
    ]:
        metric.update_many(y, scores)
        assert abs(metric.value - exact) <= metric.error_bound + ROUNDING
        assert metric.error_bound > 0.0


def test_bounds_are_attained_by_a_bin_in_its_best_order():
    for y, scores in (([0, 0, 1], [0.5, 0.501, 0.502]), ([1, 1, 0, 0, 0], [0.504, 0.503, 0.502, 0.501, 0.5])):
        area, precision = AUROC("float"), AUPRC("float", interpolation="step")
        area.update_many(y, scores)
        precision.update_many(y, scores)
        assert (area.value, area.error_bound) == (0.5, 0.5) and auroc(y, scores) == 1.0
        assert precision.value + precision.error_bound == pytest.approx(average_precision(y, scores), abs=ROUNDING)


@pytest.mark.parametrize("in_the_bin", [0, 5])
def test_bounds_hold_for_a_bin_in_its_worst_order(in_the_bin):
    # Twenty negatives above; then, within one bin, more negatives before ten positives.
    y = np.repeat([-1, 1], [20 + in_the_bin, 10])
    scores = np.r_[np.full(20, 9.0), 0.507 - 1e-4 * np.arange(in_the_bin + 10)]
    metric = AUPRC("float", interpolation="step")
    metric.update_many(y, scores)
    assert 0.05 < metric.value - average_precision(y, scores) <= metric.error_bound < 0.2


def test_nothing_is_uncertain_while_every_bin_holds_one_class():
    y, scores = [0, 0, 1, 0, 1, 1], [-7.0, 1.0, 2.0, 3.0, 5.0, 5.0]
    metric = AUROC("float")
    metric.update_many(y, scores)
    assert metric.error_bound == 0.0 and metric.value == auroc(y, scores)


@pytest.mark.parametrize("seed", [0, 1])
def test_centred_is_close_on_scores_of_any_size_and_location(seed, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from streaming_metrics import SCORES, scored

    assert len(SCORES) == 9
    for name in SCORES:
        positive, scores = scored(name, 20_000, seed)
        area, precision = AUROC(), AUPRC(interpolation="step")
        area.update_many(positive, scores)
        precision.update_many(positive, scores)
        area_error = abs(area.value - auroc(positive, scores))
        precision_error = abs(precision.value - average_precision(positive, scores))
        assert area_error <= area.error_bound and precision_error <= precision.error_bound, name
        assert area_error < 2e-4 and precision_error < 5e-3, name


# ---- Identities ----


@given(examples, st.sampled_from(list(KEYS)), fades, st.booleans())
def test_the_weight_of_pairs_is_the_double_sum_over_the_bins(pairs, key, fade, per_class):
    y, scores = both_classes(pairs)
    ranking = ranked(y, scores, key, fade=fade, per_class=per_class, keep=1)
    assert ranking.tally[SETTLED] == (key == "centred")
    P, N = ranking.bins[0], ranking.bins[1]
    below = np.cumsum(N) - N
    assert ranking.levels[TOTAL : TOTAL + 2] == pytest.approx([P.sum(), N.sum()], rel=ROUNDING)
    assert ranking.levels[U] == pytest.approx(np.sum(P * (below + 0.5 * N)), rel=1e-9, abs=ROUNDING * P.sum() * N.sum())


@given(examples, fades, st.booleans())
def test_an_exact_metric_does_not_care_which_class_is_called_positive(pairs, fade, per_class):
    y, scores = both_classes(pairs)
    for make in (lambda: AUROC(fade=fade, per_class=per_class), lambda: WindowedAUROC(20)):
        metric, mirrored = make(), make()
        metric.update_many(y, scores)
        mirrored.update_many(-y, -scores)
        assert metric.value == pytest.approx(mirrored.value, abs=ROUNDING, nan_ok=True)


@pytest.mark.parametrize("score", [0.0, -3.5, 1e300, math.inf, -math.inf, 5e-324])
def test_equal_scores_say_nothing(score):
    y = np.where(np.arange(1000) % 7 == 0, 1, -1)
    for make in [*(lambda key=key: AUROC(key) for key in KEYS), lambda: WindowedAUROC(300)]:
        for n in (2, 256, 257, 1000):
            metric = make()
            metric.update_many(y[:n], np.full(n, score))
            assert metric.value == 0.5
    faded = AUROC(fade=0.9)
    faded.update_many(y, np.full(1000, score))
    assert faded.value == pytest.approx(0.5, abs=ROUNDING)


@pytest.mark.parametrize("label", [-1, 1])
@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 600])
def test_an_area_is_nan_until_both_classes_have_come(label, n):
    scores = np.random.default_rng(2).normal(size=n)
    options = [{"key": key, "fade": fade} for key in KEYS for fade in (1.0, 0.5)]
    makers = [*((kind, o) for kind in (AUROC, AUPRC) for o in options), (WindowedAUROC, {"window": 300})]
    for kind, parameters in makers:
        metric = kind(**parameters)
        metric.update_many(np.full(n, label), scores)
        assert math.isnan(metric.value)
        assert kind is WindowedAUROC or math.isnan(metric.error_bound)
        metric.update(-label, 0.0)
        assert math.isnan(metric.value) == (n == 0)


@pytest.mark.parametrize("key", list(KEYS))
@pytest.mark.parametrize("fade", [0.5, 0.9])
def test_a_class_that_has_faded_to_nothing_is_missing_again(key, fade):
    # The weight of the positives would end up as the smallest float there is, and a ratio of such as anything.
    rng = np.random.default_rng(3)
    positives = np.array([-1.5, 2.5, 0.5, -0.5])
    area, precision, calls = AUROC(key, fade=fade), AUPRC(key, fade=fade), Confusion(fade=fade)
    for metric in (area, precision, calls):
        metric.update_many(np.ones(4), positives)
    expected, known = calls.sensitivity, 0
    for _ in range(27):
        scores = rng.integers(-9, 6, 300).astype(float)
        for metric in (area, precision, calls):
            metric.update_many(np.zeros(300), scores)
        assert math.isnan(area.value) == math.isnan(precision.value) == math.isnan(area.error_bound)
        if not math.isnan(area.value):
            known += 1
            y = np.repeat([1, -1], [4, 300])
            exact = naive.auroc(y, np.r_[positives, scores], naive.faded_weights_per_class(y, fade))
            assert area.value == pytest.approx(exact, abs=1e-9)
        assert calls.sensitivity in (pytest.approx(expected, abs=ROUNDING), 0.0)
    assert known >= 2 and math.isnan(area.value) and calls.sensitivity == calls.tp == calls.fn == 0.0
    for metric in (area, precision):
        metric.update(1, math.inf)
        assert metric.value == pytest.approx(1.0, abs=ROUNDING)


@given(st.lists(st.tuples(labels, values), min_size=2, max_size=50), fades)
def test_an_area_is_never_outside_of_zero_and_one(pairs, fade):
    y, scores = both_classes(pairs)
    for separated in (scores, y * (2.0 + np.arctan(scores)), -y * (2.0 + np.arctan(scores))):
        ranking = ranked(y, separated, "centred", fade=fade)
        assert 0.0 <= ranked_rightly(ranking) <= 1.0
        assert all(0.0 <= precision_recall_area(ranking, trapezoid)[0] <= 1.0 for trapezoid in (False, True))


# ---- Keys ----


@given(st.lists(st.one_of(any_values, values), min_size=2, max_size=60), st.integers(2, 3000))
def test_keys_never_decrease_with_the_score_and_are_the_naive_ones(scores, n_bins):
    ordered = np.sort(scores)
    keys = [log_linear_key(score) for score in ordered]
    assert keys == sorted(keys) and keys == naive.float_keys(ordered).tolist()
    keys = [sigmoid_key(score, n_bins) for score in ordered]
    assert keys == sorted(keys) and keys[0] >= 0 and keys[-1] < n_bins


def test_keys_of_remarkable_scores():
    ordered = [-math.inf, -1e300, -1.0, -1e-3, -5e-324, -0.0, 0.0, 5e-324, 1e-3, 1.0, 1e300, math.inf]
    keys = [log_linear_key(score) for score in ordered]
    assert keys == sorted(keys)
    assert keys[0] == keys[1] == 0 and keys[-1] == keys[-2] == 2944  # outermost of 2945 bins
    assert set(keys[4:8]) == {1472}  # the middle
    assert [sigmoid_key(score, 1000) for score in (-math.inf, 0.0, 36.8, math.inf)] == [0, 500, 999, 999]
    for edge in 2.0 ** np.arange(-10, 13):  # a power of two begins a bin, on both sides of 0
        assert log_linear_key(edge) == log_linear_key(np.nextafter(edge, 0.0)) + 1
        assert log_linear_key(-edge) == log_linear_key(np.nextafter(-edge, 0.0)) - 1


@given(st.lists(st.tuples(labels, any_values), min_size=9, max_size=40))
def test_bins_around_a_centre_keep_the_order_of_scores(pairs):
    y, scores = both_classes(pairs)
    levels = ranked(y, scores, "centred").levels
    assert math.isfinite(levels[CENTRE]) and 0.0 < levels[SCALE] < math.inf
    with np.errstate(over="ignore"):
        keys = [log_linear_key((score - levels[CENTRE]) / levels[SCALE]) for score in np.sort(scores)]
    assert keys == sorted(keys)


@pytest.mark.parametrize("power", [-1000, -60, -1, 1, 60, 1019])
def test_centred_does_not_see_a_power_of_two(power):
    rng = np.random.default_rng(4)
    y, scores = np.where(rng.random(1500) < 0.2, 1, -1), np.round(rng.normal(size=1500), 4) + 3.0
    for make in (AUROC, lambda: AUROC(fade=0.99), AUPRC, lambda: AUPRC(interpolation="step")):
        metric, scaled = make(), make()
        for part in (slice(0, 256), slice(256, 257), slice(257, None)):
            metric.update_many(y[part], scores[part])
            scaled.update_many(y[part], np.ldexp(scores[part], power))
            assert (metric.value, metric.error_bound) == (scaled.value, scaled.error_bound)


def test_centred_takes_scores_at_the_end_of_the_range():
    rng = np.random.default_rng(6)
    y, sides = np.where(rng.random(500) < 0.5, 1, -1), np.where(rng.random(500) < 0.5, 0.8, -0.8)
    scores = np.ldexp(sides + rng.uniform(-0.1, 0.1, 500), 1023)
    scores[300:310], scores[310:320] = math.inf, -math.inf
    metric = AUROC()
    metric.update_many(y, scores)
    assert abs(metric.value - auroc(y, scores)) <= metric.error_bound < 0.05


@given(examples, st.booleans())
def test_centred_is_exact_before_its_bins(pairs, trapezoid):
    y, scores = both_classes(pairs)
    metric = AUROC()
    metric.update_many(y, scores)
    assert (metric.value, metric.error_bound) == (auroc(y, scores), 0.0)
    precision = AUPRC(interpolation="trapezoid" if trapezoid else "step")
    precision.update_many(y, scores)
    exact = naive.precision_recall_trapezoid if trapezoid else naive.average_precision
    assert precision.value == pytest.approx(exact(y, scores), abs=ROUNDING) and precision.error_bound == 0.0


# ---- Windows ----


@given(st.lists(st.tuples(labels, values), min_size=1, max_size=60), st.integers(1, 30))
def test_a_window_is_exact_at_every_step(pairs, size):
    metric, model = WindowedAUROC(size), naive.WindowedAUROC(size)
    for t, (label, score) in enumerate(pairs, start=1):
        metric.update(label, score)
        model.update(label, score)
        assert metric.value == pytest.approx(auroc(*split(pairs[max(0, t - size) : t])), rel=0, nan_ok=True)
        assert metric._window.tally[U2] == model.U2


@given(st.lists(values, min_size=1, max_size=20), labels)
def test_no_pairs_are_left_when_a_class_has_left(scores, label):
    metric = WindowedAUROC(5)
    metric.update_many(np.tile([1, -1], len(scores)), np.repeat(scores, 2))
    metric.update_many(np.full(5, label), np.resize(scores, 5))
    tally = metric._window.tally
    assert tally[U2] == 0 and sorted(tally[COUNT : COUNT + 2]) == [0, 5] and math.isnan(metric.value)


# ---- A million examples ----


@pytest.fixture(scope="module")
def a_million():
    """Scores to the second decimal, so that there are ties, 2 % positives."""
    rng = np.random.default_rng(5)
    y = np.where(rng.random(1_000_000) < 0.02, 1, -1)
    return y, np.round(2.0 * rng.normal(size=y.size) + 1.5 * y - 4.0, 2)


@pytest.mark.parametrize("key", list(KEYS))
def test_a_million_examples_lose_nothing(key, a_million):
    y, scores = a_million
    keys = naive.keys_of(scores, key)
    P, N = naive.bin_weights(y, keys, np.ones(y.size))
    for metric, expected in [
        (AUROC(key), auroc(y, keys)),
        (AUPRC(key, interpolation="step"), average_precision(y, keys)),
        (AUPRC(key), naive.binned_auprc(P, N, "trapezoid")),
    ]:
        metric.update_many(y, scores)
        assert abs(metric.value - expected) < 1e-12


@pytest.mark.parametrize("key", list(KEYS))
def test_a_million_faded_examples_weigh_what_they_should(key, a_million):
    # 0.999^-1000000 is 1e434: the weights have been divided by 1e100 four times.
    y, scores = a_million
    keys = naive.keys_of(scores, key)
    for per_class in (False, True):
        weights = (naive.faded_weights_per_class if per_class else naive.faded_weights)(y, 0.999)
        metric = AUROC(key, fade=0.999, per_class=per_class)
        metric.update_many(y, scores)
        assert abs(metric.value - naive.binned_auroc(*naive.bin_weights(y, keys, weights))) < 1e-9
    late = slice(-100_000, None)  # what came before weighs less than 1e-43, in the end nothing at all
    P, N = naive.bin_weights(y[late], keys[late], naive.faded_weights(y[late], 0.999))
    for interpolation in ("step", "trapezoid"):
        precision = AUPRC(key, fade=0.999, interpolation=interpolation)
        precision.update_many(y, scores)
        assert abs(precision.value - naive.binned_auprc(P, N, interpolation)) < 1e-9


def test_a_million_examples_pass_through_a_window_and_leave_no_trace(a_million):
    y, scores = a_million
    metric = WindowedAUROC(300)
    for stop in (400_000, 999_999, 1_000_000):
        metric.update_many(y[metric._window.tally[0] : stop], scores[metric._window.tally[0] : stop])
        assert metric.value == auroc(y[stop - 300 : stop], scores[stop - 300 : stop])


@pytest.mark.parametrize("fade", [1.0, 0.999])
def test_a_million_calls_are_counted(fade, a_million):
    y, scores = a_million
    weights = naive.faded_weights(y, fade)
    metric = Confusion(fade=fade)
    metric.update_many(y, scores)
    called = scores > 0.0
    outcomes = [(y > 0) & called, (y < 0) & called, (y > 0) & ~called, (y < 0) & ~called]
    expected = [np.sum(weights[which]) for which in outcomes]
    assert [metric.tp, metric.fp, metric.fn, metric.tn] == pytest.approx(expected, rel=1e-9 if fade < 1.0 else 0)
    losses = np.average(naive.log_loss(y * scores), weights=weights)
    assert metric.log_loss == pytest.approx(losses, rel=1e-9)


def test_memory_is_fixed_from_the_start(a_million):
    y, scores = a_million
    for metric in (AUROC(), AUROC(fade=0.999), AUPRC("float"), WindowedAUROC(500), Confusion(fade=0.99)):
        sizes = {len(pickle.dumps(metric))}
        for stop in (100, 300, 100_000):
            metric.update_many(y[:stop], scores[:stop])
            sizes.add(len(pickle.dumps(metric)))
        assert len(sizes) == 1
        for label, score in zip(y[:1000].tolist(), scores[:1000].tolist(), strict=True):
            metric.update(label, score)
            assert len(metric._scores) == len(metric._labels) < 256  # that wait to be counted together
