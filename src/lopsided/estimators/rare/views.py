"""What there is to see of the learners for rare events: trees, the sample, rankers, and who counts how much."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.features.fourier_ranker import CENTRE, CLIP, SPREAD
from lopsided.core.measures.drift_gate import share_of_short
from lopsided.core.measures.log_odds import EIGHT, LEVEL, SLOPE
from lopsided.core.rare.step import (
    BLENDS,
    FIRST_LEANING,
    LARGEST_OF_LINEAR,
    LARGEST_SCORE,
    LINEAR,
    RANKER,
    RESTARTS,
    SHORT,
    SHORT_SOLVED,
    SQUEEZE,
    SURE,
    TREES,
)
from lopsided.core.sampling.priority import KEPT
from lopsided.core.trees.forest import Forest
from lopsided.core.trees.sampled_forest import SampledForest
from lopsided.estimators.base.compiled_learner import CompiledLearner
from lopsided.estimators.rare.booster import FIRST_FIT
from lopsided.estimators.rare.two_memories import LONG_RIDGES, SHORT_RIDGES, TwoMemories
from lopsided.estimators.state.samples import counts_of

_IN_ORDER = ("ranker", "trees", "linear", "short")  # RANKER, TREES, LINEAR, SHORT
_LATEST = 200  # positives that are remembered as they came


class SampleViews(CompiledLearner):
    """What there is to see of trees and of the sample that they are fitted to."""

    _pairs_to_compile = FIRST_FIT // 2

    def _sampled_forest(self) -> SampledForest:
        raise NotImplementedError

    @property
    def n_trees_(self) -> int:
        """How many trees answer: none before the first fit."""
        self._check_started()
        return int(self._sampled_forest().forest.size[0])

    @property
    def forest_(self) -> Forest:
        """The trees that answer, a row each; `levels` holds where the sum of their leaves starts (copies)."""
        with self._alone:
            self._check_started()
            forest, n = self._sampled_forest().forest, self.n_trees_
            return Forest(
                forest.features[:n].copy(),
                forest.thresholds[:n].copy(),
                forest.left[:n].copy(),
                forest.values[:n].copy(),
                forest.levels.copy(),
                forest.size.copy(),
            )

    @property
    def sampled_rows_(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Which rows of the stream the sample holds, positives and negatives, counted from 0 (copies)."""
        self._check_started()
        positives, negatives = self._sampled_forest()[:2]
        return (
            np.sort(positives.numbers[: positives.tally[KEPT]]),
            np.sort(negatives.numbers[: negatives.tally[KEPT]]),
        )

    @property
    def scale_(self) -> Floats:
        """The mean and the deviation of each feature, (2, n_features), of values that are known, from the sample."""
        with self._alone:
            self._check_started()
            samples = self._sampled_forest()[:2]
            rows = np.concatenate([sample.rows[: sample.tally[KEPT]] for sample in samples])
            counts = np.concatenate([counts_of(sample) for sample in samples])[:, None]
        known = ~np.isnan(rows)
        totals = np.maximum((counts * known).sum(axis=0), 1e-300)
        centre = (counts * np.where(known, rows, 0.0)).sum(axis=0) / totals
        deviations = np.sqrt((counts * np.where(known, rows - centre, 0.0) ** 2).sum(axis=0) / totals)
        return np.stack([centre, np.where(deviations > 0.0, deviations, 1.0)])

    @property
    def typical_row_(self) -> Floats:
        """The row that others are explained against: the means of the features, of values that are known (a copy)."""
        return self.scale_[0]

    @property
    def latest_positives_(self) -> tuple[Floats, npt.NDArray[np.int64]]:
        """The latest positives of the sample, 200 at the most, and which rows they are, counted from 0 (copies)."""
        with self._alone:
            self._check_started()
            slots = self._latest()
            positives = self._sampled_forest().positives
            return positives.rows[slots].copy(), positives.numbers[slots].copy()

    def _latest(self) -> npt.NDArray[np.int64]:
        positives = self._sampled_forest().positives
        numbers = positives.numbers[: positives.tally[KEPT]]
        if numbers.size > _LATEST:
            return np.argpartition(-numbers, _LATEST)[:_LATEST]
        return np.arange(numbers.size)

    def _kept_numbers(self) -> npt.NDArray[np.int64] | None:
        # Not the whole sample: thousands of rows as they came would be a second one.
        return self._sampled_forest().positives.numbers[self._latest()] + 1

    def similarities(self, row: Floats, rows: Floats) -> Floats:
        """How alike rows are to one, of shape (1, n_features): exp(-mean squared difference in deviations).

        What is missing counts as the mean.
        """
        centre, spread = self.scale_
        here, there = (np.clip(np.nan_to_num((own - centre) / spread), -CLIP, CLIP) for own in (row, rows))
        return np.asarray(np.exp(-((here - there) ** 2).mean(axis=1)))

    @property
    def anatomy_(self) -> dict[str, Any]:
        """What the model is made of, in plain values: rows of the sample by class, trees, and who counts how much."""
        positives, negatives = self.sampled_rows_
        sampled = {"sampled_positives": positives.size, "sampled_negatives": negatives.size}
        return {**sampled, "trees": self.n_trees_}


