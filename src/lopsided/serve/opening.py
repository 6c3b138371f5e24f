"""From a folder to a model: how a log is begun, and how the state after its last entry is found again."""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path

from lopsided.estimators.state.arrays import ModelFileError
from lopsided.serve.entries import Entry, Made
from lopsided.serve.folding import Fold
from lopsided.serve.messages import ModelSettings
from lopsided.serve.storage.disk import Disk
from lopsided.serve.storage.log import Group, LogReader, LogWriter, StorageError
from lopsided.serve.storage.versions import Versions

_LOG = logging.getLogger("lopsided.serve")


class NotMadeError(Exception):
    """The log is empty: whoever made the model was never told that it was."""


def make_model(folder: Path, disk: Disk, settings: ModelSettings, now: float) -> None:
    """Begin the log of a new model."""
    disk.make_folder(folder)
    with closing(LogWriter(log_path(folder), disk)) as writer:
        writer.append(Group(received=now, entries=[(1, Made(settings))]))


def log_path(folder: Path) -> Path:
    """Where the log of a model is."""
    return folder / "log.sqlite"


def first_settings(reader: LogReader) -> ModelSettings:
    """What the model was told when it was made."""
    for _, made in reader.after(0, events=False, limit=1):
        if isinstance(made, Made):
            return made.settings
    raise NotMadeError


def recovered(folder: Path, disk: Disk, reader: LogReader) -> Fold:
    """The fold of a whole log: from the latest snapshot that can be read, or from the beginning."""
    versions = Versions(folder, disk)
    fold = Fold(reader, versions)
    for path in versions.snapshots():
        try:
            fold.restore(versions.read(path))
            break
        except (ModelFileError, OSError) as error:
            _LOG.warning("The snapshot %s cannot be used, an older one is taken: %s", path.name, error)
            fold = Fold(reader, versions)
    if fold.position < int(reader.fact("needed") or 0):
        raise StorageError(
            "The model must have a snapshot that can be read, because its first events have been forgotten. "
            f"Got {len(versions.snapshots())} in {folder.name}/snapshots, none of them readable."
        )
    while fold.catch_up():
        pass
    return fold


def entries_of(reader: LogReader) -> list[tuple[int, Entry]]:
    """A whole log, for tests and audits."""
    found: list[tuple[int, Entry]] = []
    while more := list(reader.after(found[-1][0] if found else 0, events=True)):
        found += more
    return found
