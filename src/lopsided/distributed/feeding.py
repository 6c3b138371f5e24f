"""Workers that are fed: what they were given since their last snapshots, and newcomers for those that died.

What a worker learned since its last snapshot goes with it when it dies. So the rows since then are kept here until the
next snapshot, and a worker that takes its place begins with the snapshot and is given these rows again, in the same
order: nothing is lost or learned twice, and the result is the same, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from lopsided.core.arithmetic.compiled import Floats
from lopsided.distributed.dealing import Places
from lopsided.distributed.workers import Engine, Report, Rows, ShardWorker, WorkerLostError

# A worker that dies so often between two snapshots dies of its rows: another one would do so too.
_MOST_LOSSES = 5
Found = TypeVar("Found")


class _Sent(NamedTuple):
    """Rows that a shard was given since its last snapshot, and where they stand among all rows since then."""

    rows: Rows
    places: Places


class FedWorkers:
    """One worker for each shard, of one kind."""

    def __init__(self, engine: Engine, kind: type[ShardWorker], shards: int) -> None:
        self._engine, self._kind, self._shards = engine, kind, shards
        self.snapshots: list[bytes] = []
        self._shared: bytes | None = None
        self._sent: list[list[_Sent]] = [[] for _ in range(shards)]
        self.n_replaced = 0
        self.first = self.last = 0  # the rows of the stream since the last snapshots, for what is said of losses

    def start(self, snapshots: list[bytes], shared: bytes | None, first: int) -> None:
        """Begin with these models; `shared` is what all of them score by, `first` the number of the next row."""
        self.snapshots, self._shared, self.first = snapshots, shared, first
        for shard in range(self._shards):
            self._engine.start(shard, self._kind, snapshots[shard], shared)

    def send(self, shard: int, rows: Rows, places: Places) -> None:
        """Have rows learned, which stand at these places among all rows since the last snapshots."""
        sent = _Sent(rows, places)
        self._sent[shard].append(sent)
        self._engine.learn(shard, sent.rows)

    def collect(self, last: int) -> Floats:
        """Wait for all and take snapshots; the scores of the rows since the last ones, up to row number `last`."""
        self.last = last
        for shard in range(self._shards):
            self._engine.ask(shard)
        reports = [self._until_it_lives(shard, self._engine.report, self._engine.ask) for shard in range(self._shards)]
        scores = np.full(last - self.first, np.nan)
        for sent, report in zip(self._sent, reports, strict=True):
            self._put(scores, sent, report)
        self.snapshots, self.first = [report.snapshot for report in reports], last
        self._sent = [[] for _ in range(self._shards)]
        return scores

    def _put(self, scores: Floats, sent: list[_Sent], report: Report) -> None:
        for (_, places), part in zip(sent, report.scores, strict=True):
            scores[places] = np.nan if part is None else part

    def scores(self, X: Any, dealt: list[Places], last: int) -> Floats:
        """What each worker says of its own rows of X, after all rows that it was given to learn."""
        self.last = last
        asked = [shard for shard, places in enumerate(dealt) if places.size]
        for shard in asked:
            self._engine.score(shard, X[dealt[shard]])
        scores = np.empty(sum(places.size for places in dealt))
        for shard in asked:
            scores[dealt[shard]] = self._until_it_lives(
                shard, self._engine.scored, lambda shard: self._engine.score(shard, X[dealt[shard]])
            )
        return scores

    def share(self, shared: bytes) -> None:
        """Have all score by this model from now on."""
        self._shared = shared
        self._engine.share(shared)

    def go_back(self) -> None:
        """All shards as they were at the last snapshots: some of the rows since then cannot be learned."""
        self._sent = [[] for _ in range(self._shards)]
        self.start(self.snapshots, self._shared, self.first)

    def close(self) -> None:
        """End all workers."""
        self._engine.close()

    def _until_it_lives(self, shard: int, answer: Callable[[int], Found], ask: Callable[[int], None]) -> Found:
        """What a worker answers, or one that took its place, learned the same rows and was asked the same."""
        for _ in range(_MOST_LOSSES):
            try:
                return answer(shard)
            except WorkerLostError:
                self.n_replaced += 1
                self._engine.start(shard, self._kind, self.snapshots[shard], self._shared)
                for sent in self._sent[shard]:
                    self._engine.learn(shard, sent.rows)
                ask(shard)
        raise WorkerLostError(
            f"The worker of shard {shard} must live from row {self.first:,} to the next merge at row "
            f"{self.last:,}. Got {_MOST_LOSSES} that died on the way."
        )
