"""Naive transcription of the specification of the Bayesian multiple-kernel rankers: B2RMK (batch) and OB2RMK (online).

Dense matrices and explicit inverses throughout; every matrix is built anew where it is used. Labels are -1/+1, x is
a 1-d array, a kernel is a callable k(x, z) that works along the last axis. Names are those of the specification:
m_a, Sigma_a are mean and covariance of q(a); m_be, Sigma_be of q(b, e), coordinate 0 being b; M_G (P x N) and Sigma_g
of q(G); m_f, s_f means and variances of q(f); chi the <u^2> stored when theta was last updated. Parameters: budget is
the capacity of each buffer, n_neighbors k, C the aggressiveness. Nothing is random.

A sample weight multiplies C: in an online step that of the step's example; in a batch, where each pair has two
examples, C_ij = C w_i w_j. A row of weight 0 is not seen at all.
"""

import math

import numpy as np

from oracles.laws import (
    LOG_2PI,
    Gamma,
    Hierarchy,
    bayes_kernels,
    expected_log_gamma,
    expected_log_gaussian,
    gaussian_entropy,
    inverse,
    kernel_matrices,
    log_det,
    unit_mean,
)

# ---- Section 4: what the batch learner and a step of the online learner have in common ----


class Factors:
    """All factors but the priors of a and (b, e), which differ. Columns are the N (or Ntilde) points that form pairs.

    K: list of P matrices (support x columns); y: labels of the columns; C: matrix C_ij, positives by negatives.
    With trace=True `trace` gets (factor, bound) after every update, from where each factor has been updated once.
    """

    def __init__(self, K, y, C, *, prior_v, prior_c, trace=False):
        self.K, self.y, self.C = K, np.asarray(y), C
        self.P, self.N = len(K), len(y)
        self.prior_v, self.prior_c = prior_v, prior_c
        self.positives, self.negatives = np.flatnonzero(self.y > 0), np.flatnonzero(self.y < 0)
        self.S = sum(K_m @ K_m.T for K_m in K)
        self.trace = [] if trace else None

    # <...> that several updates need

    def Z(self):
        """Z[m, i] = <a>' k_{m,i}"""
        return np.array([self.m_a @ K_m for K_m in self.K])

    def b(self):
        return self.m_be[0]

    def e(self):
        return self.m_be[1:]

    def b2(self):
        """<b^2>"""
        return self.Sigma_be[0, 0] + self.m_be[0] ** 2

    def be(self):
        """<b e>"""
        return self.Sigma_be[0, 1:] + self.m_be[0] * self.m_be[1:]

    def E2(self):
        """<e e'>"""
        return self.Sigma_be[1:, 1:] + np.outer(self.m_be[1:], self.m_be[1:])

    def GG(self):
        """<G G'>"""
        return self.N * self.Sigma_g + self.M_G @ self.M_G.T

    def sum_K_G(self):
        """sum_m K_m M_G[m, :]'"""
        return sum(K_m @ self.M_G[m] for m, K_m in enumerate(self.K))

    def design(self):
        """[[N, (M_G 1)'], [M_G 1, GG]], what the columns say about (b, e), and [sum_i <f_i>; M_G <f>]."""
        G1 = self.M_G @ np.ones(self.N)
        matrix = np.block([[np.array([[float(self.N)]]), G1[None, :]], [G1[:, None], self.GG()]])
        return matrix, np.concatenate([[np.sum(self.m_f)], self.M_G @ self.m_f])

    def u2(self):
        """<u_ij^2>, not below 1e-20"""
        m, s, i, j = self.m_f, self.s_f, self.positives[:, None], self.negatives[None, :]
        return np.maximum((1.0 - m[i] + m[j]) ** 2 + s[i] + s[j], 1e-20)

    def W(self):
        """W_ij = C_ij^2 <1/theta_ij> = C_ij / sqrt(chi_ij)"""
        return self.C / np.sqrt(self.chi)

    def SSg(self):
        return np.sum((self.M_G - self.Z()) ** 2) + self.N * np.trace(self.Sigma_g) + np.trace(self.Sigma_a @ self.S)

    def SSf(self):
        m = self.m_f
        total = np.sum(self.s_f + m**2) - 2.0 * np.sum(m * (self.e() @ self.M_G + self.b()))
        total += np.trace(self.E2() @ self.GG()) + 2.0 * self.be() @ np.sum(self.M_G, axis=1)
        return total + self.N * self.b2()

    # updates

    def update_v(self):
        alpha, beta = self.prior_v
        self.v = Gamma(alpha + self.P * self.N / 2.0, beta + self.SSg() / 2.0)

    def update_c(self):
        alpha, beta = self.prior_c
        self.c = Gamma(alpha + self.N / 2.0, beta + self.SSf() / 2.0)

    def update_G(self):
        c, v, Z = self.c.mean, self.v.mean, self.Z()
        self.Sigma_g = inverse(c * self.E2() + v * np.eye(self.P))
        self.M_G = np.zeros((self.P, self.N))
        for i in range(self.N):
            self.M_G[:, i] = self.Sigma_g @ (c * (self.m_f[i] * self.e() - self.be()) + v * Z[:, i])

    def update_f_positive(self):
        c, W, m = self.c.mean, self.W(), self.m_f
        for p, i in enumerate(self.positives):
            mean_of_f = self.e() @ self.M_G[:, i] + self.b()
            self.s_f[i] = 1.0 / (c + np.sum(W[p]))
            m[i] = self.s_f[i] * (np.sum(self.C[p]) + np.sum(W[p] * (m[self.negatives] + 1.0)) + c * mean_of_f)

    def update_f_negative(self):
        """From the new f of the positives."""
        c, W, m = self.c.mean, self.W(), self.m_f
        for q, j in enumerate(self.negatives):
            mean_of_f = self.e() @ self.M_G[:, j] + self.b()
            self.s_f[j] = 1.0 / (c + np.sum(W[:, q]))
            m[j] = self.s_f[j] * (-np.sum(self.C[:, q]) + np.sum(W[:, q] * (m[self.positives] - 1.0)) + c * mean_of_f)

    def update_theta(self):
        """q(theta_ij) = GIG(1/2, 1, C_ij^2 chi_ij)"""
        self.chi = self.u2()

    def run(self, updates, traced=True):
        for name in updates:
            getattr(self, f"update_{name}")()
            if self.trace is not None and traced:
                self.trace.append((name, self.bound()))

    # section 6

    def common_terms(self):
        """The terms of the lower bound that do not depend on the priors of a and (b, e)."""
        m, N, P, chi, C = self.m_f, self.N, self.P, self.chi, self.C
        u = 1.0 - m[self.positives][:, None] + m[self.negatives][None, :]
        pairs = np.sum(-C * u - C * np.sqrt(chi) + C * (chi - self.u2()) / (2.0 * np.sqrt(chi)))
        f = N / 2.0 * (self.c.mean_log - LOG_2PI) - self.c.mean * self.SSf() / 2.0
        f += np.sum((np.log(self.s_f) + LOG_2PI + 1.0) / 2.0)
        G = N * P / 2.0 * (self.v.mean_log - LOG_2PI) - self.v.mean * self.SSg() / 2.0
        G += N / 2.0 * (P * (1.0 + LOG_2PI) + log_det(self.Sigma_g))
        return {
            "pairs": pairs,
            "f": f,
            "G": G,
            "entropy of a": gaussian_entropy(self.Sigma_a),
            "entropy of (b, e)": gaussian_entropy(self.Sigma_be),
            "v": self.precision_term(self.v, self.prior_v),
            "c": self.precision_term(self.c, self.prior_c),
        }

    @staticmethod
    def precision_term(x, prior):
        shape, rate = prior
        return expected_log_gamma(x, shape, rate, math.log(rate)) + x.entropy()

    def bound(self):
        return float(sum(self.terms().values()))


