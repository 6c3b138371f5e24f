"""The disk, as far as the service needs one beside SQLite: small enough that a test can stand in for it and crash."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

_NEW = ".new"


class Disk(Protocol):
    """Whole files, written so that a crash leaves the old one or the new one, and SQLite's way to the same disk."""

    vfs: str | None

    def write(self, path: Path, content: bytes) -> None:
        """Put a file there, all of it or nothing; when this returns, it survives a loss of power."""

    def write_pieces(self, path: Path, pieces: Iterable[bytes | memoryview]) -> None:
        """The same with a large file, piece by piece: nobody who writes meanwhile waits for all of it at once."""

    def read(self, path: Path) -> bytes:
        """What a file holds."""

    def open(self, path: Path) -> Opened:
        """A file of which parts are read now and then."""

    def names(self, folder: Path) -> list[str]:
        """Which files a folder holds, in order."""

    def remove(self, path: Path) -> None:
        """Take a file away, if it is there."""

    def make_folder(self, folder: Path) -> None:
        """A folder, and those above it; it survives a loss of power."""


class Opened:
    """A file that is read in parts. It is closed with its last user, so that it may be removed while somebody reads."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDONLY)
        self.size = os.fstat(self._handle).st_size

    def part(self, start: int, size: int) -> bytes:
        """So many bytes from there on, fewer at the end."""
        return os.pread(self._handle, size, start)

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            os.close(self._handle)


class RealDisk:
    """The disk of this machine."""

    vfs: str | None = None

    def write(self, path: Path, content: bytes) -> None:
        """Into a new file, which takes the place of the old one when it is safe."""
        self.write_pieces(path, [content])

    def write_pieces(self, path: Path, pieces: Iterable[bytes | memoryview]) -> None:
        """The same, each piece made safe before the next."""
        new = path.with_name(path.name + _NEW)
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            for piece in pieces:
                view = memoryview(piece)
                while view:
                    view = view[os.write(handle, view) :]
                os.fsync(handle)
        except OSError:  # a full disk must not stay full because of half a file
            with suppress(OSError):
                os.unlink(new)
            raise
        finally:
            os.close(handle)
        os.replace(new, path)
        _sync_folder(path.parent)

    def read(self, path: Path) -> bytes:
        """What a file holds."""
        return path.read_bytes()

    def open(self, path: Path) -> Opened:
        """A file of which parts are read now and then."""
        return Opened(path)

    def names(self, folder: Path) -> list[str]:
        """Files that were written to the end."""
        return sorted(path.name for path in folder.iterdir() if path.is_file() and path.suffix != _NEW)

    def remove(self, path: Path) -> None:
        """Take a file away."""
        path.unlink(missing_ok=True)

    def make_folder(self, folder: Path) -> None:
        """A folder, and those above it."""
        missing = [part for part in (folder, *folder.parents) if not part.exists()]
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for part in missing:
            _sync_folder(part.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
