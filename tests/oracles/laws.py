"""What the Bayesian rankers are made of: kernels of length one, gamma and inverse Gaussian laws, Gaussians, weights."""

import math

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import gammaln, kve, psi

LOG_2PI = math.log(2.0 * math.pi)

# ---- Section 1: kernels ----


def gaussian(width):
    """exp(-|x - z|^2 / (2 s^2))"""

    def kernel(x, z):
        return np.exp(-np.sum((x - z) ** 2, axis=-1) / (2.0 * width**2))

    return kernel


def polynomial(degree):
    """rho^q, rho = (1 + x.z) / sqrt((1 + |x|^2)(1 + |z|^2))"""

    def kernel(x, z):
        xx, zz = 1.0 + np.sum(x * x, axis=-1), 1.0 + np.sum(z * z, axis=-1)
        return ((1.0 + np.sum(x * z, axis=-1)) / np.sqrt(xx * zz)) ** degree

    return kernel


def bayes_kernels():
    """13 Gaussians of width 2^-6 ... 2^6, then 5 polynomials by degree; k(x, x) = 1."""
    return [gaussian(2.0**j) for j in range(-6, 7)] + [polynomial(q) for q in range(1, 6)]


def kernel_matrices(kernels, points, columns):
    """K_m[n, i] = k_m(point n, column i), a list of P matrices."""
    points, columns = np.asarray(points, dtype=float), np.asarray(columns, dtype=float)
    return [np.asarray(k(points[:, None, :], columns[None, :, :]), dtype=float) for k in kernels]


# ---- Sections 1, 4, 6, 10: laws and matrices ----


class Gamma:
    """Ga(shape, rate), or a vector of them."""

    def __init__(self, shape, rate):
        self.shape, self.rate = shape, rate

    @property
    def mean(self):
        return self.shape / self.rate

    @property
    def mean_log(self):
        return psi(self.shape) - np.log(self.rate)

    def entropy(self):
        s, r = self.shape, self.rate
        return s - np.log(r) + gammaln(s) + (1.0 - s) * psi(s)


def unit_mean(n=None):
    """What is known of a Gamma factor before its first update: <x> = 1."""
    return Gamma(1.0, 1.0) if n is None else Gamma(np.ones(n), np.ones(n))


def expected_log_gamma(x, shape, mean_rate, mean_log_rate):
    """E log Ga(x | s, r) = s <log r> - lnGamma(s) + (s - 1) <log x> - <r> <x>"""
    return shape * mean_log_rate - gammaln(shape) + (shape - 1.0) * x.mean_log - mean_rate * x.mean


class GIG:
    """Density ~ x^(p-1) exp(-(A x + B / x) / 2), or a vector of them."""

    def __init__(self, p, A, B):
        self.p, self.A, self.B = p, np.maximum(A, 1e-300), np.maximum(B, 1e-300)
        self.s = np.maximum(np.sqrt(self.A) * np.sqrt(self.B), 1e-150)

    def _ratio(self, q):
        """K_q(s) / K_p(s); beyond 1e5 the first two terms of the expansion."""
        small = np.minimum(self.s, 1e5)
        return np.where(self.s > 1e5, 1.0 + (q**2 - self.p**2) / (2.0 * self.s), kve(q, small) / kve(self.p, small))

    @property
    def mean(self):
        if self.p == 0.5:
            return (1.0 + self.s) / self.A
        return np.sqrt(self.B) / np.sqrt(self.A) * self._ratio(self.p + 1.0)

    @property
    def mean_inverse(self):
        if self.p == 0.5:
            return np.sqrt(self.A) / np.sqrt(self.B)
        return np.sqrt(self.A) / np.sqrt(self.B) * self._ratio(self.p - 1.0)

    def log_normalizer(self):
        """log Zgig = log(2 K_p(s)) + p/2 log(B / A); the second term of log K_p keeps it smooth at s = 1e5."""
        p, s = self.p, self.s
        large = np.log(math.pi / (2.0 * s)) / 2.0 - s + np.log1p((4.0 * p**2 - 1.0) / (8.0 * np.maximum(s, 1e5)))
        log_K = np.where(s > 1e5, large, np.log(kve(p, np.minimum(s, 1e5))) - s)
        return math.log(2.0) + log_K + p / 2.0 * (np.log(self.B) - np.log(self.A))


