"""Tables in a terminal and in a pipe."""

import io

from rich.console import Console

from lopsided.cli import display
from lopsided.cli.display import AUROC, EXAMPLES, LEARNER, SPEED, STREAM, LiveTable, Row
from lopsided.evaluate import Record

RECORD = Record(1500, 30, 0.9021, 0.5, 0.25, 0.5, 3000.0, None)
COLUMNS = [STREAM, LEARNER, EXAMPLES, AUROC, SPEED]


def rows():
    return [Row("a", "KOIL", 3000, RECORD), Row("a", "linear", 3000), Row("b", "KOIL", 10)]


def drawn(table):
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    console.print(table)
    return console.file.getvalue()


def test_plain_lines_are_aligned_and_frameless():
    lines = display.plain_lines(rows(), COLUMNS)
    assert lines == [
        "stream  learner  examples  AUROC  examples/s",
        "a       KOIL        1,500  0.902       3,000",
        "a       linear",
        "b       KOIL",
    ]


def test_a_table_for_a_terminal_has_bars_only_while_it_fills():
    filling = drawn(display.table(rows(), COLUMNS, with_progress=True))
    finished = drawn(display.table(rows(), COLUMNS))
    assert "0.902" in filling
    assert "━" in filling
    assert "━" not in finished


def test_the_table_moves_only_in_a_terminal(monkeypatch):
    shown = io.StringIO()
    for is_terminal in (True, False):
        console = Console(file=shown, force_terminal=is_terminal, width=100)
        monkeypatch.setattr(display, "Console", lambda stderr, console=console: console)
        with LiveTable(rows(), COLUMNS):
            pass
        assert ("KOIL" in shown.getvalue()) is is_terminal
        shown.seek(0)
        shown.truncate()


def test_the_finished_table_is_drawn_in_a_terminal_and_plain_elsewhere(monkeypatch, capsys):
    display.print_table(rows(), COLUMNS)
    assert capsys.readouterr().out.splitlines() == display.plain_lines(rows(), COLUMNS)
    shown = io.StringIO()
    monkeypatch.setattr(display, "Console", lambda: Console(file=shown, force_terminal=True, width=100))
    display.print_table(rows(), COLUMNS)
    assert "─" in shown.getvalue()


def test_a_grid_for_a_report_says_where_numbers_begin():
    grid = display.as_grid(rows(), COLUMNS)
    assert grid.first_number == 2
    assert grid.rows[0] == ["a", "KOIL", "1,500", "0.902", "3,000"]
