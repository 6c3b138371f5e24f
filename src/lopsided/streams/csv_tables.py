"""Tables as CSV or TSV with a header.

A block is read at once by arrow, numbers straight to float64. Only a block in which that fails is read again row by
row, to name each wrong cell with its line and to keep the other rows.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice, pairwise
from typing import Any

from lopsided.streams.blocks import BYTE_ORDER_MARK, Block, line_ends, place_after, record_ends
from lopsided.streams.cells import FLAG, LABEL, MISSING, CheckedRows, Columns, Expected, parse_number
from lopsided.streams.chunks import Chunk, NeedsCareError, column_at_once
from lopsided.streams.errors import StreamError, quoted

_USUAL_DELIMITERS = ",\t;|"
_STEP = 1 << 20
_ROWS_OF_AN_INDEX = 1000
# The csv module's own limit of 128 kB a cell is for programs that trust nobody; blocks are bounded already.
csv.field_size_limit(1 << 30)


_Problem = tuple[str | None, str, str]  # field, rule, got


class CsvTable:
    """One file: its columns, its first rows, and its chunks. `blocks` begin with the header.

    A first column without a name is the index that pandas writes unless told otherwise. It is called `index`; where it
    holds different whole numbers it is an identifier, and not among `columns`, but can be had from `chunks`.
    """

    format = "csv"
    has_fixed_columns = True
    head_problem: StreamError | None = None

    def __init__(
        self,
        name: str,
        blocks: Iterator[Block | StreamError],
        delimiter: str,
        going_on: Iterator[Block | StreamError] | None = None,
    ) -> None:
        self.name = name
        self.delimiter = delimiter
        self._blocks = blocks
        first = _first_block(name, blocks)
        self.header, rest = _split_header(first, delimiter)
        self.all_columns, has_index = _column_names(name, self.header, delimiter)
        self._first = rest
        self.columns = self.all_columns[1:] if has_index and self._begins_with_numbers() else self.all_columns
        if going_on is not None:  # the header has been read again, and rows come only behind those read before
            self._first, self._blocks = rest._replace(data=b""), going_on

    def head(self, n_rows: int, look_on: bool) -> tuple[dict[str, list[Any]], bool]:
        """Cells of the first rows by column, and whether these are all rows; rows of a wrong length are left out."""
        rows: list[list[str]] = []
        for line, _, row, problem in _rows(self._first, self.delimiter):
            if problem is None and len(row) == len(self.all_columns):
                rows.append(row)
            elif self.head_problem is None:
                self.head_problem = StreamError(self.name, line, *(problem or self._wrong_length(row)))
            if len(rows) == n_rows:
                break
        else:
            following = next(self._blocks, None) if look_on else None
            if following is not None:
                self._blocks = _put_back(following, self._blocks)
            elif look_on:
                return self._by_column(rows), True
        return self._by_column(rows), False

    def _begins_with_numbers(self) -> bool:
        """Whether the first rows begin with whole numbers, each with another one."""
        rows = islice(_rows(self._first, self.delimiter), _ROWS_OF_AN_INDEX)
        cells = [row[0].strip() for _, _, row, problem in rows if problem is None and row]
        return len(set(cells)) == len(cells) and all(cell.isascii() and cell.isdigit() for cell in cells)

    def _wrong_length(self, row: list[str]) -> _Problem:
        return None, f"must have {len(self.all_columns)} cells as the header has", str(len(row))

    def _by_column(self, rows: list[list[str]]) -> dict[str, list[Any]]:
        first = len(self.all_columns) - len(self.columns)
        return {name: [row[position] for row in rows] for position, name in enumerate(self.columns, start=first)}

    def chunks(self, expected: Sequence[Expected]) -> Iterator[Chunk]:
        """The rows, block by block."""
        for block in _put_back(self._first, self._blocks):
            if isinstance(block, StreamError):
                yield Chunk(self.name, 0, Columns(), [block])
            elif block.data.strip():
                chunk = self._chunk(block, expected)
                chunk.header = self.header.data.rstrip(b"\r\n")
                yield chunk

    def _chunk(self, block: Block, expected: Sequence[Expected]) -> Chunk:
        try:
            columns, n_rows = self._at_once(block, expected)
        except NeedsCareError:
            return self._with_care(block, expected)
        return Chunk(
            self.name, n_rows, columns, records=lambda: self._records(block), table=lambda: self._table(block, None),
            after=lambda n: place_after(block, _ends(block.data, self.delimiter), None, (), n_rows, n),
        )  # fmt: skip

    def _at_once(self, block: Block, expected: Sequence[Expected]) -> tuple[Columns, int]:
        import pyarrow as pa
        import pyarrow.compute as pc

        if b"\0" in block.data:
            raise NeedsCareError
        names = [expectation.name for expectation in expected]
        types = {e.name: pa.string() if e.is_read_as_text else pa.float64() for e in expected}
        types |= {e.name: pa.dictionary(pa.int32(), pa.string()) for e in expected if e.kind == LABEL}
        types |= {e.name: pa.bool_() for e in expected if e.kind == FLAG}
        table = self._read(block.data, names, types)
        # Arrow knows more spellings of NaN than MISSING has; whether they count is not for it to say.
        numbers = [e.name for e in expected if types[e.name] == pa.float64()]
        if any(pc.any(pc.is_nan(table.column(name))).as_py() for name in numbers):
            raise NeedsCareError
        return Columns({e.name: column_at_once(e, table.column(e.name)) for e in expected}), table.num_rows

    def _read(self, data: bytes, names: list[str] | None, types: dict[str, Any]) -> Any:
        """The block as arrow reads it, in small steps that stay in the processor's cache if no record is too long."""
        import pyarrow as pa
        import pyarrow.csv as pacsv

        has_quotes = b'"' in data
        steps = [_STEP] if not has_quotes and len(data) > _STEP else []
        for block_size in (*steps, max(len(data), 1)):
            try:
                return pacsv.read_csv(
                    pa.BufferReader(data),
                    pacsv.ReadOptions(column_names=self.all_columns, use_threads=False, block_size=block_size),
                    pacsv.ParseOptions(delimiter=self.delimiter, newlines_in_values=has_quotes),
                    pacsv.ConvertOptions(
                        column_types=types,
                        include_columns=names,
                        null_values=list(MISSING),
                        true_values=["1", "true", "True", "TRUE"],
                        false_values=["0", "false", "False", "FALSE"],
                        strings_can_be_null=False,
                    ),
                )
            except pa.ArrowInvalid:
                continue
        raise NeedsCareError

    def _with_care(self, block: Block, expected: Sequence[Expected]) -> Chunk:
        positions = [self.all_columns.index(expectation.name) for expectation in expected]
        rows = CheckedRows(self.name, expected)
        raw: list[bytes] = []
        for number, (line, record, row, problem) in enumerate(_rows(block, self.delimiter)):
            raw.append(record)
            text = record.decode("utf-8", "backslashreplace")
            if problem is not None:
                rows.refuse(line, *problem, text)
            elif len(row) != len(self.all_columns):
                rows.refuse(line, *self._wrong_length(row), text)
            else:
                rows.add(number, line, [row[position] for position in positions], text)
        return Chunk(
            self.name, len(rows.kept), rows.columns(), rows.bad, records=lambda: [raw[number] for number in rows.kept],
            table=lambda: self._table(block, [raw[number] for number in rows.kept]),
            after=lambda n: place_after(
                block, _ends(block.data, self.delimiter), rows.kept, rows.bad, len(rows.kept), n
            ),
        )  # fmt: skip

    def _records(self, block: Block) -> list[bytes]:
        if b'"' not in block.data:
            lines = block.data.split(b"\n")
        else:
            ends = [0, *record_ends(block.data, self.delimiter).tolist(), len(block.data)]
            lines = [block.data[a:b].rstrip(b"\n") for a, b in pairwise(ends)]
        return [stripped for line in lines if (stripped := line.rstrip(b"\r"))]

    def _table(self, block: Block, records: list[bytes] | None) -> Any:
        """All columns as arrow reads them, for other formats."""
        import pyarrow as pa

        data = block.data if records is None else b"\n".join(records) + b"\n"
        if not data.strip():
            return pa.table({name: pa.array([], type=pa.string()) for name in self.all_columns})
        return self._read(data, None, {name: pa.string() for name in self.all_columns})


