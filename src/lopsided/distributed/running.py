"""A stream in shards from beginning to end, and which kind of shards a model needs."""

from __future__ import annotations

from typing import Any, NamedTuple

from lopsided.core.arithmetic.compiled import Floats
from lopsided.distributed.keys import ShardedKeys
from lopsided.distributed.sharding import ShardedLearner


def shards_for(model: Any) -> type[ShardedLearner] | type[ShardedKeys]:
    """Shards that are merged, or keys that are dealt out."""
    return ShardedKeys if has_keys(model) else ShardedLearner


def has_keys(model: Any) -> bool:
    """Whether a model is one for each key."""
    return hasattr(model, "key_codes")


class ShardedRun(NamedTuple):
    """What came of a stream in shards: the merged model, the score of each row before it was learned, and counts."""

    model: Any
    scores: Floats
    n_merges: int
    n_replaced: int


def learn_in_shards(model: Any, X: Any, y: Any, *, keys: Any = None, classes: Any = None, **how: Any) -> ShardedRun:
    """Learn rows in shards and merge them: `ShardedLearner` for rows that are all there.

    A `KeyedLearner`, or a `TablePipeline` around one, is learned by `ShardedKeys`: each shard has keys of its own.

    Parameters
    ----------
    model : learner
        What learns, new or already begun. It stays as it is.
    X, y, keys, classes : as in `ShardedLearner.learn`
        The rows; a model for each key finds its keys itself, and takes no `keys`.
    **how : the other parameters of `ShardedLearner` or `ShardedKeys`
        `shards`, `merge_every`, `engine`, and of the former `first_rows`, `scores`.

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
    with shards_for(model)(model, **how) as learner:
        dealt = {} if keys is None else {"keys": keys}
        learner.learn(X, y, classes=classes, **dealt)
        merged = learner.merge()
        return ShardedRun(merged, learner.take_scores(), learner.n_merges, learner.n_replaced)
