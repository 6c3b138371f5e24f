"""The theorems behind SPA, in numbers: how many mistakes it makes at most, and how many vectors it keeps (Lu 2018).

Notation: eta learning rate, alpha cap of the loss, beta sampling scale, l_t(f) = max(0, 1 - y_t f(x_t)), f* any
function of the space, rho_t = min(alpha, l_t(f_t)) / beta the chance of step t, tau_t its weight. Kernels have
k(x, x) = 1 and alpha <= 1, but where it is said. With ||f_t - f*|| followed from step to step,

    sum over the steps let in of tau_t (2 l_t(f_t) - tau_t k(x_t, x_t) - 2 l_t(f*)) <= ||f*||^2 - ||f_{T+1} - f*||^2,

of which the rest is the expectation. Mistakes are those of f_t, the last classifier, not of the average.
"""

from functools import cache

import numpy as np
import pytest

from lopsided import BOMKC, SPA
from lopsided.kernels import Gaussian, Normalized, Polynomial

KERNELS = {
    "gaussian": Gaussian(gamma=0.3),
    "normalised polynomial": Normalized(Polynomial(degree=2, coef0=1.0)),
}
STEPS = [(0.1, 1.0, 2.0), (0.5, 1.0, 5.0), (0.05, 0.5, 10.0), (1.0, 1.0, 20.0), (2.0, 0.3, 0.3)]
T, SEEDS = 400, range(20)

every_run = pytest.mark.parametrize("steps", STEPS, ids=str)
every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))
every_stream = pytest.mark.parametrize("kind", ["separate", "overlapping", "noise", "changing"])


