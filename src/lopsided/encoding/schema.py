"""What the columns of a table are: numbers, categories, texts, dates, keys; and which one is the label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

from lopsided.encoding.moments import AGE, CIRCLES, FIRST_DAY, HOUR, MONTHDAY, PARTS, WEEKDAY
from lopsided.streams.date_forms import DateForm
from lopsided.streams.number_forms import NumberForm

NUMBER, FLAG, CATEGORY, TEXT, DATE, KEY = KINDS = ("number", "flag", "category", "text", "date", "key")
_HASHED = (CATEGORY, TEXT)
_WIDEST_HASH = 1 << 16
KEPT_KEY = "key, its history is learned from"
_MOST_ALIKE = 3  # neighbours of one kind that are printed one by one


class SchemaError(ValueError):
    """A schema that contradicts itself, or a table that does not fit one; `argument` is what asked for it, if any."""

    def __init__(self, sentence: str, argument: str | None = None) -> None:
        super().__init__(sentence)
        self.argument = argument


@dataclass(frozen=True)
class Column:
    """One column of a table.

    `kind` is number, flag (true or false), category (one word), text (words), date or key (who or what a row is about:
    a card, an account, a postcode). A number or date with `may_miss` gets a second column that says when it is missing.
    `width` is the number of columns into which categories and texts are hashed, a power of two; a key is hashed as a
    category is, or with width 0 is not learned from. `has_hours` says that dates have a time of day. `known` are
    categories of the first rows, by which a hashed one can be called by its name again. A row without a number that is
    `required` is bad: not every model can fill gaps. `form` is how numbers or dates are written, if not plainly.

    `parts` says what is learned of a date: hour, weekday and day of month, as points on circles, and, only if it is
    asked for, age: how many days have passed since the day `since`. By default all circles on which it can move.
    `why` says what makes a column a key.
    """

    name: str
    kind: str
    width: int = 0
    may_miss: bool = False
    has_hours: bool = False
    known: tuple[str, ...] = ()
    required: bool = False
    form: NumberForm | DateForm | None = None
    parts: tuple[str, ...] = ()
    since: str = FIRST_DAY
    why: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SchemaError(f"The kind of column {self.name!r} must be one of {', '.join(KINDS)}, got {self.kind!r}.")
        if self.is_hashed and not (
            isinstance(self.width, int) and 2 <= self.width <= _WIDEST_HASH and self.width & (self.width - 1) == 0
        ):
            raise SchemaError(
                f"The width of column {self.name!r} must be a power of two from 2 to {_WIDEST_HASH}, "
                f"got {self.width!r}."
            )
        if self.kind == DATE and not self.parts:
            parts = CIRCLES if self.has_hours else (WEEKDAY, MONTHDAY)
            object.__setattr__(self, "parts", parts)  # as dataclasses do in a frozen one
        if not set(self.parts) <= set(PARTS):
            got = ", ".join(map(str, self.parts))
            raise SchemaError(f"The parts of column {self.name!r} must be among {', '.join(PARTS)}, got {got}.")

    @property
    def is_hashed(self) -> bool:
        """Whether the column is hashed."""
        return self.kind in _HASHED or (self.kind == KEY and self.width != 0)

    @property
    def is_learned_from(self) -> bool:
        """Whether the column becomes features."""
        return self.kind != KEY or self.is_hashed

    @property
    def has_number(self) -> bool:
        """Whether the column is a number to be scaled: a date is only by its age."""
        return self.kind in (NUMBER, FLAG) or AGE in self.parts

    def __str__(self) -> str:
        if self.kind == KEY:
            words = f"key ({self.why})" if self.why else "key"
            return f"{words}, hashed into {self.width} columns" if self.is_hashed else f"{words}, not learned from"
        if self.is_hashed:
            words = "words of a text" if self.kind == TEXT else "category"
            return f"{words}, hashed into {self.width} columns"
        words = self.kind if self.kind != FLAG else "true or false"
        if self.form is not None:
            words += f" written {self.form}"
        if self.kind == DATE:
            words += f" as {_listed(self._parts_in_words())}{self._left_out_in_words()}"
        return words + (", missing values are noted" if self.may_miss else "")

    def _parts_in_words(self) -> list[str]:
        return [f"days since {self.since}" if part == AGE else part for part in self.parts]

    def _left_out_in_words(self) -> str:
        always = {HOUR: "midnight", WEEKDAY: "the same", MONTHDAY: "the same"}
        reasons = [f"no {part}: always {always[part]}" for part in CIRCLES if part not in self.parts]
        return f" ({'; '.join(reasons)})" if reasons else ""


def _listed(words: list[str]) -> str:
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else words[0]


@dataclass(frozen=True)
class Schema:
    """The columns that are learned from, and keys, in order; and what else the table holds.

    `ignored` maps the columns that are not used to the reason. `history_keys` are the columns whose past is learned
    from, which needs a `time`; `value` is the column of amounts for it.

    >>> schema = Schema((Column("card", "key"), Column("when", "date"), Column("amount", "number")))
    >>> schema.keys, schema.times
    (('card',), ('when',))
    """

    columns: tuple[Column, ...]
    label: str | None = None
    id: str | None = None
    time: Column | None = None
    ignored: Mapping[str, str] = field(default_factory=dict)
    history_keys: tuple[str, ...] = ()
    value: str | None = None

    def __post_init__(self) -> None:
        if not any(column.is_learned_from for column in self.columns):
            left_out = {column.name: str(column) for column in self.columns} | dict(self.ignored)
            reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
            raise SchemaError(
                f"A schema must have at least one column to learn from, got none ({reasons or 'no columns'})."
            )
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names):
            raise SchemaError(f"A schema must name each column once, got {', '.join(names)}.")
        if self.history_keys and self.time is None:
            keys = ", ".join(self.history_keys)
            raise SchemaError(f"A schema with keys must name the column of the time too, got none beside {keys}.")

    def __deepcopy__(self, memo: dict[int, Any]) -> Schema:
        return self  # nobody changes a schema: copies of models share it

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that say who or what a row is about, learned from or not."""
        return tuple(column.name for column in self.columns if column.kind == KEY)

    @property
    def times(self) -> tuple[str, ...]:
        """The columns that say when: the time, if it is told, and then all other dates."""
        told = [] if self.time is None else [self.time.name]
        return (*told, *(column.name for column in self.columns if column.kind == DATE and column.name not in told))

    @property
    def learned_from(self) -> tuple[Column, ...]:
        """The columns that become features."""
        return tuple(column for column in self.columns if column.is_learned_from)

    def __str__(self) -> str:
        entries = [(column.name, str(column)) for column in self.columns]
        entries += [
            (name, KEPT_KEY if name in self.history_keys else f"ignored: {reason}")
            for name, reason in self.ignored.items()
        ]
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
            **({"history_keys": list(self.history_keys), "value": self.value} if self.history_keys else {}),
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
                tuple(str(key) for key in values.get("history_keys", ())),
                values.get("value"),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise SchemaError(f"A schema must be what to_json gives, got something else: {error!r}.") from None


