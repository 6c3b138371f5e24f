"""From the bytes of a request to events and labels that fit the model, or a sentence that says why not."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from lopsided.constraints import ParameterError
from lopsided.serve.configuration import moment_of, sign_of
from lopsided.serve.messages import Cell, Id, LabelGiven, Moment
from lopsided.serve.messages import Label as AnyLabel
from lopsided.serve.requests import NewEvents, NewLabels
from lopsided.serve.running import RunningModel

JSON, NDJSON, ARROW = "application/json", "application/x-ndjson", "application/vnd.apache.arrow.stream"
MOST_AT_ONCE = 10_000  # events or labels of one request
MOST_COLUMNS = 1_000
_ARROW_FIELDS = ("id", "time", "label")


class MalformedError(Exception):
    """The body of a request is not what its type says."""


class _OwnFields(msgspec.Struct):
    """What is said of an event beside its columns."""

    id: Id | None = None
    time: Moment | None = None
    label: AnyLabel | None = None


class _RawEvent(_OwnFields, forbid_unknown_fields=True, kw_only=True):
    """An event whose columns are left as they are."""

    columns: msgspec.Raw


_events = msgspec.json.Decoder(_RawEvent | list[_RawEvent])
_event = msgspec.json.Decoder(_RawEvent)
_labels = msgspec.json.Decoder(LabelGiven | list[LabelGiven])
_label = msgspec.json.Decoder(LabelGiven)
_columns = msgspec.json.Decoder(dict[str, Cell])


def events_of(body: bytes, kind: str, model: RunningModel, now: float) -> tuple[NewEvents, bool]:
    """The events of a request, and whether there was only one, not in a list."""
    if kind == ARROW:
        return _checked(model, now, *_from_arrow(body)), False
    found: Any = _lines(body, _event) if kind == NDJSON else _decoded(body, _events)
    is_one = isinstance(found, _RawEvent)
    events = [found] if is_one else found
    _check_number(len(events))
    raw = [bytes(event.columns) for event in events]
    columns = [_decoded(text, _columns, row if not is_one else None) for row, text in enumerate(raw)]
    return _checked(model, now, events, columns, raw), is_one


def _checked(
    model: RunningModel,
    now: float,
    events: Sequence[_OwnFields],
    columns: list[dict[str, Any]],
    raw: list[bytes] | None,
) -> NewEvents:
    for row, cells in enumerate(columns):
        if not cells or len(cells) > MOST_COLUMNS:
            raise ParameterError(f"An event must have 1 to {MOST_COLUMNS} columns. Got {len(cells)} in event {row}.")
    time_column = model.settings.time
    times: list[float | None] = []
    for row, event in enumerate(events):
        given = event.time
        if given is None and time_column is not msgspec.UNSET:
            given = columns[row].get(time_column) or now
        times.append(None if given is None else moment_of(given))
    raw = _with_times(columns, times, raw, None if time_column is msgspec.UNSET else time_column)
    signs = [None if event.label is None else sign_of(model.labels, event.label) for event in events]
    champion = model.view.champion
    rows = None if champion is None else champion.model.encoder_.from_mappings(columns)
    return NewEvents([event.id for event in events], times, raw, columns, rows, signs)


def _with_times(
    columns: list[dict[str, Any]], times: list[float | None], raw: list[bytes] | None, time_column: str | None
) -> list[bytes]:
    """The columns as JSON, with the time in its column, in seconds, where the model has one."""
    if time_column is None:
        return [msgspec.json.encode(cells) for cells in columns] if raw is None else raw
    for cells, time in zip(columns, times, strict=True):
        cells[time_column] = time
    return [msgspec.json.encode(cells) for cells in columns]


def labels_of_request(body: bytes, kind: str, model: RunningModel, now: float) -> tuple[NewLabels, bool]:
    """The labels of a request, and whether there was only one, not in a list."""
    found: Any = _lines(body, _label) if kind == NDJSON else _decoded(body, _labels)
    if kind == ARROW:
        raise MalformedError(f"Labels must be {JSON} or {NDJSON}. Got {ARROW}.")
    is_one = isinstance(found, LabelGiven)
    labels: list[LabelGiven] = [found] if is_one else found
    _check_number(len(labels))
    return NewLabels(
        [label.id for label in labels],
        [sign_of(model.labels, label.label) for label in labels],
        [now if label.time is msgspec.UNSET else moment_of(label.time) for label in labels],
        [label.correct for label in labels],
    ), is_one


def _check_number(n: int) -> None:
    if not 1 <= n <= MOST_AT_ONCE:
        raise ParameterError(f"A request must hold 1 to {MOST_AT_ONCE:,} events or labels. Got {n:,}.")


def _decoded(text: bytes | msgspec.Raw, decoder: Any, row: int | None = None) -> Any:
    where = "" if row is None else f" in event {row}"
    try:
        return decoder.decode(text)
    except msgspec.ValidationError as error:
        raise ParameterError(f"The request must fit its description. Got: {error}{where}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedError(f"The request must be valid JSON. Got: {error}{where}.") from None


def _lines(body: bytes, decoder: Any) -> list[Any]:
    return [_decoded(line, decoder, number) for number, line in enumerate(_whole_lines(body))]


def _whole_lines(body: bytes) -> Iterator[bytes]:
    return (line for line in body.splitlines() if line.strip())


def _from_arrow(body: bytes) -> tuple[list[_OwnFields], list[dict[str, Any]], None]:
    """Rows of an Arrow stream: the columns id, time and label are those of events, all others are theirs."""
    import pyarrow as pa

    try:
        with pa.ipc.open_stream(io.BytesIO(body)) as reader:
            table = reader.read_all()
        cells = {name: _cells_of(table.column(name)) for name in table.column_names}
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        raise MalformedError(f"The request must be an Arrow stream. Got: {str(error)[:200]}.") from None
    n = table.num_rows
    _check_number(n)
    own = {name: cells.pop(name) for name in _ARROW_FIELDS if name in cells}
    columns = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)] or [{}] * n
    return [_arrow_event(own, row) for row in range(n)], columns, None


def _arrow_event(own: dict[str, list[Any]], row: int) -> _OwnFields:
    fields = {name: values[row] for name, values in own.items() if values[row] is not None}
    if "id" in fields:
        fields["id"] = str(fields["id"])
    if hasattr(fields.get("time"), "timestamp"):
        fields["time"] = fields["time"].timestamp()
    try:
        return msgspec.convert(fields, _OwnFields)
    except msgspec.ValidationError as error:
        raise ParameterError(f"The request must fit its description. Got: {error} in event {row}.") from None


def _cells_of(column: Any) -> list[Any]:
    """A column as Python has it: numbers, words, truth, or nothing; anything else in words."""
    import pyarrow as pa

    kind = column.type
    if not column.null_count and (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        numbers: list[Any] = column.to_numpy().tolist()
        return numbers
    return [cell if _is_plain(cell) or hasattr(cell, "timestamp") else str(cell) for cell in column.to_pylist()]


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)