# ---- Sections 2 - 6: batch ----


class B2RMK(Factors):
    """The batch learner. fit() sweeps; `elbo` has the lower bound after each sweep, `terms()` its terms.

    Factors: m_a, Sigma_a, m_be, Sigma_be, M_G, Sigma_g, m_f, s_f, chi, v, c, gamma, prior_a and prior_e (hierarchies).
    start_precision is <v> = <c> at the start.
    """

    SWEEP = (
        "a",
        *("lambda", "xi", "phi", "eta"),
        *("v", "G", "be"),
        *("omega", "vphi", "rho", "tau"),
        *("gamma", "c", "f_positive", "f_negative", "theta"),
    )

    def __init__(
        self,
        kernels=None,
        *,
        max_sweeps=200,
        tol=1e-5,
        C=1.0,
        shape_a=(0.5, 0.5),
        shape_e=(0.5, 0.5),
        prior_v=(1e2, 1e-2),
        prior_c=(1e2, 1e-2),
        prior_gamma=(1e-2, 1e-2),
        start_precision=1.0,
        trace=False,
    ):
        self.kernels = bayes_kernels() if kernels is None else list(kernels)
        self.max_sweeps, self.tol, self.aggressiveness = max_sweeps, tol, C
        self.shape_a, self.shape_e = shape_a, shape_e  # (alpha_a, beta_a), (alpha_e, beta_e)
        self.priors = {"prior_v": prior_v, "prior_c": prior_c}
        self.prior_gamma, self.start_precision, self.tracing = prior_gamma, start_precision, trace

    def start(self, X, y, weights=None):
        """Section 5, initial values."""
        X, y = np.array(X, dtype=float), np.array(y)
        w = np.ones(len(y)) if weights is None else np.array(weights, dtype=float)
        X, y, w = X[w > 0], y[w > 0], w[w > 0]
        if not (np.any(y > 0) and np.any(y < 0)):
            raise ValueError("both classes are needed")
        self.points = X
        C = self.aggressiveness * np.outer(w[y > 0], w[y < 0])
        super().__init__(kernel_matrices(self.kernels, X, X), y, C, **self.priors, trace=self.tracing)
        N, P = self.N, self.P
        self.M_G, self.Sigma_g = np.tile(y.astype(float), (P, 1)), np.eye(P)
        self.m_f, self.s_f = y.astype(float), np.ones(N)
        self.m_be, self.Sigma_be = np.concatenate([[0.0], np.full(P, 1.0 / P)]), np.eye(P + 1) / P**2
        self.prior_a, self.prior_e = Hierarchy(N, *self.shape_a), Hierarchy(P, *self.shape_e)
        self.v, self.c = Gamma(self.start_precision, 1.0), Gamma(self.start_precision, 1.0)
        self.gamma = unit_mean()
        self.update_theta()
        self.elbo, self.n_sweeps, self.converged, self.train_scores = [], 0, False, None
        return self

    def sweep(self):
        self.run(self.SWEEP, traced=self.n_sweeps > 0)
        self.n_sweeps += 1
        self.elbo.append(self.bound())

    def fit(self, X, y, weights=None):
        """Section 5, sweeps and stopping. tol=0 never stops early."""
        self.start(X, y, weights)
        while self.n_sweeps < self.max_sweeps and not self.converged:
            before = self.train_scores
            self.sweep()
            now = self.train_scores = self.e() @ self.Z() + self.b()
            if before is not None:
                self.converged = bool(np.max(np.abs(now - before)) < self.tol * max(1.0, np.max(now) - np.min(now)))
        return self

    def scores(self, X):
        """f(x) = <a>' sum_m <e_m> k_m(., x) + <b>"""
        K = kernel_matrices(self.kernels, self.points, X)
        return self.m_a @ sum(e_m * K_m for e_m, K_m in zip(self.e(), K, strict=True)) + self.b()

    def a2(self):
        return self.m_a**2 + np.diag(self.Sigma_a)

    def e2(self):
        return np.diag(self.E2())

    # the updates of section 4 that are not those of Factors

    def update_a(self):
        v = self.v.mean
        self.Sigma_a = inverse(v * self.S + np.diag(self.prior_a.mean_inverse_scale))
        self.m_a = v * self.Sigma_a @ self.sum_K_G()

    def update_be(self):
        c, (matrix, vector) = self.c.mean, self.design()
        self.Sigma_be = inverse(c * matrix + np.diag([self.gamma.mean, *self.prior_e.mean_inverse_scale]))
        self.m_be = c * self.Sigma_be @ vector

    def update_gamma(self):
        alpha, beta = self.prior_gamma
        self.gamma = Gamma(alpha + 0.5, beta + self.b2() / 2.0)

    def update_lambda(self):
        self.prior_a.update_scale(self.a2())

    def update_xi(self):
        self.prior_a.update_rate()

    def update_phi(self):
        self.prior_a.update_top()

    def update_eta(self):
        self.prior_a.update_top_rate()

    def update_omega(self):
        self.prior_e.update_scale(self.e2())

    def update_vphi(self):
        self.prior_e.update_rate()

    def update_rho(self):
        self.prior_e.update_top()

    def update_tau(self):
        self.prior_e.update_top_rate()

    def terms(self):
        """Section 6."""
        return {
            **self.common_terms(),
            "b": (self.gamma.mean_log - LOG_2PI) / 2.0 - self.gamma.mean * self.b2() / 2.0,
            "hierarchy of a": self.prior_a.bound(self.a2()),
            "hierarchy of e": self.prior_e.bound(self.e2()),
            "gamma": self.precision_term(self.gamma, self.prior_gamma),
        }


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
