"""Naive transcription of the specification of OB2RMK, online; names and conventions are those of `b2rmk.py`."""

import numpy as np

from oracles.b2rmk import B2RMK, Factors
from oracles.laws import (
    Gamma,
    Hierarchy,
    bayes_kernels,
    expected_log_gaussian,
    inverse,
    kernel_matrices,
    unit_mean,
)

# ---- Section 8: one online step ----


class OnlineStep(Factors):
    """The factors of one step. The old a and (b, e) have Gaussian priors, the newest weight (the last) a hierarchy.

    m_t, Sigma_t: q(a) over the points kept, before x* is appended. K has a row more than that, the row of x*.
    """

    FROM_SCORES = ("theta", "f_positive", "f_negative", "G", "a", "lambda", "xi", "phi", "eta", "v", "be", "c")
    FROM_LABEL = ("a", "lambda", "xi", "phi", "eta", "v", "G", "be", "c", "theta", "f_positive", "f_negative")

    def __init__(self, K, y, C, m_t, Sigma_t, m_be, Sigma_be, *, start="scores", shape=(1.0, 1.0), **options):
        y = np.asarray(y)
        C = np.full((np.sum(y > 0), np.sum(y < 0)), float(C))
        super().__init__(K, y, C, **options)
        self.m_t, self.Sigma_t, self.m_be_t, self.Sigma_be_t = m_t, Sigma_t, m_be, Sigma_be
        self.precision_t, self.precision_be_t = inverse(Sigma_t), inverse(Sigma_be)
        self.start = start
        self.m_a, self.m_be, self.Sigma_be = np.append(m_t, 0.0), m_be, Sigma_be
        self.prior_newest = Hierarchy(1, *shape)
        if start == "scores":
            self.v, self.c = unit_mean(), unit_mean()
            self.M_G = self.Z()
            self.m_f, self.s_f = self.e() @ self.Z() + self.b(), np.full(self.N, 1.0 / self.c.mean)
        else:
            self.v, self.c = Gamma(*self.prior_v), Gamma(*self.prior_c)
            self.M_G = np.tile(y.astype(float), (self.P, 1))
            self.m_f, self.s_f = y.astype(float), np.ones(self.N)
        self.Sigma_g = np.eye(self.P) / self.v.mean
        self.objective, self.n_iterations = [], 0

    def iterate(self):
        self.run(self.FROM_SCORES if self.start == "scores" else self.FROM_LABEL, traced=self.n_iterations > 0)
        self.n_iterations += 1
        if self.trace is not None:
            self.objective.append(self.bound())

    def learn(self, n_iterations, tol=None):
        """tol: stop when no mean of f has moved by tol in an iteration (section 11); None runs them all."""
        for _ in range(n_iterations):
            before = self.m_f.copy()
            self.iterate()
            if tol is not None and np.max(np.abs(self.m_f - before)) < tol:
                break
        return self

    def a2(self):
        return np.array([self.m_a[-1] ** 2 + self.Sigma_a[-1, -1]])

    def update_a(self):
        v, n = self.v.mean, len(self.m_t)
        prior = np.zeros((n + 1, n + 1))
        prior[:n, :n] = self.precision_t
        prior[n, n] = self.prior_newest.mean_inverse_scale[0]
        self.Sigma_a = inverse(prior + v * self.S)
        self.m_a = self.Sigma_a @ (prior @ np.append(self.m_t, 0.0) + v * self.sum_K_G())

    def update_be(self):
        c, (matrix, vector) = self.c.mean, self.design()
        self.Sigma_be = inverse(self.precision_be_t + c * matrix)
        self.m_be = self.Sigma_be @ (self.precision_be_t @ self.m_be_t + c * vector)

    def update_lambda(self):
        self.prior_newest.update_scale(self.a2())

    def update_xi(self):
        self.prior_newest.update_rate()

    def update_phi(self):
        self.prior_newest.update_top()

    def update_eta(self):
        self.prior_newest.update_top_rate()

    def terms(self):
        """The step objective: no gamma, no hierarchies but that of the newest weight, two Gaussian priors."""
        old = slice(0, len(self.m_t))
        return {
            **self.common_terms(),
            "prior of the old a": expected_log_gaussian(self.m_a[old], self.Sigma_a[old, old], self.m_t, self.Sigma_t),
            "prior of (b, e)": expected_log_gaussian(self.m_be, self.Sigma_be, self.m_be_t, self.Sigma_be_t),
            "hierarchy of the newest": self.prior_newest.bound(self.a2()),
        }


# ---- Sections 7, 8: online ----


