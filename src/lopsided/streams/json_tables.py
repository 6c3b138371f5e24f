"""One JSON object a line (NDJSON, also called JSON Lines): keys are columns, and what is not there is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from lopsided.streams.blocks import BYTE_ORDER_MARK, Block, line_ends, place_after
from lopsided.streams.cells import FLAG, CheckedRows, Columns, Expected
from lopsided.streams.chunks import Chunk, NeedsCareError, column_at_once
from lopsided.streams.errors import StreamError, quoted
from lopsided.streams.labels import Spellings


class JsonTable:
    """One file of objects: its columns (the keys of the first rows), its first rows, and its chunks."""

    format = "ndjson"
    has_fixed_columns = False

    def __init__(
        self, name: str, blocks: Iterator[Block | StreamError], look: int = 1000, *, may_be_empty: bool = False
    ) -> None:
        self.name = name
        first = next(blocks, None)
        if first is None and may_be_empty:
            first = Block(name, 1, b"")
        if first is None:
            raise StreamError(name, None, None, "must have one JSON object a line", "nothing")
        if isinstance(first, Block):
            data = first.data.removeprefix(BYTE_ORDER_MARK)
            first = first._replace(data=data, offset=first.offset + len(first.data) - len(data))
        self._blocks = chain([first], blocks)
        self._look = look
        self.columns: list[str] = []
        self._first = first
        self._rows_ahead = self._peek(may_be_empty)

    def _peek(self, may_be_empty: bool) -> list[dict[str, Any]]:
        if isinstance(self._first, StreamError):
            if may_be_empty:
                return []
            raise self._first
        rows: list[dict[str, Any]] = []
        problem: tuple[int, str, str] | None = None
        for line, _, row, wrong in _rows(self._first):
            if row is not None:
                rows.append(row)
                self.columns += [key for key in row if key not in self.columns]
            elif problem is None and wrong is not None:
                problem = (line, *wrong)
            if len(rows) == self._look:
                break
        if not rows and not may_be_empty:
            line, rule, got = problem or (1, "must be one JSON object", "nothing")
            raise StreamError(self.name, line, None, rule, got)
        return rows

    def head(self, n_rows: int, look_on: bool) -> tuple[dict[str, list[Any]], bool]:
        """Values of the first rows by column, and whether these are all rows."""
        rows = self._rows_ahead[:n_rows]
        values = {name: [row.get(name) for row in rows] for name in self.columns}
        if not look_on:
            return values, False
        first, second = next(self._blocks), next(self._blocks, None)
        self._blocks = chain([first] if second is None else [first, second], self._blocks)
        return values, second is None and len(self._rows_ahead) < self._look

    def chunks(self, expected: Sequence[Expected]) -> Iterator[Chunk]:
        """The rows, block by block."""
        for block in self._blocks:
            if isinstance(block, StreamError):
                yield Chunk(self.name, 0, Columns(), [block])
            elif block.data.strip():
                yield self._chunk(block, expected)

    def _chunk(self, block: Block, expected: Sequence[Expected]) -> Chunk:
        try:
            columns, n_rows = self._at_once(block.data, expected)
        except NeedsCareError:
            return self._with_care(block, expected)

        def records() -> list[bytes]:
            return _records(block.data)

        return Chunk(
            self.name, n_rows, columns, records=records, table=lambda: _table(records()),
            after=lambda n: place_after(block, [*line_ends(block.data), len(block.data)], None, (), n_rows, n),
        )  # fmt: skip

    def _at_once(self, data: bytes, expected: Sequence[Expected]) -> tuple[Columns, int]:
        import pyarrow as pa
        import pyarrow.json as pajson

        types = {e.name: pa.string() if e.is_read_as_text else pa.float64() for e in expected if e.labels is None}
        types |= {e.name: pa.bool_() for e in expected if e.kind == FLAG}
        types |= {e.name: _type_of_labels(e.labels) for e in expected if e.labels is not None}
        if b"\0" in data:
            raise NeedsCareError
        try:
            table = pajson.read_json(
                pa.BufferReader(data),
                read_options=pajson.ReadOptions(use_threads=False, block_size=len(data) + 1),
                parse_options=pajson.ParseOptions(explicit_schema=pa.schema(types), unexpected_field_behavior="ignore"),
            )
        except pa.ArrowInvalid:
            raise NeedsCareError from None
        if any(e.name not in table.column_names for e in expected) or not _is_one_a_line(data, table.num_rows):
            raise NeedsCareError
        return Columns({e.name: column_at_once(e, table.column(e.name)) for e in expected}), table.num_rows

    def _with_care(self, block: Block, expected: Sequence[Expected]) -> Chunk:
        rows = CheckedRows(self.name, expected)
        raw: list[bytes] = []
        for number, (line, record, row, wrong) in enumerate(_rows(block)):
            raw.append(record)
            text = record.decode("utf-8", "backslashreplace")
            if row is None:
                rows.refuse(line, None, *(wrong or ("must be one JSON object", "nothing")), text)
            else:
                rows.add(number, line, [row.get(expectation.name) for expectation in expected], text)

        def records() -> list[bytes]:
            return [raw[number] for number in rows.kept]

        return Chunk(
            self.name, len(rows.kept), rows.columns(), rows.bad, records=records, table=lambda: _table(records()),
            after=lambda n: place_after(
                block, [*line_ends(block.data), len(block.data)], rows.kept, rows.bad, len(rows.kept), n
            ),
        )  # fmt: skip


def _records(data: bytes) -> list[bytes]:
    return [stripped for line in data.split(b"\n") if (stripped := line.strip())]


def _is_one_a_line(data: bytes, n_rows: int) -> bool:
    """Whether each of these objects has a line of its own; arrow also takes two on a line, or one on two."""
    begun = data.count(b"\n{") + data.startswith(b"{")
    if begun == data.count(b"\n") + (not data.endswith(b"\n")):  # counting is quick, and most files are like this
        return begun == n_rows
    records = _records(data)
    return len(records) == n_rows and all(record.startswith(b"{") for record in records)


def _type_of_labels(labels: Spellings) -> Any:
    """What JSON most likely writes such labels as; if it does not, the block is read line by line."""
    import pyarrow as pa

    if isinstance(labels.positive, str):
        return pa.bool_() if labels.positive in ("True", "False") else pa.string()
    return pa.float64()


def _rows(block: Block) -> Iterator[tuple[int, bytes, dict[str, Any] | None, tuple[str, str] | None]]:
    """Every line that is not blank: its number, its bytes, and its object, or what is wrong with it."""
    for line, record in enumerate(block.data.split(b"\n"), start=block.first_line):
        record = record.strip()
        if not record:
            continue
        try:
            row = json.loads(record)
        except (ValueError, RecursionError) as error:
            yield line, record, None, ("must be one JSON object", f'"{error}"')
            continue
        if isinstance(row, dict):
            yield line, record, row, None
        else:
            yield line, record, None, ("must be one JSON object", quoted(record.decode("utf-8", "replace")))


def _table(records: list[bytes]) -> Any:
    """All keys of all objects as columns, in the order in which they come."""
    import pyarrow as pa

    rows = [json.loads(record) for record in records]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: _column([row.get(name) for row in rows]) for name in names})


def _column(values: list[Any]) -> Any:
    """Values in the type that holds them all; as JSON text if there is none."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
        return pa.array(texts, type=pa.string())
