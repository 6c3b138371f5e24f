"""The invariants of kernel classifiers with a budget, by the numbers of their specification."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from core.agreement import clusters
from lopsided import (
    BOGD,
    BPAS,
    NORMA,
    RBP,
    Forgetron,
    KernelOGD,
    KernelPA,
    KernelPerceptron,
    Projectron,
)
from lopsided.core.pointwise.expansion import MISTAKES, SPENT
from lopsided.kernels import Gaussian, Normalized, Polynomial
from properties.generated import KERNELS, streams
from properties.going_on import CLASSES, one_by_one
from properties.inspection import bytes_of
from properties.kernel_learners import (
    GAUSSIANS,
    POINTWISE,
    SHARE,
    assert_same_expansion,
    coefficients,
    free_streams,
    make,
)

# ---- 8: never more vectors than the budget ----

BUDGETED = [str(learner) for learner in POINTWISE if getattr(learner, "budget", None)]


@given(streams(kinds=("free", "grid")), st.sampled_from(BUDGETED), st.integers(1, 12), st.sampled_from(GAUSSIANS))
def test_8_there_are_never_more_vectors_than_the_budget(stream, name, budget, kernel):
    learner = make(name, budget=budget, kernel=kernel)
    for t in one_by_one(learner, *stream):
        assert learner.n_support_ <= min(budget, t + 1)
        assert len(learner.support_vectors_) == len(learner.support_weights_) == learner.n_support_


@pytest.mark.parametrize("name", [name for name in BUDGETED if not name.startswith("SPA")])
def test_8_a_budget_that_mistakes_exceed_is_used_up_and_memory_stays_as_it_was(name):
    learner = make(name).partial_fit(*clusters(1), classes=CLASSES)
    size = bytes_of(learner)
    for start in range(10):
        learner.partial_fit(*clusters(100, seed=start))
        assert learner.n_support_ == 9 and bytes_of(learner) == size


# ---- 9: with room for everything a budget is none ----

PAIRS = {
    "RBP": (RBP(), KernelPerceptron()),
    "Forgetron": (Forgetron(), KernelPerceptron()),
    "BPAS": (BPAS(C=0.6), KernelPA(C=0.6)),
    "BOGD": (BOGD(regularization=0.0, learning_rate=0.3), KernelOGD(learning_rate=0.3)),
    "BOGD, uniform": (BOGD(regularization=0.0, removal="uniform"), KernelOGD()),
    "BOGD, shrinking": (BOGD(regularization=0.2), NORMA(regularization=0.2)),
    "NORMA": (NORMA(regularization=0.2, decay=True, budget=80), NORMA(regularization=0.2, decay=True)),
    "NORMA, no shrinking": (NORMA(regularization=0.0), KernelOGD()),
}


@given(free_streams(), st.sampled_from(sorted(PAIRS)), st.sampled_from(KERNELS))
def test_9_with_room_for_every_example_the_bounded_learner_is_the_unbounded_one(stream, name, kernel):
    bounded, unbounded = (clone(learner).set_params(kernel=kernel) for learner in PAIRS[name])
    np.testing.assert_array_equal(
        bounded.progressive_scores(*stream, classes=CLASSES), unbounded.progressive_scores(*stream, classes=CLASSES)
    )
    assert_same_expansion(bounded, unbounded)


def test_9_a_projectron_with_room_for_every_example_is_a_perceptron():
    # Narrow enough for every point to be outside of the span of the others by more than rounding.
    X, y = clusters(300, n_features=6)
    projectron, perceptron = Projectron(budget=300, tol=0.0, gamma=2.0), KernelPerceptron(gamma=2.0)
    np.testing.assert_array_equal(
        projectron.progressive_scores(X, y, classes=CLASSES), perceptron.progressive_scores(X, y, classes=CLASSES)
    )
    assert_same_expansion(projectron, perceptron)
    assert perceptron.n_support_ > 30


@pytest.mark.parametrize("name", ["RBP", "Forgetron", "BPAS", "BOGD", "BOGD, uniform"])
def test_9_one_vector_too_few_makes_a_difference(name):
    X, y = clusters(200)
    bounded, unbounded = (clone(learner).partial_fit(X, y, classes=CLASSES) for learner in PAIRS[name])
    bounded.set_params(budget=unbounded.n_support_ - 1).fit(X, y)
    assert bounded.n_support_ == unbounded.n_support_ - 1


# ---- 10: what Forgetron and Projectron keep beside the weights ----


@given(free_streams(), st.sampled_from(KERNELS), st.integers(1, 6))
def test_10_a_forgetron_shrinks_no_more_than_it_must_and_spends_no_more_than_it_may(stream, kernel, budget):
    X, y = stream
    learner, before, spent = Forgetron(budget=budget, kernel=kernel), np.zeros(len(y)), 0.0
    for t in one_by_one(learner, X, y):
        now, limit = learner._expansion.levels[SPENT], SHARE * learner._expansion.tally[MISTAKES]
        assert now <= limit + 1e-9
        after = coefficients(learner, X)
        kept = (before != 0.0) & (after != 0.0)
        if (before[:t] != 0.0).sum() > kept.sum():  # one has left
            phi = (after / np.where(kept, before, 1.0))[kept]
            phi = np.append(phi, after[t] * y[t])  # the newcomer's weight is y phi
            np.testing.assert_allclose(phi, phi[0], rtol=1e-9)
            assert 0.0 < phi[-1] <= 1.0 + 1e-12
            # The largest phi: either nothing shrinks, or everything that may be spent is.
            assert phi[-1] > 1.0 - 1e-12 or now == pytest.approx(limit, abs=1e-9)
        else:
            assert now == spent
        before, spent = after, now


def test_10_a_forgetron_that_does_not_shrink_would_spend_more_than_it_may():
    X, y = clusters(300)
    learner, shrunk = make("Forgetron", kernel=Gaussian(gamma=0.5)), 0
    before = np.zeros(300)
    for t in one_by_one(learner, X, y):
        after = coefficients(learner, X)
        if (before != 0.0).sum() == 9 and after[t] != 0.0:
            shrunk += abs(after[t]) < 1.0
        before = after
    assert shrunk > 10


def factor_error(learner, kernel):
    n = learner.n_support_
    gram, factor = kernel(learner._points.values[:, :n].T), np.tril(learner._factor[:n, :n])
    return np.abs(factor @ factor.T - gram).max(initial=0.0)


@given(free_streams(), st.sampled_from(["Projectron", "ProjectronPP"]), st.integers(1, 9))
def test_10_a_projectron_carries_the_factor_of_its_gram_matrix(stream, name, budget):
    kernel = Gaussian(gamma=9.0)
    learner = make(name, budget=budget, kernel=kernel)
    for _ in one_by_one(learner, *stream):
        assert factor_error(learner, kernel) < 1e-14


@pytest.mark.parametrize("name", ["Projectron", "ProjectronPP"])
def test_10_the_inverse_of_a_hundred_vectors_is_exact_and_an_error_in_it_is_seen(name):
    kernel = Gaussian(gamma=2.0)
    learner = make(name, budget=100, kernel=kernel).fit(*clusters(2000, n_features=5))
    assert learner.n_support_ == 100
    gram, factor = kernel(learner._points.values.T), np.tril(learner._factor)
    inverse = np.linalg.solve(factor.T, np.linalg.solve(factor, np.eye(100)))
    assert np.abs(gram @ inverse - np.eye(100)).max() < 1e-6
    assert factor_error(learner, kernel) < 1e-14
    learner._factor[4, 3] += 1e-4
    assert factor_error(learner, kernel) > 1e-6


@pytest.mark.parametrize("n_features, gamma", [(1, 20.0), (2, 0.1), (2, 4.0), (3, 1.0)])
@pytest.mark.parametrize("name", ["Projectron", "ProjectronPP"])
def test_10_rounding_does_not_carry_the_scores_of_a_projectron_away(name, n_features, gamma):
    """|f(x)| <= ||f||, and ||f||^2 grows by at most 1 with a mistake and by at most 2 with a margin error.

    f + y P k has the squared length ||f||^2 + 2 y f(x) + ||P k||^2, and y f(x) <= 0 at a mistake; at a margin error
    2 tau (1 - loss) + tau^2 w <= 2, because tau w <= loss. In so few dimensions the vectors crowd together, and the
    Gram matrix is singular to ten digits.
    """
    X, y = clusters(4000, n_features=n_features)
    margins = y * make(name, budget=100, gamma=gamma).progressive_scores(X, y, classes=CLASSES)
    growth = np.where(margins <= 0.0, 1.0, np.where((margins < 1.0) & (name == "ProjectronPP"), 2.0, 0.0))
    longest = np.sqrt(np.cumsum(growth) - growth)
    assert (np.abs(margins) <= longest + 1e-6).all()


# ---- 11: BPA-S removes what it costs least to lose ----


def cheapest_removals(gram, f, t, y, C):
    """For each vector r of f the least of 1/2 ||f' - f||^2 + C loss(f') over f' = f - a_r k_r + b k_t, b free."""
    costs = {}
    for r in np.flatnonzero(f):
        without = f.copy()
        without[r] = 0.0
        # The objective is convex in b and quadratic on both sides of loss 0: its minimum is one of three.
        projected = f[r] * gram[r, t] / gram[t, t]
        kink = (y - gram[t] @ without) / gram[t, t]
        costs[r] = min(objective(gram, f, without, b, t, y, C) for b in (projected, projected + y * C, kink))
    return costs