def usual_delimiter(start: bytes) -> str:
    """The most frequent of comma, tab, semicolon and bar in the first line; the comma if there is none."""
    header = start.removeprefix(BYTE_ORDER_MARK).lstrip(b"\r\n").partition(b"\n")[0].decode("utf-8", "replace")
    return max(_USUAL_DELIMITERS, key=header.count)


def _put_back(first: Block | StreamError, rest: Iterable[Block | StreamError]) -> Iterator[Block | StreamError]:
    yield first
    yield from rest


def _first_block(name: str, blocks: Iterator[Block | StreamError]) -> Block:
    for block in blocks:
        if isinstance(block, StreamError):
            raise block
        if block.data.removeprefix(BYTE_ORDER_MARK).strip():
            return block
    raise StreamError(name, None, None, "must have a header and rows of data", "nothing")


def _split_header(block: Block, delimiter: str) -> tuple[Block, Block]:
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


def _column_names(source: str, header: Block, delimiter: str) -> tuple[list[str], bool]:
    """A name for every cell of the header, and whether the first one had none."""
    number = header.first_line
    try:
        text = header.data.decode("utf-8").rstrip("\r\n")
        if "\0" in text:
            raise StreamError(source, number, "the header", "must be text without NUL bytes", "one")
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except UnicodeDecodeError as error:
        got = f"byte 0x{header.data[error.start]:02x} at byte {error.start + 1} of the line"
        raise StreamError(source, number, "the header", "must be UTF-8 text", got) from error
    except csv.Error as error:
        raise StreamError(source, number, "the header", "must be well-formed CSV", f'"{error}"') from error
    columns = [name.strip() for name in names]
    if all(parse_number(name) is not None for name in columns):
        raise StreamError(source, number, "the header", "must name the columns", f"the numbers {quoted(text)}")
    if len(columns) < 2:
        rule = f"must name at least two columns, separated by {delimiter!r}"
        raise StreamError(source, number, "the header", rule, quoted(text))
    has_index = not columns[0]
    if has_index:
        columns[0] = next(name for name in _names_of_an_index() if name not in columns)
    for position, name in enumerate(columns, start=1):
        if not name:
            rule = "must name a column (give it a name, or take the column out)"
            raise StreamError(source, number, f"header cell {position}", rule, "nothing")
        if columns.index(name) + 1 < position:
            raise StreamError(source, number, "the header", "must name each column once", f"{quoted(name)} twice")
    return columns, has_index


