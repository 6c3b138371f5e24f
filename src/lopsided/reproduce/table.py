"""What a table is made of: methods with their grids, sets, and the protocol that runs one on the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.datasets import Dataset, load
from lopsided.datasets.dataset import scale_to_unit_interval

LITERAL = " as published"  # after the name of a method: the algorithm to the letter, where ours differs

Parameters = dict[str, Any]
Entry = dict[str, Any]


@dataclass(frozen=True)
class Method:
    """A column of a table: how to build the learner from tuned parameters, and among which to choose.

    `make(**parameters, random_state=seed)` builds it. `most_rows` keeps a method off sets on which it would take hours.
    `takes_start` says that the labelled start of a table, where there is one, is the learner's `warm_up`.
    """

    make: Callable[..., Any]
    settings: Sequence[Mapping[str, Any]] = ({},)
    most_rows: int | None = None
    takes_start: bool = False


def built(kind: Any, **options: Any) -> Callable[..., Any]:
    """A learner with some of its parameters fixed; it can be sent to another process."""
    return partial(kind, **options)


@dataclass(frozen=True)
class Effort:
    """How much work to do: runs a cell, whether a coarse grid and the smaller sets will do, and how often to tune."""

    runs: int
    quick: bool = False
    tune_each: bool = False  # on the training rows of every split, not of the first alone


@dataclass(frozen=True)
class Table:
    """A published table, or a figure: there a method `curve @ x` is a point, and any other has a measure for each x.

    `sets` maps the published name of a set to its name here; `perform` runs one method on one set; `methods` may
    depend on the set. `measures` are the published measures that are compared; `percent` says that they are printed in
    percent. `remarks` tell what had to be decided, for the page.

    Where `ours` says that a method differs from the published one, its runs stand beside the published figure and are
    not counted as that figure made again; a method of the same name with `LITERAL` after it is.
    """

    name: str
    title: str
    sets: Mapping[str, str]
    methods: Callable[[str], Mapping[str, Method]]
    perform: Callable[[Table, str, str, Dataset, Effort], list[Entry]]
    measures: tuple[str, ...]
    runs: int
    reference: str  # the method that wins, ties and losses are counted for
    percent: bool = False
    lower_is_better: bool = False
    scaling: str = "unit"  # "unit" for [0, 1], "symmetric" for [-1, 1], "none"
    scaling_of: Mapping[str, str] = field(default_factory=dict)  # where a set is scaled otherwise
    keeps_order: bool = False  # rows come as they are in the file, also if that is sorted by class
    remarks: tuple[str, ...] = ()
    impossible: Mapping[str, str] = field(default_factory=dict)  # published set -> why it cannot be run
    tunes_each_run: bool = False  # parameters are chosen anew in every run
    too_long: Mapping[str, str] = field(default_factory=dict)  # set -> why some methods are left out of it
    x_label: str = ""  # of a figure; "seconds" takes the measured time
    log_x: bool = False
    label: str | None = None  # of sets of the user's, where it is not what is found
    positive: str | None = None
    own: tuple[str, ...] = ()  # how the names of the paper's own methods begin
    ours: Mapping[str, str] = field(default_factory=dict)  # beginning of a name -> how it differs from the published
    rarer: Mapping[str, float] = field(default_factory=dict)  # set -> percent of its rows in the rarer class

    def is_own(self, method: str) -> bool:
        """Whether the paper proposes the method, or compares with it."""
        return method.startswith(self.own)

    def difference_of(self, method: str) -> str | None:
        """How the method here differs from the published algorithm; None if it is the same."""
        if method.endswith(LITERAL):
            return None
        return next((reason for start, reason in self.ours.items() if method.startswith(start)), None)

    def called(self, method: str) -> str:
        """The name of a method that says whether it is a variant of ours."""
        return method if self.difference_of(method) is None else f"{method} (ours)"

    @property
    def tolerance(self) -> float:
        """How near is near: 0.01 of an area, 0.3 percentage points."""
        return 0.3 if self.percent else 0.01

    def load(self, published_name: str, data: str | Path | None) -> Dataset:
        """The set as the table wants it: scaled, and shuffled once if its file may be sorted by class."""
        dataset = _as_stored(self.sets[published_name], data, self.label, self.positive)
        dataset = scaled(dataset, self.scaling_of.get(published_name, self.scaling))
        return dataset if self.keeps_order else shuffled_if_sorted(dataset)


@lru_cache(maxsize=1)
def _as_stored(name: str, data: str | Path | None, label: str | None, positive: str | None) -> Dataset:
    """The methods of a table run on one set after the other, so it is read once for all of them."""
    return load(name, data=data, label=label, positive=positive)


def forget_sets() -> None:
    """Read the next set anew: its file may have changed since."""
    _as_stored.cache_clear()


def scaled(dataset: Dataset, scaling: str) -> Dataset:
    """Every feature in [0, 1] or [-1, 1] over the whole file, as the papers do; sparse sets stay as they are."""
    if scaling == "none" or not isinstance(dataset.X, np.ndarray):
        return dataset
    X = scale_to_unit_interval(dataset.X)
    if scaling == "symmetric":
        X = np.where(np.ptp(X, axis=0) > 0, 2.0 * X - 1.0, 0.0)
    return replace(dataset, X=np.ascontiguousarray(X))


def shuffled_if_sorted(dataset: Dataset) -> Dataset:
    """Published folds belong to the published order; other files may be sorted by class and are shuffled once."""
    if dataset.folds is not None or dataset.n_train is not None:
        return dataset
    order = np.random.default_rng(0).permutation(dataset.n_rows)
    return replace(dataset, X=dataset.X[order], y=dataset.y[order])
