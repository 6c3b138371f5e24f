"""Asking for memory before it is needed: rows of a large table that are used in no order would each be waited for."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from lopsided.core.arithmetic.compiled import Floats, compiled

_LINE = 8  # numbers in a line of the cache


def _fetch_line(typing: Any, array: Any, place: Any) -> Any:
    """Fetch the line of the cache that this number of a 1-d array is in, without waiting."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), cgutils.voidptr_t)
        flag = ir.IntType(32)
        prefetch = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, flag, flag, flag]), "llvm.prefetch.p0i8"
        )
        builder.call(prefetch, [pointer, flag(1), flag(3), flag(1)])  # to be written, to be kept, data
        return context.get_dummy_value()

    return types.none(array, types.intp), generate


fetch_line = cast(Callable[[Any, Any], None], intrinsic(_fetch_line))


@compiled
def fetch_ahead(numbers: Floats) -> None:
    """Let the processor fetch these numbers while it does something else."""
    for place in range(0, numbers.size, _LINE):
        fetch_line(numbers, place)
    fetch_line(numbers, numbers.size - 1)  # they need not begin with a line
