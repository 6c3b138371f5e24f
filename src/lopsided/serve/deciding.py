"""Which events are alerts where that depends on those before them: a budget, or a share of events as they come.

What is decided follows from the entries of the log alone, in their order. So the thread that answers and the fold each
keep one of these, which come to the same; after a crash the first goes on with that of the second.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.alerts import AlertBudget, AlertShare
from lopsided.estimators.base.answering import share_of
from lopsided.serve import entries as log
from lopsided.serve.configuration import budget_of, threshold_rule_of
from lopsided.serve.messages import Decision

Flags = npt.NDArray[np.bool_]
_LINES = ("champion", "challenger")


class Deciding:
    """A budget of alerts, or the shares of champion and challenger, each of its own scores; neither if a score decides.

    The share of a challenger follows what it would have answered, so that it is right at once when it is promoted.
    """

    def __init__(self, decision: Decision, *, has_challenger: bool = False) -> None:
        self.budget = budget_of(decision)
        self._share = share_of(threshold_rule_of(decision)) if self.budget is None else None
        self._shares: dict[str, AlertShare] = {}
        if self._share is not None:
            self._shares["champion"] = AlertShare(self._share)
            self.challenged(is_there=has_challenger)

    @property
    def needs_events(self) -> bool:
        """Whether the next decision depends on events."""
        return self.budget is not None or self._share is not None

    def challenged(self, *, is_there: bool) -> None:
        """A challenger begins, or none is left."""
        self._shares.pop("challenger", None)
        if is_there and self._share is not None:
            self._shares["challenger"] = AlertShare(self._share)

    def promoted(self) -> None:
        """The challenger answers from now on."""
        if "challenger" in self._shares:
            self._shares["champion"] = self._shares.pop("challenger")

    def alerts(self, entry: log.Events, *, has_schema: bool) -> Flags | None:
        """Which events of an entry are alerts, by the scores that they got; None if they are by a threshold."""
        has_begun = ~np.isnan(entry.probability_array)
        if self._share is not None:
            rival, flagged = self._shares.get("challenger"), np.zeros(has_begun.size, dtype=np.bool_)
            if rival is not None and entry.rival_array is not None:
                rival.decide(entry.rival_array)
            flagged[has_begun] = self._shares["champion"].decide(entry.score_array[has_begun])
            return flagged
        if self.budget is None:
            return None
        return self._by_budget(self.budget, entry) & has_begun if has_schema else np.zeros(has_begun.size, np.bool_)

    @staticmethod
    def _by_budget(budget: AlertBudget, entry: log.Events) -> Flags:
        keys = None
        if budget.key is not None:
            keys = [entry.columns(number).get(budget.key) for number in range(len(entry.ids))]
        return budget.decide(entry.time_array, entry.score_array, keys)

    # ---------------------------------------------------------------- keeping

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """All that the next decision depends on, as JSON and as arrays."""
        if self.budget is not None:
            arrays = {f"budget/{name}": array for name, array in self.budget.state().items()}
            return {"budget": self.budget.to_json()}, arrays
        states = {line: share.state() for line, share in self._shares.items()}
        return {}, {f"share/{line}/{name}": array for line, state in states.items() for name, array in state.items()}

    def restore(self, facts: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Go on where that of `state` was; a share of which an older version kept nothing begins."""
        if "budget" in facts:
            self.budget = AlertBudget.restored(facts["budget"], under("budget/", arrays))
        for line in _LINES:
            kept = under(f"share/{line}/", arrays)
            if kept:
                self._shares[line] = AlertShare.restored(kept)


def under(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """The arrays whose names begin so, without that."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def compile_share() -> None:
    """So that no event waits for the compiler."""
    AlertShare(0.5).decide([1.0, 2.0])
