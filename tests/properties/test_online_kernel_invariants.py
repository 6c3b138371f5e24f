"""What must hold for SPA and the other kernel classifiers of one kernel: the invariants of their specification, by
number, and the budget of SPA, which is not in it.

Those of several kernels are in `test_votes_invariants.py`. Streams and learners have different seeds: a learner that
draws what made the labels would let in one class only.
"""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import lopsided
from core.agreement import clusters
from lopsided import (
    BOGD,
    BPAS,
    NORMA,
    OSKL,
    RBP,
    SPA,
    Forgetron,
    KernelOGD,
    KernelPA,
    KernelPerceptron,
    Projectron,
    ProjectronPP,
)
from lopsided.core.expansion import MISTAKES, SPENT
from lopsided.estimators.randomness import UniformStream
from lopsided.kernels import Gaussian, Linear, Normalized, Polynomial
from properties.generated import KERNELS, streams
from properties.inspection import assert_same_model, bytes_of

CLASSES = [-1, 1]
SEED = 1234
GAUSSIANS = [Gaussian(gamma=0.7), Gaussian(gamma=9.0)]
SHARE = 15.0 / 32.0

LEARNERS = {
    "SPA": SPA(sampling_scale=2.0),
    "SPA, last": SPA(sampling_scale=2.0, average=False),
    "SPA, bounded": SPA(sampling_scale=2.0, budget=200),
    "OSKL": OSKL(sparsity=2.0),
    "KernelPerceptron": KernelPerceptron(),
    "KernelOGD": KernelOGD(),
    "NORMA": NORMA(decay=True),
    "NORMA, bounded": NORMA(budget=9, regularization=0.3),
    "KernelPA": KernelPA(),
    "RBP": RBP(budget=9),
    "Forgetron": Forgetron(budget=9),
    "BPAS": BPAS(budget=9),
    "BOGD": BOGD(budget=9),
    "BOGD, uniform": BOGD(budget=9, removal="uniform"),
    "Projectron": Projectron(budget=9),
    "ProjectronPP": ProjectronPP(budget=9),
}
every_learner = pytest.mark.parametrize("name", LEARNERS)


def make(name, **changes):
    return clone(LEARNERS[name]).set_params(random_state=SEED, **changes)


def free_streams(**limits):
    return streams(kinds=("free",), **limits)


def one_by_one(learner, X, y):
    """Learn row by row; yields the number of each row after it was learned."""
    for t in range(len(y)):
        if t:
            learner.learn_one(X[t], y[t])
        else:
            learner.partial_fit(X[:1], y[:1], classes=CLASSES)
        yield t


def numbers(learner, X):
    """The numbers of the examples that the support vectors are; all examples differ."""
    same = (X[:, None, :] == learner.support_vectors_[None]).all(axis=2)
    assert (same.sum(axis=0) == 1).all()
    return same.argmax(axis=0)


def coefficients(learner, X):
    """The learner's function as one coefficient an example."""
    f = np.zeros(len(X))
    if hasattr(learner, "classes_"):
        f[numbers(learner, X)] = learner.support_weights_
    return f


def assert_same_expansion(one, other, tolerance=0.0):
    np.testing.assert_array_equal(one.support_vectors_, other.support_vectors_)
    np.testing.assert_allclose(one.support_weights_, other.support_weights_, rtol=0, atol=tolerance)


# ---- 1: the averaged classifier ----


def values_of_every_classifier(learner, X, y):
    """f_t(x_s) for t = 1 ... T + 1 and all s."""
    values = [np.zeros(len(y))]
    values += [learner.decision_function(X) for _ in one_by_one(learner, X, y)]
    return np.array(values)


SAMPLERS = [SPA(sampling_scale=1.5), SPA(sampling_scale=4.0, loss_cap=2.0, learning_rate=0.7), OSKL(sparsity=1.5)]


