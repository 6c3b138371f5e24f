"""What became of labels and of rows, in words and in numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum

DROPPED = 0.0  # what became of a row that expired without being learned; others became +1 or -1


class Outcome(StrEnum):
    """What became of a label that came by key."""

    LEARNED = "learned"
    DUPLICATE = "duplicate"  # the same label had come before, or the row was taken as negative and is: ignored
    CONFLICT = "conflict"  # the row has been learned with the other label: the first one stands
    CORRECTED = "corrected"  # the row has been learned with the other label, and once more with this one
    EXPECTED = "expected"  # the label is kept until its row comes, or its time
    TOO_LATE = "too late"  # the row has expired and was dropped
    UNKNOWN = "unknown"  # no row of this key has been scored, or it is forgotten


def judged(sign: float, fate: float | None, *, correct: bool) -> Outcome:
    """What a label is, by what became of its row before: None while that waits, +1 or -1 as it was learned, `DROPPED`.

    `correct` says that a label that differs from an earlier one is to replace it.

    >>> [str(judged(1.0, fate, correct=False)) for fate in (None, 1.0, -1.0, DROPPED)]
    ['learned', 'duplicate', 'conflict', 'too late']
    """
    if fate is None:
        return Outcome.LEARNED
    if fate == DROPPED:
        return Outcome.TOO_LATE
    if fate == sign:
        return Outcome.DUPLICATE
    return Outcome.CORRECTED if correct else Outcome.CONFLICT


@dataclass
class Counts:
    """How many rows and labels there were. Every row that was scored waits, or was learned, dropped, or a repetition.

    `learned` counts all rows that were learned, `as_negatives` those of them whose label never came. `dropped` rows
    expired or made room. `repeated` rows had the key of a row before them: they were scored and not remembered.
    `duplicates`, `conflicts`, `too_late` and `unknown` count labels that were not learned, see `Outcome`. `corrections`
    count labels for which a row was learned once more. `expected` labels are there, and wait for their row or their
    time; `parked` are those of them that had become known before their row came.
    """

    scored: int = 0
    waiting: int = 0
    learned: int = 0
    as_negatives: int = 0
    dropped: int = 0
    repeated: int = 0
    duplicates: int = 0
    conflicts: int = 0
    too_late: int = 0
    unknown: int = 0
    corrections: int = 0
    expected: int = 0
    parked: int = 0

    @property
    def expired(self) -> int:
        """Rows whose label never came, whatever became of them."""
        return self.as_negatives + self.dropped

    def as_dict(self) -> dict[str, int]:
        """For JSON."""
        return asdict(self)
