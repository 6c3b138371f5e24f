"""The two memories of a ranker as sums by class: one that keeps everything, one that fades.

Products are in single precision, which halves their cost. What keeps everything adds them to sums in double precision
before they lose digits; what fades forgets its rounding with the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import ssyrk
from scipy.linalg.lapack import dposv, sposv

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.features.fourier_ranker import fill_system

Singles = npt.NDArray[np.float32]
_FORGOTTEN = 1e-6  # a class that weighs less has faded away
_ROWS_IN_SINGLE = 8192
_SINGLE_IS_ENOUGH = 1e-3  # ridges from which on a solution in single precision is as good


class Memory:
    """Weights, sums of w z and of w z z' by class (0 is the positive one); the upper triangles of the latter."""

    def __init__(self, length: int) -> None:
        self.totals = np.zeros(2)
        self.sums = np.zeros((2, length))
        self.singles: Singles = np.zeros((2, length, length), dtype=np.float32)

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All that it holds, by name."""
        return {"totals": self.totals, "sums": self.sums, "singles": self.singles}

    def clear(self) -> None:
        """Forget everything."""
        for array in self.arrays.values():
            array[:] = 0

    def grams(self) -> Floats:
        """The sums of products, in double precision."""
        return self.singles.astype(np.float64)

    def take_in(self, other: Memory) -> None:
        """Add what another memory of the same z holds, both as of now."""
        self.totals += other.totals
        self.sums += other.sums
        self._add_grams(other)

    def _add_grams(self, other: Memory) -> None:
        self.singles += other.singles

    def add(self, Z: Singles, signs: Floats, weights: Floats, left: float = 1.0) -> None:
        """Add examples, a row of Z each, to what is `left` of the older ones."""
        self.totals *= left
        self.sums *= left
        for c, own in enumerate((signs > 0.0, signs < 0.0)):
            if own.any():
                mine, w = Z[own], weights[own]
                self.totals[c] += w.sum()
                self.sums[c] += w @ mine
                rows = mine * np.sqrt(w).astype(np.float32)[:, None]
                # In place: the transposes are in the order that BLAS wants, where the upper triangle is the lower one.
                ssyrk(1.0, rows.T, beta=left, c=self.singles[c].T, lower=1, overwrite_c=1)
            elif left != 1.0:
                self.singles[c] *= np.float32(left)

    def solutions(self, ridges: tuple[float, ...], matrix: Floats) -> list[tuple[Floats, float] | None]:
        """Weights and offset for each ridge, as `ClassMoments.ranker` has them; `matrix` is scratch."""
        if self.totals.min() < _FORGOTTEN:
            return [None] * len(ridges)
        difference = np.empty(self.sums.shape[1])
        fill_system(self.totals, self.sums, self.grams(), 0.0, matrix, difference)
        diagonal, places = matrix.diagonal().copy(), np.diag_indices(difference.size)
        means, n_positive = self.sums / self.totals[:, None], self.totals[0]
        found: list[tuple[Floats, float] | None] = []
        for ridge in ridges:
            single = ridge >= _SINGLE_IS_ENOUGH
            system = matrix.astype(np.float32) if single else matrix.copy()
            system[places] = diagonal + ridge * (1.0 + 1.0 / np.sqrt(n_positive))
            solve = sposv if single else dposv
            _, solution, failed = solve(system.T, difference, lower=1, overwrite_a=1)
            solution = solution.astype(np.float64)
            distance = float(solution @ difference)
            if failed or not (np.isfinite(distance) and distance > 0.0):
                found.append(None)
                continue
            weights = solution * (n_positive / (n_positive + 1.0) / distance)
            found.append((weights, float(weights @ (means[0] + means[1])) / 2.0))
        return found


class LongMemory(Memory):
    """Keeps everything."""

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.doubles = np.zeros((2, length, length))
        self.in_single = np.zeros(1, dtype=np.int64)

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All that it holds, by name."""
        return super().arrays | {"doubles": self.doubles, "in_single": self.in_single}

    def grams(self) -> Floats:
        """The sums of products, in double precision."""
        self._settle()
        return self.doubles

    def add(self, Z: Singles, signs: Floats, weights: Floats, left: float = 1.0) -> None:
        """Add examples, a row of Z each."""
        super().add(Z, signs, weights, left)
        self.in_single[0] += signs.size
        if self.in_single[0] >= _ROWS_IN_SINGLE:
            self._settle()

    def _add_grams(self, other: Memory) -> None:
        self.grams()[:] += other.grams()

    def _settle(self) -> None:
        if self.in_single[0]:
            self.doubles += self.singles
            self.singles[:] = 0.0
            self.in_single[0] = 0

    def become(self, other: Memory) -> None:
        """Remember what another memory does, and nothing else."""
        self.clear()
        self.totals[:], self.sums[:], self.doubles[:] = other.totals, other.sums, other.grams()


class ShortMemory(Memory):
    """Fades with every example."""

    def add_block(self, Z: Singles, signs: Floats, weights: Floats, fade: float) -> None:
        """Add examples in their order, a row of Z each."""
        n = signs.size
        self.add(Z, signs, weights * fade ** np.arange(n - 1.0, -1.0, -1.0), fade**n)
