"""What commands watch for drift: the columns of a feed, the scores of a model, and what became of its alerts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from lopsided.cli.feed import Feed
from lopsided.constraints import ParameterError
from lopsided.drift import Alarm, DriftAlarm
from lopsided.encoding.schema import CATEGORY, DATE, FLAG, KEY, NUMBER
from lopsided.feeds import Portion
from lopsided.plain_values import plain_value

SCORE, POSITIVES, RIGHT = "score", "share of positives", "precision of alerts"
ROWS = "rows"
_MOST_SHOWN = 10
_NONZEROS, _SUM = "non-zeros of a row", "sum of a row"


class StreamWatch:
    """A drift alarm over the numbers and categories of a feed, the scores, and with labels positives and alerts.

    Parameters
    ----------
    feed : whose columns are watched; of LIBSVM rows, how many entries they have and their sum.
    period : what is compared, such as "day"; "rows" for blocks of rows; None: days, if rows have times.
    goes_on : an alarm over the same series that has seen earlier rows.
    source : where that comes from, for the sentence that refuses another one.
    """

    def __init__(
        self, feed: Feed, *, period: str | None = None, goes_on: DriftAlarm | None = None, source: str | None = None
    ) -> None:
        numbers, categories = [_NONZEROS, _SUM], []
        self.are_dates = time_is_a_date(feed)
        if feed.schema is not None:
            kinds = {column.name: column.kind for column in feed.schema.learned_from}
            numbers = [name for name, kind in kinds.items() if kind in (NUMBER, FLAG)]
            categories = [name for name, kind in kinds.items() if kind in (CATEGORY, KEY)]
            if feed.schema.time is not None:
                period = period or "day"
        self._numbers, self._categories = numbers, categories
        self.score = SCORE if SCORE not in numbers + categories else f"{SCORE} of the model"
        shares = [POSITIVES, RIGHT] if feed.labels is not None else []
        self.alarm = DriftAlarm(
            [*numbers, self.score], categories, shares, period=None if period in (None, ROWS) else period
        )
        if goes_on is not None:
            if (goes_on.names, goes_on.period) != (self.alarm.names, self.alarm.period):
                raise ParameterError(
                    f"What {source or 'the reference'} holds must be of the same series by "
                    f"{self.alarm.block_in_words}, {', '.join(self.alarm.names)}, got {', '.join(goes_on.names)} by "
                    f"{goes_on.block_in_words}."
                )
            self.alarm = goes_on

    def look(self, portion: Portion, scores: Any, flagged: Any) -> list[Alarm]:
        """The next rows, with their scores and whether they were alerts; the alarms that they raise."""
        columns: dict[str, Any] = {self.score: scores}
        if portion.chunk is None:
            columns[_NONZEROS] = np.diff(portion.X.indptr).astype(np.float64)
            columns[_SUM] = np.asarray(portion.X.sum(axis=1)).ravel()
        else:
            columns |= {name: portion.column(name) for name in (*self._numbers, *self._categories)}
        if self.alarm.shares:
            signs = portion.signs
            known = ~np.isnan(signs)
            positive = np.where(known, signs > 0, np.nan)
            columns[POSITIVES] = positive
            columns[RIGHT] = np.where(flagged, positive, np.nan)
        return self.alarm.update_many(columns, portion.times)


class EvaluatedStream:
    """The same while rows are learned: whole days if there are enough of them by the end, else blocks of rows."""

    def __init__(self, feed: Feed) -> None:
        self._by_rows = StreamWatch(feed, period=ROWS)
        has_times = feed.schema is not None and feed.schema.time is not None
        self._by_days = StreamWatch(feed) if has_times else None

    def look(self, portion: Portion, scores: Any, flagged: Any) -> None:
        """The next rows."""
        self._by_rows.look(portion, scores, flagged)
        if self._by_days is not None:
            self._by_days.look(portion, scores, flagged)

    @property
    def alarm(self) -> DriftAlarm:
        """What was found."""
        days = self._by_days
        return self._by_rows.alarm if days is None or not days.alarm.is_ready else days.alarm


def time_is_a_date(feed: Feed) -> bool:
    """Whether the time column of a feed holds dates, and not seconds from somewhere."""
    return feed.schema is not None and feed.schema.time is not None and feed.schema.time.kind == DATE


def line_of(alarm: Alarm, *, are_dates: bool) -> str:
    """One line for an alarm."""
    begin = ""
    if alarm.since_time == alarm.since_time:
        date = str(np.datetime64(int(alarm.since_time), "s")).replace("T", " ")
        begin = f" ({date})" if are_dates else f" (time {alarm.since_time:g})"
    return f"drift: {alarm.in_words}, since row {alarm.since_row + 1:,}{begin}; noticed after row {alarm.row:,}"


def drift_in_words(drift: DriftAlarm, *, are_dates: bool) -> str:
    """What an evaluation says of drift: a line, or one for each of the first alarms."""
    found, of_scores = _apart(drift)
    lines = [line_of(alarm, are_dates=are_dates) for alarm in found[:_MOST_SHOWN]]
    if len(found) > _MOST_SHOWN:
        lines.append(f"drift: {len(found) - _MOST_SHOWN:,} more alarms, see --json")
    if not found:
        lines.append(f"drift: none found in {len(drift.names) - 1} series by {drift.block_in_words}")
    if of_scores:
        lines[-1] += "; scores moved too, as they do while a model is learning"
    return "\n".join(lines)


def drift_as_json(drift: DriftAlarm) -> dict[str, Any]:
    """The same, for JSON."""
    found, of_scores = _apart(drift)
    return {
        "found": bool(found),
        "alarms": [as_json_of(alarm) for alarm in found],
        "alarms_of_scores": [as_json_of(alarm) for alarm in of_scores],
        "series": drift.names,
        "compared": drift.block_in_words,
        "blocks": drift.n_blocks,
        "ready": drift.is_ready,
    }


def _apart(drift: DriftAlarm) -> tuple[list[Alarm], list[Alarm]]:
    """Alarms, and those of scores, which move while a model learns."""
    score = drift.numbers[-1]
    of_scores = [alarm for alarm in drift.alarms if alarm.series == score]
    return [alarm for alarm in drift.alarms if alarm.series != score], of_scores


def as_json_of(alarm: Alarm) -> dict[str, Any]:
    """An alarm as plain values: NaN becomes null."""
    return {name: plain_value(value) for name, value in asdict(alarm).items()}


def not_ready(alarm: DriftAlarm) -> str:
    """Why nothing has been compared."""
    return (
        f"{alarm.blocks_needed} {alarm.block_in_words} are needed before drift can be seen, "
        f"got {alarm.n_blocks + 1 if alarm.n_blocks else 'fewer than 2'}"
    )
