"""What the keys of rows did before, as features of a stream whose labels come late."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import lopsided as lp
from lopsided.datasets import Dataset
from rare_plays import blocks_of_time


def can_remember() -> bool:
    """Whether this package has histories."""
    return hasattr(lp, "KeyedHistory")


def with_history(stream: Dataset, keys: list[str], value: str | None, *, block: float, delay: float) -> Dataset:
    """The features of a history beside those of the stream, read when rows come; labels count once they are known."""
    assert stream.times is not None and stream.columns is not None
    history = lp.KeyedHistory(keys, "when", value)
    features: list[np.ndarray] = []
    tokens: Any = None
    for _, known, own in blocks_of_time(stream.times, block, delay):
        if known.stop > known.start:
            history.learn_labels(tokens[known], stream.y[known])
        if own.stop == own.start:
            continue
        table = {name: stream.columns[name][own] for name in (*keys, *([value] if value else []))}
        read, found = history.observe(table | {"when": stream.times[own]})
        if tokens is None:
            tokens = np.empty((stream.n_rows, *found.shape[1:]), dtype=found.dtype)
        tokens[own] = found
        features.append(read)
    names = [*stream.feature_names, *map(str, history.get_feature_names_out())]
    return replace(stream, X=np.hstack([stream.X, np.vstack(features)]), feature_names=names)