def objective(gram, f, without, b, t, y, C):
    after = without.copy()
    after[t] += b
    return 0.5 * (after - f) @ gram @ (after - f) + C * max(0.0, 1.0 - y * (gram[t] @ after))


@pytest.mark.parametrize("C", [0.1, 1.0])
@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.7), Polynomial(2, 0.3), Normalized(Polynomial(3, 1.0))], ids=repr)
def test_11_the_vector_that_leaves_is_the_cheapest_to_lose(kernel, C):
    X, y = clusters(250)
    gram, learner = kernel(X), BPAS(budget=6, C=C, kernel=kernel)
    before, removals, not_the_oldest = np.zeros(250), 0, 0
    for t in one_by_one(learner, X, y):
        after = coefficients(learner, X)
        if (before != 0.0).sum() == 6 and after[t] != 0.0:
            costs = cheapest_removals(gram, before, t, y[t], C)
            (left,) = np.flatnonzero((before != 0.0) & (after == 0.0))
            least = min(costs.values())
            without = np.where(np.arange(250) == t, 0.0, after)
            assert costs[left] <= least + 1e-12
            assert objective(gram, before, without, after[t], t, y[t], C) == pytest.approx(least, abs=1e-10)
            removals += 1
            not_the_oldest += costs[min(costs)] > least + 1e-4  # a fifo would be caught
        before = after
    assert removals > 60 and not_the_oldest > 30
