"""The theory behind OMCSL, in numbers: why a few costs are enough for F, and what choosing among them costs.

Notation: P positives; a classifier has FN misses and FP false alarms, F = 2 (P - FN) / (2 P - FN + FP). A cost theta in
(0, 1) charges 1 - theta/2 for a miss and theta/2 for a false alarm. From the definition of F,

    F(h) >= theta   if and only if   cost_theta(h) <= P (1 - theta),

so the largest F and the smallest cost at theta = F* have the same classifier (the paper's reduction, after Parambath,
Usunier and Grandvalet 2014). Everything here is computed from outside of the learner. The paper's appendices with the
proofs were not at hand: the inequalities are derived in the comments, and the constants are those derived.
"""

import numpy as np
import pytest

from lopsided import OMCSL
from lopsided.datasets import overlapping

SEEDS = range(12)


def classifiers(seed, n=60):
    """Misses and false alarms of some classifiers of one set, and its number of positives."""
    rng = np.random.default_rng(seed)
    positives, negatives = int(rng.integers(5, 200)), int(rng.integers(200, 5000))
    return rng.integers(0, positives + 1, n), rng.integers(0, negatives + 1, n), positives


def f_measure(misses, alarms, positives):
    return 2.0 * (positives - misses) / (2.0 * positives - misses + alarms)


def cost(theta, misses, alarms):
    return (1.0 - theta / 2.0) * misses + theta / 2.0 * alarms


@pytest.mark.parametrize("seed", SEEDS)
def test_f_above_theta_is_a_cost_below_a_line(seed):
    misses, alarms, positives = classifiers(seed)
    values = f_measure(misses, alarms, positives)
    for theta in np.linspace(0.013, 0.987, 50):  # no F of these counts is equal to any of them
        below = cost(theta, misses, alarms) <= positives * (1.0 - theta)
        np.testing.assert_array_equal(values >= theta, below)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_f_has_the_least_cost_where_theta_is_the_best_f(seed):
    misses, alarms, positives = classifiers(seed)
    values = f_measure(misses, alarms, positives)
    best = values.max()
    costs = cost(best, misses, alarms)
    assert costs.min() == pytest.approx(positives * (1.0 - best), rel=1e-12)
    assert values[costs.argmin()] == pytest.approx(best, rel=1e-12)
    wrong = cost(min(0.99, best + 0.3), misses, alarms)  # another theta need not find it: the cost matters
    assert values[wrong.argmin()] <= best


@pytest.mark.parametrize("n_costs", [1, 3, 9, 19, 99])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_grid_of_costs_loses_at_most_its_spacing(seed, n_costs):
    """Let h minimise the cost at theta, and theta be within e of F*. As d cost / d theta = (FP - FN)/2,

    cost_{F*}(h) <= cost_{F*}(h*) + e/2 (|FP - FN| + |FP* - FN*|), and F* - F(h) is the excess of cost, doubled, over
    2 P - FN + FP: F of the best of the grid is within e (|FP - FN| + |FP* - FN*|) / (2 P - FN + FP) of F*.
    """
    misses, alarms, positives = classifiers(seed)
    values = f_measure(misses, alarms, positives)
    star = values.argmax()
    thetas = np.arange(1, n_costs + 1) / (n_costs + 1)
    found = []
    for theta in thetas:
        h = cost(theta, misses, alarms).argmin()
        away = abs(theta - values[star]) * (abs(alarms[h] - misses[h]) + abs(alarms[star] - misses[star]))
        assert values[star] - values[h] <= away / (2.0 * positives - misses[h] + alarms[h]) + 1e-12
        found.append(values[h])
    nearest = int(np.abs(thetas - values[star]).argmin())
    assert max(found) >= found[nearest]


def test_the_loss_of_a_grid_is_not_nothing_and_shrinks():
    """With one cost some classifiers are missed; the check above would not see a bound that is always 0."""
    losses = []
    for n_costs in (1, 9, 99):
        of_grid = []
        for seed in SEEDS:
            misses, alarms, positives = classifiers(seed)
            values = f_measure(misses, alarms, positives)
            thetas = np.arange(1, n_costs + 1) / (n_costs + 1)
            of_grid.append(values.max() - max(values[cost(theta, misses, alarms).argmin()] for theta in thetas))
        losses.append(np.mean(of_grid))
    assert losses[0] > losses[1] >= losses[2] and losses[0] > 1e-3 and losses[2] < 1e-4


@pytest.mark.parametrize("measure", ["f1", "auroc", "auprc"])
@pytest.mark.parametrize("sharpness", [1.0, 10.0, 100.0, 1000.0])
def test_choosing_costs_at_most_the_logarithm_of_the_costs_over_the_sharpness(measure, sharpness):
    """p ~ exp(gamma M) gives gamma sum p M = log Z - H(p) >= gamma max M - ln K, at every step."""
    stream = overlapping(600, 20)
    learner = OMCSL(measure=measure, sharpness=sharpness, fit_intercept=True, random_state=0)
    lost = []
    for start in range(0, 600, 20):
        learner.partial_fit(stream.X[start : start + 20], stream.y[start : start + 20], classes=[0, 1])
        reached = learner.expert_measures_[measure]
        lost.append(reached.max() - learner.expert_weights_ @ reached)
    assert min(lost) >= -1e-12 and max(lost) <= np.log(learner.n_costs) / sharpness
    assert max(lost) > 0.0


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5])
def test_every_column_has_the_regret_of_gradient_descent_on_its_own_costs(loss, rate):
    """sum c l(w_t) - sum c l(u) <= |u|^2 / (2 eta) + eta/2 sum |g_t|^2 for any u, with a constant rate from w_1 = 0."""
    stream = overlapping(400, 5)
    X, signs = stream.X, np.where(stream.y == 1, 1.0, -1.0)
    learner = OMCSL(loss=loss, learning_rate=rate, decay=False, random_state=0)
    scores = learner.progressive_expert_scores(X, stream.y, classes=[0, 1])
    costs = np.where(signs[:, None] > 0, learner.costs_, 1.0 - learner.costs_)

    def losses(scores):
        margins = signs[:, None] * scores
        return np.maximum(0.0, 1.0 - margins) if loss == "hinge" else np.logaddexp(0.0, -margins)

    margins = signs[:, None] * scores
    slopes = (margins < 1.0) * 1.0 if loss == "hinge" else 1.0 / (1.0 + np.exp(margins))
    gradients = (costs * slopes) ** 2 * np.sum(X**2, axis=1)[:, None]
    rng = np.random.default_rng(0)
    for u in [np.zeros(5), *rng.normal(size=(20, 5)), *learner.coef_.T]:
        regret = np.sum(costs * losses(scores), axis=0) - np.sum(costs * losses((X @ u)[:, None]), axis=0)
        assert (regret <= u @ u / (2.0 * rate) + rate / 2.0 * gradients.sum(axis=0) + 1e-9).all()
