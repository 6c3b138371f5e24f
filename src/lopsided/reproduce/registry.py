"""All tables by name."""

from __future__ import annotations

import difflib
from functools import lru_cache

from lopsided.reproduce.table import Table


@lru_cache(maxsize=1)
def tables() -> dict[str, Table]:
    """Every table that can be made again, in the order of the papers."""
    from lopsided.reproduce import b2rmk, koil, omcsl, spa, sweeps

    return {table.name: table for paper in (koil, spa, omcsl, b2rmk, sweeps) for table in paper.TABLES}


def table_named(name: str) -> Table:
    """The table a user asked for."""
    known = tables()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
        hint = f" (near: {', '.join(near)})" if near else ""
        raise ValueError(f"The table to reproduce must be one of {', '.join(known)}, got {name!r}{hint}.")
    return known[name]
