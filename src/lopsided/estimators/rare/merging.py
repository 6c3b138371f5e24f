"""Learners for rare events that add up: several of them learn parts of a stream, and one takes in the others."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.features.fourier_ranker import DRAWN, FIXED, KEPT, POSITIVES, SEEN
from lopsided.core.measures.log_odds import add_lines
from lopsided.core.measures.mixture import COUNTED, Mixture, MixturePlan, set_shares
from lopsided.core.rare.linear_part import add_linear
from lopsided.core.rare.step import LOOKED, SPARSE_ROWS, YOUTH
from lopsided.estimators.base import validation
from lopsided.estimators.base.blas import one_blas_thread
from lopsided.estimators.features.adding_up import add_what_was_seen
from lopsided.estimators.rare.memories import LongMemory, ShortMemory
from lopsided.estimators.rare.sample_union import merge_samples
from lopsided.estimators.rare.views import RareViews, SampleViews

_OF_ANOTHER = -1  # the number of a row that another model has learned


class AddsSamples(SampleViews):
    """A learner whose sample can take in that of another."""

    def sibling(self) -> Self:
        """An empty model that learns another part of the stream, for `absorb`: `lopsided.empty_like` gives the same."""
        self._check_may_add("sibling")
        return self.empty_like()

    def _merge(self, models: list[Any], shares: Floats) -> None:
        for other in models[1:]:
            self._take_in(other)
        self._fit_anew()
        self._unbind()

    def absorb(self, other: Any) -> Self:
        """Take in what another model has learned from another part of the stream; the other one stays as it is.

        The samples become one of both parts: rows with the largest priorities stay, and count for those that do not.
        The trees are fitted to it at once. In `sampled_rows_` the rows of the other have the number -1.
        `lopsided.merge` makes a new model of several instead.
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
                self._fit_anew()
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

    def _take_in(self, other: Any) -> None:
        """Take in another model, but for what has to be fitted anew."""
        raise NotImplementedError

    def _fit_anew(self) -> None:
        """Fit what is fitted to what has been taken in."""
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

    def _take_after(self, original: Any) -> None:
        ranker, theirs = self._state.ranker, original._state.ranker
        ranker.directions[:], ranker.scale[:] = theirs.directions, theirs.scale
        ranker.origin_angles[:] = theirs.origin_angles
        ranker.tally[[DRAWN, FIXED]] = theirs.tally[[DRAWN, FIXED]]

    def _comes_first(self) -> bool:
        return bool(self._state.ranker.tally[FIXED])

    def _take_in(self, other: Any) -> None:
        state, theirs = self._state, other._state
        if not theirs.ranker.tally[FIXED]:  # it has its rows as they came: they are learned
            ranker, n = theirs.ranker, int(theirs.ranker.tally[KEPT])
            rows = validation.as_rows(ranker.first_rows[:n])
            self._learn(rows, ranker.first_signs[:n], ranker.first_weights[:n], every_score=False)
            return
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

    def _fit_anew(self) -> None:
        state = self._state
        with one_blas_thread:
            if self._work.x.size and state.ranker.tally[FIXED]:
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
