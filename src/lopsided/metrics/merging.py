"""Metrics of different parts of a stream as one: what they have counted adds up."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.measures.adding import added_rankings, with_weights
from lopsided.core.measures.ranking import CENTRE, GROWTH, SCALE, SETTLED, TOTAL, Ranking, empty_ranking
from lopsided.core.measures.recency import latest_of_all
from lopsided.core.measures.window import SEEN, Window, empty_window, observe_in_window

_PARAMETERS = ("key", "n_bins", "fade", "per_class", "interpolation", "window")


class MergesCounts:
    """A metric that can be merged with others of its kind and parameters. See `lopsided.merge`."""

    def _count_waiting(self) -> None:
        """Count the examples that wait."""
        raise NotImplementedError

    def _added(self, metrics: list[Any]) -> None:
        """Become the sum of these, of which the first is this one."""
        raise NotImplementedError

    def _n_counted(self) -> float:
        """How much has been counted, as of now; 0 for nothing."""
        raise NotImplementedError

    def _record(self) -> bytes:
        """What has been counted."""
        raise NotImplementedError

    def _forget(self) -> None:
        """Count from nothing."""
        raise NotImplementedError

    def empty_like(self: Any) -> Any:
        """One that has counted nothing, with the same parameters and, where these are placed by scores, the same bins.

        What it counts can be added to this one exactly.
        """
        empty = copy.deepcopy(self)
        empty._count_waiting()
        empty._forget()
        return empty

    def merged_with(self: Any, others: Iterable[Any], budget: Any = None) -> Any:
        """One that has counted what this one and others have, each taken to end now; all of them stay as they are.

        Metrics keep no vectors: `budget` must be None.
        """
        owner = type(self).__name__
        if budget is not None:
            raise ValueError(f"The 'budget' parameter of merge must be None for a {owner}. Got {budget!r}.")
        metrics = [copy.deepcopy(metric) for metric in (self, *others)]
        for metric in metrics:
            if type(metric) is not type(self):
                raise ValueError(f"The models to merge must be of one class. Got {owner} and {type(metric).__name__}.")
            for name in _PARAMETERS:
                mine, theirs = getattr(self, name, None), getattr(metric, name, None)
                if mine != theirs:
                    raise ValueError(
                        f"The models of {owner} to merge must have the same '{name}'. Got {mine!r} and {theirs!r}."
                    )
            metric._count_waiting()
        counted = [metric for metric in metrics if metric._n_counted()] or metrics[:1]
        counted.sort(key=lambda metric: (-metric._n_counted(), metric._record()))
        if len(counted) > 1:
            counted[0]._added(counted)
        return counted[0]


class MergesRankings(MergesCounts):
    """An area by bins: of the same bins the counts add up; of others they are laid into those of the largest metric.

    Then `error_bound` takes into account that what was counted near the edge of a bin may belong into the next one.
    """

    _ranking: Ranking
    _plan: Any
    _unsure: Floats | None = None  # see `added_rankings`

    def _n_counted(self) -> float:
        levels = self._ranking.levels
        return float((levels[TOTAL : TOTAL + 2] / levels[GROWTH : GROWTH + 2]).sum())

    def _record(self) -> bytes:
        return b"".join(array.tobytes() for array in self._ranking)

    def _forget(self) -> None:
        levels, settled = self._ranking.levels, self._ranking.tally[SETTLED]
        self._ranking = empty_ranking(self._plan, self._ranking.kept.shape[1])
        self._ranking.levels[[CENTRE, SCALE]], self._ranking.tally[SETTLED] = levels[[CENTRE, SCALE]], settled
        self._unsure = None

    def _added(self, metrics: list[Any]) -> None:
        doubts = [metric._unsure for metric in metrics]
        total, unsure = added_rankings([metric._ranking for metric in metrics], self._plan, doubts)
        if unsure is not None and self._plan.fade < 1.0:
            raise ValueError(
                f"The metrics of {type(self).__name__} to merge must have the same bins where they fade, as those of "
                "`empty_like` do. Got others."
            )
        self._ranking, self._unsure = total, unsure

    def _bound(self, of: Callable[[Ranking], tuple[float, float]]) -> float:
        """The most by which a value may be wrong, given what finds it and the most that ties can make of it."""
        value, ties = of(self._ranking)
        if self._unsure is None:
            return ties
        # At worst all positives lie as low as they may, and all negatives as high; at best the other way round.
        (low_p, low_n), (high_p, high_n) = self._unsure
        weights = self._ranking.bins[:2, :-1]
        worst, worst_ties = of(with_weights(self._ranking, weights + np.stack([low_p, high_n])))
        best, best_ties = of(with_weights(self._ranking, weights + np.stack([high_p, low_n])))
        return max(value - (worst - worst_ties), best + best_ties - value)


class MergesWindows(MergesCounts):
    """The latest examples of all, each metric looking back over the same share of what it has seen."""

    _window: Window

    def _n_counted(self) -> float:
        return float(self._window.tally[SEEN])

    def _record(self) -> bytes:
        return b"".join(array.tobytes() for array in self._window)

    def _forget(self) -> None:
        self._window = empty_window(self._window.queue.size)

    def _added(self, metrics: list[Any]) -> None:
        size, counts = self._window.queue.size, [int(metric._window.tally[SEEN]) for metric in metrics]
        orders = [(count - min(count, size) + np.arange(min(count, size))) % size for count in counts]
        order = latest_of_all([one.size for one in orders], counts)
        windows = [metric._window for metric in metrics]
        signs, scores = (
            np.concatenate([part[own] for part, own in zip(parts, orders, strict=True)])[order][-size:]
            for parts in ([window.signs for window in windows], [window.queue for window in windows])
        )
        merged = empty_window(size)
        observe_in_window(merged, signs, scores)
        self._window = merged


class MergesCalls(MergesCounts):
    """Counts of calls."""

    _counts: Floats

    def _n_counted(self) -> float:
        return float(self._counts.sum())

    def _record(self) -> bytes:
        return self._counts.tobytes()

    def _forget(self) -> None:
        self._counts = np.zeros_like(self._counts)

    def _added(self, metrics: list[Any]) -> None:
        self._counts = np.sum([metric._counts for metric in metrics], axis=0)
