"""lopsided: learning from lopsided streams, one example at a time, in bounded memory.

Names are resolved when they are first used, because importing scikit-learn and Numba takes a second.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from lopsided.estimators import LEARNERS
from lopsided.version import __version__

if TYPE_CHECKING:
    from lopsided.estimators.base.classifier import DivergenceWarning
    from lopsided.estimators.bayesian.b2rmk import B2RMK
    from lopsided.estimators.bayesian.ob2rmk import OB2RMK
    from lopsided.estimators.compose.expert_pool import ExpertPool
    from lopsided.estimators.compose.pipeline import StreamPipeline
    from lopsided.estimators.compose.scaler import OnlineScaler
    from lopsided.estimators.compose.table_pipeline import SparsePipeline, TablePipeline
    from lopsided.estimators.features.descent import FOGD, NOGD
    from lopsided.estimators.features.fourier_ranker import FourierRanker
    from lopsided.estimators.kernel.budget_classifiers import BOGD, BPAS, RBP, Forgetron
    from lopsided.estimators.kernel.koil import KOIL
    from lopsided.estimators.kernel.multikernel_koil import MultiKernelKOIL
    from lopsided.estimators.kernel.multiple_kernels import BOMKC, OMKC
    from lopsided.estimators.kernel.oilk import OILK
    from lopsided.estimators.kernel.projectron import Projectron, ProjectronPP
    from lopsided.estimators.kernel.spa import OSKL, SPA
    from lopsided.estimators.kernel.unbounded_classifiers import NORMA, KernelOGD, KernelPA, KernelPerceptron
    from lopsided.estimators.linear.bagging import ResamplingBagging
    from lopsided.estimators.linear.classifiers import OCS, OFO, OnlinePerceptron
    from lopsided.estimators.linear.omcsl import OMCSL
    from lopsided.estimators.linear.rankers import OAM, OPAUC
    from lopsided.estimators.state.files import from_bytes, load
    from lopsided.feeds.opening import open_feed

_HOME: dict[str, str] = LEARNERS | {
    "DivergenceWarning": "lopsided.estimators.base.classifier",
    "from_bytes": "lopsided.estimators.state.files",
    "load": "lopsided.estimators.state.files",
    "open_feed": "lopsided.feeds.opening",
}
_MODULES = ("datasets", "encoding", "evaluate", "export", "feeds", "inspection", "kernels", "metrics", "streams")

__all__ = [
    "B2RMK",
    "BOGD",
    "BOMKC",
    "BPAS",
    "FOGD",
    "KOIL",
    "NOGD",
    "NORMA",
    "OAM",
    "OB2RMK",
    "OCS",
    "OFO",
    "OILK",
    "OMCSL",
    "OMKC",
    "OPAUC",
    "OSKL",
    "RBP",
    "SPA",
    "DivergenceWarning",
    "ExpertPool",
    "Forgetron",
    "FourierRanker",
    "KernelOGD",
    "KernelPA",
    "KernelPerceptron",
    "MultiKernelKOIL",
    "OnlinePerceptron",
    "OnlineScaler",
    "Projectron",
    "ProjectronPP",
    "ResamplingBagging",
    "SparsePipeline",
    "StreamPipeline",
    "TablePipeline",
    "__version__",
    "from_bytes",
    "load",
    "open_feed",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"lopsided.{name}")
    else:
        raise AttributeError(f"module 'lopsided' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
