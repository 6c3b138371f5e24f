"""What becomes of labels, decided before they are written: by the rules of the engine for late labels.

A label is judged once. Its entry in the log holds the decision, and a replay never decides again.
"""

from __future__ import annotations

import numpy as np

from lopsided.late.coming import ComingLabels
from lopsided.late.outcomes import Outcome, judged
from lopsided.late.selective import inverse_chances
from lopsided.serve import entries as log
from lopsided.serve.aging import Aging, Fates
from lopsided.serve.messages import ModelSettings
from lopsided.serve.storage.log import Group, LogReader

_LARGEST_WEIGHT = 1000.0  # of a label that was seen by a small chance
REFUSED = "refused"


class NoRoomError(Exception):
    """All labels of a request are for events that nobody knows, and no more of these are kept."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __str__(self) -> str:
        return f"At most {self.most:,} labels may wait for events that have not come. Try again when these have."


class Judge:
    """Knows what events turned out to be, and which labels wait for an event; of those at most `most_parked`."""

    def __init__(self, reader: LogReader, aging: Aging, most_parked: int) -> None:
        self.fates, self.most_parked = Fates(reader), most_parked
        self._reader, self._aging = reader, aging
        self._parked = ComingLabels()
        self.n_refused = 0  # labels for which there was no room, since the model was opened
        self._since: dict[str, float] = {}  # when parked labels were received, written or not
        for name, (sign, time, received) in reader.all_parked().items():
            self._parked.add(name, sign, time, park=True)
            self._since[name] = received

    def __contains__(self, name: str) -> bool:
        """Whether a label waits for an event of this id."""
        return name in self._parked

    @property
    def n_parked(self) -> int:
        """Labels whose event has not come."""
        return self._parked.n_parked

    def outcome(self, place: int, sign: int, *, correct: bool, weight: float) -> str:
        """What a label is for an event that has come; `weight` is 0 if nobody would have seen it."""
        fate = self.fates.of(place)
        outcome = judged(sign, fate, correct=correct)
        if outcome not in (Outcome.LEARNED, Outcome.CORRECTED):
            return outcome.value
        if self._aging.is_too_late(place, has_label=fate is not None):
            return Outcome.TOO_LATE.value
        return "not selected" if outcome is Outcome.LEARNED and not weight else outcome.value

    def park(self, name: str, sign: int, time: float, group: Group, *, correct: bool) -> str:
        """Keep a label whose event has not come; another one for the same event must say that it corrects it."""
        if name not in self._parked and self.n_parked >= self.most_parked:
            self.n_refused += 1
            return REFUSED
        outcome = self._parked.park(name, sign, time, correct=correct)
        if outcome is Outcome.CORRECTED:  # it has its own time, and waits from now on
            self._parked.take_first(name)
            self._parked.add(name, sign, time, park=True)
        if outcome in (Outcome.EXPECTED, Outcome.CORRECTED):
            group.parked[name] = sign, time, group.received
            self._since[name] = group.received
            return "parked"
        return outcome.value

    def unpark(self, name: str, group: Group) -> tuple[int, float] | None:
        """Sign and time of the label that has waited for an event, which has come; None if there is none."""
        found = self._parked.first_of(name)
        if found is None:
            return None
        self._parked.take_first(name)
        del self._since[name]
        group.parked[name] = None
        return int(found[1]), found[0]

    def expire_parked(self, since: float, group: Group) -> None:
        """Give up labels that have waited since then."""
        for name in self._reader.parked_before(since):
            if self._since.get(name, since) < since:  # or it came again, and has not been written yet
                self.unpark(name, group)


def weight_of(flags: int, settings: ModelSettings) -> float:
    """The inverse of the chance that the label of an event with these flags would be seen; 0 if there was none."""
    if not settings.selective:
        return 1.0
    alerted, explored = np.array([flags & log.ALERT > 0]), np.array([flags & log.EXPLORED > 0])
    return min(inverse_chances(alerted, explored, settings.exploration).item(), _LARGEST_WEIGHT)
