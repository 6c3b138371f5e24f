"""OB2RMK: two buffers of points with a Gaussian posterior over their weights, and one step on a new example."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.spatial.distance import cdist

from lopsided.bayes.batch import BatchFit, fitted
from lopsided.bayes.kernel_pool import KernelPool
from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.bayesian.step import (
    ETA,
    FROM_SCORES,
    INVERSE_SCALE,
    NEWEST,
    PHI,
    V_OF_A,
    VARIANCE,
    XI,
    C,
    StepPlan,
    StepProblem,
    StepState,
    V,
    empty_step_state,
    grown_covariance,
    iterate,
)

_DROPPED = 1e-7  # directions in which the columns say less than this about the old weights
_DEPENDENT = 1e-13  # of the largest: what is left of a column that the others explain


class Posterior(NamedTuple):
    """The points of both buffers in the order in which they came, their labels, and the laws of a and (b, e).

    `numbers` say which row each point is, counted from 1 over the rows learned; 0 where nobody knows.
    """

    points: Floats
    signs: Floats
    m_a: Floats
    Sigma_a: Floats
    m_be: Floats
    Sigma_be: Floats
    numbers: Integers


def scores_of(posterior: Posterior, pool: KernelPool, X: Floats) -> Floats:
    """f(x) = <a>' sum_m <e_m> k_m(., x) + <b>"""
    if posterior.points.shape[0] == 0:
        return np.full(X.shape[0], float(posterior.m_be[0]))
    return combined(pool, X, posterior.points, posterior.m_a, posterior.m_be)


def combined(pool: KernelPool, X: Floats, points: Floats, m_a: Floats, m_be: Floats) -> Floats:
    """The same of parts; where an enormous input has no finite kernel value it is 0."""
    with np.errstate(invalid="ignore"):
        said = pool.matrices(X, points) @ m_a
        scores = m_be[1:] @ said + m_be[0]
    return np.nan_to_num(scores, nan=0.0)


def begun(fit: BatchFit, X: Floats, y: Floats, numbers: Integers, budget: int) -> Posterior:
    """All points of a batch fit, which are rows of these numbers, enter the buffers; each is cut down to its budget."""
    laws = (fit.m_a.copy(), fit.Sigma_a.copy(), fit.m_be.copy(), fit.Sigma_be.copy())
    posterior = Posterior(X.copy(), y.copy(), *laws, numbers.copy())
    for sign in (1.0, -1.0):
        while np.count_nonzero(posterior.signs == sign) > budget:
            posterior = without(posterior, worst(posterior, sign))
    return posterior


def refitted(posterior: Posterior, pool: KernelPool, sweeps: int, tol: float) -> tuple[Posterior, Floats]:
    """The posterior of a batch fit on what the buffers hold, both classes, and the scores it gives them."""
    K, weights = pool.matrices(posterior.points, posterior.points), np.ones(posterior.signs.size)
    fit, _, _ = fitted(K, posterior.signs, weights, max_sweeps=sweeps, tol=tol, with_bounds=False)
    return posterior._replace(m_a=fit.m_a, Sigma_a=fit.Sigma_a, m_be=fit.m_be, Sigma_be=fit.Sigma_be), fit.scores


def worst(posterior: Posterior, sign: float) -> int:
    """The member of a buffer that speaks least for its class, the first of equals."""
    members = np.flatnonzero(posterior.signs == sign)
    return int(members[np.argmin(sign * posterior.m_a[members])])


def without(posterior: Posterior, r: int) -> Posterior:
    """The same with one point's weight integrated out."""
    n = posterior.m_a.size - 1
    Sigma = np.empty((n, n))
    Sigma[:r, :r], Sigma[:r, r:] = posterior.Sigma_a[:r, :r], posterior.Sigma_a[:r, r + 1 :]
    Sigma[r:, :r], Sigma[r:, r:] = posterior.Sigma_a[r + 1 :, :r], posterior.Sigma_a[r + 1 :, r + 1 :]
    return posterior._replace(
        points=np.delete(posterior.points, r, axis=0),
        signs=np.delete(posterior.signs, r),
        m_a=np.delete(posterior.m_a, r),
        Sigma_a=Sigma,
        numbers=np.delete(posterior.numbers, r),
    )


def stepped(
    posterior: Posterior, pool: KernelPool, plan: StepPlan, x: Floats, sign: float, budget: int, n_neighbors: int
) -> Posterior:
    """The posterior after one more example."""
    others = np.flatnonzero(posterior.signs != sign)
    distances = cdist(x[None], posterior.points[others], "sqeuclidean")[0]
    nearest = posterior.points[others[np.argsort(distances, kind="stable")[:n_neighbors]]]
    columns, signs = np.vstack([x[None], nearest]), np.concatenate([[sign], np.full(len(nearest), -sign)])
    if np.count_nonzero(posterior.signs == sign) >= budget:
        leaving = worst(posterior, sign)
        columns, signs = np.vstack([columns, posterior.points[leaving]]), np.append(signs, sign)
        posterior = without(posterior, leaving)
    if len(nearest) == 0:
        n = posterior.m_a.size
        covariance = np.zeros((n + 1, n + 1))
        covariance[:n, :n], covariance[n, n] = posterior.Sigma_a, 1.0
        return _appended(posterior, x, sign, posterior.m_a, 0.0, covariance)
    return _learned(posterior, pool, plan, x, sign, columns, signs)


