"""A schema out of the first rows of a table.

A column is a flag if all its values are true or false, a number if at least nine in ten are numbers, a date if at least
nine in ten are dates, a text if its values have more than three words on average, else a category. Numbers and dates
may be written as people write them; the form that is found holds for all rows. What looks like an identifier is a key:
hashed as a category if there are few of them, else not learned from. Missing values do not count. A column is ignored
if nothing is there, if its values are no single values, or if it only grows, as a clock does.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from lopsided.encoding.forms import by_column
from lopsided.encoding.identifiers import are_few, is_called_a_key, why_key
from lopsided.encoding.moments import AGE, HOUR, varying_circles
from lopsided.encoding.names import is_of_a_day, is_of_a_time, is_of_an_entity
from lopsided.encoding.schema import (
    CATEGORY,
    DATE,
    FLAG,
    KEPT_KEY,
    KEY,
    KINDS,
    NUMBER,
    TEXT,
    Column,
    Schema,
    SchemaError,
)
from lopsided.streams.cells import WrongCellError, date_of, is_missing, number_of, text_of
from lopsided.streams.date_forms import ORDERS, DateForm, date_form_of_numbers, find_date_form
from lopsided.streams.errors import quoted
from lopsided.streams.number_forms import COMMA, POINT, NumberForm, find_number_form

CATEGORY_WIDTH, TEXT_WIDTH = 64, 256
IGNORE, AUTO = "ignore", "auto"
_DECIMALS = {"point": POINT, "comma": COMMA}
# What a user may say of a column: a kind, with the form after a colon if that has to be said too.
_TELLABLE = (
    *KINDS, *(f"{NUMBER}:{mark}" for mark in _DECIMALS), *(f"{DATE}:{order}" for order in ORDERS), AGE, IGNORE,
)  # fmt: skip
_MOST = 0.9
_MANY = 0.5
_WORDS_OF_A_TEXT = 3.0
_ROWS_OF_A_CLOCK, _TICKS_OF_A_CLOCK = 50, 10
_NARROWEST = 4


class SchemaWarning(UserWarning):
    """A column of the first rows that may have been meant otherwise."""


class Guess(NamedTuple):
    """What a column is: its kind and form, or why it is ignored; and what there is to say about it."""

    kind: str = ""
    form: NumberForm | DateForm | None = None
    reason: str = ""  # why there is no kind, or why it is a key
    note: str = ""


def infer_schema(
    table: Any,
    *,
    label: str | None = None,
    id: str | None = None,
    time: str | None = None,
    ignore: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    width: int | None = None,
    keys: Sequence[str] | str = (),
    value: str | None = None,
) -> Schema:
    """The schema of a table that begins with these rows.

    A column that may have been meant otherwise is told by a `SchemaWarning`.

    Parameters
    ----------
    table : data frame, arrow table, mapping of columns or list of mappings
        The first rows. Cells are texts as a CSV file has them, or typed values.
    label : str, optional
        The column of labels.
    id : str, optional
        The column that names the row. It is not learned from.
    time : str, optional
        The column that says when. Of a date the hour, weekday and day of month are learned from, unless it is ignored;
        a number of seconds is not learned from.
    ignore : columns, optional
        Columns that are not learned from.
    kinds : mapping of columns to kinds, optional
        What columns are, where the rule above is wrong: a kind; "ignore"; "age" for a date of which the days since the
        first one are learned too; "number:comma" or "number:point" for numbers with this decimal mark; "date:dmy",
        "date:mdy" or "date:ymd" for dates in this order.
    width : int, optional
        Columns for each hashed one. Default: 64 for categories, or twice the number of those seen rounded up to a
        power of two (at least 4) if that is less, and 256 for texts.
    keys : columns or "auto", optional
        Cards, devices, merchants: what each did before is learned from, as `lopsided.KeyedHistory` has it; it needs a
        `time`. "auto" takes all columns that look like keys, see `proposed_keys`.
    value : str, optional
        The column of amounts: with keys, what is usual for each is learned too.
    """
    schema, notes = schema_and_notes(
        table, label=label, id=id, time=time, ignore=ignore, kinds=kinds, width=width, keys=keys, value=value
    )
    for note in notes:
        warnings.warn(f"{note}; see 'kinds' of infer_schema", SchemaWarning, stacklevel=2)
    return schema


def schema_and_notes(
    table: Any,
    *,
    label: str | None = None,
    id: str | None = None,
    time: str | None = None,
    ignore: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    width: int | None = None,
    keys: Sequence[str] | str = (),
    value: str | None = None,
) -> tuple[Schema, list[str]]:
    """The same, and a sentence on each column that may have been meant otherwise."""
    found = by_column(table).items()
    head = {name: cells.to_pylist() if hasattr(cells, "to_pylist") else cells for name, cells in found}
    # Names of columns are texts, also those that are numbers in a data frame.
    label, id, time = (None if part is None else str(part) for part in (label, id, time))
    ignore, kinds = [str(name) for name in ignore], {str(name): kind for name, kind in (kinds or {}).items()}
    value = None if value is None else str(value)
    if keys == AUTO:
        keys = proposed_keys(head, label=label, id=id, time=time, ignore=ignore)
    keys = [str(name) for name in keys]
    asked: list[tuple[str, Any]] = [
        ("id", [id]),
        ("time", [time]),
        ("ignore", ignore),
        ("kinds", kinds),
        ("keys", keys),
        ("value", [value]),
    ]
    for argument, names in asked:
        for wanted in names:
            if wanted is not None and wanted not in head:
                raise SchemaError(f"The columns must be among {', '.join(head)}, got {wanted!r}.", argument)
    for name, kind in kinds.items():
        if kind not in _TELLABLE:
            raise SchemaError(f"The kind of column {name!r} must be one of {', '.join(_TELLABLE)}, got {kind!r}.")
    columns, ignored, notes = [], {}, []
    time_column = None if time is None else _time_column(time, head[time], kinds.get(time))
    for name, values in head.items():
        if name == label:
            continue
        told = kinds.get(name)
        if name in keys and told is None:
            ignored[name] = KEPT_KEY
        elif name in ignore or told == IGNORE:
            ignored[name] = "as asked"
        elif name == id:
            ignored[name] = "the identifier"
        elif name == time and told is None and time_column is not None and time_column.kind == NUMBER:
            ignored[name] = "the time, which does not come back"
        else:
            guess = guess_of(name, values, is_time=name == time) if told is None else _told(told, values)
            if guess.kind:
                columns.append(_described(name, guess, values, width, with_age=told == AGE))
                notes += [guess.note] if guess.note else []
            else:
                ignored[name] = guess.reason
    return Schema(tuple(columns), label, id, time_column, ignored, tuple(keys), value if keys else None), notes


def proposed_keys(
    table: Any, *, label: str | None = None, id: str | None = None, time: str | None = None, ignore: Sequence[str] = ()
) -> tuple[str, ...]:
    """The columns of a table that look like keys whose past says something: cards, merchants, accounts.

    Those that are keys by `infer_schema`'s rule, and are called after somebody or something or hold a value twice: what
    is another one in every row names the row.

    >>> rows = {"payment_id": [f"p{n}" for n in range(60)], "shop_id": [str(n % 9) for n in range(60)]}
    >>> proposed_keys(rows)
    ('shop_id',)
    """
    result = []
    for name, cells in by_column(table).items():
        if name in (label, id, time) or name in ignore:
            continue
        values = cells.to_pylist() if hasattr(cells, "to_pylist") else cells
        there = [value for value in values if not is_missing(value)]
        if guess_of(name, values).kind == KEY and (is_of_an_entity(name) or len(set(map(str, there))) < len(there)):
            result.append(name)
    return tuple(result)


def _time_column(name: str, values: Sequence[Any], told: str | None) -> Column:
    is_told = told is not None and told != IGNORE
    guess = _told(str(told), values) if is_told else guess_of(name, values, is_time=True)
    if guess.kind not in (NUMBER, DATE):
        shown = next((str(value) for value in values if not is_missing(value)), "nothing")
        raise SchemaError(f"The time column {name!r} must hold dates or numbers of seconds, got {shown!r}.")
    return _described(name, guess, values, None)


def guess_of(name: str, values: Sequence[Any], *, is_time: bool = False) -> Guess:
    """What a column is, by its values and its name. `is_time` says that it is known to hold moments."""
    there = [value for value in values if not is_missing(value)]
    if not there:
        return Guess(reason="nothing in its first rows")
    if not all(_fits(value, text_of) for value in there):
        return Guess(reason="no single values")
    if all(isinstance(value, bool | np.bool_) for value in there):
        return Guess(FLAG)
    share = _share(there, number_of)
    if share >= _MOST and (is_time or is_of_a_time(name) or is_of_a_day(name)):
        moments = _of_a_clock(name, there, is_time=is_time)
        if moments is not None:
            return moments
    if share >= _MOST and not is_time:
        reason = why_key(name, [value for value in there if _fits(value, number_of)], are_numbers=True)
        if reason:
            return Guess(KEY, reason=reason)
    if share == 1.0:
        return Guess(NUMBER)
    dates = _dates(name, there)
    if dates is not None:
        return dates
    numbers = _numbers(name, there, share)
    if numbers is not None:
        return numbers
    return _words(name, there, share)


def _of_a_clock(name: str, there: Sequence[Any], *, is_time: bool) -> Guess | None:
    """Numbers that say when: dates, or seconds of a clock of its own; None if they need not be."""
    numbers = [number_of(value) for value in there if _fits(value, number_of)]
    form = date_form_of_numbers(numbers, is_day=is_time or is_of_a_day(name))
    if form is not None:
        return Guess(DATE, form)
    if is_time or not is_of_a_time(name):
        return None
    grows = all(after >= before for before, after in pairwise(numbers))
    if grows and len(numbers) >= _ROWS_OF_A_CLOCK and len(set(numbers)) >= _TICKS_OF_A_CLOCK:
        return Guess(reason="only grows, as a clock does")
    return None


def _dates(name: str, there: Sequence[Any]) -> Guess | None:
    if _share(there, date_of) >= _MOST:
        return Guess(DATE)
    texts = [value for value in there if isinstance(value, str)]
    found = find_date_form(texts) if texts else None
    if found is None or found.share * len(texts) < _MOST * len(there):
        return None
    note = ""
    if found.ambiguous is not None:
        note = f"the first rows of column {name!r} do not tell days from months ({quoted(found.ambiguous)}): "
        note += f"taken as {found.form}"
    return Guess(DATE, found.form, note=note)


def _numbers(name: str, there: Sequence[Any], plain_share: float) -> Guess | None:
    """Numbers in a form that reads more of them than plain ones are, or plain ones."""
    texts = [value for value in there if isinstance(value, str)]
    found = find_number_form(texts) if texts else None
    if found is not None:
        typed = sum(not isinstance(value, str) and _fits(value, number_of) for value in there)
        share = (found.share * len(texts) + typed) / len(there)
        if share >= _MOST and share > plain_share:
            note = ""
            if found.ambiguous is not None:
                number = found.form.read(found.ambiguous)
                note = f"the first rows of column {name!r} do not tell thousands from decimals: "
                note += f"{quoted(found.ambiguous)} is taken as {number:g}"
            return Guess(NUMBER, found.form, note=note)
    return Guess(NUMBER) if plain_share >= _MOST else None


def _words(name: str, there: Sequence[Any], share_of_numbers: float) -> Guess:
    texts = [str(value) for value in there]
    if np.mean([len(text.split()) for text in texts]) > _WORDS_OF_A_TEXT:
        return Guess(TEXT)
    if share_of_numbers >= _MANY and not is_called_a_key(name):
        number, word = (
            next(text for value, text in zip(there, texts, strict=True) if _fits(value, number_of) is is_number)
            for is_number in (True, False)
        )
        note = (
            f"column {name!r} is taken as a category, although {share_of_numbers:.0%} of its first values are numbers "
            f"such as {quoted(number)}, because of others such as {quoted(word)}; leave these cells empty if they mean "
            "that a number is missing, or say that it is a number, which makes their rows bad"
        )
        return Guess(CATEGORY, note=note)
    reason = why_key(name, there, are_numbers=False)
    return Guess(KEY, reason=reason) if reason else Guess(CATEGORY)


def _told(told: str, values: Sequence[Any]) -> Guess:
    """A kind that the user has said, and the form that goes with it."""
    kind, _, detail = told.partition(":")
    there = [value for value in values if not is_missing(value)]
    texts = [value for value in there if isinstance(value, str)]
    if kind == NUMBER and detail:
        found = find_number_form(texts, _DECIMALS[detail])
        other = {POINT: COMMA, COMMA: POINT}[_DECIMALS[detail]]
        return Guess(NUMBER, NumberForm(_DECIMALS[detail], other) if found is None else found.form)
    if kind == NUMBER:
        return _numbers("", there, _share(there, number_of) if there else 1.0) or Guess(NUMBER)
    if kind in (DATE, AGE):
        if detail:
            dates = find_date_form(texts, detail)
            return Guess(DATE, DateForm(detail, "/") if dates is None else dates.form)
        if there and _share(there, number_of) >= _MOST:
            numbers = [number_of(value) for value in there if _fits(value, number_of)]
            return Guess(DATE, date_form_of_numbers(numbers, is_day=True))
        return (_dates("", there) if there else None) or Guess(DATE)
    return Guess(kind, reason="as asked" if kind == KEY else "")


def _fits(value: Any, read: Callable[[Any], Any]) -> bool:
    try:
        read(value)
    except WrongCellError:
        return False
    return True


def _share(values: Sequence[Any], read: Callable[[Any], Any]) -> float:
    return float(np.mean([not isinstance(value, bool | np.bool_) and _fits(value, read) for value in values]))


def _described(name: str, guess: Guess, values: Sequence[Any], width: int | None, *, with_age: bool = False) -> Column:
    if guess.kind == TEXT:
        return Column(name, TEXT, width or TEXT_WIDTH)
    if guess.kind == KEY and not are_few([value for value in values if not is_missing(value)]):
        return Column(name, KEY, why=guess.reason)
    if guess.kind in (CATEGORY, KEY):
        words = sorted({text_of(value) for value in values if _fits(value, text_of)} - {""})
        enough = max(_NARROWEST, 1 << (2 * len(words) - 1).bit_length() if words else 0)
        known = tuple(words[:CATEGORY_WIDTH])
        return Column(name, guess.kind, width or min(CATEGORY_WIDTH, enough), known=known, why=guess.reason)
    may_miss = any(is_missing(value) for value in values)
    if guess.kind != DATE:
        return Column(name, guess.kind, 0, may_miss, form=guess.form)
    return _described_date(name, guess.form, values, may_miss, with_age)


def _described_date(name: str, form: Any, values: Sequence[Any], may_miss: bool, with_age: bool) -> Column:
    read = [date_of(value, form) for value in values if _fits(value, lambda cell: date_of(cell, form))]
    moments = np.array(read, dtype="datetime64[us]")
    moments = moments[~np.isnat(moments)]
    parts = varying_circles(moments)
    since = str(moments.min().astype("datetime64[D]")) if moments.size and with_age else Column.since
    if with_age or not parts:
        parts = (AGE, *parts) if with_age else ()
    return Column(name, DATE, 0, may_miss, HOUR in parts, form=form, parts=parts, since=since)
