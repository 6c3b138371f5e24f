"""A disk that forgets what was not synced: `RealDisk` and SQLite write to it as they would, and it can stop anywhere.

Files really exist under a folder; beside them it is noted what would have survived a loss of power: the content of each
file when it was last synced, the writes since, and the names that each folder had when that was synced. `survivors`
writes down what a disk may have kept: an arbitrary part of the writes that were not synced, some of them torn, and an
arbitrary part of the changes of names.
"""

import errno
import itertools
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from lopsided.serve.storage import disk as real

_NUMBERS = itertools.count()
_JOURNALS = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL


class PowerLostError(Exception):
    """The machine has stopped: nothing is written from here on."""


@dataclass(eq=False)
class Content:
    """What a file held when it was synced, and what was written since: (offset, bytes), or (size, None) to cut it."""

    synced: bytes = b""
    since: list = field(default_factory=list)

    def sync(self):
        self.synced, self.since = _applied(self.synced, self.since), []


class SimulatedDisk(real.RealDisk):
    """`lose_power_at` and `full_at` count writes, syncs and changes of names; `ignores_syncs` makes it a liar."""

    def __init__(self, root: Path, *, lose_power_at=None, full_at=None, full_for=1, ignores_syncs=False):
        self.root, self.steps, self.has_stopped = str(root), 0, False
        self.lose_power_at, self.full_at, self.full_for = lose_power_at, full_at, full_for
        self.ignores_syncs = ignores_syncs
        self.files = {str(path): Content(path.read_bytes()) for path in root.rglob("*") if path.is_file()}
        self.safe_files = dict(self.files)
        self.safe_folders = {str(path) for path in root.rglob("*") if path.is_dir()} | {self.root}
        self.vfs = f"simulated-{next(_NUMBERS)}"
        self._layer = _FileLayer(self)

    # ---------------------------------------------------------------- the same as on a real disk, by other system calls

    def write_pieces(self, path, pieces):
        with self._instead_of_os():
            super().write_pieces(path, pieces)

    def make_folder(self, folder):
        with self._instead_of_os():
            super().make_folder(folder)

    @contextmanager
    def _instead_of_os(self):
        outside, real.os = real.os, _SystemCalls(self)
        try:
            yield
        finally:
            real.os = outside

    # ---------------------------------------------------------------- what happens to files

    def step(self, *, writes: bool = False) -> None:
        """One more thing that happens on the disk, or does not."""
        self.steps += 1
        if self.has_stopped or self.steps == self.lose_power_at:
            self.has_stopped = True
            raise PowerLostError
        if writes and self.full_at is not None and self.full_at <= self.steps < self.full_at + self.full_for:
            raise OSError(errno.ENOSPC, "No space left on device")

    def wrote(self, content: Content, offset: int, data: bytes | None) -> None:
        """A write, or a cut; the last one before the power is lost may survive too."""
        try:
            self.step(writes=data is not None)
        except PowerLostError:
            if self.steps == self.lose_power_at:
                content.since.append((offset, data))
            raise
        content.since.append((offset, data))

    def sync_file(self, content: Content) -> None:
        self.step()
        if not self.ignores_syncs:
            content.sync()

    def sync_folder(self, folder: str) -> None:
        """The names that a folder has now are safe."""
        self.step()
        if self.ignores_syncs:
            return
        self._see_what_was_removed()
        self.safe_files = {path: content for path, content in self.safe_files.items() if _folder(path) != folder}
        self.safe_files |= {path: content for path, content in self.files.items() if _folder(path) == folder}
        self.safe_folders |= {entry.path for entry in os.scandir(folder) if entry.is_dir()}

    def _see_what_was_removed(self):
        self.files = {path: content for path, content in self.files.items() if os.path.exists(path)}

    # ---------------------------------------------------------------- after a crash

    def survivors(self, root: Path, draw) -> None:
        """What is found when the power is back, under another folder."""
        self._see_what_was_removed()
        for folder in sorted(self.safe_folders):
            Path(folder.replace(self.root, str(root), 1)).mkdir(parents=True, exist_ok=True)
        for path in sorted({*self.files, *self.safe_files}):
            now, safe = self.files.get(path), self.safe_files.get(path)
            content = safe if now is safe or draw.random() < 0.5 else now
            target = Path(path.replace(self.root, str(root), 1))
            if content is not None and target.parent.exists():
                target.write_bytes(_applied(content.synced, _some_of(content.since, draw)))

    def let_go(self) -> None:
        """Nobody uses it any more: SQLite would remember it for ever."""
        self._layer.unregister()

    def contents(self) -> dict[str, bytes]:
        """All files as they are while the power is on."""
        self._see_what_was_removed()
        return {path: _applied(content.synced, content.since) for path, content in self.files.items()}


