"""How far a table is: cells that are done of all that are to be run."""

from __future__ import annotations

import sys
from typing import Any

import click


class CellProgress:
    """A bar on a terminal; a line for each cell otherwise."""

    def __init__(self, what: str, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._console = Console(stderr=True)
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        self._bar = Progress(*columns, console=self._console, disable=not sys.stderr.isatty())
        self._task = self._bar.add_task(what, total=total)
        self._total = total

    def __enter__(self) -> tuple[Any, Any]:
        self._bar.__enter__()
        return self._advance, lambda text: self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def __exit__(self, *exception: Any) -> None:
        self._bar.__exit__(*exception)

    def _advance(self, done: int, text: str) -> None:
        self._bar.update(self._task, completed=done, description=text)
        if self._bar.disable:
            click.echo(f"{done}/{self._total} {text}", err=True)