@given(free_streams(most=40), st.sampled_from(SAMPLERS), st.sampled_from(KERNELS), st.integers(0, 1000))
def test_1_the_reported_score_is_the_average_of_all_classifiers_so_far(stream, prototype, kernel, seed):
    X, y = stream
    last, averaged = (
        clone(prototype).set_params(kernel=kernel, average=average, random_state=seed) for average in (False, True)
    )
    reported = averaged.progressive_scores(X, y, classes=CLASSES)
    values = values_of_every_classifier(last, X, y)
    tolerance = 1e-12 * max(1.0, np.abs(values).max())
    explicit = np.array([values[: t + 1, t].mean() for t in range(len(y))])
    np.testing.assert_allclose(reported, explicit, rtol=0, atol=tolerance)
    np.testing.assert_allclose(averaged.decision_function(X), values[:-1].mean(axis=0), rtol=0, atol=tolerance)


def test_1_an_average_that_begins_one_step_later_is_told_apart():
    X, y = clusters(100)
    values = values_of_every_classifier(make("SPA, last"), X, y)
    reported = make("SPA").progressive_scores(X, y, classes=CLASSES)
    late = np.array([values[1 : t + 2, t].mean() for t in range(100)])
    assert np.abs(reported - late).max() > 1e-4


# ---- 2: SPA without sampling is passive-aggressive ----


@given(free_streams(), st.sampled_from(KERNELS), st.sampled_from([0.07, 0.9]), st.integers(0, 1000))
def test_2_with_a_vanishing_loss_cap_spa_is_passive_aggressive(stream, kernel, rate, seed):
    tiny = {"loss_cap": 1e-13, "sampling_scale": 1e-13}  # rho = 1 for every loss that is not rounding
    spa = SPA(kernel=kernel, learning_rate=rate, average=False, random_state=seed, **tiny)
    pa = KernelPA(kernel=kernel, C=rate)
    np.testing.assert_array_equal(
        spa.progressive_scores(*stream, classes=CLASSES), pa.progressive_scores(*stream, classes=CLASSES)
    )
    assert_same_expansion(spa, pa)


@pytest.mark.parametrize("cap", [0.4, 1.0])
def test_2_a_loss_above_the_cap_is_certain_to_be_learned_with_the_passive_aggressive_weight(cap):
    X, y = clusters(400)
    spa = make("SPA, last", loss_cap=cap, sampling_scale=cap, learning_rate=0.3, kernel=Polynomial(2, 0.3))
    losses = np.maximum(0.0, 1.0 - y * spa.progressive_scores(X, y, classes=CLASSES))
    f, itself = coefficients(spa, X), Polynomial(2, 0.3)(X).diagonal()
    certain = losses >= cap
    np.testing.assert_allclose(f[certain], (y * np.minimum(0.3, losses / itself))[certain], rtol=1e-12)
    assert 50 < certain.sum() < 350
    uniforms = np.random.default_rng(SEED).random(400)
    np.testing.assert_array_equal(f != 0.0, uniforms < np.minimum(cap, losses) / cap)


def test_2_without_a_bound_on_the_step_what_is_let_in_is_right_at_once():
    X, y = clusters(300)
    spa = make("SPA, last", sampling_scale=1.0, learning_rate=1e12)
    used, right = 0, []
    for t in one_by_one(spa, X, y):
        if spa.n_support_ > used:
            right.append(y[t] * spa.decision_function(X[t : t + 1])[0])
        used = spa.n_support_
    assert len(right) > 50
    np.testing.assert_allclose(right, 1.0, rtol=0, atol=1e-9)


# ---- 3: weights and number of the vectors of SPA ----


