"""A list of kernels as one thing that makes matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.geometry.kernel_matrices import SCRATCH_ROWS, fill_matrices
from lopsided.kernels import Kernel


class KernelPool:
    """P kernels; `rows(X, Z)[i, m, n]` is k_m(x_i, z_n)."""

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        parts = [kernel.compiled() for kernel in kernels]
        self.size = len(parts)
        self._atoms = np.concatenate([part.atoms for part in parts])
        self._bounds = np.cumsum([0] + [part.atoms.shape[0] for part in parts]).astype(np.int64)
        self._normalized = np.array([part.normalized for part in parts], dtype=np.int64)

    def rows(self, X: Floats, Z: Floats) -> Floats:
        """All kernels between all rows of X and of Z, the kernels of a row of X together.

        Gaussians below 1e-30 are 0. Enormous input gives no finite value: see callers.
        """
        result = np.empty((X.shape[0], self.size, Z.shape[0]))
        scratch = np.empty((SCRATCH_ROWS, Z.shape[0]))
        fill_matrices(self._atoms, self._bounds, self._normalized, X, Z, scratch, result)
        return result

    def matrices(self, X: Floats, Z: Floats) -> Floats:
        """The same by kernels, `matrices(X, Z)[m]` being k_m: a view."""
        return self.rows(X, Z).transpose(1, 0, 2)
