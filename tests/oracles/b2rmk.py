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
