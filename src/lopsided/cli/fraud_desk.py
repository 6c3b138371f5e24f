"""The fraud desk that `lopsided demo` shows: a stream of card payments, day by day, and those who pick its alerts."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided import KeyedHistory, RareEventClassifier, TablePipeline
from lopsided.alerts import AlertBudget, AlertFigures, judged_alerts
from lopsided.cli.compiling import compile_ahead
from lopsided.datasets import card_stream
from lopsided.encoding import infer_schema
from lopsided.evaluate import Evaluation, History, KeptRows
from lopsided.metrics import auroc, average_precision

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

KEYS, TIME, VALUE = ["card", "terminal"], "when", "amount"
OURS, BOOSTED, BOOSTED_TOO, RULE = "lopsided", "LightGBM", "LightGBM, history", "rule"
DELAY_DAYS = 7
OPENS = DELAY_DAYS + 1  # the first day that begins with labels of a whole day
_DAY = 86_400.0
_FIRST_DAY = np.datetime64("2026-01-05T00:00:00")  # a Monday, as the first day of the stream is
_ROWS_TO_TELL = 1000


class Payments(NamedTuple):
    """Raw rows as columns, which of them are frauds, their moments in seconds, and the rows of each day."""

    columns: dict[str, Any]
    fraud: Flags
    times: Floats
    days: list[slice]

    def part(self, rows: slice) -> dict[str, Any]:
        """Some of the rows."""
        return {name: values[rows] for name, values in self.columns.items()}


def payments(customers: int = 400, days: int = 70, random_state: int = 0) -> Payments:
    """A simulated stream: `card_stream` with nothing but its raw columns."""
    stream = card_stream(customers, 2 * customers, days, label_delay=DELAY_DAYS, random_state=random_state)
    assert stream.times is not None and stream.columns is not None
    edges = np.searchsorted(stream.times, _DAY * np.arange(days + 1))
    when = _FIRST_DAY + stream.times.astype(np.int64).astype("timedelta64[s]")
    return Payments(
        columns={
            TIME: when,
            KEYS[0]: np.char.add("card ", stream.columns["customer"].astype(str)),
            KEYS[1]: np.char.add("terminal ", stream.columns["terminal"].astype(str)),
            VALUE: stream.columns["amount"],
        },
        fraud=stream.y.astype(np.bool_),
        times=when.astype(np.float64),
        days=[slice(int(start), int(stop)) for start, stop in pairwise(edges)],
    )


class Picker(ABC):
    """Scores the payments of a day, by what was known when the day began or, if it can, when each came."""

    name: str
    words: str

    def __init__(self, stream: Payments) -> None:
        self.stream = stream

    @abstractmethod
    def scores(self, today: slice, known: slice) -> Floats:
        """Scores of today's rows; the labels of the rows `known` have come since yesterday."""


class OursWithHistory(Picker):
    """RareEventClassifier on raw columns, with a history of cards and terminals, exact to the row."""

    name = OURS
    words = "RareEventClassifier, nothing tuned, from raw columns with a history of cards and terminals"

    def __init__(self, stream: Payments) -> None:
        super().__init__(stream)
        head = stream.part(slice(0, _ROWS_TO_TELL))
        schema = infer_schema(head, keys=KEYS, time=TIME, value=VALUE)
        self.model = TablePipeline(schema, learner=RareEventClassifier(random_state=0))
        evaluation = Evaluation(self.model, classes=[0, 1], delay=f"{DELAY_DAYS}d")
        self.history = History(evaluation, KeptRows(apart=(TIME,)))

    def compile_ahead(self, announce: Callable[[str], None]) -> None:
        """Compile before the first day begins."""
        compile_ahead(self.model, [0, 1], n_features=self.model.encoder_.width, announce=announce)

    def scores(self, today: slice, known: slice) -> Floats:
        """Labels count from the moment at which they come."""
        rows: Any = self.model.encoded(self.stream.part(today))
        y = self.stream.fraud[today].astype(np.int64)
        self.history.step(rows, y, self.stream.times[today], rows.cells.row)
        return self.history.evaluation.scores[-len(y) :].copy()


