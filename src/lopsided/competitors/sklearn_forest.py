"""scikit-learn: extremely randomised trees with balanced classes, fitted anew on all rows so far."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import ExtraTreesClassifier

from lopsided.competitors.refits import Floats, Refitted


class RefittedForest(Refitted):
    """ExtraTreesClassifier, 100 trees of leaves with 2 rows or more, balanced in every sample."""

    def fitted(self, X: Floats, positive: npt.NDArray[np.bool_]) -> Any:
        """A new forest."""
        model = ExtraTreesClassifier(
            100, min_samples_leaf=2, class_weight="balanced_subsample", n_jobs=1, random_state=self.random_state
        )
        return model.fit(X, positive)
