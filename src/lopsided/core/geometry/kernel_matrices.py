"""The matrices of several kernels at once: every distance and scalar product is shared."""

from __future__ import annotations

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.geometry.kernels import Kernel, similarities


@compiled
def fill_matrices(
    atoms: Floats,
    bounds: Integers,
    normalized: Integers,
    squares: Floats,
    dots: Floats,
    norms: Floats,
    column_norms: Floats,
    matrices: Floats,
) -> None:
    """matrices[m, i, n] = k_m(column i, point n), given squared distances and scalar products of columns and points."""
    for m in range(matrices.shape[0]):
        kernel = Kernel(atoms[bounds[m] : bounds[m + 1]], normalized[m] != 0)
        for i in range(matrices.shape[1]):
            similarities(kernel, squares[i], dots[i], norms, column_norms[i], matrices[m, i])