class OB2RMK:
    """The online learner as published. Options: start="label", prior_v and prior_c (shape, rate), iteration_tol.

    State: points, labels (insertion order, both buffers together), m_a, Sigma_a, m_be, Sigma_be. None until the batch
    fit has run: at the first example t >= warm_up at which both classes have been seen. `last` is the last OnlineStep
    (None if the last example made none), `initial` the batch fit, `dropped` what left the buffer in the last step.
    """

    fit_class, step_class = B2RMK, OnlineStep

    def __init__(
        self,
        kernels=None,
        *,
        budget=100,
        n_neighbors=3,
        C=1.0,
        n_iterations=30,
        warm_up=40,
        max_sweeps=200,
        tol=1e-5,
        start="scores",
        prior_v=(1.0, 1.0),
        prior_c=(1.0, 1.0),
        iteration_tol=None,
        trace=False,
    ):
        self.kernels = bayes_kernels() if kernels is None else list(kernels)
        self.budget, self.n_neighbors, self.C, self.n_iterations = budget, n_neighbors, C, n_iterations
        self.warm_up, self.max_sweeps, self.tol = warm_up, max_sweeps, tol
        self.options = {"start": start, "prior_v": prior_v, "prior_c": prior_c, "trace": trace}
        self.iteration_tol = iteration_tol
        self.t, self.waiting = 0, []
        self.points, self.labels = [], []
        self.m_a = self.Sigma_a = self.m_be = self.Sigma_be = None
        self.initial = self.last = self.dropped = None

    # section 7

    def finish(self):
        """What `fit` does at its end: the batch fit, if it has not run yet."""
        if self.m_a is None:
            self.begin()
        return self

    def begin(self):
        """The batch fit on all examples so far; all of them enter the buffers, then each is cut down to the budget."""
        points, labels, weights = zip(*self.waiting, strict=True)
        fit = self.fit_class(self.kernels, max_sweeps=self.max_sweeps, tol=self.tol).fit(points, labels, weights)
        self.initial, self.waiting = fit, []
        self.points, self.labels = list(points), list(labels)
        self.m_a, self.Sigma_a = fit.m_a.copy(), fit.Sigma_a.copy()
        self.m_be, self.Sigma_be = fit.m_be.copy(), fit.Sigma_be.copy()
        for y in (+1, -1):
            while len(self.buffer(y)) > self.budget:
                self.marginalize(self.worst(y))

    def buffer(self, y):
        """Positions of the points of class y, in insertion order."""
        return [n for n, label in enumerate(self.labels) if label == y]

    def worst(self, y):
        """The member of the buffer of y with the smallest y <a_r>; the first of equals."""
        return min(self.buffer(y), key=lambda r: y * self.m_a[r])

    def marginalize(self, r):
        """Point r leaves: its entry of m_a, its row and column of the covariance."""
        del self.points[r], self.labels[r]
        self.m_a = np.delete(self.m_a, r)
        self.Sigma_a = np.delete(np.delete(self.Sigma_a, r, axis=0), r, axis=1)

    def nearest(self, x, y):
        """The positions of the k nearest points of the other class; ties by buffer order."""
        other = self.buffer(-y)
        distances = [np.sum((self.points[n] - x) ** 2) for n in other]
        return [other[i] for i in np.argsort(distances, kind="stable")[: self.n_neighbors]]

    def scores(self, X):
        if self.m_a is None:
            return np.zeros(len(X))
        K = kernel_matrices(self.kernels, self.points, X)
        return self.m_a @ sum(e_m * K_m for e_m, K_m in zip(self.m_be[1:], K, strict=True)) + self.m_be[0]

    def score(self, x):
        return float(self.scores([np.asarray(x, dtype=float)])[0])

    # section 8

    def step(self, x, y, weight=1.0):
        """Learn from (x, y); returns the score before."""
        x = np.array(x, dtype=float)
        if not np.all(np.isfinite(x)):
            raise ValueError("not finite")
        score = self.score(x)
        if weight == 0:
            return score
        self.t += 1
        if self.m_a is not None:
            self.learn(x, y, weight * self.C)
            return score
        self.waiting.append((x, y, weight))
        if self.t >= self.warm_up and {label for _, label, _ in self.waiting} == {+1, -1}:
            self.begin()
        return score

    def learn(self, x, y, C):
        columns = [x] + [self.points[n] for n in self.nearest(x, y)]  # 8.1
        sides = [y] + [-y] * (len(columns) - 1)
        self.dropped = None
        if len(self.buffer(y)) >= self.budget:  # 8.2
            r = self.worst(y)
            self.dropped = self.points[r]
            self.marginalize(r)
            columns, sides = [*columns, self.dropped], [*sides, y]
        n = len(self.points)
        self.points, self.labels = [*self.points, x], [*self.labels, y]  # 8.3
        if -y not in sides:  # the other buffer is empty: no pairs
            Sigma_a = np.eye(n + 1)
            Sigma_a[:n, :n] = self.Sigma_a
            self.m_a, self.Sigma_a, self.last = np.append(self.m_a, 0.0), Sigma_a, None
            return
        K = kernel_matrices(self.kernels, self.points, columns)  # 8.4: with the row of x*, without that of x_r
        step = self.step_class(K, sides, C, self.m_a, self.Sigma_a, self.m_be, self.Sigma_be, **self.options)  # 8.6
        step.learn(self.n_iterations, self.iteration_tol)  # 8.5
        self.m_a, self.Sigma_a = step.m_a, (step.Sigma_a + step.Sigma_a.T) / 2.0  # 8.7
        self.m_be, self.Sigma_be, self.last = step.m_be, step.Sigma_be, step
