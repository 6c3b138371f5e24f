"""Keys that were not seen for long, on disk: a table of SQLite with one record a key, in a file of its own.

The file belongs to the process: it is removed with the learner, and a model file holds its records too. So nothing has
to survive a crash, and SQLite need not wait for the disk.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.core.arithmetic.compiled import Integers

TEMPORARY = "temporary"


class ColdKeys:
    """Records by code; those that are taken are gone."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        if directory != TEMPORARY:
            Path(directory).mkdir(parents=True, exist_ok=True)
        handle, path = tempfile.mkstemp(".keys", "lopsided-", None if directory == TEMPORARY else directory)
        os.close(handle)
        self._base = sqlite3.connect(path, check_same_thread=False, isolation_level=None)  # the learner's lock holds
        for setting in ("journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE"):
            self._base.execute(f"PRAGMA {setting}")
        self._base.execute("CREATE TABLE cold (code INTEGER PRIMARY KEY, record BLOB)")
        self._count = 0
        weakref.finalize(self, _remove, self._base, path)

    def __len__(self) -> int:
        return self._count

    def put(self, codes: Integers, records: Sequence[bytes]) -> None:
        """Keep these; none of them is here."""
        self._base.execute("BEGIN")
        self._base.executemany("INSERT INTO cold VALUES (?, ?)", zip(codes.tolist(), records, strict=True))
        self._base.execute("COMMIT")
        self._count += len(records)

    def found(self, codes: Integers, *, take: bool) -> dict[int, bytes]:
        """Those of these keys that are here, by their place among the codes; `take` removes them."""
        if not self._count:
            return {}
        held = {}
        for place, code in enumerate(codes.tolist()):
            record = self._base.execute("SELECT record FROM cold WHERE code = ?", (code,)).fetchone()
            if record is not None:
                held[place] = record[0]
        if take and held:
            self._base.execute("BEGIN")
            self._base.executemany("DELETE FROM cold WHERE code = ?", [(int(codes[place]),) for place in held])
            self._base.execute("COMMIT")
            self._count -= len(held)
        return held

    def everything(self) -> tuple[Integers, list[bytes]]:
        """All codes in order, and their records."""
        pairs = self._base.execute("SELECT code, record FROM cold ORDER BY code").fetchall()
        return np.array([code for code, _ in pairs], dtype=np.int64), [record for _, record in pairs]

    # A copy has a file of its own.

    def __getstate__(self) -> dict[str, Any]:
        return {"directory": self.directory, "content": self.everything()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["directory"])  # type: ignore[misc]
        self.put(*state["content"])


def _remove(base: sqlite3.Connection, path: str) -> None:
    base.close()
    Path(path).unlink(missing_ok=True)
