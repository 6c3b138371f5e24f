"""A schema out of the first rows of a table.

A column is a flag if all its values are true or false, a number if at least nine in ten are numbers, a date if at least
nine in ten are ISO dates, a text if its values have more than three words on average, else a category. Missing values
do not count. A column is ignored if nothing is there, if its values are no single values, or if it is no number and
each of 50 rows or more has another value, as names and identifiers have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lopsided.encoding.forms import by_column
from lopsided.encoding.schema import CATEGORY, DATE, FLAG, KINDS, NUMBER, TEXT, Column, Schema, SchemaError
from lopsided.streams.cells import WrongCellError, date_of, is_missing, number_of, text_of

CATEGORY_WIDTH, TEXT_WIDTH = 64, 256
IGNORE = "ignore"
_MOST = 0.9
_WORDS_OF_A_TEXT = 3.0
_ROWS_OF_IDENTIFIERS = 50
_NARROWEST = 4


def infer_schema(
    table: Any,
    *,
    label: str | None = None,
    id: str | None = None,
    time: str | None = None,
    ignore: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    width: int | None = None,
) -> Schema:
    """The schema of a table that begins with these rows.

    Parameters
    ----------
    table : data frame, arrow table, mapping of columns or list of mappings
        The first rows. Cells are texts as a CSV file has them, or typed values.
    label : str, optional
        The column of labels.
    id : str, optional
        The column that names the row. It is not learned from.
    time : str, optional
        The column that says when. It is learned from too, unless it is ignored.
    ignore : columns, optional
        Columns that are not learned from.
    kinds : mapping of columns to kinds, optional
        What columns are, where the rule above is wrong: a kind, or "ignore".
    width : int, optional
        Columns for each hashed one. Default: 64 for categories, or twice the number of those seen rounded up to a
        power of two (at least 4) if that is less, and 256 for texts.
    """
    found = by_column(table).items()
    head = {name: cells.to_pylist() if hasattr(cells, "to_pylist") else cells for name, cells in found}
    # Names of columns are texts, also those that are numbers in a data frame.
    label, id, time = (None if part is None else str(part) for part in (label, id, time))
    ignore, kinds = [str(name) for name in ignore], {str(name): kind for name, kind in (kinds or {}).items()}
    for name in [*ignore, *kinds, *(part for part in (id, time) if part is not None)]:
        if name not in head:
            raise SchemaError(f"The columns must be among {', '.join(head)}, got {name!r}.")
    for name, kind in kinds.items():
        if kind not in (*KINDS, IGNORE):
            raise SchemaError(
                f"The kind of column {name!r} must be one of {', '.join((*KINDS, IGNORE))}, got {kind!r}."
            )
    columns, ignored = [], {}
    for name, values in head.items():
        if name == label:
            continue
        told = kinds.get(name)
        if name in ignore or told == IGNORE:
            ignored[name] = "as asked"
        elif name == id:
            ignored[name] = "the identifier"
        elif told is not None:
            columns.append(_described(name, told, values, width))
        else:
            kind, reason = _kind_of(values)
            if reason:
                ignored[name] = reason
            else:
                columns.append(_described(name, kind, values, width))
    return Schema(tuple(columns), label, id, _time_column(time, head, kinds), ignored)


def _time_column(name: str | None, head: Mapping[str, Sequence[Any]], kinds: Mapping[str, str]) -> Column | None:
    if name is None:
        return None
    kind, _ = _kind_of(head[name])
    kind = kinds.get(name, kind)
    if kind not in (NUMBER, DATE):
        shown = next((str(value) for value in head[name] if not is_missing(value)), "nothing")
        raise SchemaError(f"The time column {name!r} must hold ISO dates or numbers of seconds, got {shown!r}.")
    return _described(name, kind, head[name], None)


def _kind_of(values: Sequence[Any]) -> tuple[str, str]:
    """The kind, or why there is none."""
    there = [value for value in values if not is_missing(value)]
    if not there:
        return "", "nothing in its first rows"
    if not all(_fits(value, text_of) for value in there):
        return "", "no single values"
    if all(isinstance(value, bool | np.bool_) for value in there):
        return FLAG, ""
    if _share(there, number_of) >= _MOST:
        return NUMBER, ""
    if _share(there, date_of) >= _MOST:
        return DATE, ""
    texts = [str(value) for value in there]
    if np.mean([len(text.split()) for text in texts]) > _WORDS_OF_A_TEXT:
        return TEXT, ""
    if len(texts) >= _ROWS_OF_IDENTIFIERS and len(set(texts)) == len(texts):
        return "", "another value in every row, as an identifier has"
    return CATEGORY, ""


def _fits(value: Any, read: Callable[[Any], Any]) -> bool:
    try:
        read(value)
    except WrongCellError:
        return False
    return True


def _share(values: Sequence[Any], read: Callable[[Any], Any]) -> float:
    return float(np.mean([not isinstance(value, bool | np.bool_) and _fits(value, read) for value in values]))


def _described(name: str, kind: str, values: Sequence[Any], width: int | None) -> Column:
    if kind == TEXT:
        return Column(name, kind, width or TEXT_WIDTH)
    if kind == CATEGORY:
        words = sorted({text_of(value) for value in values if _fits(value, text_of)} - {""})
        enough = max(_NARROWEST, 1 << (2 * len(words) - 1).bit_length() if words else 0)
        return Column(name, kind, width or min(CATEGORY_WIDTH, enough), known=tuple(words[:CATEGORY_WIDTH]))
    may_miss = any(is_missing(value) for value in values)
    return Column(name, kind, 0, may_miss, kind == DATE and _has_hours(values))


def _has_hours(values: Sequence[Any]) -> bool:
    for value in values:
        try:
            moment = date_of(value)
        except WrongCellError:
            continue
        if not np.isnat(moment) and moment != moment.astype("datetime64[D]"):
            return True
    return False
