"""What of a table was not run, and why; and how often the rest was run."""

from __future__ import annotations

from collections.abc import Sequence

from lopsided.reproduce.comparison import Outcome, Verdict
from lopsided.reproduce.table import Table


def runs_sentence(table: Table, results: Sequence[Outcome]) -> str:
    """How many runs the figures are means of, and where these are not as many as published; nothing if none was run."""
    runs = {(one.cell.data, one.cell.method): one.here.runs for one in results if one.here.runs}
    if not runs:
        return ""
    usual = sum(number == table.runs for number in runs.values())
    parts = [f"{table.runs} a cell, as published"] if usual else [f"published were {table.runs} a cell"]
    for number in sorted(set(runs.values()) - {table.runs}, reverse=True):
        fewer = [place for place, own in runs.items() if own == number]
        parts.append(f"{number} {_places(fewer, list(runs))}")
    return f"Runs: {'; '.join(parts)}."


def partly_run(table: Table, results: Sequence[Outcome]) -> list[str]:
    """A sentence for each set on which some methods were run and others not."""
    run = {one.cell.data for one in results if one.here.runs or one.ours.runs}
    return [
        f"Not run as published on {name}: {', '.join(methods)}; {table.too_long.get(name, 'for time')}."
        for name, methods in _not_run(results).items()
        if name in run
    ]


def not_run_line(table: Table, results: Sequence[Outcome]) -> str | None:
    """What a table lacks, set by set, with the reasons, for the index; None if nothing."""
    run = {one.cell.data for one in results if one.here.runs or one.ours.runs}
    parts = []
    for name, methods in _not_run(results).items():
        if name in run:
            parts.append(f"{name} {', '.join(methods)} ({table.too_long.get(name, 'for time')})")
        else:
            parts.append(f"{name}, all {len(methods)} methods ({table.impossible.get(name, 'for time')})")
    figures = sum(one.verdict is Verdict.NOT_RUN for one in results)
    return f"- **{table.name}** ({figures}): {'; '.join(parts)}." if parts else None


def _not_run(results: Sequence[Outcome]) -> dict[str, list[str]]:
    """Set -> methods."""
    found: dict[str, dict[str, None]] = {}
    for one in results:
        if one.verdict is Verdict.NOT_RUN:
            found.setdefault(one.cell.data, {})[one.cell.method] = None
    return {name: list(methods) for name, methods in found.items()}


def _places(some: list[tuple[str, str]], of: list[tuple[str, str]]) -> str:
    """Some of these places in words: a set alone where all its methods are among them."""
    texts: dict[str, list[str]] = {}
    for name in dict.fromkeys(data for data, _ in some):
        mine, every = ([method for data, method in places if data == name] for places in (some, of))
        texts.setdefault("" if len(mine) == len(every) else f"of {', '.join(mine)} ", []).append(name)
    return " and ".join(f"{methods}on {', '.join(names)}" for methods, names in texts.items())
