"""Kernel rows: one point against many, from squared distances and scalar products.

A kernel is a weighted sum of atoms, k(x, z) = sum_a w_a k_a(x, z), each a Gaussian exp(-gamma ||x - z||^2) or a
polynomial (x.z + offset)^degree, alone or divided by sqrt(k_a(x, x) k_a(z, z)); the sum as a whole may be normalised
the same way. `lopsided.kernels` has the user's side and writes this form.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled
from lopsided.core.arithmetic.exponential import (
    exponential,
    exponential_by_shifts,
    exponential_of_moderate,
    float_in_order,
    order_of,
)

if TYPE_CHECKING:
    from lopsided.core.geometry.shared_points import SharedPoints

# Columns of Kernel.atoms.
KIND, PARAMETER, DEGREE, WEIGHT, NORMALIZED = 0, 1, 2, 3, 4
GAUSSIAN, POLYNOMIAL = 0.0, 1.0
_NO_LONGER_SIMILAR = 750.0  # gamma ||x - z||^2 from which on the exponential is 0, and a little more
SURELY_NORMAL = 708.0  # gamma ||x - z||^2 up to which it is not subnormal


class Kernel(NamedTuple):
    """The compiled form: a row an atom, and whether the sum is normalised as a whole."""

    atoms: Floats
    normalized: bool


class Kernels(NamedTuple):
    """Several of them: `atoms[bounds[l]:bounds[l + 1]]` is kernel l."""

    atoms: Floats
    bounds: Integers
    normalized: Integers


def stacked_kernels(kernels: list[Kernel]) -> Kernels:
    """These kernels one behind the other."""
    return Kernels(
        np.concatenate([kernel.atoms for kernel in kernels]),
        np.cumsum([0] + [kernel.atoms.shape[0] for kernel in kernels]).astype(np.int64),
        np.array([kernel.normalized for kernel in kernels], dtype=np.int64),
    )


@compiled
def kernel_of(kernels: Kernels | SharedPoints, index: int) -> Kernel:
    """One of several kernels."""
    return Kernel(kernels.atoms[kernels.bounds[index] : kernels.bounds[index + 1]], kernels.normalized[index] != 0)


@compiled
def needs_dots(kernel: Kernel) -> bool:
    """Whether any atom is a function of the scalar product."""
    for a in range(kernel.atoms.shape[0]):
        if kernel.atoms[a, KIND] == POLYNOMIAL:
            return True
    return False


@compiled
def extreme_gammas(kernel: Kernel) -> tuple[float, float]:
    """Of its Gaussians the smallest and the largest gamma, (infinity, 0) if there are none."""
    smallest, largest = math.inf, 0.0
    for a in range(kernel.atoms.shape[0]):
        if kernel.atoms[a, KIND] == GAUSSIAN:
            smallest, largest = min(smallest, kernel.atoms[a, PARAMETER]), max(largest, kernel.atoms[a, PARAMETER])
    return smallest, largest


@compiled
def is_gaussian(kernel: Kernel) -> bool:
    """Whether it is a Gaussian and nothing else."""
    return kernel.atoms.shape[0] == 1 and kernel.atoms[0, KIND] == GAUSSIAN and kernel.atoms[0, WEIGHT] == 1.0


@compiled
def similarities(kernel: Kernel, squares: Floats, dots: Floats, norms: Floats, norm: float, row: Floats) -> None:
    """row[i] = k(x, z_i), given ||x - z_i||^2, x.z_i, ||z_i||^2 and ||x||^2."""
    atoms = kernel.atoms
    if is_gaussian(kernel):
        fill_gaussian(atoms[0, PARAMETER], squares, row)
        return
    for i in range(row.size):
        row[i] = 0.0
    for a in range(atoms.shape[0]):
        _add_atom(atoms[a], squares, dots, norms, norm, row)
    if kernel.normalized:
        itself = _sum_of_atoms_itself(kernel, norm)
        for i in range(row.size):
            row[i] = _ratio(row[i], itself, _sum_of_atoms_itself(kernel, norms[i]))


@compiled
def fill_gaussian(gamma: float, squares: Floats, row: Floats) -> None:
    """row[i] = exp(-gamma squares[i])."""
    if row.size == 0:
        return
    nearest, furthest = _extremes(squares)
    if gamma * nearest >= -SURELY_NORMAL and gamma * furthest <= SURELY_NORMAL:
        for i in range(row.size):
            row[i] = exponential_of_moderate(-(gamma * squares[i]))
    elif gamma * nearest > _NO_LONGER_SIMILAR:
        for i in range(row.size):  # a narrow kernel of a pool may know none of its vectors
            row[i] = 0.0
    else:
        for i in range(row.size):
            row[i] = exponential_by_shifts(-(gamma * squares[i]))


@compiled
def _extremes(squares: Floats) -> tuple[float, float]:
    smallest = largest = order_of(squares[0])  # whole numbers, whose extremes are found by vector instructions
    for i in range(squares.size):
        order = order_of(squares[i])
        smallest, largest = min(smallest, order), max(largest, order)
    return float_in_order(smallest), float_in_order(largest)


@compiled
def _add_atom(atom: Floats, squares: Floats, dots: Floats, norms: Floats, norm: float, row: Floats) -> None:
    weight, parameter, degree = atom[WEIGHT], atom[PARAMETER], int(atom[DEGREE])
    if atom[KIND] == GAUSSIAN:
        for i in range(row.size):
            row[i] += weight * exponential(-parameter * squares[i])
    elif atom[NORMALIZED] != 0.0:
        itself = _power(norm + parameter, degree)
        for i in range(row.size):
            value = _power(dots[i] + parameter, degree)
            row[i] += weight * _ratio(value, itself, _power(norms[i] + parameter, degree))
    elif degree == 1:  # a power in a loop of its own is not vectorised
        for i in range(row.size):
            row[i] += weight * (dots[i] + parameter)
    elif degree == 2:
        for i in range(row.size):
            row[i] += weight * ((dots[i] + parameter) * (dots[i] + parameter))
    elif degree == 3:
        for i in range(row.size):
            row[i] += weight * ((dots[i] + parameter) * (dots[i] + parameter) * (dots[i] + parameter))
    else:
        for i in range(row.size):
            row[i] += weight * _power(dots[i] + parameter, degree)


@compiled
def self_similarity(kernel: Kernel, norm: float) -> float:
    """k(x, x) for ||x||^2 = norm."""
    total = _sum_of_atoms_itself(kernel, norm)
    if kernel.normalized:
        return _ratio(total, total, total)
    return total


@compiled
def _sum_of_atoms_itself(kernel: Kernel, norm: float) -> float:
    total = 0.0
    for a in range(kernel.atoms.shape[0]):
        value = 1.0
        if kernel.atoms[a, KIND] == POLYNOMIAL:
            value = _power(norm + kernel.atoms[a, PARAMETER], int(kernel.atoms[a, DEGREE]))
            if kernel.atoms[a, NORMALIZED] != 0.0:
                value = _ratio(value, value, value)
        total += kernel.atoms[a, WEIGHT] * value
    return total


@compiled
def _ratio(value: float, itself: float, other: float) -> float:
    """k(x, z) / sqrt(k(x, x) k(z, z)), and 0 where a point has no length."""
    if itself <= 0.0 or other <= 0.0:
        return 0.0
    return value / math.sqrt(itself) / math.sqrt(other)


@compiled
def _power(base: float, degree: int) -> float:
    result = base
    for _ in range(degree - 1):
        result *= base
    return result
