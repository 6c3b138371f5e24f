"""One stream, learned in shards: rows are dealt out, and models are merged at fixed rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.constraints import Constraint, check_parameters, flag, whole
from lopsided.distributed.dealing import by_key, in_turns
from lopsided.distributed.shards import Sharded, State
from lopsided.distributed.workers import Engine
from lopsided.estimators.merging import empty_like, merge
from lopsided.estimators.state.files import from_bytes
from lopsided.labels import Signs

_CONSTRAINTS: dict[str, Constraint] = {"first_rows": whole(1), "scores": flag()}


class ShardedLearner(Sharded):
    """Learns a stream in shards that are merged every `merge_every` rows.

    Use it when one process cannot keep up with a stream. Each shard learns its own rows and nothing else. At a merge
    point `lopsided.merge` makes one model of them, `model_`, which goes out to all workers: they score the rows that
    come next by it, before these are learned. The shards themselves go on with their own models, because a row that two
    models have learned would count twice. So `merge_every` decides how fresh the scores are, and how much work is done
    again when a worker dies. The final model does not depend on it.

    Which shard a row goes to follows from its number, or from its key, so that both engines give the same models, bit
    for bit, however the rows come in batches. The first rows are learned by one model in this process; the others are
    born from it by `lopsided.empty_like`, because models with random directions or scales must share these.

    A learner that takes many small steps, such as `FOGD`, takes steps as many times larger as there are shards: every
    row has the weight `model.part_weight(shards)`. Else the average of all would have gone a fraction of its way.

    A worker that dies is replaced by one that begins with the last snapshot, and is given the rows since then again.
    They are kept in memory until the next merge: `merge_every` rows. An error in the rows themselves is raised, by the
    next merge at the latest, and takes all shards back to the last merge: `n_rows` says how many rows are learned.

    Cost: `merge_every` rows need one snapshot of each shard, one merge of all in this process, and the merged model
    sent to each worker. See `docs/scaling.md` for what that comes to.

    Parameters
    ----------
    model : learner
        What learns, new or already begun; it must be one that `lopsided.merge` takes. It stays as it is.
    shards : int, default=8
        How many models learn a part each.
    merge_every : int, default=100_000
        Rows between two merges.
    first_rows : int, default=1_000
        Rows that one model learns alone before the others are born. None if the model has begun already.
    engine : {"local", "ray"} or an engine, default="local"
        "local": in this process, one after the other. "ray": actors on the cluster that `ray.init` joined, or on one
        that is started on this machine (extra `[ray]`).
    scores : bool, default=True
        Whether rows are scored before they are learned.
    state : State or None, default=None
        What `state` gave at a merge point, to go on from there; `model` is then the merged one of that moment.

    Examples
    --------
    >>> import lopsided as lp
    >>> from lopsided.datasets import xor
    >>> from lopsided.distributed import ShardedLearner
    >>> stream = xor(4_000, rare=0.05)
    >>> with ShardedLearner(lp.FourierRanker(random_state=0), shards=4, merge_every=1_000) as learner:
    ...     learner.learn(stream.X, stream.y)
    ...     merged = learner.merge()
    >>> merged.n_seen_, learner.n_merges
    (4000, 3)
    """

    def __init__(
        self,
        model: Any,
        *,
        shards: int = 8,
        merge_every: int = 100_000,
        first_rows: int = 1_000,
        engine: str | Engine = "local",
        scores: bool = True,
        state: State | None = None,
    ) -> None:
        check_parameters(type(self).__name__, {"first_rows": first_rows, "scores": scores}, _CONSTRAINTS)
        super().__init__(model, shards, merge_every, engine, state)
        self.scores = scores
        # A learner from elsewhere that merges need not know of larger steps.
        self._weight = float(model.part_weight(shards)) if hasattr(model, "part_weight") else 1.0
        is_alone = state is not None and not state.shards  # one model, among the first rows
        self._first_rows = 0 if model.started_ and not is_alone else first_rows
        if state is not None and state.shards:
            self._deal_out(list(state.shards), state.dealt_from)
        elif state is None and model.started_:
            self._deal_out(self._born(), 0)

    @property
    def rows_to_merge(self) -> int:
        """How many rows are left until the next merge point."""
        if self.n_rows < self._first_rows:
            return self._first_rows - self.n_rows
        start = self._first_rows if self._dealt_from is None else self._dealt_from
        return self.merge_every - (self.n_rows - start) % self.merge_every

    def learn(self, X: Any, y: Any, *, keys: Any = None, classes: Any = None) -> None:
        """Learn more rows, in the order given; merges wherever a merge point is reached.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            The rows.
        y : vector of shape (n_samples,)
            Their labels; NaN or None for a row that is only scored.
        keys : vector of shape (n_samples,), optional
            Rows of one key go to one shard, by a hash of the key. None: row number r goes to shard r modulo `shards`.
        classes : list of two labels, optional
            Needed once, if the first rows do not show both labels and they are not 0, 1, -1 or bool.
        """
        self._learn(X, y, keys, classes)

    def _learn_part(self, X: Any, y: Any, keys: Any, classes: Any) -> None:
        signs, labels = self._signs(X, y, classes)
        if self._dealt_from is not None:
            assert labels is not None
            dealt = in_turns(self.n_rows, X.shape[0], self.shards) if keys is None else by_key(keys, self.shards)
            self._send(X, signs, labels, dealt)
            return
        is_due = X.shape[0] == self.rows_to_merge
        # Without any label so far the model has not begun, and has nothing to say.
        scores = np.zeros(signs.size)
        if labels is not None:
            weights = None if self._weight == 1.0 else np.full(signs.size, self._weight)
            scores = self._model.progressive_scores(X, Signs.of(signs, labels), sample_weight=weights)
        self._not_dealt(scores)
        if is_due and self._model.started_:
            self._deal_out(self._born(), self.n_rows)

    def merge(self) -> Any:
        """Wait for all shards and merge them now; returns the merged model, which is `model_` from then on."""
        self._collect()
        return self._model

    def _has_collected(self) -> None:
        self._model = merge([from_bytes(content) for content in self._workers.snapshots])
        if self.scores:
            self._workers.share(self._model.to_bytes())

    def _born(self) -> list[bytes]:
        """The model so far as the first shard, and empty ones like it."""
        others = [empty_like(self._model) for _ in range(self.shards - 1)]
        return [model.to_bytes() for model in (self._model, *others)]

    def _deal_out(self, snapshots: list[bytes], first: int) -> None:
        self._dealt_from = first
        self._workers.start(snapshots, self._model.to_bytes() if self.scores else None, self.n_rows)
