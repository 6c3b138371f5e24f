"""Exact metrics against scikit-learn, against the definition, and against their own symmetries."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from lopsided.metrics import auroc, average_precision, f1

# Scores from a handful of values make heavy ties; free floats make hardly any.
few_values = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1e-300])
any_values = st.floats(-1e150, 1e150)  # scikit-learn subtracts neighbours, which overflows beyond
examples = st.one_of(
    st.lists(st.tuples(st.integers(0, 1), few_values), min_size=1, max_size=60),
    st.lists(st.tuples(st.integers(0, 1), any_values), min_size=1, max_size=60),
)


def split(pairs):
    return np.array([label for label, _ in pairs]), np.array([score for _, score in pairs])


@given(examples)
def test_auroc_is_the_share_of_pairs_ranked_rightly(pairs):
    y, scores = split(pairs)
    positives, negatives = scores[y == 1], scores[y == 0]
    assume(positives.size and negatives.size)
    wins = positives[:, None] > negatives[None, :]
    ties = positives[:, None] == negatives[None, :]
    assert auroc(y, scores) == (wins.sum() + ties.sum() / 2) / wins.size
    assert auroc(y, scores) == pytest.approx(roc_auc_score(y, scores), rel=1e-12, abs=1e-12)


@given(examples)
def test_average_precision_equals_scikit_learn(pairs):
    y, scores = split(pairs)
    assume(y.any())
    assert average_precision(y, scores) == pytest.approx(average_precision_score(y, scores), rel=1e-12)


@given(examples, st.sampled_from([-0.5, 0.0, 0.25]))
def test_f1_equals_scikit_learn(pairs, threshold):
    y, scores = split(pairs)
    expected = f1_score(y, scores > threshold, zero_division=0)
    assert f1(y, scores, threshold) == pytest.approx(expected, rel=1e-12)


@given(examples, st.sampled_from([-0.5, 0.0, 0.25]), st.integers(0, 2**32 - 1))
def test_weighted_figures_equal_scikit_learn_and_repetition(pairs, threshold, seed):
    y, scores = split(pairs)
    counts = np.random.default_rng(seed).integers(0, 4, y.size)
    assume(counts[y == 1].any() and counts[y == 0].any())
    y_again, again = np.repeat(y, counts), np.repeat(scores, counts)
    for metric in (auroc, average_precision):
        assert metric(y, scores, sample_weight=counts) == pytest.approx(metric(y_again, again), rel=1e-12)
    assert f1(y, scores, threshold, sample_weight=counts) == pytest.approx(f1(y_again, again, threshold), rel=1e-12)
    weights = counts * 0.37
    assert auroc(y, scores, sample_weight=weights) == pytest.approx(
        roc_auc_score(y, scores, sample_weight=weights), abs=1e-12
    )
    expected = average_precision_score(y, scores, sample_weight=weights)
    assert average_precision(y, scores, sample_weight=weights) == pytest.approx(expected, rel=1e-12)


def test_weights_that_have_no_meaning_are_refused():
    for metric in (auroc, average_precision, f1):
        for weights in ([1.0], [1.0, -1.0], [1.0, np.nan]):
            with pytest.raises(ValueError, match="must be 2 finite numbers >= 0, one for each score, got shape"):
                metric([0, 1], [0.1, 0.2], sample_weight=weights)


@given(examples, st.randoms(use_true_random=False))
def test_the_order_of_the_examples_does_not_matter(pairs, random):
    shuffled = list(pairs)
    random.shuffle(shuffled)
    for metric in (auroc, average_precision, f1):
        assert metric(*split(pairs)) == pytest.approx(metric(*split(shuffled)), rel=1e-15, nan_ok=True)


@given(examples)
def test_reversed_scores_or_swapped_classes_mirror_the_auroc(pairs):
    y, scores = split(pairs)
    assume(0 < y.sum() < y.size)
    assert auroc(y, scores) + auroc(y, -scores) == pytest.approx(1.0, rel=1e-15)
    assert auroc(1 - y, -scores) == auroc(y, scores)


@given(examples)
def test_all_spellings_of_the_classes_agree(pairs):
    y, scores = split(pairs)
    spellings = (y, 2 * y - 1, y.astype(bool), y.astype(float), y.tolist())
    for metric in (auroc, average_precision, f1):
        values = [metric(labels, scores) for labels in spellings]
        assert values == pytest.approx([values[0]] * 5, rel=0, nan_ok=True)


@pytest.mark.parametrize("levels", [2, 7, 1000, None])
def test_large_samples_with_ties_agree_with_scikit_learn(levels):
    rng = np.random.default_rng(11)
    y = (rng.random(50_000) < 0.02).astype(int)
    scores = rng.standard_normal(y.size) + 0.7 * y
    if levels is not None:
        scores = np.round(scores * levels / 8) / levels
    assert auroc(y, scores) == pytest.approx(roc_auc_score(y, scores), rel=1e-12)
    assert average_precision(y, scores) == pytest.approx(average_precision_score(y, scores), rel=1e-12)
    assert f1(y, scores) == pytest.approx(f1_score(y, scores > 0), rel=1e-12)


def test_equal_scores_say_nothing():
    y = np.array([1, 0, 0, 0])
    assert auroc(y, np.zeros(4)) == 0.5
    assert average_precision(y, np.zeros(4)) == 0.25
    assert f1(y, np.zeros(4)) == 0.0  # nothing lies above the threshold


def test_infinite_scores_are_the_ends_of_the_ranking():
    assert auroc([0, 1, 0, 1], [-np.inf, 0.0, 1.0, np.inf]) == 0.75


@pytest.mark.parametrize("y", [[], [0, 0], [1, 1]])
def test_an_undefined_area_is_nan_and_an_empty_ratio_is_zero(y):
    scores = [-1.0] * len(y)
    assert math.isnan(auroc(y, scores))
    assert math.isnan(average_precision(y, scores)) == (1 not in y)
    assert f1(y, scores) == 0.0


def test_average_precision_of_positives_alone_is_one():
    assert average_precision([1, 1], [0.3, 0.1]) == 1.0


@pytest.mark.parametrize("metric", [auroc, average_precision, f1])
@pytest.mark.parametrize(
    ("y", "scores", "sentence"),
    [
        ([0, 1], [0.1, float("nan")], "scores of {} must not be NaN, got one at position 1."),
        ([0, 1, 2], [1, 2, 3], "y of {} must be 0/1, -1/+1 or boolean, got the labels 0, 1, 2."),
        ([-1, 0, 1], [1, 2, 3], "y of {} must be 0/1, -1/+1 or boolean, got the labels -1, 0, 1."),
        (["a", "b"], [1, 2], "y of {} must be 0/1, -1/+1 or boolean, got the labels 'a', 'b'."),
        ([0, 1], [1, 2, 3], "y and scores of {} must be 1-d and of equal length, got shapes (2,) and (3,)."),
        ([[0]], [[1]], "y and scores of {} must be 1-d and of equal length, got shapes (1, 1) and (1, 1)."),
    ],
)
def test_what_has_no_meaning_is_refused(metric, y, scores, sentence):
    with pytest.raises(ValueError) as caught:
        metric(y, scores)
    assert str(caught.value) == sentence.format(metric.__name__)


def test_scores_that_are_no_numbers_and_a_nan_threshold_are_refused():
    with pytest.raises(ValueError, match="scores of auroc must be an array of numbers, got one where"):
        auroc([0, 1], ["low", "high"])
    with pytest.raises(ValueError, match=r"threshold of f1 must be a number, got nan\."):
        f1([0, 1], [0.1, 0.2], threshold=float("nan"))
