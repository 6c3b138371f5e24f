"""Long streams: cached scores do not drift, memory does not grow, the scale of the decay is folded back in time."""

import numpy as np
import pytest

from core.agreement import TOLERANCE, clusters, difference, disagreement, learned_scores, naive_scores
from lopsided import KOIL, OILK, SPA, MultiKernelKOIL
from lopsided.core.pairwise.support import SCALE
from lopsided.core.pointwise.expansion import STEPS
from lopsided.kernels import Gaussian, Polynomial
from oracles import koil as naive
from properties.inspection import bytes_of, cache_error

POOL = [Gaussian(gamma=0.5), Gaussian(gamma=8.0), Polynomial(degree=2, coef0=1.0)]


def chunks(n, seed, size=50_000, n_features=4):
    """A stream of n examples, a chunk at a time; its classes wander, so that there is always something to learn."""
    rng = np.random.default_rng(seed)
    centre = np.zeros(n_features)
    for start in range(0, n, size):
        centre += 0.3 * rng.normal(size=n_features)
        y = np.where(rng.random(min(size, n - start)) < 0.1, 1, -1)
        yield 0.7 * rng.normal(size=(y.size, n_features)) + np.where((y > 0)[:, None], centre + 0.5, centre), y


def watch(learner, stream, every):
    """Learn the whole stream; returns the errors of the cache now and then, the sizes in bytes, the largest score."""
    errors, sizes, largest = [], [], 0.0
    for number, (X, y) in enumerate(stream, start=1):
        scores = learner.progressive_scores(X, y, classes=[-1, 1])
        assert np.isfinite(scores).all()
        largest = max(largest, float(np.abs(scores).max()))
        if number % every == 0:
            errors.append(cache_error(learner))
            sizes.append(bytes_of(learner))
    return errors, sizes, largest


@pytest.mark.parametrize("policy", ["reservoir", "fifo"])
def test_a_million_examples_leave_the_cache_exact_and_the_memory_as_it_was(policy):
    learner = KOIL(budget=20, policy=policy, random_state=0)
    errors, sizes, largest = watch(learner, chunks(1_000_000, seed=1), every=5)
    assert len(errors) == 4 and max(errors) < TOLERANCE
    assert len(set(sizes)) == 1
    assert 0.01 < largest < 100.0 and np.isfinite(learner.support_weights_).all()
    assert learner._memory.counts.sum() == 1_000_000 and learner.n_support_ == 40


def test_two_hundred_thousand_examples_without_decay_leave_the_cache_of_every_expert_exact():
    learner = MultiKernelKOIL(POOL, budget=20, decay=False, weight_rate=0.0, random_state=0)
    # Chunks end far from the moments at which the scores are computed anew, every 10,000 examples.
    errors, sizes, largest = watch(learner, chunks(200_000, seed=2, size=17_777), every=2)
    assert len(errors) == 6 and max(errors) < TOLERANCE
    assert len(set(sizes)) == 1
    assert np.isfinite(largest) and all(np.isfinite(weights).all() for weights in learner.support_weights_)
    assert (learner._stack.levels[:, SCALE] == 1.0).all()


def test_two_hundred_thousand_examples_with_weights_of_kernels_leave_everything_finite():
    learner = MultiKernelKOIL(POOL, budget=20, decay=False, random_state=0)
    errors, sizes, _ = watch(learner, chunks(200_000, seed=3, size=17_777), every=3)
    assert max(errors) < TOLERANCE and len(set(sizes)) == 1
    assert np.isfinite(learner.kernel_weights_).all() and learner.kernel_weights_.sum() == pytest.approx(1.0)


def test_a_hundred_thousand_examples_leave_the_single_buffer_exact():
    learner = OILK(budget=30, policy="reservoir", random_state=0)
    errors, sizes, _ = watch(learner, chunks(100_000, seed=4, size=20_000), every=1)
    assert len(errors) == 5 and max(errors) < TOLERANCE and len(set(sizes)) == 1


# ---- The scale of the decay ----


def scales(learner, X, y):
    """The global scale after every example."""
    found = []
    for x, label in zip(X, y, strict=True):
        learner.learn_one(x, label)
        found.append(float(learner._arrays()["support.levels"].reshape(-1, 2)[0, SCALE]))
    return np.array(found)