@cache
def stream_of(kind):
    """Two classes that are separate, overlap, are noise, or change places every fifty examples."""
    rng = np.random.default_rng(77)
    y = np.where(rng.random(T) < 0.4, 1, -1)
    X = rng.normal(size=(T, 2))
    if kind == "separate":
        X = 0.4 * X + 1.5 * (y > 0)[:, None]
    if kind == "overlapping":
        X[:, 0] += 2.0 * (y > 0)
    if kind == "changing":
        X[:, 0] += 2.0 * y * np.where(np.arange(T) // 50 % 2, 1, -1)
    return X, y


@cache
def gram_of(kernel, kind):
    return KERNELS[kernel](stream_of(kind)[0])


@cache
def comparator(kernel, kind, eta):
    """Coefficients of f*, nearly the one of the least ||f||^2 + 2 eta sum_t l_t(f): the bound at its tightest.

    A support vector machine without offset, by five sweeps of coordinate ascent on its dual. Any f* would do.
    """
    gram, (_, y) = gram_of(kernel, kind), stream_of(kind)
    a, values = np.zeros(T), np.zeros(T)
    for _ in range(5):
        for t in range(T):
            change = np.clip(a[t] + 1.0 - y[t] * values[t], 0.0, eta) - a[t]
            a[t] += change
            values += change * y[t] * gram[t]
    return a * y


@cache
def run_of(kernel, kind, steps, seed):
    """f_t(x_t) for all t, and the coefficients of f_{T+1}."""
    (X, y), (eta, alpha, beta) = stream_of(kind), steps
    learner = SPA(eta, alpha, beta, average=False, kernel=KERNELS[kernel], random_state=seed)
    scores = learner.progressive_scores(X, y, classes=[-1, 1])
    same = (X[:, None, 0] == learner.support_vectors_[None, :, 0]).argmax(axis=0)  # no two have a feature in common
    f = np.zeros(T)
    f[same] = learner.support_weights_
    return scores, f


def losses(y, scores):
    return np.maximum(0.0, 1.0 - y * scores)


def comparators(kernel, kind, eta):
    """The best f*, others of its direction, and 0."""
    best = comparator(kernel, kind, eta)
    return [factor * best for factor in (1.0, 0.5, 2.0, 0.0)]


def mistake_bound(steps, length, lost):
    """max(1 / eta, beta / alpha) (2 eta sum_t l_t(f*) + ||f*||^2)."""
    eta, alpha, beta = steps
    return max(1.0 / eta, beta / alpha) * (2.0 * eta * lost + length)


# ---- What holds for every run ----


@every_run
@every_kernel
@every_stream
def test_every_step_let_in_brings_the_function_nearer_to_any_other(kind, kernel, steps):
    gram, (_, y) = gram_of(kernel, kind), stream_of(kind)
    for seed in (0, 1):
        scores, f = run_of(kernel, kind, steps, seed)
        tau, lost = np.abs(f), losses(y, scores)
        for other in comparators(kernel, kind, steps[0]):
            gained = tau @ (2.0 * lost - tau - 2.0 * losses(y, gram @ other))
            nearer = other @ gram @ other - (f - other) @ gram @ (f - other)
            assert gained <= nearer + 1e-9 * max(1.0, abs(nearer))


def test_a_step_twice_as_long_does_not_and_the_check_sees_it():
    kind, kernel, steps = "noise", "gaussian", STEPS[3]
    gram, (_, y) = gram_of(kernel, kind), stream_of(kind)
    scores, f = run_of(kernel, kind, steps, 0)
    tau, f = np.abs(f), 2.0 * f
    gained = tau @ (2.0 * losses(y, scores) - tau)
    assert gained > -(f @ gram @ f) + 1.0


# ---- What holds in expectation ----


@every_run
@every_kernel
@every_stream
def test_the_expected_number_of_mistakes_is_bounded(kind, kernel, steps):
    gram, (_, y) = gram_of(kernel, kind), stream_of(kind)
    mistakes = np.mean([(y * run_of(kernel, kind, steps, seed)[0] <= 0.0).sum() for seed in SEEDS])
    for other in comparators(kernel, kind, steps[0]):
        assert mistakes <= mistake_bound(steps, other @ gram @ other, losses(y, gram @ other).sum())


@every_run
@every_kernel
@every_stream
def test_the_expected_gain_of_all_steps_is_bounded_by_the_length_of_any_function(kind, kernel, steps):
    """E sum_t min(eta, rho_t l_t) (l_t(f_t) - 2 l_t(f*)) <= ||f*||^2, from which the number of mistakes follows."""
    gram, (_, y), (eta, alpha, beta) = gram_of(kernel, kind), stream_of(kind), steps
    lost = np.array([losses(y, run_of(kernel, kind, steps, seed)[0]) for seed in SEEDS])
    shares = np.minimum(eta, np.minimum(alpha, lost) / beta * lost)
    for other in comparators(kernel, kind, eta):
        gains = (shares * (lost - 2.0 * losses(y, gram @ other))).sum(axis=1)
        assert gains.mean() <= other @ gram @ other + 4.0 * gains.std() / np.sqrt(len(SEEDS))


def test_the_bound_says_something_and_a_learner_of_turned_labels_breaks_it():
    kind, kernel, steps = "separate", "gaussian", STEPS[1]
    gram, (X, y) = gram_of(kernel, kind), stream_of(kind)
    other = comparator(kernel, kind, steps[0])
    bound = mistake_bound(steps, other @ gram @ other, losses(y, gram @ other).sum())
    mistakes = np.mean([(y * run_of(kernel, kind, steps, seed)[0] <= 0.0).sum() for seed in SEEDS])
    turned = SPA(*steps, average=False, kernel=KERNELS[kernel], random_state=0).progressive_scores(X, -y)
    assert mistakes < bound < 0.75 * T < (y * turned <= 0.0).sum()


def mistakes_until_let_in(alpha, beta, runs=200, n=1500):
    """One point over and over: every step is a mistake until the first that is let in, and none is afterwards."""
    X, y = np.zeros((n, 1)), np.ones(n, dtype=int)
    scores = np.array(
        [
            SPA(1.0, alpha, beta, average=False, random_state=seed).progressive_scores(X, y, classes=[-1, 1])
            for seed in range(runs)
        ]
    )
    assert set(np.unique(scores)) == {0.0, 1.0}
    return (scores <= 0.0).sum(axis=1)


def test_the_bound_is_attained():
    """f* = k(x, .) has length 1 and no loss: the bound is beta / alpha, the mean of the waiting time."""
    waits = mistakes_until_let_in(1.0, 100.0)
    assert waits.mean() == pytest.approx(mistake_bound((1.0, 1.0, 100.0), 1.0, 0.0), abs=4.0 * 100.0 / np.sqrt(200))


def test_a_cap_above_one_counts_as_one_in_the_bound():
    """A mistake has a loss of 1 at least, not of alpha: its chance is at least min(alpha, 1) / beta."""
    waits, allowance = mistakes_until_let_in(100.0, 100.0), 4.0 * 100.0 / np.sqrt(200)
    assert waits.mean() <= mistake_bound((1.0, 1.0, 100.0), 1.0, 0.0) + allowance
    assert waits.mean() > mistake_bound((1.0, 100.0, 100.0), 1.0, 0.0) + allowance


# ---- The number of vectors ----


def excess(vectors, chance):
    """How many standard deviations the mean number of vectors is above alpha T / beta; at most as many as of coins."""
    vectors = np.asarray(vectors)
    return (vectors.mean() - chance * T) / np.sqrt(chance * T / vectors.size)


@every_run
@every_kernel
@every_stream
def test_the_expected_number_of_vectors_is_bounded(kind, kernel, steps):
    _, alpha, beta = steps
    assert excess([np.count_nonzero(run_of(kernel, kind, steps, seed)[1]) for seed in SEEDS], alpha / beta) <= 4.0


@pytest.mark.parametrize("alpha, beta", [(1.0, 20.0), (0.5, 5.0), (0.2, 0.8)])
def test_the_number_of_vectors_is_attained_by_a_learner_that_hardly_moves(alpha, beta):
    X, y = stream_of("noise")
    vectors = [SPA(1e-9, alpha, beta, random_state=seed).fit(X, y).n_support_ for seed in range(100)]
    assert abs(excess(vectors, alpha / beta)) <= 4.0
    assert excess(vectors, 0.8 * alpha / beta) > 4.0  # a scale a fifth too small would be seen


# ---- Several kernels: BOMKC (section 5 of the paper) ----
#
# theta_i falls by the factor gamma at every mistake of kernel i, and all are normalised. When the vote is wrong, so are
# kernels with at least half of the weight. So for every run and every kernel i of m
#
#     M <= 2 sum_t r_t <= 2 (M_i ln(1 / gamma) + ln m) / (1 - gamma),    r_t the share of theta that is wrong,
#
# and kernel i, whose step t is let in with probability p_it rho_it, has E sum_t p_it min(eta, rho_it l_it)
# (l_it - 2 l_t(f*)) <= ||f*||^2 for any f* of its space, as SPA has with p = 1.

DISCOUNTS = [(0.9, 0.01), (0.99, 0.001), (0.5, 0.2)]  # gamma, delta
every_discount = pytest.mark.parametrize("discount", DISCOUNTS, ids=str)
VOTE_STEPS = (0.5, 1.0, 3.0)


@cache
def vote_of(kind, discount, seed):
    """The votes, and by kernel and step: scores, chances p, shares of theta before; the vectors of each kernel.

    A kernel only ever adds vectors, so that its score at step t is that of the vectors which came before.
    """
    (X, y), (eta, alpha, beta), (gamma, delta) = stream_of(kind), VOTE_STEPS, discount
    learner = BOMKC(
        list(KERNELS.values()), learning_rate=eta, loss_cap=alpha, sampling_scale=beta, discount=gamma,
        exploration=delta, random_state=seed,
    )  # fmt: skip
    votes = learner.progressive_scores(X, y, classes=[-1, 1])
    scores, vectors = np.zeros((len(KERNELS), T)), []
    for k, (points, weights) in enumerate(zip(learner.support_vectors_, learner.support_weights_, strict=True)):
        f = np.zeros(T)
        f[(X[:, None, 0] == points[None, :, 0]).argmax(axis=0)] = weights
        scores[k] = np.tril(gram_of(list(KERNELS)[k], kind), -1) @ f
        vectors.append(np.count_nonzero(f))
    wrong = y * scores <= 0.0
    log_theta = np.log(gamma) * np.hstack([np.zeros((len(KERNELS), 1)), np.cumsum(wrong, axis=1)])
    theta = np.exp(log_theta - log_theta.max(axis=0))
    chances = (1.0 - delta) * theta[:, :-1] + delta
    shares = theta / theta.sum(axis=0)
    np.testing.assert_allclose(learner.kernel_weights_, shares[:, -1], rtol=1e-9)
    return votes, scores, wrong, chances, shares[:, :-1], vectors


@every_stream
@every_discount
def test_the_vote_is_wrong_at_most_so_much_more_often_than_the_best_kernel(kind, discount):
    _, y = stream_of(kind)
    gamma, _ = discount
    for seed in range(3):
        votes, scores, wrong, _, shares, _ = vote_of(kind, discount, seed)
        said = (shares * np.where(scores >= 0.0, 1.0, -1.0)).sum(axis=0)
        np.testing.assert_allclose(votes, said, rtol=0.0, atol=1e-9)
        mistakes, weight_wrong = (y * votes <= 0.0).sum(), (shares * wrong).sum()
        bound = (wrong.sum(axis=1).min() * np.log(1.0 / gamma) + np.log(len(KERNELS))) / (1.0 - gamma)
        assert mistakes <= 2.0 * weight_wrong <= 2.0 * bound * (1.0 + 1e-12)


@every_stream
@every_discount
def test_every_kernel_of_a_vote_gains_as_spa_does_at_the_steps_it_may_take(kind, discount):
    (_, y), (eta, alpha, beta) = stream_of(kind), VOTE_STEPS
    runs = [vote_of(kind, discount, seed) for seed in SEEDS]
    for k, kernel in enumerate(KERNELS):
        lost = np.array([losses(y, run[1][k]) for run in runs])
        taken = np.array([run[3][k] for run in runs]) * np.minimum(eta, np.minimum(alpha, lost) / beta * lost)
        for other in comparators(kernel, kind, eta):
            gram = gram_of(kernel, kind)
            gains = (taken * (lost - 2.0 * losses(y, gram @ other))).sum(axis=1)
            assert gains.mean() <= other @ gram @ other + 4.0 * gains.std() / np.sqrt(len(SEEDS))
        expected = np.mean([(run[3][k] * np.minimum(alpha, lost[j]) / beta).sum() for j, run in enumerate(runs)])
        vectors = np.mean([run[5][k] for run in runs])
        assert expected <= alpha / beta * T
        assert abs(vectors - expected) <= 4.0 * np.sqrt(alpha / beta * T / len(SEEDS))


def test_a_vote_that_rewards_mistakes_breaks_the_bound():
    """Two kernels of which one is never right, and gains weight by it."""
    wrong = vote_of("separate", DISCOUNTS[2], 0)[2]
    both = np.vstack([wrong[0], np.ones(T, dtype=bool)])
    theta = 2.0 ** (np.cumsum(both, axis=1) - np.arange(1, T + 1))
    bound = (wrong[0].sum() * np.log(2.0) + np.log(2.0)) / 0.5
    assert (theta / theta.sum(axis=0) * both).sum() > bound
