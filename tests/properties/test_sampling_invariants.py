"""The invariants of SPA and OSKL by the numbers of their specification, and the budget of SPA, which is not in it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from core.agreement import clusters
from lopsided import (
    OSKL,
    SPA,
    KernelPA,
)
from lopsided.estimators.base.randomness import UniformStream
from lopsided.kernels import Gaussian, Polynomial
from properties.generated import KERNELS
from properties.going_on import CLASSES, one_by_one
from properties.inspection import bytes_of
from properties.kernel_learners import (
    SEED,
    assert_same_expansion,
    coefficients,
    free_streams,
    make,
    numbers,
)

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
