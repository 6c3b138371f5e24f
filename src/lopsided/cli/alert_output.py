"""Which scored rows `lopsided score` writes: all, the alerts, the best of all or of each day; and in which order."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.alerts import Period
from lopsided.cli.feed import Feed
from lopsided.constraints import ParameterError
from lopsided.feeds import Portion
from lopsided.feeds.writers import Writer

_ROOM = 4  # times as many rows as will be written are held before the others are let go


def period_and_key(
    top: int | None, per: str | None, *, follow: bool, sort: str | None
) -> tuple[Period | None, str | None]:
    """What --per names: a period for --top, else the column of a budget."""
    if follow and (top is not None or sort is not None):
        option = "--top" if top is not None else "--sort"
        raise ParameterError(
            f"The option {option} must come without --follow, because the best rows are known at the end only, "
            "got both; --threshold budget:50/day --alerts-only decides row by row."
        )
    if top is None or per is None:
        return None, per
    return Period.parse(per, what="The option --per with --top"), None


class Choosing:
    """Passes rows on to a writer, or holds those that may be among the best until the end.

    Parameters
    ----------
    feed : where rows come from.
    alerts_only : whether only rows that are flagged are written.
    top : write only so many of the highest scores, of each `period` if there is one.
    by_score : write rows by falling score, instead of as they came.
    """

    def __init__(
        self, feed: Feed, *, alerts_only: bool, top: int | None, period: Period | None, by_score: bool
    ) -> None:
        if period is not None and (feed.schema is None or feed.schema.time is None):
            raise ParameterError(
                f"The option --per {period.name} must know when rows happened, by a column that --time names, got none."
            )
        self._alerts_only, self._top, self._period, self._by_score = alerts_only, top, period, by_score
        self._held: list[tuple[Portion, tuple[Any, ...]]] = []
        self._n_held = self._n_after_letting_go = 0
        self.n_written = self.n_alerts = 0

    @property
    def holds_rows(self) -> bool:
        """Whether rows that have been taken may not have been written yet."""
        return self._top is not None or self._by_score

    def take(self, writer: Writer, portion: Portion, columns: tuple[Any, ...], flagged: Any) -> None:
        """The next rows, with their scores, probabilities and decisions."""
        self.n_alerts += int(np.count_nonzero(flagged))
        if self._alerts_only:
            places = np.flatnonzero(flagged)
            portion, columns = portion.taking(places), tuple(column[places] for column in columns)
        if self._top is None and not self._by_score:
            self._write(writer, portion, columns)
            return
        self._held.append((portion, columns))
        self._n_held += portion.n_rows
        if self._top is not None and self._n_held > _ROOM * max(self._top, self._n_after_letting_go, 256):
            self._let_go(writer)

    def finish(self, writer: Writer) -> None:
        """The stream has ended: what was held is written."""
        if self._top is not None:
            self._let_go(writer)
        if not self._by_score:
            for portion, columns in self._held:
                self._write(writer, portion, columns)
            return
        scores, sources, places = self._ranks()
        for row in np.argsort(-scores, kind="stable"):
            portion, columns = self._held[sources[row]]
            place = places[row : row + 1]
            self._write(writer, portion.taking(place), tuple(column[place] for column in columns))

    def _write(self, writer: Writer, portion: Portion, columns: tuple[Any, ...]) -> None:
        if portion.n_rows:
            self.n_written += portion.n_rows
            writer.write(portion, *columns)

    def _ranks(self) -> tuple[Any, Any, Any]:
        """Of all rows that are held: score, which portion, and where in it."""
        sizes = [portion.n_rows for portion, _ in self._held]
        scores = np.concatenate([columns[0] for _, columns in self._held]) if sizes else np.zeros(0)
        places = np.concatenate([np.arange(size) for size in sizes]) if sizes else np.zeros(0, dtype=np.int64)
        return scores, np.repeat(np.arange(len(sizes)), sizes), places

    def _let_go(self, writer: Writer) -> None:
        """Keep the best of what is held."""
        assert self._top is not None
        scores, sources, places = self._ranks()
        periods = np.zeros(scores.size, dtype=np.int64)
        if self._period is not None and scores.size:
            times = np.concatenate([portion.times for portion, _ in self._held])
            periods = self._period.numbers_of(np.nan_to_num(times, nan=-1e12))  # those without a time are by themselves
        order = np.lexsort((-scores, periods))
        ranked = periods[order]
        best = np.sort(order[np.arange(order.size) - np.searchsorted(ranked, ranked) < self._top])
        held = []
        for source in np.unique(sources[best]):
            own = places[best[sources[best] == source]]
            portion, columns = self._held[source]
            kept = portion.taking(own).apart(as_records=writer.takes_records)
            held.append((kept, tuple(column[own] for column in columns)))
        self._held = held
        self._n_held = self._n_after_letting_go = best.size
