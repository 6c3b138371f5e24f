"""B2RMK: sweeps over all factors of the posterior, each of which raises the evidence lower bound.

A factor is updated by its own method, in the order of `sweep`; the equations stand beside them. S = sum_m K_m K_m is
made once; of the N^3 work of a sweep only one Cholesky inverse is left.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from lopsided.bayes.laws import LOG_2PI, Gamma, Shrinkage
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.arithmetic.small_matrices import mirror_lower

_SMALLEST_SQUARE = 1e-20
_SMALL_TRIANGLE = 64
# (shape, rate) of the priors of the precisions, and (alpha, beta) of the two hierarchies, of examples and of kernels.
_PRIOR_OF_V = _PRIOR_OF_C = (1e2, 1e-2)
_PRIOR_OF_GAMMA = (1e-2, 1e-2)
HORSESHOE = (0.5, 0.5)
Pair = tuple[float, float]


def inverse_and_log_determinant(precision: Floats) -> tuple[Floats, float]:
    """The covariance of a precision, and log of its determinant."""
    factor, log_determinant = _factor_and_log_determinant(precision)
    covariance, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    result = np.ascontiguousarray(covariance)
    mirror_lower(result)
    return result, log_determinant


def inverse_root_and_log_determinant(precision: Floats) -> tuple[Floats, float]:
    """A triangle R of which R'R is the covariance, for half of what that costs, and log of its determinant."""
    factor, log_determinant = _factor_and_log_determinant(precision)
    root = np.zeros(precision.shape)
    _invert_triangle(factor, root)
    return root, log_determinant


def _factor_and_log_determinant(precision: Floats) -> tuple[Floats, float]:
    """The lower Cholesky factor, and -log of its squared determinant; a failing one gets one small push."""
    # A symmetric matrix is its own transpose, and LAPACK, which counts along columns, need not copy that.
    factor, failed = lapack.dpotrf(precision.T, lower=1)
    if failed:
        n = precision.shape[0]
        pushed = precision + 1e-10 * np.trace(precision) / n * np.eye(n)
        factor, failed = lapack.dpotrf(pushed.T, lower=1, overwrite_a=1)
        if failed:
            raise FloatingPointError("A precision matrix is not positive definite: the kernel values are not finite.")
    return factor, -2.0 * float(np.sum(np.log(np.diagonal(factor))))


def _invert_triangle(factor: Floats, inverse: Floats) -> None:
    """By halves, whose products are what linear algebra libraries are fast at; `inverse` comes with zeros."""
    n = factor.shape[0]
    if n <= _SMALL_TRIANGLE:
        inverse[:], _ = lapack.dtrtri(factor, lower=1)
        return
    half = n // 2
    _invert_triangle(factor[:half, :half], inverse[:half, :half])
    _invert_triangle(factor[half:, half:], inverse[half:, half:])
    inverse[half:, :half] = inverse[half:, half:] @ (factor[half:, :half] @ -inverse[:half, :half])


