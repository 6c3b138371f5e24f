"""A share of rows as alerts, decided as they come: kept for whatever scores come, also if they have moved."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lopsided.constraints import ParameterError
from lopsided.core.measures.share_above import SHARE, WINDOW, decide_share, empty_share_above, take_score

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class AlertShare:
    """Decides online which rows to raise an alert for: a share of them, those with the highest scores of late.

    A row is flagged if its score is among the best of the latest 1,024, by a share that follows what has been flagged
    so far: each alert lowers it by about a fifth, and rows without one raise it again. So the number of alerts is right
    in the long run for any scores, also if these move, or if many rows have the same. At no time are there more than 20
    alerts too many, nor more than 5 log(1 / share) too few, which is 15 for a share of 5 % and 23 for 1 %. Of many rows
    with the same score, one in so many is flagged.

    A threshold on the score (`predict` of a learner whose `threshold` is "rate:0.01") needs no order of the rows, but
    cannot follow them. `lopsided score` and `lopsided evaluate` decide like this if the rule is a rate.

    Parameters
    ----------
    share : float between 0 and 1
        The share of rows to flag.
    recent : array of scores, optional
        Scores of rows before the first, from old to new, such as `recent_scores_` of a learner. Without them the first
        rows are compared with each other, from the first score on that is not 0: a learner that has not begun gives 0
        to all rows, and none of these is flagged or counts.

    Attributes
    ----------
    n_rows, n_alerts : how many rows have been decided on, and flagged.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.alerts import AlertShare
    >>> rng = np.random.default_rng(0)
    >>> before, now = rng.standard_normal(1000), 3.0 + rng.standard_normal(4000)  # they have moved
    >>> int((now > np.quantile(before, 0.95)).sum())
    3732
    >>> int(AlertShare(0.05, before).decide(now).sum())
    201
    """

    def __init__(self, share: float, recent: Any = None) -> None:
        if isinstance(share, bool) or not isinstance(share, float | np.floating) or not 0.0 < share < 1.0:
            raise ParameterError(f"The share of an AlertShare must be a number between 0 and 1, got {share!r}.")
        self.n_rows = self.n_alerts = 0
        self._state = empty_share_above(float(share))
        for score in _finite(() if recent is None else recent)[-WINDOW:]:
            take_score(self._state, score)

    @property
    def share(self) -> float:
        """The share of rows to flag."""
        return self._state.levels.item(SHARE)

    def __repr__(self) -> str:
        return f"AlertShare({self.share})"

    def decide(self, scores: Any) -> Flags:
        """Whether each row is an alert: the same as `decide_one` for one after the other."""
        given = _finite(scores)
        flagged, first = np.zeros(given.size, dtype=np.bool_), 0
        if not self._state.tally[0]:
            first = int(np.argmax(given != 0.0)) if given.any() else given.size
        decide_share(self._state, given[first:], flagged[first:])
        self.n_rows += given.size - first
        self.n_alerts += int(np.count_nonzero(flagged))
        return flagged

    def decide_one(self, score: float) -> bool:
        """Whether a row is an alert, by what has come before it."""
        return bool(self.decide([score])[0])

    # ---------------------------------------------------------------- keeping

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """All that the next decision depends on, as arrays."""
        counts = np.array([self.n_rows, self.n_alerts], dtype=np.int64)
        n_known = min(self._state.tally.item(0), WINDOW)
        oldest = self._state.tally.item(0) % WINDOW if n_known == WINDOW else 0
        return {
            "latest": np.roll(self._state.ring, -oldest)[:n_known],
            "levels": self._state.levels.copy(),
            "counts": counts,
        }

    @classmethod
    def restored(cls, arrays: dict[str, npt.NDArray[Any]]) -> Self:
        """One that goes on where that of `state` was."""
        shapes = {name: array.shape for name, array in arrays.items()}
        if shapes.get("levels") != (3,) or shapes.get("counts") != (2,) or len(shapes.get("latest", ())) != 1:
            raise ParameterError(f"The arrays of an AlertShare must be those of its state, got shapes {shapes}.")
        follower = cls(arrays["levels"].item(SHARE), arrays["latest"])
        _, correction, owed = arrays["levels"].tolist()
        if not (math.isfinite(correction) and 0.0 <= owed <= 1.0):
            raise ParameterError(f"The levels of an AlertShare must be those of its state, got {arrays['levels']}.")
        follower._state.levels[:] = arrays["levels"]
        follower.n_rows, follower.n_alerts = arrays["counts"].tolist()
        return follower


def _finite(scores: Any) -> Floats:
    given = np.asarray(scores, dtype=np.float64)
    if given.ndim != 1 or not np.isfinite(given).all():
        got = f"shape {given.shape}" if given.ndim != 1 else "NaN or infinity"
        raise ParameterError(f"The scores for an AlertShare must be one finite number for each row, got {got}.")
    return np.ascontiguousarray(given)
