"""The ranker of RareEventClassifier beside the compiled loop: sums, solutions, the scale of features, restarts."""

from __future__ import annotations

import numpy as np

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.features.fourier_ranker import (
    CENTRE,
    DUE,
    FIXED,
    KEPT,
    SEEN,
    SINCE,
    SOLVED,
    SPREAD,
    WAITING,
    encode_rows,
    set_origin,
)
from lopsided.core.measures.drift_gate import close_case, forget_young, young_fitted
from lopsided.core.measures.mixture import forget_all
from lopsided.core.rare.step import (
    FIT_YOUNG,
    FOCUS,
    KNOWN,
    LINEAR_ALONE,
    LOOKED,
    RANKER,
    RESTART_DUE,
    RESTARTS,
    SCALE_DUE,
    SHORT,
    SHORT_DUE,
    SHORT_SOLVED,
    SINCE_SHORT,
    SPARSE_ROWS,
    SQUARES,
    SUM,
    YOUNG_DUE,
    YOUTH,
    RarePlan,
    RareScratch,
    RareState,
    fade_of,
)
from lopsided.core.sampling.priority import Sample, adopt
from lopsided.core.trees.forest import clear_forest
from lopsided.core.trees.sampled_forest import SampledForest
from lopsided.estimators.base import validation
from lopsided.estimators.base.compiled_learner import CompiledLearner
from lopsided.estimators.rare.booster import Booster
from lopsided.estimators.rare.memories import LongMemory, Memory, ShortMemory, Singles
from lopsided.estimators.state.samples import counts_of

LONG_RIDGES, SHORT_RIDGES = (0.1, 0.01, 0.001, 0.0001), (0.1, 0.01)
YOUNG_TREES = 50
# What the linear part alone counts among the blends before anything is known. A restart leaves it as it is: what it
# counted then, times this, is added to what it counts afterwards.
PRIOR_OF_LINEAR, CARRIED_OVER = 0.1, 20.0
_VISITS_OF_YOUNG = 60_000_000  # of a row to a feature's sums; a pause of about 200 ms
_RIDGE_OF_FOCUS = 0.01
_SHORT_BEGINS = 1000  # rows; before, the short memory has forgotten next to nothing
_ROWS_ANEW = 4096  # of a class, from which the sums are made again after the scale has changed
_OTHER_SCALE = 1.5  # a feature has left the scale it was given if its deviation has changed by this factor,
_OTHER_CENTRE = 0.5  # or its mean by so many deviations


