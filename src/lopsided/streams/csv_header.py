"""The first line of a CSV: what separates cells, what the columns are called, and whether it is a header at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import count, pairwise

from lopsided.streams.blocks import BYTE_ORDER_MARK, Block, record_ends
from lopsided.streams.cells import WrongCellError, date_of, is_missing, parse_number
from lopsided.streams.errors import NO_NUL, UTF_8, StreamError, quoted

_USUAL_DELIMITERS = ",\t;|"
# The csv module's own limit of 128 kB a cell is for programs that trust nobody; blocks are bounded already.
csv.field_size_limit(1 << 30)

Problem = tuple[str | None, str, str]  # field, rule, got


def usual_delimiter(start: bytes) -> str:
    """The most frequent of comma, tab, semicolon and bar in the first line; the comma if there is none."""
    header = start.removeprefix(BYTE_ORDER_MARK).lstrip(b"\r\n").partition(b"\n")[0].decode("utf-8", "replace")
    return max(_USUAL_DELIMITERS, key=header.count)


def split_header(block: Block, delimiter: str) -> tuple[Block, Block]:
    """The header with its line number, and the block behind it."""
    data, line = block.data, block.first_line
    if line == 1:
        data = data.removeprefix(BYTE_ORDER_MARK)
    block_end = block.offset + len(block.data)
    while True:
        end = data.find(b"\n") + 1 or len(data)
        if b'"' in data[:end]:
            ends = record_ends(data, delimiter)
            end = int(ends[0]) if ends.size else len(data)
        header, data = data[:end], data[end:]
        if header.strip():
            rest = Block(block.source, line + header.count(b"\n"), data, block_end - len(data))
            return Block(block.source, line, header, rest.offset - len(header)), rest
        line += 1


def column_names(source: str, header: Block, delimiter: str) -> tuple[list[str], bool]:
    """A name for every cell of the header, and whether the first one had none."""
    number = header.first_line
    try:
        text = header.data.decode("utf-8").rstrip("\r\n")
        if "\0" in text:
            raise StreamError(source, number, "the header", NO_NUL, "one")
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except UnicodeDecodeError as error:
        got = f"byte 0x{header.data[error.start]:02x} at byte {error.start + 1} of the line"
        raise StreamError(source, number, "the header", UTF_8, got) from error
    except csv.Error as error:
        raise StreamError(source, number, "the header", "must be well-formed CSV", f'"{error}"') from error
    columns = [name.strip() for name in names]
    numbers = [name for name in columns if parse_number(name) is not None]
    # A first row of data is better not taken for names.
    argument = "header" if numbers else None
    if len(numbers) == len(columns):
        rule, got = "must name the columns", f"the numbers {quoted(text)}"
        raise StreamError(source, number, "the header", rule, got, argument=argument)
    if len(columns) < 2:
        rule = f"must name at least two columns, separated by {delimiter!r}"
        raise StreamError(source, number, "the header", rule, quoted(text))
    has_index = not columns[0]
    if has_index:
        columns[0] = next(name for name in _names_of_an_index() if name not in columns)
    for position, name in enumerate(columns, start=1):
        if not name:
            rule = "must name a column (give it a name, or take the column out)"
            raise StreamError(source, number, f"header cell {position}", rule, "nothing", argument=argument)
        if columns.index(name) + 1 < position:
            rule, got = "must name each column once", f"{quoted(name)} twice"
            raise StreamError(source, number, "the header", rule, got, argument=argument)
    return columns, has_index


def _names_of_an_index() -> Iterator[str]:
    yield "index"
    yield from (f"index{number}" for number in count(2))


def numbered_columns(source: str, first: Block, delimiter: str) -> list[str]:
    """Names for the columns of a file that has none, by its first row."""
    cells, problem = cells_of(first.data.rstrip(b"\r\n"), delimiter)
    if problem is not None:
        raise StreamError(source, first.first_line, *problem)
    if len(cells) < 2:
        rule = f"must have at least two cells, separated by {delimiter!r}"
        raise StreamError(source, first.first_line, None, rule, str(len(cells)))
    return [f"column_{number}" for number in range(1, len(cells) + 1)]


def doubt_about_header(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str | None:
    """What makes a header look like a row of data; None if nothing does.

    Numbers or dates as names do, but not numbers that count columns or years; and so do names that occur in their own
    columns, if most of them do.

    >>> doubt_about_header(["5.1", "3.5", "setosa"], [["4.9", "3.0", "setosa"]])
    "'5.1' is a number"
    >>> doubt_about_header(["name", "2019", "2020"], [["NO", "1", "2"]])
    """
    numbers = [number for name in columns if (number := parse_number(name)) is not None]
    steps = {after - before for before, after in pairwise(numbers)}
    counts = all(number.is_integer() and number >= 0 for number in numbers) and steps <= {1.0}
    if numbers and not counts:
        return f"{next(quoted(name) for name in columns if parse_number(name) is not None)} is a number"
    dates = [name for name in columns if _is_date(name)]
    if dates:
        return f"{quoted(dates[0])} is a date"
    whole = [row for row in rows if len(row) == len(columns)]
    again = [name for name, *cells in zip(columns, *whole, strict=True) if name in map(str.strip, cells)]
    if len(again) >= 2 and 2 * len(again) >= len(columns):
        return f"{quoted(again[0])} and {quoted(again[1])} are also values of their columns"
    return None


def _is_date(name: str) -> bool:
    try:
        date_of(name)
    except WrongCellError:
        return False
    return parse_number(name) is None and not is_missing(name)


def cells_of(record: bytes, delimiter: str) -> tuple[list[str], Problem | None]:
    """The cells of a record, or what is wrong with it as a text."""
    if b"\0" in record:
        got = f"one at byte {record.index(0) + 1} of the row"
        return [], ("the text", NO_NUL, got)
    try:
        text = record.decode("utf-8")
    except UnicodeDecodeError as error:
        got = f"byte 0x{record[error.start]:02x} at byte {error.start + 1} of the row"
        return [], ("the text", UTF_8, got)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        return [], (None, "must be well-formed CSV", f'"{error}"')
    if len(rows) != 1:
        return [], (None, "must be well-formed CSV", "an end of line outside of quotes")
    return rows[0], None
