"""What happened on the way: an evaluation, the moments of its rows, and how the model changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.evaluate.column_losses import ColumnLosses, column_losses
from lopsided.evaluate.kept_rows import Cells, KeptRows
from lopsided.evaluate.progressive import Evaluation, Record
from lopsided.inspection import kernel_weights_of

_FIRST_RECORD = 100  # rows
_BETWEEN_RECORDS = 1.15  # each sorts all scores so far, so they come ever more seldom


@dataclass(frozen=True)
class Moment:
    """What a model was made of after `n` rows, and the seconds it had worked."""

    n: int
    seconds: float
    n_support: int | None
    weights: npt.NDArray[np.float64] | None  # of kernels or experts


class History:
    """An evaluation that also keeps when rows came, what the model looked like at every record, and rows worth a look.

    Memory: the 10 bytes per row of the evaluation, and 8 more for its moment where there are `times`.

    Parameters
    ----------
    evaluation : Evaluation
        What is run.
    kept : KeptRows, optional
        Takes a look at every row. None: no rows are kept.

    >>> from lopsided import KOIL
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.evaluate import Evaluation, History
    >>> stream = four_clusters(random_state=0)
    >>> history = History(Evaluation(KOIL(gamma=20.0, random_state=0)))
    >>> for start in range(0, 1000, 250):
    ...     record = history.step(stream.X[start : start + 250], stream.y[start : start + 250])
    >>> [(moment.n, moment.n_support) for moment in history.moments]
    [(250, 149), (500, 196), (750, 200), (1000, 200)]
    """

    def __init__(self, evaluation: Evaluation, kept: KeptRows | None = None) -> None:
        self.evaluation = evaluation
        self.kept = kept
        self.moments: list[Moment] = []
        self._times: list[npt.NDArray[np.float64]] = []
        self._next_record = _FIRST_RECORD
        self._n_came = 0

    def step(self, X: Any, y: Any, times: Any = None, cells: Cells | None = None, **more: Any) -> Record | None:
        """Score and learn some rows; a record if one is due after them. `cells` tells the columns of one of them.

        `more` are other arguments of `Evaluation.step`.
        """
        judged = self.evaluation.step(X, y, times=times, **more)
        if self.kept is not None:
            places = np.flatnonzero(judged)
            new = slice(self.evaluation.n - places.size, self.evaluation.n)
            positive, scores = self.evaluation.positive[new], self.evaluation.scores[new]
            self.kept.take(X, places, positive, scores, before=self._n_came, times=times, cells=cells)
        self._n_came += judged.size
        if times is not None:
            self._times.append(np.asarray(times, dtype=np.float64)[judged])
        n = self.evaluation.n
        if n < self._next_record:
            return None
        self._next_record = max(self._next_record + _FIRST_RECORD, int(n * _BETWEEN_RECORDS))
        return self.note()

    def note(self) -> Record:
        """A record of where things stand, a new one if rows have come since the latest."""
        records = self.evaluation.records
        if records and records[-1].n == self.evaluation.n:
            return records[-1]
        record = self.evaluation.note()
        self.moments.append(
            Moment(record.n, record.seconds, record.n_support, kernel_weights_of(self.evaluation.learner))
        )
        return record

    def column_losses(self) -> ColumnLosses | None:
        """How much the final model ranks by each column, on the latest rows; None if none were kept.

        Nor is it told of a model with a history: what keys had done when these rows came is not known any more, and
        what they have done by now holds the labels of these very rows.
        """
        if hasattr(self.evaluation.learner, "arrived"):
            return None
        sample = None if self.kept is None else self.kept.sample()
        learner = self.evaluation.learner
        if sample is None or self.kept is None or not getattr(learner, "started_", True):
            return None
        return column_losses(learner, *sample, share=self.kept.share)

    @property
    def times(self) -> npt.NDArray[np.float64] | None:
        """Seconds of every row; None without a time column."""
        return np.concatenate(self._times) if self._times else None
