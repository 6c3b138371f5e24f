"""Tables as CSV or TSV.

A block is read at once by arrow, numbers straight to float64. Only a block in which that fails is read again row by
row, to name each wrong cell with its line and to keep the other rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

from lopsided.streams.blocks import BYTE_ORDER_MARK, Block, line_ends, place_after, record_ends
from lopsided.streams.cells import FLAG, LABEL, MISSING, CheckedRows, Columns, Expected
from lopsided.streams.chunks import Chunk, NeedsCareError, column_at_once
from lopsided.streams.csv_header import (
    Problem,
    cells_of,
    column_names,
    doubt_about_header,
    numbered_columns,
    split_header,
)
from lopsided.streams.errors import StreamError

_STEP = 1 << 20
_ROWS_OF_AN_INDEX = 1000


class CsvTable:
    """One file: its columns, its first rows, and its chunks. `blocks` begin with the header, if there is one.

    Without a header columns are called column_1, column_2 and so on. A first column without a name is the index that
    pandas writes unless told otherwise. It is called `index`; where it holds different whole numbers it is an
    identifier, and not among `columns`, but can be had from `chunks`.
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
        *,
        has_header: bool = True,
    ) -> None:
        self.name = name
        self.delimiter = delimiter
        self._blocks = blocks
        first = _first_block(name, blocks)
        self.header, rest = split_header(first, delimiter)
        if has_header:
            self.all_columns, has_index = column_names(name, self.header, delimiter)
        else:
            self.all_columns, has_index = numbered_columns(name, self.header, delimiter), False
            rest = self.header._replace(data=self.header.data + rest.data)
            self.header = self.header._replace(data=delimiter.join(self.all_columns).encode())
        self.has_header = has_header
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

    @property
    def note(self) -> str | None:
        """What is to be said of a header that looks like a row of data."""
        if not self.has_header:
            return None
        rows = islice(_rows(self._first, self.delimiter), _ROWS_OF_AN_INDEX)
        return doubt_about_header(self.all_columns, [row for _, _, row, problem in rows if problem is None])

    def _begins_with_numbers(self) -> bool:
        """Whether the first rows begin with whole numbers, each with another one."""
        rows = islice(_rows(self._first, self.delimiter), _ROWS_OF_AN_INDEX)
        cells = [row[0].strip() for _, _, row, problem in rows if problem is None and row]
        return len(set(cells)) == len(cells) and all(cell.isascii() and cell.isdigit() for cell in cells)

    def _wrong_length(self, row: list[str]) -> Problem:
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


def _rows(block: Block, delimiter: str) -> Iterator[tuple[int, bytes, list[str], Problem | None]]:
    """Every record that is not blank: its first line, its bytes, its cells, and what is wrong with it as a text."""
    data = block.data
    start, line = 0, block.first_line
    for end in _ends(data, delimiter):
        record = data[start:end]
        start = end
        text = record.rstrip(b"\r\n")
        if text.strip():
            cells, problem = cells_of(text, delimiter)
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
