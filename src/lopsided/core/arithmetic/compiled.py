"""The one decorator for compiled code.

Numba has no type stubs and a cache that looks only at the file of the function it compiles: change a helper in
another file and a stale program would be loaded. `compiled` gives both what they lack, a type and a stamp of the
whole package `core`, all folders of it, and of the folder that the function is in. The stamp is of what the files say,
not of when they were written: a fresh copy of the same sources finds what was compiled for the last one.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from numba import njit, typeof

from lopsided.core.arithmetic.inner_code import serve_inner_calls
from lopsided.core.arithmetic.lean_compiler import LeanCompiler

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
ShortIntegers = npt.NDArray[np.int32]

_Function = TypeVar("_Function", bound=Callable[..., Any])

# What the compiler may assume: sums may be reordered and multiply-adds fused, so that loops vectorise; but not that
# NaN and infinity do not occur, because the steps test for them.
_ARITHMETIC = {"reassoc", "contract", "nsz", "arcp"}


def compiled(function: _Function) -> _Function:
    """Compile on first call, without the GIL, and keep the machine code on disk."""
    return _compiled(function, _ARITHMETIC)


def compiled_as_written(function: _Function) -> _Function:
    """The same for arithmetic whose order matters: only multiply-adds may be fused."""
    return _compiled(function, {"contract"})


def compiled_unfused(function: _Function) -> _Function:
    """Not even multiply-adds are fused: for sums of products that must be the same whichever product comes first."""
    return _compiled(function, set())


def _compiled(function: _Function, arithmetic: set[str]) -> _Function:
    # Without the reference counts of Numba's runtime: compiled code here allocates nothing and keeps no array beyond a
    # call, and counting the views that it makes of its arguments took as long as the arithmetic.
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": arithmetic, "_nrt": False}
    for_python: dict[str, Any] = options | {"no_cfunc_wrapper": True}  # that would be a way in from C
    dispatcher: Any = njit(cache=True, pipeline_class=LeanCompiler, **for_python)(function)
    _stamp_with_all_sources(dispatcher)
    if hasattr(dispatcher, "compile"):  # not the plain function that Numba gives back when it is switched off
        serve_inner_calls(dispatcher, function, options)
        dispatcher.compile = _without_collections(dispatcher.compile)
    return cast(_Function, dispatcher)


def _without_collections(compile_for: Callable[..., Any]) -> Callable[..., Any]:
    """The compiler makes a million objects and drops few: looking for cycles meanwhile took an eighth of its time."""

    def compile_at_once(signature: Any) -> Any:
        if not gc.isenabled():
            return compile_for(signature)
        gc.disable()
        try:
            return compile_for(signature)
        finally:
            gc.enable()

    return compile_at_once


def bound(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """A call with these very arguments that looks up no types: 2 us instead of 10 for the many arrays of a learner."""
    entry = cast(Any, function).compile(tuple(map(cast(Any, typeof), arguments)))
    return partial(entry, *arguments)


def _stamp_with_all_sources(dispatcher: Any) -> None:
    """Let the disk cache forget a program when any file of the core has changed, or any beside it, not only its own."""
    cache_file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = _stamp_of_sources(Path(dispatcher.py_func.__code__.co_filename).parent)


@cache
def _stamp_of_sources(folder: Path) -> tuple[tuple[str, str], ...]:
    core = Path(__file__).parents[1]
    sources = set(core.rglob("*.py")) | set(folder.glob("*.py"))
    return tuple(sorted((path.relative_to(core.parent).as_posix(), _digest(path)) for path in sources))


@cache
def _digest(path: Path) -> str:
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()