class BatchFit:
    """The posterior of one training set. A pair costs C times the weights of its positive and its negative."""

    def __init__(
        self, K: Floats, y: Floats, weights: Floats, C: float = 1.0, priors: tuple[Pair, Pair] = (HORSESHOE, HORSESHOE)
    ) -> None:
        self.P, self.N = K.shape[0], y.size
        # Every K_m is symmetric: a row of all of them side by side is a column of them one below the other.
        side_by_side = np.ascontiguousarray(K.transpose(1, 0, 2))
        self._K = side_by_side.reshape(self.N * self.P, self.N)
        side_by_side = side_by_side.reshape(self.N, self.P * self.N)
        self.S = side_by_side @ side_by_side.T
        self.positives, self.negatives = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
        self.C = C * np.outer(weights[self.positives], weights[self.negatives])
        P, N = self.P, self.N
        # Deterministic start.
        self.M_G, self.Sigma_g, self._log_det_g = np.tile(y, (P, 1)), np.eye(P), 0.0
        self.m_f, self.s_f = y.astype(np.float64), np.ones(N)
        self.m_be, self.Sigma_be = np.concatenate([[0.0], np.full(P, 1.0 / P)]), np.eye(P + 1) / P**2
        self.of_a, self.of_e = Shrinkage(N, *priors[0]), Shrinkage(P, *priors[1])
        self.v, self.c, self.gamma = Gamma(1.0, 1.0), Gamma(1.0, 1.0), Gamma(1.0, 1.0)
        self.update_theta()

    def sweep(self) -> None:
        """Update every factor once."""
        self.update_a()
        self.of_a.update(self._squares_of_a())
        self.update_v()
        self.update_g()
        self.update_be()
        self.of_e.update(np.diagonal(self._ee()))
        self.update_gamma()
        self.update_c()
        self.update_f()
        self.update_theta()

    def covariance_of_a(self) -> Floats:
        """Sigma_a, of which a sweep needs the diagonal only."""
        return self._root_a.T @ self._root_a

    @property
    def scores(self) -> Floats:
        """Of the training points: <e>'Z + <b>."""
        return np.asarray(self.m_be[1:] @ self.Z + self.m_be[0])

    # -------------------------------------------------------------------- factors

    def update_a(self) -> None:
        """Sigma_a = (<v> S + diag<1/lambda>)^-1,  m_a = <v> Sigma_a sum_m K_m M_G[m]."""
        v = self.v.mean
        precision = v * self.S
        precision.flat[:: self.N + 1] += self.of_a.mean_inverse
        self._root_a, self._log_det_a = inverse_root_and_log_determinant(precision)
        self.m_a = v * (self._root_a.T @ (self._root_a @ (self.M_G.T.ravel() @ self._K)))
        self.Z = np.ascontiguousarray((self._K @ self.m_a).reshape(self.N, self.P).T)
        self._variances_of_a = np.einsum("ij,ij->j", self._root_a, self._root_a)
        # Sigma_a (<v> S + diag<1/lambda>) is the identity, whose trace is N.
        self._trace_of_S = (self.N - float(self._variances_of_a @ self.of_a.mean_inverse)) / v

    def update_v(self) -> None:
        """Ga(alpha + P N / 2, beta + <|G - Z|^2> / 2)"""
        self.v = Gamma(_PRIOR_OF_V[0] + 0.5 * self.P * self.N, _PRIOR_OF_V[1] + 0.5 * self._misfit_of_g())

    def update_g(self) -> None:
        """Sigma_g = (<c> <e e'> + <v> I)^-1,  M_G[:, i] = Sigma_g (<c> (<f_i> <e> - <b e>) + <v> Z[:, i])."""
        c, v = self.c.mean, self.v.mean
        self.Sigma_g, self._log_det_g = inverse_and_log_determinant(c * self._ee() + v * np.eye(self.P))
        pull = np.outer(self.m_be[1:], self.m_f) - self._be()[:, None]
        self.M_G = self.Sigma_g @ (c * pull + v * self.Z)

    def update_be(self) -> None:
        """Coordinate 0 is b: precision <c> [[N, 1'G'], [G1, GG']] + diag(<gamma>, <1/omega>)."""
        c = self.c.mean
        precision = np.empty((self.P + 1, self.P + 1))
        precision[0, 0] = self.N
        precision[0, 1:] = precision[1:, 0] = self.M_G.sum(axis=1)
        precision[1:, 1:] = self._gg()
        precision *= c
        precision.flat[:: self.P + 2] += np.concatenate([[self.gamma.mean], self.of_e.mean_inverse])
        self.Sigma_be, self._log_det_be = inverse_and_log_determinant(precision)
        self.m_be = c * (self.Sigma_be @ np.concatenate([[self.m_f.sum()], self.M_G @ self.m_f]))

    def update_gamma(self) -> None:
        """Ga(alpha + 1/2, beta + <b^2> / 2)"""
        self.gamma = Gamma(_PRIOR_OF_GAMMA[0] + 0.5, _PRIOR_OF_GAMMA[1] + 0.5 * self._b2())

    def update_c(self) -> None:
        """Ga(alpha + N / 2, beta + <|f - G'e - b|^2> / 2)"""
        self.c = Gamma(_PRIOR_OF_C[0] + 0.5 * self.N, _PRIOR_OF_C[1] + 0.5 * self._misfit_of_f())

    def update_f(self) -> None:
        """Positives first, then negatives from the new positives; W_ij = C_ij^2 <1/theta_ij>."""
        c, i, j, m = self.c.mean, self.positives, self.negatives, self.m_f
        W = self.C / np.sqrt(self.chi)
        expected = c * (self.m_be[1:] @ self.M_G + self.m_be[0])
        self.s_f[i] = 1.0 / (c + W.sum(axis=1))
        m[i] = self.s_f[i] * (self.C.sum(axis=1) + W @ (m[j] + 1.0) + expected[i])
        self.s_f[j] = 1.0 / (c + W.sum(axis=0))
        m[j] = self.s_f[j] * (-self.C.sum(axis=0) + (m[i] - 1.0) @ W + expected[j])

    def update_theta(self) -> None:
        """GIG(1/2, 1, C_ij^2 <u_ij^2>): only chi_ij = <u_ij^2> is ever needed."""
        self.chi = self._u2()

    # -------------------------------------------------------------------- expectations

    def _squares_of_a(self) -> Floats:
        return self.m_a**2 + self._variances_of_a

    def _ee(self) -> Floats:
        return self.Sigma_be[1:, 1:] + np.outer(self.m_be[1:], self.m_be[1:])

    def _be(self) -> Floats:
        return self.Sigma_be[0, 1:] + self.m_be[0] * self.m_be[1:]

    def _b2(self) -> float:
        return float(self.Sigma_be[0, 0] + self.m_be[0] ** 2)

    def _gg(self) -> Floats:
        return self.N * self.Sigma_g + self.M_G @ self.M_G.T

    def _u(self) -> Floats:
        return 1.0 - self.m_f[self.positives][:, None] + self.m_f[self.negatives][None, :]

    def _u2(self) -> Floats:
        spread = self.s_f[self.positives][:, None] + self.s_f[self.negatives][None, :]
        return np.maximum(self._u() ** 2 + spread, _SMALLEST_SQUARE)

    def _misfit_of_g(self) -> float:
        return float(np.sum((self.M_G - self.Z) ** 2) + self.N * np.trace(self.Sigma_g)) + self._trace_of_S

    def _misfit_of_f(self) -> float:
        m = self.m_f
        total = np.sum(self.s_f + m**2) - 2.0 * np.sum(m * (self.m_be[1:] @ self.M_G + self.m_be[0]))
        total += np.vdot(self._ee(), self._gg()) + 2.0 * self._be() @ self.M_G.sum(axis=1)
        return float(total + self.N * self._b2())

    # -------------------------------------------------------------------- the bound

    def bound(self) -> float:
        """The evidence lower bound; no update may lower it."""
        C, chi, N, P = self.C, self.chi, self.N, self.P
        root = np.sqrt(chi)
        pairs = float(np.sum(C * (-self._u() - root + 0.5 * (chi - self._u2()) / root)))
        f = 0.5 * N * (self.c.mean_log - LOG_2PI) - 0.5 * self.c.mean * self._misfit_of_f()
        f += 0.5 * float(np.sum(np.log(self.s_f) + LOG_2PI + 1.0))
        G = 0.5 * N * P * (self.v.mean_log - LOG_2PI) - 0.5 * self.v.mean * self._misfit_of_g()
        G += 0.5 * N * (P * (1.0 + LOG_2PI) + self._log_det_g)
        entropies = 0.5 * (N * (1.0 + LOG_2PI) + self._log_det_a + (P + 1) * (1.0 + LOG_2PI) + self._log_det_be)
        b = 0.5 * (self.gamma.mean_log - LOG_2PI) - 0.5 * self.gamma.mean * self._b2()
        precisions = self.v.bound(*_PRIOR_OF_V) + self.c.bound(*_PRIOR_OF_C) + self.gamma.bound(*_PRIOR_OF_GAMMA)
        hierarchies = self.of_a.bound(self._squares_of_a()) + self.of_e.bound(np.diagonal(self._ee()))
        return float(pairs + f + G + entropies + b + precisions + hierarchies)


def fitted(
    K: Floats,
    y: Floats,
    weights: Floats,
    *,
    C: float = 1.0,
    priors: tuple[Pair, Pair] = (HORSESHOE, HORSESHOE),
    max_sweeps: int = 200,
    tol: float = 1e-5,
    with_bounds: bool = True,
) -> tuple[BatchFit, list[float], bool]:
    """Sweep until no training score moves by more than tol times their range; the fit, the bounds, whether it did.

    The bounds take a fifth of the time and change nothing.
    """
    fit = BatchFit(K, y, weights, C, priors)
    bounds: list[float] = []
    before: Floats | None = None
    for _ in range(max_sweeps):
        fit.sweep()
        if with_bounds:
            bounds.append(fit.bound())
        now = fit.scores
        if before is not None and float(np.abs(now - before).max()) < tol * max(1.0, float(np.ptp(now))):
            return fit, bounds, True
        before = now
    return fit, bounds, False
