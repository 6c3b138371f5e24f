"""A model for each key, the keys dealt over shards: each worker has the models of its own keys, and nobody else."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lopsided.constraints import ParameterError
from lopsided.core.arithmetic.compiled import Floats
from lopsided.distributed.dealing import Places, by_code
from lopsided.distributed.shards import Sharded, State
from lopsided.distributed.workers import Engine, KeyWorker, ShardWorker
from lopsided.estimators.merging import empty_like, merge
from lopsided.estimators.state.files import from_bytes
from lopsided.labels import LabelMap, Signs, signs_of


class ShardedKeys(Sharded):
    """Learns a stream with a model for each key, the keys dealt over shards.

    Use it when the keys of one process do not fit into its memory, or its rows take too long. All rows of a key go to
    one shard, by a hash of the key, which is the same in every process. So no model has to be merged to go on: a row is
    scored by the model of its key as of the row before, as in one process, and then learned.

    With `prior=None` every score is, bit for bit, that of one `KeyedLearner` which was given all rows. With
    `prior="global"` the learner that keys lean on is, in each shard, that of the rows of its own keys.

    A worker that dies is replaced by one that begins with the last snapshot, and is given the rows since then again.
    They are kept in memory until the next snapshot: `merge_every` rows. `state` holds the snapshots and the number of
    rows in them, to go on from; save it with the position of your source.

    `model_` makes one `KeyedLearner` of all shards, as of their last snapshots: `lopsided.merge`, which costs as much
    as all keys are large. Its `max_keys` is that of one shard; give it a `spill`, or keys beyond it are dropped. A
    learner that finds its scale in its first rows, such as `FourierRanker`, can be made one only with `prior=None`.

    Parameters
    ----------
    model : KeyedLearner, or TablePipeline around one
        What learns. It must not have begun, unless there is a `state`. It stays as it is.
    shards : int, default=8
        How many workers keep the models of their keys.
    merge_every : int, default=100_000
        Rows between two snapshots.
    engine : {"local", "ray"} or an engine, default="local"
        As in `ShardedLearner`.
    state : State or None, default=None
        What `state` gave, to go on from there; `model` is then `model_` of that moment.

    Examples
    --------
    >>> import numpy as np
    >>> import lopsided as lp
    >>> from lopsided.distributed import ShardedKeys
    >>> rng = np.random.default_rng(0)
    >>> shop, price = rng.integers(0, 50, 5_000), rng.standard_normal(5_000)
    >>> y = (np.where(shop % 2, price, -price) > 1.5).astype(int)
    >>> X = np.column_stack([shop, price])
    >>> one = lp.KeyedLearner(lp.OCS(variant=2, loss="logistic"), prior=None)
    >>> with ShardedKeys(one, shards=4) as learner:
    ...     learner.learn(X, y)
    ...     merged, scores = learner.merge(), learner.raw_scores(X)
    >>> merged.n_keys_, bool((scores == one.partial_fit(X, y).raw_scores(X)).all())
    (50, True)
    """

    _kind: ClassVar[type[ShardWorker]] = KeyWorker

    def __init__(
        self,
        model: Any,
        *,
        shards: int = 8,
        merge_every: int = 100_000,
        engine: str | Engine = "local",
        state: State | None = None,
    ) -> None:
        if not hasattr(model, "key_codes"):
            raise ParameterError(
                "The 'model' parameter of ShardedKeys must be a KeyedLearner, or a TablePipeline around one. "
                f"Got {type(model).__name__} instead."
            )
        has_shards = state is not None and bool(state.shards)
        if model.started_ and not has_shards:
            raise ParameterError(
                "The 'model' parameter of ShardedKeys must not have learned yet, because its keys are not dealt out. "
                f"Got one that has seen {model.n_seen_:,} rows."
            )
        super().__init__(model, shards, merge_every, engine, state)
        self._labels: LabelMap | None = self._model.labels_ if self._model.started_ else None
        self._is_merged = True  # whether the model is that of the last snapshots
        if state is not None and has_shards:
            self._dealt_from = state.dealt_from
            self._workers.start(list(state.shards), None, self.n_rows)

    @property
    def model_(self) -> Any:
        """One model of all shards, as of their last snapshots."""
        if not self._is_merged:
            self._model = merge([from_bytes(content) for content in self._workers.snapshots])
            self._is_merged = True
        return self._model

    def learn(self, X: Any, y: Any, *, classes: Any = None) -> None:
        """Learn more rows, in the order given; takes snapshots wherever that is due.

        Parameters
        ----------
        X : whatever the model takes
            The rows, with the column of their key.
        y : vector of shape (n_samples,)
            Their labels; NaN or None for a row that is only scored.
        classes : list of two labels, optional
            Needed once, if the first rows do not show both labels and they are not 0, 1, -1 or bool.
        """
        y = y if isinstance(y, Signs) else np.asarray(y)
        start = 0
        if self._dealt_from is None:
            signs, labels = signs_of(y, len(y), None, classes, self._model.pos_label)
            labelled = np.flatnonzero(~np.isnan(signs))
            # Before the first label nobody has begun, and there is nothing to say.
            start = int(labelled[0]) if labelled.size else len(y)
            self._not_dealt(np.zeros(start))
            if not labelled.size:
                return
            assert labels is not None
            self._begin(X, Signs.of(np.ones(len(y)), labels))
        self._learn(self._model.encoded(X)[start:], y[start:], None, classes)

    def _begin(self, X: Any, signs: Signs) -> None:
        """Empty models alike for all shards, which know what rows look like: the first has skipped these."""
        self._model.partial_fit(X, signs, sample_weight=np.zeros(signs.size))
        others = [empty_like(self._model) for _ in range(self.shards - 1)]
        self._dealt_from = self.n_rows
        self._workers.start([model.to_bytes() for model in (self._model, *others)], None, self.n_rows)

    def _learn_part(self, X: Any, y: Any, keys: Any, classes: Any) -> None:
        signs, self._labels = signs_of(y, X.shape[0], self._labels, classes, self._model.pos_label)
        assert self._labels is not None
        self._send(X, signs, self._labels, self._dealt(X))

    def _dealt(self, X: Any) -> list[Places]:
        return by_code(self._model.key_codes(X), self.shards)

    def _has_collected(self) -> None:
        self._is_merged = False

    def merge(self) -> Any:
        """Wait for all shards, take snapshots, and make one model of them, which is `model_`."""
        self._collect()
        return self.model_

    def raw_scores(self, X: Any) -> Floats:
        """Scores of rows, each by the worker that has its key, after all rows that were given to `learn`."""
        encoded = self._model.encoded(X)
        return self._workers.scores(encoded, self._dealt(encoded), self.n_rows)
