"""Labels only for what was looked into: alerts, and a random share of all other rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.constraints import ParameterError, check_parameters, number
from lopsided.late.rows import Floats

Flags = npt.NDArray[np.bool_]


def inverse_chances(alerted: Flags, explored: Flags, share: float) -> Floats:
    """What labels count: 1 of an alert, 1 / share of a row that was drawn from the others, 0 of all that nobody sees.

    >>> inverse_chances(np.array([True, False, False]), np.array([False, True, False]), 0.25).tolist()
    [1.0, 4.0, 0.0]
    """
    weights = alerted.astype(np.float64)
    if share:
        weights[explored] = 1.0 / share
    return weights


class SelectiveLabels:
    """Whose labels are ever seen, and what these count: each the inverse of its chance of being seen.

    An alert is looked into for certain, so its label counts 1. Of the other rows a random share is looked into all the
    same (exploration), and their labels count 1 / share: so sums over seen labels are right on average for all rows.
    Without exploration a model learns only from what it flagged, and nobody can tell what it missed.

    The random numbers are one for each row, alert or not: the choice does not depend on the pieces in which rows come.

    Parameters
    ----------
    explore : float from 0 to 1, default=0.0
        The share of the rows without an alert whose labels are seen.
    cap : float >= 1, default=10.0
        The most that a label counts when it is learned; 1 counts all alike. One row in a thousand would count 1,000,
        and a step so large does more harm than a bias. Estimates are not capped.
    seed : int, default=0
        Of the random numbers, `numpy.random.default_rng([seed, 1])`.

    Attributes
    ----------
    n_rows, n_seen : int
        Rows so far, and those whose labels are seen.

    Examples
    --------
    >>> import numpy as np
    >>> selective = SelectiveLabels(explore=0.5, seed=1)
    >>> selective.choose(np.array([True, False, False, False])).tolist()
    [1.0, 0.0, 0.0, 2.0]
    """

    def __init__(self, explore: float = 0.0, *, cap: float = 10.0, seed: int = 0) -> None:
        allowed = {"explore": number(least=0, most=1), "cap": number(least=1)}
        check_parameters("SelectiveLabels", {"explore": explore, "cap": cap}, allowed)
        self.explore, self.cap = float(explore), float(cap)
        self.n_rows = self.n_seen = 0
        self._rng = np.random.default_rng([seed, 1])  # others than those of a learner, or a simulation, with this seed

    def choose(self, alerted: Flags) -> Floats:
        """For each of the next rows the inverse of the chance that its label is seen; 0 where it is not."""
        draws = self._rng.random(alerted.size)
        explored = ~alerted & (draws < self.explore)
        self.n_rows += alerted.size
        self.n_seen += int(np.count_nonzero(alerted | explored))
        return inverse_chances(alerted, explored, self.explore)

    def for_learning(self, weights: Floats) -> Floats:
        """What seen labels count when they are learned."""
        return np.minimum(weights, self.cap)

    def state(self) -> dict[str, Any]:
        """As plain values: `restore` goes on as if never stopped."""
        return {"rows": self.n_rows, "seen": self.n_seen, "random": self._rng.bit_generator.state}

    def restore(self, state: dict[str, Any]) -> None:
        """Become what `state` described."""
        if set(state) != {"rows", "seen", "random"}:
            raise ParameterError(f"The state of selective labels must be what its 'state' gave, got {sorted(state)}.")
        self.n_rows, self.n_seen = int(state["rows"]), int(state["seen"])
        self._rng.bit_generator.state = state["random"]