def _names_of_an_index() -> Iterator[str]:
    yield "index"
    yield from (f"index{number}" for number in count(2))


def _rows(block: Block, delimiter: str) -> Iterator[tuple[int, bytes, list[str], _Problem | None]]:
    """Every record that is not blank: its first line, its bytes, its cells, and what is wrong with it as a text."""
    data = block.data
    start, line = 0, block.first_line
    for end in _ends(data, delimiter):
        record = data[start:end]
        start = end
        text = record.rstrip(b"\r\n")
        if text.strip():
            cells, problem = _cells(text, delimiter)
            yield line, text, cells, problem
        line += record.count(b"\n")


def record_lines(blocks: Iterable[Block | StreamError], delimiter: str) -> Iterator[int]:
    """The first line of every record, that of the header and of those that cannot be read too."""
    for block in blocks:
        if isinstance(block, StreamError):
            yield block.line or 0
        else:
            start = block.data.removeprefix(BYTE_ORDER_MARK) if block.first_line == 1 else block.data
            yield from (line for line, _, _, _ in _rows(block._replace(data=start), delimiter))


def _ends(data: bytes, delimiter: str) -> list[int]:
    """The end of every record, also of one without a line end."""
    ends: list[int] = record_ends(data, delimiter).tolist() if b'"' in data else line_ends(data)
    return ends if ends and ends[-1] == len(data) else [*ends, len(data)]


def _cells(record: bytes, delimiter: str) -> tuple[list[str], _Problem | None]:
    if b"\0" in record:
        got = f"one at byte {record.index(0) + 1} of the row"
        return [], ("the text", "must be text without NUL bytes", got)
    try:
        text = record.decode("utf-8")
    except UnicodeDecodeError as error:
        got = f"byte 0x{record[error.start]:02x} at byte {error.start + 1} of the row"
        return [], ("the text", "must be UTF-8 text", got)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        return [], (None, "must be well-formed CSV", f'"{error}"')
    if len(rows) != 1:
        return [], (None, "must be well-formed CSV", "an end of line outside of quotes")
    return rows[0], None
