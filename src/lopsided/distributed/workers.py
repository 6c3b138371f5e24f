"""One shard at work, what an engine that runs such workers must do, and the engine in this process."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from lopsided.core.arithmetic.compiled import Floats
from lopsided.estimators.state.files import from_bytes
from lopsided.labels import LabelMap, Signs


class WorkerLostError(RuntimeError):
    """A worker is gone, and with it all that it learned since its last snapshot."""


class Rows(NamedTuple):
    """Some rows for one shard. Signs travel with their labels apart, because pickling an array drops them.

    `weight` is the sample weight of each of them.
    """

    X: Any
    signs: Floats
    labels: LabelMap
    weight: float = 1.0


class ShardWorker:
    """Learns the rows of one shard, and scores them first by the model that all shards share."""

    def __init__(self, snapshot: bytes, shared: bytes | None) -> None:
        self._model = from_bytes(snapshot)
        self._shared = None if shared is None else from_bytes(shared)

    def learn(self, rows: Rows) -> Floats | None:
        """Learn these rows; returns what the shared model, which has learned none of them, says of them."""
        scores = None if self._shared is None else self._shared.raw_scores(rows.X)
        weights = None if rows.weight == 1.0 else np.full(rows.signs.size, rows.weight)
        self._model.partial_fit(rows.X, Signs.of(rows.signs, rows.labels), sample_weight=weights)
        return scores

    def score(self, X: Any) -> Floats:
        """What the shard's own model says of rows."""
        scores: Floats = self._model.raw_scores(X)
        return scores

    def share(self, shared: bytes) -> None:
        """Score by this model from now on."""
        self._shared = from_bytes(shared)

    def snapshot(self) -> bytes:
        """The shard's own model as a file's content."""
        content: bytes = self._model.to_bytes()
        return content


class KeyWorker(ShardWorker):
    """Learns all rows of some keys: nobody else knows these keys, so its own model scores the rows first."""

    def learn(self, rows: Rows) -> Floats | None:
        """Learn these rows; returns the score of each before it was learned."""
        scores: Floats = self._model.progressive_scores(rows.X, Signs.of(rows.signs, rows.labels))
        return scores


class Report(NamedTuple):
    """What a worker did since it was started or asked last: scores of the rows in their order, and its snapshot."""

    scores: list[Floats | None]
    snapshot: bytes


class Engine(Protocol):
    """What runs the workers. All calls but `report` and `scored` may return before the work is done."""

    def start(self, shard: int, kind: type[ShardWorker], snapshot: bytes, shared: bytes | None) -> None:
        """A worker for this shard that begins with a snapshot; it takes the place of one that is gone."""

    def learn(self, shard: int, rows: Rows) -> None:
        """Have a worker learn these rows after those it was given before."""

    def ask(self, shard: int) -> None:
        """Have a worker take a snapshot when it has learned all its rows."""

    def report(self, shard: int) -> Report:
        """Wait for what was asked; raises `WorkerLostError` if the worker is gone."""

    def score(self, shard: int, X: Any) -> None:
        """Have a worker score rows when it has learned all its rows."""

    def scored(self, shard: int) -> Floats:
        """Wait for these scores; raises `WorkerLostError` if the worker is gone."""

    def share(self, shared: bytes) -> None:
        """Have all workers score by this model from now on."""

    def close(self) -> None:
        """End all workers."""


class LocalEngine:
    """Workers in this process, one after the other: the same results as any other engine, without its machinery."""

    def __init__(self) -> None:
        self._workers: dict[int, ShardWorker] = {}
        self._scores: dict[int, list[Floats | None]] = {}
        self._asked: dict[int, Any] = {}

    def start(self, shard: int, kind: type[ShardWorker], snapshot: bytes, shared: bytes | None) -> None:
        """See `Engine`."""
        self._workers[shard] = kind(snapshot, shared)
        self._scores[shard] = []

    def learn(self, shard: int, rows: Rows) -> None:
        """See `Engine`."""
        if shard in self._workers:  # whether it is gone is told by `report`, as from afar
            self._scores[shard].append(self._workers[shard].learn(rows))

    def ask(self, shard: int) -> None:
        """See `Engine`; nothing is left to be done."""

    def report(self, shard: int) -> Report:
        """See `Engine`."""
        worker = self._living(shard)
        scores, self._scores[shard] = self._scores[shard], []
        return Report(scores, worker.snapshot())

    def score(self, shard: int, X: Any) -> None:
        """See `Engine`."""
        self._asked[shard] = X

    def scored(self, shard: int) -> Floats:
        """See `Engine`."""
        return self._living(shard).score(self._asked.pop(shard))

    def _living(self, shard: int) -> ShardWorker:
        if shard not in self._workers:
            raise WorkerLostError(f"The worker of shard {shard} is gone.")
        return self._workers[shard]

    def share(self, shared: bytes) -> None:
        """See `Engine`."""
        for worker in self._workers.values():
            worker.share(shared)

    def kill(self, shard: int) -> None:
        """Lose a worker with all that it has learned since its last snapshot, as a crash would."""
        self._workers.pop(shard, None)

    def close(self) -> None:
        """See `Engine`."""
        self._workers.clear()
