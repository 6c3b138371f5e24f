"""What all streams in shards have in common: rows in order, points at which all shards report, state to go on from."""

from __future__ import annotations

from abc import abstractmethod
from types import TracebackType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse

from lopsided.constraints import Constraint, ParameterError, check_parameters, choice, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.distributed.dealing import Places
from lopsided.distributed.engines import ENGINES, engine_of
from lopsided.distributed.feeding import FedWorkers
from lopsided.distributed.workers import Engine, Rows, ShardWorker
from lopsided.labels import LabelMap, Signs, signs_of

_ROWS_OF_A_MESSAGE = 4096
_CONSTRAINTS: dict[str, Constraint] = {
    "shards": whole(1),
    "merge_every": whole(1),
    "engine": choice(*ENGINES),
}


class State(NamedTuple):
    """All that a run needs to go on at a merge point: the model of each shard, and the rows that they have learned."""

    shards: list[bytes]
    n_rows: int
    dealt_from: int


class Sharded:
    """What all streams in shards have in common: rows in order, fixed points at which all shards report, and scores."""

    _kind: ClassVar[type[ShardWorker]] = ShardWorker
    _weight = 1.0  # of every row

    def __init__(self, model: Any, shards: int, merge_every: int, engine: str | Engine, state: State | None) -> None:
        owner = type(self).__name__
        said: dict[str, Any] = {"shards": shards, "merge_every": merge_every}
        check_parameters(owner, said | ({"engine": engine} if isinstance(engine, str) else {}), _CONSTRAINTS)
        if not (hasattr(model, "progressive_scores") and hasattr(model, "merged_with")):
            raise ParameterError(
                f"The 'model' parameter of {owner} must be a learner that lopsided.merge takes. "
                f"Got {type(model).__name__} instead."
            )
        if state is not None and state.shards and len(state.shards) != shards:
            raise ParameterError(
                f"The 'shards' parameter of {owner} must be the {len(state.shards)} of the state. Got {shards} instead."
            )
        self.shards, self.merge_every = shards, merge_every
        self.n_merges, self.n_rows = 0, 0 if state is None else state.n_rows
        self._merged_at = self.n_rows
        self._dealt_from: int | None = None  # the first row that was dealt out
        self._workers = FedWorkers(engine_of(engine) if isinstance(engine, str) else engine, self._kind, shards)
        self._model: Any = model.snapshot() if model.started_ else model.empty_like()
        self._scored: list[Floats] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the workers; `model_` stays as it was at the last merge."""
        self._workers.close()

    @property
    def model_(self) -> Any:
        """The model of the last merge."""
        return self._model

    @property
    def n_replaced(self) -> int:
        """How many workers died and were replaced."""
        return self._workers.n_replaced

    @property
    def rows_to_merge(self) -> int:
        """How many rows are left until the next merge point."""
        return self.merge_every - (self.n_rows - (self._dealt_from or 0)) % self.merge_every

    def _learn(self, X: Any, y: Any, keys: Any, classes: Any) -> None:
        # A view of encoded rows stays one, without the cells that they were made of, which no worker needs.
        X, start = X if sparse.issparse(X) else np.asanyarray(X).view(), 0
        y = y if isinstance(y, Signs) else np.asarray(y)
        while start < X.shape[0]:
            stop = min(X.shape[0], start + min(self.rows_to_merge, _ROWS_OF_A_MESSAGE * self.shards))
            part = slice(start, stop)
            self._learn_part(X[part], y[part], None if keys is None else keys[part], classes)
            start = stop

    @abstractmethod
    def _learn_part(self, X: Any, y: Any, keys: Any, classes: Any) -> None:
        """Rows up to the next merge point at most."""

    def _signs(self, X: Any, y: Any, classes: Any) -> tuple[Floats, LabelMap | None]:
        known = self._model.labels_ if self._model.started_ else None
        return signs_of(y, X.shape[0], known, classes, getattr(self._model, "pos_label", None))

    def _not_dealt(self, scores: Floats) -> None:
        """Rows that this process has scored, and learned if it could."""
        self._scored.append(scores)
        self.n_rows += scores.size
        self._merged_at = self._workers.first = self.n_rows

    def _send(self, X: Any, signs: Floats, labels: LabelMap, dealt: list[Places]) -> None:
        """Have rows learned by the shards to which they were dealt, and merge if that is due."""
        is_due = X.shape[0] == self.rows_to_merge
        try:
            for shard, places in enumerate(dealt):
                if places.size:
                    rows = Rows(X[places], signs[places], labels, self._weight)
                    self._workers.send(shard, rows, places + (self.n_rows - self._merged_at))
        except Exception:
            self._go_back()
            raise
        self.n_rows += X.shape[0]
        if is_due:
            self._collect()

    def _collect(self) -> None:
        """Wait for all shards and take their snapshots and scores."""
        if self._dealt_from is None or self._merged_at == self.n_rows:
            return
        try:
            scores = self._workers.collect(self.n_rows)
        except Exception:
            self._go_back()
            raise
        self._scored.append(scores)
        self._merged_at = self.n_rows
        self.n_merges += 1
        self._has_collected()

    @abstractmethod
    def _has_collected(self) -> None:
        """Snapshots of all shards are there."""

    def _go_back(self) -> None:
        self.n_rows = self._merged_at
        self._workers.go_back()

    def take_scores(self) -> Floats:
        """The scores of the rows up to the last merge that were not taken yet, in the order of the rows."""
        taken, self._scored = self._scored, []
        return np.concatenate(taken) if taken else np.empty(0)

    @property
    def state(self) -> State:
        """What a later run needs to go on from the last merge; without shards while no row has been dealt out."""
        return State(self._workers.snapshots, self._merged_at, self._dealt_from or 0)
