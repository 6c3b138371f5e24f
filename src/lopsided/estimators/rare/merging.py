"""Learners for rare events that add up: several of them learn parts of a stream, and one takes in the others."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from lopsided.core.features.fourier_ranker import DRAWN, FIXED, POSITIVES, SEEN
from lopsided.core.measures.drift_gate import empty_gate
from lopsided.core.measures.log_odds import add_lines, forget_lines
from lopsided.core.measures.mixture import COUNTED, Mixture, MixturePlan, forget_all, set_shares
from lopsided.core.rare.linear_part import add_linear
from lopsided.core.rare.step import LOOKED, SPARSE_ROWS, YOUTH
from lopsided.core.sampling.priority import SEEN as OFFERED
from lopsided.core.sampling.priority import Sample, clear_sample
from lopsided.estimators.base.blas import one_blas_thread
from lopsided.estimators.base.randomness import UniformStream
from lopsided.estimators.base.recent_rows import RecentRows
from lopsided.estimators.base.score_memory import ScoreMemory
from lopsided.estimators.features.adding_up import add_what_was_seen
from lopsided.estimators.rare.memories import LongMemory, ShortMemory
from lopsided.estimators.rare.sample_union import merge_samples
from lopsided.estimators.rare.views import RareViews, SampleViews

_SEEDS = 4  # uniforms that a sibling's generator is seeded by
_OF_ANOTHER = -1  # the number of a row that another model has learned


class AddsSamples(SampleViews):
    """A learner whose sample can take in that of another."""

    def sibling(self) -> Self:
        """An empty model that learns another part of the stream, for `absorb`; it draws other uniforms than this one.

        Drawing their seed moves this model's own stream of uniforms on, so that two siblings differ.
        """
        with self._alone:
            self._check_may_add("sibling")
            draws = self._uniforms.reserve(_SEEDS)
            place = int(draws.position[0])
            seed = (draws.uniforms[place : place + _SEEDS] * 2.0**32).astype(np.int64).tolist()
            draws.position[0] += _SEEDS
            other = copy.deepcopy(self)
        other._uniforms = UniformStream(np.random.default_rng(seed))
        other._memory = ScoreMemory()
        other._recent = RecentRows(other.n_features_in_, is_on=self._recent.is_on)
        other._rate_cut = None
        other._forget_everything()
        other._unbind()
        return other

    def absorb(self, other: Any) -> Self:
        """Take in what another model has learned from another part of the stream; the other one stays as it is.

        The samples become one of both parts: rows with the largest priorities stay, and count for those that do not.
        The trees are fitted to it at once. In `sampled_rows_` the rows of the other have the number -1.
        """
        if type(other) is not type(self):
            raise ValueError(
                f"The 'other' parameter of absorb must be a {type(self).__name__}. Got {type(other).__name__}."
            )
        other = copy.deepcopy(other)  # before this one's lock is taken: two models may absorb each other
        with self._alone:
            self._check_may_add("absorb")
            other._check_started()
            mine, theirs = self._what_must_agree(), other._what_must_agree()
            for name in mine:
                if not np.array_equal(mine[name], theirs[name]):
                    raise ValueError(
                        f"The models of {type(self).__name__}.absorb must have the same {name}. "
                        f"Got {mine[name]} and {theirs[name]}."
                    )
            if other.n_seen_:
                self._take_in(other)
                add_what_was_seen(self, other)
        return self

    def _check_may_add(self, method: str) -> None:
        """Refuse what cannot be done yet."""
        self._check_started()

    def _what_must_agree(self) -> dict[str, Any]:
        return {
            "number of features": self.n_features_in_,
            "labels": self.classes_.tolist(),
            "positive label": self.classes_[self._labels.positive_index],
        }

    def _forget_everything(self) -> None:
        raise NotImplementedError

    def _take_in(self, other: Any) -> None:
        raise NotImplementedError

    def _merge_trees(self, other: Any) -> None:
        trees, theirs = self._sampled_forest(), other._sampled_forest()
        merge_samples(trees.positives, theirs.positives, _OF_ANOTHER)
        merge_samples(trees.negatives, theirs.negatives, _OF_ANOTHER)


class AddsRareEvents(RareViews, AddsSamples):
    """RareEventClassifier as one that adds up: its memories are sums, and its samples can be merged."""

    def _check_may_add(self, method: str) -> None:
        super()._check_may_add(method)
        tally, needed = self._state.ranker.tally, self._state.ranker.first_signs.size
        if not tally[FIXED]:
            raise ValueError(
                f"A model of RareEventClassifier.{method} must have seen at least {needed} rows, which fix the scale "
                f"of its features. Got {int(tally[SEEN])}."
            )

    def _what_must_agree(self) -> dict[str, Any]:
        return super()._what_must_agree() | {"forget": self._plan.forgets}

    def _forget_everything(self) -> None:
        state = self._state
        self._long.clear()
        self._short.clear()
        for mixture in (state.long, state.short, state.blend):
            forget_all(mixture)
        for array, empty in zip(state.gate, empty_gate(), strict=True):
            array[:] = empty
        empty_samples(state.trees.positives, state.trees.negatives, state.recent_positives, state.recent_negatives)
        ranker = state.ranker
        for array in (ranker.weights, ranker.offsets, ranker.tally, state.tally, state.spread, *state.linear):
            array[:] = 0
        forget_lines(state.lines)
        ranker.tally[[DRAWN, FIXED]] = 1
        self._booster.fit_now(state.trees, 0)
        self._give_up_young()

    def _take_in(self, other: Any) -> None:
        state, theirs = self._state, other._state
        with one_blas_thread:
            self._add_block()
            if self._measures_as(other):
                other._add_block()
                self._add_sums(other)
            else:
                self._add_rows_of(other)
            add_linear(state.linear, theirs.linear)
            seen = theirs.ranker.tally[[SEEN, POSITIVES]]
            state.ranker.tally[[SEEN, POSITIVES]] += seen
            state.tally[YOUTH] += theirs.tally[YOUTH]
            if self._work.x.size:
                self._merge_trees(other)
                merge_samples(state.recent_positives, theirs.recent_positives, _OF_ANOTHER)
                merge_samples(state.recent_negatives, theirs.recent_negatives, _OF_ANOTHER)
                self._booster.fit_now(state.trees, int(state.tally[YOUTH]))
            self._solve()

    def _measures_as(self, other: Any) -> bool:
        """Whether another model encodes rows as this one does, as a `sibling` does unless its scale has moved."""
        mine, theirs = self._state.ranker, other._state.ranker
        return bool(
            theirs.tally[FIXED]
            and np.array_equal(mine.directions, theirs.directions)
            and np.array_equal(mine.scale, theirs.scale)
            and mine.weights.shape == theirs.weights.shape
        )

    def _add_sums(self, other: Any) -> None:
        """Sums of the memories, what ridges and blends have achieved, and where features lie."""
        state, theirs, plan = self._state, other._state, self._plan
        self._long.take_in(other._long)
        self._short.take_in(other._short)
        _add_counts(state.long, theirs.long, plan.long)
        _add_counts(state.short, theirs.short, plan.short)
        _add_counts(state.blend, theirs.blend, plan.blend)
        add_lines(state.lines, theirs.lines)
        state.spread[:] += theirs.spread
        state.tally[SPARSE_ROWS] += theirs.tally[SPARSE_ROWS]

    def _add_rows_of(self, other: Any) -> None:
        """The rows of the other's samples, with their counts, as this model encodes them."""
        if not self._work.x.size:
            raise ValueError(
                "The models of RareEventClassifier.absorb must be siblings where they have too many features for a "
                f"sample. Got others, with {self.n_features_in_:,} features."
            )
        state, theirs, length = self._state, other._state, self._matrix.shape[0]
        long, short = LongMemory(length), ShortMemory(length if self._plan.forgets else 0)
        self._remember(long, theirs.trees.positives, theirs.trees.negatives)
        self._long.take_in(long)
        if self._plan.forgets:
            self._remember(short, theirs.recent_positives, theirs.recent_negatives)
            self._short.take_in(short)
        # The next look at the scale is by rows of this model alone: it waits for as many as ever.
        state.tally[LOOKED] += theirs.ranker.tally[SEEN]


def _add_counts(mixture: Mixture, other: Mixture, plan: MixturePlan) -> None:
    mixture.counts[:] += other.counts
    mixture.tally[COUNTED] += other.tally[COUNTED]
    if mixture.tally[COUNTED]:
        set_shares(mixture, plan)


def empty_samples(*samples: Sample) -> None:
    """Let samples have seen nothing."""
    for sample in samples:
        clear_sample(sample)
        sample.tally[OFFERED] = 0
