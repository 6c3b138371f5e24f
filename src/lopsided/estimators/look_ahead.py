"""Dense blocks: the scalar products of many rows with the support vectors, by one matrix product.

Rows of many features are measured faster that way than one after the other, because the vectors are read from memory
once a block; `benchmarks/README.md` has the figures. Vectors that come in within a block are noted as they come, so the
steps are the same; scores agree to rounding, and where distances would lose digits the loops do the work.
"""

from __future__ import annotations

import numpy as np

from lopsided.core.compiled import Floats
from lopsided.core.kernels import GAUSSIAN, KIND, PARAMETER, Kernel
from lopsided.core.online_kernel import Ahead
from lopsided.core.points import WIDEST_TABLE, Points, Rows

BLOCK = 64
NOT_AHEAD = Ahead(np.zeros((0, 0)), 0)
_FEWEST_FEATURES, _FEWEST_VECTORS = 64, 64  # with fewer the loops are faster
# gamma (||x||^2 + ||z||^2) beyond which rounding of the norms would show in the tenth digit of a similarity.
_LARGEST_EXPONENT = 1e4


def is_wide_enough(rows: Rows) -> bool:
    """Whether a matrix product may pay."""
    return not rows.starts.size and _FEWEST_FEATURES <= rows.dense.shape[1] <= WIDEST_TABLE


def products(block: Floats, first: int, points: Points, used: int, kernel: Kernel) -> Ahead:
    """The scalar products of a block, its first row being example `first`; none where loops are faster or better."""
    if used < _FEWEST_VECTORS:
        return NOT_AHEAD
    gammas = kernel.atoms[kernel.atoms[:, KIND] == GAUSSIAN, PARAMETER]
    largest_norms = points.squared_norms[:used].max() + np.einsum("ij,ij->i", block, block).max()
    if gammas.max(initial=0.0) * largest_norms > _LARGEST_EXPONENT:
        return NOT_AHEAD
    dots = np.zeros((block.shape[0], points.squared_norms.size))
    np.matmul(block, points.values[:, :used], out=dots[:, :used])
    return Ahead(dots, first)
