"""Progressive validation: every example is scored by the model that has not seen it, and then learned.

The honest way to judge a learner on a stream, and no example is set aside for it.

>>> from lopsided import KOIL
>>> from lopsided.datasets import four_clusters
>>> from lopsided.evaluate import progressive
>>> stream = four_clusters(random_state=0)
>>> for record in progressive(KOIL(gamma=20.0, random_state=0), [(stream.X, stream.y)], every=500):
...     print(record.n, record.positives, round(record.auroc, 3), round(record.average_precision, 3))
500 96 0.938 0.798
1000 200 0.948 0.852
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.utils import check_array

from lopsided.constraints import ParameterError, check_parameters, nothing, whole
from lopsided.estimators.base.classifier import COMMON_CONSTRAINTS
from lopsided.estimators.base.score_memory import ScoreMemory
from lopsided.labels import Signs
from lopsided.late import Delay, LateLearner, Unlabelled
from lopsided.late.door import missing_labels
from lopsided.late.schedule import rule_may_move
from lopsided.metrics import auroc, average_precision, f1

__all__ = ["Evaluation", "Record", "RowByRow", "progressive", "progressive_scores_of"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

DEFAULT_EVERY = 1000
_FIRST_ROOM = 1024
_KEPT_UP = 100  # rows after which a threshold that is kept online is found anew; before so many, after every row
_CONSTRAINTS = {"every": whole(1), "threshold": nothing() | COMMON_CONSTRAINTS["threshold"]}


@dataclass(frozen=True)
class Record:
    """What a learner has achieved on the first `n` examples of a stream.

    `positives` of them are of the rare class; `auroc` is nan while one class is missing, `average_precision` while
    there is no positive. `seconds` is the time spent scoring and learning, without reading or judging, and
    `examples_per_second` is n by it. `n_support` is None for a learner without support vectors.
    """

    n: int
    positives: int
    auroc: float
    average_precision: float
    f1: float
    seconds: float
    examples_per_second: float
    n_support: int | None


def progressive(
    learner: Any,
    batches: Iterable[tuple[Any, Any]],
    *,
    classes: Any = None,
    every: int = DEFAULT_EVERY,
    threshold: str | float | None = None,
) -> Iterator[Record]:
    """Test, then train, on batches (X, y) in order; yields a record after every so many examples and at the end.

    When: to see how well a learner does on a stream while it learns. To keep the scores too, use `Evaluation`.

    Parameters
    ----------
    learner : learner
        A learner of this package, or any scikit-learn classifier with partial_fit and decision_function.
    batches : iterable of pairs
        Features (array or CSR) and labels, such as the batches of `lopsided.streams.open_stream`.
    classes : list of two labels, optional
        Needed if the first batch does not show both labels and they are not 0, 1, -1 or bool.
    every : int >= 1, default=1000
        Examples between two records. A record sorts all scores so far, O(n log n).
    threshold : float or {"zero", "f1", "gmean", "rate:SHARE"} or None, default=None
        None judges F1 by the learner's own decision. The others judge any learner alike, the last three by a threshold
        kept online from its progressive scores, so that two learners can be compared fairly.
    """
    yield from Evaluation(learner, classes=classes, every=every, threshold=threshold).run(batches)


class Evaluation:
    """A progressive validation that keeps what it saw: exact areas need all scores.

    Memory: 10 bytes per example. Rows without a label, which `unlabelled` allows, are scored and not judged.

    Parameters
    ----------
    learner : learner
        A learner of this package, or any scikit-learn classifier with partial_fit and decision_function.
    classes : list of two labels, optional
        Needed if the first batch does not show both labels and they are not 0, 1, -1 or bool.
    every : int >= 1, default=1000
        Examples between two records. A record sorts all scores so far, O(n log n).
    threshold : float or {"zero", "f1", "gmean", "rate:SHARE"} or None, default=None
        None judges F1 by the learner's own decision; the others judge any learner alike.
    delay : Delay, int or str, optional
        How late labels are: 500 (rows), or "7d", which needs the times of the rows. None: not at all.
    unlabelled : Unlabelled or str, optional
        What becomes of rows whose label never comes, such as "negative:30d"; see `lopsided.late.LateLearner`.

    Attributes
    ----------
    learner : learner
        The learner as it stands.
    records : list of Record
        The records so far, the curve of a report.
    scores : array of shape (n,)
        The score of each example before it was learned.
    positive : array of shape (n,)
        Whether each example is of the rare class.
    called : array of shape (n,)
        Whether the learner called it so at the time.
    latest_scores, latest_called : arrays
        The scores and decisions of all rows of the latest step, also of those without a label.
    seconds : float
        Time spent scoring and learning.

    Examples
    --------
    >>> from lopsided import KOIL
    >>> from lopsided.datasets import four_clusters
    >>> stream = four_clusters(random_state=0)
    >>> evaluation = Evaluation(KOIL(gamma=20.0, random_state=0), every=100, threshold="f1")
    >>> last = list(evaluation.run([(stream.X, stream.y)]))[-1]
    >>> len(evaluation.records), evaluation.scores.size, last.n_support
    (10, 1000, 200)
    """

    def __init__(
        self,
        learner: Any,
        *,
        classes: Any = None,
        every: int = DEFAULT_EVERY,
        threshold: str | float | None = None,
        delay: Delay | str | int | None = None,
        unlabelled: Unlabelled | str | None = None,
    ) -> None:
        check_parameters("Evaluation", {"every": every, "threshold": threshold}, _CONSTRAINTS)
        self.learner = learner
        self.records: list[Record] = []
        self.seconds = 0.0
        self._stepper = learner if hasattr(learner, "progressive_scores") else RowByRow(learner)
        self.late = _late(learner, delay, unlabelled, classes, threshold)
        self._classes = classes
        self._every = int(every)
        self._rule = threshold
        self.latest_scores: Floats = np.empty(0)
        self.latest_called: Flags = np.empty(0, dtype=np.bool_)
        self._memory = ScoreMemory()
        self._online_threshold = 0.0
        self._n = 0
        self._scores: Floats = np.empty(_FIRST_ROOM)
        self._positive: Flags = np.empty(_FIRST_ROOM, dtype=np.bool_)
        self._called: Flags = np.empty(_FIRST_ROOM, dtype=np.bool_)

    @property
    def n(self) -> int:
        """How many examples have been scored and learned."""
        return self._n

    @property
    def scores(self) -> Floats:
        """The score of each example by the model before it."""
        return self._scores[: self._n]

    @property
    def positive(self) -> Flags:
        """Whether each example is of the rare class."""
        return self._positive[: self._n]

    @property
    def called(self) -> Flags:
        """Whether each example was called rare when it came."""
        return self._called[: self._n]

    @property
    def accuracy(self) -> float:
        """The share of right decisions; nan before the first."""
        return float(np.mean(self.positive == self.called)) if self._n else float("nan")

    def run(self, batches: Iterable[tuple[Any, Any]]) -> Iterator[Record]:
        """Go through the batches; yields a record after every so many examples, and one at the end."""
        for X, y in batches:
            labels = np.asarray(y)
            start = 0
            while start < len(labels):
                # Batches are cut where a record is due: learners give the same scores for a batch and for its parts.
                stop = min(len(labels), start + self._every - self._n % self._every)
                self.step(X[start:stop], labels[start:stop])
                start = stop
                if self._n % self._every == 0:
                    yield self.note()
        if self._n and (not self.records or self.records[-1].n < self._n):
            yield self.note()

    def step(self, X: Any, y: Any, *, times: Any = None) -> Flags:
        """Score and learn some rows; tells which of them had a label to be judged by."""
        if self._rule is None and self._n == 0 and getattr(self.learner, "started_", False):
            self._memory = self.learner.score_memory_
        begin = time.perf_counter()
        if self.late is not None:
            scores = self.late.progressive_scores(X, y, times=times)
        else:
            scores = self._stepper.progressive_scores(X, y, classes=self._classes)
        self.seconds += time.perf_counter() - begin
        judged = ~missing_labels(y if isinstance(y, Signs) else np.asarray(y))
        positive = np.asarray(y > 0) if isinstance(y, Signs) else np.asarray(y == self._positive_label())
        if self.late is not None:
            called = self._called_rare(scores, positive)
        else:
            called = np.empty(scores.size, dtype=np.bool_)
            called[judged] = self._called_rare(scores[judged], positive[judged])
            if not judged.all():
                called[~judged] = scores[~judged] > self.threshold
        self.latest_scores, self.latest_called = scores, called
        self._append(scores[judged], positive[judged], called[judged])
        return judged

    def _positive_label(self) -> Any:
        """The rare class, which also an engine knows whose learner has learned nothing yet."""
        labels = None if self.late is None else self.late.labels
        return _positive_label(self._stepper) if labels is None else labels.positive

    def _called_rare(self, scores: Floats, positive: Flags) -> Flags:
        """The decision on each row by the threshold at that time: where the rows before it put it."""
        if self.late is not None:
            # The engine knows best which labels were known.
            return np.asarray(scores > (self.late.thresholds if self._rule is None else self.threshold))
        signs, rule = np.where(positive, 1.0, -1.0), self._threshold_rule()
        if isinstance(rule, Real) or rule == "zero":
            self._memory.remember(signs, scores)
            return scores > (float(rule) if isinstance(rule, Real) else 0.0)
        called = np.empty(scores.size, dtype=np.bool_)
        start = 0
        while start < scores.size:
            n = self._n + start
            # Counted from the beginning of the stream, so that it is all the same in which pieces the rows come.
            stop = min(scores.size, start + 1 if n < _KEPT_UP else start + _KEPT_UP - n % _KEPT_UP)
            if n < _KEPT_UP or n % _KEPT_UP == 0:
                self._online_threshold = self._memory.threshold(str(rule))
            called[start:stop] = scores[start:stop] > self._online_threshold
            self._memory.remember(signs[start:stop], scores[start:stop])
            start = stop
        return called

    def _threshold_rule(self) -> str | float:
        if self._rule is not None:
            return self._rule
        return getattr(self.learner, "threshold_rule_", "zero")

    def decision_function(self, X: Any) -> Floats:
        """Scores of the learner as it stands, 0 where its decision lies in this evaluation."""
        raw = self.learner.decision_function(X) + getattr(self.learner, "threshold_", 0.0)
        return np.asarray(raw - self.threshold, dtype=np.float64)

    def record(self) -> Record:
        """The figures of merit over all examples so far; areas are exact."""
        learned = self.seconds
        return Record(
            n=self._n,
            positives=int(np.count_nonzero(self.positive)),
            auroc=auroc(self.positive, self.scores),
            average_precision=average_precision(self.positive, self.scores),
            f1=f1(self.positive, self.called.astype(np.float64), threshold=0.5),
            seconds=learned,
            examples_per_second=self._n / learned if learned > 0 else float("nan"),
            n_support=_n_support(self.learner),
        )

    def note(self) -> Record:
        """Add a record of where things stand to the curve."""
        self.records.append(self.record())
        return self.records[-1]

    @property
    def threshold(self) -> float:
        """Where the decision lies for the next rows; progressive scores are never shifted by it."""
        rule = self._threshold_rule()
        if isinstance(rule, Real):
            return float(rule)
        if rule == "zero":
            return 0.0
        if self._rule is not None:
            return self._memory.threshold(str(rule))
        return float(self.learner.threshold_) if getattr(self.learner, "started_", False) else 0.0

    def _append(self, scores: Floats, positive: Flags, called: Flags) -> None:
        needed = self._n + scores.size
        if needed > self._scores.size:
            room = max(needed, 2 * self._scores.size)
            self._scores = np.resize(self._scores, room)
            self._positive = np.resize(self._positive, room)
            self._called = np.resize(self._called, room)
        self._scores[self._n : needed] = scores
        self._positive[self._n : needed] = positive
        self._called[self._n : needed] = called
        self._n = needed


class RowByRow:
    """Gives `progressive_scores` to a classifier that has only partial_fit and decision_function.

    It scores a row and learns it, one call each. Until both classes have been learned the score is 0: such a model
    has nothing to rank by.
    """

    def __init__(self, learner: Any) -> None:
        for method in ("partial_fit", "decision_function"):
            if not hasattr(learner, method):
                raise ParameterError(
                    "The learner of a progressive validation must have progressive_scores, or partial_fit and "
                    f"decision_function. Got {type(learner).__name__} without {method}."
                )
        self.learner = learner
        self._unseen: set[Any] | None = set() if hasattr(learner, "classes_") else None

    @property
    def classes_(self) -> Any:
        """The two labels."""
        return self.learner.classes_

    def progressive_scores(self, X: Any, y: Any, classes: Any = None) -> Floats:
        """For each row: the score of the model before it, then learn from it."""
        # Checked once for the whole batch, so that the checks of every single call can be left out below.
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
        labels = np.asarray(y)
        known = getattr(self.learner, "classes_", classes)
        distinct = np.unique(labels if known is None else known)
        if distinct.size != 2:
            raise ParameterError(
                "The labels of a progressive validation must be two, announced by 'classes' or shown by the first "
                f"batch. Got {distinct[:5].tolist()}."
            )
        if self._unseen is None:
            self._unseen = set(distinct.tolist())
        scores = np.zeros(labels.size)
        with config_context(assume_finite=True, skip_parameter_validation=True):
            for row in range(labels.size):
                x = X[row : row + 1]
                if not self._unseen:
                    scores[row] = self.learner.decision_function(x)[0]
                self.learner.partial_fit(x, labels[row : row + 1], classes=distinct)
                if self._unseen:
                    self._unseen.discard(labels[row].item())
        return scores


def progressive_scores_of(learner: Any, X: Any, y: Any, classes: Any = None) -> Floats:
    """Progressive scores of any learner: its own, or row by row with partial_fit and decision_function.

    >>> from sklearn.linear_model import SGDClassifier
    >>> progressive_scores_of(SGDClassifier(random_state=0), [[0.0], [1.0]], [0, 1]).tolist()
    [0.0, 0.0]
    """
    stepper = learner if hasattr(learner, "progressive_scores") else RowByRow(learner)
    return np.asarray(stepper.progressive_scores(X, y, classes=classes), dtype=np.float64)


def _late(learner: Any, delay: Any, unlabelled: Any, classes: Any, threshold: str | float | None) -> LateLearner | None:
    """The engine for late labels, if there are any."""
    wait = Delay() if delay is None else Delay.parse(delay)
    rule = None if unlabelled is None else Unlabelled.parse(unlabelled)
    if not wait and (rule is None or rule.outcome == "skip"):
        return None  # a learner of this package skips rows without a label by itself
    if threshold is not None and rule_may_move(threshold):
        raise ParameterError(
            "The 'threshold' parameter of Evaluation must be None, 'zero' or a number if labels come late. "
            f"Got {threshold!r} instead."
        )
    keep = threshold is None
    return LateLearner(learner, delay=wait, unlabelled=unlabelled, classes=classes, keep_thresholds=keep)


def _positive_label(learner: Any) -> Any:
    """The rare class: `pos_label`, or the larger of the two labels, as every learner has it."""
    named = getattr(learner, "pos_label", None)
    return learner.classes_[1] if named is None else named


def _n_support(learner: Any) -> int | None:
    # Several kernels count all their vectors in one number; a linear learner has none.
    count = getattr(learner, "n_support_", None)
    return int(count) if isinstance(count, int | np.integer) else None
