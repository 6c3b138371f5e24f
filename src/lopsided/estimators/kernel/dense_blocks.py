"""Dense blocks: the scalar products of many rows with the support vectors, by one matrix product.

Rows of many features are measured faster that way than one after the other, because the vectors are read from memory
once a block; `benchmarks/README.md` has the figures. Vectors that come in within a block are noted as they come, so the
steps are the same; scores agree to rounding, and where distances would lose digits the loops do the work.
"""

from __future__ import annotations

import numpy as np

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.geometry.kernels import GAUSSIAN, KIND, PARAMETER, Kernel
from lopsided.core.geometry.points import WIDEST_TABLE, Points, Rows
from lopsided.core.pointwise.online_kernel import BlockProducts
from lopsided.estimators.base.blas import one_blas_thread

BLOCK = 64
NO_PRODUCTS = BlockProducts(np.zeros((0, 0)), 0)
_FEWEST_FEATURES, _FEWEST_VECTORS = 64, 64  # with fewer the loops are faster
# gamma (||x||^2 + ||z||^2) beyond which rounding of the norms would show in the tenth digit of a similarity.
_LARGEST_EXPONENT = 1e4


def is_wide_enough(rows: Rows) -> bool:
    """Whether a matrix product may pay."""
    return not rows.starts.size and _FEWEST_FEATURES <= rows.dense.shape[1] <= WIDEST_TABLE


def products(block: Floats, first: int, points: Points, used: int, kernel: Kernel) -> BlockProducts:
    """The scalar products of a block, its first row being example `first`; none where loops are faster or better."""
    if used < _FEWEST_VECTORS:
        return NO_PRODUCTS
    gammas = kernel.atoms[kernel.atoms[:, KIND] == GAUSSIAN, PARAMETER]
    largest_norms = points.squared_norms[:used].max() + np.einsum("ij,ij->i", block, block).max()
    if gammas.max(initial=0.0) * largest_norms > _LARGEST_EXPONENT:
        return NO_PRODUCTS
    dots = np.zeros((block.shape[0], points.squared_norms.size))
    with one_blas_thread:
        np.matmul(block, points.values[:, :used], out=dots[:, :used])
    return BlockProducts(dots, first)
