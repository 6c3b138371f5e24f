"""The learner under check, unused again and again, and the stream it is checked on."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from safetensors import SafetensorError
from sklearn.base import clone

from lopsided.estimators import registry
from lopsided.estimators.state import files

SEED = 11
N_ROWS = 90
_N_FEATURES = 3


class Stream:
    """A short stream of numbers with a rare class that can be learned, in the form that a learner takes.

    `rows` and `row` give vectors of numbers, or columns of a table with a word and with gaps.
    """

    def __init__(self, *, as_table: bool = False, n_rows: int = N_ROWS) -> None:
        rng = np.random.default_rng(5)
        X = rng.standard_normal((n_rows, _N_FEATURES))
        X[rng.random(X.shape) < 0.2] = 0.0
        self.y = (X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.4 * rng.standard_normal(n_rows) > 0.9).astype(int)
        self.y[:2] = 0, 1  # both labels are known from the first rows on
        self.X: npt.NDArray[np.float64] = X
        self.as_table = as_table

    def rows(self, start: int = 0, stop: int | None = None) -> Any:
        """The rows start..stop-1, a copy."""
        X = self.X[start:stop]
        return _table(X) if self.as_table else X.copy()

    def row(self, t: int) -> Any:
        """One row, a copy."""
        if not self.as_table:
            return self.X[t].copy()
        return {name: cells[0] for name, cells in _table(self.X[t : t + 1]).items()}


def _table(X: npt.NDArray[np.float64]) -> dict[str, list[Any]]:
    return {
        "a": X[:, 0].tolist(),
        "b": [None if value == 0.0 else value for value in X[:, 1].tolist()],
        "word": ["red" if value > 0.0 else "blue" for value in X[:, 2].tolist()],
    }


def stream_for(learner: Any) -> Stream:
    """The stream in the form that this learner takes."""
    entry = registry.nearest_entry(type(learner))
    return Stream(as_table=entry is not None and entry.takes_tables)


def takes_missing(learner: Any) -> bool:
    """Whether NaN in a row of numbers is a value that is not known, as its class claims."""
    return bool(getattr(learner, "takes_missing", False))


def fresh(learner: Any, seed: int | None = None) -> Any:
    """An unused learner with the same parameters, and a seed where it has none; `seed` replaces one that it has."""
    if not hasattr(learner, "get_params"):
        return copy.deepcopy(learner)
    unused = clone(learner)
    seeds = {name: value for name, value in unused.get_params().items() if name.rpartition("__")[2] == "random_state"}
    if not seeds and hasattr(unused, "random_state"):
        seeds = {"learner__random_state": unused.random_state}  # a pipeline whose learner is left to its default
    changed = {
        name: SEED if seed is None else seed for name, value in seeds.items() if value is None or seed is not None
    }
    unused = unused.set_params(**changed) if changed else unused
    if hasattr(unused, "find_schema"):
        unused.find_schema(_table(Stream().X))  # else batches and single rows would begin with different ones
    return unused


def learned(learner: Any, stream: Stream, stop: int | None = None, **more: Any) -> Any:
    """The learner after the first rows of the stream: row by row if it can, else by `fit`."""
    learn = getattr(learner, "partial_fit", None) or learner.fit
    learn(stream.rows(0, stop), stream.y[:stop], **more)
    return learner


def from_bytes(model: Any, content: bytes) -> Any:
    """What the bytes of a model hold; a class that no file of this package knows reads its own."""
    return model.from_bytes(content) if hasattr(model, "from_bytes") else files.from_bytes(content)


def loaded(model: Any, path: Path) -> Any:
    """What a file holds, read as `from_bytes` reads bytes."""
    return model.from_bytes(path.read_bytes()) if hasattr(model, "from_bytes") else files.load(path)


def ensure(holds: Any, sentence: str) -> None:
    """Raise an AssertionError that says what should be so; `assert` would be left out by `python -O`."""
    if not holds:
        raise AssertionError(sentence)


def ensure_same_scores(given: Any, expected: Any, sentence: str, *, within: float = 0.0) -> None:
    """Refuse scores that differ by more than `within`, with the largest difference."""
    given, expected = np.asarray(given, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    ensure(given.shape == expected.shape, f"{sentence} Got shapes {given.shape} and {expected.shape}.")
    worst = np.abs(given - expected).max(initial=0.0)
    ensure(worst <= within, f"{sentence} Got scores that differ by up to {worst:.3g}.")


def ensure_same_model(one: Any, other: Any, stream: Stream, sentence: str) -> None:
    """Refuse two models that differ in what they hold, in what they answer, or in what they would become."""
    ensure_same_arrays(one, other, sentence)
    ensure_same_scores(one.raw_scores(stream.rows()), other.raw_scores(stream.rows()), sentence)
    ensure(one.threshold_ == other.threshold_, f"{sentence} Got thresholds {one.threshold_} and {other.threshold_}.")
    ensure(one.n_seen_ == other.n_seen_, f"{sentence} Got models of {one.n_seen_} and {other.n_seen_} rows.")
    if hasattr(one, "progressive_scores"):
        future, expected = (
            copy.deepcopy(model).progressive_scores(stream.rows(0, 30), stream.y[:30]) for model in (one, other)
        )
        ensure_same_scores(future, expected, f"{sentence} They also have to go on alike.")


def ensure_same_arrays(one: Any, other: Any, sentence: str) -> None:
    """Refuse two models that differ in an array that they hold; how much room it has may depend on the batches."""
    arrays, others = _arrays_of(one), _arrays_of(other)
    alike = [name for name in arrays.keys() & others.keys() if arrays[name].shape == others[name].shape]
    differing = [name for name in alike if not _same(arrays[name], others[name])]
    ensure(arrays.keys() == others.keys(), f"{sentence} Got models that hold different arrays.")
    ensure(not differing, f"{sentence} Got models that differ in {', '.join(differing)}.")


def _same(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    """Whether all entries are equal; a value that is not known is equal to another one."""
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f")


def _arrays_of(model: Any) -> Mapping[str, npt.NDArray[Any]]:
    """What a model holds, as far as its bytes tell; uniforms are fetched ahead in portions that depend on the batch."""
    try:
        arrays = safetensors.numpy.load(model.to_bytes())
    except SafetensorError:  # the file of somebody else's learner
        return {}
    return {name: array for name, array in arrays.items() if name.rpartition("/")[2] != "uniforms"}
