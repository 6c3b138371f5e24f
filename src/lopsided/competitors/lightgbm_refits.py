"""LightGBM, which does not learn online: fitted anew on all rows so far, on one thread, in the ways people use it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from lightgbm import LGBMClassifier

from lopsided.competitors.refits import Floats, Refitted

Flags = npt.NDArray[np.bool_]


class RefittedBoosting(Refitted):
    """LGBMClassifier with its defaults, after 100, 250, 500 and every thousand rows."""

    def fitted(self, X: Floats, positive: Flags) -> Any:
        """Its defaults."""
        return self._fitted(X, positive)

    def _fitted(self, X: Floats, positive: Flags, **options: Any) -> Any:
        model = LGBMClassifier(random_state=self.random_state, n_jobs=1, verbose=-1, **options)
        return model.fit(X, positive)


class WeightedBoosting(RefittedBoosting):
    """The same, regularised: `reg_lambda=10`, a positive counts five times."""

    def fitted(self, X: Floats, positive: Flags) -> Any:
        """Stronger regularisation and positive weight."""
        return self._fitted(X, positive, reg_lambda=10.0, scale_pos_weight=5.0)


class SmallBoosting(RefittedBoosting):
    """For few rows: classes balanced, trees of 8 leaves with 5 rows or more, fitted anew every hundred rows."""

    def __init__(self, first: tuple[int, ...] = (50,), every: int | None = 100, random_state: int = 0) -> None:
        super().__init__(first, every, random_state)

    def fitted(self, X: Floats, positive: Flags) -> Any:
        """Balanced and small."""
        return self._fitted(X, positive, class_weight="balanced", num_leaves=8, min_child_samples=5)
