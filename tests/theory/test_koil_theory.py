"""The theorems behind KOIL, in numbers on small streams: unbounded policy, hinge loss, constant rate (Hu 2015, ch. 3).

Notation: k neighbours, rate eta, X^2 = max k(x, x), xi^2 = min k(x, z), c_p = sqrt(2 X^2 - 2 xi^2), so that a pair of
points is never longer than c_p in the space of the kernel. V_t is the set of violators that step t acts on, and

    L_t(f) = 1/2 ||f||^2 + C sum_{i in V_t} l_i(f),    l_i(f) = max(0, 1 - y_t (f(x_t) - f(x_i))).

Everything is computed here from outside of the learner, from its support vectors, weights and scores before each step.
"""

import itertools
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest

from lopsided import KOIL
from lopsided.kernels import Gaussian, Normalized, Polynomial

KERNELS = {
    "wide gaussian": Gaussian(gamma=0.3),
    "narrow gaussian": Gaussian(gamma=3.0),
    "normalised polynomial": Normalized(Polynomial(degree=2, coef0=1.0)),
}
STEPS = [(0.05, 0.1, 1), (0.3, 0.01, 3), (0.3, 0.5, 2), (1.0, 0.01, 1), (1.0, 0.1, 3), (3.0, 0.05, 2), (3.0, 0.3, 1)]


def make_stream(kind, n=60, seed=0):
    """Two classes that are separate, noise, or change places every ten examples. It begins with one of each."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    y[:2] = 1, -1
    X = rng.normal(size=(n, 2))
    if kind == "separate":
        X[:, 0] += 2.0 * (y > 0)
    if kind == "changing":
        X[:, 0] += 2.0 * y * np.where(np.arange(n) // 10 % 2, 1, -1)
    return X, y


@dataclass
class Run:
    """What a learner did on a stream. A function in the span of the stream is a vector of n coefficients."""

    X: np.ndarray
    y: np.ndarray
    gram: np.ndarray
    C: float
    eta: float
    k: int
    functions: list = field(default_factory=list)  # f_1 = 0, ..., f_{T+1}
    violators: list = field(default_factory=list)  # V_1, ..., V_T: numbers of examples

    @property
    def c_p(self):
        return float(np.sqrt(2.0 * self.gram.diagonal().max() - 2.0 * self.gram.min()))

    @property
    def loss_bound(self):
        """U = 1 + C k c_p^2."""
        return 1.0 + self.C * self.k * self.c_p**2

    def squared_length(self, f):
        return float(f @ self.gram @ f)

    def pairs(self, t):
        """y_t (k(x_t, .) - k(x_i, .)) for i in V_t, as rows of coefficients; l_i(f) = max(0, 1 - <f, pair>)."""
        rows = np.zeros((len(self.violators[t]), len(self.y)))
        rows[:, t] = self.y[t]
        rows[np.arange(len(rows)), self.violators[t]] -= self.y[t]
        return rows

    def losses(self, t, f):
        return np.maximum(0.0, 1.0 - self.pairs(t) @ self.gram @ f)

    def risk(self, t, f):
        """L_t(f)."""
        return 0.5 * self.squared_length(f) + self.C * self.losses(t, f).sum()

    def gradient(self, t):
        """A subgradient of L_t at f_t: f_t minus C times the sum of the pairs."""
        return self.functions[t] - self.C * self.pairs(t).sum(axis=0)


def owners(learner, X):
    """The number of the example that each support vector is; all examples differ."""
    same = (X[:, None, :] == learner.support_vectors_[None]).all(axis=2)
    assert (same.sum(axis=0) == 1).all()
    return same.argmax(axis=0)


def coefficients(learner, X):
    """The learner's function as coefficients on the examples of the stream."""
    f = np.zeros(len(X))
    f[owners(learner, X)] = learner.support_weights_
    return f


def play(kernel, X, y, C, eta, k, **others):
    """Learn the stream one example at a time, noting f_t and V_t before each step."""
    run = Run(X, y, kernel(X), C, eta, k, functions=[np.zeros(len(y))])
    chosen = {"C": C, "learning_rate": eta, "n_neighbors": k, "policy": "unbounded", "kernel": kernel} | others
    learner = KOIL(random_state=0, **chosen)
    for t in range(len(y)):
        run.violators.append(violators(learner, kernel, X, y, t, k) if t else [])
        learner.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        run.functions.append(coefficients(learner, X))
    return run


