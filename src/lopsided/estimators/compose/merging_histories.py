"""Histories of keys as one: decayed sums add up once all are brought to the latest time."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from sklearn.base import clone

from lopsided.core.history.merging import absorb
from lopsided.estimators.base.merging import MergeError, check_parameters_agree, in_fixed_order
from lopsided.labels import Signs, signs_of


class AddsHistories:
    """A history that can take in others of the same parameters."""

    def absorb(self: Any, other: Any) -> Any:
        """Add what another history remembers, of another part of the stream; the other one stays as it is.

        As if this one had seen those rows too, but for how sums are rounded and for who left a full set. Both must
        have the same parameters. `lopsided.merge` makes a new history of several instead.
        """
        if not isinstance(other, AddsHistories):
            raise ValueError(f"The 'other' parameter of absorb must be a KeyedHistory. Got {type(other).__name__}.")
        theirs: Any = copy.deepcopy(other)  # before this one's lock is taken: two may absorb each other
        theirs._check_started()
        with self._alone:
            self._check_started()
            given, got = str(self.get_params()), str(theirs.get_params())
            if given != got:
                raise ValueError(f"The histories of absorb must have the same parameters, {given}. Got {got}.")
            self._take_in(theirs)
            self._warn()
        return self

    def _take_in(self: Any, other: Any) -> None:
        if "_labels" in other.__dict__:
            self._set_labels(signs_of(Signs.of([1.0, -1.0], other._labels), 2, self._known, None, None)[1])
        absorb(self._state, other._state, self._plan)

    def empty_like(self: Any) -> Any:
        """An empty history with the same parameters and labels, for another part of the stream."""
        empty = clone(self)
        if self._started:
            empty.n_features_in_ = self.n_features_in_
            if hasattr(self, "feature_names_in_"):
                empty.feature_names_in_ = self.feature_names_in_.copy()
            empty._begin_empty()
            empty._set_labels(self._known)
        return empty

    def merged_with(self: Any, others: Iterable[Any], budget: Any = None) -> Any:
        """A new history of this one and others, of other parts of the stream; all of them stay as they are.

        What each key has done adds up, as of the latest time. Of a set of slots that is too full the latest keys stay.
        """
        if budget is not None:
            raise MergeError(f"The 'budget' parameter of merge must be None for a KeyedHistory. Got {budget!r}.")
        histories = [copy.deepcopy(history) for history in (self, *others)]
        check_parameters_agree(histories)
        known = [history for history in histories if history._started]
        used = in_fixed_order([history for history in known if history.n_seen_]) or known[:1] or histories[:1]
        for other in used[1:]:
            used[0]._take_in(other)
        if len(used) > 1:
            used[0]._warn()
        return used[0]

    def _comes_first(self) -> bool:
        return True
