"""What answers: copies of the models that nobody else touches, and what follows from them worked out beforehand."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from lopsided.late.playing import arrived, observes, score
from lopsided.serve import entries as log
from lopsided.serve.deciding import Flags
from lopsided.serve.measuring import Floats
from lopsided.serve.messages import ModelSettings


class Scorer:
    """A copy of a model that answers, with what follows from it alone worked out beforehand."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.started = bool(model.started_)
        self._observes = observes(model)  # asked once: the answer takes as long as a score
        self.threshold = float(model.threshold_) if self.started else 0.0
        self._memory = model.score_memory_ if self.started else None

    def observed(self, rows: Floats) -> Floats:
        """Rows with the features of this moment, if the model has a history, which notes that they came."""
        return arrived(self.model, rows) if self._observes else rows

    def scores(self, rows: Floats) -> Floats:
        """Raw scores; 0 before the model began."""
        return score(self.model, rows, short=1)

    def probabilities(self, scores: Floats) -> Floats:
        """Of the positive class; NaN before the model began."""
        return np.full(scores.size, np.nan) if self._memory is None else np.asarray(self._memory.probability(scores))


@dataclass
class View:
    """What answers: copies of the champion and the challenger that have learned the entries up to `position`."""

    position: int
    champion: Scorer | None
    challenger: Scorer | None


def flags_of(entry: log.Events, alerts: Flags | None, settings: ModelSettings) -> bytes:
    """Which events are alerts, by a threshold if by nothing else, and which of the others are drawn to be looked at."""
    flags = np.zeros(len(entry.ids), dtype=np.uint8)
    if alerts is None:
        alerts = (entry.score_array > entry.threshold) & ~np.isnan(entry.probability_array)
    flags[alerts] = log.ALERT
    if settings.exploration:
        for number, name in enumerate(entry.ids):
            if not flags[number] and chance_of(name, settings.random_state) < settings.exploration:
                flags[number] = log.EXPLORED
    return flags.tobytes()


def chance_of(name: str, seed: int) -> float:
    """A number in [0, 1) drawn by the id itself, so that nobody can draw again."""
    digest = hashlib.blake2b(name.encode(), digest_size=8, salt=seed.to_bytes(16, "little", signed=True)).digest()
    return int.from_bytes(digest, "little") / 2.0**64