def test_the_scale_is_folded_back_before_it_vanishes():
    X, y = clusters(1200, seed=1)
    found = scales(KOIL(budget=8, learning_rate=0.5, random_state=0), X, y)
    assert (np.diff(found) > 0).sum() == 3  # 0.5^333 is the first below 1e-100
    assert found.min() >= 1e-100 and found.max() <= 1.0


@pytest.mark.parametrize("policy", ["reservoir", "fifo", "unbounded"])
@pytest.mark.parametrize("learning_rate", [0.5, 0.9, 1.0])
def test_folding_the_scale_is_not_seen_from_outside(learning_rate, policy):
    X, y = clusters(1200 if policy != "unbounded" else 400, seed=1)
    parameters = {"learning_rate": learning_rate, "policy": policy, "budget": (5, 8), "n_neighbors": 2, "C": 0.7}
    learner = KOIL(gamma=0.5, random_state=3, **parameters)
    model = naive.KOIL(naive.gaussian(0.5), seed=3, **parameters)
    assert disagreement(learner, model, X, y) < TOLERANCE
    assert cache_error(learner) < TOLERANCE


@pytest.mark.parametrize("learning_rate", [0.5, 1.0])
def test_folding_the_scale_is_not_seen_in_the_single_buffer(learning_rate):
    learner = OILK(gamma=0.5, learning_rate=learning_rate, budget=10, C=0.2, random_state=3)
    model = naive.OILK(naive.gaussian(0.5), learning_rate=learning_rate, budget=10, C=0.2, seed=3)
    assert disagreement(learner, model, *clusters(1200, seed=1)) < TOLERANCE


@pytest.mark.parametrize("learning_rate", [0.5, 1.0])
def test_folding_the_scale_is_not_seen_in_a_pool(learning_rate):
    parameters = {"learning_rate": learning_rate, "budget": (5, 8), "n_neighbors": 2, "C": 0.7}
    learner = MultiKernelKOIL([Gaussian(gamma=0.5), POOL[2]], random_state=3, **parameters)
    model = naive.MultiKernelKOIL([naive.gaussian(0.5), naive.polynomial(2, 1.0)], seed=3, **parameters)
    assert disagreement(learner, model, *clusters(800, seed=1)) < TOLERANCE


def test_a_rate_of_one_keeps_only_the_last_step():
    X, y = clusters(200, seed=2)
    learner = KOIL(gamma=0.5, learning_rate=1.0, budget=8, n_neighbors=2, random_state=0)
    found = scales(learner, X, y)
    assert (found == 1.0).all()  # the factor is 0: folded at once
    assert np.count_nonzero(learner.support_weights_) <= 2 * (2 + 1)
    assert cache_error(learner) < TOLERANCE


def test_the_comparison_notices_a_fold_that_forgets_the_scores():
    X, y = clusters(700, seed=1)
    parameters = {"learning_rate": 0.5, "budget": (5, 8), "n_neighbors": 2, "C": 0.7}
    learner, model = (
        KOIL(gamma=0.5, random_state=3, **parameters),
        naive.KOIL(naive.gaussian(0.5), seed=3, **parameters),
    )
    first = learned_scores(learner, X[:300], y[:300])
    learner._support.weights[:] *= learner._support.levels[SCALE]
    learner._support.levels[SCALE] = 1.0  # weights folded, scores not
    scores = np.concatenate([first, learner.progressive_scores(X[300:], y[300:])])
    assert difference(learner, scores, model, naive_scores(model, X, y)) > TOLERANCE


def test_a_million_examples_never_exceed_the_budget_of_an_average_and_leave_the_memory_as_it_was():
    learner = SPA(budget=100, sampling_scale=1.0, random_state=0)
    sizes, used = set(), []
    for X, y in chunks(1_000_000, seed=4, size=10_000):
        learner.partial_fit(X, y, classes=[-1, 1])
        sizes.add(bytes_of(learner))
        used.append(learner.n_support_)
    assert len(sizes) == 1 and len(used) == 100
    assert used == sorted(used) and used[0] > 60 and used[-1] <= 100  # never one taken out, never one too many
    assert learner._expansion.tally[STEPS] == 1_000_000
    assert np.isfinite(learner.decision_function(X)).all()
