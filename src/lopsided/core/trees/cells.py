"""Sums by code: cells of gradient, curvature and number of rows, and the addition of one row to one of them.

Growing a tree is little else than such additions, millions of them, at places that nothing foretells. A cell has four
numbers, one more than it needs, so that it is loaded, changed and stored as one vector; the compiler does not find that
by itself, and three additions apart take more than twice as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from lopsided.core.arithmetic.compiled import Floats, compiled

Places = npt.NDArray[np.uint32]  # of cells
GRADIENT, CURVATURE, COUNT = range(3)
CELL = 4
_VECTOR = ir.VectorType(ir.DoubleType(), CELL)


def _pointer_to(context: Any, builder: Any, array_type: Any, array: Any, place: Any) -> Any:
    """The cell at this place of a one-dimensional array, as a vector."""
    numbers = context.make_array(array_type)(context, builder, array).data
    first = builder.mul(builder.zext(place, ir.IntType(64)), ir.IntType(64)(CELL))
    return builder.bitcast(builder.gep(numbers, [first]), _VECTOR.as_pointer())


def _load(builder: Any, pointer: Any) -> Any:
    cell = builder.load(pointer)
    cell.align = 8  # arrays of floats start anywhere
    return cell


@intrinsic
def add_to_cell(typing_context: Any, sums: Any, place: Any, gradient: Any, curvature: Any) -> Any:
    """Add (gradient, curvature, 1, 0) to the cell at this place."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer_to(context, builder, signature.args[0], arguments[0], arguments[1])
        added: Any = ir.Constant(_VECTOR, [0.0, 0.0, 1.0, 0.0])
        for part, value in ((GRADIENT, arguments[2]), (CURVATURE, arguments[3])):
            added = builder.insert_element(added, value, ir.IntType(32)(part))
        builder.store(builder.fadd(_load(builder, pointer), added), pointer).align = 8
        return context.get_dummy_value()

    return types.void(sums, place, gradient, curvature), generate


@intrinsic
def _subtract_cell(typing_context: Any, sums: Any, others: Any, place: Any) -> Any:
    """Subtract a cell of other sums from the one at the same place; 0 if that leaves no rows in it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        own, other = (
            _pointer_to(context, builder, kind, array, arguments[2])
            for kind, array in zip(signature.args[:2], arguments[:2], strict=True)
        )
        left = builder.fsub(_load(builder, own), _load(builder, other))
        # The number of rows in all four places: with a vector of truths this is a mask, with one truth a branch.
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), CELL), [COUNT] * CELL)
        rows = builder.shuffle_vector(left, left, everywhere)
        nothing = ir.Constant(_VECTOR, [0.0] * CELL)
        builder.store(builder.select(builder.fcmp_ordered(">", rows, nothing), left, nothing), own).align = 8
        return context.get_dummy_value()

    return types.void(sums, others, place), generate


@compiled
def subtract_cells(sums: Floats, others: Floats) -> None:
    """sums -= others, and exactly 0 in every cell that is left without rows, whatever rounding would leave in it.

    A split after such a cell is the same as the one before it, and must not look better.
    """
    for place in range(np.uint64(sums.size // CELL)):
        _subtract_cell(sums, others, np.uint64(place))  # type: ignore[call-arg]
