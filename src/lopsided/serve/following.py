"""Models that somebody else writes, to score by: the newest snapshot or a named version of a served model, or a file.

One process writes a model, `lopsided serve`. Any number of others may read what it has saved, and score by that.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lopsided.encoding import EncodedRows
from lopsided.estimators.compose.file_columns import encoded_rows
from lopsided.estimators.state.files import from_bytes_attached
from lopsided.labels import LabelMap
from lopsided.serve.measuring import Floats
from lopsided.serve.scoring import Scorer

_LOG = logging.getLogger("lopsided.serve")
_SNAPSHOT = re.compile(r"(?P<name>)(?P<position>[0-9]{20})\.lopsided")
_VERSION = re.compile(r"(?P<name>.+)@(?P<position>[0-9]+)\.lopsided")

# What tells one content of a file from another: when it was written, how long it is, and which file it is.
Stamp = tuple[str, int, int, int]


@dataclass(frozen=True)
class ReadModel:
    """A model as it was saved; `version` is the entry of the log, or for a file the number of rows, it has learned."""

    scorer: Scorer
    labels: LabelMap
    version: int

    def encoded(self, rows: Sequence[Mapping[str, Any]]) -> Floats:
        """Rows as the model takes them."""
        encoder = getattr(self.scorer.model, "encoder_", None)
        if encoder is None:
            return encoded_rows(self.scorer.model, list(rows))
        numbers: Floats = encoder.from_mappings(rows).view(EncodedRows)
        return numbers


class FollowedModel:
    """The newest content of a model file, or of the folder of a served model, as long as it can be read.

    Parameters
    ----------
    path : the file of a model, or the folder `models/NAME` in the data directory of `lopsided serve`.
    version : a version that was given a name there; None for the newest snapshot.
    """

    def __init__(self, path: Path, version: str | None = None) -> None:
        self._path, self._version = path, version
        self._stamp: Stamp | None = None  # of what answers
        self._unreadable: set[Stamp] = set()
        self.now: ReadModel | None = None

    def look(self) -> ReadModel | None:
        """What is there now: read if it is new. What cannot be read is left out: an older one answers."""
        for path, position in self._newest_first():
            stamp = _stamp_of(path)
            if stamp == self._stamp and stamp is not None:
                break
            if stamp is None or stamp in self._unreadable:
                continue
            found = _read(path, position)
            if found is not None:
                self.now, self._stamp = found, stamp
                break
            self._unreadable.add(stamp)
        return self.now

    def _newest_first(self) -> list[tuple[Path, int | None]]:
        """Files to read, and which entry of the log each is of."""
        if not self._path.is_dir():
            return [(self._path, None)]
        folder = self._path / ("snapshots" if self._version is None else "versions")
        found: list[tuple[int, Path]] = []
        for path in _files(folder):
            match = (_SNAPSHOT if self._version is None else _VERSION).fullmatch(path.name)
            if match is not None and match["name"] == (self._version or ""):
                found.append((int(match["position"]), path))
        return [(path, position) for position, path in sorted(found, reverse=True)]


def followed_models(
    where: str | Path | Mapping[str, str | Path], versions: Mapping[str, str]
) -> dict[str, FollowedModel]:
    """Models by name: those of a data directory, or files and folders by the names that they are to have."""
    if not isinstance(where, Mapping):
        where = {path.name: path for path in _files(Path(where) / "models") if path.is_dir()}
    return {name: FollowedModel(Path(path), versions.get(name)) for name, path in where.items()}


def _files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _stamp_of(path: Path) -> Stamp | None:
    try:
        facts = path.stat()
    except OSError:  # an older snapshot that was removed meanwhile
        return None
    return path.name, facts.st_mtime_ns, facts.st_size, facts.st_ino


def _read(path: Path, position: int | None) -> ReadModel | None:
    try:
        model = from_bytes_attached(path.read_bytes())[0]
        return ReadModel(Scorer(model), model.labels_, model.n_seen_ if position is None else position)
    except (OSError, ValueError, AttributeError) as error:
        _LOG.warning("The model %s cannot be read, the one before it goes on answering: %s", path, error)
        return None
