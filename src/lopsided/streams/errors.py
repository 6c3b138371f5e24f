"""The one error of this package: a file that cannot be learned from, said in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

# A cell or a line can be a whole novel; a message shows its beginning only.
_LONGEST_QUOTE = 60
_COLUMNS_SHOWN = 20
# What a text must be that was read in another encoding than its own.
UTF_8, NO_NUL = "must be UTF-8 text", "must be text without NUL bytes"


class StreamError(ValueError):
    """A file, a line or a cell that is not what a stream needs.

    The message is one sentence that says what, where, what is allowed and what was found. The facts are
    attributes too, so that a program need not take the sentence apart: `source` (the file as it was
    named), `line` (1-based, as an editor counts; the number of the row in a format without lines; None when
    the whole file is meant), `field` (a column or a part of the row; None when the whole row is meant), `rule`
    and `got`. `raw` is the row as it came, where it is known. `argument` is the parameter of `open_feed` that
    would help, if there is one; a command line has an option for it.

    >>> print(StreamError("people.csv", 7, "column 'age'", "must be a finite number", quoted("n/a")))
    Column 'age' in line 7 of people.csv must be a finite number, got 'n/a'.
    """

    def __init__(
        self,
        source: str,
        line: int | None,
        field: str | None,
        rule: str,
        got: str,
        unit: str = "line",
        argument: str | None = None,
    ) -> None:
        # All facts go to `args`: between processes an exception travels as its class and its args.
        super().__init__(source, line, field, rule, got, unit, argument)
        self.source = source
        self.line = line
        self.field = field
        self.rule = rule
        self.got = got
        self.unit = unit
        self.argument = argument or ("encoding" if rule in (UTF_8, NO_NUL) else None)
        self.raw: str | None = None

    def __str__(self) -> str:
        if self.line is None:
            kind = "topic" if "://" in self.source else "file"
            subject = f"{self.field} of {self.source}" if self.field else f"the {kind} {self.source}"
        else:
            subject = f"{self.field or 'the row'} in {self.unit} {self.line} of {self.source}"
        return f"{subject[0].upper()}{subject[1:]} {self.rule}, got {self.got}."


def quoted(text: str) -> str:
    """What came, in quotes and cut to a readable length; an empty text is called by name.

    >>> quoted("n/a"), quoted(""), len(quoted("x" * 1000))
    ("'n/a'", 'nothing', 65)
    """
    if not text.strip():
        return "nothing"
    if len(text) > _LONGEST_QUOTE:
        return repr(text[:_LONGEST_QUOTE]) + "..."
    return repr(text)


def shown_columns(columns: Sequence[str]) -> str:
    """The names of columns, the first of them if there are many."""
    return ", ".join(columns if len(columns) <= _COLUMNS_SHOWN else [*columns[:_COLUMNS_SHOWN], "..."])
