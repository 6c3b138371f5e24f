"""An alarm for drift over many series of a stream at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.alerts.periods import Period
from lopsided.constraints import ParameterError
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.measures.binned_values import BinnedValues, count_values, empty_bins
from lopsided.drift.scales import FEWEST_BEFORE, Finding, Scales, Stretch

NUMBER, CATEGORY, SHARE = "number", "category", "share"
N_EDGES = 7
_MISSING = N_EDGES + 1  # the last cell
_BLOCK = 256  # rows
_LATEST = 512  # rows that edges are drawn from
_ENOUGH_FOR_EDGES = 64
_UNIT_OF_ROWS, _UNIT_OF_PERIODS = 1_000_000, 1_000
_DAY, _WEEK = 86_400.0, 604_800.0  # seconds
_LEVELS_A_BLOCK = 2.0  # stretches that a block completes, on average


@dataclass(frozen=True)
class Alarm:
    """One series has changed.

    Attributes
    ----------
    series : its name.
    what : the part of its values whose share has changed, such as "above 53.2", "'DE'" or "missing".
    row, time : when it was noticed: the number of rows before, and the time of the next; NaN without times.
    since_row, since_time : where the stretch begins that differs from those before it.
    before, after : the share of that part, in earlier stretches and in this one.
    p : the chance of such a difference, or a larger one, if nothing had changed.
    """

    series: str
    what: str
    row: int
    time: float
    since_row: int
    since_time: float
    before: float
    after: float
    p: float

    @property
    def in_words(self) -> str:
        """What changed, from how much to how much."""
        part = f" {self.what}" if self.what else ""
        return f"{self.series}{part}: {_percent(self.before)} before, {_percent(self.after)} now"

    def __str__(self) -> str:
        return f"{self.in_words}, since row {self.since_row + 1:,}"


class DriftAlarm:
    """Says when one of many series of a stream changes, with few false alarms over all of them together.

    When: beside a model that is in use, on its input, its scores and the precision of its alerts. It looks at blocks of
    rows, or at whole periods such as days, and compares the shares of values above each of seven edges (octiles of
    the first rows, found anew after an alarm), of each of seven categories and of missing values with earlier stretches
    of the same length, by how much these differ among themselves. What differs from hour to hour is no change when
    `period` is a day, and neither is a weekend. A series that has raised an alarm begins anew.

    Parameters
    ----------
    numbers, categories, shares : sequences of names
        The series: numbers, words (the first seven are told apart), and outcomes that are 0 or 1, such as whether an
        alert was right.
    period : str, optional
        "day", "hour" or a duration such as "8h": blocks are whole periods, and rows must have times. None: blocks of
        256 rows.
    false_alarms : float > 0, default=0.1
        How many are allowed over all series together, on average: in a million rows, or in 1,000 periods.
    trends : bool, default=False
        Whether up to half of what is remembered is compared with the other half for all series; shares always are,
        because outcomes are few. Smaller changes and slow trends are seen then, but blocks must be alike if nothing
        changes: long seasons without a period, or sums over many days, raise false alarms.

    Attributes
    ----------
    alarms : list of Alarm
        All of them, the oldest first.
    n_rows : int
        Rows so far.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.drift import DriftAlarm
    >>> rng = np.random.default_rng(0)
    >>> alarm = DriftAlarm(numbers=["amount", "age"])
    >>> for change in (0.0, 0.5):
    ...     rows = {"amount": rng.normal(change, 1.0, 20_000), "age": rng.normal(40.0, 9.0, 20_000)}
    ...     print(len(alarm.update_many(rows)))
    0
    1
    >>> print(alarm.alarms[0])
    amount above 0.696043: 25.0 % before, 41.8 % now, since row 19,969
    """

    def __init__(
        self,
        numbers: Sequence[str] = (),
        categories: Sequence[str] = (),
        shares: Sequence[str] = (),
        *,
        period: Period | str | None = None,
        false_alarms: float = 0.1,
        trends: bool = False,
    ) -> None:
        self.numbers, self.categories, self.shares = list(numbers), list(categories), list(shares)
        self.names = [*self.numbers, *self.categories, *self.shares]
        if not self.names or len(set(self.names)) < len(self.names):
            raise ParameterError(f"The series of DriftAlarm must be one or more different names, got {self.names}.")
        if not 0.0 < false_alarms < math.inf:
            raise ParameterError(f"The 'false_alarms' of DriftAlarm must be a number > 0, got {false_alarms!r}.")
        self.period = None if period is None else Period.parse(period, what="The 'period' of DriftAlarm")
        self.false_alarms = float(false_alarms)
        self.trends = bool(trends)
        self.alarms: list[Alarm] = []
        self.n_rows = 0
        self.codes: list[dict[str, int]] = [{} for _ in self.categories]
        self._bins = empty_bins(len(self.names), N_EDGES, _LATEST)
        n_others = len(self.numbers) + len(self.categories)
        long_from = 0 if self.trends else n_others  # outcomes are few: nothing shorter would show a change
        self._scales = Scales(len(self.names), long_from=long_from, cycle=_cycle(self.period))
        self._starts = np.zeros(len(self.names), dtype=np.int64)
        self._has_edges = False
        self._number: int | None = None  # of the present period
        self._block_row, self._block_time, self._clock = 0, math.nan, math.nan

    # ---------------------------------------------------------------- watching

    def update_many(self, columns: Mapping[str, Any], times: Any = None) -> list[Alarm]:
        """Take the next rows, in order; returns the alarms that they raise.

        Parameters
        ----------
        columns : the values of every series by its name. NaN or None is a missing number or category; of a share, NaN
            says that there was no outcome.
        times : seconds of the rows; needed with a period.
        """
        rows = self._encoded(columns)
        moments = np.full(len(rows), np.nan) if times is None else np.asarray(times, dtype=np.float64)
        if len(moments) != len(rows) or (self.period is not None and times is None):
            got = "none" if times is None else f"{len(moments)} for {len(rows)} rows"
            raise ParameterError(
                f"The times of DriftAlarm must be given for every row if there is a period, got {got}."
            )
        before = len(self.alarms)
        for start, stop in self._stretches(moments):
            count_values(self._bins, rows[start:stop], len(self.numbers) + len(self.categories))
            self.n_rows += stop - start
            self._clock = float(moments[stop - 1])
            if self.period is None and self.n_rows - self._block_row == _BLOCK:
                self._end_block(self._clock)
        return self.alarms[before:]

    def note(self, share: str, outcomes: Any) -> None:
        """Count outcomes of earlier rows, such as alerts whose labels have arrived, into the present block."""
        if share not in self.shares:
            raise ParameterError(f"The share to note must be one of {self.shares}, got {share!r}.")
        values, series = np.asarray(outcomes, dtype=np.float64), self.names.index(share)
        ones = float(np.count_nonzero(values > 0.5))
        n = float(np.count_nonzero(~np.isnan(values)))
        self._bins.counts[series, 0] += n - ones
        self._bins.counts[series, 1] += ones
        self._bins.totals[series] += n

    @property
    def is_ready(self) -> bool:
        """Whether enough blocks have come for a first comparison."""
        return self.n_blocks > FEWEST_BEFORE

    @property
    def n_blocks(self) -> int:
        """Blocks that are compared so far; the first one only shows where edges lie."""
        return self._scales.n_blocks

    @property
    def blocks_needed(self) -> int:
        """Whole blocks before which nothing can be said: one for the edges, those before, and the latest."""
        return FEWEST_BEFORE + 2

    @property
    def block_in_words(self) -> str:
        """What is compared, in the plural."""
        return f"blocks of {_BLOCK} rows" if self.period is None else f"whole {self.period.name}s"

    def _encoded(self, columns: Mapping[str, Any]) -> Floats:
        if missing := [name for name in self.names if name not in columns]:
            raise ParameterError(f"The columns of DriftAlarm must hold {self.names}, got none for {missing}.")
        first = len(columns[self.names[0]])
        rows = np.empty((first, len(self.names)))
        for place, name in enumerate(self.names):
            values = columns[name]
            if len(values) != first:
                raise ParameterError(f"The columns of DriftAlarm must be of one length, got {first} and {len(values)}.")
            of_category = place - len(self.numbers)
            is_category = 0 <= of_category < len(self.categories)
            rows[:, place] = _coded(values, self.codes[of_category]) if is_category else values
        return rows

    def _stretches(self, moments: Floats) -> Iterator[tuple[int, int]]:
        """Rows of one block; a new period ends the block before it. A time that runs backwards stays in the present."""
        if self.period is None:
            start = 0
            while start < len(moments):
                if self.n_rows == self._block_row:
                    self._block_time = float(moments[start])
                stop = min(len(moments), start + _BLOCK - (self.n_rows - self._block_row))
                yield start, stop
                start = stop
            return
        known = -math.inf if self._number is None else float(self._number)
        numbers = np.full(len(moments), known)
        there = ~np.isnan(moments)
        numbers[there] = self.period.numbers_of(moments[there])
        numbers = np.maximum.accumulate(np.concatenate([[known], numbers]))[1:]
        begins = np.flatnonzero(np.diff(numbers, prepend=known))
        for start, stop in zip(np.union1d([0], begins), np.union1d(begins[begins > 0], [len(moments)]), strict=True):
            if stop > start:
                if numbers[start] != known:
                    if known > -math.inf:
                        self._end_block(float(moments[start]))
                    self._number, self._block_time = int(numbers[start]), float(moments[start])
                    known = numbers[start]
                yield int(start), int(stop)

    # ---------------------------------------------------------------- blocks

    def _end_block(self, time: float) -> None:
        bins = self._bins
        if self._has_edges:
            n, phase = self._scales.n_blocks, self._number or 0
            block = Stretch(n, phase, self._block_row, self._block_time, self._cells(), self._totals())
            for finding in self._scales.add(block, self._starts, self._limit):
                self.alarms.append(self._alarm(finding, time))
                self._starts[finding.series] = self._scales.n_blocks
                self._find_edges(finding.series)
        elif bins.seen[0] >= _ENOUGH_FOR_EDGES:
            # The first block, which may be half a day, is there for the edges only.
            for series in range(len(self.names)):
                self._find_edges(series)
            self._has_edges = True
        for counted in (bins.counts, bins.totals, bins.missing):
            counted[:] = 0.0
        self._block_row = self.n_rows

    @property
    def _limit(self) -> float:
        """How unlikely one change must be, so that so many of them together are false seldom enough."""
        blocks = _UNIT_OF_ROWS / _BLOCK if self.period is None else _UNIT_OF_PERIODS
        tests = _LEVELS_A_BLOCK * self._scales.cuts_of_all * (_MISSING + 1)
        return self.false_alarms / (blocks * tests)

    def _cells(self) -> Floats:
        """Of numbers and shares how many values lie above each edge, of categories how many of each there are."""
        counts = self._bins.counts
        cells = np.zeros((len(self.names), _MISSING + 1))
        above = counts[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
        words = slice(len(self.numbers), len(self.numbers) + len(self.categories))
        cells[:, :N_EDGES] = above
        cells[words, : N_EDGES + 1] = counts[words]
        cells[:, _MISSING] = self._bins.missing
        return cells

    def _totals(self) -> Floats:
        """Of how many values: those that are known, and for what is missing all."""
        totals = np.empty((len(self.names), _MISSING + 1))
        totals[:] = (self._bins.totals - self._bins.missing)[:, None]
        totals[:, _MISSING] = self._bins.totals
        return totals

    def _find_edges(self, series: int) -> None:
        edges = self._bins.edges[series]
        edges[:] = np.inf
        kind = self._kind(series)
        if kind == CATEGORY:
            edges[:] = np.arange(N_EDGES) + 0.5
        elif kind == SHARE:
            edges[0] = 0.5
        else:
            known = self._bins.latest[:, series]
            known = known[~np.isnan(known)]
            if known.size:
                found = np.unique(np.quantile(known, np.arange(1, N_EDGES + 1) / (N_EDGES + 1), method="lower"))
                if found.size < N_EDGES:  # few different values: what is below the least of them would go unseen
                    found = np.unique([np.nextafter(known.min(), -np.inf), *found])
                edges[: found.size] = found

    def _kind(self, series: int) -> str:
        if series < len(self.numbers):
            return NUMBER
        return CATEGORY if series < len(self.numbers) + len(self.categories) else SHARE

    def _alarm(self, found: Finding, time: float) -> Alarm:
        kind, what = self._kind(found.series), ""
        if found.cell == _MISSING:
            what = "missing"
        elif kind == NUMBER:
            what = f"above {self._bins.edges[found.series, found.cell]:.6g}"
        elif kind == CATEGORY:
            codes = self.codes[found.series - len(self.numbers)]
            named = [word for word, code in codes.items() if code == found.cell]
            what = repr(named[0]) if named else "other values"
        return Alarm(
            self.names[found.series], what, self.n_rows, time, found.row, found.time, found.before, found.after, found.p
        )

    # ---------------------------------------------------------------- keeping

    def to_bytes(self) -> bytes:
        """All that the next alarm depends on, as arrays and JSON; `from_bytes` goes on from there."""
        from lopsided.drift.keeping import packed

        description = {
            "numbers": self.numbers,
            "categories": self.categories,
            "shares": self.shares,
            "period": None if self.period is None else self.period.seconds,
            "false_alarms": self.false_alarms,
            "trends": self.trends,
            "codes": [list(codes) for codes in self.codes],
            "alarms": [asdict(alarm) for alarm in self.alarms],
            "n_rows": self.n_rows,
            "n_blocks": self.n_blocks,
            "has_edges": self._has_edges,
            "number": self._number,
            "block": [self._block_row, self._block_time, self._clock],
        }
        return packed(description, self._bins, self._starts, self._scales.levels)

    @classmethod
    def from_bytes(cls, content: bytes, source: str = "bytes") -> DriftAlarm:
        """What `to_bytes` gave."""
        from lopsided.drift.keeping import unpacked

        kept, bins, starts, levels = unpacked(content, source)
        alarm = cls(
            kept["numbers"],
            kept["categories"],
            kept["shares"],
            period=None if kept["period"] is None else Period(kept["period"]),
            false_alarms=kept["false_alarms"],
            trends=kept["trends"],
        )
        alarm.codes = [{word: code for code, word in enumerate(words)} for words in kept["codes"]]
        alarm.alarms = [Alarm(**one) for one in kept["alarms"]]
        alarm.n_rows, alarm._has_edges, alarm._number = kept["n_rows"], kept["has_edges"], kept["number"]
        alarm._block_row, alarm._block_time, alarm._clock = kept["block"]
        alarm._bins, alarm._starts = BinnedValues(*bins), starts
        alarm._scales.levels, alarm._scales.n_blocks = levels, kept["n_blocks"]
        return alarm


def _coded(values: Any, codes: dict[str, int]) -> npt.NDArray[np.float64]:
    """Words as numbers: the first seven have one of their own, all others share one."""
    if hasattr(values, "combine_chunks"):
        values = values.combine_chunks()
    if hasattr(values, "dictionary_encode"):  # an arrow column: each of its words is looked at once, as they come
        encoded = values.dictionary_encode()
        found = np.append(_coded(encoded.dictionary.to_pylist(), codes), np.nan)
        return found[encoded.indices.fill_null(len(found) - 1).to_numpy(zero_copy_only=False)]
    words = np.asarray(values).tolist()
    coded = np.empty(len(words))
    for place, word in enumerate(words):
        if word is None or word == "" or word != word:
            coded[place] = np.nan
            continue
        code = codes.get(word)
        if code is None:
            if len(codes) < N_EDGES:
                codes[word] = code = len(codes)
            else:
                code = N_EDGES
        coded[place] = code
    return coded


def _cycle(period: Period | None) -> int:
    """After how many blocks they are alike again: days after a week, hours after a day."""
    if period is None:
        return 1
    longer = next((cycle for cycle in (_DAY, _WEEK) if period.seconds < cycle), period.seconds)
    return round(longer / period.seconds) if longer % period.seconds == 0 else 1


def _percent(share: float) -> str:
    return f"{share:.1%}".replace("%", " %")
