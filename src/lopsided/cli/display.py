"""How results look in a terminal and in a pipe: one table, which in a terminal moves while it fills."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from lopsided.evaluate import Record
from lopsided.report.contents import Grid

_REFRESHES_PER_SECOND = 8
_BAR_WIDTH = 6  # the widest table and its bars fit into 80 columns


@dataclass
class Row:
    """One line of the table: a stream met by a learner, and how far it has come.

    `share` is how far that is where the number of rows in `total` is not known.
    """

    stream: str
    learner: str
    total: int
    record: Record | None = None
    accuracy: float | None = None
    share: float | None = None

    @property
    def done(self) -> float | None:
        """How much of the stream is behind, from 0 to 1; None if nobody knows."""
        if self.total:
            return (self.record.n if self.record else 0) / self.total
        return self.share


@dataclass(frozen=True)
class Column:
    """A heading, and the cell of a row: a `Row`, or whatever else a table is about."""

    heading: str
    cell: Callable[[Any], str]
    is_number: bool = True


def _of_record(name: str, written: Callable[[Any], str]) -> Callable[[Row], str]:
    return lambda row: "" if row.record is None else written(getattr(row.record, name))


def score(value: float | None) -> str:
    """A figure of merit with three decimals; a dash where it is not defined.

    >>> score(0.90215), score(float("nan")), score(None)
    ('0.902', '-', '-')
    """
    return "-" if value is None or math.isnan(value) else f"{value:.3f}"


def count(value: float | None) -> str:
    """A whole number with separators; a dash where it is not defined.

    >>> count(262374.1), count(None), count(float("nan"))
    ('262,374', '-', '-')
    """
    return "-" if value is None or math.isnan(value) else f"{value:,.0f}"


STREAM = Column("stream", lambda row: row.stream, is_number=False)
LEARNER = Column("learner", lambda row: row.learner, is_number=False)
EXAMPLES = Column("examples", _of_record("n", count))
POSITIVES = Column("positives", _of_record("positives", count))
AUROC = Column("AUROC", _of_record("auroc", score))
AUPRC = Column("AUPRC", _of_record("average_precision", score))
F1 = Column("F1", _of_record("f1", score))
ACCURACY = Column("accuracy", lambda row: "" if row.record is None else score(row.accuracy))
SPEED = Column("examples/s", _of_record("examples_per_second", count))
SUPPORT = Column("support", _of_record("n_support", count))


class LiveTable:
    """The table on stderr while it fills, so that stdout is left to the result; nothing if stderr is no terminal.

    Rows are changed by whoever fills them; the table is drawn again a few times a second.
    """

    def __init__(self, rows: Sequence[Row], columns: Sequence[Column]) -> None:
        self.rows = list(rows)
        self.columns = list(columns)
        console = Console(stderr=True)
        self._live: Live | None = None
        if console.is_terminal:
            self._live = Live(
                console=console,
                transient=True,
                refresh_per_second=_REFRESHES_PER_SECOND,
                get_renderable=lambda: table(self.rows, self.columns, with_progress=True),
            )

    def __enter__(self) -> LiveTable:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()


def table(rows: Sequence[Any], columns: Sequence[Column], *, with_progress: bool = False) -> Table:
    """A table for a terminal, with one progress bar per row while it fills."""
    padding = (0, 0 if with_progress else 1, 0, 0)  # besides the blank between two columns
    result = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=padding)
    for column in columns:
        # In a narrow terminal names are broken, never numbers.
        result.add_column(column.heading, justify="right" if column.is_number else "left", no_wrap=column.is_number)
    if with_progress:
        result.add_column("", width=_BAR_WIDTH)
    previous = None
    for row in rows:
        stream = getattr(row, "stream", None)
        if previous is not None and stream != previous:
            result.add_section()
        previous = stream
        cells: list[Any] = [column.cell(row) for column in columns]
        if with_progress:
            done = row.done
            cells.append(ProgressBar(total=1.0, completed=done or 0.0, pulse=done is None, width=_BAR_WIDTH))
        result.add_row(*cells)
    return result


def print_table(rows: Sequence[Any], columns: Sequence[Column]) -> None:
    """The finished table on stdout: drawn in a terminal, plain aligned lines in a pipe or a file."""
    console = Console()
    if console.is_terminal:
        console.print(table(rows, columns))
        return
    for line in plain_lines(rows, columns):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def plain_lines(rows: Sequence[Any], columns: Sequence[Column]) -> list[str]:
    """The table as lines of text: cells aligned and separated by two blanks, no frame."""
    grid = [[column.heading for column in columns], *([column.cell(row) for column in columns] for row in rows)]
    widths = [max(len(line[position]) for line in grid) for position in range(len(columns))]
    return [
        "  ".join(
            cell.rjust(width) if column.is_number else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        ).rstrip()
        for line in grid
    ]


def as_grid(rows: Sequence[Any], columns: Sequence[Column]) -> Grid:
    """The table for a report."""
    words = sum(not column.is_number for column in columns)
    cells = [[column.cell(row) for column in columns] for row in rows]
    return Grid([column.heading for column in columns], cells, first_number=words)
