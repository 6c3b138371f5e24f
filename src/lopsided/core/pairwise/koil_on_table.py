"""KOIL over rows whose similarities are known: what a search for its parameters runs.

All settings of a grid see the same rows. Their squared distances are taken once, a kernel matrix is made of them once a
width, and a step looks its kernel row up: a slot holds the number of a row instead of its features.
"""

from __future__ import annotations

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.arithmetic.limits import NOT_STORED, finite
from lopsided.core.geometry.dense_squares import dense_squares
from lopsided.core.geometry.kernels import Kernel, similarities
from lopsided.core.pairwise.koil import Plan, Workspace, step
from lopsided.core.pairwise.support import Support, span, value


@compiled
def fill_squares(X: Floats, columns: Floats, squares: Floats) -> None:
    """squares[t, i] = ||x_t - x_i||^2; `columns` is X by feature."""
    for t in range(X.shape[0]):
        dense_squares(columns, X[t], 0, X.shape[0], squares[t])


@compiled
def fill_similarities(kernel: Kernel, squares: Floats, known: Floats) -> None:
    """known[t, i] = k(x_t, x_i), for a kernel of distances: what stands for scalar products and norms is never used."""
    for t in range(squares.shape[0]):
        similarities(kernel, squares[t], squares[t], squares[t], 0.0, known[t])


@compiled
def run_on_table(
    support: Support,
    plan: Plan,
    known: Floats,
    rows: Integers,
    labels: Floats,
    cost: float,
    draws: Draws,
    work: Workspace,
    numbers: Integers,
    scores: Floats,
) -> None:
    """`koil.run` over the rows of these numbers; `numbers` receives the row in each slot."""
    for q in range(rows.size):
        t = rows[q]
        _look_up(support, known[t], numbers, work.row)
        score, _, slot = step(support, plan, work.row, known[t, t], labels[q], cost, draws, work.ledger, work.chosen)
        if slot != NOT_STORED:
            numbers[slot] = t
        scores[q] = score


@compiled
def score_on_table(
    support: Support, known: Floats, rows: Integers, work: Workspace, numbers: Integers, scores: Floats
) -> None:
    """f(x) for the rows of these numbers."""
    for q in range(rows.size):
        _look_up(support, known[rows[q]], numbers, work.row)
        scores[q] = finite(value(support, work.row))


@compiled
def _look_up(support: Support, known: Floats, numbers: Integers, row: Floats) -> None:
    for part in range(2):
        start, stop = span(support, part)
        for i in range(start, stop):
            row[i] = known[numbers[i]]
