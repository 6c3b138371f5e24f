"""Numba's compiler with what costs time and gives no speed here left out: two thirds of the time to the first result.

- Loops are neither unrolled nor interleaved, and the optimiser runs once over a module, at its first level: the loops
  that matter have blocks and independent sums of their own, and their machine code is as fast at half the size.
- Numba looks for the implementation of every operation by the options of the compilation, which it compares one by one,
  some ten thousand times. Options that are the same are one object here, so comparing them is nothing.
- Passes that look for what is never written here are left out: closures, whole-array expressions (they would allocate),
  functions to be inlined before they are typed.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering, NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes, InlineInlinables

_NOTHING_TO_DO = {InlineClosureLikes, InlineInlinables, NopythonRewrites}


class LeanLibrary(JITCodeLibrary):
    """The machine code of a function and of all that is built into it."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout  # the passes over the whole module do the rest

    def _optimize_final_module(self) -> None:
        options = binding.create_pipeline_tuning_options(speed_level=1)
        options.loop_vectorization, options.slp_vectorization = True, False
        options.loop_unrolling = options.loop_interleaving = False
        builder = binding.create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)


class _SharedFlags(Flags):
    """Options of a compilation, of which there is one object for all that are the same, and which never change."""

    def copy(self) -> Any:
        return self

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


_SHARED: dict[tuple[tuple[str, str], ...], _SharedFlags] = {}


def _shared(flags: Any) -> _SharedFlags:
    said = tuple((name, str(value)) for name, value in flags.values().items())
    return _SHARED.setdefault(said, _SharedFlags(flags))


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanLowering(NativeLowering):
    """From typed code to machine code."""

    _name = "lean_lowering"
    library: type[LeanLibrary] = LeanLibrary

    def run_pass(self, state: Any) -> bool:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class LeanCompiler(CompilerBase):
    """The passes of Numba over a function, and options that are shared."""

    lowering: type[LeanLowering] = LeanLowering

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, return_type: Any, flags: Any, locals: Any
    ) -> None:
        super().__init__(typingctx, targetctx, library, args, return_type, _shared(flags), locals)

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        needed = [(made, said) for made, said in passes.passes if made not in _NOTHING_TO_DO]
        passes.passes = [(self.lowering if made is NativeLowering else made, said) for made, said in needed]
        passes.finalize()
        return [passes]