@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.5), Polynomial(2, 0.3)], ids=repr)
@pytest.mark.parametrize("cap, scale", [(1.0, 20.0), (0.5, 2.0), (3.0, 3.0)])
def test_3_weights_and_number_of_vectors_are_bounded(cap, scale, kernel):
    T, rate = 3000, 0.1
    for seed in range(3):
        X, y = clusters(T, seed=seed)
        spa = SPA(rate, cap, scale, average=False, kernel=kernel, random_state=SEED + seed)
        losses = np.maximum(0.0, 1.0 - y * spa.progressive_scores(X, y, classes=CLASSES))
        rho = np.minimum(cap, losses) / scale
        accepted, itself = numbers(spa, X), np.array([kernel(x[None])[0, 0] for x in X])
        sizes = np.abs(spa.support_weights_)
        assert (sizes <= (losses / itself)[accepted] * (1.0 + 1e-12)).all()
        assert (sizes <= rate / rho[accepted] * (1.0 + 1e-12)).all()
        assert (sizes > 0.0).all()
        np.testing.assert_array_equal(
            np.sort(accepted), np.flatnonzero(np.random.default_rng(SEED + seed).random(T) < rho)
        )
        allowance = 4.0 * np.sqrt(cap * T / scale)
        assert abs(spa.n_support_ - rho.sum()) <= allowance
        assert abs(spa.n_support_ - (losses > 0.0).sum()) > allowance or cap == scale  # without sampling: far outside


# ---- 4: steps that cannot change anything may be skipped ----


class Replayed:
    """Stands in for a generator: hands out these uniforms, and then 1, with which nothing happens."""

    def __init__(self, uniforms):
        self.left = uniforms

    def random(self, n):
        out = np.ones(n)
        out[: min(n, len(self.left))] = self.left[:n]
        self.left = self.left[n:]
        return out


def replaying(learner, X, uniforms):
    """The learner, begun but with nothing learned, and with these uniforms before it."""
    learner.partial_fit(X[:1], [1], classes=CLASSES, sample_weight=[0.0])
    learner._uniforms = UniformStream(Replayed(uniforms))
    return learner


def certain_no(learner):
    """The least uniform with which a step cannot change the model."""
    return learner.loss_cap / learner.sampling_scale if isinstance(learner, SPA) else 1.0 / learner.sparsity


@pytest.mark.parametrize(
    "prototype", [SPA(sampling_scale=3.0), SPA(sampling_scale=5.0, loss_cap=2.0), OSKL(sparsity=3.0)], ids=repr
)
def test_4_a_learner_that_never_sees_the_steps_that_cannot_change_it_ends_the_same(prototype):
    X, y = clusters(1500)
    whole = clone(prototype).set_params(average=False, random_state=SEED).partial_fit(X, y, classes=CLASSES)
    uniforms = np.random.default_rng(SEED).random(1500)
    seen = uniforms < certain_no(prototype)
    skipping = replaying(clone(prototype).set_params(average=False), X, uniforms[seen])
    skipping.partial_fit(X[seen], y[seen])
    assert 0 < whole.n_support_ < seen.sum() < 750
    assert_same_expansion(whole, skipping)
    seen = uniforms < 0.8 * certain_no(prototype)  # too few
    thrifty = replaying(clone(prototype).set_params(average=False), X, uniforms[seen]).partial_fit(X[seen], y[seen])
    assert thrifty.n_support_ != whole.n_support_


@pytest.mark.parametrize("average", [True, False])
def test_4_skipping_by_hand_gives_the_averaged_model_too(average):
    # The number of the step, t, is part of b = a t, so that rows are left out without being forgotten.
    T, rate, scale, kernel = 1000, 0.1, 4.0, Gaussian(gamma=0.5)
    X, y = clusters(T)
    gram, uniforms = kernel(X), np.random.default_rng(SEED).random(T)
    a, b = np.zeros(T), np.zeros(T)
    for t in np.flatnonzero(uniforms < 1.0 / scale):
        loss = max(0.0, 1.0 - y[t] * (gram[t] @ a))
        if uniforms[t] < min(1.0, loss) / scale:
            a[t] = y[t] * min(rate * scale / min(1.0, loss), loss)
            b[t] = a[t] * (t + 1)
    spa = SPA(rate, 1.0, scale, average=average, kernel=kernel, random_state=SEED).fit(X, y)
    np.testing.assert_array_equal(np.sort(numbers(spa, X)), np.flatnonzero(a))
    np.testing.assert_allclose(coefficients(spa, X), a - b / T if average else a, rtol=0, atol=1e-12)


# ---- 8: never more vectors than the budget ----

