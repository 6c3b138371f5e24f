"""What is asked of a model, checked at the door, and what it is told when the answer has been written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lopsided.serve.entries import Entry
from lopsided.serve.measuring import Floats
from lopsided.serve.messages import EventAnswer, EventAnswers, LabelOutcome, LabelOutcomes

if TYPE_CHECKING:
    from lopsided.serve.sequencing import Sequencer


@dataclass(kw_only=True)
class Request:
    """What all have: `key` makes a repeated one known, whose earlier answer is then `replayed`."""

    key: str | None = None
    replayed: bytes | None = None
    error: Exception | None = None
    done: Callable[[], None] | None = None  # called when the answer, or an error, is there
    began: float = 0.0  # when it was put in line, by a clock that only tells how long things take

    def reply(self) -> EventAnswers | LabelOutcomes | None:
        """What may be asked for again by the key."""
        return None


@dataclass
class NewEvents(Request):
    """Events of one request: JSON of the columns, the columns, and encoded rows if there is a schema."""

    ids: list[str | None]
    times: list[float | None]
    raw: list[bytes]
    columns: list[dict[str, Any]]
    rows: Floats | None
    signs: list[int | None]
    answers: list[EventAnswer] = field(default_factory=list)

    def reply(self) -> EventAnswers:
        """All answers."""
        return EventAnswers(self.answers)


@dataclass
class NewLabels(Request):
    """Labels of one request."""

    ids: list[str]
    signs: list[int]
    times: list[float]
    corrects: list[bool]
    outcomes: list[LabelOutcome] = field(default_factory=list)

    def reply(self) -> LabelOutcomes:
        """All outcomes."""
        return LabelOutcomes(self.outcomes)


@dataclass
class Change(Request):
    """Another entry: what makes it is called in its turn, and may refuse with a sentence."""

    make: Callable[[Sequencer], Entry]
    sequence: int = 0


@dataclass
class Tick(Request):
    """Time has passed: what has waited too long is given up, what is too old or too much is forgotten."""

    retention: float | None = None  # seconds that events are kept
    excess: int = 0  # bytes that the data have too many
    forgotten: int = 0  # the last entry that was gone when they were measured
    saved: int = 0  # what the oldest snapshot has learned
