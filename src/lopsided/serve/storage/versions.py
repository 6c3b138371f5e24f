"""Snapshots of a model, and versions of it that somebody gave a name: one file each."""

from __future__ import annotations

import re
from pathlib import Path

from lopsided.estimators.state.files import from_bytes_attached
from lopsided.serve.messages import Version
from lopsided.serve.storage.disk import Disk

_ENDING = ".lopsided"
_SNAPSHOT = re.compile(r"[0-9]{20}\.lopsided")
_KEPT = 2  # snapshots: the latest, and one more for the case that it cannot be read


class Versions:
    """The files of one model. Names were checked at the door: they cannot leave the folder."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        self._disk, self._versions, self._snapshots = disk, folder / "versions", folder / "snapshots"
        disk.make_folder(self._versions)
        disk.make_folder(self._snapshots)

    # ---------------------------------------------------------------- snapshots, by position

    def save(self, position: int, content: bytes) -> None:
        """A snapshot; older ones but one are removed."""
        self._disk.write(self._snapshots / f"{position:020d}{_ENDING}", content)
        for name in self._names()[:-_KEPT]:
            self._disk.remove(self._snapshots / name)

    def _names(self) -> list[str]:
        """Snapshots, the oldest first; what else somebody has put there is left alone."""
        return [name for name in self._disk.names(self._snapshots) if _SNAPSHOT.fullmatch(name)]

    def snapshots(self) -> list[Path]:
        """The latest first."""
        return [self._snapshots / name for name in reversed(self._names())]

    @property
    def oldest_position(self) -> int:
        """What the older one of the snapshots has learned; 0 while there is only one, which might be unreadable."""
        names = self._names()
        return int(names[-_KEPT].removesuffix(_ENDING)) if len(names) >= _KEPT else 0

    def read(self, path: Path) -> bytes:
        """What a snapshot holds."""
        return self._disk.read(path)

    # ---------------------------------------------------------------- versions, by name

    def keep(self, name: str, sequence: int, content: bytes) -> None:
        """Give the model of a moment a name. Folding the log once more keeps the same again."""
        self._disk.write(self._versions / f"{name}@{sequence}{_ENDING}", content)

    def content(self, name: str) -> bytes:
        """What a version holds; nothing, if the model had not begun then."""
        for found in self._disk.names(self._versions):
            if found.startswith(f"{name}@"):
                return self._disk.read(self._versions / found)
        return b""

    def check(self, name: str) -> None:
        """Refuse a version that has been damaged, with a sentence."""
        content = self.content(name)
        if content:
            from_bytes_attached(content)

    def all(self) -> list[Version]:
        """All versions, the oldest first."""
        found = [name.removesuffix(_ENDING).rpartition("@") for name in self._disk.names(self._versions)]
        return sorted((Version(name, int(at)) for name, _, at in found), key=lambda version: version.sequence)
