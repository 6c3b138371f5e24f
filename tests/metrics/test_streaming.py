"""Streaming metrics against the naive transcription of their specification, against scikit-learn, and at the door.

The naive metrics keep everything and compute each value afresh; they are asked now and then, and often around the
moment at which `centred` gives up its 256 scores for bins.
"""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    auc,
    average_precision_score,
    f1_score,
    log_loss,
    precision_recall_curve,
    precision_score,
    recall_score,
    roc_auc_score,
)

from lopsided.constraints import ParameterError
from lopsided.core.measures.ranking import GROWTH, SCALE, RankingPlan, empty_ranking, observe_many, ranked_rightly
from lopsided.core.measures.score_keys import CENTRED, LOG_LINEAR_BINS
from lopsided.metrics import AUPRC, AUROC, Confusion, WindowedAUROC
from oracles import streaming_metrics as naive

TOLERANCE = 1e-12
N = 1200
ASKED = {1, 2, 3, 5, 8, 30, 100, 254, 255, 256, 257, 258, 259, *range(300, N, 67), N}
KEYS = {
    "sigmoid 1000": {"key": "sigmoid"},
    "sigmoid 7": {"key": "sigmoid", "n_bins": 7},
    "float": {"key": "float"},
    "centred": {"key": "centred"},
}
AREAS = {
    **{f"AUROC, {k}, fade {f}": (AUROC, o | {"fade": f}) for k, o in KEYS.items() for f in (1.0, 0.99, 0.8)},
    **{f"AUROC, {k}, per class": (AUROC, o | {"fade": 0.9, "per_class": True}) for k, o in KEYS.items()},
    **{
        f"AUPRC, {k}, {i}, fade {f}": (AUPRC, o | {"interpolation": i, "fade": f})
        for k, o in KEYS.items()
        for i in ("step", "trapezoid")
        for f in (1.0, 0.99)
    },
}
CALLS = ["tp", "fp", "fn", "tn", "f1", "sensitivity", "specificity", "gmean", "balanced_accuracy", "log_loss"]
EVERY = {
    "AUROC": AUROC,
    "AUPRC": AUPRC,
    "WindowedAUROC": lambda **options: WindowedAUROC(40, **options),
    "Confusion": Confusion,
}
every_metric = pytest.mark.parametrize("make", EVERY.values(), ids=EVERY.keys())


