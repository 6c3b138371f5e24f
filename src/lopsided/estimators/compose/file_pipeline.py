"""What pipelines for files have in common, which may go without a scaler; and the one for sparse files."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.constraints import ParameterError
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.geometry.points import Rows
from lopsided.estimators.compose.pipeline import StreamPipeline
from lopsided.estimators.compose.scaler import OnlineScaler

NO_SCALER = "none"


class FilePipeline(StreamPipeline):
    """A pipeline that may go without its scaler, because a command line must be able to say so."""

    _scales: bool  # whether the model does, whatever became of the parameter since it began

    @property
    def _is_to_scale(self) -> bool:
        return not isinstance(self.scaler, str)

    def _given_scaler(self) -> OnlineScaler:
        return super()._given_scaler() if self._is_to_scale else OnlineScaler()

    def _start(self, n_features: int) -> None:
        super()._start(n_features)
        self._scales = self._is_to_scale

    def _check_parameters(self) -> None:
        if not self._is_to_scale and self.scaler != NO_SCALER:
            raise ParameterError(
                f"The 'scaler' parameter of {type(self).__name__} must be an OnlineScaler or 'none'. "
                f"Got {self.scaler!r} instead."
            )
        super()._check_parameters()

    def _prepared(self, rows: Rows, turns: Floats | None) -> Rows:
        return super()._prepared(rows, turns) if self._scales else rows

    def _pass_one_on(self, *, learn: bool) -> None:
        if self._scales:
            super()._pass_one_on(learn=learn)
        else:
            self.learner_._one_x[:] = self._one_x

    @property
    def scale_kind(self) -> str:
        """How numbers are scaled: "standard", "minmax" or "none"."""
        is_scaled = self._scales if self._started else self._is_to_scale
        return super().scale_kind if is_scaled else NO_SCALER

    @property
    def typical_row_(self) -> Floats:
        """The row that others are explained against: every feature at its mean, where that is known."""
        self._check_started()
        return super().typical_row_ if self._scales else self.learner_.typical_row_

    def _unscaled(self, rows: Floats) -> Floats:
        return super()._unscaled(rows) if self._scales else rows.copy()

    def _affine(self) -> tuple[Floats, Floats]:
        n_features = self.n_features_in_
        return super()._affine() if self._scales else (np.zeros(n_features), np.ones(n_features))


class SparsePipeline(FilePipeline):
    """Sparse rows with numbered features, as LIBSVM files have them: what `lopsided learn` saves for such files.

    Parameters
    ----------
    first_index : 0 or 1, default=1
        The number of the first feature in the files.
    scaler : OnlineScaler or "none", default="none"
        Scales every row; it must keep zeros (center=False). "none" leaves values as they are.
    learner : learner or None, default=None
        Any learner of this package. None is KOIL(). Its threshold, pos_label, shuffle and random_state hold for the
        pipeline.
    """

    def __init__(self, first_index: int = 1, scaler: Any = NO_SCALER, learner: Any = None) -> None:
        self.first_index = first_index
        self.scaler = scaler
        self.learner = learner

    def _check_parameters(self) -> None:
        if self.first_index not in (0, 1):
            raise ParameterError(
                f"The 'first_index' parameter of SparsePipeline must be 0 or 1. Got {self.first_index!r} instead."
            )
        super()._check_parameters()

    def _check_features(self, X: Any) -> None:
        if self._is_to_scale:
            super()._check_features(X)

    def _unscaled(self, rows: Floats) -> Floats:
        return np.where(rows != 0.0, super()._unscaled(rows), 0.0)  # what is 0 has been 0, whatever its scale

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._is_to_scale or tags.input_tags.sparse
        return tags
