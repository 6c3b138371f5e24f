"""Scalar products of a few rows with a few neighbouring points, which stay in the processor's registers until done.

A loop over points inside a loop over features, which is what the compiler can vectorise, fetches and writes every sum
once for a few features; that, and not the multiplications, is then what takes time. Here the loop over features is the
inner one, and the sums of a tile of points are vectors that the code names itself.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic

# Who names another processor in Numba's settings gets code for that one.
_NAMED = cast(Any, config).CPU_FEATURES
_FEATURES = get_host_cpu_features() if _NAMED is None else _NAMED
_LONG_REGISTERS = "+avx512f" in _FEATURES  # and thirty-two instead of sixteen
ROWS = 4
MORE_ROWS = 8 if _LONG_REGISTERS else 4
_VECTORS = 2  # of each row: eight sums of four rows, enough that none is waited for
_LANES = 8 if _LONG_REGISTERS else 4
POINTS = _VECTORS * _LANES
_FUSED = ("contract",)  # as in `compiled_as_written`: a tile has the bits of a loop over one row


def _tile_of(n_rows: int) -> Callable[[Any, Any, Any, Any, Any], None]:
    """dots[r, i] = X[t + r] . values[:, i] for so many rows r and the points i from `first` on, `POINTS` of them.

    Features are added up in their order.
    """

    def products(typing: Any, values: Any, first: Any, X: Any, t: Any, dots: Any) -> Any:
        if any((array.layout, array.dtype) != ("C", types.float64) for array in (values, X, dots)):
            return None  # places are counted by shapes, in numbers of this length
        return types.none(values, types.intp, X, types.intp, dots), generate

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table, queries, results = (
            context.make_array(signature.args[k])(context, builder, arguments[k]) for k in (0, 2, 4)
        )
        column, row = arguments[1], arguments[3]
        word, number = column.type, ir.DoubleType()
        vector = ir.VectorType(number, _LANES)
        n_features, table_row = cgutils.unpack_tuple(builder, table.shape)
        result_row = cgutils.unpack_tuple(builder, results.shape)[1]

        def vector_at(data: Any, place: Any, v: int) -> Any:
            at = builder.gep(data, [builder.add(place, word(v * _LANES))])
            return builder.bitcast(at, vector.as_pointer())

        def everywhere(value: Any) -> Any:
            one = builder.insert_element(vector(ir.Undefined), value, ir.IntType(32)(0))
            lanes = ir.VectorType(ir.IntType(32), _LANES)
            return builder.shuffle_vector(one, vector(ir.Undefined), lanes([0] * _LANES))

        nothing = vector([0.0] * _LANES)
        sums = [[cgutils.alloca_once_value(builder, nothing) for _ in range(_VECTORS)] for _ in range(n_rows)]
        starts = [builder.mul(builder.add(row, word(r)), n_features) for r in range(n_rows)]
        with cgutils.for_range(builder, n_features) as features:
            place = builder.add(builder.mul(features.index, table_row), column)
            points = [builder.load(vector_at(table.data, place, v), align=8) for v in range(_VECTORS)]
            for r in range(n_rows):
                x = everywhere(builder.load(builder.gep(queries.data, [builder.add(starts[r], features.index)])))
                for total, point in zip(sums[r], points, strict=True):
                    product = builder.fmul(point, x, flags=_FUSED)
                    builder.store(builder.fadd(builder.load(total), product, flags=_FUSED), total)
        for r in range(n_rows):
            place = builder.add(builder.mul(word(r), result_row), column)
            for v in range(_VECTORS):
                builder.store(builder.load(sums[r][v]), vector_at(results.data, place, v), align=8)
        return context.get_dummy_value()

    return cast(Callable[[Any, Any, Any, Any, Any], None], intrinsic(products))


products_of_tile, products_of_large_tile = _tile_of(ROWS), _tile_of(MORE_ROWS)
