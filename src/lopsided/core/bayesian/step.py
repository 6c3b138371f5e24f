"""The inner loop of an online Bayesian step, in the space of what the step's columns say.

The n old weights a have the prior N(m_t, S_t). All that the loop needs of them is W'a for the R = P Nt kernel columns
W; with H = W'S_t W = U T U' everything is tridiagonal in U, and no n x n matrix is inverted. Hats stand for U'. The
columns are nearly dependent, so U has only the r < R directions in which H is not 0: in all others (I + vH)^-1 is 1.
A column (i, k), point i by kernel k, has the number iP + k.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.arithmetic.small_matrices import invert_or_push
from lopsided.core.bayesian.directions import (
    add_combined_rows,
    factor_shifted,
    products_with_rows,
    shifted_inverse,
    times_tridiagonal,
    trace_of_shifted,
)

FROM_SCORES, FROM_LABEL = range(2)
# Entries of StepState.levels: precisions, the hierarchy of the newest weight, its mean and variance, the trace of
# Sigma_a S, and v as it was when a was updated last.
V, C, XI, PHI, ETA, INVERSE_SCALE, NEWEST, VARIANCE, TRACE, V_OF_A = range(10)
_SMALLEST_SQUARE = 1e-20


class StepProblem(NamedTuple):
    """What is given: U' (r x R), the diagonal of T and what stands left of it, k* (the newest point's row), W'm_t, the
    columns' signs; and room for the prior of (b, e).
    """

    U: Floats
    diagonal: Floats
    left: Floats
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
    """The factors, M_G and Z by points, and scratch; `told` and `said` are (I - M)k^ and (I - M)d^, M = (I + vT)^-1."""

    M_G: Floats
    Z: Floats
    Sigma_g: Floats
    m_be: Floats
    Sigma_be: Floats
    m_f: Floats
    s_f: Floats
    levels: Floats
    direction: Floats
    all_said: Floats
    direction_hat: Floats
    told: Floats
    said: Floats
    pivots: Floats
    ratios: Floats
    solved: Floats
    weight: Floats
    pull: Floats
    precision: Floats
    copy: Floats
    GG: Floats


def empty_step_state(P: int, columns: int, rank: int) -> StepState:
    """Room for a step of P kernels, so many columns and directions."""
    Q = P + 1
    of_columns, of_directions, of_kernels = np.zeros((2, P * columns)), np.zeros((6, rank)), np.zeros((3, Q, Q))
    return StepState(
        M_G=np.zeros((columns, P)),
        Z=np.zeros((columns, P)),
        Sigma_g=np.zeros((P, P)),
        m_be=np.zeros(Q),
        Sigma_be=of_kernels[0],
        m_f=np.zeros(columns),
        s_f=np.zeros(columns),
        levels=np.zeros(10),
        direction=of_columns[0],
        all_said=of_columns[1],
        direction_hat=of_directions[0],
        told=of_directions[1],
        said=of_directions[2],
        pivots=of_directions[3],
        ratios=of_directions[4],
        solved=of_directions[5],
        weight=np.zeros((columns, columns)),
        pull=np.zeros(Q),
        precision=of_kernels[1],
        copy=of_kernels[2],
        GG=np.zeros((P, P)),
    )


@compiled
def run_step(
    problem: StepProblem, plan: StepPlan, state: StepState, m_be: Floats, Sigma_be: Floats, moves: Floats
) -> int:
    """A step from the given law of (b, e); returns how many iterations, or -1 if a matrix could not be inverted.

    `moves` (2 x R) times W'S_t is the covariance of the old weights and the newest over its variance, and what is added
    to the means of the old.
    """
    if not _begin(problem, plan, state, m_be, Sigma_be):
        return -1
    iterations = _iterate(problem, plan, state)
    v = state.levels[V_OF_A]
    for c in range(moves.shape[1]):
        moves[0, c] = 0.0
        moves[1, c] = 0.0
    add_combined_rows(problem.U, state.told, moves[0])
    add_combined_rows(problem.U, state.said, moves[1])
    for c in range(moves.shape[1]):
        moves[0, c] = -v * (problem.newest[c] - moves[0, c])
        moves[1, c] = v * (state.direction[c] - moves[1, c])
    return iterations


@compiled
def _begin(problem: StepProblem, plan: StepPlan, state: StepState, m_be: Floats, Sigma_be: Floats) -> bool:
    """From the current scores of the columns, or from their labels."""
    columns, P = state.M_G.shape
    levels, precision = state.levels, problem.precision_be
    if not invert_or_push(Sigma_be, state.copy, precision):
        return False
    for k in range(P + 1):
        state.m_be[k] = m_be[k]
        for h in range(P + 1):
            state.Sigma_be[k, h] = Sigma_be[k, h]
    for k in range(P + 1):
        row, total = precision[k], 0.0
        for h in range(P + 1):
            total += row[h] * m_be[h]
        problem.shift_be[k] = total
    levels[XI] = levels[PHI] = levels[ETA] = levels[INVERSE_SCALE] = levels[V] = levels[C] = 1.0
    if plan.start == FROM_LABEL:
        levels[V], levels[C] = plan.v_shape / plan.v_rate, plan.c_shape / plan.c_rate
    for k in range(P):
        for h in range(P):
            state.Sigma_g[k, h] = 1.0 / levels[V] if h == k else 0.0
    e = m_be[1:]
    for i in range(columns):
        said, Z, mean, score = problem.before[i * P : i * P + P], state.Z[i], state.M_G[i], m_be[0]
        for k in range(P):
            Z[k] = said[k]
            mean[k] = said[k] if plan.start == FROM_SCORES else problem.signs[i]
        for k in range(P):
            score += e[k] * said[k]
        state.m_f[i], state.s_f[i] = score if plan.start == FROM_SCORES else problem.signs[i], 1.0
    return True


@compiled
def _iterate(problem: StepProblem, plan: StepPlan, state: StepState) -> int:
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
            e, row = state.m_be[1:], state.M_G[i]
            for k in range(e.size):
                expected += e[k] * row[k]
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
    """Sigma_g = (c <e e'> + v I)^-1,  M_G[i] = Sigma_g (c (f_i e - <b e>) + v Z[i])."""
    P, c, v = state.M_G.shape[1], state.levels[C], state.levels[V]
    precision, e, with_b, b = state.precision[:P, :P], state.m_be[1:], state.Sigma_be[0, 1:], state.m_be[0]
    for k in range(P):
        row, covariances = precision[k], state.Sigma_be[k + 1, 1:]
        for h in range(P):
            row[h] = c * (covariances[h] + e[k] * e[h])
        precision[k, k] += v
    if not invert_or_push(precision, state.copy[:P, :P], state.Sigma_g):
        return False
    for i in range(problem.signs.size):
        pull, mean, Z = state.pull, state.M_G[i], state.Z[i]
        for k in range(P):
            pull[k] = c * (state.m_f[i] * e[k] - (with_b[k] + b * e[k])) + v * Z[k]
            mean[k] = 0.0
        for h in range(P):
            row, factor = state.Sigma_g[h], pull[h]  # a row is a column: sums along it would have to be added up
            for k in range(P):
                mean[k] += row[k] * factor
    return True


@compiled
def _update_a(problem: StepProblem, state: StepState) -> None:
    """The newest weight, and what all weights together say in the columns (Z)."""
    newest, newest_hat, v = problem.newest, problem.newest_hat, state.levels[V]
    hat, told, said, solved, pull = state.direction_hat, state.told, state.said, state.solved, state.direction
    columns, P = state.M_G.shape
    information, along = 0.0, 0.0  # over all R directions, as if (I + vH)^-1 were 1; U changes them below
    for i in range(columns):
        first, row = i * P, state.M_G[i]
        given, now, pulls = problem.before[first : first + P], newest[first : first + P], pull[first : first + P]
        for k in range(P):
            pulls[k] = row[k] - given[k]
        for k in range(P):
            information += now[k] * now[k]
            along += now[k] * pulls[k]
    products_with_rows(problem.U, pull, hat)
    factor_shifted(problem.diagonal, problem.left, v, state.pivots, state.ratios)
    shifted_inverse(state.pivots, state.ratios, hat, solved)
    times_tridiagonal(problem.diagonal, problem.left, v, solved, said)
    shifted_inverse(state.pivots, state.ratios, newest_hat, solved)
    times_tridiagonal(problem.diagonal, problem.left, v, solved, told)
    square = information
    for r in range(told.size):
        information -= newest_hat[r] * told[r]
        along -= told[r] * hat[r]
        square -= told[r] * (newest_hat[r] + solved[r])
    variance = 1.0 / (state.levels[INVERSE_SCALE] + v * max(information, 0.0))
    mean = v * variance * along
    for r in range(told.size):
        said[r] -= mean * told[r]
    for c in range(pull.size):
        state.all_said[c] = problem.before[c] + newest[c] * mean
        pull[c] -= newest[c] * mean
    add_combined_rows(problem.U, said, state.all_said)
    for i in range(columns):
        row, everything = state.Z[i], state.all_said[i * P : i * P + P]
        for k in range(P):
            row[k] = everything[k]
    trace = trace_of_shifted(problem.diagonal, problem.left, state.pivots, state.ratios)
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
    columns, P = state.M_G.shape
    misfit = state.levels[TRACE]
    for k in range(P):
        misfit += columns * state.Sigma_g[k, k]
    for i in range(columns):
        mean, said = state.M_G[i], state.Z[i]
        for k in range(P):
            misfit += (mean[k] - said[k]) * (mean[k] - said[k])
    state.levels[V] = (plan.v_shape + 0.5 * P * columns) / (plan.v_rate + 0.5 * misfit)


@compiled
def _update_be(problem: StepProblem, state: StepState) -> bool:
    """Precision of the prior plus c [[Nt, 1'G'], [G1, <GG'>]]; <GG'> stays for the update of c."""
    columns, P = state.M_G.shape
    c, precision, shift = state.levels[C], state.precision, state.pull
    with_b, of_e, edge = precision[0, 1:], shift[1:], problem.precision_be[0, 1:]
    precision[0, 0], shift[0] = problem.precision_be[0, 0] + c * columns, problem.shift_be[0]
    for k in range(P):
        with_b[k], of_e[k] = edge[k], problem.shift_be[k + 1]
    for i in range(columns):
        mean, f = state.M_G[i], state.m_f[i]
        shift[0] += c * f
        for k in range(P):
            with_b[k] += c * mean[k]
            of_e[k] += c * f * mean[k]
    for k in range(P):
        products, row, covariances = state.GG[k], precision[k + 1, 1:], state.Sigma_g[k]
        given = problem.precision_be[k + 1, 1:]
        for h in range(P):
            products[h] = columns * covariances[h]
        for i in range(columns):
            mean = state.M_G[i]
            for h in range(P):
                products[h] += mean[k] * mean[h]
        for h in range(P):
            row[h] = given[h] + c * products[h]
        precision[k + 1, 0] = with_b[k]
    if not invert_or_push(precision, state.copy, state.Sigma_be):
        return False
    for k in range(P + 1):
        row, total = state.Sigma_be[k], 0.0
        for h in range(P + 1):
            total += row[h] * shift[h]
        state.m_be[k] = total
    return True


@compiled
def _update_c(problem: StepProblem, plan: StepPlan, state: StepState) -> None:
    columns, P = state.M_G.shape
    b, e, with_b = state.m_be[0], state.m_be[1:], state.Sigma_be[0, 1:]
    misfit = columns * (state.Sigma_be[0, 0] + b * b)
    for i in range(columns):
        mean, expected, together = state.M_G[i], b, 0.0
        for k in range(P):
            expected += e[k] * mean[k]
            together += (with_b[k] + b * e[k]) * mean[k]
        misfit += state.s_f[i] + state.m_f[i] * state.m_f[i] - 2.0 * state.m_f[i] * expected + 2.0 * together
    for k in range(P):
        products, covariances = state.GG[k], state.Sigma_be[k + 1, 1:]
        for h in range(P):
            misfit += (covariances[h] + e[k] * e[h]) * products[h]
    state.levels[C] = (plan.c_shape + 0.5 * columns) / (plan.c_rate + 0.5 * misfit)
