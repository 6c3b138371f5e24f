"""A log of runs, one line of JSON each: what was run, with which parameters and versions, and what came out.

A run that was logged is not run again, so work that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
_PACKAGES = ("lopsided", "numpy", "numba", "scikit-learn")
# Entries that say what a run was, not what came of it; everything else is a result.
_KEY = ("table", "set", "method", "run")


def versions() -> dict[str, str]:
    """What a figure was made with."""
    return {name: version(name) for name in _PACKAGES} | {"python": platform.python_version()}


class RunLog:
    """Runs in a file of JSON lines; without a path they are kept in memory only.

    The versions stand in the file where they change: a line without them was made with those of the line before.

    >>> log = RunLog()
    >>> log.add([{"table": "t", "set": "heart", "method": "KOIL", "run": 1, "auc": 0.91}])
    >>> log.has("t", "heart", "KOIL", runs=1), log.has("t", "heart", "KOIL", runs=2)
    (True, False)
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.entries: list[Entry] = []
        self._cells: dict[tuple[str, ...], dict[int, Entry]] = {}  # by table, set and method: the runs by their number
        self._versions: Any = None  # of the latest entry
        if self.path is not None and self.path.exists():
            for number, line in enumerate(self._whole_lines(), start=1):
                self._keep(_parsed(line, self.path, number))

    def _keep(self, entry: Entry) -> Entry:
        """One more entry; returns what of it goes into the file."""
        line = {name: value for name, value in entry.items() if name != "versions" or value != self._versions}
        self._versions = entry.get("versions", self._versions)
        if self._versions is not None:
            entry["versions"] = self._versions
        self.entries.append(entry)
        self._cells.setdefault(tuple(entry[name] for name in _KEY[:3]), {})[entry["run"]] = entry
        return line

    def _whole_lines(self) -> list[str]:
        # What a killed process left without its end was never acknowledged: it is dropped, and run again.
        assert self.path is not None
        text = self.path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        return [line for line in whole.splitlines() if line.strip()]

    def add(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Keep these, on disk before this returns."""
        lines = [self._keep(dict(entry)) for entry in entries]
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write("".join(json.dumps(_without_nan(line), sort_keys=True) + "\n" for line in lines))

    def up_to(self, runs: int) -> RunLog:
        """The first runs only, in memory."""
        first = RunLog()
        first.add([entry for entry in self.entries if entry["run"] <= runs])
        return first

    def of(self, table: str, set_name: str, method: str) -> list[Entry]:
        """The runs of one cell, by their number; of a run that is there twice the later one counts."""
        cell = self._cells.get((table, set_name, method), {})
        return [cell[run] for run in sorted(cell)]

    def has(self, table: str, set_name: str, method: str, *, runs: int) -> bool:
        """Whether runs 1 to `runs` of a cell are there."""
        return {entry["run"] for entry in self.of(table, set_name, method)} >= set(range(1, runs + 1))


def in_parallel(
    work: Callable[..., list[Entry]], tasks: Sequence[tuple[Any, ...]], *, jobs: int, workers: Executor | None = None
) -> Iterator[tuple[tuple[Any, ...], list[Entry] | Exception]]:
    """Each task with its entries, or with the exception that ended it, as they finish.

    In `jobs` processes, or by other `workers`, such as those of a cluster, which are shut down at the end.
    """
    if jobs <= 1 and workers is None:
        for task in tasks:
            yield task, _outcome(work, task)
        return
    with workers or ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as processes:
        waiting: dict[Future[Any], tuple[Any, ...]] = {processes.submit(_outcome, work, task): task for task in tasks}
        try:
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield waiting.pop(future), future.result()
        finally:
            for future in waiting:
                future.cancel()


def _outcome(work: Callable[..., list[Entry]], task: tuple[Any, ...]) -> list[Entry] | Exception:
    try:
        return work(*task)
    except Exception as error:  # a cell that fails must not take the others with it; it is reported
        return error


def _without_nan(entry: Mapping[str, Any]) -> Entry:
    """JSON has no NaN: what is not defined is null there."""
    measures = {key: None if value != value else value for key, value in entry.get("measures", {}).items()}
    return dict(entry) | ({"measures": measures} if measures else {})


def _parsed(line: str, path: Path, number: int) -> Entry:
    try:
        entry = json.loads(line)
    except json.JSONDecodeError:
        entry = None
    if not isinstance(entry, dict) or not set(_KEY) <= set(entry):
        raise ValueError(
            f"Line {number} of the log {path} must be a JSON object with {', '.join(_KEY)}, got {line[:60]!r}."
        )
    measures = {key: math.nan if value is None else value for key, value in entry.get("measures", {}).items()}
    return entry | ({"measures": measures} if measures else {})
