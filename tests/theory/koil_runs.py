"""Runs of KOIL that theorems are checked on: what it did, step by step, seen from outside.

Notation: k neighbours, rate eta, X^2 = max k(x, x), xi^2 = min k(x, z), c_p = sqrt(2 X^2 - 2 xi^2), so that a pair of
points is never longer than c_p in the space of the kernel. V_t is the set of violators that step t acts on, and

    L_t(f) = 1/2 ||f||^2 + C sum_{i in V_t} l_i(f)^p,    l_i(f) = max(0, 1 - y_t (f(x_t) - f(x_i))),

where p is 1 for the hinge and 2 for the squared hinge. Everything is computed from outside of the learner, from its
support vectors, weights and scores before each step.
"""

from dataclasses import dataclass, field

import numpy as np
import pytest

from lopsided import KOIL
from lopsided.kernels import Gaussian, Normalized, Polynomial

KERNELS = {
    "wide gaussian": Gaussian(gamma=0.3),
    "narrow gaussian": Gaussian(gamma=3.0),
    "normalised polynomial": Normalized(Polynomial(degree=2, coef0=1.0)),
}
KINDS = ["separate", "noise", "changing"]


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
    power: int = 1
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
        return 0.5 * self.squared_length(f) + self.C * (self.losses(t, f) ** self.power).sum()

    def gradient(self, t):
        """A subgradient of L_t at f_t: f_t minus C times the sum of the pairs, each times p l_i^(p - 1)."""
        slopes = self.power * self.losses(t, self.functions[t]) ** (self.power - 1)
        return self.functions[t] - self.C * slopes @ self.pairs(t)


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
    power = 2 if others.get("loss") == "squared_hinge" else 1
    run = Run(X, y, kernel(X), C, eta, k, power, functions=[np.zeros(len(y))])
    chosen = {"C": C, "learning_rate": eta, "n_neighbors": k, "policy": "unbounded", "kernel": kernel} | others
    learner = KOIL(random_state=0, **chosen)
    for t in range(len(y)):
        run.violators.append(violators(coefficients(learner, X), run.gram, y, t, k) if t else [])
        learner.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        run.functions.append(coefficients(learner, X))
    return run


def violators(f, gram, y, t, k):
    """The k nearest of all opposite vectors that the function ranks wrongly against example t."""
    opposite = np.flatnonzero((f != 0.0) & (y != y[t]))
    values = gram @ f
    wrong = opposite[1.0 - y[t] * (values[t] - values[opposite]) > 0.0]
    nearest = np.argsort(-gram[t, wrong], kind="stable")
    return wrong[nearest[:k]].tolist()


def minimiser(run):
    """f*, the minimiser of sum_t L_t, and its risk, by coordinate ascent on the dual.

    sum_t L_t(f) = T/2 ||f||^2 + C sum over all pairs p of max(0, 1 - <f, p>) is a support vector machine without
    offset: f* = 1/T sum_p a_p p with 0 <= a_p <= C; with squared losses a_p has no upper limit, and costs a_p^2 / 4C.
    It stops when primal and dual value differ by less than 1e-9 of the risk, which bounds the error of both.
    """
    T, P = len(run.y), np.concatenate([run.pairs(t) for t in range(len(run.y))])
    Q = P @ run.gram @ P.T / T
    most, cost = (run.C, 0.0) if run.power == 1 else (np.inf, 0.5 / run.C)
    a, margins = np.zeros(len(P)), np.zeros(len(P))
    for _ in range(5000):
        for p in range(len(P)):
            gain = 1.0 - margins[p] - cost * a[p]
            change = np.clip(a[p] + gain / max(Q[p, p] + cost, 1e-300), 0.0, most) - a[p]
            if change:
                margins += change * Q[p]
                a[p] += change
        primal = 0.5 * (a @ margins) + run.C * (np.maximum(0.0, 1.0 - margins) ** run.power).sum()
        if primal - (a.sum() - 0.5 * (a @ margins) - 0.5 * cost * (a @ a)) < 1e-9 * max(1.0, primal):
            return a @ P / T, primal
    raise AssertionError("the batch problem was not solved")


def regret(run):
    """sum_t L_t(f_t) - L_t(f*), and f*."""
    best, least = minimiser(run)
    assert sum(run.risk(t, best) for t in range(len(run.y))) == pytest.approx(least, rel=1e-9)
    return sum(run.risk(t, run.functions[t]) for t in range(len(run.y))) - least, best
