"""OB2RMK: two buffers of points with a Gaussian posterior over their weights, and one step on a new example."""

from __future__ import annotations

from typing import NamedTuple, TypeVar, cast

import numpy as np
from scipy.linalg import lapack

from lopsided.bayes.batch import BatchFit, fitted
from lopsided.bayes.kernel_pool import KernelPool
from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.arithmetic.products import LOWER, UPPER, WHOLE, multiply, transpose
from lopsided.core.bayesian.buffers import NOBODY, choose_columns, grown_covariance
from lopsided.core.bayesian.directions import explain, fill_factor, orthonormal
from lopsided.core.bayesian.step import (
    NEWEST,
    V_OF_A,
    VARIANCE,
    StepPlan,
    StepProblem,
    empty_step_state,
    run_step,
)

_Array = TypeVar("_Array", Floats, Integers)

_NO_NUMBER = np.zeros(1, dtype=np.int64)
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
    laws = (fit.m_a.copy(), fit.covariance_of_a(), fit.m_be.copy(), fit.Sigma_be.copy())
    posterior = Posterior(X.copy(), y.copy(), *laws, numbers.copy())
    for sign in (1.0, -1.0):
        while np.count_nonzero(posterior.signs == sign) > budget:
            posterior = without(posterior, worst(posterior, sign))
    return posterior


def refitted(posterior: Posterior, pool: KernelPool, sweeps: int, tol: float) -> tuple[Posterior, Floats]:
    """The posterior of a batch fit on what the buffers hold, both classes, and the scores it gives them."""
    K, weights = pool.matrices(posterior.points, posterior.points), np.ones(posterior.signs.size)
    fit, _, _ = fitted(K, posterior.signs, weights, max_sweeps=sweeps, tol=tol, with_bounds=False)
    return posterior._replace(
        m_a=fit.m_a, Sigma_a=fit.covariance_of_a(), m_be=fit.m_be, Sigma_be=fit.Sigma_be
    ), fit.scores


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


class Meeting(NamedTuple):
    """An example and what the model says of it, and of all that a step needs.

    `kernels` is W' (R x n), between a step's columns and the points, those of the example first; `products` W'Sigma_a.
    """

    x: Floats
    signs: Floats
    chosen: Integers
    leaving: int
    kernels: Floats
    products: Floats

    def of_example(self, P: int) -> tuple[Floats, Floats]:
        """The kernels of the example, and their products with the covariance."""
        return self.kernels[:P], self.products[:P]


def met(posterior: Posterior, pool: KernelPool, x: Floats, sign: float, budget: int, n_neighbors: int) -> Meeting:
    """The columns of a step. The example still sees who will leave, the other columns do not any more."""
    neighbors = min(n_neighbors, posterior.signs.size)
    chosen, distances = np.empty(neighbors, dtype=np.int64), np.empty(neighbors)
    columns, signs = np.empty((neighbors + 2, x.size)), np.empty(neighbors + 2)
    count, leaving = choose_columns(
        posterior.points, posterior.signs, posterior.m_a, x, sign, budget, chosen, distances, columns, signs
    )
    kernels = pool.rows(columns[:count], posterior.points)
    if leaving != NOBODY:
        kernels[1:, :, leaving] = 0.0
    kernels = kernels.reshape(count * pool.size, -1)
    return Meeting(x, signs[:count], chosen, leaving, kernels, _product(kernels, posterior.Sigma_a))


def stepped(posterior: Posterior, pool: KernelPool, plan: StepPlan, meeting: Meeting) -> Posterior:
    """The posterior after one more example; the arrays of the meeting are used up."""
    P, leaving = pool.size, meeting.leaving
    newest = _newest(pool, meeting)
    if leaving != NOBODY:
        of_example, products = meeting.of_example(P)
        products -= of_example[:, leaving, None] * posterior.Sigma_a[leaving]
        of_example[:, leaving] = 0.0
    if (meeting.signs == meeting.signs[0]).all():
        n = posterior.m_a.size
        return _grown(posterior, meeting, posterior.m_a, 0.0, np.zeros((n, n)), np.zeros(n), 1.0)
    kernels, products = meeting.kernels, meeting.products
    with np.errstate(invalid="ignore", over="ignore"):  # a step that is not finite is left out by the caller
        U, diagonal, left = _directions(_product(products, _transposed(kernels), UPPER))
        before, Q = kernels @ posterior.m_a, P + 1
        room_for_prior = np.empty((Q, Q)), np.empty(Q)
        problem = StepProblem(U, diagonal, left, newest, U @ newest, before, meeting.signs, *room_for_prior)
        state, moves = empty_step_state(P, meeting.signs.size, diagonal.size), np.empty((2, newest.size))
        if run_step(problem, plan, state, posterior.m_be, posterior.Sigma_be, moves) < 0:
            raise FloatingPointError("A precision matrix of the step is not positive definite.")
        h, change = moves @ products
    rows, levels = _product(U, products), state.levels
    explain(rows, levels.item(V_OF_A), state.pivots, state.ratios)
    explained = _product(_transposed(rows), rows, LOWER)
    if not np.isfinite(state.m_be).all():
        raise FloatingPointError("The law of the kernels is not finite.")
    learned = _grown(
        posterior, meeting, posterior.m_a + change, levels.item(NEWEST), explained, h, levels.item(VARIANCE)
    )
    return learned._replace(m_be=state.m_be, Sigma_be=state.Sigma_be)