def violators(learner, kernel, X, y, t, k):
    """The k nearest of all opposite vectors that the current model ranks wrongly against example t."""
    owner = owners(learner, X)
    opposite = owner[y[owner] != y[t]]
    score, others = learner.decision_function(X[t : t + 1])[0], learner.decision_function(X[opposite])
    wrong = opposite[1.0 - y[t] * (score - others) > 0.0]
    nearest = np.argsort(-kernel(X[t : t + 1], X[wrong])[0], kind="stable")
    return wrong[nearest[:k]].tolist()


def minimiser(run):
    """f*, the minimiser of sum_t L_t, and its risk, by coordinate ascent on the dual.

    sum_t L_t(f) = T/2 ||f||^2 + C sum over all pairs p of max(0, 1 - <f, p>) is a support vector machine without
    offset: f* = 1/T sum_p a_p p with 0 <= a_p <= C. It stops when primal and dual value differ by less than 1e-9 of the
    risk, which bounds the error of both.
    """
    T, P = len(run.y), np.concatenate([run.pairs(t) for t in range(len(run.y))])
    Q = P @ run.gram @ P.T / T
    a, margins = np.zeros(len(P)), np.zeros(len(P))
    for _ in range(5000):
        for p in range(len(P)):
            change = np.clip(a[p] + (1.0 - margins[p]) / max(Q[p, p], 1e-300), 0.0, run.C) - a[p]
            if change:
                margins += change * Q[p]
                a[p] += change
        primal = 0.5 * (a @ margins) + run.C * np.maximum(0.0, 1.0 - margins).sum()
        if primal - (a.sum() - 0.5 * (a @ margins)) < 1e-9 * max(1.0, primal):
            return a @ P / T, primal
    raise AssertionError("the batch problem was not solved")


def regret(run):
    """sum_t L_t(f_t) - L_t(f*), and f*."""
    best, least = minimiser(run)
    assert sum(run.risk(t, best) for t in range(len(run.y))) == pytest.approx(least, rel=1e-9)
    return sum(run.risk(t, run.functions[t]) for t in range(len(run.y))) - least, best


KINDS = ["separate", "noise", "changing"]
every_run = pytest.mark.parametrize(
    ("kernel", "kind", "steps"), list(itertools.product(KERNELS, KINDS, STEPS)), ids=lambda part: str(part)
)


@cache
def run_of(kernel, kind, steps):
    """One of the runs that all theorems are about; nobody changes it."""
    return play(KERNELS[kernel], *make_stream(kind), *steps)


@every_run
def test_lemma_1_bounds_the_length_of_the_function(kernel, kind, steps):
    """||f_t|| <= C max(k c_p, eta X)."""
    run = run_of(kernel, kind, steps)
    bound = run.C * max(run.k * run.c_p, run.eta * np.sqrt(run.gram.diagonal().max()))
    lengths = [np.sqrt(max(run.squared_length(f), 0.0)) for f in run.functions]
    assert max(lengths) <= bound * (1.0 + 1e-12)
    assert lengths[1] == pytest.approx(run.eta * run.C * np.sqrt(run.gram[0, 0]))


@every_run
def test_lemma_2_bounds_the_loss_of_every_pair(kernel, kind, steps):
    """l_i(f_t) <= U = 1 + C k c_p^2."""
    run = run_of(kernel, kind, steps)
    losses = np.concatenate([run.losses(t, run.functions[t]) for t in range(len(run.y))])
    assert losses.min() > 0.0  # V holds violators only
    assert losses.max() <= run.loss_bound


@every_run
def test_a_step_goes_down_the_gradient_of_the_instantaneous_risk(kernel, kind, steps):
    """f_{t+1} = f_t - eta (f_t - C sum_V pair), in the norm of the kernel's space; the first example gets eta C y."""
    run = run_of(kernel, kind, steps)
    for t in range(1, len(run.y)):
        surprise = run.functions[t + 1] - (run.functions[t] - run.eta * run.gradient(t))
        assert run.squared_length(surprise) < 1e-24
    np.testing.assert_allclose(run.functions[1], np.eye(len(run.y))[0] * run.eta * run.C * run.y[0], rtol=1e-14)


