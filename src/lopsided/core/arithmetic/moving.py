"""Moving numbers within an array, however the two places overlap, as fast as the machine copies memory.

A loop that goes from the last number to the first is not vectorised; it takes ten times as long.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _move_by_one(typing: Any, array: Any, up: Any) -> Any:
    """All numbers of a 1-d array one place up (the last is lost) or down (the first is lost)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given = context.make_array(signature.args[0])(context, builder, arguments[0])
        first, one = given.data, context.get_constant(types.intp, 1)
        second = builder.gep(first, [one])
        to, since = builder.select(arguments[1], second, first), builder.select(arguments[1], first, second)
        cgutils.raw_memmove(builder, to, since, builder.sub(given.nitems, one), given.itemsize)
        return context.get_dummy_value()

    return types.none(array, types.boolean), generate


move_by_one = cast(Callable[[Any, bool], None], intrinsic(_move_by_one))
