"""OILK against a transcription of its specification that caches nothing."""

import numpy as np
import pytest

from core.agreement import KERNELS, STREAMS, TOLERANCE, clusters, disagreement, duplicated
from lopsided import OILK
from oracles import koil as naive

SEED = 6
POLICIES = ["fifo", "reservoir"]


def both(kernel=KERNELS["gaussian"], **parameters):
    """A learner and the naive model with the same parameters and seed."""
    parameters = {"C": 0.5, "learning_rate": 0.05, "budget": 20} | parameters
    learner = OILK(kernel=kernel.real, random_state=SEED, **parameters)
    return learner, naive.OILK(kernel.naive, seed=SEED, **parameters)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_learner_is_the_naive_one(policy):
    learner, model = both(policy=policy)
    assert disagreement(learner, model, *clusters(2000)) < TOLERANCE
    assert learner.n_support_ == 20 and set(model.labels()) == {-1, 1}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kernel", ["polynomial", "cubic", "linear", "normalised polynomial", "normalised sum"])
def test_every_kernel_is_the_naive_one(kernel, policy):
    learner, model = both(KERNELS[kernel], policy=policy, C=0.1)
    assert disagreement(learner, model, *clusters(500, seed=1)) < TOLERANCE


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("stream", list(STREAMS))
def test_repeated_points_are_no_obstacle(stream, policy):
    learner, model = both(policy=policy)
    assert disagreement(learner, model, *STREAMS[stream](500, seed=2)) < TOLERANCE


@pytest.mark.parametrize("budget", [1, 2, 3, 50])
def test_any_budget_will_do(budget):
    learner, model = both(policy="reservoir", budget=budget)
    assert disagreement(learner, model, *clusters(300, seed=3)) < TOLERANCE


@pytest.mark.parametrize("policy", POLICIES)
def test_sample_weights_multiply_the_cost(policy):
    X, y = clusters(600, seed=4)
    weights = np.random.default_rng(4).choice([0.0, 0.5, 1.0, 2.0], size=600)
    learner, model = both(policy=policy)
    assert disagreement(learner, model, X, y, weights) < TOLERANCE


def test_examples_of_weight_zero_are_stored():
    X = np.arange(5.0)[:, None]
    learner, model = both(budget=4)
    assert disagreement(learner, model, X, np.array([1, 1, 1, 1, 1])) < TOLERANCE
    assert learner.n_support_ == 4
    np.testing.assert_array_equal(learner.support_weights_, 0.0)
    np.testing.assert_array_equal(learner.support_vectors_.ravel(), [4.0, 1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "change",
    [
        {"policy": "reservoir"},
        {"budget": 19},
        {"C": 0.500001},
        {"learning_rate": 0.050001},
        {"kernel": naive.gaussian(0.50001)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_comparison_notices_another_rule(change):
    parameters = {"C": 0.5, "learning_rate": 0.05, "budget": 20}
    learner = OILK(gamma=0.5, random_state=SEED, **parameters)
    model = naive.OILK(**({"kernel": naive.gaussian(0.5), "seed": SEED} | parameters | change))
    assert disagreement(learner, model, *clusters(300)) > TOLERANCE


def test_the_comparison_notices_a_buffer_that_drops_examples_of_weight_zero():
    class Thrifty(naive.OILK):
        def step(self, x, y, weight=1.0):
            kept = [list(slot) for slot in self.buffer]
            score = super().step(x, y, weight)
            if len(self.buffer) > len(kept) and self.buffer[-1][1] == 0.0:
                self.buffer.pop()
            return score

    learner, _ = both()
    model = Thrifty(naive.gaussian(0.5), C=0.5, learning_rate=0.05, budget=20, seed=SEED)
    X, y = duplicated(300)
    assert disagreement(learner, model, X, y) > TOLERANCE