def _some_of(writes, draw):
    """An arbitrary part of the writes: none, all, those before a moment, or any; some of them torn."""
    chance = draw.choice((0.0, 0.3, 0.7, 1.0))
    until = draw.randint(0, len(writes)) if draw.random() < 0.3 else len(writes)
    kept = []
    for offset, data in writes[:until]:
        if draw.random() < chance:
            torn = data is not None and draw.random() < 0.1
            kept.append((offset, data[: draw.randint(0, len(data))] if torn else data))
    return kept


def _applied(content: bytes, writes) -> bytes:
    if not writes:
        return content
    image = bytearray(content)
    for offset, data in writes:
        if data is None:
            del image[offset:]
            continue
        image.extend(bytes(max(0, offset - len(image))))
        image[offset : offset + len(data)] = data
    return bytes(image)


def _folder(path: str) -> str:
    return os.path.dirname(path)


class _SystemCalls:
    """What RealDisk calls `os`."""

    def __init__(self, disk: SimulatedDisk):
        self._disk, self._open = disk, {}

    def __getattr__(self, name):
        return getattr(os, name)

    def open(self, path, flags, mode=0o777):
        path = str(path)
        if flags & os.O_CREAT:
            self._disk.step(writes=True)
        handle = os.open(path, flags, mode)
        content = None if os.path.isdir(path) else self._disk.files.setdefault(path, Content())
        if flags & os.O_TRUNC:
            content.since.append((0, None))
        self._open[handle] = [path, content, 0]
        return handle

    def write(self, handle, data):
        _, content, at = self._open[handle]
        data = bytes(data[: max(1, len(data) // 2)])  # as it may happen
        self._disk.wrote(content, at, data)
        self._open[handle][2] += len(data)
        return os.write(handle, data)

    def fsync(self, handle):
        path, content, _ = self._open[handle]
        if content is None:
            self._disk.sync_folder(path)
        else:
            self._disk.sync_file(content)

    def close(self, handle):
        del self._open[handle]
        os.close(handle)

    def replace(self, old, new):
        self._disk.step()
        os.replace(old, new)
        self._disk.files[str(new)] = self._disk.files.pop(str(old))


class _FileLayer(apsw.VFS):
    """SQLite's way to the disk; shared memory, which no crash survives, is that of the machine."""

    def __init__(self, disk: SimulatedDisk):
        self._disk = disk
        super().__init__(disk.vfs, "")

    def xOpen(self, name, flags):
        path = name if name is None or isinstance(name, str) else name.filename()
        return _File(self._disk, name, path, flags)

    def xDelete(self, path, sync_folder):
        self._disk.step()
        super().xDelete(path, False)
        self._disk.files.pop(path, None)
        if sync_folder:
            self._disk.sync_folder(_folder(path))

    def excepthook(self, *error):
        """Whoever closes a file after a crash does not want to know."""


class _File(apsw.VFSFile):
    def __init__(self, disk, name, path, flags):
        self._disk, self._path = disk, path
        # The unix layer of SQLite syncs the folder when it first syncs a new journal, and at no other time.
        is_new = bool(flags[0] & apsw.SQLITE_OPEN_CREATE) and path is not None and path not in disk.files
        self._syncs_folder = is_new and bool(flags[0] & _JOURNALS)
        if is_new:
            try:
                disk.step(writes=True)
            except OSError as error:
                raise apsw.CantOpenError(str(error)) from None
        super().__init__("", name, flags)
        self._content = Content() if path is None else disk.files.setdefault(path, Content())

    def xWrite(self, data, offset):
        try:
            self._disk.wrote(self._content, offset, bytes(data))
        except OSError as error:
            raise apsw.FullError(str(error)) from None
        super().xWrite(data, offset)

    def xTruncate(self, size):
        self._disk.wrote(self._content, size, None)
        super().xTruncate(size)

    def xSync(self, flags):
        self._disk.sync_file(self._content)
        if self._syncs_folder:
            self._syncs_folder = False
            self._disk.sync_folder(_folder(self._path))

    def excepthook(self, *error):
        """Whoever closes a file after a crash does not want to know."""