# What a column is written without where it has nothing to say, as model files have been written from the beginning.
_LEFT_OUT = {"required": False, "form": None, "parts": (), "since": FIRST_DAY, "why": ""}


def _plain(column: Column) -> dict[str, Any]:
    plain = asdict(column)
    for name, nothing in _LEFT_OUT.items():
        if plain[name] == nothing:
            del plain[name]
    return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}


def _column(values: Mapping[str, Any]) -> Column:
    kind, has_hours, form = str(values["kind"]), bool(values["has_hours"]), values.get("form")
    parts = tuple(str(part) for part in values.get("parts", ()))
    if kind == DATE and not parts:  # before dates had parts, all of them were learned as days since 1970
        parts = (AGE, WEEKDAY, HOUR) if has_hours else (AGE, WEEKDAY)
    return Column(
        str(values["name"]),
        kind,
        int(values["width"]),
        bool(values["may_miss"]),
        has_hours,
        tuple(str(word) for word in values["known"]),
        bool(values.get("required", False)),
        None if form is None else _form(kind, form),
        parts,
        str(values.get("since", FIRST_DAY)),
        str(values.get("why", "")),
    )


def _form(kind: str, values: Mapping[str, Any]) -> NumberForm | DateForm:
    if kind == DATE:
        return DateForm(str(values["order"]), str(values["separator"]))
    marks = tuple(str(mark) for mark in values["marks"])
    return NumberForm(str(values["decimal"]), str(values["group"]), marks, bool(values["parentheses"]))