def test_a_step_with_a_full_buffer_does_not_and_the_check_sees_it():
    run = play(KERNELS["wide gaussian"], *make_stream("noise"), 1.0, 0.1, 2, policy="fifo", budget=5)
    surprises = [
        run.squared_length(run.functions[t + 1] - (run.functions[t] - run.eta * run.gradient(t)))
        for t in range(1, len(run.y))
    ]
    assert max(surprises) > 1e-6


def bound_of_descent(run, best):
    """||f_2 - f*||^2 / (2 eta) + eta/2 sum_t ||g_t||^2: what subgradient descent can lose, after the start-up step."""
    gradients = [run.squared_length(run.gradient(t)) for t in range(1, len(run.y))]
    return run.squared_length(run.functions[1] - best) / (2.0 * run.eta) + 0.5 * run.eta * sum(gradients)


def bound_of_parts(run, best):
    """||f*||^2 / (2 eta) + eta C k sum_t ((U - 1) + C k c_p^2): the gradients by their parts and Lemma 1.

    ||g_t||^2 = ||f_t||^2 - 2 C sum_V (1 - l_i) + C^2 ||sum_V pair||^2 <= 2 C k (U - 1) + 2 C^2 k^2 c_p^2.
    """
    a_step = (run.loss_bound - 1.0) + run.C * run.k * run.c_p**2
    return run.squared_length(best) / (2.0 * run.eta) + run.eta * run.C * run.k * len(run.y) * a_step


def printed_bound(run, best):
    """||f*||^2 / (2 eta) + eta C k sum_t ((U - 1) + (k + 1) C^2 c_p^2 / 2): the theorem as printed.

    For C < 2 k / (k + 1) this is less than the parts add up to; no stream here comes near either.
    """
    a_step = (run.loss_bound - 1.0) + 0.5 * (run.k + 1) * run.C**2 * run.c_p**2
    return run.squared_length(best) / (2.0 * run.eta) + run.eta * run.C * run.k * len(run.y) * a_step


@every_run
def test_theorem_1_bounds_the_regret(kernel, kind, steps):
    """R_T = sum_t L_t(f_t) - L_t(f*) is below all three bounds, for points that differ: k c_p >= eta X."""
    run = run_of(kernel, kind, steps)
    assert run.k * run.c_p >= run.eta * np.sqrt(run.gram.diagonal().max())
    lost, best = regret(run)
    longest = max(run.squared_length(run.gradient(t)) for t in range(1, len(run.y)))
    assert longest <= 2.0 * run.C * run.k * (run.loss_bound - 1.0) + 2.0 * (run.C * run.k * run.c_p) ** 2
    assert lost <= bound_of_descent(run, best) * (1.0 + 1e-6)
    assert lost <= bound_of_parts(run, best)
    assert lost <= printed_bound(run, best)


def test_the_printed_bound_leaves_out_the_start_up_step_and_fails_where_all_points_are_nearly_one():
    """With k c_p < eta X no step moves the function, but the first example has given it a length eta C X."""
    X, y = np.array([[0.0], [1e-3], [2e-3], [3e-3]]), np.array([1, -1, 1, -1])
    run = play(Gaussian(gamma=1.0), X, y, 0.1, 0.5, 1)
    lost, best = regret(run)
    assert run.k * run.c_p < run.eta
    assert printed_bound(run, best) < lost < bound_of_descent(run, best)


def test_a_model_that_climbs_breaks_the_bounds_and_the_check_sees_it():
    """The functions of a run on turned labels, ten times as long, judged by the risks of the right one."""
    X, y = make_stream("separate")
    run, turned = (play(KERNELS["wide gaussian"], X, labels, 1.0, 0.01, 3) for labels in (y, -y))
    lost, best = regret(run)
    bounds = [bound(run, best) for bound in (bound_of_descent, bound_of_parts, printed_bound)]
    run.functions = [10.0 * f for f in turned.functions]
    climbing, _ = regret(run)
    assert lost < min(bounds) and max(bounds) < climbing
