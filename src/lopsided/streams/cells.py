"""What a column must hold, and single cells read slowly and exactly.

Formats read blocks at once with compiled code. Only a block in which that fails comes here, cell by cell, to find which
cell is wrong and to keep the rows that are right.
"""

from __future__ import annotations

import datetime
import math
import numbers
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.constraints import LARGEST_FEATURE
from lopsided.streams.date_forms import DateForm
from lopsided.streams.errors import StreamError, quoted
from lopsided.streams.labels import Spellings, spelled
from lopsided.streams.number_forms import NumberForm

NUMBER, FLAG, TEXT, DATE, LABEL = "number", "flag", "text", "date", "label"

# How files spell a number that is not known; there is no other list.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "-nan", "null", "NULL", "None", "?")
_MISSING = frozenset(MISSING)
_FLAGS = {"true": 1.0, "false": 0.0}
# What can be a category by the way it is written.
_SPELLED = (numbers.Number, np.bool_, np.datetime64, datetime.date, datetime.time, datetime.timedelta)


class Expected(NamedTuple):
    """What a column must hold; `labels` for the label column alone. A number that is `required` must not be missing.

    `form` is how its numbers or dates are written, if they are neither plain numbers nor ISO dates.
    """

    name: str
    kind: str
    labels: Spellings | None = None
    required: bool = False
    form: NumberForm | DateForm | None = None

    @property
    def is_read_as_text(self) -> bool:
        """Whether a file must hand its cells over as texts, and not as numbers."""
        if isinstance(self.form, DateForm):
            return not self.form.is_number
        return self.kind not in (NUMBER, FLAG) or self.form is not None


class WrongCellError(Exception):
    """A cell that breaks a rule: the rule and what came."""

    def __init__(self, rule: str, got: str) -> None:
        super().__init__(rule, got)
        self.rule, self.got = rule, got


class Columns(dict[str, Any]):
    """Columns that were checked: float64 with NaN for missing, datetime64 with NaT, signs of labels, or arrow strings.

    A class of its own, so that what a stream has checked is told from a mapping that anybody may have made.
    """


def parse_number(text: str) -> float | None:
    """The finite number this text spells, or None.

    Python's own `float` also reads `1_000`; in a data file an underscore means a code or a typing
    error, never a thousands separator.
    """
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None


def is_missing(cell: Any) -> bool:
    """Whether nothing is there, or what stands for it in a file or in memory."""
    return cell.strip() in _MISSING if isinstance(cell, str) else _is_nothing(cell)


def _is_nothing(cell: Any) -> bool:
    """None; NaN and NaT, which differ from themselves; and pandas' NA, which does not tell whether it does."""
    if cell is None:
        return True
    try:
        return bool(cell != cell)
    except TypeError:
        return True
    except (ValueError, ArithmeticError):  # an array has many answers, a signalling Decimal none
        return False


def number_of(cell: Any, form: NumberForm | None = None) -> float:
    """A finite number, or NaN for a missing one; a text is read by the form of its column, if that has one."""
    if is_missing(cell):
        return math.nan
    read = parse_number if form is None else form.read
    number = read(cell) if isinstance(cell, str) else _as_float(cell)
    if number is None:
        rule = "must be a finite number" if form is None else f"must be a number written like {form}"
        raise WrongCellError(rule, _shown(cell))
    if abs(number) > LARGEST_FEATURE:
        raise WrongCellError(f"must be a number below {LARGEST_FEATURE:g} in size", _shown(cell))
    return number


def _as_float(cell: Any) -> float | None:
    """The finite number that an object is; None for others. A span of time is a number to NumPy, but not to us."""
    if not isinstance(cell, int | float | numbers.Real | Decimal | np.bool_) or isinstance(cell, np.timedelta64):
        return None
    try:
        number = float(cell)
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) else None


def flag_of(cell: Any) -> float:
    """1 for true, 0 for false, NaN for a missing one; numbers as they are."""
    if isinstance(cell, str) and (word := cell.strip().lower()) in _FLAGS:
        return _FLAGS[word]
    try:
        return number_of(cell)
    except WrongCellError as wrong:
        raise WrongCellError("must be true, false or a finite number", wrong.got) from None


