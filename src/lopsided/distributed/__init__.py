"""A stream over several workers: shards that learn a part each, merged at fixed rows.

| file | |
|---|---|
| `dealing.py` | which shard a row goes to |
| `workers.py` | one shard at work, what an engine is, and the engine in this process |
| `engines.py` | engines by their names |
| `ray_engine.py` | the engine of Ray actors, and tasks of Ray for sweeps; the only file that imports `ray` |
| `sharding.py` | `ShardedLearner`, `learn_in_shards`: feeding, merging, snapshots, dead workers replaced |
"""

from lopsided.distributed.sharding import ShardedLearner, ShardedRun, learn_in_shards
from lopsided.distributed.workers import WorkerLostError

__all__ = ["ShardedLearner", "ShardedRun", "WorkerLostError", "learn_in_shards"]
