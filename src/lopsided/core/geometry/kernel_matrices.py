"""The matrices of several kernels at once: every distance and scalar product is shared, and so is every cosine."""

from __future__ import annotations

import math

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.exponential import exponential_of_moderate
from lopsided.core.geometry.kernels import (
    DEGREE,
    GAUSSIAN,
    KIND,
    NORMALIZED,
    PARAMETER,
    POLYNOMIAL,
    WEIGHT,
    Kernel,
    similarities,
)

SCRATCH_ROWS = 4  # squares, scalar products, squared norms and cosines
# -log of a similarity that counts as none, 1e-30: products of smaller ones would reach the subnormal numbers, which
# many processors multiply a hundred times as slowly as others.
_NOT_SIMILAR = 69.0


@compiled
def fill_matrices(
    atoms: Floats, bounds: Integers, normalized: Integers, X: Floats, Z: Floats, scratch: Floats, matrices: Floats
) -> None:
    """matrices[i, m, n] = k_m(x_i, z_n)."""
    squares, dots, norms, cosines = scratch[0], scratch[1], scratch[2], scratch[3]
    for n in range(Z.shape[0]):
        norms[n] = _squared_length(Z[n])
    for i in range(X.shape[0]):
        x, norm, offset_of_cosines = X[i], _squared_length(X[i]), math.nan
        for n in range(Z.shape[0]):
            z, square, dot = Z[n], 0.0, 0.0
            for d in range(x.size):
                square += (x[d] - z[d]) * (x[d] - z[d])
                dot += x[d] * z[d]
            squares[n], dots[n] = square, dot
        for m in range(matrices.shape[1]):
            kernel, row = Kernel(atoms[bounds[m] : bounds[m + 1]], normalized[m] != 0), matrices[i, m]
            atom = kernel.atoms[0]
            offset, degree = atom[PARAMETER], int(atom[DEGREE])
            if kernel.atoms.shape[0] > 1 or atom[WEIGHT] != 1.0:
                similarities(kernel, squares, dots, norms, norm, row)
            elif atom[KIND] == GAUSSIAN:
                _fill_gaussian(atom[PARAMETER], squares, row)
            elif atom[KIND] == POLYNOMIAL and atom[NORMALIZED] != 0.0 and math.isfinite((norm + offset) ** degree):
                if offset != offset_of_cosines:
                    _fill_cosines(offset, dots, norms, norm, cosines)
                    offset_of_cosines = offset
                for n in range(row.size):
                    row[n] = cosines[n]
                for _ in range(degree - 1):
                    for n in range(row.size):
                        row[n] *= cosines[n]
            else:
                similarities(kernel, squares, dots, norms, norm, row)


@compiled
def _squared_length(x: Floats) -> float:
    total = 0.0
    for d in range(x.size):
        total += x[d] * x[d]
    return total


@compiled
def _fill_gaussian(gamma: float, squares: Floats, row: Floats) -> None:
    for n in range(row.size):
        exponent = gamma * squares[n]
        # A distance that is no number stays one: that is what callers look for.
        near = exponent if not exponent > _NOT_SIMILAR else _NOT_SIMILAR
        row[n] = exponential_of_moderate(-near) if not exponent > _NOT_SIMILAR else 0.0


@compiled
def _fill_cosines(offset: float, dots: Floats, norms: Floats, norm: float, cosines: Floats) -> None:
    """k(x, z) / sqrt(k(x, x) k(z, z)) for k = x.z + offset, of which all degrees are powers; 0 without a length."""
    itself = math.sqrt(max(norm + offset, 0.0))
    for n in range(cosines.size):
        other = math.sqrt(max(norms[n] + offset, 0.0))
        cosines[n] = (dots[n] + offset) / itself / other if itself > 0.0 and other > 0.0 else 0.0
