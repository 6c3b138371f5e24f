"""A stream over several workers: shards that learn a part each, merged at fixed rows, or keys dealt over them.

| file | |
|---|---|
| `dealing.py` | which shard a row goes to |
| `workers.py` | one shard at work, what an engine is, and the engine in this process |
| `engines.py` | engines by their names |
| `ray_engine.py` | the engine of Ray actors, and tasks of Ray for sweeps |
| `feeding.py` | workers that are fed: rows since the last snapshots, and newcomers for those that died |
| `shards.py` | what all streams in shards have in common |
| `sharding.py`, `keys.py` | `ShardedLearner`: parts that are merged; `ShardedKeys`: a model for each key |
| `running.py` | `learn_in_shards` |
"""

from lopsided.distributed.keys import ShardedKeys
from lopsided.distributed.running import ShardedRun, learn_in_shards
from lopsided.distributed.sharding import ShardedLearner
from lopsided.distributed.workers import WorkerLostError

__all__ = ["ShardedKeys", "ShardedLearner", "ShardedRun", "WorkerLostError", "learn_in_shards"]
