"""Alerts as they come: the best so many of each day, decided without knowing what the rest of the day will bring."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections import deque
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.alerts.keys import NO_KEY, code_of, codes_of
from lopsided.alerts.periods import ALLOWED, Period
from lopsided.constraints import ParameterError

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_REMEMBERED = 16_384  # scores
_BINS = 48  # of a period, whose rows are counted apart: half-hours of a day
_NEWEST = 0.2  # at least this much does the latest period count in what is expected of the next
_SLACK = 0.05  # of a period's rows: so much is believed in what is expected before today's rows say otherwise
_BEGINS_EARLY = 1 / 12  # a first period whose rows begin later than this is only a part of one


class AlertBudget:
    """Decides online which rows to raise an alert for: at most `limit` in each period, as nearly as can be the best.

    A row is flagged if its score is among the best `left / to come` of the latest scores, where `left` is what is left
    of the budget, and `to come` how many rows the period is still expected to bring: by the hours of earlier periods,
    and by how many have come today. So the threshold follows the scores and the hours, falls when a day is quiet and
    rises when it is busy, and a normal day spends (nearly) all. In the first period rows are taken to come evenly.

    Rows are expected in the order of their times. One of a period that is over is never flagged; `n_late` counts them.
    A row without a time (NaN) counts as of the moment of the one before it.

    Parameters
    ----------
    limit : int >= 1
        The most alerts in a period.
    per : str or Period, default="day"
        minute, hour, day (from midnight), week (from Monday), or a duration such as "8h".
    key : str, optional
        What at most one alert in a period may be about, such as "card": the name of a column. Then every row has a key.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.alerts import AlertBudget
    >>> rng = np.random.default_rng(0)
    >>> times = np.arange(0, 3 * 86400, 60.0)  # three days, a row a minute
    >>> budget = AlertBudget.parse("20/day")
    >>> flagged = budget.decide(times, rng.standard_normal(times.size))
    >>> [int(flagged[times // 86400 == day].sum()) for day in range(3)]
    [20, 20, 20]
    """

    def __init__(self, limit: int, per: str | Period = "day", key: str | None = None) -> None:
        if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or not 1 <= limit <= 10**9:
            raise ParameterError(f"The limit of an alert budget must be a whole number from 1 on, got {limit!r}.")
        self.limit, self.period, self.key = int(limit), Period.parse(per), key
        self.n_late = 0
        self._latest: deque[float] = deque()
        self._ranked: list[float] = []  # the same in order
        self._number: int | None = None  # of the period
        self._first = self._clock = 0.0  # times of its first row, and of the latest
        self._is_whole = True  # whether its rows have been seen from its beginning
        self._spent, self._n_today, self._owed = 0, 0, 0.0
        self._today = [0] * _BINS
        self._expected: list[float] = []  # rows in each part of a period, by those before; empty in the first
        self._until: list[float] = []  # sums of them
        self._n_periods = 0
        self._alerted: set[int] = set()

    @classmethod
    def parse(cls, text: str, *, key: str | None = None, what: str = "An alert budget") -> AlertBudget:
        """A budget as users write it: "50/day", "10/hour", "100/week", "20/8h"; `what` begins a refusing sentence."""
        count, slash, per = str(text).partition("/")
        try:
            if slash:
                return cls(int(count), Period.parse(per.strip()), key)
        except (ValueError, ParameterError):
            pass
        raise ParameterError(f"{what} must be written N/PERIOD, such as 50/day: {ALLOWED}, got {text!r}.")

    def __str__(self) -> str:
        return f"{self.limit}/{self.period.name}"

    def __repr__(self) -> str:
        return f"AlertBudget({self.limit}, per={self.period.name!r}, key={self.key!r})"

    # ---------------------------------------------------------------- deciding

    def decide(self, times: Any, scores: Any, keys: Any = None) -> Flags:
        """Whether each row is an alert: the same as `decide_one` for one after the other."""
        moments, given = np.asarray(times, dtype=np.float64), np.asarray(scores, dtype=np.float64)
        if moments.shape != given.shape or given.ndim != 1:
            raise ParameterError(
                "An alert budget must get as many times as scores, one for each row, "
                f"got shapes {moments.shape} and {given.shape}."
            )
        if not np.isfinite(given).all():
            raise ParameterError("The scores for an alert budget must be finite, got NaN or infinity.")
        codes = [NO_KEY] * given.size
        if self.key is not None:
            if keys is None or len(keys) != given.size:
                got = "none" if keys is None else f"{len(keys)} for {given.size} rows"
                raise ParameterError(f"An alert budget by {self.key!r} must get a key for each row, got {got}.")
            codes = codes_of(keys).tolist()
        flagged = np.zeros(given.size, dtype=np.bool_)
        decide = self._decide
        for position, row in enumerate(zip(moments.tolist(), given.tolist(), codes, strict=True)):
            flagged[position] = decide(*row)
        return flagged

    def decide_one(self, time: float, score: float, key: Any = None) -> bool:
        """Whether a row is an alert, by what has come before it."""
        if not math.isfinite(score):
            raise ParameterError(f"The score for an alert budget must be finite, got {score!r}.")
        return self._decide(float(time), float(score), NO_KEY if self.key is None else code_of(key))

    def _decide(self, time: float, score: float, code: int) -> bool:
        if time != time:
            time = self._clock
        number = self.period.number_of(time)
        if self._number is None or number > self._number:
            self._begin(number, time)
        elif number < self._number:
            self.n_late += 1
            return False
        self._clock = max(self._clock, time)
        if code != NO_KEY and code in self._alerted:
            return False  # nor do its scores count: they are no candidates
        is_alert = self._is_among_the_best(score, self.period.within(time), time)
        self._note(score, self.period.within(time))
        if is_alert:
            self._spent += 1
            if code != NO_KEY:
                self._alerted.add(code)
        return is_alert

    def _is_among_the_best(self, score: float, within: float, time: float) -> bool:
        left = self.limit - self._spent
        if not left:
            return False
        share = left / (1.0 + self._to_come(within, time))
        if share >= 1.0:
            return True
        # Of n scores and this one, which is to be among the best share (n + 1). One that stands across that border, or
        # has the same score as many others, is taken in its turn.
        allowed = share * (len(self._ranked) + 1)
        above = len(self._ranked) - bisect_right(self._ranked, score)
        if above >= allowed:
            return False
        alike = 1 + len(self._ranked) - above - bisect_left(self._ranked, score)
        if above + alike <= allowed:
            return True
        self._owed += (allowed - above) / alike
        if self._owed < 1.0:
            return False
        self._owed -= 1.0
        return True

    def _to_come(self, within: float, time: float) -> float:
        """How many rows the period will still bring."""
        if not self._expected:
            passed = max(time - self._first, self.period.seconds / 1000)
            return (self._n_today + 1) * (1.0 - within) * self.period.seconds / passed
        place = int(within * _BINS)
        before = self._until[place] - self._expected[place] * (1.0 - (within * _BINS - place))
        total = self._until[-1]
        level = (self._n_today + _SLACK * total) / (before + _SLACK * total)
        return max(total - before, 0.0) * level

    def _note(self, score: float, within: float) -> None:
        self._n_today += 1
        self._today[int(within * _BINS)] += 1
        if len(self._latest) == _REMEMBERED:
            oldest = self._latest.popleft()
            del self._ranked[bisect_left(self._ranked, oldest)]
        self._latest.append(score)
        insort(self._ranked, score)

    def _begin(self, number: int, time: float) -> None:
        """The first row of a new period."""
        if self._number is None:
            self._is_whole = self.period.within(time) <= _BEGINS_EARLY
        else:
            if self._is_whole:
                self._learn_hours()
            self._is_whole = True
        self._number, self._first, self._clock = number, time, time
        self._spent, self._n_today, self._owed = 0, 0, 0.0
        self._today = [0] * _BINS
        self._alerted.clear()

    def _learn_hours(self) -> None:
        self._n_periods += 1
        weight = max(1.0 / self._n_periods, _NEWEST)
        known = self._expected or [0.0] * _BINS
        self._expected = [old + weight * (new - old) for old, new in zip(known, self._today, strict=True)]
        self._until = list(accumulate(self._expected))

    def start_over(self) -> None:
        """Begin a new stream, whose times may be earlier, with what is known of scores and hours."""
        self._number, self._clock, self.n_late = None, 0.0, 0

    @property
    def clock(self) -> float:
        """The latest time so far; minus infinity before the first row."""
        return -math.inf if self._number is None else self._clock

    # ---------------------------------------------------------------- keeping

    def to_json(self) -> dict[str, Any]:
        """What it is, as plain values."""
        return {"limit": self.limit, "per": self.period.name, "key": self.key}

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """What it has come to know, as arrays; with `to_json` all that the next decision depends on."""
        number = -(2**62) if self._number is None else self._number
        counts = [number, self._is_whole, self._spent, self._n_today, self._n_periods, self.n_late]
        return {
            "latest": np.array(self._latest, dtype=np.float64),
            "moments": np.array([self._first, self._clock, self._owed]),
            "counts": np.array(counts, dtype=np.int64),
            "today": np.array(self._today, dtype=np.int64),
            "expected": np.array(self._expected, dtype=np.float64),
            "alerted": np.array(sorted(self._alerted), dtype=np.int64),
        }

    @classmethod
    def restored(cls, description: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> AlertBudget:
        """A budget that goes on where the one of `to_json` and `state` was."""
        budget = cls(description["limit"], description["per"], description["key"])
        shapes = {name: arrays[name].shape for name in budget.state() if name in arrays}
        right = {"moments": [(3,)], "counts": [(6,)], "today": [(_BINS,)], "expected": [(0,), (_BINS,)]}
        if len(shapes) < 6 or any(shapes[name] not in allowed for name, allowed in right.items()):
            raise ParameterError(f"The state of an alert budget must be what its 'state' gave, got arrays {shapes}.")
        budget._latest = deque(arrays["latest"].tolist())
        budget._ranked = sorted(budget._latest)
        budget._first, budget._clock, budget._owed = arrays["moments"].tolist()
        number, is_whole, budget._spent, budget._n_today, budget._n_periods, budget.n_late = arrays["counts"].tolist()
        budget._number = None if number == -(2**62) else number
        budget._is_whole = bool(is_whole)
        budget._today = arrays["today"].tolist()
        budget._expected = arrays["expected"].tolist()
        budget._until = list(accumulate(budget._expected))
        budget._alerted = set(arrays["alerted"].tolist())
        return budget
