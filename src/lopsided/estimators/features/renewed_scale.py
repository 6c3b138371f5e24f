"""The scale of features: measured on the first rows, looked at when the stream has doubled, renewed if it was left."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.features.fourier_ranker import (
    CENTRE,
    FIXED,
    KEPT,
    SEEN,
    SINCE,
    SOLVED,
    SPREAD,
    RankerScratch,
    encode_rows,
    set_origin,
)
from lopsided.core.features.renewal import (
    HELD,
    LIMITED_SQUARES,
    LIMITED_SUM,
    LOOK_DUE,
    LOOKED,
    SQUARES,
    SUM,
    Renewal,
    empty_renewal,
)
from lopsided.core.geometry.points import Rows
from lopsided.core.measures.experts import CHANCE
from lopsided.core.sampling.priority import KEPT as IN_SAMPLE
from lopsided.core.sampling.priority import clear_sample
from lopsided.estimators.base import validation
from lopsided.estimators.base.blas import one_blas_thread
from lopsided.estimators.features.adding_up import AddsUp
from lopsided.estimators.state.arrays import in_range, refilled
from lopsided.estimators.state.samples import check_sample, counts_of

_NEGATIVES, _POSITIVES = 2048, 512  # rows kept; of wide ones as many as these numbers allow:
_MOST_VALUES = 1 << 18
_FEWEST = 128  # negatives, without which there is nothing to begin anew from
_OTHER_SCALE = 1.5  # a feature has left its scale if its deviation has changed by this factor,
_OTHER_CENTRE = 0.5  # or its mean by so many deviations
_ROUNDING = 1e-7  # a deviation that is smaller, beside how far the mean has moved, is none


def room_for_renewal(n_features: int) -> Renewal:
    """Room for as many rows as a model of so many features keeps."""
    negatives = min(_NEGATIVES, _MOST_VALUES // n_features)
    if negatives < _FEWEST:
        negatives = 0
    return empty_renewal(min(_POSITIVES, negatives // 4), negatives, n_features)


class RenewsScale(AddsUp):
    """A ranker that measures its features anew when they have left the scale that it gave them."""

    _work: RankerScratch
    _ridges: tuple[float, ...]
    _matrix: Floats

    def _solve_all(self) -> None:
        """Bring the moments and then the weights up to date."""
        raise NotImplementedError

    def _encode_first_rows(self) -> None:
        """All moments anew from the first rows, by the means and deviations that these have now."""
        state, n = self._state, int(self._state.tally[KEPT])
        rows = state.first_rows[:n]
        with np.errstate(over="ignore", invalid="ignore"):  # enormous features have no scale, and count for nothing
            state.scale[CENTRE], deviations = rows.mean(axis=0), rows.std(axis=0)
        state.scale[SPREAD] = np.where(deviations > 0.0, deviations, 1.0)
        if not np.isfinite(state.scale).all():
            state.scale[CENTRE] = np.nan_to_num(state.scale[CENTRE], posinf=0.0, neginf=0.0)
            state.scale[SPREAD] = np.nan_to_num(state.scale[SPREAD], nan=1e308, posinf=1e308)
        set_origin(state)
        encoded = self._encoded(rows)
        for memory in self._moments_by_fade:
            memory.clear()
            memory.add_block(encoded, state.first_signs[:n], state.first_weights[:n])
        if n == state.first_signs.size:
            state.tally[FIXED], state.tally[KEPT] = 1, 0
            for array in (state.first_rows, state.first_signs, state.first_weights):
                array[:] = 0.0
            self._renewal.tally[LOOKED] = state.tally[SEEN]

    def _encoded(self, rows: Floats) -> Floats:
        """z of rows."""
        encoded = np.empty((len(rows), self._state.weights.shape[1]))
        encode_rows(self._state, self._plan.linear, validation.as_rows(rows), self._work, encoded)
        return encoded

    def _own_parts(self, numbers: Integers, rows: Rows, signs: Floats) -> Floats | float:
        """How much rows owe to being in the moments, as those that came before the last solution are."""
        if not self._state.tally[SOLVED]:
            return 0.0
        encoded, parts = self._encoded(validation.dense_rows(rows, self.n_features_in_)), np.zeros(signs.size)
        ages = self.n_seen_ - numbers
        with one_blas_thread:
            for m, memory in enumerate(self._moments_by_fade):
                masses = np.asarray(memory.fade**ages, dtype=np.float64)
                for r, ridge in enumerate(self._ridges):
                    chance = self._experts.standing[CHANCE, m * len(self._ridges) + r]
                    parts += chance * memory.own_parts(encoded, signs, masses, ridge, self._matrix)
        return np.where(ages >= self._state.tally[SINCE], parts, 0.0)

    def _look_at_scale(self) -> None:
        """Measure features anew if some have left the scale that they were given."""
        renewal, scale, seen = self._renewal, self._state.scale, self._state.tally[SEEN]
        means = renewal.spread / float(seen - renewal.tally[LOOKED])
        renewal.spread[:] = 0.0
        renewal.tally[[LOOKED, LOOK_DUE]] = seen, 0
        shift, limited_shift = means[SUM], means[LIMITED_SUM]
        deviations = np.sqrt(np.maximum(means[SQUARES] - shift**2, 0.0))
        ratio = np.sqrt(np.maximum(means[LIMITED_SQUARES] - limited_shift**2, 0.0))
        left = (ratio > _OTHER_SCALE) | (ratio < 1.0 / _OTHER_SCALE) | (np.abs(limited_shift) > _OTHER_CENTRE)
        left &= deviations > _ROUNDING * np.abs(shift)
        if left.any():
            scale[CENTRE, left] += shift[left]
            scale[SPREAD, left] = deviations[left]
            set_origin(self._state)
            self._remember_anew()

    def _remember_anew(self) -> None:
        """The sums on the present scale, from the rows that were kept; each class weighs what it weighed."""
        self._add_block()
        samples = self._renewal.positives, self._renewal.negatives
        kept = [int(sample.tally[IN_SAMPLE]) for sample in samples]
        encoded = self._encoded(np.concatenate([sample.rows[:n] for sample, n in zip(samples, kept, strict=True)]))
        signs, weights = np.repeat([1.0, -1.0], kept), np.concatenate([counts_of(sample) for sample in samples])
        numbers = np.concatenate([sample.numbers[:n] for sample, n in zip(samples, kept, strict=True)])
        ages = self._state.tally[SEEN] - 1.0 - numbers
        for memory in self._moments_by_fade:
            memory.replace(encoded, signs, weights * (memory.fade / self._plan.fade) ** ages)
        self._solve_all()

    @property
    def _may_change_scale(self) -> bool:
        return bool(self._renewal.negatives.heap.size and not self._renewal.tally[HELD])

    def _change_scale(self, scale: Floats) -> None:
        self._state.scale[:] = scale
        set_origin(self._state)
        self._remember_anew()

    def _hold_scale(self) -> None:
        renewal = self._renewal
        for array in (renewal.positives.rows, renewal.negatives.rows, renewal.spread, renewal.tally):
            array[:] = 0
        clear_sample(renewal.positives)
        clear_sample(renewal.negatives)
        renewal.tally[HELD] = 1

    def _restore_renewal(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        if not any(name.startswith("renewal.") for name in arrays):  # a file of a version that held its scale
            self._hold_scale()
            return
        renewal = refilled(arrays, "renewal", self._renewal)
        in_range("renewal.tally", renewal.tally[LOOKED], 0, 2**62)
        in_range("renewal.tally", renewal.tally[[LOOK_DUE, HELD]], 0, 1)
        check_sample("renewal.positives", renewal.positives)
        check_sample("renewal.negatives", renewal.negatives)
        self._renewal = renewal
