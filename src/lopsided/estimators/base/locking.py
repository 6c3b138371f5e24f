"""One lock for each learner: whoever reads or writes its state holds it, so that every copy is of one moment."""

from __future__ import annotations

import copy
from threading import RLock
from typing import Any

# Attributes that belong to a process and not to a model: locks, and arrays and calls for single examples.
_OF_THE_PROCESS = ("_lock", "_one_", "_bound_")


class Locked:
    """An estimator whose calls wait for each other, and that is pickled and copied as of one moment."""

    @property
    def _alone(self) -> Any:
        """The lock. It may be taken again by the thread that has it; a learner shares it with its parts."""
        lock = self.__dict__.get("_lock")
        # `setdefault` is one step of the interpreter: two threads that come first get the same lock.
        return self.__dict__.setdefault("_lock", RLock()) if lock is None else lock

    def _use_lock(self, lock: Any) -> None:
        """Wait by another's lock from now on; what has parts passes it on to them."""
        self.__dict__["_lock"] = lock

    def __getstate__(self) -> Any:
        with self._alone:
            # Pickle reads what it gets after the lock is free again: so it gets copies.
            return copy.deepcopy(self._state_to_keep())

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A copy of one moment, each array copied once: by way of `__getstate__` it would be twice at every level."""
        with self._alone:
            made: Any = type(self).__new__(type(self))
            memo[id(self)] = made
            made.__setstate__(copy.deepcopy(self._state_to_keep(), memo))
        return made

    def _state_to_keep(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if not name.startswith(_OF_THE_PROCESS)}
