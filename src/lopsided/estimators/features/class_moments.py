"""Sums over the examples of two classes that determine their means and covariances, and the rankers they imply.

Sums of weights, of w z and of w z z' add: for blocks of examples, for fading, and for models that saw different ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dposv

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.features.fourier_ranker import fill_system

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
