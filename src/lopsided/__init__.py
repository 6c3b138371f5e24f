"""lopsided: learning from lopsided streams, one example at a time, in bounded memory.

Names are resolved when they are first used, because importing scikit-learn and Numba takes a second. Nothing else is
imported here either: until the command line has begun, Ctrl-C would leave a traceback.
"""

from __future__ import annotations

from lopsided.version import __version__ as __version__

TYPE_CHECKING = False  # as in `typing`, which takes its time too
if TYPE_CHECKING:
    from typing import Any

    # Type checkers read the names of the learners where their entries are.
    from lopsided.estimators.base.classifier import CommonClassWarning as CommonClassWarning
    from lopsided.estimators.base.classifier import DivergenceWarning as DivergenceWarning
    from lopsided.estimators.base.online import OnlineClassifier as OnlineClassifier
    from lopsided.estimators.bayesian import *  # noqa: F403
    from lopsided.estimators.compose import *  # noqa: F403
    from lopsided.estimators.compose.history import HistoryWarning as HistoryWarning
    from lopsided.estimators.features import *  # noqa: F403
    from lopsided.estimators.kernel import *  # noqa: F403
    from lopsided.estimators.linear import *  # noqa: F403
    from lopsided.estimators.merging import empty_like as empty_like
    from lopsided.estimators.merging import merge as merge
    from lopsided.estimators.rare import *  # noqa: F403
    from lopsided.estimators.rare.priority_sample import PrioritySample as PrioritySample
    from lopsided.estimators.registry import register as register
    from lopsided.estimators.state.files import from_bytes as from_bytes
    from lopsided.estimators.state.files import load as load
    from lopsided.feeds.opening import open_feed as open_feed

_HOME: dict[str, str] = {
    "CommonClassWarning": "lopsided.estimators.base.classifier",
    "DivergenceWarning": "lopsided.estimators.base.classifier",
    "HistoryWarning": "lopsided.estimators.compose.history",
    "OnlineClassifier": "lopsided.estimators.base.online",
    "PrioritySample": "lopsided.estimators.rare.priority_sample",
    "empty_like": "lopsided.estimators.merging",
    "from_bytes": "lopsided.estimators.state.files",
    "load": "lopsided.estimators.state.files",
    "merge": "lopsided.estimators.merging",
    "open_feed": "lopsided.feeds.opening",
    "register": "lopsided.estimators.registry",
}
_MODULES = (
    "adapters",
    "alerts",
    "checks",
    "datasets",
    "distributed",
    "drift",
    "encoding",
    "estimators",
    "evaluate",
    "export",
    "feeds",
    "inspection",
    "kernels",
    "labels",
    "late",
    "metrics",
    "protocol",
    "streams",
)


def _names() -> list[str]:
    from lopsided.estimators import registry

    return sorted(["__version__", *_HOME, *registry.names()])


def __getattr__(name: str) -> Any:
    import importlib

    if name == "__all__":  # computed, which type checkers would not understand, and need not
        return _names()
    from lopsided.estimators import registry

    entry = registry.entry(name)
    if entry is not None and entry.family != registry.YOURS:
        value: Any = entry.kind
    elif name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"lopsided.{name}")
    else:
        raise AttributeError(f"module 'lopsided' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_names(), *_MODULES])
