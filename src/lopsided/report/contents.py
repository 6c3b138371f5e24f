"""What a report is about: streams, and how learners met them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lopsided.drift import DriftAlarm
from lopsided.evaluate import ColumnLosses, Evaluation, History, KeptRows, Moment
from lopsided.report.clock import Clock


@dataclass(frozen=True)
class Run:
    """One learner on one stream."""

    learner: str
    evaluation: Evaluation


@dataclass(frozen=True)
class Detail:
    """One run row by row: scores given before a row was learned, whether it is rare, whether it was called so.

    `threshold` is where the decision lay at the end, `times` the moments of the rows in seconds, if they are known, and
    `are_dates` whether these count from 1970 (None: guessed by their size). `kept` are rows worth a look, `columns` how
    much the final model ranks by each column. `drift` has watched the rows as they came.
    """

    scores: npt.NDArray[np.float64]
    positive: npt.NDArray[np.bool_]
    called: npt.NDArray[np.bool_]
    threshold: float
    times: npt.NDArray[np.float64] | None = None
    moments: Sequence[Moment] = ()
    are_dates: bool | None = None
    kept: KeptRows | None = None
    columns: ColumnLosses | None = None
    drift: DriftAlarm | None = None

    @classmethod
    def of(cls, history: History, *, are_dates: bool | None = None, drift: DriftAlarm | None = None) -> Self:
        """All that an evaluation has kept; scores its sample of rows to find the columns that matter."""
        seen = history.evaluation
        return cls(
            seen.scores,
            seen.positive,
            seen.called,
            seen.threshold,
            history.times,
            history.moments,
            are_dates,
            history.kept,
            history.column_losses(),
            drift,
        )

    @cached_property
    def clock(self) -> Clock:
        """What stands on the axes over the stream."""
        return Clock.of(self.times, are_dates=self.are_dates)

    @property
    def n(self) -> int:
        """How many rows there are."""
        return int(self.scores.size)


@dataclass(frozen=True)
class StreamResult:
    """One stream and all that learned from it.

    `X` and `y` (1 for the rare class) are given if the stream has two features and is small enough to be drawn,
    `detail` if one run is to be looked at closely.
    """

    name: str
    description: str
    runs: Sequence[Run]
    X: npt.NDArray[Any] | None = None
    y: npt.NDArray[Any] | None = None
    detail: Detail | None = None

    @property
    def can_be_drawn(self) -> bool:
        """Whether the examples are points of a plane."""
        return self.X is not None and self.y is not None and self.X.shape[1] == 2


@dataclass(frozen=True)
class Grid:
    """A table of texts; columns from `first_number` on hold numbers, those from `first_long` on texts of many words."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    first_number: int = 1
    first_long: int | None = None


@dataclass(frozen=True)
class Report:
    """All that a report says, in the order in which it says it."""

    title: str
    introduction: Sequence[str]
    table: Grid
    streams: Sequence[StreamResult]
    facts: Mapping[str, str] = field(default_factory=dict)