class WeeklyBoosting(Picker):
    """LightGBM, fitted anew once a week on all rows with labels."""

    name = BOOSTED
    words = "LightGBM with its defaults, refitted every week: amount, hour, weekday, numbers of card and terminal"

    def __init__(self, stream: Payments) -> None:
        from lopsided.competitors import competitor

        super().__init__(stream)
        self._boosting = competitor("lightgbm", every=None)
        self._table: Floats = np.zeros((len(stream.fraud), 0))
        self._days = 0

    def rows(self, today: slice, known: slice) -> Floats:
        """Features of today's rows."""
        part = self.stream.part(today)
        seconds = self.stream.times[today]
        numbers = [np.char.partition(part[key], " ")[:, 2].astype(np.float64) for key in KEYS]
        return np.column_stack([part[VALUE], seconds % _DAY // 3600.0, (seconds // _DAY + 3) % 7, *numbers])

    def scores(self, today: slice, known: slice) -> Floats:
        """By the fit of this week."""
        rows = self.rows(today, known)
        if not self._table.shape[1]:
            self._table = np.zeros((len(self.stream.fraud), rows.shape[1]))
        self._table[today] = rows
        if known.stop > known.start:
            y = self.stream.fraud[known].astype(np.int64)
            self._boosting.partial_fit(self._table[known], y, classes=[0, 1])
            if self._days % 7 == 0:
                self._boosting.refit()
            self._days += 1
        return self._boosting.decision_function(rows) if self._days else np.zeros(len(rows))


class WeeklyBoostingWithHistory(WeeklyBoosting):
    """The same on the features of a history of its own, whose labels come at midnight."""

    name = BOOSTED_TOO
    words = "the same with the features of a KeyedHistory of cards and terminals"

    def __init__(self, stream: Payments) -> None:
        super().__init__(stream)
        self._history = KeyedHistory(KEYS, TIME, VALUE)
        self._tokens: list[Any] = []

    def rows(self, today: slice, known: slice) -> Floats:
        """Read as they come; what labels say is of midnight."""
        if known.stop > known.start:
            tokens = np.concatenate(self._tokens)[: known.stop - known.start]
            self._tokens = [np.concatenate(self._tokens)[known.stop - known.start :]]
            self._history.learn_labels(tokens, self.stream.fraud[known].astype(np.int64))
        features, new = self._history.observe(self.stream.part(today))
        self._tokens.append(new)
        return features


class AmountRule(Picker):
    """Every amount above what the first week's largest were."""

    name = RULE

    def __init__(self, stream: Payments, limit: int) -> None:
        super().__init__(stream)
        week = stream.columns[VALUE][: stream.days[min(DELAY_DAYS, len(stream.days)) - 1].stop]
        self.above = float(np.sort(week)[-min(limit * DELAY_DAYS, len(week))])
        self.words = f"amount above {self.above:.0f}, which the first week had {limit} times a day"

    def scores(self, today: slice, known: slice) -> Floats:
        """Above zero is an alert."""
        return np.asarray(self.stream.columns[VALUE][today] - self.above)


@dataclass
class Desk:
    """What one of them has picked, and what became of it."""

    picker: Picker
    budget: AlertBudget
    payments: Payments
    figures: list[AlertFigures] = field(default_factory=list)  # by day
    seconds: float = 0.0
    scored: list[Floats] = field(default_factory=list)

    def work(self, day: int, known: slice) -> None:
        """One day: score its rows, raise alerts, and be judged by labels that come a week later."""
        today = self.payments.days[day]
        began = time.process_time()
        scores = self.picker.scores(today, known)
        self.seconds += time.process_time() - began
        if day < OPENS:
            return
        self.scored.append(scores)
        cards, times = self.payments.columns[KEYS[0]][today], self.payments.times[today]
        flagged = self.budget.decide(times, scores, cards)
        if isinstance(self.picker, AmountRule):
            flagged &= scores > 0.0
        fraud, amounts = self.payments.fraud[today], self.payments.columns[VALUE][today]
        self.figures.append(judged_alerts(times, flagged, fraud, keys=cards, values=amounts).periods[0])

    def total(self, last: int | None = None) -> AlertFigures:
        """All days together, or the last ones."""
        days = self.figures if last is None else self.figures[-last:]
        sums = [sum(getattr(one, name) for one in days) for name in ("rows", "cases", "alerts", "hits")]
        money = [float(sum(getattr(one, name) for one in days)) for name in ("value", "caught_value")]
        return AlertFigures("all", *sums, *money)

    def areas(self) -> tuple[float, float]:
        """AUROC and average precision of all rows since the desk opened."""
        scores = np.concatenate(self.scored)
        fraud = self.payments.fraud[self.payments.days[OPENS].start :][: scores.size]
        return auroc(fraud, scores), average_precision(fraud, scores)


class FraudDesk:
    """The contest: everybody sees the same payments and has the same number of alerts a day."""

    def __init__(self, stream: Payments, limit: int = 10, notice: Callable[[str], None] = print) -> None:
        self.stream, self.limit = stream, limit
        self.ours = OursWithHistory(stream)
        pickers: list[Picker] = [self.ours]
        try:
            pickers += [WeeklyBoosting(stream), WeeklyBoostingWithHistory(stream)]
        except ModuleNotFoundError as error:
            notice(f"Continuing without LightGBM. {error}")
        pickers.append(AmountRule(stream, limit))
        self.desks = [Desk(picker, AlertBudget(limit, "day", KEYS[0]), stream) for picker in pickers]

    def run(self) -> Iterator[int]:
        """Go through the days; yields each that had alerts, when it is over."""
        known = 0
        for day in range(len(self.stream.days)):
            stop = self.stream.days[day - DELAY_DAYS].start if day >= DELAY_DAYS else 0
            for desk in self.desks:
                desk.work(day, slice(known, stop))
            known = stop
            if day >= OPENS:
                yield day

    def date(self, day: int) -> str:
        """As a calendar has it."""
        return str(_FIRST_DAY + np.timedelta64(day, "D"))[:10]

    def sentences(self) -> list[str]:
        """What one sees, made of the numbers."""
        ours = self.desks[0].total()
        found = [
            f"With {self.limit} alerts a day {OURS} stopped {ours.caught_value:,.0f} of {ours.value:,.0f} in "
            f"{len(self.desks[0].figures)} days: {ours.hits} of {ours.alerts} alerts were right."
        ]
        for desk in self.desks[1:]:
            sums = desk.total()
            found.append(f"{desk.picker.name}: {sums.caught_value:,.0f}, {sums.hits} of {sums.alerts} right.")
        return [found[0], *([" ".join(found[1:])] if found[1:] else [])]