def inverse(A):
    """Of a precision or covariance, through its Cholesky factor; 1e-10 trace/n on the diagonal once if that fails."""
    n = len(A)
    try:
        factor = cho_factor(A, lower=True)
    except np.linalg.LinAlgError:
        factor = cho_factor(A + 1e-10 * np.trace(A) / n * np.eye(n), lower=True)
    B = cho_solve(factor, np.eye(n))
    return (B + B.T) / 2.0


def log_det(A):
    return 2.0 * float(np.sum(np.log(np.diag(np.linalg.cholesky(A)))))


def gaussian_entropy(Sigma):
    """(n (1 + log 2 pi) + log|Sigma|) / 2"""
    return (len(Sigma) * (1.0 + LOG_2PI) + log_det(Sigma)) / 2.0


def expected_log_gaussian(m, Sigma, m0, Sigma0):
    """E log N(x | m0, Sigma0) under N(m, Sigma)."""
    P0 = inverse(Sigma0)
    quadratic = np.trace(P0 @ Sigma) + (m - m0) @ P0 @ (m - m0)
    return -(len(m) * LOG_2PI + log_det(Sigma0) + quadratic) / 2.0


class Hierarchy:
    """TPBN prior of a vector x of length n: x_i ~ N(0, lambda_i), ... (sections 2, 4, 6). All means start at 1.

    scale is q(lambda), rate q(xi), top q(phi), top_rate q(eta). Of lambda only <1/lambda> is known at the start.
    """

    def __init__(self, n, alpha, beta):
        self.n, self.alpha, self.beta = n, alpha, beta
        self.scale = None
        self.rate, self.top, self.top_rate = unit_mean(n), unit_mean(), unit_mean()

    @property
    def mean_inverse_scale(self):
        return np.ones(self.n) if self.scale is None else self.scale.mean_inverse

    def update_scale(self, x2):
        """q(lambda_i) = GIG(alpha - 1/2, 2 <xi_i>, x2_i)"""
        self.scale = GIG(self.alpha - 0.5, 2.0 * self.rate.mean, x2)

    def update_rate(self):
        """q(xi_i) = Ga(alpha + beta, <phi> + <lambda_i>)"""
        self.rate = Gamma(np.full(self.n, self.alpha + self.beta), self.top.mean + self.scale.mean)

    def update_top(self):
        """q(phi) = Ga(1/2 + n beta, <eta> + sum_i <xi_i>)"""
        self.top = Gamma(0.5 + self.n * self.beta, self.top_rate.mean + np.sum(self.rate.mean))

    def update_top_rate(self):
        """q(eta) = Ga(1, 1 + <phi>)"""
        self.top_rate = Gamma(1.0, 1.0 + self.top.mean)

    def bound(self, x2):
        """Its part of the lower bound, E log N(x | 0, lambda) included."""
        alpha, lam = self.alpha, self.scale
        total = 0.0
        total += np.sum(-LOG_2PI / 2.0 + alpha * self.rate.mean_log - gammaln(alpha) + lam.log_normalizer())
        total += np.sum((lam.A / 2.0 - self.rate.mean) * lam.mean)
        total += np.sum((lam.B - x2) * lam.mean_inverse / 2.0)
        total += np.sum(expected_log_gamma(self.rate, self.beta, self.top.mean, self.top.mean_log))
        total += np.sum(self.rate.entropy())
        total += expected_log_gamma(self.top, 0.5, self.top_rate.mean, self.top_rate.mean_log) + self.top.entropy()
        total += expected_log_gamma(self.top_rate, 0.5, 1.0, 0.0) + self.top_rate.entropy()
        return float(total)