def _appended(posterior: Posterior, x: Floats, sign: float, m_old: Floats, mean: float, Sigma_a: Floats) -> Posterior:
    return posterior._replace(
        points=np.vstack([posterior.points, x[None]]),
        signs=np.append(posterior.signs, sign),
        m_a=np.append(m_old, mean),
        Sigma_a=Sigma_a,
        numbers=np.append(posterior.numbers, 0),  # whoever knows the row writes it there
    )


def _learned(
    posterior: Posterior, pool: KernelPool, plan: StepPlan, x: Floats, sign: float, columns: Floats, signs: Floats
) -> Posterior:
    P, Nt = pool.size, signs.size
    # W'[(m, i), n] = k_m(point n, column i), and the same for the newest point.
    kernels = pool.matrices(columns, np.vstack([posterior.points, x[None]])).reshape(P * Nt, -1)
    transposed_W, newest = kernels[:, :-1], np.ascontiguousarray(kernels[:, -1])
    transposed_A = transposed_W @ posterior.Sigma_a
    with np.errstate(invalid="ignore", over="ignore"):  # a step that is not finite is left out by the caller
        U, D = _directions(transposed_A @ transposed_W.T)
    before = transposed_W @ posterior.m_a
    precision_be = scipy.linalg.inv(posterior.Sigma_be, check_finite=False)
    precision_be = 0.5 * (precision_be + precision_be.T)
    problem = StepProblem(U, D, newest, newest @ U, before, signs, precision_be, precision_be @ posterior.m_be)
    state = empty_step_state(P, Nt)
    _start(state, plan, posterior, before.reshape(P, Nt), signs)
    if iterate(problem, plan, state) < 0:
        raise FloatingPointError("A precision matrix of the step is not positive definite.")
    levels = state.levels
    v, w = levels[V_OF_A], levels[VARIANCE]
    q = 1.0 / (1.0 + v * D)
    heard = v * D * q  # 1 - q; beyond U it is 0, and all of a column's say is kept
    h = -v * ((newest - U @ (heard * problem.newest_hat)) @ transposed_A)
    m_old = posterior.m_a + v * ((state.direction - U @ (heard * state.direction_hat[: D.size])) @ transposed_A)
    kept = v * D >= _DROPPED
    B = transposed_A.T @ (U[:, kept] * np.sqrt(v * q[kept]))
    covariance = np.empty((h.size + 1, h.size + 1))
    grown_covariance(posterior.Sigma_a, B @ B.T, h, float(w), covariance)
    learned = _appended(posterior, x, sign, m_old, float(levels[NEWEST]), covariance)
    return learned._replace(m_be=state.m_be, Sigma_be=state.Sigma_be)


def _directions(H: Floats) -> tuple[Floats, Floats]:
    """U and D of H = U D U', without the directions in which H is 0.

    About half of them are: a Cholesky factor with pivots finds them for a tenth of what an eigen-decomposition costs.
    """
    factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(H, tol=_DEPENDENT * float(H.diagonal().max()), lower=1)
    L = np.empty((H.shape[0], rank))
    L[pivots - 1] = np.tril(factor[:, :rank])
    D, V = np.linalg.eigh(L.T @ L)
    D = np.maximum(D, np.finfo(np.float64).tiny)
    return L @ (V / np.sqrt(D)), D


def _start(state: StepState, plan: StepPlan, posterior: Posterior, said: Floats, signs: Floats) -> None:
    """From the current scores of the columns, or from their labels."""
    levels = state.levels
    state.m_be[:], state.Sigma_be[:] = posterior.m_be, posterior.Sigma_be
    state.Z[:] = said
    levels[[XI, PHI, ETA, INVERSE_SCALE]] = 1.0
    if plan.start == FROM_SCORES:
        levels[V] = levels[C] = 1.0
        state.M_G[:] = said
        state.m_f[:], state.s_f[:] = posterior.m_be[1:] @ said + posterior.m_be[0], 1.0
    else:
        levels[V], levels[C] = plan.v_shape / plan.v_rate, plan.c_shape / plan.c_rate
        state.M_G[:] = signs
        state.m_f[:], state.s_f[:] = signs, 1.0
    np.fill_diagonal(state.Sigma_g, 1.0 / levels[V])
