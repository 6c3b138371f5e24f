"""What the columns of a table are: numbers, categories, texts, dates; and which one is the label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

NUMBER, FLAG, CATEGORY, TEXT, DATE = KINDS = ("number", "flag", "category", "text", "date")
_HASHED = (CATEGORY, TEXT)
_WIDEST_HASH = 1 << 16
_MOST_ALIKE = 3  # neighbours of one kind that are printed one by one


class SchemaError(ValueError):
    """A schema that contradicts itself, or a table that does not fit one."""


@dataclass(frozen=True)
class Column:
    """One column of a table.

    `kind` is number, flag (true or false), category (one word), text (words) or date. A number or date with
    `may_miss` gets a second column that says when it is missing. `width` is the number of columns into which categories
    and texts are hashed, a power of two. `has_hours` says that dates have a time of day. `known` are categories of the
    first rows, by which a hashed one can be called by its name again. A row without a number that is `required` is bad:
    not every model can fill gaps.
    """

    name: str
    kind: str
    width: int = 0
    may_miss: bool = False
    has_hours: bool = False
    known: tuple[str, ...] = ()
    required: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SchemaError(f"The kind of column {self.name!r} must be one of {', '.join(KINDS)}, got {self.kind!r}.")
        if self.kind in _HASHED and not (
            isinstance(self.width, int) and 2 <= self.width <= _WIDEST_HASH and self.width & (self.width - 1) == 0
        ):
            raise SchemaError(
                f"The width of column {self.name!r} must be a power of two from 2 to {_WIDEST_HASH}, "
                f"got {self.width!r}."
            )

    @property
    def is_hashed(self) -> bool:
        """Whether the column is hashed."""
        return self.kind in _HASHED

    def __str__(self) -> str:
        if self.is_hashed:
            words = "words of a text" if self.kind == TEXT else "category"
            return f"{words}, hashed into {self.width} columns"
        parts = [self.kind if self.kind != FLAG else "true or false"]
        if self.kind == DATE:
            parts[0] += " as days, weekday" + (" and hour" if self.has_hours else "")
        return ", ".join([*parts, *(["missing values are noted"] if self.may_miss else [])])


@dataclass(frozen=True)
class Schema:
    """The columns that are learned from, in order, and what else the table holds.

    `ignored` maps the columns that are not used to the reason.
    """

    columns: tuple[Column, ...]
    label: str | None = None
    id: str | None = None
    time: Column | None = None
    ignored: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.columns:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in self.ignored.items())
            raise SchemaError(
                f"A schema must have at least one column to learn from, got none ({reasons or 'no columns'})."
            )
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names):
            raise SchemaError(f"A schema must name each column once, got {', '.join(names)}.")

    def __str__(self) -> str:
        entries = [(column.name, str(column)) for column in self.columns]
        entries += [(name, f"ignored: {reason}") for name, reason in self.ignored.items()]
        shown = []
        for words, group in groupby(entries, key=lambda entry: entry[1]):
            names = [name for name, _ in group]
            if len(names) > _MOST_ALIKE:
                shown.append((f"{names[0]} ... {names[-1]}", f"{words} ({len(names)} columns)"))
            else:
                shown += [(name, words) for name in names]
        width = max(len(name) for name, _ in shown)
        return "\n".join(f"{name:<{width}}  {words}" for name, words in shown)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "columns": [_plain(column) for column in self.columns],
            "label": self.label,
            "id": self.id,
            "time": None if self.time is None else _plain(self.time),
            "ignored": dict(self.ignored),
        }

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> Schema:
        """From what `to_json` gave."""
        try:
            return Schema(
                tuple(_column(column) for column in values["columns"]),
                values["label"],
                values["id"],
                None if values["time"] is None else _column(values["time"]),
                {str(name): str(reason) for name, reason in values["ignored"].items()},
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise SchemaError(f"A schema must be what to_json gives, got something else: {error!r}.") from None


def _plain(column: Column) -> dict[str, Any]:
    plain = asdict(column) | {"known": list(column.known)}
    if not column.required:  # as model files have been written since before there were such columns
        del plain["required"]
    return plain


def _column(values: Mapping[str, Any]) -> Column:
    return Column(
        str(values["name"]),
        str(values["kind"]),
        int(values["width"]),
        bool(values["may_miss"]),
        bool(values["has_hours"]),
        tuple(str(word) for word in values["known"]),
        bool(values.get("required", False)),
    )
