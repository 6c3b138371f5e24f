"""What of a table was not run, and why; and how often the rest was run."""

from __future__ import annotations

from collections.abc import Sequence

from lopsided.reproduce.comparison import Outcome, Verdict
from lopsided.reproduce.costs import Times, Vectors
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


def fewer_runs_sentence(results: Sequence[Outcome], counted: Sequence[Vectors | Times]) -> str:
    """Where vectors or times are of fewer runs than the quality beside them; nothing if that is nowhere."""
    of_quality = {(one.cell.data, one.cell.method): one.here.runs for one in results if one.here.runs}
    runs: dict[tuple[str, str], int] = {}
    for one in counted:
        place = one.cell.data, one.cell.method
        if one.runs is not None and one.runs < of_quality.get(place, 0):
            runs[place] = min(one.runs, runs.get(place, one.runs))
    parts = [
        f"{number} {_places([place for place, own in runs.items() if own == number], list(of_quality))}"
        for number in sorted(set(runs.values()), reverse=True)
    ]
    return f"Runs of vectors and times, where these are fewer: {'; '.join(parts)}." if parts else ""


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