def stream(n=N, seed=0, share=0.3):
    """Labels -1/+1 and scores off the centre of every key, a third of them on a grid so that many are tied."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < share, 1, -1)
    scores = rng.normal(size=n) + 0.7 * y + 0.4
    on_grid = rng.random(n) < 0.33
    scores[on_grid] = np.round(4.0 * scores[on_grid]) / 4.0
    return y, scores


def disagreement(metric, model, y, scores, figures=("value",), asked=ASKED):
    """The largest difference between the two at the times asked; infinite where only one of them is nan."""
    worst = 0.0
    for t, (label, score) in enumerate(zip(y.tolist(), scores.tolist(), strict=True), start=1):
        metric.update(label, score)
        model.update(label, score)
        if t in asked:
            for figure in figures:
                ours, theirs = getattr(metric, figure), getattr(model, figure)
                if math.isnan(ours) or math.isnan(theirs):
                    worst = max(worst, 0.0 if math.isnan(ours) and math.isnan(theirs) else math.inf)
                else:
                    worst = max(worst, abs(ours - theirs))
    return worst


def twin(kind, options):
    return getattr(naive, kind.__name__)(**options)


# ---- The oracles ----


@pytest.mark.parametrize("kind, options", AREAS.values(), ids=AREAS.keys())
def test_a_binned_area_is_the_naive_one(kind, options):
    assert disagreement(kind(**options), twin(kind, options), *stream()) < TOLERANCE


@pytest.mark.parametrize("fade", [1.0, 0.99, 0.8])
def test_counts_of_calls_are_the_naive_ones(fade):
    y, scores = stream(seed=1)
    scores[::7] = 0.0  # calls negative
    assert disagreement(Confusion(fade=fade), naive.Confusion(fade=fade), y, scores, CALLS) < 1e-11


@pytest.mark.parametrize("window", [1, 2, 3, 50, 400, 5000])
def test_an_area_of_a_window_is_the_naive_one(window):
    assert disagreement(WindowedAUROC(window), naive.WindowedAUROC(window), *stream(seed=2)) < TOLERANCE


@pytest.mark.parametrize("share", [0.004, 0.996])
def test_one_class_may_be_very_rare(share):
    y, scores = stream(seed=3, share=share)
    assert 1 < np.sum(y == np.sign(0.5 - share)) < 10
    for options in ({}, {"fade": 0.99}, {"fade": 0.5, "per_class": True}):
        assert disagreement(AUROC(**options), naive.AUROC(**options), y, scores) < TOLERANCE
    for interpolation in ("step", "trapezoid"):
        options = {"fade": 0.99, "interpolation": interpolation}
        assert disagreement(AUPRC(**options), naive.AUPRC(**options), y, scores) < TOLERANCE


@pytest.mark.parametrize("key", ["centred", "float"])
def test_weights_that_were_rescaled_are_the_naive_ones(key):
    # 0.7^-1800 is 1e278: all weights are divided by 1e100 twice, and nothing may show.
    y, scores = stream(1800, seed=4)
    times = set(range(640, 660)) | {900, 1290, 1295, 1300, 1799, 1800}
    for kind, options in [(AUROC, {}), (AUROC, {"per_class": True}), (AUPRC, {}), (AUPRC, {"interpolation": "step"})]:
        options = options | {"key": key, "fade": 0.7}
        metric = kind(**options)
        assert disagreement(metric, twin(kind, options), y, scores, asked=times) < TOLERANCE
        assert 1.0 <= metric._ranking.levels[GROWTH + 1] < 1e100


def test_scores_that_are_still_kept_are_rescaled_too():
    y, scores = stream(500, seed=5)
    for kind, options in [(AUROC, {}), (AUROC, {"per_class": True}), (AUPRC, {"interpolation": "step"})]:
        options = options | {"fade": 0.3}  # 0.3^-256 is 1e133
        assert disagreement(kind(**options), twin(kind, options), y, scores, asked=set(range(180, 300, 7))) < TOLERANCE


def test_infinities_are_the_naive_ends_of_the_ranking():
    y, scores = stream(seed=6)
    scores[3::50], scores[4::50], scores[5::90] = math.inf, -math.inf, 1e300
    for kind, options in AREAS.values():
        assert disagreement(kind(**options), twin(kind, options), y, scores, asked={200, 257, N}) < TOLERANCE
    assert disagreement(WindowedAUROC(300), naive.WindowedAUROC(300), y, scores) < TOLERANCE
    metric = Confusion()
    metric.update_many(y, scores)
    assert 0.0 < metric.f1 < 1.0 and metric.log_loss == math.inf


# ---- The numbers of the specification ----

T = np.arange(1.0, 201.0)
RARE = T % 7 == 0
FIXED = np.sin(T) + 0.8 * RARE - 0.5 * (np.cos(2.0 * T) - 0.5 * RARE)
HUNDRED = {"key": "sigmoid", "n_bins": 100}


@pytest.mark.parametrize(
    "metric, expected",
    [
        (AUROC(**HUNDRED), 0.8243355482),
        (AUPRC(**HUNDRED), 0.5406934965),
        (AUPRC(**HUNDRED, interpolation="step"), 0.5456188375),
        (AUROC(**HUNDRED, fade=0.99), 0.8194303346),
        (AUPRC(**HUNDRED, fade=0.99), 0.5184975358),
        (AUPRC(**HUNDRED, fade=0.99, interpolation="step"), 0.5239370508),
        (AUROC(**HUNDRED, fade=0.9, per_class=True), 0.8583144237),
        (WindowedAUROC(50), 0.7441860465),
    ],
)
def test_the_fixed_stream_gives_the_published_digits(metric, expected):
    metric = copy.deepcopy(metric)
    metric.update_many(RARE, FIXED)
    assert metric.value == pytest.approx(expected, abs=5.1e-11)


def test_the_fixed_stream_gives_the_published_digits_with_bins_after_64_scores():
    plan = RankingPlan(CENTRED, LOG_LINEAR_BINS, 1.0, False)
    ranking = empty_ranking(plan, 64)
    observe_many(ranking, plan, np.where(RARE, 1.0, -1.0), FIXED)
    assert ranking.levels[SCALE] == 2.0
    assert ranked_rightly(ranking) == pytest.approx(0.8242317276, abs=5.1e-11)


# ---- scikit-learn on the keys ----


@pytest.mark.parametrize("fade", [1.0, 0.995])
@pytest.mark.parametrize("options", KEYS.values(), ids=KEYS.keys())
def test_areas_equal_those_of_scikit_learn_on_the_keys(options, fade):
    y, scores = stream(4000, seed=7, share=0.1)
    keys, weights = naive.keys_of(scores, **options), naive.faded_weights(y, fade)
    precision, recall, _ = precision_recall_curve(y, keys, sample_weight=weights)
    for metric, expected in [
        (AUROC(**options, fade=fade), roc_auc_score(y, keys, sample_weight=weights)),
        (
            AUROC(**options, fade=fade, per_class=True),
            roc_auc_score(y, keys, sample_weight=naive.faded_weights_per_class(y, fade)),
        ),
        (
            AUPRC(**options, fade=fade, interpolation="step"),
            average_precision_score(y, keys, sample_weight=weights),
        ),
        (AUPRC(**options, fade=fade), auc(recall, precision)),
    ]:
        metric.update_many(y, scores)
        assert metric.value == pytest.approx(expected, abs=TOLERANCE if fade == 1.0 else 1e-9)


@pytest.mark.parametrize("fade", [1.0, 0.995])
def test_ratios_equal_those_of_scikit_learn(fade):
    y, scores = stream(4000, seed=13, share=0.1)
    weights = {"sample_weight": naive.faded_weights(y, fade)}
    metric = Confusion(fade=fade)
    metric.update_many(y, scores)
    calls = np.where(scores > 0.0, 1, -1)
    assert metric.precision == pytest.approx(precision_score(y, calls, **weights), abs=TOLERANCE)
    assert metric.sensitivity == pytest.approx(recall_score(y, calls, **weights), abs=TOLERANCE)
    assert metric.accuracy == pytest.approx(accuracy_score(y, calls, **weights), abs=TOLERANCE)
    assert metric.value == metric.f1 == pytest.approx(f1_score(y, calls, **weights), abs=TOLERANCE)
    assert metric.log_loss == pytest.approx(log_loss(y, naive.sigma(scores), **weights), abs=TOLERANCE)


# ---- The comparison sees what it should see ----


@pytest.mark.parametrize(
    "kind, options, change",
    [
        (AUROC, {"key": "sigmoid"}, {"n_bins": 999}),
        (AUROC, {"key": "sigmoid"}, {"key": "float"}),
        (AUROC, {"key": "float"}, {"key": "centred"}),
        (AUROC, {"key": "float"}, {"bits": 7}),
        (AUROC, {}, {"n0": 255}),
        (AUROC, {"fade": 0.99}, {"fade": 0.99001}),
        (AUROC, {"fade": 0.99}, {"per_class": True}),
        (AUPRC, {}, {"interpolation": "step"}),
        (AUPRC, {"fade": 0.99}, {"fade": 0.99001}),
        (WindowedAUROC, {"window": 50}, {"window": 51}),
        (Confusion, {"fade": 0.99}, {"fade": 0.99001}),
    ],
)
def test_the_comparison_notices_another_rule(kind, options, change):
    figures = ["f1" if kind is Confusion else "value"]
    assert disagreement(kind(**options), twin(kind, options | change), *stream(), figures) > 1e3 * TOLERANCE


# ---- One by one, all at once, interrupted ----


@every_metric
@given(cuts=st.lists(st.integers(0, 700), max_size=6), asks=st.booleans())
def test_one_by_one_or_many_at_a_time_is_the_same_to_the_last_bit(make, cuts, asks):
    y, scores = stream(700, seed=8)
    at_once, in_parts = make(), make()
    at_once.update_many(y, scores)
    for number, (start, stop) in enumerate(zip([0, *sorted(cuts)], [*sorted(cuts), 700], strict=True)):
        if number % 2:
            in_parts.update_many(y[start:stop], scores[start:stop])
        else:
            for label, score in zip(y[start:stop], scores[start:stop], strict=True):
                in_parts.update(label, score)
        if asks:
            assert not math.isinf(in_parts.value)
    assert in_parts.value == at_once.value and in_parts.error_bound == at_once.error_bound


@every_metric
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda metric: pickle.loads(pickle.dumps(metric))])
@pytest.mark.parametrize("moment", [0, 100, 256, 257, 300])
def test_a_copy_goes_on_from_where_it_was_made_and_for_itself(make, copied, moment):
    y, scores = stream(600, seed=9)
    metric, undisturbed = make(), make()
    undisturbed.update_many(y, scores)
    for label, score in zip(y[:moment], scores[:moment], strict=True):
        metric.update(label, score)
    twin_of_it = copied(metric)
    for label, score in zip(y[moment:], scores[moment:], strict=True):
        metric.update(label, score)
    assert metric.value == undisturbed.value
    twin_of_it.update_many(y[moment:], scores[moment:])
    assert twin_of_it.value == undisturbed.value
    twin_of_it.update_many(y, -scores)
    assert metric.value == undisturbed.value != twin_of_it.value


def test_a_metric_says_whether_it_still_keeps_all_scores():
    y, scores = stream(257, seed=10)
    for make in (AUROC, AUPRC):
        metric = make()
        assert metric.is_exact and metric.n_kept == 0
        metric.update_many(y[:255], scores[:255])
        metric.update(y[255], scores[255])
        assert metric.is_exact and metric.n_kept == 256 and metric.error_bound == 0.0
        metric.update(y[256], scores[256])
        assert not metric.is_exact and metric.n_kept == 0
        assert not make(key="float").is_exact


def test_a_metric_prints_its_value():
    metric = AUROC()
    assert repr(metric) == "<AUROC nan>"
    metric.update_many([0, 1, 1], [0.5, 0.5, 0.7])
    assert repr(metric) == "<AUROC 0.75>"


# ---- The door ----


@every_metric
def test_all_spellings_of_the_classes_agree(make):
    y, scores = stream(300, seed=11)
    expected = make()
    expected.update_many(y, scores)
    for labels in (y > 0, (y > 0).astype(int), (y > 0).tolist(), y.astype(float), y.astype(np.int8)):
        at_once, one_by_one = make(), make()
        at_once.update_many(labels, scores)
        for label, score in zip(labels, scores, strict=True):
            one_by_one.update(label, score)
        assert at_once.value == one_by_one.value == expected.value


@every_metric
def test_what_has_no_meaning_is_refused_in_a_sentence_and_changes_nothing(make):
    y, scores = stream(300, seed=12)
    metric = make()
    name = type(metric).__name__
    metric.update_many(y[:299], scores[:299])
    metric.update(y[299], scores[299])  # still waits to be counted
    before = pickle.dumps(metric)
    for score in (math.nan, np.nan, np.float32("nan"), None, "high", [0.5], 1j, 10**400):
        with pytest.raises(ValueError, match=rf"^The score of {name}\.update must be a number\. Got .*\.$"):
            metric.update(1, score)
    for label in (2, 0.5, math.nan, None, "1", "positive"):
        with pytest.raises(
            ValueError, match=rf"^The label y of {name}\.update must be 0, 1, -1 or boolean\. Got .*\.$"
        ):
            metric.update(label, 0.5)
    labels_sentence = rf"^y of {name}\.update_many must be 0/1, -1/\+1 or boolean, got the labels .*\.$"
    for labels in ([0, 1, 2], [-1, 0, 1], [0.5, 1, 1], ["a", "b", "b"], [math.nan, 1, 0], [None, 1, 0]):
        with pytest.raises(ValueError, match=labels_sentence):
            metric.update_many(labels, [0.1, 0.2, 0.3])
    scores_sentence = rf"^scores of {name}\.update_many must not be NaN, got one at position 1\.$"
    for values in ([0.1, math.nan], [0.1, None]):
        with pytest.raises(ValueError, match=scores_sentence):
            metric.update_many([0, 1], values)
    for labels, values in (([0, 1], [1.0]), ([[0]], [[1.0]]), (1, 0.5)):
        with pytest.raises(ValueError, match=rf"^y and scores of {name}\.update_many must be 1-d and of equal length"):
            metric.update_many(labels, values)
    assert pickle.dumps(metric) == before


@every_metric
def test_nothing_is_nothing(make):
    metric = make()
    metric.update_many([], [])
    assert metric.value == 0.0 if isinstance(metric, Confusion) else math.isnan(metric.value)


@pytest.mark.parametrize(
    "kind, options, sentence",
    [
        (AUROC, {"key": "rank"}, "The 'key' parameter of AUROC must be 'sigmoid', 'float' or 'centred'. Got 'rank'"),
        (AUROC, {"n_bins": 1}, "The 'n_bins' parameter of AUROC must be an int >= 2. Got 1"),
        (AUROC, {"n_bins": 10.0}, "The 'n_bins' parameter of AUROC must be an int >= 2. Got 10.0"),
        (AUROC, {"fade": 0.0}, "The 'fade' parameter of AUROC must be a number > 0 and <= 1. Got 0.0"),
        (AUROC, {"per_class": "yes"}, "The 'per_class' parameter of AUROC must be True or False. Got 'yes'"),
        (AUPRC, {"key": None}, "The 'key' parameter of AUPRC must be 'sigmoid', 'float' or 'centred'. Got None"),
        (AUPRC, {"fade": 1.01}, "The 'fade' parameter of AUPRC must be a number > 0 and <= 1. Got 1.01"),
        (AUPRC, {"fade": True}, "The 'fade' parameter of AUPRC must be a number > 0 and <= 1. Got True"),
        (
            AUPRC,
            {"interpolation": "linear"},
            "The 'interpolation' parameter of AUPRC must be 'trapezoid' or 'step'. Got 'linear'",
        ),
        (WindowedAUROC, {"window": 0}, "The 'window' parameter of WindowedAUROC must be an int >= 1. Got 0"),
        (WindowedAUROC, {"window": 2.5}, "The 'window' parameter of WindowedAUROC must be an int >= 1. Got 2.5"),
        (Confusion, {"fade": math.nan}, "The 'fade' parameter of Confusion must be a number > 0 and <= 1. Got nan"),
    ],
)
def test_bad_parameters_are_refused(kind, options, sentence):
    with pytest.raises(ParameterError) as caught:
        kind(**options)
    assert str(caught.value) == sentence + " instead."


def test_there_is_no_fading_per_class_where_it_would_change_how_rare_positives_are():
    with pytest.raises(TypeError, match="per_class"):
        AUPRC(per_class=True)
