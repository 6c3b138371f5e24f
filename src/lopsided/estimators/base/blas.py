"""One thread of the linear algebra library at a time, for products that are too small for two.

Threads of BLAS wait for each other in a busy loop: beside another process that works, products of 64 rows took twenty
times as long with two threads as with one. Nobody should have to set an environment variable for that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import Lock
from types import TracebackType
from typing import Any

from threadpoolctl import ThreadpoolController


class _Library:
    """A linear algebra library of this process: how many threads it uses, and how to change that."""

    def __init__(self, controller: Any) -> None:
        self._controller = controller
        # OpenBLAS 0.3.31 obeys its `set_num_threads` in the main thread only; this one it obeys in all.
        everywhere = getattr(controller.dynlib, "openblas_set_num_threads_local", None)
        self.set_threads: Callable[[int], Any] = everywhere or controller.set_num_threads

    @property
    def threads(self) -> int:
        return int(self._controller.num_threads)


@cache
def _libraries() -> list[_Library]:
    import scipy.linalg.blas  # noqa: F401  (loads the library of scipy, beside that of numpy)

    return [_Library(controller) for controller in ThreadpoolController().select(user_api="blas").lib_controllers]


class _OneThread:
    """Inside of `with one_blas_thread:` products use one thread; outside all is as it was.

    The number of threads belongs to the process: the first to come in sets it, the last to leave puts it back.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._before: list[int] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._before = [library.threads for library in _libraries()]
                self._set([1] * len(self._before))
            self._inside += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._set(self._before)

    def _set(self, numbers: list[int]) -> None:
        for library, number, before in zip(_libraries(), numbers, self._before, strict=True):
            if before != 1:
                library.set_threads(number)


one_blas_thread = _OneThread()
