"""One stream, learned in shards: rows are dealt out, models are merged at fixed rows, and dead workers are replaced.

What a worker learned since its last snapshot goes with it when it dies. So the rows since then are kept here until the
next snapshot, and a worker that takes its place begins with the snapshot and is given these rows again, in the same
order: nothing is lost or learned twice, and the result is the same, bit for bit.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from lopsided.constraints import Constraint, ParameterError, check_parameters, choice, flag, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.distributed.dealing import Places, by_key, in_turns
from lopsided.distributed.engines import ENGINES, engine_of
from lopsided.distributed.workers import Engine, Report, Rows, WorkerLostError
from lopsided.estimators.merging import empty_like, merge
from lopsided.estimators.state.files import from_bytes
from lopsided.labels import Signs, signs_of

_ROWS_OF_A_MESSAGE = 4096
# A worker that dies so often between two merges dies of its rows: another one would do so too.
_MOST_LOSSES = 5
_CONSTRAINTS: dict[str, Constraint] = {
    "shards": whole(1),
    "merge_every": whole(1),
    "first_rows": whole(1),
    "engine": choice(*ENGINES),
    "scores": flag(),
}


class _Sent(NamedTuple):
    """Rows that a shard was given since its last snapshot, and where they stand among all rows since then."""

    rows: Rows
    places: Places


class State(NamedTuple):
    """All that a run needs to go on at a merge point: the model of each shard, and the rows that they have learned."""

    shards: list[bytes]
    n_rows: int
    dealt_from: int


class ShardedLearner:
    """Learns a stream in shards that are merged every `merge_every` rows.

    Use it when one process cannot keep up with a stream. Each shard learns its own rows and nothing else. At a merge
    point `lopsided.merge` makes one model of them, `model_`, which goes out to all workers: they score the rows that
    come next by it, before these are learned. The shards themselves go on with their own models, because a row that two
    models have learned would count twice. So `merge_every` decides how fresh the scores are, and how much work is done
    again when a worker dies. The final model does not depend on it.

    Which shard a row goes to follows from its number, or from its key, so that both engines give the same models, bit
    for bit, however the rows come in batches. The first rows are learned by one model in this process; the others are
    born from it by `lopsided.empty_like`, because models with random directions or scales must share these.

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
        said = {"shards": shards, "merge_every": merge_every, "first_rows": first_rows, "scores": scores}
        check_parameters("ShardedLearner", said | ({"engine": engine} if isinstance(engine, str) else {}), _CONSTRAINTS)
        is_learner = hasattr(model, "progressive_scores")
        if not (is_learner and hasattr(model, "merged_with")):
            raise ParameterError(
                "The 'model' parameter of ShardedLearner must be a learner that lopsided.merge takes. "
                f"Got {type(model).__name__} instead."
            )
        if state is not None and state.shards and len(state.shards) != shards:
            raise ParameterError(
                f"The 'shards' parameter of ShardedLearner must be the {len(state.shards)} of the state. "
                f"Got {shards} instead."
            )
        self.shards, self.merge_every, self.scores = shards, merge_every, scores
        is_alone = state is not None and not state.shards  # one model, among the first rows
        self._first_rows = 0 if model.started_ and not is_alone else first_rows
        self.n_rows, self.n_merges, self.n_replaced = 0, 0, 0
        self._engine: Engine = engine_of(engine) if isinstance(engine, str) else engine
        self._model: Any = model.snapshot() if model.started_ else model.empty_like()
        self._dealt_from: int | None = None  # the first row that was dealt out
        self._snapshots: list[bytes] = []
        self._shared: bytes | None = None
        self._merged_at = 0
        self._sent: list[list[_Sent]] = [[] for _ in range(shards)]
        self._scored: list[Floats] = []
        if state is not None:
            self.n_rows = self._merged_at = state.n_rows
            if state.shards:
                self._deal_out(list(state.shards), state.dealt_from)
        elif model.started_:
            self._deal_out(self._born(), 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the workers; `model_` stays as it was at the last merge."""
        self._engine.close()

    @property
    def model_(self) -> Any:
        """The model of the last merge."""
        return self._model

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
        # A view of encoded rows stays one, without the cells that they were made of, which no worker needs.
        X, start = X if sparse.issparse(X) else np.asanyarray(X).view(), 0
        y = y if isinstance(y, Signs) else np.asarray(y)
        while start < X.shape[0]:
            stop = min(X.shape[0], start + min(self.rows_to_merge, _ROWS_OF_A_MESSAGE * self.shards))
            part = slice(start, stop)
            self._learn_part(X[part], y[part], None if keys is None else keys[part], classes)
            start = stop

    def _learn_part(self, X: Any, y: Any, keys: Any, classes: Any) -> None:
        """Rows up to the next merge point at most."""
        is_due = X.shape[0] == self.rows_to_merge
        known = self._model.labels_ if self._model.started_ else None
        signs, labels = signs_of(y, X.shape[0], known, classes, getattr(self._model, "pos_label", None))
        if self._dealt_from is None:
            # Without any label so far the model has not begun, and has nothing to say.
            scores = np.zeros(signs.size)
            if labels is not None:
                scores = self._model.progressive_scores(X, Signs.of(signs, labels))
            self._scored.append(scores)
            self.n_rows += X.shape[0]
            self._merged_at = self.n_rows
            if is_due and self._model.started_:
                self._deal_out(self._born(), self.n_rows)
            return
        assert labels is not None
        dealt = in_turns(self.n_rows, X.shape[0], self.shards) if keys is None else by_key(keys, self.shards)
        try:
            for shard, places in enumerate(dealt):
                if places.size:
                    sent = _Sent(Rows(X[places], signs[places], labels), places + (self.n_rows - self._merged_at))
                    self._sent[shard].append(sent)
                    self._engine.learn(shard, sent.rows)
        except Exception:
            self._go_back()
            raise
        self.n_rows += X.shape[0]
        if is_due:
            self.merge()

    def merge(self) -> Any:
        """Wait for all shards and merge them now; returns the merged model, which is `model_` from then on."""
        if self._dealt_from is None or self._merged_at == self.n_rows:
            return self._model
        try:
            reports = self._reports()
        except Exception:
            self._go_back()
            raise
        scores = np.full(self.n_rows - self._merged_at, np.nan)
        for sent, report in zip(self._sent, reports, strict=True):
            for (_, places), part in zip(sent, report.scores, strict=True):
                scores[places] = np.nan if part is None else part
        self._snapshots = [report.snapshot for report in reports]
        self._sent = [[] for _ in range(self.shards)]
        self._model = merge([from_bytes(content) for content in self._snapshots])
        self._scored.append(scores)
        self._merged_at = self.n_rows
        self.n_merges += 1
        if self.scores:
            self._shared = self._model.to_bytes()
            self._engine.share(self._shared)
        return self._model

    def take_scores(self) -> Floats:
        """The scores of the rows up to the last merge that were not taken yet, in the order of the rows."""
        taken, self._scored = self._scored, []
        return np.concatenate(taken) if taken else np.empty(0)

    @property
    def state(self) -> State:
        """What a later run needs to go on from the last merge; without shards while the first rows are learned."""
        return State(self._snapshots, self._merged_at, self._dealt_from or 0)

    # ---------------------------------------------------------------- workers

    def _born(self) -> list[bytes]:
        """The model so far as the first shard, and empty ones like it."""
        others = [empty_like(self._model) for _ in range(self.shards - 1)]
        return [model.to_bytes() for model in (self._model, *others)]

    def _deal_out(self, snapshots: list[bytes], first: int) -> None:
        self._dealt_from, self._snapshots = first, snapshots
        self._shared = self._model.to_bytes() if self.scores else None
        for shard in range(self.shards):
            self._engine.start(shard, snapshots[shard], self._shared)

    def _reports(self) -> list[Report]:
        """What all shards have to say, those that had to be replaced included."""
        for shard in range(self.shards):
            self._engine.ask(shard)
        return [self._report(shard) for shard in range(self.shards)]

    def _report(self, shard: int) -> Report:
        for _ in range(_MOST_LOSSES):
            try:
                return self._engine.report(shard)
            except WorkerLostError:
                self.n_replaced += 1
                self._engine.start(shard, self._snapshots[shard], self._shared)
                for sent in self._sent[shard]:
                    self._engine.learn(shard, sent.rows)
                self._engine.ask(shard)
        raise WorkerLostError(
            f"The worker of shard {shard} must live from row {self._merged_at:,} to the next merge at row "
            f"{self.n_rows:,}. Got {_MOST_LOSSES} that died on the way."
        )

    def _go_back(self) -> None:
        """All shards as they were at the last merge: some of the rows since then cannot be learned."""
        self.n_rows = self._merged_at
        self._sent = [[] for _ in range(self.shards)]
        for shard in range(self.shards):
            self._engine.start(shard, self._snapshots[shard], self._shared)


class ShardedRun(NamedTuple):
    """What came of a stream in shards: the merged model, the score of each row before it was learned, and counts."""

    model: Any
    scores: Floats
    n_merges: int
    n_replaced: int


def learn_in_shards(model: Any, X: Any, y: Any, *, keys: Any = None, classes: Any = None, **how: Any) -> ShardedRun:
    """Learn rows in shards and merge them: `ShardedLearner` for rows that are all there.

    Parameters
    ----------
    model : learner
        What learns, new or already begun. It stays as it is.
    X, y, keys, classes : as in `ShardedLearner.learn`
        The rows.
    **how : the other parameters of `ShardedLearner`
        `shards`, `merge_every`, `first_rows`, `engine`, `scores`.

    Examples
    --------
    >>> import lopsided as lp
    >>> from lopsided.datasets import xor
    >>> from lopsided.distributed import learn_in_shards
    >>> from lopsided.metrics import auroc
    >>> stream = xor(4_000, rare=0.05)
    >>> run = learn_in_shards(lp.FourierRanker(random_state=0), stream.X, stream.y, shards=4, merge_every=500)
    >>> run.model.n_seen_, run.n_merges, round(auroc(stream.y, run.scores), 3)
    (4000, 6, 0.968)
    """
    with ShardedLearner(model, **how) as learner:
        learner.learn(X, y, keys=keys, classes=classes)
        merged = learner.merge()
        return ShardedRun(merged, learner.take_scores(), learner.n_merges, learner.n_replaced)