class RareViews(TwoMemories, SampleViews):
    """What there is to see of RareEventClassifier: the score is a formula of what is here."""

    def _sampled_forest(self) -> SampledForest:
        return self._state.trees

    @property
    def trees_share_(self) -> float:
        """How much the trees count in the blend, where they are not sure of a positive."""
        self._check_started()
        return float(self._state.blend.shares @ np.array(BLENDS)[:, TREES])

    @property
    def linear_share_(self) -> float:
        """How much the linear part counts in the blend."""
        self._check_started()
        return float(self._state.blend.shares @ np.array(BLENDS)[:, LINEAR])

    @property
    def short_share_(self) -> float:
        """How much the short memory counts in the answer; next to nothing while others rank as well."""
        self._check_started()
        return float(self._shares()[SHORT])

    @property
    def leaning_share_(self) -> float:
        """How much those blends count in the answer that lean to the trees where these are sure of a positive."""
        self._check_started()
        return float(self._share_of_blends() * self._state.blend.shares[FIRST_LEANING:].sum())

    @property
    def shares_of_parts_(self) -> dict[str, float]:
        """How much each part counts in the answer, as log-odds, where trees are not sure; they sum to 1."""
        self._check_started()
        return dict(zip(_IN_ORDER, self._shares().tolist(), strict=True))

    def _share_of_blends(self) -> float:
        """What is left of the answer for blends: all but what the short memory answers instead of them."""
        return 1.0 - float(share_of_short(self._state.gate)) if self._plan.forgets else 1.0

    def _shares(self) -> Floats:
        """How much each part counts in the answer, where no blend leans."""
        of_blends = self._share_of_blends()
        shares = of_blends * (self._state.blend.shares @ np.array(BLENDS))
        shares[SHORT] += 1.0 - of_blends
        return np.asarray(shares)

    @property
    def part_weights_(self) -> dict[str, float]:
        """By what each of `part_scores` is multiplied in the score, and what is added to them, as "constant".

        Where blends lean, what `leaning_weights_` says comes on top of it, times "lean".
        """
        self._check_started()
        return self._as_weights(self._shares())

    @property
    def leaning_weights_(self) -> dict[str, float]:
        """What is added to each of `part_weights_` in the score of a row, times its "lean" in `part_scores`."""
        self._check_started()
        leaning = self._state.blend.shares[FIRST_LEANING:]
        moved = -leaning @ np.array(BLENDS)[FIRST_LEANING:]
        moved[TREES] += leaning.sum()
        return self._as_weights(self._share_of_blends() * moved)

    def _as_weights(self, shares: Floats) -> dict[str, float]:
        """Shares of the parts as log-odds, by eight, as what the parts themselves are multiplied by."""
        lines = self._state.lines.lines.copy()
        if not self._state.tally[SHORT_SOLVED]:
            lines[SHORT] = lines[RANKER]
        weights = shares[:, None] * lines / EIGHT
        by_part = dict(zip(_IN_ORDER, weights[:, SLOPE].tolist(), strict=True))
        return by_part | {"constant": float(weights[:, LEVEL].sum())}

    @property
    def log_odds_lines_(self) -> dict[str, tuple[float, float]]:
        """For each part the slope and the level by which its score in `part_scores` becomes log-odds.

        They are less those of the stream. "lean" is 1 / (1 + exp(`sure_from_` - those of the trees)), 0 without trees.
        """
        self._check_started()
        slopes, levels = self._state.lines.lines.T.tolist()
        return dict(zip(_IN_ORDER, zip(slopes, levels, strict=True), strict=True))

    @property
    def sure_from_(self) -> float:
        """Log-odds of the trees from which on more than half of a leaning blend is theirs."""
        return SURE

    @property
    def linear_weights_(self) -> Floats:
        """The weights of the linear part: one for each feature by `linear_scale_`, and its constant last (a copy)."""
        self._check_started()
        return self._state.linear.weights.copy()

    @property
    def linear_scale_(self) -> Floats:
        """The mean and the deviation by which the linear part standardises each feature, (2, n_features)."""
        self._check_started()
        known, mean, squares = self._state.linear.scale
        deviations = np.sqrt(squares / np.maximum(known, 1.0))
        return np.stack([mean, np.where(deviations > 0.0, deviations, 1.0)])

    @property
    def ridge_shares_(self) -> Floats:
        """How much each row of `coef_` counts, (2, n_rows): in f first, in f_s second (a copy).

        f_s is f while there is no short memory.
        """
        self._check_started()
        state, n_long = self._state, self._plan.n_long
        shares = np.zeros((2, state.ranker.offsets.size))
        shares[:, :n_long] = state.long.shares
        if state.tally[SHORT_SOLVED]:
            shares[1, :n_long], shares[1, n_long:] = 0.0, state.short.shares
        return shares

    @property
    def coef_(self) -> Floats:
        """The weights of all cosines, all sines, and the standardised features, a row for each ridge (a copy).

        Those of the long memory come first, then those of the short one; `ridge_shares_` says what each counts.
        """
        self._check_started()
        return self._state.ranker.weights.copy()

    @property
    def linear_coef_(self) -> Floats:
        """What each row of `coef_` counts for each standardised feature; 0 without such a part (a copy)."""
        weights = self.coef_[:, 2 * self._state.ranker.directions.shape[1] :]
        return self._plan.linear * weights if weights.size else np.zeros((len(weights), self.n_features_in_))

    @property
    def intercept_(self) -> Floats:
        """What is added to each row of `coef_` times z, minus the middle between the classes (a copy)."""
        self._check_started()
        return -self._state.ranker.offsets

    @property
    def directions_(self) -> Floats:
        """The directions of the cosines and sines, a column each (a copy)."""
        self._check_started()
        return self._state.ranker.directions.copy()

    @property
    def scale_(self) -> Floats:
        """The mean and the deviation by which the ranker standardises each feature, (2, n_features) (a copy)."""
        self._check_started()
        return self._state.ranker.scale[[CENTRE, SPREAD]].copy()

    @property
    def farthest_(self) -> float:
        """How many deviations from its mean a feature counts at most in the ranker."""
        return CLIP

    @property
    def largest_score_(self) -> float:
        """What the score for one ridge is at most in size."""
        return LARGEST_SCORE

    @property
    def largest_linear_score_(self) -> float:
        """What the score of the linear part, by eight, is at most in size."""
        return LARGEST_OF_LINEAR

    @property
    def squeeze_(self) -> float:
        """8: the trees count as tanh(g / 8)."""
        return SQUEEZE

    @property
    def n_restarts_(self) -> int:
        """How often the short memory has taken the place of the long one."""
        self._check_started()
        return int(self._state.tally[RESTARTS])

    @property
    def anatomy_(self) -> dict[str, Any]:
        """What the model is made of, in plain values: rows of the sample by class, trees, and who counts how much."""
        long, short = self.ridge_shares_
        n_long = self._plan.n_long
        shares = {f"{ridge:g}": float(share) for ridge, share in zip(LONG_RIDGES, long, strict=False)}
        of_short = short[n_long:] if self._state.tally[SHORT_SOLVED] else ()
        return super().anatomy_ | {
            "trees_share": self.trees_share_,
            "linear_share": self.linear_share_,
            "leaning_share": self.leaning_share_,
            "short_share": self.short_share_,
            "restarts": self.n_restarts_,
            "ridges": shares,
            "short_ridges": {f"{r:g}": float(share) for r, share in zip(SHORT_RIDGES, of_short, strict=False)},
        }
