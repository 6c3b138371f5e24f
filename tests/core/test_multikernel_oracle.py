"""KOIL with multiple kernels against a transcription of its specification that caches nothing.

Compared are the combined score of every example before it is learned, every expert's support points (exactly) and
weights, the scores of fresh points, and the weights of the kernels. Both sides draw from the same seed.
"""

import pickle

import numpy as np
import pytest

from core.agreement import (
    KERNELS,
    TOLERANCE,
    clusters,
    difference,
    disagreement,
    duplicated,
    learned_scores,
    naive_scores,
    well_ranked,
)
from lopsided import MultiKernelKOIL
from lopsided.core.pairwise.support import SCALE
from lopsided.kernels import Gaussian, Polynomial, Sum, default_pool
from oracles import koil as naive

SEED = 7
POOL = ["gaussian", "polynomial", "narrow gaussian", "linear", "normalised polynomial", "sum"]
COMBINATIONS = ["raw", "sign"]


def both(pool=POOL, **parameters):
    """A learner and the naive model with the same parameters and seed."""
    parameters = {"C": 2.0, "learning_rate": 0.05, "budget": (5, 8), "n_neighbors": 2} | parameters
    return (
        MultiKernelKOIL(kernels=[KERNELS[name].real for name in pool], random_state=SEED, **parameters),
        naive.MultiKernelKOIL([KERNELS[name].naive for name in pool], seed=SEED, **parameters),
    )


def check(learner, model, X, y, weights=None):
    """The two models agree, and so do the weights of their kernels."""
    assert disagreement(learner, model, X, y, weights) < TOLERANCE
    np.testing.assert_allclose(learner.kernel_weights_, model.kernel_weights(), rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("combine", COMBINATIONS)
def test_the_learner_is_the_naive_one(combine):
    learner, model = both(combine=combine, weight_rate=0.001)
    check(learner, model, *clusters(2000))
    shares = learner.kernel_weights_ / learner.kernel_weights_.max()
    assert (shares > 1e-3).all() and (shares < 0.9).any()  # experts were left out at random, not never or always


@pytest.mark.parametrize("policy", ["reservoir", "fifo"])
@pytest.mark.parametrize("risk_scale", [1.0, "C", 0.25])
@pytest.mark.parametrize("decay", [True, False])
def test_every_option_is_the_naive_one(decay, risk_scale, policy):
    learner, model = both(
        POOL[:4], decay=decay, risk_scale=risk_scale, policy=policy, learning_rate=0.05 if decay else 0.01
    )
    check(learner, model, *clusters(500, seed=1))


@pytest.mark.parametrize("decay", [True, False])
def test_an_unbounded_pool_is_the_naive_one_and_grows(decay):
    learner, model = both(["gaussian", "linear", "polynomial"], policy="unbounded", decay=decay, weight_rate=0.1)
    check(learner, model, *clusters(300, seed=2))
    assert max(len(points) for points in learner.support_vectors_) > 2 * 64


def test_an_unbounded_pool_that_ranks_well_is_the_naive_one():
    learner, model = both(["gaussian", "linear"], policy="unbounded", C=8.0, learning_rate=0.01, n_neighbors=3)
    check(learner, model, *well_ranked(400))


@pytest.mark.parametrize("compensate", [True, False])
@pytest.mark.parametrize("neighbors", ["violators", "among_nearest"])
def test_squared_losses_are_the_naive_ones(neighbors, compensate):
    learner, model = both(
        POOL[:4],
        loss="squared_hinge",
        neighbors=neighbors,
        compensate=compensate,
        schedule="theory",
        learning_rate=0.2,
        weight_rate=0.05,
    )
    check(learner, model, *clusters(400, seed=3))


def test_sample_weights_multiply_the_cost_and_the_risk():
    X, y = clusters(400, seed=4)
    weights = np.random.default_rng(4).choice([0.0, 0.5, 1.0, 2.0], size=400)
    learner, model = both(POOL[:3], risk_scale="C")
    check(learner, model, X, y, weights)


@pytest.mark.parametrize("policy", ["reservoir", "fifo"])
def test_ties_are_broken_as_the_naive_one_does(policy):
    learner, model = both(POOL, policy=policy)
    check(learner, model, *duplicated(400, seed=5))


def test_the_published_pool_is_the_naive_one():
    pool = [naive.gaussian(0.5 / 4.0**e) for e in range(-6, 7)] + [naive.polynomial(p) for p in (1, 2, 3)]
    parameters = {"C": 2.0, "learning_rate": 0.05, "budget": (4, 6), "n_neighbors": 2}
    assert len(default_pool()) == len(pool) == 16
    learner = MultiKernelKOIL(random_state=SEED, **parameters)
    check(learner, naive.MultiKernelKOIL(pool, seed=SEED, **parameters), *clusters(300, seed=6))


def test_a_gaussian_with_a_weight_or_in_company_is_no_plain_one():
    parts, alike = (
        [Gaussian(gamma=1.3), Polynomial(degree=2, coef0=1.0)],
        [naive.gaussian(1.3), naive.polynomial(2, 1.0)],
    )
    kernels = [Sum(parts[:1], weights=[0.6]), Sum(parts)]
    pool = [naive.weighted_sum(alike[:1], [0.6]), naive.weighted_sum(alike, [1.0, 1.0])]
    parameters = {"C": 2.0, "learning_rate": 0.05, "budget": (5, 8), "n_neighbors": 2}
    learner = MultiKernelKOIL(kernels, random_state=SEED, **parameters)
    check(learner, naive.MultiKernelKOIL(pool, seed=SEED, **parameters), *clusters(300, seed=10))


@pytest.mark.parametrize(("policy", "budget"), [("reservoir", (5, 8)), ("fifo", (5, 8)), ("reservoir", (17, 45))])
@pytest.mark.parametrize("n_features", [1, 3, 4, 7, 20])
def test_rows_measured_together_know_what_came_in_between(policy, budget, n_features):
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(300, n_features)), np.where(rng.random(300) < 0.3, 1, -1)
    together, alone = (both(policy=policy, budget=budget)[0].partial_fit(X[:9], y[:9]) for _ in range(2))
    scores = together.progressive_scores(X[9:], y[9:])
    expected = [(alone.score_one(x), alone.learn_one(x, label))[0] for x, label in zip(X[9:], y[9:], strict=True)]
    np.testing.assert_array_equal(scores, expected)
    for ours, others in zip(together._arrays().values(), alone._arrays().values(), strict=True):
        np.testing.assert_array_equal(ours, others)


