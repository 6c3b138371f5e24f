"""What the package knows about a learner without importing it: where it is, what it can do, how to try it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# True, False, or asked of an instance, where it depends on its parameters.
Claim = bool | Callable[[Any], bool]


@dataclass(frozen=True)
class Entry:
    """One class that can be saved, loaded, checked and documented by its name.

    `trials` are parameters of small instances that together cover the options; every check of the package runs on each
    of them. A value that is a function is called when the instance is made, so that an entry costs nothing to import.
    """

    name: str
    module: str
    family: str
    trials: tuple[Mapping[str, Any], ...] = ({},)
    is_learner: bool = True  # a scaler is none
    online: bool = True  # learns row by row; else from a whole set only
    on_command_line: bool = True  # `--learner` may name it
    takes_tables: bool = False  # rows are columns of a table by a schema, not vectors of numbers
    takes_arrays: Claim = True  # rows may be arrays of numbers, whatever else they may be
    sparse: Claim = True  # takes CSR rows and learns the same from them
    bounded: Claim = True  # holds no more bytes after a million rows than after a hundred
    random: Claim = False  # its seed makes a difference
    keeps_vectors: Claim = False  # has support_vectors_ and n_support_
    linear: bool = False  # has coef_, weights of features
    mergeable: Claim = False  # `merge` makes one of several, `empty_like` an empty one to be merged later
    adds_up: Claim = False  # the merge of models of parts is, but for rounding, the model of the whole
    explainable: Claim = True  # a score can be taken apart: as the sum that it is, or else by columns
    # What a progressive run reports is what the model would have answered: not so for averages and drawn columns.
    reports_its_answer: Claim = True
    registered_class: type | None = None  # of a class that a program brought along

    @cached_property
    def kind(self) -> type:
        """The class; this imports its module."""
        return self.registered_class or getattr(importlib.import_module(self.module), self.name)

    def instances(self) -> list[Any]:
        """Small unfitted instances that cover the options."""
        return [self.kind(**{name: _made(value) for name, value in trial.items()}) for trial in self.trials]

    def claims(self, ability: str, instance: Any) -> bool:
        """Whether an instance claims an ability of this class, such as "sparse"."""
        claim = getattr(self, ability)
        return bool(claim(instance)) if callable(claim) else bool(claim)


def _made(value: Any) -> Any:
    return value() if callable(value) else value
