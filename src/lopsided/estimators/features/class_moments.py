"""Sums over the examples of two classes that determine their means and covariances, and the rankers they imply.

Sums of weights, of w z and of w z z' add: for blocks of examples, for fading, and for models that saw different ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dposv, dpotrf, dtrtrs

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.features.fourier_ranker import fill_system

_AT_A_TIME = 1024  # rows
_LEAST_LEFT = 0.05  # of the spread of a class along a row, without that row
_FORGOTTEN = 1e-100  # a class that weighs less has faded away: there is nothing to be learned from it


class ClassMoments:
    """The sums of each class (0 is the positive one) in one memory, in which every example fades the older ones."""

    def __init__(self, length: int, fade: float) -> None:
        self.fade = fade
        self.totals = np.zeros(2)
        self.sums = np.zeros((2, length))
        self.grams = np.zeros((2, length, length))  # of symmetric matrices, the upper triangles

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All that it holds, by name."""
        return {"totals": self.totals, "sums": self.sums, "grams": self.grams}

    def clear(self) -> None:
        """Forget everything."""
        for array in self.arrays.values():
            array[:] = 0.0

    def add_block(self, Z: Floats, signs: Floats, weights: Floats) -> None:
        """Add examples in their order, a row of Z each."""
        n = signs.size
        self._add(Z, signs, weights * self.fade ** np.arange(n - 1.0, -1.0, -1.0), self.fade**n)

    def replace(self, Z: Floats, signs: Floats, weights: Floats) -> None:
        """Let these examples stand for all so far: each class weighs what it weighed."""
        totals = self.totals.copy()
        self.clear()
        weights = weights.copy()
        for c, own in enumerate((signs > 0.0, signs < 0.0)):
            if own.any() and weights[own].sum() > 0.0:
                weights[own] *= totals[c] / weights[own].sum()
        self._add(Z, signs, weights, 1.0)

    def _add(self, Z: Floats, signs: Floats, weights: Floats, left: float) -> None:
        """Add examples to what is left of the older ones."""
        self.totals *= left
        self.sums *= left
        for c, own in enumerate((signs > 0.0, signs < 0.0)):
            if own.any():
                self.totals[c] += weights[own].sum()
                self.sums[c] += weights[own] @ Z[own]
                rows = Z[own] * np.sqrt(weights[own])[:, None]
                # In place: the transposes are in the order that BLAS wants, where the upper triangle is the lower one.
                dsyrk(1.0, rows.T, beta=left, c=self.grams[c].T, lower=1, overwrite_c=1)
            elif left != 1.0:
                self.grams[c] *= left

    def add(self, other: ClassMoments) -> None:
        """Add what another model has seen, both as of now."""
        for name, array in self.arrays.items():
            array += other.arrays[name]

    def ranker(self, regularization: float, matrix: Floats) -> tuple[npt.NDArray[np.float64], float] | None:
        """The weights and the offset that put the class means at c/2 and -c/2, with c = n_+ / (n_+ + 1).

        None while a class is missing or both have the same mean. `matrix` is scratch.
        """
        if self.totals.min() < _FORGOTTEN:
            return None
        difference = np.empty(self.sums.shape[1])
        ridge = regularization * (1.0 + 1.0 / np.sqrt(self.totals[0]))
        fill_system(self.totals, self.sums, self.grams, ridge, matrix, difference)
        _, solution, info = dposv(matrix.T, difference, lower=1, overwrite_a=1)
        distance = float(solution @ difference)
        if info != 0 or not (np.isfinite(distance) and distance > 0.0):
            return None
        n_positive = self.totals[0]
        weights = solution * (n_positive / (n_positive + 1.0) / distance)
        means = self.sums / self.totals[:, None]
        return weights, float(weights @ (means[0] + means[1])) / 2.0

    def own_parts(self, Z: Floats, signs: Floats, masses: Floats, regularization: float, matrix: Floats) -> Floats:
        """How much higher each row of Z is scored than by the ranker of all others; `masses` are what rows count.

        With p the share of a row in its class, d = z - m its distance from the mean and A the matrix that is solved by,
        the others have the mean m - r d, r = p / (1 - p), and the matrix A - q d d', q = p / (1 - p)^2 (what the rest
        of their covariance gains, p S, is left out): the inverse of that is one of rank one away, so that all of it
        follows from d' A^-1 d and a few products. `matrix` is scratch.
        """
        parts, difference = np.zeros(signs.size), np.empty(self.sums.shape[1])
        if self.totals.min() < _FORGOTTEN:
            return parts
        ridge = regularization * (1.0 + 1.0 / np.sqrt(self.totals[0]))
        fill_system(self.totals, self.sums, self.grams, ridge, matrix, difference)
        factor, info = dpotrf(matrix.T, lower=1)
        if info != 0:
            return parts
        half, means = dtrtrs(factor, difference, lower=1)[0], self.sums / self.totals[:, None]
        for start in range(0, signs.size, _AT_A_TIME):
            some = slice(start, start + _AT_A_TIME)
            which = np.where(signs[some] > 0.0, 0, 1)
            halves = dtrtrs(factor, (Z[some] - means[which]).T, lower=1)[0]
            shares = np.minimum(masses[some] / self.totals[which], 0.5)
            products = (halves * halves).sum(axis=0), half @ halves, float(half @ half)
            parts[some] = self._own_parts_of(signs[some], masses[some], shares, *products)
        return parts

    def _own_parts_of(
        self, signs: Floats, masses: Floats, p: Floats, own: Floats, ahead: Floats, distance: float
    ) -> Floats:
        """The same from products by A^-1: `own` d.d, `ahead` d.(m_+ - m_-), and `distance` of that with itself."""
        r, q = p / (1.0 - p), p / (1.0 - p) ** 2
        n_all = self.totals[0]
        n_left = np.where(signs > 0.0, np.maximum(n_all - masses, 0.0), n_all)
        onto = ahead - signs * r * own  # d.(m_+ - m_-) without the row
        turn = q * onto / np.maximum(1.0 - q * own, _LEAST_LEFT) - signs * r
        distance_left = distance - signs * r * ahead + turn * onto
        reach = (1.0 + r / 2.0) * (ahead + turn * own) + signs / 2.0 * (distance + turn * ahead)
        with_it = n_all / (n_all + 1.0) * (ahead / distance + signs / 2.0)
        without = n_left / (n_left + 1.0) * reach / np.where(distance_left > 0.0, distance_left, np.inf)
        return np.where(distance_left > 0.0, with_it - without, 0.0)
