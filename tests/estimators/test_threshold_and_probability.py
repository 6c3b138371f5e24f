"""Where the order is cut, and what a score is worth in probability: kept online from progressive scores."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from lopsided import KOIL
from lopsided.datasets import overlapping
from lopsided.estimators.base.score_memory import NEGATIVE_RING, POSITIVE_RING, ScoreMemory

STREAM = overlapping(6000, 4, rare=0.05, random_state=2)


def learned(**parameters):
    return KOIL(gamma=0.25, random_state=0, **parameters).fit(STREAM.X[:4000], STREAM.y[:4000])


def test_the_default_is_the_published_rule():
    model = learned()
    assert model.threshold_ == 0.0
    scores = model.decision_function(STREAM.X)
    assert np.array_equal(model.predict(STREAM.X) == 1, scores > 0)


def test_a_number_shifts_the_decision_and_keeps_the_order():
    plain, shifted = learned(), learned(threshold=0.25)
    assert np.allclose(plain.decision_function(STREAM.X) - 0.25, shifted.decision_function(STREAM.X), atol=1e-15)
    assert shifted.score_one(STREAM.X[0]) == shifted.decision_function(STREAM.X[:1])[0]
    assert np.array_equal(learned().support_weights_, shifted.support_weights_)


def test_progressive_scores_are_never_shifted():
    plain = KOIL(gamma=0.25, random_state=0).progressive_scores(STREAM.X, STREAM.y)
    shifted = KOIL(gamma=0.25, random_state=0, threshold="f1").progressive_scores(STREAM.X, STREAM.y)
    assert np.array_equal(plain, shifted)


def test_a_zero_score_is_the_other_class():
    model = KOIL(kernel="linear").fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    assert model.decision_function([[0.0, 0.0]])[0] == 0.0
    assert model.predict([[0.0, 0.0]])[0] == 0


def test_f1_beats_zero_on_unseen_rows():
    unseen, y = STREAM.X[4000:], STREAM.y[4000:]
    assert f1_score(y, learned(threshold="f1").predict(unseen)) > f1_score(y, learned().predict(unseen)) + 0.02


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2])
def test_an_alert_budget_is_kept_on_unseen_rows(rate):
    flagged = learned(threshold=f"rate:{rate}").predict(STREAM.X[4000:]).mean()
    assert 0.4 * rate < flagged < 2.0 * rate


def test_gmean_balances_the_two_classes():
    model = learned(threshold="gmean")
    predicted, y = model.predict(STREAM.X[4000:]), STREAM.y[4000:]
    sensitivity, specificity = predicted[y == 1].mean(), 1 - predicted[y == 0].mean()
    assert np.sqrt(sensitivity * specificity) > 0.65


def brute_force(scores, labels, measure):
    """The best value of a measure over all cuts."""
    cuts = np.append(scores, scores.min() - 1)
    return max(measure(labels, scores > cut) for cut in cuts)


def gmean(labels, flagged):
    return np.sqrt(flagged[labels == 1].mean() * (1 - flagged[labels == 0].mean()))


def f1(labels, flagged):
    hits = (flagged & (labels == 1)).sum()
    return 2 * hits / (flagged.sum() + labels.sum())


@pytest.mark.parametrize(("rule", "measure"), [("f1", f1), ("gmean", gmean)])
def test_the_threshold_is_the_best_of_all_cuts(rule, measure):
    rng = np.random.default_rng(0)
    for ties in (False, True):
        labels = (rng.random(200) < 0.3).astype(int)
        scores = rng.standard_normal(200) + labels
        if ties:
            scores = scores.round(0)
        memory = ScoreMemory()
        memory.remember(np.where(labels == 1, 1.0, -1.0), scores)
        cut = memory.threshold(rule)
        assert measure(labels, scores > cut) == pytest.approx(brute_force(scores, labels, measure))


def test_the_rate_never_flags_more_than_allowed_of_what_it_remembers():
    rng = np.random.default_rng(1)
    scores = rng.standard_normal(1000).round(1)
    memory = ScoreMemory()
    memory.remember(np.where(rng.random(1000) < 0.1, 1.0, -1.0), scores)
    for rate in (0.001, 0.01, 0.1, 0.5, 0.9):
        assert (scores > memory.threshold(f"rate:{rate}")).mean() <= rate + 1e-12
    assert (scores > memory.threshold("rate:0.5")).mean() > 0.4


def test_remembering_many_equals_remembering_one_by_one():
    rng = np.random.default_rng(2)
    n = 3 * NEGATIVE_RING
    signs, scores = np.where(rng.random(n) < 0.4, 1.0, -1.0), rng.standard_normal(n)
    many, one = ScoreMemory(), ScoreMemory()
    for start in range(0, n, 5000):
        many.remember(signs[start : start + 5000], scores[start : start + 5000])
    for sign, score in zip(signs, scores, strict=True):
        one.remember_one(sign, score)
    assert np.array_equal(many.positive, one.positive)
    assert np.array_equal(many.negative, one.negative)
    assert many.counts.tolist() == one.counts.tolist()
    assert many.counts.sum() == n
    assert many.positive.size == POSITIVE_RING


def test_probabilities_rise_strictly_with_the_score():
    model = learned()
    order = np.argsort(model.decision_function(STREAM.X), kind="stable")
    scores, probabilities = model.decision_function(STREAM.X)[order], model.predict_proba(STREAM.X)[order, 1]
    distinct = np.append(True, np.diff(scores) > 1e-9)
    assert (np.diff(probabilities[distinct]) > 0).all()
    assert (probabilities > 0).all()
    assert (probabilities < 1).all()
    assert np.allclose(model.predict_proba(STREAM.X).sum(axis=1), 1.0)


def test_probabilities_far_out_neither_reach_nor_reverse():
    memory = ScoreMemory()
    memory.remember(np.array([1.0, 1.0, -1.0, -1.0, -1.0]), np.array([3.0, 2.0, -1.0, -2.0, -1.5]))
    wide = np.concatenate([-np.logspace(8, -3, 50), np.logspace(-3, 8, 50)])
    values = memory.probability(wide)
    assert (np.diff(values) > 0).all()
    assert values[0] > 0
    assert values[-1] < 1


def test_a_useless_ranker_still_gets_an_increasing_curve():
    rng = np.random.default_rng(3)
    memory = ScoreMemory()
    signs = np.where(rng.random(500) < 0.2, 1.0, -1.0)
    memory.remember(signs, -signs + 0.1 * rng.standard_normal(500))
    values = memory.probability(np.linspace(-2, 2, 9))
    assert (np.diff(values) > 0).all()
    assert values.mean() == pytest.approx(0.2, abs=0.05)


def test_probabilities_are_calibrated_on_unseen_rows():
    model = learned()
    probabilities, y = model.predict_proba(STREAM.X[4000:])[:, 1], STREAM.y[4000:]
    assert probabilities.mean() == pytest.approx(y.mean(), abs=0.02)
    top = probabilities > np.quantile(probabilities, 0.9)
    assert probabilities[top].mean() == pytest.approx(y[top].mean(), abs=0.1)  # three standard errors


def test_probabilities_before_both_classes_are_seen():
    model = KOIL().partial_fit([[0.0], [1.0]], [0, 0])
    assert np.isfinite(model.predict_proba([[0.5]])).all()
    assert model.predict_proba([[0.5]])[0, 1] < 0.5