BUDGETED = [name for name, learner in LEARNERS.items() if getattr(learner, "budget", None)]


@given(streams(kinds=("free", "grid")), st.sampled_from(BUDGETED), st.integers(1, 12), st.sampled_from(GAUSSIANS))
def test_8_there_are_never_more_vectors_than_the_budget(stream, name, budget, kernel):
    learner = make(name, budget=budget, kernel=kernel)
    for t in one_by_one(learner, *stream):
        assert learner.n_support_ <= min(budget, t + 1)
        assert len(learner.support_vectors_) == len(learner.support_weights_) == learner.n_support_


@pytest.mark.parametrize("name", [name for name in BUDGETED if name != "SPA, bounded"])
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


# ---- 12: the order and the number of features ----


@every_learner
def test_12_the_order_of_features_and_features_that_are_zero_change_nothing_but_rounding(name):
    X, y = clusters(400, n_features=5)
    X *= 0.7
    order = np.array([3, 0, 4, 1, 2])
    padded = np.zeros((400, 9))
    padded[:, [1, 2, 4, 6, 7]] = X
    for kernel in [Gaussian(gamma=2.0), *([] if "Projectron" in name else [Linear(), Polynomial(2, 0.5)])]:
        models = [make(name, kernel=kernel) for _ in range(3)]
        scores = [
            m.progressive_scores(form, y, classes=CLASSES)
            for m, form in zip(models, (X, X[:, order], padded), strict=True)
        ]
        for other, back in ((1, np.argsort(order)), (2, [1, 2, 4, 6, 7])):
            np.testing.assert_allclose(scores[other], scores[0], rtol=0, atol=1e-10)
            np.testing.assert_array_equal(models[other].support_vectors_[:, back], models[0].support_vectors_)
            np.testing.assert_allclose(models[other].support_weights_, models[0].support_weights_, rtol=0, atol=1e-10)


# ---- 13: stopping and going on ----


def from_file(learner, folder):
    learner.save(folder / "a.model")
    return lopsided.load(folder / "a.model")


def from_pickle(learner, _):
    return pickle.loads(pickle.dumps(learner))


@pytest.mark.parametrize("again", [from_file, from_pickle])
@every_learner
def test_13_going_on_after_a_stop_equals_never_having_stopped(name, again, tmp_path):
    X, y = clusters(300)
    for stop in (1, 60, 230):
        steady, stopped = make(name), make(name)
        expected = steady.progressive_scores(X, y, classes=CLASSES)
        stopped.partial_fit(X[:stop], y[:stop], classes=CLASSES)
        stopped = again(stopped, tmp_path)
        np.testing.assert_array_equal(stopped.progressive_scores(X[stop:], y[stop:]), expected[stop:])
        assert_same_model(steady, stopped)


@pytest.mark.parametrize("again", [from_file, from_pickle])
def test_13_an_spa_whose_budget_is_used_up_can_be_kept(again, tmp_path):
    X, y = clusters(300)
    steady, stopped = (make("SPA, bounded", budget=4, sampling_scale=1.0) for _ in range(2))
    expected = steady.progressive_scores(X, y, classes=CLASSES)
    stopped.partial_fit(X[:200], y[:200], classes=CLASSES)
    assert stopped.n_support_ == 4
    stopped = again(stopped, tmp_path)
    np.testing.assert_array_equal(stopped.progressive_scores(X[200:], y[200:]), expected[200:])
    assert_same_model(steady, stopped)


# ---- 14: batches ----


@every_learner
def test_14_batches_of_any_size_give_the_same_model_and_the_same_scores(name):
    X, y = clusters(150)
    whole = make(name)
    expected = whole.progressive_scores(X, y, classes=CLASSES)
    for size in (1, 7, 64):
        learner = make(name)
        scores = [
            learner.progressive_scores(X[t : t + size], y[t : t + size], classes=CLASSES) for t in range(0, 150, size)
        ]
        np.testing.assert_array_equal(np.concatenate(scores), expected)
        assert_same_model(whole, learner)
    single = make(name)
    for _ in one_by_one(single, X, y):
        pass
    assert_same_model(whole, single)


