"""How good answers were: the latest labelled events with the scores that they got, and what follows from them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.metrics import auroc, average_precision
from lopsided.metrics.intervals import auroc_interval, precision_area_interval, share_interval
from lopsided.serve.messages import LabelDelay, Measures

Floats = npt.NDArray[np.float64]
ROOM = 10_000


class Window:
    """The latest labelled events: score, sign, weight, whether an alert, delay of the label, place in the log."""

    def __init__(self, room: int = ROOM) -> None:
        self._table = np.zeros((5, room))
        self._places: npt.NDArray[np.int64] = np.zeros(room, dtype=np.int64)
        self._n = 0

    def add(
        self, place: int, score: float, sign: float, weight: float, *, alert: bool, delay: float = math.nan
    ) -> None:
        """One more; the oldest leaves. The delay is NaN where nobody gave the label."""
        at = self._n % self._places.size
        self._table[:, at] = score, sign, weight, alert, delay
        self._places[at] = place
        self._n += 1

    def correct(self, place: int, sign: float) -> bool:
        """Another label for an event, if it is still here."""
        held = np.flatnonzero(self._places[: self._n] == place)
        self._table[1, held] = sign
        return held.size > 0

    def latest(self) -> Floats:
        """Scores, signs, weights, alerts and delays (rows of five), the oldest first."""
        n, room = self._n, self._places.size
        return np.roll(self._table, -(n % room), axis=1) if n > room else self._table[:, :n]

    def measures(self, share_known: float | None) -> Measures:
        """What the window says."""
        scores, signs, weights, alerts, _ = self.latest()
        positive, alert = signs > 0, alerts > 0
        n_positive, area = int(positive.sum()), auroc(positive, scores, sample_weight=weights)
        precision = average_precision(positive, scores, sample_weight=weights)
        is_plain = bool((weights == 1.0).all())
        n_alerts = int(alert.sum())
        hits = int((alert & positive).sum())
        return Measures(
            labels=int(scores.size),
            positives=n_positive,
            auroc=_known(area),
            auroc_interval=_interval(auroc_interval(area, n_positive, scores.size - n_positive)),
            average_precision=_known(precision),
            # The bootstrap knows no weights: none is better than a wrong one.
            average_precision_interval=_interval(precision_area_interval(positive, scores)) if is_plain else None,
            alert_precision=hits / n_alerts if n_alerts else None,
            alert_precision_interval=_interval(share_interval(hits, n_alerts)) if n_alerts else None,
            share_known=share_known,
        )

    def delay(self) -> LabelDelay | None:
        """How late labels were."""
        delays = self.latest()[4]
        given = delays[~np.isnan(delays)]
        if not given.size:
            return None
        median, p90 = np.quantile(given, [0.5, 0.9]).tolist()
        return LabelDelay(int(given.size), median, p90)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """As arrays."""
        return {"table": self._table, "places": self._places, "n": np.array([self._n], dtype=np.int64)}

    def restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Become what `state` gave."""
        self._table, self._places = np.array(arrays["table"]), np.array(arrays["places"])
        self._n = int(arrays["n"][0])


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _interval(ends: tuple[Any, Any]) -> list[float] | None:
    low, high = float(ends[0]), float(ends[1])
    return None if np.isnan(low) or np.isnan(high) else [low, high]
