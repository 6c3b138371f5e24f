"""What a command may write over: one check for all commands, before any work is done.

A file that exists is replaced only by its own kind: a report by a report, scored rows by scored rows. A model is never
replaced without --force, because it may be the only trace of a stream that is gone. What is read is never written to,
and no two outputs of a command are the same file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from lopsided.constraints import ParameterError

_LOOKED_AT = 1 << 16  # bytes at either end of a file


class Kind(NamedTuple):
    """A kind of output: what it is called, and whether a file that exists may be replaced by one."""

    name: str
    is_replaceable: Callable[[Path], bool]


class Target(NamedTuple):
    """A file that an option of a command asks for."""

    option: str
    path: str
    kind: Kind


def check_targets(
    targets: Sequence[Target], inputs: Iterable[str] = (), *, force: bool = False, goes_on_with: str | None = None
) -> None:
    """Refuse outputs that would destroy something.

    Parameters
    ----------
    targets : the files that will be written.
    inputs : files and directories that are read; they are spared even with `force`.
    force : replace files of other kinds, and models.
    goes_on_with : a model that is read, learned on and written again: it may be a target.
    """
    read = [path for path in inputs if os.path.exists(path)]
    for target in targets:
        _check_place(target)
        for path in read:
            _check_apart_from(target, path)
        if goes_on_with is not None and target.kind is not MODEL:
            _check_apart_from(target, goes_on_with)
    for one, other in combinations(targets, 2):
        if _is_same(one.path, other.path):
            raise ParameterError(
                f"The options {one.option} and {other.option} must name different files, got {one.path!r} for both."
            )
    for target in targets:
        if not force and not (goes_on_with is not None and _is_same(target.path, goes_on_with)):
            _check_replaceable(target)


def check_folder(option: str, folder: str | Path, name: str, *, force: bool = False) -> None:
    """Refuse to write pages called NAME into a folder that has others of that name.

    Pages of a former run are known by its log, which stands beside them.
    """
    pages = [Path(folder, f"{name}.{suffix}") for suffix in ("md", "json", "html", "png", "jsonl")]
    if force or _begins_with_object(pages[-1], "table", "method"):
        return
    foreign = next((page for page in pages if page.exists() and page.stat().st_size), None)
    if foreign is not None:
        raise ParameterError(
            f"The option {option} must name a folder without a file {foreign.name}, unless that is of a former run "
            f"(known by its log {name}.jsonl) or --force is given, got {str(folder)!r}."
        )


def _check_place(target: Target) -> None:
    path = Path(target.path)
    folder = path.absolute().parent
    is_device = path.exists() and not path.is_file() and not path.is_dir()  # such as a pipe: it is not replaced
    if path.is_dir() or not folder.is_dir() or not os.access(path if is_device else folder, os.W_OK):
        raise ParameterError(
            f"The option {target.option} must be a file in a directory that can be written to, got {target.path!r}."
        )


def _check_apart_from(target: Target, path: str) -> None:
    if os.path.isdir(path) and os.path.samefile(Path(target.path).absolute().parent, path):
        # A directory is looked into again and again: what appears there is read too.
        raise ParameterError(
            f"The option {target.option} must not lie in a directory that is read, got {target.path!r}."
        )
    if _is_same(target.path, path):
        raise ParameterError(
            f"The option {target.option} must not be one of the files that are read, got {target.path!r}."
        )


def _is_same(one: str, other: str) -> bool:
    """Whether two names mean one file, also one that is not there yet."""
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


def _check_replaceable(target: Target) -> None:
    path = Path(target.path)
    if not path.is_file() or not path.stat().st_size:  # pipes and devices are written into; nothing is lost of nothing
        return
    if is_model(path):
        remedies = "--force replaces it or --resume continues it" if target.kind is MODEL else "--force replaces it"
        raise ParameterError(
            f"The option {target.option} must not be a model that exists, unless {remedies}, got {target.path!r}."
        )
    if not target.kind.is_replaceable(path):
        raise ParameterError(
            f"The option {target.option} must not be an existing file other than {target.kind.name}, unless --force "
            f"replaces it, got {target.path!r}."
        )


def is_model(path: Path) -> bool:
    """Whether a file is a model of this package, by the beginning of its header."""
    return _start(path)[8:64].replace(b" ", b"").startswith(b'{"__metadata__":{"lopsided"')


def _is_report(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(_LOOKED_AT)
        file.seek(max(0, path.stat().st_size - _LOOKED_AT))
        return start.startswith(b"<!DOCTYPE html>") and b"<footer>Written by lopsided" in file.read()


def _is_scored(path: Path) -> bool:
    """Whether these are rows with scores, in any of the formats."""
    from lopsided.feeds.writers import NEW_COLUMNS

    start = _start(path)
    if start.startswith((b"PAR1", b"ARROW1")):
        return set(NEW_COLUMNS[:2]) <= set(_columns_of(path, start))
    if start.startswith(b"{"):
        return _begins_with_object(path, *NEW_COLUMNS)
    header = start.partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
    return any(header.endswith(delimiter.join(NEW_COLUMNS)) for delimiter in ",\t;|")


def _columns_of(path: Path, start: bytes) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if start.startswith(b"PAR1"):
            return list(pq.read_schema(path).names)
        with pa.memory_map(str(path)) as file:
            return list(pa.ipc.open_file(file).schema.names)
    except (pa.ArrowException, OSError):
        return []


def _is_onnx(path: Path) -> bool:
    start = _start(path)[:64]
    return start.startswith(b"\x08") and b"\x12\x08lopsided" in start  # the version of the format, then who made it


def _is_drift_state(path: Path) -> bool:
    return b'{"__metadata__":{"lopsided drift alarm"' in _start(path)[8:64]


def _is_quarantine(path: Path) -> bool:
    return _begins_with_object(path, "source", "expected", "got")


def _begins_with_object(path: Path, *members: str) -> bool:
    """Whether the first line is a JSON object that has these members."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        line = file.readline(1 << 24)
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and set(members) <= set(value)


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_LOOKED_AT)


MODEL = Kind("a model", lambda path: False)
REPORT = Kind("a report of lopsided", _is_report)
SCORES = Kind("scored rows", _is_scored)
ONNX = Kind("a model that lopsided has exported", _is_onnx)
BAD_ROWS = Kind("bad rows that lopsided has written down", _is_quarantine)
STATE = Kind("the state of a drift alarm", _is_drift_state)
