"""The inner loop of an online Bayesian step, in the space of what the step's columns say.

The n old weights a have the prior N(m_t, S_t). All that the loop needs of them is W'a for the R = P Nt kernel columns
W; with H = W'S_t W = U D U' everything is diagonal in U, and no n x n matrix is inverted. Hats stand for U'. The
columns are nearly dependent, so U has only the r < R directions in which D is not 0: in all others q = 1/(1 + vD) is 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.arithmetic.small_matrices import invert_or_push

FROM_SCORES, FROM_LABEL = range(2)
# Entries of StepState.levels: precisions, the hierarchy of the newest weight, its mean and variance, the trace of
# Sigma_a S, and v as it was when a was updated last.
V, C, XI, PHI, ETA, INVERSE_SCALE, NEWEST, VARIANCE, TRACE, V_OF_A = range(10)
_SMALLEST_SQUARE = 1e-20


class StepProblem(NamedTuple):
    """What is given: U (R x r), D, k* (the newest point's row), W'm_t, the columns' signs, and the prior of (b, e)."""

    U: Floats
    D: Floats
    newest: Floats
    newest_hat: Floats
    before: Floats
    signs: Floats
    precision_be: Floats
    shift_be: Floats


class StepPlan(NamedTuple):
    """The parameters as numbers: priors of v and c by shape and rate, the start, and when to stop."""

    cost: float
    v_shape: float
    v_rate: float
    c_shape: float
    c_rate: float
    start: int
    iterations: int
    tolerance: float


class StepState(NamedTuple):
    """The factors, and scratch."""

    M_G: Floats
    Z: Floats
    Sigma_g: Floats
    m_be: Floats
    Sigma_be: Floats
    m_f: Floats
    s_f: Floats
    levels: Floats
    direction: Floats
    direction_hat: Floats
    weight: Floats
    hat: Floats
    precision: Floats
    copy: Floats
    GG: Floats


def empty_step_state(P: int, columns: int) -> StepState:
    """Room for a step of P kernels and so many columns."""
    R, Q = P * columns, P + 1
    return StepState(
        M_G=np.zeros((P, columns)),
        Z=np.zeros((P, columns)),
        Sigma_g=np.zeros((P, P)),
        m_be=np.zeros(Q),
        Sigma_be=np.zeros((Q, Q)),
        m_f=np.zeros(columns),
        s_f=np.zeros(columns),
        levels=np.zeros(10),
        direction=np.zeros(R),
        direction_hat=np.zeros(R),
        weight=np.zeros((columns, columns)),
        hat=np.zeros(R),
        precision=np.zeros((Q, Q)),
        copy=np.zeros((Q, Q)),
        GG=np.zeros((P, P)),
    )


@compiled
def iterate(problem: StepProblem, plan: StepPlan, state: StepState) -> int:
    """Coordinate updates until the plan says stop; returns how many, or -1 if a matrix could not be inverted."""
    for iteration in range(plan.iterations):
        moved = 0.0
        good = True
        if plan.start == FROM_SCORES:
            _update_theta(problem, plan, state)
            moved = _update_f(problem, plan, state)
            good = _update_g(problem, state)
            _update_a(problem, state)
            _update_scales(state)
            _update_v(problem, plan, state)
            good = _update_be(problem, state) and good
            _update_c(problem, plan, state)
        else:
            _update_a(problem, state)
            _update_scales(state)
            _update_v(problem, plan, state)
            good = _update_g(problem, state)
            good = _update_be(problem, state) and good
            _update_c(problem, plan, state)
            _update_theta(problem, plan, state)
            moved = _update_f(problem, plan, state)
        if not good:
            return -1
        if moved < plan.tolerance:
            return iteration + 1
    return plan.iterations


@compiled
def _update_theta(problem: StepProblem, plan: StepPlan, state: StepState) -> None:
    """W_ij = C / sqrt<u_ij^2> with u = 1 - f_i + f_j, positives by negatives."""
    m, s, signs = state.m_f, state.s_f, problem.signs
    for i in range(signs.size):
        for j in range(signs.size):
            if signs[i] > 0.0 and signs[j] < 0.0:
                square = (1.0 - m[i] + m[j]) ** 2 + s[i] + s[j]
                state.weight[i, j] = plan.cost / math.sqrt(max(square, _SMALLEST_SQUARE))


@compiled
def _update_f(problem: StepProblem, plan: StepPlan, state: StepState) -> float:
    """Positives first, then negatives from the new positives; returns the largest move of a mean."""
    m, signs, c, moved = state.m_f, problem.signs, state.levels[C], 0.0
    for side in range(2):
        y = 1.0 if side == 0 else -1.0
        for i in range(signs.size):
            if signs[i] != y:
                continue
            expected = state.m_be[0]
            for k in range(state.M_G.shape[0]):
                expected += state.m_be[k + 1] * state.M_G[k, i]
            precision, total = c, c * expected
            for j in range(signs.size):
                if signs[j] != y:
                    w = state.weight[i, j] if side == 0 else state.weight[j, i]
                    precision += w
                    total += y * plan.cost + w * (m[j] + y)
            moved = max(moved, abs(total / precision - m[i]))
            m[i], state.s_f[i] = total / precision, 1.0 / precision
    return moved


@compiled
def _update_g(problem: StepProblem, state: StepState) -> bool:
    """Sigma_g = (c <e e'> + v I)^-1,  M_G[:, i] = Sigma_g (c (f_i e - <b e>) + v Z[:, i])."""
    P, c, v = state.M_G.shape[0], state.levels[C], state.levels[V]
    precision, e = state.precision[:P, :P], state.m_be[1:]
    for k in range(P):
        for h in range(P):
            precision[k, h] = c * (state.Sigma_be[k + 1, h + 1] + e[k] * e[h])
        precision[k, k] += v
    if not invert_or_push(precision, state.copy[:P, :P], state.Sigma_g):
        return False
    for i in range(problem.signs.size):
        pull = state.hat[:P]
        for k in range(P):
            be = state.Sigma_be[0, k + 1] + state.m_be[0] * e[k]
            pull[k] = c * (state.m_f[i] * e[k] - be) + v * state.Z[k, i]
        for k in range(P):
            row, total = state.Sigma_g[k], 0.0
            for h in range(P):
                total += row[h] * pull[h]
            state.M_G[k, i] = total
    return True


@compiled
def _update_a(problem: StepProblem, state: StepState) -> None:
    """The newest weight, and what all weights together say in the columns (Z)."""
    U, D, newest, newest_hat, v = problem.U, problem.D, problem.newest, problem.newest_hat, state.levels[V]
    rank, columns = D.size, problem.signs.size
    direction, said = state.direction_hat[:rank], state.hat[:rank]
    # Sums over all R directions: as if every q were 1, and then what the r directions of U change in them.
    information, along, trace, square = 0.0, 0.0, 0.0, 0.0
    for r in range(rank):
        direction[r] = 0.0
    for k in range(state.M_G.shape[0]):
        for i in range(columns):
            c = k * columns + i
            row, pull = U[c], state.M_G[k, i] - problem.before[c]
            information += newest[c] * newest[c]
            along += newest[c] * pull
            state.direction[c] = pull
            for r in range(rank):
                direction[r] += row[r] * pull
    square = information
    for r in range(rank):
        q = 1.0 / (1.0 + v * D[r])
        heard = v * D[r] * q  # 1 - q, without its cancellation
        information -= newest_hat[r] * newest_hat[r] * heard
        along -= newest_hat[r] * direction[r] * heard
        trace += D[r] * q
        square -= newest_hat[r] * newest_hat[r] * heard * (1.0 + q)
    variance = 1.0 / (state.levels[INVERSE_SCALE] + v * max(information, 0.0))
    mean = v * variance * along
    for r in range(rank):
        direction[r] -= newest_hat[r] * mean
        said[r] = v * D[r] / (1.0 + v * D[r]) * direction[r]
    for k in range(state.M_G.shape[0]):
        for i in range(columns):
            c = k * columns + i
            row, total = U[c], problem.before[c] + newest[c] * mean
            state.direction[c] -= newest[c] * mean
            for r in range(rank):
                total += row[r] * said[r]
            state.Z[k, i] = total
    state.levels[NEWEST], state.levels[VARIANCE] = mean, variance
    state.levels[TRACE], state.levels[V_OF_A] = trace + variance * max(square, 0.0), v


@compiled
def _update_scales(state: StepState) -> None:
    """The hierarchy of the newest weight, alpha = beta = 1: lambda, xi, phi, eta."""
    levels = state.levels
    square = max(levels[NEWEST] ** 2 + levels[VARIANCE], 1e-300)
    rate = max(2.0 * levels[XI], 1e-300)
    levels[INVERSE_SCALE] = math.sqrt(rate / square)
    scale = math.sqrt(square / rate) + 1.0 / rate
    levels[XI] = 2.0 / (levels[PHI] + scale)
    levels[PHI] = 1.5 / (levels[ETA] + levels[XI])
    levels[ETA] = 1.0 / (1.0 + levels[PHI])


@compiled
def _update_v(problem: StepProblem, plan: StepPlan, state: StepState) -> None:
    P, columns = state.M_G.shape
    misfit = state.levels[TRACE]
    for k in range(P):
        misfit += columns * state.Sigma_g[k, k]
        for i in range(columns):
            misfit += (state.M_G[k, i] - state.Z[k, i]) ** 2
    state.levels[V] = (plan.v_shape + 0.5 * P * columns) / (plan.v_rate + 0.5 * misfit)


@compiled
def _update_be(problem: StepProblem, state: StepState) -> bool:
    """Precision of the prior plus c [[Nt, 1'G'], [G1, <GG'>]]; <GG'> stays for the update of c."""
    P, columns = state.M_G.shape
    c, precision, shift = state.levels[C], state.precision, state.hat[: P + 1]
    for k in range(P + 1):
        for h in range(P + 1):
            precision[k, h] = problem.precision_be[k, h]
        shift[k] = problem.shift_be[k]
    precision[0, 0] += c * columns
    for i in range(columns):
        shift[0] += c * state.m_f[i]
    for k in range(P):
        row, total, pull = state.M_G[k], 0.0, 0.0
        for i in range(columns):
            total += row[i]
            pull += row[i] * state.m_f[i]
        precision[0, k + 1] += c * total
        precision[k + 1, 0] += c * total
        shift[k + 1] += c * pull
        for h in range(k + 1):
            other, product = state.M_G[h], columns * state.Sigma_g[k, h]
            for i in range(columns):
                product += row[i] * other[i]
            state.GG[k, h] = state.GG[h, k] = product
    for k in range(P):
        row = state.GG[k]
        for h in range(P):
            precision[k + 1, h + 1] += c * row[h]
    if not invert_or_push(precision, state.copy, state.Sigma_be):
        return False
    for k in range(P + 1):
        total = 0.0
        for h in range(P + 1):
            total += state.Sigma_be[k, h] * shift[h]
        state.m_be[k] = total
    return True


@compiled
def _update_c(problem: StepProblem, plan: StepPlan, state: StepState) -> None:
    P, columns = state.M_G.shape
    b, e = state.m_be[0], state.m_be[1:]
    misfit = columns * (state.Sigma_be[0, 0] + b * b)
    for i in range(columns):
        expected = b
        for k in range(P):
            expected += e[k] * state.M_G[k, i]
        misfit += state.s_f[i] + state.m_f[i] ** 2 - 2.0 * state.m_f[i] * expected
    for k in range(P):
        row, total = state.M_G[k], 0.0
        for i in range(columns):
            total += row[i]
        misfit += 2.0 * (state.Sigma_be[0, k + 1] + b * e[k]) * total
        products, covariances = state.GG[k], state.Sigma_be[k + 1, 1:]
        for h in range(P):
            misfit += (covariances[h] + e[k] * e[h]) * products[h]
    state.levels[C] = (plan.c_shape + 0.5 * columns) / (plan.c_rate + 0.5 * misfit)


@compiled
def grown_covariance(before: Floats, explained: Floats, direction: Floats, variance: float, covariance: Floats) -> None:
    """covariance = [[before - explained + w h h', w h], [w h', w]], h and w being direction and variance of the newest.

    What is subtracted and added is symmetric to the last bit, and so is what comes out.
    """
    n = direction.size
    for i in range(n):
        row, given, less, share = covariance[i, :n], before[i], explained[i], variance * direction[i]
        for j in range(n):
            row[j] = (given[j] - less[j]) + variance * (direction[i] * direction[j])
        covariance[i, n] = share
        covariance[n, i] = share
    covariance[n, n] = variance
