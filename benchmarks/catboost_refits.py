"""CatBoost, which does not learn online: fitted anew on all rows so far. Only for `rivals.py`: its wheel has 100 MB."""

from __future__ import annotations

from typing import Any

import numpy as np
from catboost import CatBoostClassifier

from lopsided.competitors.refits import Refitted


class BalancedCatBoost(Refitted):
    """200 trees instead of 1,000, for time; classes balanced; after 50 rows and every 100."""

    def __init__(self, first: tuple[int, ...] = (50,), every: int | None = 100, random_state: int = 0) -> None:
        super().__init__(first, every, random_state)

    def fitted(self, X: np.ndarray, positive: np.ndarray) -> Any:
        if np.ptp(X, axis=0).max() == 0.0:  # rows that are all alike, which CatBoost refuses
            return _Share(float(positive.mean()))
        model = CatBoostClassifier(
            iterations=200,
            auto_class_weights="Balanced",
            random_seed=self.random_state,
            thread_count=1,
            verbose=False,
            allow_writing_files=False,
        )
        return model.fit(X, positive.astype(np.int64))


class _Share:
    def __init__(self, share: float) -> None:
        self.share = share

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.tile([1.0 - self.share, self.share], (X.shape[0], 1))
