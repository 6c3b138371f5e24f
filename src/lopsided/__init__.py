"""lopsided: learning from lopsided streams, one example at a time, in bounded memory.

Names are resolved when they are first used, because importing scikit-learn and Numba takes a second.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from lopsided.estimators import registry
from lopsided.estimators.registry import register as register
from lopsided.version import __version__ as __version__

if TYPE_CHECKING:
    # Type checkers read the names of the learners where their entries are.
    from lopsided.estimators.base.classifier import DivergenceWarning as DivergenceWarning
    from lopsided.estimators.base.online import OnlineClassifier as OnlineClassifier
    from lopsided.estimators.bayesian import *  # noqa: F403
    from lopsided.estimators.compose import *  # noqa: F403
    from lopsided.estimators.compose.history import HistoryWarning as HistoryWarning
    from lopsided.estimators.features import *  # noqa: F403
    from lopsided.estimators.kernel import *  # noqa: F403
    from lopsided.estimators.linear import *  # noqa: F403
    from lopsided.estimators.state.files import from_bytes as from_bytes
    from lopsided.estimators.state.files import load as load
    from lopsided.feeds.opening import open_feed as open_feed

_HOME: dict[str, str] = {
    "DivergenceWarning": "lopsided.estimators.base.classifier",
    "HistoryWarning": "lopsided.estimators.compose.history",
    "OnlineClassifier": "lopsided.estimators.base.online",
    "from_bytes": "lopsided.estimators.state.files",
    "load": "lopsided.estimators.state.files",
    "open_feed": "lopsided.feeds.opening",
}
_MODULES = (
    "checks",
    "datasets",
    "encoding",
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

_NAMES = sorted(["__version__", "register", *_HOME, *registry.names()])
if not TYPE_CHECKING:  # who would not understand a list that is computed, and needs none
    __all__ = _NAMES


def __getattr__(name: str) -> Any:
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
    return sorted([*_NAMES, *_MODULES])
