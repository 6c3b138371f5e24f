"""Many learners on one pass through a stream, the worse half dropped again and again."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np

from lopsided.alerts import AlertBudget
from lopsided.constraints import ParameterError
from lopsided.core.arithmetic.compiled import Floats
from lopsided.labels import LabelMap, Signs
from lopsided.late import Delay, LateLearner, Unlabelled
from lopsided.late.door import signs_of
from lopsided.metrics import AUPRC, AUROC

FIRST_CUT = 1000  # rows; then at every doubling of them
FEWEST_POSITIVES = 20  # before anybody is dropped
FINALISTS = 2

Measure = Literal["auroc", "auprc", "alerts"]


class AlertPrecision:
    """The share of the alerts within a budget that were positive rows, each decided when its row came."""

    def __init__(self, budget: AlertBudget) -> None:
        self.budget = budget
        self.n_alerts = self.n_hits = 0

    def update(self, positive: Any, judged: Any, times: Any, scores: Any, keys: Any) -> None:
        """More rows; those without a label take part, and are not judged."""
        flagged = self.budget.decide(times, scores, keys) & judged
        self.n_alerts += int(np.count_nonzero(flagged))
        self.n_hits += int(np.count_nonzero(flagged & positive))

    @property
    def value(self) -> float:
        """nan before the first alert."""
        return self.n_hits / self.n_alerts if self.n_alerts else float("nan")


class Racer:
    """A learner in a race: its model, the areas of its progressive scores so far, and how far it has come.

    `entrant` is whatever tells it from the others.
    """

    def __init__(self, model: Any, entrant: Any = None) -> None:
        self.model = model
        self.entrant = model if entrant is None else entrant
        self.n_rows = 0
        self.is_in = True
        self.metrics: dict[str, Any] = {"auroc": AUROC(), "auprc": AUPRC(interpolation="step")}
        self._late: LateLearner | None = None

    def enter(self, budget: AlertBudget | None = None, **rules: Any) -> None:
        """Take part under the rules for late labels, with a budget of alerts if these are measured."""
        self._late = LateLearner(self.model, **rules)
        if budget is not None:
            self.metrics["alerts"] = AlertPrecision(AlertBudget(budget.limit, budget.period, budget.key))

    def step(self, X: Any, signs: Floats, labels: LabelMap, times: Any, keys: Any = None) -> None:
        """Score and learn some rows. Signs come with their labels apart, because pickling an array drops these."""
        assert self._late is not None
        scores = self._late.progressive_scores(X, Signs.of(signs, labels), times=times)
        judged, positive = ~np.isnan(signs), signs > 0
        for name, metric in self.metrics.items():
            if name == "alerts":
                metric.update(positive, judged, times, scores, keys)
            else:
                metric.update_many(positive[judged], scores[judged])
        self.n_rows += scores.size

    def finish(self) -> None:
        """Learn what still waits for its label."""
        assert self._late is not None
        self._late.finish()

    def value(self, measure: str) -> float:
        """Its figure so far; -1 while that is not defined."""
        value = self.metrics[measure].value
        return value if value == value else -1.0


class Race:
    """Lets learners run on the same rows; used in a `with` statement, at whose end they have learned all rows.

    All score and learn the same rows. After 1,000 rows with 20 positives, and at every doubling of the rows, the worse
    half is dropped, until two run to the end. The figures are progressive: nobody has seen a row before scoring it; but
    the best of many looks a little better than it is.

    Parameters
    ----------
    entrants : list of learners or Racers
        Who takes part.
    measure : {"auroc", "auprc", "alerts"}, default="auroc"
        What decides, over all rows so far: the area under the ROC or the precision-recall curve, or the share of alerts
        that were right.
    classes : list of two labels, optional
        Needed if the first rows do not show both.
    delay : Delay, int or str, optional
        How late labels are: 500 (rows), or "7d", which needs the times of the rows. None: not at all.
    unlabelled : Unlabelled or str, optional
        What becomes of rows whose label never comes, such as "negative:30d"; see `lopsided.late.LateLearner`.
    alerts : AlertBudget or str, optional
        With "alerts": within which budget, such as "100/day"; rows need times then, and keys if it has a key.
    jobs : int, default=1
        Threads.
    workers : Executor, optional
        Who lets the racers run instead of threads, such as the processes of a cluster. So many racers at a time go
        there as it says it has `slots`, and come back with what they have learned. It is shut down at the end.

    Attributes
    ----------
    racers, n_rows, positives : all that take part; rows and positive rows so far.
    """

    def __init__(
        self,
        entrants: Sequence[Any],
        *,
        measure: Measure = "auroc",
        classes: Any = None,
        delay: Delay | str | int | None = None,
        unlabelled: Unlabelled | str | None = None,
        alerts: AlertBudget | str | None = None,
        jobs: int = 1,
        workers: Executor | None = None,
    ) -> None:
        if (measure == "alerts") != (alerts is not None):
            raise ParameterError(
                "The measure of a race must be 'alerts' just where 'alerts' is a budget, such as '100/day'. "
                f"Got {measure!r} and {alerts!r}."
            )
        budget = AlertBudget.parse(alerts) if isinstance(alerts, str) else alerts
        self.racers = [entrant if isinstance(entrant, Racer) else Racer(entrant) for entrant in entrants]
        self.measure = measure
        self.n_rows = self.positives = 0
        self._next_cut = FIRST_CUT
        self._classes = classes
        self._labels: LabelMap | None = None
        self._workers: Executor = ThreadPoolExecutor(jobs) if workers is None else workers
        self._are_elsewhere = workers is not None
        for racer in self.racers:
            racer.enter(budget, delay=delay, unlabelled=unlabelled, classes=classes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: BaseException | TracebackType | None) -> None:
        if kind is None:
            self._each(Racer.finish)
        self._workers.shutdown()

    @property
    def running(self) -> list[Racer]:
        """Those that have not been dropped."""
        return [racer for racer in self.racers if racer.is_in]

    @property
    def ranking(self) -> list[Racer]:
        """All, the best first: who came further is better."""
        return sorted(self.racers, key=lambda racer: (-racer.n_rows, -racer.value(self.measure)))

    @property
    def best_value(self) -> float:
        """The best figure so far."""
        return max(racer.value(self.measure) for racer in self.running)

    def step(self, X: Any, y: Any, times: Any = None, keys: Any = None) -> None:
        """Let all that are left score and learn some rows; `keys` are those of a budget of alerts by key."""
        pos_label = getattr(self.racers[0].model, "pos_label", None)
        signs, labels = signs_of(y, X.shape[0], self._labels, self._classes, pos_label)
        if labels is None:
            raise ParameterError("The 'classes' of a race must be named if its first rows have no labels. Got None.")
        self._labels, start = labels, 0
        while start < signs.size:
            # Rows are cut where a decision is due, so that it does not depend on the pieces in which they come.
            stop = min(signs.size, start + self._next_cut - self.n_rows)
            rows = slice(start, stop)
            when, whose = (None if column is None else column[rows] for column in (times, keys))
            self._each(partial(Racer.step, X=X[rows], signs=signs[rows], labels=labels, times=when, keys=whose))
            self.n_rows += stop - start
            self.positives += int(np.count_nonzero(signs[rows] > 0))
            start = stop
            if self.n_rows == self._next_cut:
                self._next_cut *= 2
                if self.positives >= FEWEST_POSITIVES:
                    self._drop_worse_half()

    def _each(self, work: Callable[[Racer], None]) -> None:
        if not self._are_elsewhere:
            list(self._workers.map(work, self.running))
            return
        # One message for several racers, because all of them need the same rows.
        slots = max(1, getattr(self._workers, "slots", 1))
        groups = [group for first in range(slots) if (group := self.running[first::slots])]
        waiting = [self._workers.submit(_moved, pickle.dumps((work, group))) for group in groups]
        came = [pickle.loads(future.result()) for future in waiting]
        back = {
            id(racer): moved
            for group, others in zip(groups, came, strict=True)
            for racer, moved in zip(group, others, strict=True)
        }
        self.racers = [back.get(id(racer), racer) for racer in self.racers]

    def _drop_worse_half(self) -> None:
        left = sorted(self.running, key=lambda racer: -racer.value(self.measure))
        for racer in left[max(FINALISTS, (len(left) + 1) // 2) :]:
            racer.is_in = False


def _moved(content: bytes) -> bytes:
    """The same racers after some work, wherever that is done.

    They travel as bytes, because a cluster may hand out arrays that cannot be written to.
    """
    work, racers = pickle.loads(content)
    for racer in racers:
        work(racer)
    return pickle.dumps(racers)


def race(
    entrants: Sequence[Any],
    batches: Iterable[tuple[Any, ...]],
    *,
    progress: Callable[[Race], None] | None = None,
    **rules: Any,
) -> list[Racer]:
    """Run a `Race` over batches (X, y) or (X, y, times); the racers, the best first. `progress` is called after each.

    >>> from lopsided import KOIL
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.evaluate import draw_candidates, race, Racer
    >>> stream = four_clusters(200, 800, random_state=0)
    >>> racers = [Racer(one.built(random_state=0), one) for one in draw_candidates(2, 8, kinds={"koil": KOIL})]
    >>> first, *others = race(racers, [(stream.X, stream.y)])
    >>> first.entrant.settings, round(first.value("auroc"), 3)
    ({'gamma': 5.0, 'C': 1.0, 'learning_rate': 0.01}, 0.912)
    """
    with Race(entrants, **rules) as running:
        for batch in batches:
            running.step(*batch)
            if progress is not None:
                progress(running)
    return running.ranking
