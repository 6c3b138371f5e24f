"""Any score as a sum over columns: exact for every function of a row, whatever the learner.

The score of a row is that of a baseline, in which every column has its mean, and what each column adds when it goes
from there to its value. How much a column adds depends on which others have gone before it, so it is averaged over
orders, and what the columns add always sums to the difference of the two scores:

- Up to `EXACT` columns that differ from the baseline: over all orders. That is the Shapley value of the column.
- More: over fixed orders, those of the table rotated and each also backwards, so many that `MOST_ROWS` rows or so are
  scored. Where columns act alone or in pairs that is the Shapley value too; where more of them act together it differs.
- More than `MOST_COLUMNS`: those that change the score most when they alone leave the baseline, and the others as one.

Nothing is drawn at random: who computes it again gets the same numbers. A column that has its baseline value gets
exactly 0. What the encoder made of one column (a hashed word, the hour on its circle) goes together, as that column.

A learner plugs in by what it has anyway, `raw_scores`. Two things are optional: `typical_row_`, its features at their
means, which is the baseline (0 for all by default); and `linear_terms(X)`, for each row what each feature contributes
to an exact linear part of the score, which is then told apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats = npt.NDArray[np.float64]
Masks = npt.NDArray[np.bool_]

EXACT = 10  # columns of which all 2^n subsets are scored
MOST_ROWS = 4096  # that are scored for more columns than that, or twice the number of columns if that is more
MOST_COLUMNS = 512
_NUMBERS_AT_ONCE = 1 << 21  # in a matrix of rows to be scored


class Contributions(NamedTuple):
    """The score of the baseline, what each group of features adds, and what those taken together add."""

    baseline: float
    amounts: Floats
    together: float = 0.0
    n_together: int = 0


def additive_contributions(
    score_rows: Callable[[Any], Floats], row: Any, baseline: Floats, groups: Sequence[Sequence[int]] | None = None
) -> Contributions:
    """Take the score of a row apart into that of a baseline and what each group of features adds.

    Parameters
    ----------
    score_rows : gives the scores of a matrix of rows; CSR if the row is.
    row : an array of shape (n_features,), or CSR of shape (1, n_features).
    baseline : the row to start from, of shape (n_features,); for CSR it is all zeros, whatever is given.
    groups : the features of each column; default: every feature is a column.

    >>> def score_rows(X):
    ...     return 3.0 * X[:, 0] + X[:, 1] * X[:, 2]
    >>> found = additive_contributions(score_rows, np.array([1.0, 2.0, 5.0]), np.zeros(3))
    >>> found.baseline, found.amounts.tolist()
    (0.0, [3.0, 5.0, 5.0])
    """
    steps = _Steps(score_rows, row, np.asarray(baseline, dtype=np.float64), groups)
    if len(steps.changed) > MOST_COLUMNS:
        steps.take_together(_least(steps))
    n = len(steps.moves)
    if n == 0:
        return Contributions(float(steps.scores(np.zeros((1, 0), dtype=np.bool_))[0]), np.zeros(steps.n_groups))
    start, added = _over_all_orders(steps.scores, n) if n <= EXACT else _over_fixed_orders(steps.scores, n)
    amounts = np.zeros(steps.n_groups)
    amounts[steps.changed] = added[: len(steps.changed)]
    return Contributions(start, amounts, float(added[len(steps.changed) :].sum()), steps.n_together)


class _Steps:
    """The groups in which a row differs from the baseline, and the scores of rows in which some have gone over."""

    def __init__(self, score_rows: Callable[[Any], Floats], row: Any, baseline: Floats, groups: Any) -> None:
        self._score_rows, self._is_sparse = score_rows, sp.issparse(row)
        if self._is_sparse:
            row = sp.csr_array(row)
            self._n_features, features, self._values = row.shape[1], row.indices, row.data
            self._baseline = np.zeros(features.size)
        else:
            row = np.asarray(row, dtype=np.float64)
            self._full = baseline
            features = np.flatnonzero(~(row == baseline))
            self._values, self._baseline = row[features], baseline[features]
        self._features = features
        groups = [[j] for j in range(len(baseline))] if groups is None else groups
        self.n_groups = len(groups)
        owner = np.full(len(baseline), -1)
        for number, own in enumerate(groups):
            owner[list(own)] = number
        self.changed: list[int] = np.unique(owner[features]).tolist()
        self.moves = [np.flatnonzero(owner[features] == number) for number in self.changed]
        self.n_together = 0

    def take_together(self, least: list[int]) -> None:
        """Let these moves, by their places, be one."""
        together = np.concatenate([self.moves[place] for place in least])
        kept = [place for place in range(len(self.moves)) if place not in set(least)]
        self.moves = [*(self.moves[place] for place in kept), together]
        self.changed = [self.changed[place] for place in kept]
        self.n_together = len(least)

    def scores(self, masks: Masks) -> Floats:
        """The scores of rows in which those moves have been made that a mask says."""
        width = self._features.size if self._is_sparse else self._full.size
        at_once = max(1, _NUMBERS_AT_ONCE // max(1, width))
        parts = [self._score_rows(self._rows(masks[i : i + at_once])) for i in range(0, len(masks), at_once)]
        return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])

    def _rows(self, masks: Masks) -> Any:
        gone = np.zeros((len(masks), self._features.size), dtype=np.bool_)
        for place, move in enumerate(self.moves):
            gone[:, move] = masks[:, place, None]
        if not self._is_sparse:
            rows = np.repeat(self._full[None], len(masks), axis=0)
            rows[:, self._features] = np.where(gone, self._values, self._baseline)
            return rows
        starts = np.concatenate([[0], np.cumsum(gone.sum(axis=1))])
        at = np.nonzero(gone)[1]
        shape = (len(masks), self._n_features)
        return sp.csr_array((self._values[at], self._features[at], starts), shape=shape)


def _least(steps: _Steps) -> list[int]:
    """The moves that change the score least when they alone are made: all but so many."""
    n = len(steps.moves)
    none = steps.scores(np.zeros((1, n), dtype=np.bool_))[0]
    alone = np.concatenate([
        np.abs(steps.scores(np.eye(min(n - start, 256), n, start, dtype=np.bool_)) - none)
        for start in range(0, n, 256)
    ])  # fmt: skip
    return np.argsort(-alone, kind="stable")[MOST_COLUMNS - 1 :].tolist()


def _over_all_orders(scores: Callable[[Masks], Floats], n: int) -> tuple[float, Floats]:
    """Shapley's value, from the scores of all subsets: a bit of the number of a subset says who is in it."""
    subsets = np.arange(1 << n)
    members = (subsets[:, None] >> np.arange(n)) & 1 == 1
    found, sizes = scores(members), members.sum(axis=1)
    added = np.empty(n)
    for i in range(n):
        without = subsets[~members[:, i]]
        shares = np.array([1.0 / (n * math.comb(n - 1, size)) for size in range(n)])[sizes[without]]
        added[i] = shares @ (found[without | (1 << i)] - found[without])
    return float(found[0]), added


def _over_fixed_orders(scores: Callable[[Masks], Floats], n: int) -> tuple[float, Floats]:
    """The mean over rotations of the given order, evenly spaced, each forwards and backwards."""
    n_rotations = min(max(MOST_ROWS // (2 * n), 1), n)
    start, end = scores(np.array([[False], [True]]).repeat(n, axis=1)).tolist()
    added = np.zeros(n)
    for rotation in range(n_rotations):
        order = np.roll(np.arange(n), -(rotation * n // n_rotations))
        for path in (order, order[::-1]):
            position = np.argsort(path)
            between = scores(position[None] < np.arange(1, n)[:, None])
            added[path] += np.diff(np.concatenate([[start], between, [end]]))
    return start, added / (2 * n_rotations)
