"""Which shard a row goes to: by its number or by its key, never by time or by who is free."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int64]


def in_turns(first: int, n_rows: int, shards: int) -> list[Places]:
    """The places of these rows by shard, when row number r of the stream goes to shard r modulo `shards`.

    >>> [places.tolist() for places in in_turns(first=4, n_rows=5, shards=3)]
    [[2], [0, 3], [1, 4]]
    """
    return [np.arange((shard - first) % shards, n_rows, shards) for shard in range(shards)]


def by_key(keys: Any, shards: int) -> list[Places]:
    """The places of these rows by shard, when a row goes where the hash of its key, spelled as text, sends it.

    >>> [places.tolist() for places in by_key(["ann", "bob", "ann", "eve"], shards=2)]
    [[1], [0, 2, 3]]
    """
    distinct, of_row = np.unique(np.asarray(keys), return_inverse=True)
    shard_of = np.array([shard_of_key(key, shards) for key in distinct.tolist()], dtype=np.int64)[of_row]
    return [np.flatnonzero(shard_of == shard) for shard in range(shards)]


def by_code(codes: Places, shards: int) -> list[Places]:
    """The places of these rows by shard, when keys have codes already, which are hashes.

    >>> [places.tolist() for places in by_code(np.array([7, 4, 7, 9]), shards=2)]
    [[1], [0, 2, 3]]
    """
    shard_of = codes % shards
    return [np.flatnonzero(shard_of == shard) for shard in range(shards)]


def shard_of_key(key: Any, shards: int) -> int:
    """The shard of a key: the same in every process and on every machine."""
    return int.from_bytes(blake2b(str(key).encode(), digest_size=8).digest(), "little") % shards
