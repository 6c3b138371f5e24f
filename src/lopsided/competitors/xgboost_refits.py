"""XGBoost, which does not learn online: fitted anew on all rows so far, on one thread, with balanced classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from xgboost import XGBClassifier

from lopsided.competitors.refits import Floats, Refitted


class BalancedBoosting(Refitted):
    """XGBClassifier with its defaults, a positive weighing as much as there are negatives for each; every 100 rows."""

    def __init__(self, first: tuple[int, ...] = (50,), every: int | None = 100, random_state: int = 0) -> None:
        super().__init__(first, every, random_state)

    def fitted(self, X: Floats, positive: npt.NDArray[np.bool_]) -> Any:
        """Balanced."""
        weight = float(positive.size - positive.sum()) / float(positive.sum())
        model = XGBClassifier(scale_pos_weight=weight, n_jobs=1, random_state=self.random_state, verbosity=0)
        return model.fit(X, positive.astype(np.int64))
