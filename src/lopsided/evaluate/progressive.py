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
from collections.abc import Callable, Iterable, Iterator
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.alerts import AlertShare
from lopsided.constraints import ParameterError, check_parameters, nothing, whole
from lopsided.estimators.base.answering import share_of
from lopsided.estimators.base.classifier import COMMON_CONSTRAINTS
from lopsided.estimators.base.score_memory import ScoreMemory
from lopsided.evaluate.figures import Estimates, Record
from lopsided.evaluate.row_by_row import RowByRow
from lopsided.labels import Signs
from lopsided.late import Delay, LateLearner, SelectiveLabels, Unlabelled
from lopsided.late.door import missing_labels
from lopsided.late.schedule import rule_may_move
from lopsided.metrics import auroc, average_precision, f1

__all__ = ["Estimates", "Evaluation", "Record", "progressive"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

# Which rows of a slice of a step are alerts, by their scores; and what their labels count, by thresholds too.
Alert = Callable[[slice, Floats], Flags]
Choose = Callable[[slice, Floats, Floats], Floats]

DEFAULT_EVERY = 1000
_FIRST_ROOM = 1024
_KEPT_UP = 100  # rows after which a threshold that is kept online is found anew; before so many, after every row
_CONSTRAINTS = {"every": whole(1), "threshold": nothing() | COMMON_CONSTRAINTS["threshold"]}


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
        None judges F1 by the learner's own rule. The others judge any learner alike, the last three by a threshold
        kept online from its progressive scores, a rate by `lopsided.alerts.AlertShare`: a fair comparison of learners.
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
    corrections : {"learn", "ignore"}, default="ignore"
        What becomes of second labels that come by key; see `lopsided.late.LateLearner`.
    by_key : bool, default=False
        Whether labels are told to `late` by key, and rows have keys. Rows are then judged by the last label that has
        been told for their key when they come.
    selective : SelectiveLabels, optional
        If only the labels of alerts, and of a random share of all other rows, are to be learned. All are judged, so
        that `estimates` can be compared with the truth.

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
    alerted : array
        With `selective`: which of the rows of the latest step were alerts.
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
        corrections: str = "ignore",
        by_key: bool = False,
        selective: SelectiveLabels | None = None,
    ) -> None:
        check_parameters("Evaluation", {"every": every, "threshold": threshold}, _CONSTRAINTS)
        self.learner = learner
        self.records: list[Record] = []
        self.seconds = 0.0
        self._stepper = learner if hasattr(learner, "progressive_scores") else RowByRow(learner)
        self.selective = selective
        self.alerted: Flags = np.zeros(0, dtype=np.bool_)
        self.latest_scores: Floats = np.zeros(0)
        self.latest_called: Flags = np.zeros(0, dtype=np.bool_)
        is_late = by_key or selective is not None
        rules = {"delay": delay, "unlabelled": unlabelled, "corrections": corrections, "classes": classes}
        self.late = _late(learner, rules, threshold, is_late=is_late)
        self._classes = classes
        self._every = int(every)
        self._rule = threshold
        self._memory = ScoreMemory()
        self._online_threshold = 0.0
        self._following: AlertShare | None = None
        self._n = 0
        self._scores: Floats = np.empty(_FIRST_ROOM)
        self._positive: Flags = np.empty(_FIRST_ROOM, dtype=np.bool_)
        self._called: Flags = np.empty(_FIRST_ROOM, dtype=np.bool_)
        self._chances: list[Floats] = []  # the inverse of the chance to see each label, 0 where it was not seen

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

    def step(self, X: Any, y: Any = None, *, times: Any = None, keys: Any = None, alert: Alert | None = None) -> Flags:
        """Score and learn some rows; tells which of them had a label to be judged by.

        `y` None takes the labels that were told for their `keys`. `alert` says which rows of a slice are alerts by
        their scores, if only labels of alerts are seen; None: those that the learner decides on.
        """
        seen, share = None, share_of(self._threshold_rule())
        if self._rule is None and self._n == 0 and getattr(self.learner, "started_", False):
            self._memory = self.learner.score_memory_
            if share is not None and self._following is None:
                self._following = AlertShare(share, self.learner.recent_scores_)
        begin = time.perf_counter()
        if self.late is not None:
            told = y if y is not None or keys is None else self.late.told(keys)
            choose, weights = (None, []) if self.selective is None else self._selection(alert, share)
            scores = self.late.progressive_scores(X, y, times=times, keys=keys, choose=choose)
            y, seen = told, np.concatenate(weights) if weights else None
        else:
            scores = self._stepper.progressive_scores(X, y, classes=self._classes)
        self.seconds += time.perf_counter() - begin
        judged = ~missing_labels(y if isinstance(y, Signs) else np.asarray(y))
        positive = np.asarray(y > 0) if isinstance(y, Signs) else np.asarray(y == self._positive_label())
        if share is not None:
            is_decided = self.selective is not None and alert is None
            called = self.alerted if is_decided else self._called_by_share(share, scores)
            self._memory.remember(np.where(positive, 1.0, -1.0)[judged], scores[judged])
        elif self.late is not None:
            called = self._called_rare(scores, positive)
        else:
            called = np.empty(scores.size, dtype=np.bool_)
            called[judged] = self._called_rare(scores[judged], positive[judged])
            if not judged.all():
                called[~judged] = scores[~judged] > self.threshold
        self.latest_scores, self.latest_called = scores, called
        self._append(scores[judged], positive[judged], called[judged])
        if seen is not None:
            self._chances.append(seen[judged])
        return judged

    def _selection(self, alert: Alert | None, share: float | None) -> tuple[Choose, list[Floats]]:
        """What tells the engine whose labels are seen, and where it notes the inverse of the chance of that."""
        assert self.selective is not None
        selective, flags, weights = self.selective, [np.zeros(0, dtype=np.bool_)], []

        def choose(rows: slice, scores: Floats, thresholds: Floats) -> Floats:
            if alert is not None:
                alerted = alert(rows, scores)
            else:
                alerted = scores > thresholds if share is None else self._called_by_share(share, scores)
            flags.append(alerted)
            self.alerted = np.concatenate(flags)
            weights.append(selective.choose(alerted))
            return selective.for_learning(weights[-1])

        return choose, weights

    def estimates(self) -> Estimates:
        """The figures of merit as they look to somebody who has only the labels that were seen."""
        weights = self.chances
        return Estimates(
            n=int(np.count_nonzero(weights)),
            rows=float(weights.sum()),
            positives=float(weights[self.positive].sum()),
            auroc=auroc(self.positive, self.scores, sample_weight=weights),
            average_precision=average_precision(self.positive, self.scores, sample_weight=weights),
            f1=f1(self.positive, self.called.astype(np.float64), 0.5, sample_weight=weights),
        )

    @property
    def chances(self) -> Floats:
        """With `selective`: for each row the inverse of the chance to see its label, 0 where it was not seen."""
        return np.concatenate([np.zeros(0), *self._chances])

    def _positive_label(self) -> Any:
        """The rare class, which also an engine knows whose learner has learned nothing yet."""
        labels = None if self.late is None else self.late.labels
        return _positive_label(self._stepper) if labels is None else labels.positive

    def _called_by_share(self, share: float, scores: Floats) -> Flags:
        """Which rows are among the share to be called rare, decided as they come."""
        if self._following is None or self._following.share != share:
            self._following = AlertShare(share)
        return self._following.decide(scores)

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