def date_of(cell: Any, form: DateForm | None = None) -> np.datetime64:
    """A moment in UTC (or in the file's own time if it names no zone), NaT for a missing one.

    A text or a number is read by the form of its column, if that has one.
    """
    if is_missing(cell):
        return np.datetime64("NaT", "us")
    if form is not None and (form.is_number or isinstance(cell, str)):
        return _date_by(form, cell)
    if isinstance(cell, np.datetime64):
        return cell.astype("datetime64[us]")
    moment: Any = cell
    if isinstance(cell, str):
        try:
            moment = datetime.datetime.fromisoformat(cell.strip())
        except ValueError:
            moment = None
    elif isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime):
        moment = datetime.datetime(cell.year, cell.month, cell.day)
    if not isinstance(moment, datetime.datetime):
        raise WrongCellError("must be a date such as 2024-05-17 or 2024-05-17T08:30:00", _shown(cell))
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(moment, "us")


def _date_by(form: DateForm, cell: Any) -> np.datetime64:
    if not form.is_number:
        moment = form.read(cell)
        if moment is not None:
            return np.datetime64(moment, "us")
    else:
        number = parse_number(cell) if isinstance(cell, str) else _as_float(cell)
        found = None if number is None else form.of_number(number)
        if found is not None:
            return found
    raise WrongCellError(f"must be a date written as {form}", _shown(cell))


def text_of(cell: Any) -> str:
    """A text; numbers as they are written, nothing for a missing one."""
    if isinstance(cell, str):
        return cell
    if _is_nothing(cell):
        return ""
    if isinstance(cell, _SPELLED):
        return spelled(_plain(cell))
    raise WrongCellError("must be a text", _shown(cell))


def sign_of(cell: Any, labels: Spellings) -> float:
    """+1 for the positive label, -1 for the other, NaN for one that is not known."""
    sign = labels.sign("" if _is_nothing(cell) else spelled(_plain(cell)))
    if sign is None:
        raise WrongCellError(labels.rule, _shown(cell))
    return sign


def _plain(cell: Any) -> Any:
    """A number of NumPy as one of Python, which is spelled as those of files are."""
    return cell.item() if isinstance(cell, np.number | np.bool_) else cell


def _shown(cell: Any) -> str:
    return "nothing" if cell is None else quoted(str(cell))


class CheckedRows:
    """Rows read cell by cell: the columns of those that are right, and an error for each that is not."""

    def __init__(self, source: str, expected: Sequence[Expected], unit: str = "line") -> None:
        self.source, self.unit = source, unit
        self.expected = list(expected)
        self.bad: list[StreamError] = []
        self.kept: list[int] = []
        self._cells: list[list[Any]] = [[] for _ in self.expected]

    def refuse(self, line: int, field: str | None, rule: str, got: str, raw: str | None) -> None:
        """Note a bad row."""
        error = StreamError(self.source, line, field, rule, got, self.unit)
        error.raw = raw
        self.bad.append(error)

    def add(self, number: int, line: int, cells: Sequence[Any], raw: str | None = None) -> None:
        """Take row `number` with one cell an expected column, or note why not."""
        values = []
        for expectation, cell in zip(self.expected, cells, strict=True):
            try:
                values.append(checked_cell(expectation, cell))
            except WrongCellError as wrong:
                kind = "label column" if expectation.kind == LABEL else "column"
                return self.refuse(line, f"{kind} {expectation.name!r}", wrong.rule, wrong.got, raw)
        self.kept.append(number)
        for column, value in zip(self._cells, values, strict=True):
            column.append(value)
        return None

    def columns(self) -> Columns:
        """The columns of the rows that are right."""
        return Columns({e.name: _as_array(e.kind, cells) for e, cells in zip(self.expected, self._cells, strict=True)})


def checked_cell(expectation: Expected, cell: Any) -> Any:
    """What a cell says, as its column holds it; WrongCellError if that is not what is expected."""
    if expectation.kind in (NUMBER, FLAG):
        form = expectation.form if isinstance(expectation.form, NumberForm) else None
        number = number_of(cell, form) if expectation.kind == NUMBER else flag_of(cell)
        if expectation.required and math.isnan(number):
            raise WrongCellError("must be a finite number and must not be missing", _shown(cell))
        return number
    if expectation.kind == DATE:
        return date_of(cell, expectation.form if isinstance(expectation.form, DateForm) else None)
    if expectation.labels is not None:
        return sign_of(cell, expectation.labels)
    return text_of(cell)


def _as_array(kind: str, cells: list[Any]) -> Any:
    if kind == TEXT:
        import pyarrow as pa

        return pa.array(cells, type=pa.string())
    dtype: npt.DTypeLike = "datetime64[us]" if kind == DATE else np.float64
    return np.array(cells, dtype=dtype)