class TwoMemories(CompiledLearner):
    """A ranker that keeps everything, one that fades, and when the second takes the place of the first."""

    _state: RareState
    _plan: RarePlan
    _work: RareScratch
    _long: LongMemory
    _short: ShortMemory
    _booster: Booster
    _young_booster: Booster
    _matrix: Floats

    # ---------------------------------------------------------------- sums and solutions

    def _add_block(self) -> None:
        """The rows that wait in the block, into the sums."""
        ranker = self._state.ranker
        n = int(ranker.tally[WAITING])
        if n:
            Z = ranker.block[:n].astype(np.float32)
            self._add(Z, ranker.block_signs[:n], ranker.block_weights[:n], self._state.short_weights[:n])
            ranker.tally[WAITING] = 0

    def _add(self, Z: Singles, signs: Floats, long: Floats, short: Floats) -> None:
        self._long.add(Z, signs, long)
        if self._plan.forgets:
            self._short.add_block(Z, signs, short, fade_of(self._state.ranker.tally))

    def _solve(self) -> None:
        """Bring the sums and then the weights of every ridge up to date."""
        ranker = self._state.ranker
        if ranker.tally[FIXED]:
            self._add_block()
        else:
            self._encode_first_rows()
        ranker.tally[SOLVED] += self._take_solutions(self._long, LONG_RIDGES, 0)
        ranker.tally[SINCE] = ranker.tally[DUE] = 0
        if self._plan.forgets and ranker.tally[SEEN] >= _SHORT_BEGINS:
            self._solve_short()

    def _solve_short(self) -> None:
        """The same for the short memory, which changes sooner."""
        tally = self._state.tally
        self._add_block()
        tally[SHORT_SOLVED] |= self._take_solutions(self._short, SHORT_RIDGES, self._plan.n_long)
        tally[SHORT_DUE] = tally[SINCE_SHORT] = 0

    def _take_solutions(self, memory: Memory, ridges: tuple[float, ...], first: int) -> bool:
        ranker, found = self._state.ranker, False
        for place, solution in enumerate(memory.solutions(ridges, self._matrix), first):
            if solution is not None:
                ranker.weights[place], ranker.offsets[place] = solution
                found = True
        return found

    # ---------------------------------------------------------------- the scale of the features

    def _encode_first_rows(self) -> None:
        """All sums anew from the first rows, by the means and deviations that these have now."""
        state, ranker = self._state, self._state.ranker
        n = int(ranker.tally[KEPT])
        rows = ranker.first_rows[:n]
        known = ~np.isnan(rows)
        counts = np.maximum(known.sum(axis=0), 1)
        with np.errstate(over="ignore", invalid="ignore"):  # enormous features have no scale, and count for nothing
            centre = np.where(known, rows, 0.0).sum(axis=0) / counts
            variance = (np.where(known, rows - centre, 0.0) ** 2).sum(axis=0) / counts
        self._set_scale(centre, np.sqrt(variance))
        self._long.clear()
        self._short.clear()
        weights = ranker.first_weights[:n], state.first_short_weights[:n]
        self._add(self._encoded(rows), ranker.first_signs[:n], *weights)
        if n == ranker.first_signs.size:
            ranker.tally[FIXED], ranker.tally[KEPT], state.tally[LOOKED] = 1, 0, ranker.tally[SEEN]
            self._forget_spread()

    def _set_scale(self, centre: Floats, deviations: Floats) -> None:
        scale = self._state.ranker.scale
        usable = np.isfinite(centre) & np.isfinite(deviations)
        scale[CENTRE] = np.where(usable, centre, 0.0)
        scale[SPREAD] = np.where(usable & (deviations > 0.0), deviations, 1.0)
        set_origin(self._state.ranker)

    def _encoded(self, rows: Floats) -> Singles:
        """z of rows, in single precision."""
        encoded = np.empty((len(rows), self._state.ranker.weights.shape[1]))
        encode_rows(self._state.ranker, self._plan.linear, validation.as_rows(rows), self._work.ranker, encoded)
        return encoded.astype(np.float32)

    def _look_at_scale(self) -> None:
        """Measure features anew if some have left the scale that they were given."""
        state, scale = self._state, self._state.ranker.scale
        centre, sparse_rows = scale[CENTRE], float(state.tally[SPARSE_ROWS])
        known = np.maximum(state.spread[KNOWN] + sparse_rows, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            shift = (state.spread[SUM] - sparse_rows * centre) / known
            variance = (state.spread[SQUARES] + sparse_rows * centre**2) / known - shift**2
            deviations = np.sqrt(np.maximum(variance, 0.0))
        varies = (deviations > 0.0) & np.isfinite(deviations) & np.isfinite(shift)
        ratio = np.where(varies, deviations / scale[SPREAD], 1.0)
        left = (ratio > _OTHER_SCALE) | (ratio < 1.0 / _OTHER_SCALE)
        left |= varies & (np.abs(shift) > _OTHER_CENTRE * scale[SPREAD])
        state.tally[LOOKED], state.tally[SCALE_DUE] = state.ranker.tally[SEEN], 0
        self._forget_spread()
        if left.any() and self._work.x.size:  # without a sample there is nothing to begin anew from
            self._set_scale(np.where(left, centre + shift, centre), np.where(left, deviations, scale[SPREAD]))
            self._remember_anew()

    def _forget_spread(self) -> None:
        self._state.spread[:] = 0.0
        self._state.tally[SPARSE_ROWS] = 0

    def _remember_anew(self) -> None:
        """The sums of both memories from the samples, after the scale has changed."""
        state = self._state
        state.ranker.tally[WAITING] = 0  # the samples have those rows too
        self._remember(self._long, state.trees.positives, state.trees.negatives)
        if self._plan.forgets:
            self._remember(self._short, state.recent_positives, state.recent_negatives)
        self._solve()

    def _remember(self, memory: Memory, *samples: Sample) -> None:
        """The sums over a sample: once as it is, for a first solution, then by how much negatives look positive."""
        thinned = [_thinned(sample) for sample in samples]
        encoded = self._encoded(np.concatenate([rows for rows, _ in thinned]))
        signs = np.repeat([1.0, -1.0], [counts.size for _, counts in thinned])
        weights = np.concatenate([counts for _, counts in thinned])
        memory.clear()
        memory.add(encoded, signs, weights)
        solution = memory.solutions((_RIDGE_OF_FOCUS,), self._matrix)[0]
        if solution is not None:
            scores = encoded @ solution[0] - solution[1]
            focus = 2.0 / (1.0 + np.exp(-FOCUS * (scores + 0.5)))
            memory.clear()
            memory.add(encoded, signs, np.where(signs > 0.0, weights, weights * focus))

    # ---------------------------------------------------------------- drift

    def _restart(self) -> None:
        """The short memory becomes the long one; what was achieved before counts no more."""
        state, tally = self._state, self._state.tally
        if state.ranker.tally[FIXED]:
            self._add_block()
        self._long.become(self._short)
        forget_all(state.long)
        state.blend.prior[LINEAR_ALONE] = PRIOR_OF_LINEAR + CARRIED_OVER * state.blend.shares[LINEAR_ALONE]
        forget_all(state.blend)
        close_case(state.gate)
        for array in state.lines:
            array[RANKER] = array[SHORT]
        tally[RESTART_DUE] = 0
        tally[RESTARTS] += 1
        tally[YOUTH] = min(int(tally[YOUTH]), int(1.0 / (1.0 - fade_of(state.ranker.tally))))
        if self._work.x.size:
            trees = state.trees
            for kept, recent in (
                (trees.positives, state.recent_positives),
                (trees.negatives, state.recent_negatives),
            ):
                adopt(kept, recent, self._uniforms.reserve(recent.heap.size))
            self._booster.fit_now(trees, int(tally[YOUTH]))
            self._give_up_young()
        self._solve()

    def _renew_young(self) -> None:
        """Fit young trees to the latest rows, or do without them again."""
        state = self._state
        if state.tally[YOUNG_DUE] == FIT_YOUNG:
            latest = SampledForest(state.recent_positives, state.recent_negatives, state.young)
            self._young_booster.fit_now(latest, 0, _VISITS_OF_YOUNG)
            young_fitted(state.gate)
            state.tally[YOUNG_DUE] = 0
        else:
            self._give_up_young()

    def _give_up_young(self) -> None:
        clear_forest(self._state.young, 0.0)
        forget_young(self._state.gate)
        self._state.tally[YOUNG_DUE] = 0


def _thinned(sample: Sample) -> tuple[Floats, Floats]:
    """Some rows of a sample, and how many rows of the stream each stands for."""
    counts = counts_of(sample)
    step = max(1, -(-counts.size // _ROWS_ANEW))
    return sample.rows[: counts.size : step], counts[::step] * step
