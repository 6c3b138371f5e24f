"""What a history is told about columns: which parameters are allowed, what its features are called, rows in numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from lopsided.constraints import LARGEST_FEATURE, Constraint, anything, nothing, seconds_in
from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.history.rows import HistoryPlan
from lopsided.core.history.table import NEVER, Codes
from lopsided.encoding.key_columns import (
    LATEST_SECOND,
    columns_of,
    key_codes,
    missing_code,
    numbers_of,
    one_key_code,
    seconds_of,
)

_LEAST_SLOTS, _MOST_SLOTS = 8, 2**27
_DAY, _WEEK = 86400.0, 604800.0
_FIRST_MONDAY = 4.0 * _DAY  # the first of January 1970 was a Thursday


def _is_column(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int | np.integer) and not isinstance(value, bool))


def _are_keys(value: Any) -> bool:
    is_list = isinstance(value, list | tuple) and len(value) > 0
    return is_list and all(map(_is_column, value)) and len(set(value)) == len(value)


def _are_half_lives(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(seconds_in(part) for part in value)


def _are_slots(value: Any) -> bool:
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_whole and _LEAST_SLOTS <= value <= _MOST_SLOTS and value & (value - 1) == 0


_COLUMN = Constraint(_is_column, "the name or the number of a column")

HISTORY_CONSTRAINTS: dict[str, Constraint] = {
    "keys": Constraint(_are_keys, "a list of names or numbers of columns, each once"),
    "time": _COLUMN,
    "value": _COLUMN | nothing(),
    "half_lives": Constraint(_are_half_lives, "a list of durations such as '90s', '1h', '7d' or '2w'"),
    "slots": Constraint(_are_slots, f"a power of two from {_LEAST_SLOTS} to {_MOST_SLOTS}"),
    "pos_label": anything(),
}


def feature_names(keys: Sequence[Any], time: Any, value: Any, half_lives: Sequence[str]) -> list[str]:
    """The features of a history in their order.

    >>> feature_names(["card"], "when", None, ["1h"])
    ['card.since', 'card.rate_1h', 'card.risk_1h', 'card is missing', 'when.hour_sine', 'when.hour_cosine', \
'when.week_sine', 'when.week_cosine']
    """
    kinds = ["rate", "risk"] if value is None else ["rate", "z", "risk"]
    names = []
    for key in keys:
        names += [f"{key}.since", *(f"{key}.{kind}_{half_life}" for kind in kinds for half_life in half_lives)]
        names += [f"{key} is missing"]
    for one, other in combinations(keys, 2):
        names += [f"{one}+{other}.new", f"{one}+{other}.since"]
    if value is not None:
        names += [f"{value}", f"{value}.log", f"{value} is missing"]
    return [*names, *(f"{time}.{circle}" for circle in ("hour_sine", "hour_cosine", "week_sine", "week_cosine"))]


def plan_of(n_keys: int, half_lives: Sequence[str], *, has_amounts: bool) -> HistoryPlan:
    """The numbers that compiled code needs of the parameters."""
    microseconds = np.array([seconds_in(half_life) for half_life in half_lives], dtype=np.float64) * 1e6
    missing = np.array([missing_code(place) for place in range(n_keys)], dtype=np.uint64)
    return HistoryPlan(math.log(2.0) / microseconds, missing, has_amounts)


class KeyedRows(NamedTuple):
    """Rows as a history needs them: a code for each key, seconds, amounts; NaN where the latter are missing."""

    codes: Codes
    seconds: Floats
    amounts: Floats

    @classmethod
    def of(cls, table: Any, keys: Sequence[Any], time: Any, value: Any) -> Self:
        """Those of a table, all cells checked."""
        if isinstance(table, list) and len(table) == 1 and isinstance(table[0], Mapping):
            found = cls._one(table[0], keys, time, value)
            if found is not None:
                return found
        *cells, moments = columns_of(table, [*keys, time])
        codes = [key_codes(column, place, name) for place, (column, name) in enumerate(zip(cells, keys, strict=True))]
        seconds = seconds_of(moments, time)
        lengths = {len(seconds), *map(len, codes)}
        amounts = np.full(seconds.size, np.nan)
        if value is not None:
            amounts = numbers_of(columns_of(table, [value])[0], value)
            lengths.add(amounts.size)
        if len(lengths) > 1:
            raise ValueError(f"The columns of a table must be equally long. Got lengths {sorted(lengths)}.")
        return cls(np.ascontiguousarray(np.stack(codes, axis=1)), seconds, np.require(amounts, np.float64, ["C", "W"]))

    @classmethod
    def _one(cls, row: Mapping[Any, Any], keys: Sequence[Any], time: Any, value: Any) -> Self | None:
        """One row of plain cells in a hundredth of the time; None if a column is missing, or needs a closer look."""
        try:
            cells, when, amount = [row[key] for key in keys], row[time], None if value is None else row[value]
        except KeyError:
            return None
        if not isinstance(when, int | float) or not abs(when) <= LATEST_SECOND or type(when) is bool:
            return None
        if amount is not None and not (isinstance(amount, int | float) and abs(amount) <= LARGEST_FEATURE):
            return None
        codes = [one_key_code(cell, place, name) for place, (cell, name) in enumerate(zip(cells, keys, strict=True))]
        numbers = np.array([when, math.nan if amount is None else amount], dtype=np.float64)
        return cls(np.array([codes], dtype=np.uint64), numbers[:1], numbers[1:])

    @property
    def times(self) -> Integers:
        """Microseconds; NEVER for a missing one."""
        there = np.isfinite(self.seconds)
        return np.where(there, np.rint(np.where(there, self.seconds, 0.0) * 1e6).astype(np.int64), NEVER)


def tokens_of(codes: Codes, moments: Integers) -> npt.NDArray[np.uint64]:
    """What must be kept of rows until their labels come: codes of their keys, and when they happened."""
    return np.concatenate([codes, moments.view(np.uint64)[:, None]], axis=1)


def write_circles(rows: KeyedRows, moments: Integers, result: Floats) -> None:
    """Hour of the day and hour of the week as points on circles, by the row's own clock if it has one."""
    seconds = np.where(np.isfinite(rows.seconds), rows.seconds, moments / 1e6)
    for place, turn in enumerate((seconds / _DAY, (seconds - _FIRST_MONDAY) / _WEEK)):
        angle = 2.0 * np.pi * (turn - np.floor(turn))
        result[:, 2 * place], result[:, 2 * place + 1] = np.sin(angle), np.cos(angle)
