"""What the log of a model holds. Folding the entries in order gives the model, bit for bit: nothing else goes in."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from lopsided.serve.messages import ChallengerSettings, Decision, ModelSettings

Floats = npt.NDArray[np.float64]

ALERT, EXPLORED = 1, 2  # flags of events
MOST_EVENTS = 1 << 14  # of one entry: their number within it has 14 bits of a place
_BITS = 14


def place_of(sequence: int, number: int) -> int:
    """Where an event is: its entry, and its number in it, as one number."""
    return sequence << _BITS | number


def entry_and_number(place: int) -> tuple[int, int]:
    """The way back."""
    return place >> _BITS, place & (MOST_EVENTS - 1)


class _Entry(msgspec.Struct, tag_field="kind", array_like=False, dict=True):
    """What all entries are."""


class Made(_Entry, tag="made"):
    """The model came to be."""

    settings: ModelSettings


class SchemaFound(_Entry, tag="schema"):
    """What the columns are, found in the first events."""

    schema: dict[str, Any]


class Events(_Entry, tag="events"):
    """Events, with what they were answered: arrays as bytes, the columns as the JSON that came.

    `features` are the rows as the answering model saw them, where a history makes them depend on the moment.
    """

    ids: list[str]
    times: bytes
    rows: list[bytes]
    learned: int
    scores: bytes = b""
    probabilities: bytes = b""
    flags: bytes = b""
    threshold: float = 0.0
    rival_scores: bytes | None = None
    features: bytes | None = None

    @cached_property
    def score_array(self) -> Floats:
        """The scores that were answered."""
        return np.frombuffer(self.scores)

    @cached_property
    def time_array(self) -> Floats:
        """When they happened."""
        return np.frombuffer(self.times)

    @cached_property
    def probability_array(self) -> Floats:
        """The probabilities that were answered; NaN before the model began."""
        return np.frombuffer(self.probabilities)

    @cached_property
    def rival_array(self) -> Floats | None:
        """What the challenger would have answered."""
        return None if self.rival_scores is None else np.frombuffer(self.rival_scores)

    @cached_property
    def feature_array(self) -> Floats | None:
        """The rows as the model saw them."""
        return None if self.features is None else np.frombuffer(self.features).reshape(len(self.ids), -1)

    def columns(self, number: int) -> dict[str, Any]:
        """The columns of one event."""
        columns: dict[str, Any] = msgspec.json.decode(self.rows[number])
        return columns


class _Ids(msgspec.Struct, tag_field="kind", tag="events"):
    """Events of which only the ids are read."""

    ids: list[str]


class Labels(_Entry, tag="labels"):
    """Labels to be learned, in this order. `corrects` says which of them replace an earlier one."""

    places: list[int]
    signs: list[int]
    weights: list[float]
    times: list[float]
    corrects: list[bool]


class Parked(_Entry, tag="parked"):
    """Labels of events that have not come yet."""

    ids: list[str]
    signs: list[int]
    times: list[float]


class Expired(_Entry, tag="expired"):
    """No label has come for what these events are: all that still wait in entries first..last."""

    first: int
    last: int
    places: list[int]
    as_negative: bool


class DecisionChanged(_Entry, tag="decision"):
    """Another rule for alerts."""

    decision: Decision


class Challenged(_Entry, tag="challenged"):
    """A challenger begins, or none is left."""

    challenger: ChallengerSettings | None


class Promoted(_Entry, tag="promoted"):
    """The challenger answers from now on."""


class VersionMade(_Entry, tag="version"):
    """The champion as it is now gets a name, by which it can be gone back to."""

    name: str


class RolledBack(_Entry, tag="rollback"):
    """The champion becomes again what it was at a version."""

    name: str


Entry = (
    Made
    | SchemaFound
    | Events
    | Labels
    | Parked
    | Expired
    | DecisionChanged
    | Challenged
    | Promoted
    | VersionMade
    | RolledBack
)

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Entry] = msgspec.msgpack.Decoder(Entry)


def packed(entry: Entry) -> bytes:
    """The bytes of an entry."""
    return _encoder.encode(entry)


def unpacked(body: bytes) -> Entry:
    """The way back."""
    return _decoder.decode(body)


_ids_decoder = msgspec.msgpack.Decoder(_Ids)


def ids_in(body: bytes) -> list[str]:
    """The ids of an entry of events."""
    return _ids_decoder.decode(body).ids
