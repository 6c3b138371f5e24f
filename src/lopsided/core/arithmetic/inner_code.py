"""What compiled code calls is compiled for that alone: no way in from Python, no machine code of its own.

Numba treats every function as if Python were to call it. It makes a wrapper that takes named tuples of dozens of arrays
apart, machine code, and a file; and a call with a constant is a function of its own. Most functions here are only parts
of a loop that Python enters once: `serve_inner_calls` gives each a twin that the loop is built from, and the time to
the first result on a fresh machine is cut in half. It is built in wherever it is called, whatever its length: a call
hands over dozens of arrays number by number, which took KOIL as long as its arithmetic. A twin is optimised before it
is built into others, so that two loops with the same part compute the same bits.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.compiler_machinery import register_pass
from numba.core.types import unliteral

from lopsided.core.arithmetic.lean_compiler import LeanCompiler, LeanLibrary, LeanLowering


class _WithoutEnvironments:
    """A code generator that keeps no Python objects for a function: nothing runs it by itself."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def set_env(self, name: str, environment: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)


class _InnerLibrary(LeanLibrary):
    """Code to be built into other code: optimised, but never handed to the machine."""

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironments(self._codegen)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(LeanLowering):
    _name = "inner_lowering"
    library = _InnerLibrary


class _InnerCompiler(LeanCompiler):
    lowering = _InnerLowering


def serve_inner_calls(dispatcher: Any, function: Callable[..., Any], options: dict[str, Any]) -> None:
    """Let calls of `dispatcher` from compiled code be calls of a twin that is compiled for this alone."""
    without_ways_in: dict[str, Any] = options | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    twin: Any = njit(pipeline_class=_InnerCompiler, forceinline=True, **without_ways_in)(function)

    def call_template(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        keywords = {name: unliteral(kind) for name, kind in keywords.items()}
        return twin.get_call_template(tuple(map(unliteral, arguments)), keywords)

    dispatcher.get_call_template, dispatcher.get_overload = call_template, twin.get_overload