@pytest.mark.parametrize("policy", ["reservoir", "fifo"])
def test_vectors_that_do_not_know_each_other_are_learned_as_others_are(policy):
    kernels = [Gaussian(gamma=1e5), Gaussian(gamma=30.0), Gaussian(gamma=1.0)]
    X, y = clusters(600, seed=9)
    X[300:] = X[:300]  # which makes some of them meet their likes
    parameters = {"C": 2.0, "learning_rate": 0.05, "budget": (5, 8), "n_neighbors": 2, "policy": policy}
    learner = MultiKernelKOIL(kernels, random_state=SEED, **parameters)
    model = naive.MultiKernelKOIL([naive.gaussian(kernel.gamma) for kernel in kernels], seed=SEED, **parameters)
    check(learner, model, X, y)
    marked = learner._scratch.lonely[:, 1:-1].astype(bool)
    gram = learner._stack.gram[:, :-1]
    alone = (np.count_nonzero(gram, axis=2) == 1) & (np.diagonal(gram, axis1=1, axis2=2) == 1.0)
    assert marked[0].any() and not (marked & ~alone).any()
    # Marks found anew, as after reading a file, lead to the same bits.
    resumed = pickle.loads(pickle.dumps(learner))
    for one in (learner, resumed):
        one.partial_fit(X[:200], y[:200])
    np.testing.assert_array_equal(learner._stack.scores, resumed._stack.scores)


@pytest.mark.parametrize(
    "change",
    [
        {"combine": "sign"},
        {"decay": False},
        {"risk_scale": "C"},
        {"weight_rate": 0.011},
        {"compensate": False},
        {"seed": SEED + 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_comparison_notices_another_rule(change):
    parameters = {"C": 2.0, "learning_rate": 0.05, "budget": (5, 8), "n_neighbors": 2}
    learner = MultiKernelKOIL(kernels=[KERNELS[name].real for name in POOL[:3]], random_state=SEED, **parameters)
    model = naive.MultiKernelKOIL([KERNELS[name].naive for name in POOL[:3]], **({"seed": SEED} | parameters | change))
    assert disagreement(learner, model, *clusters(200)) > TOLERANCE


def test_the_comparison_notices_a_single_weight():
    X, y = clusters(200)
    learner, model = both(POOL[:3])
    scores, expected = learned_scores(learner, X, y), naive_scores(model, X, y)
    assert difference(learner, scores, model, expected) < TOLERANCE
    learner._stack.weights[1, 0] += 1e-7 / learner._stack.levels[1, SCALE]
    assert difference(learner, scores, model, expected) > TOLERANCE