def _product(left: Floats, right: Floats, part: int = WHOLE) -> Floats:
    product = np.empty((left.shape[0], right.shape[1]))
    multiply(left, right, part, product)
    return product


def _transposed(matrix: Floats) -> Floats:
    transposed = np.empty(matrix.shape[::-1])
    transpose(matrix, transposed)
    return transposed


def _newest(pool: KernelPool, meeting: Meeting) -> Floats:
    """The kernels between the example and the columns of its step."""
    P, kernels = pool.size, meeting.kernels
    newest = np.empty((meeting.signs.size, P))
    newest[0] = pool.rows(meeting.x[None], meeting.x[None])[0, :, 0]
    opposites = meeting.signs.size - (1 if meeting.leaving == NOBODY else 2)
    newest[1 : opposites + 1] = kernels[:P, meeting.chosen[:opposites]].T
    if meeting.leaving != NOBODY:
        newest[-1] = kernels[:P, meeting.leaving]
    return newest.ravel()


def _grown(
    posterior: Posterior, meeting: Meeting, m_old: Floats, mean: float, explained: Floats, h: Floats, variance: float
) -> Posterior:
    """With the example as the newest point, and without the one that leaves."""
    leaving = meeting.leaving
    n = h.size + (1 if leaving == NOBODY else 0)
    covariance = np.empty((n, n))
    is_finite = grown_covariance(posterior.Sigma_a, explained, h, variance, leaving, covariance)
    if not (is_finite and np.isfinite(m_old).all()):
        raise FloatingPointError("The law of the weights is not finite.")
    return posterior._replace(
        points=_shifted(posterior.points, leaving, meeting.x[None]),
        signs=_shifted(posterior.signs, leaving, meeting.signs[:1]),
        m_a=_shifted(m_old, leaving, np.array([mean])),
        Sigma_a=covariance,
        numbers=_shifted(posterior.numbers, leaving, _NO_NUMBER),  # whoever knows the row writes it there
    )


def _shifted(array: _Array, leaving: int, newest: _Array) -> _Array:
    """Without one, and with another at the end."""
    if leaving == NOBODY:
        return cast(_Array, np.concatenate((array, newest)))
    return cast(_Array, np.concatenate((array[:leaving], array[leaving + 1 :], newest)))


def _directions(H: Floats) -> tuple[Floats, Floats, Floats]:
    """U', and the diagonal and what is left of it of T, of H = U T U', without the directions in which H is 0.

    What is below the diagonal of H is not read.
    About half of them are: a Cholesky factor with pivots finds them for a tenth of what an eigen-decomposition costs.
    """
    # A symmetric matrix is its own transpose, and LAPACK, which counts along columns, need not copy that.
    factor, pivots, rank, _ = lapack.dpstrf(H.T, tol=_DEPENDENT * float(H.diagonal().max()), lower=1)
    L, diagonal, left = np.empty((rank, H.shape[0])), np.empty(rank), np.empty(rank)
    fill_factor(factor, pivots, L)
    if rank < 2:
        orthonormal(np.einsum("ij,ij->i", L, L), left, L, diagonal, left)
        return L, diagonal, left
    reflections, along, beside, scales, _ = lapack.dsytrd((L @ L.T).T, lower=1)
    Q, _, _ = lapack.dorgqr(reflections[1:, :-1], scales)
    U = np.empty_like(L)
    U[0] = L[0]
    np.matmul(Q.T, L[1:], out=U[1:])
    orthonormal(along, beside, U, diagonal, left)
    return U, diagonal, left
