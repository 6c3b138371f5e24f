"""What a user would otherwise pick, behind the one method that a comparison needs: `progressive_scores`.

Each lives in a file of its own, which is the only one that imports its package. They are here to be measured against,
not to be used: none of them is made faster or slower than its own package is.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any, NamedTuple

from lopsided.constraints import ParameterError


class Competitor(NamedTuple):
    """Where it lives, which package it needs, and what it is."""

    module: str
    kind: str
    package: str
    summary: str


COMPETITORS = {
    "sgd": Competitor("sklearn_sgd", "FourierSGD", "sklearn", "scikit-learn: RBFSampler, then SGDClassifier by row"),
    "extratrees": Competitor("sklearn_forest", "RefittedForest", "sklearn", "scikit-learn: ExtraTrees, refitted"),
    "arf": Competitor("river_forest", "AdaptiveForest", "river", "River: adaptive random forest"),
    "arf-balanced": Competitor("river_forest", "BalancedForest", "river", "River: adaptive random forest, balanced"),
    "srp": Competitor("river_forest", "RandomPatches", "river", "River: streaming random patches"),
    "hoeffding": Competitor("river_forest", "HoeffdingTree", "river", "River: Hoeffding adaptive tree"),
    "vw": Competitor("vw_ksvm", "KernelSVM", "vowpalwabbit", "Vowpal Wabbit: kernel SVM (--ksvm, RBF)"),
    "vw-linear": Competitor("vw_linear", "LinearLogistic", "vowpalwabbit", "Vowpal Wabbit: linear, logistic, balanced"),
    "lightgbm": Competitor("lightgbm_refits", "RefittedBoosting", "lightgbm", "LightGBM, fitted anew every 1,000 rows"),
    "lightgbm-weighted": Competitor(
        "lightgbm_refits", "WeightedBoosting", "lightgbm", "LightGBM, lambda 10, positives x5"
    ),
    "lightgbm-small": Competitor(
        "lightgbm_refits", "SmallBoosting", "lightgbm", "LightGBM, balanced, small, every 100"
    ),
    "xgboost": Competitor("xgboost_refits", "BalancedBoosting", "xgboost", "XGBoost, balanced, every 100 rows"),
}


def installed() -> list[str]:
    """Which of them can run here."""
    return [name for name, one in COMPETITORS.items() if importlib.util.find_spec(one.package) is not None]


def competitor(name: str, *, random_state: int = 0, **options: Any) -> Any:
    """One of them, ready for a stream; `options` are those of its own file.

    >>> type(competitor("sgd")).__name__
    'FourierSGD'
    """
    if name not in COMPETITORS:
        raise ParameterError(f"The competitor must be one of {', '.join(COMPETITORS)}, got {name!r}.")
    one = COMPETITORS[name]
    if importlib.util.find_spec(one.package) is None:
        raise ModuleNotFoundError(
            f'The competitor {name} must have its package, which `pip install "lopsided[compare]"` brings, '
            f"got no package {one.package}.",
            name=one.package,
        )
    return getattr(importlib.import_module(f"lopsided.competitors.{one.module}"), one.kind)(
        random_state=random_state, **options
    )
