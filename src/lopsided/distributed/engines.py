"""Engines by their names. Ray is imported when somebody asks for it."""

from __future__ import annotations

from concurrent.futures import Executor
from types import ModuleType

from lopsided.distributed.workers import Engine, LocalEngine

ENGINES = ("local", "ray")


def engine_of(name: str) -> Engine:
    """The engine of this name, for shards."""
    if name == "local":
        return LocalEngine()
    engine: Engine = _ray_engine().RayEngine()
    return engine


def workers_of(name: str) -> Executor | None:
    """Who makes the runs of a sweep: the cluster of Ray, or None for processes of this machine."""
    if name != "ray":
        return None
    workers: Executor = _ray_engine().RayExecutor()
    return workers


def _ray_engine() -> ModuleType:
    try:
        from lopsided.distributed import ray_engine
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'The engine ray must have its package, which `pip install "lopsided[ray]"` brings, '
            f"got no package {error.name}.",
            name=error.name,
        ) from None
    return ray_engine
