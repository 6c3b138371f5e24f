"""KOIL against a transcription of its specification that caches nothing, over 2,000 examples and more.

Compared are the score of every example before it is learned, the support points in slot order (exactly), their weights
and the scores of fresh points. Both sides draw from the same seed.
"""

import itertools

import numpy as np
import pytest

from core.agreement import (
    KERNELS,
    STREAMS,
    TOLERANCE,
    Twins,
    clusters,
    difference,
    disagreement,
    duplicated,
    learned_scores,
    naive_scores,
    well_ranked,
)
from lopsided import KOIL
from oracles import koil as naive

SEED = 5
LOSSES = ["hinge", "squared_hinge"]
RULES = ["violators", "among_nearest"]


def both(kernel=KERNELS["gaussian"], **parameters):
    """A learner and the naive model with the same parameters and seed."""
    parameters = {"C": 2.0, "learning_rate": 0.05} | parameters
    return (
        KOIL(kernel=kernel.real, random_state=SEED, **parameters),
        naive.KOIL(kernel.naive, bounded_kernel=kernel.bounded, seed=SEED, **parameters),
    )


@pytest.mark.parametrize("neighbors", RULES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("compensate", [True, False])
@pytest.mark.parametrize("policy", ["reservoir", "fifo"])
def test_a_bounded_learner_is_the_naive_one(policy, compensate, loss, neighbors):
    learner, model = both(
        policy=policy,
        compensate=compensate,
        loss=loss,
        neighbors=neighbors,
        budget=(8, 12),
        n_neighbors=3,
    )
    assert disagreement(learner, model, *clusters(2000)) < TOLERANCE
    assert learner.n_support_ == 20


@pytest.mark.parametrize("neighbors", RULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_an_unbounded_learner_is_the_naive_one_and_has_nothing_to_compensate(loss, neighbors):
    # Steps that reach the margin in one push, so that most of the 2,000 examples find no violator and are not stored.
    steps = {"hinge": {"C": 8.0, "learning_rate": 0.01}, "squared_hinge": {"C": 60.0, "learning_rate": 0.005}}[loss]
    X, y = well_ranked(2000)
    kernel, parameters = naive.gaussian(0.2), {"policy": "unbounded", "loss": loss, "neighbors": neighbors} | steps
    model = naive.KOIL(kernel, n_neighbors=3, **parameters)
    expected = naive_scores(model, X, y)
    for compensate in (True, False):
        learner = KOIL(gamma=0.2, n_neighbors=3, compensate=compensate, random_state=SEED, **parameters)
        assert difference(learner, learned_scores(learner, X, y), model, expected) < TOLERANCE
        assert 64 < (learner.support_weights_ > 0).sum() < 500  # its rooms had to grow


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("schedule", ["invsqrt", "theory"])
def test_every_schedule_is_the_naive_one(schedule, loss):
    learner, model = both(
        schedule=schedule, loss=loss, budget=(8, 12), n_neighbors=2, learning_rate=0.3 if schedule == "invsqrt" else 0.2
    )
    assert disagreement(learner, model, *clusters(2000, seed=1)) < TOLERANCE


@pytest.mark.parametrize("kernel", ["polynomial", "sum"])
def test_the_schedule_of_theory_follows_the_largest_self_similarity(kernel):
    X, y = clusters(1000, seed=2)
    X *= np.linspace(0.2, 1.5, 1000)[:, None]  # k(x, x) keeps reaching new heights
    learner, model = both(KERNELS[kernel], schedule="theory", loss="squared_hinge", budget=9, learning_rate=0.5)
    assert disagreement(learner, model, X, y) < TOLERANCE


@pytest.mark.parametrize("schedule", ["constant", "theory"])
@pytest.mark.parametrize("policy", ["reservoir", "fifo"])
def test_sample_weights_multiply_the_cost(policy, schedule):
    X, y = clusters(1000, seed=3)
    weights = np.random.default_rng(3).choice([0.0, 0.5, 1.0, 2.0], size=1000)
    learner, model = both(policy=policy, schedule=schedule, budget=(7, 11), n_neighbors=2)
    assert disagreement(learner, model, X, y, weights) < TOLERANCE


@pytest.mark.parametrize("budget", [(1, 1), (1, 25), (25, 1), (40, 11), 30])
def test_budgets_may_differ_and_give_the_number_of_neighbours(budget):
    learner, model = both(budget=budget)
    assert disagreement(learner, model, *clusters(700, seed=4)) < TOLERANCE


@pytest.mark.parametrize("neighbors", RULES)
@pytest.mark.parametrize("n_neighbors", [1, 4, 100])
def test_the_number_of_neighbours_may_be_given(n_neighbors, neighbors):
    learner, model = both(n_neighbors=n_neighbors, neighbors=neighbors, budget=(9, 14))
    assert disagreement(learner, model, *clusters(700, seed=5)) < TOLERANCE


@pytest.mark.parametrize("policy", ["reservoir", "fifo"])
@pytest.mark.parametrize("kernel", list(KERNELS))
def test_every_kernel_is_the_naive_one(kernel, policy):
    learner, model = both(KERNELS[kernel], policy=policy, budget=(8, 12), n_neighbors=3)
    assert disagreement(learner, model, *clusters(700, seed=6)) < TOLERANCE


@pytest.mark.parametrize("n_features", [1, 4, 7])
def test_any_number_of_features_will_do(n_features):
    learner, model = both(budget=(8, 12), n_neighbors=3)
    assert disagreement(learner, model, *clusters(500, seed=7, n_features=n_features)) < TOLERANCE


TIES = [
    (stream, kernel)
    for stream, kernel in itertools.product(
        ["duplicated", "lattice"], ["gaussian", "polynomial", "linear", "sum", "normalised polynomial"]
    )
    # On a grid a normalised kernel has ties that only exact arithmetic sees: both sides may round them either way.
    if (stream, kernel) != ("lattice", "normalised polynomial")
]


@pytest.mark.parametrize("policy", ["reservoir", "fifo"])
@pytest.mark.parametrize(("stream", "kernel"), TIES)
def test_ties_are_broken_as_the_naive_one_does(stream, kernel, policy):
    learner, model = both(KERNELS[kernel], policy=policy, budget=(9, 13), n_neighbors=3)
    assert disagreement(learner, model, *STREAMS[stream](600, seed=8)) < TOLERANCE


@pytest.mark.parametrize("neighbors", RULES)
def test_ties_at_similarity_zero_are_broken_too(neighbors):
    # So narrow a Gaussian that nearly all similarities underflow.
    kernel = Twins(KERNELS["gaussian"].real.__class__(gamma=3000.0), naive.gaussian(3000.0), True)
    learner, model = both(kernel, neighbors=neighbors, budget=(9, 13), n_neighbors=3)
    assert disagreement(learner, model, *duplicated(600, seed=9)) < TOLERANCE


@pytest.mark.parametrize("first", [1, -1])
@pytest.mark.parametrize("policy", ["reservoir", "fifo", "unbounded"])
def test_the_first_examples_of_each_class_are_stored_even_if_nothing_is_ranked_wrongly(policy, first):
    # Steps so large that the other class is ranked rightly by a margin when its first example comes.
    X = np.array([[0.0], [0.1], [5.0], [0.2], [5.1]])
    y = first * np.array([1, 1, -1, 1, -1])
    learner, model = both(policy=policy, budget=2, C=4.0, learning_rate=0.9)
    assert disagreement(learner, model, X[:3], y[:3]) < TOLERANCE
    assert learner.support_weights_[-1 if first > 0 else 0] == pytest.approx(-first * 3.6)
    learner, model = both(policy=policy, budget=2, C=4.0, learning_rate=0.9)
    assert disagreement(learner, model, X, y) < TOLERANCE


# ---- The comparison can fail ----


def _last_slot_wins(kernel):
    """The same kernel with a rise of 1e-13 from slot to slot, which decides ties for the highest."""
    rising = naive._kernel(kernel.pair)
    rising.row = lambda points, x: kernel.pair(points, x) * (1.0 + 1e-13 * np.arange(len(points)))
    return rising


@pytest.mark.parametrize(
    "change",
    [
        {"compensate": False},
        {"policy": "fifo"},
        {"loss": "squared_hinge"},
        {"neighbors": "among_nearest"},
        {"n_neighbors": 2},
        {"budget": (12, 8)},
        {"schedule": "invsqrt"},
        {"decay": False},
        {"C": 2.000001},
        {"seed": SEED + 1},
        {"kernel": naive.gaussian(0.50001)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_comparison_notices_another_rule(change):
    parameters = {"budget": (8, 12), "n_neighbors": 3, "learning_rate": 0.05, "C": 2.0}
    learner = KOIL(gamma=0.5, random_state=SEED, **parameters)
    model = naive.KOIL(**({"kernel": naive.gaussian(0.5), "seed": SEED} | parameters | change))
    assert disagreement(learner, model, *clusters(400)) > TOLERANCE


@pytest.mark.parametrize("stream", list(STREAMS))
def test_every_stream_tells_the_two_rules_of_neighbours_apart(stream):
    learner, _ = both(budget=(9, 13), n_neighbors=3, neighbors="violators")
    _, model = both(budget=(9, 13), n_neighbors=3, neighbors="among_nearest")
    assert disagreement(learner, model, *STREAMS[stream](400, seed=8)) > TOLERANCE


def test_the_comparison_notices_another_order_of_ties():
    learner, model = both(budget=(9, 13), n_neighbors=3)
    model.kernel = _last_slot_wins(model.kernel)
    assert disagreement(learner, model, *duplicated(400, seed=8)) > TOLERANCE
