"""A list of kernels as one thing that makes matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.geometry.kernel_matrices import fill_matrices
from lopsided.kernels import Kernel


class KernelPool:
    """P kernels; `matrices(X, Z)[m, i, n]` is k_m(x_i, z_n)."""

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        parts = [kernel.compiled() for kernel in kernels]
        self.size = len(parts)
        self._atoms = np.concatenate([part.atoms for part in parts])
        self._bounds = np.cumsum([0] + [part.atoms.shape[0] for part in parts]).astype(np.int64)
        self._normalized = np.array([part.normalized for part in parts], dtype=np.int64)

    def matrices(self, X: Floats, Z: Floats) -> Floats:
        """All kernels between all rows of X and of Z."""
        result = np.empty((self.size, X.shape[0], Z.shape[0]))
        with np.errstate(over="ignore", invalid="ignore"):  # enormous input gives no finite kernel value: see callers
            squares, dots = cdist(X, Z, "sqeuclidean"), X @ Z.T
            norms = np.einsum("ij,ij->i", Z, Z), np.einsum("ij,ij->i", X, X)
        fill_matrices(self._atoms, self._bounds, self._normalized, squares, dots, *norms, result)
        return result