def _late(learner: Any, rules: dict[str, Any], threshold: str | float | None, *, is_late: bool) -> LateLearner | None:
    """The engine for late labels, if there are any."""
    wait = Delay() if rules["delay"] is None else Delay.parse(rules["delay"])
    rule = None if rules["unlabelled"] is None else Unlabelled.parse(rules["unlabelled"])
    if not is_late and not wait and (rule is None or rule.outcome == "skip"):
        return None  # a learner of this package skips rows without a label by itself
    if threshold is not None and rule_may_move(threshold) and share_of(threshold) is None:
        raise ParameterError(
            "The 'threshold' parameter of Evaluation must be None, 'zero', 'rate:SHARE' or a number if labels come "
            f"late. Got {threshold!r} instead."
        )
    goes_by_share = share_of(getattr(learner, "threshold_rule_", "zero")) is not None
    return LateLearner(learner, **rules, keep_thresholds=threshold is None and not goes_by_share)


def _positive_label(learner: Any) -> Any:
    """The rare class: `pos_label`, or the larger of the two labels, as every learner has it."""
    named = getattr(learner, "pos_label", None)
    return learner.classes_[1] if named is None else named


def _n_support(learner: Any) -> int | None:
    count = getattr(learner, "n_support_", None)  # of all kernels together; a linear learner has none
    return int(count) if isinstance(count, int | np.integer) else None
