"""Workers as Ray actors, on this machine or on those of a cluster. Needs the extra `[ray]`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import ray

from lopsided.core.arithmetic.compiled import Floats
from lopsided.distributed.workers import Report, Rows, ShardWorker, WorkerLostError

# Messages on their way to one worker: enough to keep it busy, few enough to bound the memory of the object store.
_WAITING = 4


def join() -> bool:
    """Join the cluster that `RAY_ADDRESS` names, or start one here, if the program has not yet; whether that was so."""
    is_new = not ray.is_initialized()
    if is_new:
        ray.init(include_dashboard=False, log_to_driver=False)
    return is_new


class RayExecutor(Executor):
    """Calls as tasks of Ray, which does as many at once as the cluster has processors."""

    def __init__(self) -> None:
        self._is_ours = join()
        self.slots = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Have something called on the cluster; a call whose process died is made again, up to three times."""
        future: Future[Any] = ray.remote(work).remote(*arguments, **named).future()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """A cluster that was there before stays."""
        if self._is_ours:
            ray.shutdown()


class RayEngine:
    """One actor for each shard. A cluster that the program has joined by `ray.init` is used; else one is started here.

    Actors are not restarted by Ray, which would lose what they learned: whoever feeds them starts another one from its
    last snapshot and feeds it again.

    Parameters
    ----------
    **options : what `ray.remote` takes for an actor
        Such as `num_cpus`, `resources` or `scheduling_strategy`.
    """

    def __init__(self, **options: Any) -> None:
        self._is_ours = join()
        self._as_actor = ray.remote(**{"max_restarts": 0, **options})
        self.actors: dict[int, Any] = {}
        self._answers: dict[int, list[Any]] = {}
        self._snapshots: dict[int, Any] = {}
        self._scores: dict[int, Any] = {}

    def start(self, shard: int, kind: type[ShardWorker], snapshot: bytes, shared: bytes | None) -> None:
        """See `Engine`."""
        self.actors[shard] = self._as_actor(kind).remote(snapshot, shared)
        self._answers[shard] = []

    def learn(self, shard: int, rows: Rows) -> None:
        """See `Engine`; waits while too many messages are on their way."""
        answers = self._answers[shard]
        if len(answers) >= _WAITING:
            ray.wait([answers[-_WAITING]])
        answers.append(self.actors[shard].learn.remote(rows))

    def ask(self, shard: int) -> None:
        """See `Engine`."""
        self._snapshots[shard] = self.actors[shard].snapshot.remote()

    def report(self, shard: int) -> Report:
        """See `Engine`; what the worker itself raised is raised here as it was."""
        scores, snapshot = _got(shard, [[*self._answers[shard]], self._snapshots[shard]])
        self._answers[shard] = []
        return Report(scores, snapshot)

    def score(self, shard: int, X: Any) -> None:
        """See `Engine`."""
        self._scores[shard] = self.actors[shard].score.remote(X)

    def scored(self, shard: int) -> Floats:
        """See `Engine`."""
        scores: Floats = _got(shard, [self._scores.pop(shard)])[0]
        return scores

    def share(self, shared: bytes) -> None:
        """See `Engine`; the bytes are stored once, and fetched once by each machine."""
        stored = ray.put(shared)
        for actor in self.actors.values():
            actor.share.remote(stored)

    def close(self) -> None:
        """See `Engine`; a cluster that was there before stays."""
        for actor in self.actors.values():
            ray.kill(actor)
        self.actors.clear()
        if self._is_ours:
            ray.shutdown()


def _got(shard: int, answers: list[Any]) -> list[Any]:
    """What a worker answered, each time or in a list of times."""
    try:
        return [ray.get(answer) for answer in answers]
    except (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError) as error:
        raise WorkerLostError(f"The worker of shard {shard} is gone: {error}") from error
    except ray.exceptions.RayTaskError as error:
        raise error.cause or error from None