# ---- SPA with a budget ----


def test_a_budget_of_spa_holds_and_its_arrays_do_not_grow_however_long_the_stream():
    learner = make("SPA", budget=30, gamma=0.5).partial_fit(*clusters(1), classes=CLASSES)
    size, used, rng = bytes_of(learner), 0, np.random.default_rng(5)
    for _ in range(100):
        X = rng.normal(size=(2000, 3))
        y = np.where(rng.random(2000) < 0.4, 1, -1)  # noise: there is always something to learn
        learner.partial_fit(X, y)
        assert used <= learner.n_support_ <= 30  # vectors never leave: what holds now has held all the time
        used = learner.n_support_
        assert bytes_of(learner) == size
    assert used == 30


@pytest.mark.parametrize("budget", [1, 2, 7])
def test_a_budget_of_spa_that_is_used_up_at_once_closes_the_door(budget):
    X, y = clusters(400)
    learner = make("SPA, last", budget=budget, sampling_scale=1.0)
    sizes = {bytes_of(learner) for _ in one_by_one(learner, X, y)}
    weights = learner.support_weights_
    assert learner.n_support_ == budget
    learner.partial_fit(X, y)
    np.testing.assert_array_equal(learner.support_weights_, weights)
    assert len(sizes | {bytes_of(learner)}) == 1


@pytest.mark.parametrize("cap", [0.5, 1.0])
def test_the_chance_under_a_budget_is_what_is_left_of_it_over_the_number_of_the_step(cap):
    T, budget, scale = 600, 40, 3.0
    X, y = clusters(T)
    learner = make("SPA, last", budget=budget, sampling_scale=scale, loss_cap=cap)
    losses = np.maximum(0.0, 1.0 - y * learner.progressive_scores(X, y, classes=CLASSES))
    uniforms, f, used = np.random.default_rng(SEED).random(T), coefficients(learner, X), 0
    for t in range(T):
        rho = min(cap, losses[t]) / max(scale, cap * (t + 1) / (budget - used))
        assert (f[t] != 0.0) == (uniforms[t] < rho)
        if f[t]:
            assert f[t] == pytest.approx(y[t] * min(0.1 / rho, losses[t]), rel=1e-12)
            used += 1
    assert used == learner.n_support_ > 20


def waves(n, rng):
    X = rng.uniform(-1.0, 1.0, size=(n, 2))
    return X, np.sin(4.0 * X[:, 0]) * np.cos(3.0 * X[:, 1]) > 0.1


def ring(n, rng):
    X = rng.normal(size=(n, 3))
    return X, (X**2).sum(axis=1) > 2.4


def four_clouds(n, rng):
    corners = rng.integers(2, size=(n, 2))
    return corners + 0.25 * rng.normal(size=(n, 2)), corners[:, 0] == corners[:, 1]


@pytest.mark.parametrize("shape, gamma, scale", [(waves, 5.0, 120.0), (ring, 0.5, 105.0), (four_clouds, 2.0, 78.0)])
def test_a_budget_of_spa_costs_no_accuracy_against_a_fixed_scale_that_ends_at_the_same_size(shape, gamma, scale):
    """Accuracy is that of the scores before each example, over five streams of 20,000 with five percent of noise."""
    right, vectors = np.zeros(2), np.zeros(2)
    for seed in range(5):
        rng = np.random.default_rng(1000 + seed)
        X, inside = shape(20_000, rng)
        y = np.where(inside != (rng.random(20_000) < 0.05), 1, -1)
        for index, chosen in enumerate(({"budget": 100}, {"sampling_scale": scale})):
            learner = SPA(gamma=gamma, random_state=seed, **chosen)
            right[index] += np.mean((learner.progressive_scores(X, y) > 0) == (y > 0)) / 5
            vectors[index] += learner.n_support_ / 5
    assert vectors[0] == pytest.approx(vectors[1], rel=0.15)
    assert right[0] >= right[1] - 0.01
    assert right[0] > 0.7
