"""What a page has drawn, kept for the next start: how the measures went, and what the days were like.

Like what is known of drift it is only looked at, so it may be lost: a file beside the snapshots, written with them.
"""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from lopsided.serve.messages import PastPoint
from lopsided.serve.storage.disk import Disk

_LOG = logging.getLogger("lopsided.serve")
_FILE = "watched.json"


class DaySums(msgspec.Struct, array_like=True):
    """Events of a day, how many of them were scored, and the sum of their scores."""

    events: int = 0
    scored: int = 0
    total: float = 0.0


class Watched(msgspec.Struct):
    """Points of the past and the seconds between them; days, and the latest entry that they know of."""

    points: list[PastPoint] = []
    step: float = 1.0
    days: dict[int, DaySums] = {}
    noted: int = 0


def read_watched(folder: Path, disk: Disk) -> Watched:
    """What was kept; nothing, if it cannot be read."""
    try:
        return msgspec.json.decode(disk.read(folder / _FILE), type=Watched)
    except FileNotFoundError:
        pass
    except (msgspec.MsgspecError, OSError) as error:
        _LOG.warning("What was watched before cannot be read, curves begin anew: %s", error)
    return Watched()


def write_watched(folder: Path, disk: Disk, watched: Watched) -> None:
    """Keep it; a disk that is full does not matter."""
    try:
        disk.write(folder / _FILE, msgspec.json.encode(watched))
    except OSError as error:
        _LOG.warning("What is watched cannot be kept: %s", error)
