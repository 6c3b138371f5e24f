"""A file replaced by a new one: all of it or nothing, read back first, on the disk before it counts as written."""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]

_LONG_DEAD = 24 * 3600.0  # seconds after which a temporary file is left over, where nobody can ask for its lock


def replace_file(path: str | Path, content: bytes, check: Callable[..., Any]) -> None:
    """Write `content`, read it back, `check` it, and only then let it take the place of what is there.

    Temporary files that a killed process left are removed on the way. A link stays a link; what is not a file, such as
    a pipe, is written into.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(content)
        return
    _remove_leftovers(target)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            # Held until the file has its name: the sign that its writer lives. In the moment before, somebody may have
            # taken it for a leftover: then it is gone, or locked and about to go.
            if _lock(file) is False or not temporary.exists():
                return replace_file(path, content, check)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            check(temporary.read_bytes(), source=str(temporary))
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _settle(target.parent)


def _settle(folder: Path) -> None:
    """Wait until the new name is on the disk too, where folders can be waited for."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _lock(file: BinaryIO) -> bool | None:
    """Whether the file could be locked, which nobody else does while its writer lives; None where files cannot be."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove_leftovers(target: Path) -> None:
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}")
    for path in target.parent.iterdir():
        if not pattern.fullmatch(path.name):
            continue
        try:
            with path.open("rb") as file:
                if _lock(file) or time.time() - path.stat().st_mtime > _LONG_DEAD:
                    path.unlink()
        except OSError:  # somebody else was quicker, or may do what we may not
            continue
