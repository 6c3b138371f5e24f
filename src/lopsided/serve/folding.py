"""From entries to models: the state of a served model as a fold over its log, and snapshots of that state.

What is learned depends on the entries alone, never on the clock, on threads or on how fast anything was: two folds of
the same log are equal bit for bit, and so are a fold and one that began at a snapshot.
"""

from __future__ import annotations

import math
import platform
from typing import Any

import msgspec
import numpy as np

from lopsided.encoding import EncodedRows, Schema
from lopsided.estimators.by_name import set_threshold
from lopsided.estimators.state.arrays import ModelFileError
from lopsided.estimators.state.files import Attachment, from_bytes_attached, to_bytes
from lopsided.labels import LabelMap
from lopsided.serve import entries as log
from lopsided.serve.configuration import built, labels_of, threshold_rule_of
from lopsided.serve.deciding import Deciding, under
from lopsided.serve.learning import Known, Line
from lopsided.serve.measuring import Floats
from lopsided.serve.messages import ChallengerSettings, ModelSettings
from lopsided.serve.storage.log import LogReader
from lopsided.serve.storage.versions import Versions
from lopsided.version import __version__

_SNAPSHOT = "service"


class Fold:
    """The state after `position`: settings, schema, the two lines, the budget or share of alerts."""

    def __init__(self, reader: LogReader, versions: Versions) -> None:
        self._reader, self._versions = reader, versions
        self.position = 0
        self.settings = ModelSettings()
        self.labels: LabelMap = labels_of(self.settings)
        self.schema: Schema | None = None
        self.champion: Line | None = None
        self.challenger: Line | None = None
        self.deciding = Deciding(self.settings.decision)
        self._waiting_challenger: ChallengerSettings | None = None  # until there is a schema
        self.n_learned = 0
        self.n_refused = 0
        self.n_expired = 0
        self.n_dropped = 0  # of those that expired, the ones that were not learned as negatives
        self.expired_until = 0

    @property
    def versions(self) -> set[str]:
        """Names of all versions so far."""
        return {version.name for version in self._versions.all()}

    @property
    def has_challenger(self) -> bool:
        """Whether anybody watches, or will as soon as it is known what the columns are."""
        return self.challenger is not None or self._waiting_challenger is not None

    @property
    def needs_events(self) -> bool:
        """Whether events change anything before their labels come: histories, budgets and shares do."""
        return self.deciding.needs_events or bool(self.settings.keys)

    def catch_up(self, limit: int = 256) -> int:
        """Apply what has been written since, at most so many entries; how many there were."""
        applied = 0
        for sequence, entry in self._reader.after(self.position, events=self.needs_events, limit=limit):
            self.apply(sequence, entry)
            applied += 1
            if isinstance(entry, log.Made | log.DecisionChanged):
                break  # whether events matter may have changed
        return applied

    def apply(self, sequence: int, entry: log.Entry) -> None:
        """One entry."""
        match entry:
            case log.Made():
                self.settings, self.labels = entry.settings, labels_of(entry.settings)
                self.deciding = Deciding(entry.settings.decision)
                if entry.settings.schema != "infer":
                    self._take_schema(Schema.from_json(entry.settings.schema))
            case log.SchemaFound():
                self._take_schema(Schema.from_json(entry.schema))
            case log.Events():
                self._note_events(entry)
            case log.Labels():
                self._learn_labels(entry)
            case log.Expired():
                self._expire(entry)
            case log.DecisionChanged():
                self._decide(entry)
            case log.Challenged():
                self.deciding.challenged(is_there=entry.challenger is not None)
                self._challenge(entry.challenger)
            case log.Promoted():
                self.deciding.promoted()
                if self.challenger is not None:
                    self.champion, self.challenger = self.challenger, None
            case log.VersionMade():
                self._versions.keep(entry.name, sequence, b"" if self.champion is None else self._line_bytes())
            case log.RolledBack():
                self._roll_back(entry.name)
            case log.Parked():
                pass  # until the event comes
        self.position = sequence

    # ---------------------------------------------------------------- what entries do

    def _take_schema(self, schema: Schema) -> None:
        self.schema = schema
        chosen = ChallengerSettings(self.settings.learner, self.settings.parameters)
        self.champion = Line(chosen, built(self.settings, chosen, schema), self.labels)
        if self._waiting_challenger is not None:
            self._challenge(self._waiting_challenger)

    def _lines(self) -> list[Line]:
        return [line for line in (self.champion, self.challenger) if line is not None]

    def _note_events(self, entry: log.Events) -> None:
        self.deciding.alerts(entry, has_schema=self.schema is not None)
        if self.settings.keys and entry.feature_array is not None:
            for line in self._lines():
                line.model.arrived(unobserved(line.model, entry.feature_array))

    def _learn_labels(self, entry: log.Labels) -> None:
        self._learn(entry.places, entry.signs, entry.weights, entry.corrects, entry.times)

    def _expire(self, entry: log.Expired) -> None:
        self.n_expired += len(entry.places)
        self.n_dropped += 0 if entry.as_negative else len(entry.places)
        self.expired_until = entry.last
        if entry.as_negative and entry.places:
            n = len(entry.places)
            self._learn(entry.places, [-1] * n, [1.0] * n, [False] * n, [math.nan] * n)

    def _learn(
        self, places: list[int], signs: list[int], weights: list[float], corrects: list[bool], times: list[float]
    ) -> None:
        found = [self._reader.event_at(place) for place in places]
        events = [event for event in found if event is not None]
        if not events or self.champion is None:
            return
        here = [k for k, event in enumerate(found) if event is not None]
        known = Known(
            [places[k] for k in here],
            events,
            np.array(signs, dtype=np.float64)[here],
            np.array(weights, dtype=np.float64)[here],
            [corrects[k] for k in here],
            [times[k] for k in here],
        )
        for line in self._lines():
            self.n_refused += line.learn(known, rival=line is self.challenger)
        self.n_learned += len(events)

    def _decide(self, entry: log.DecisionChanged) -> None:
        self.settings = msgspec.structs.replace(self.settings, decision=entry.decision)
        self.deciding = Deciding(entry.decision, has_challenger=self.has_challenger)
        for line in self._lines():
            set_threshold(line.model, threshold_rule_of(entry.decision))

    def _challenge(self, chosen: ChallengerSettings | None) -> None:
        self._waiting_challenger = None
        if chosen is None:
            self.challenger = None
        elif self.schema is None:
            self._waiting_challenger = chosen
        else:
            self.challenger = Line(chosen, built(self.settings, chosen, self.schema), self.labels)

    def _roll_back(self, name: str) -> None:
        if self.champion is None or self.schema is None:
            return
        content = self._versions.content(name)
        if content:
            model, attached = from_bytes_attached(content)
            chosen = msgspec.convert(attached[_SNAPSHOT].description["chosen"], ChallengerSettings)
        else:
            chosen, model = self.champion.chosen, built(self.settings, self.champion.chosen, self.schema)
        set_threshold(model, threshold_rule_of(self.settings.decision))
        self.champion = Line(chosen, model, self.labels)

    # ---------------------------------------------------------------- snapshots

    def _line_bytes(self) -> bytes:
        assert self.champion is not None
        if not self.champion.started:
            return b""
        facts = {"chosen": msgspec.to_builtins(self.champion.chosen)}
        return to_bytes(self.champion.model, {_SNAPSHOT: Attachment(facts, {})})

    def to_bytes(self) -> bytes | None:
        """All of it, to begin with instead of the entries up to here; None while there is little to save."""
        if self.champion is None or not self.champion.started or self.schema is None:
            return None
        arrays = {f"champion/{name}": array for name, array in self.champion.window.state().items()}
        facts: dict[str, Any] = {
            "log": self._reader.fact("identity"),
            "position": self.position,
            "version": __version__,
            "processor": processor(),
            "settings": msgspec.to_builtins(self.settings),
            "schema": self.schema.to_json(),
            "chosen": msgspec.to_builtins(self.champion.chosen),
            "learned": self.n_learned,
            "refused": self.n_refused,
            "expired": self.n_expired,
            "dropped": self.n_dropped,
            "expired_until": self.expired_until,
        }
        if self.challenger is not None:
            facts["challenger"] = msgspec.to_builtins(self.challenger.chosen)
            arrays |= {f"challenger/{name}": array for name, array in self.challenger.window.state().items()}
            if self.challenger.started:
                arrays["challenger model"] = np.frombuffer(to_bytes(self.challenger.model), dtype=np.uint8)
            elif hasattr(self.challenger.model, "history_"):  # it has learned nothing, but seen events
                arrays["challenger history"] = np.frombuffer(to_bytes(self.challenger.model.history_), dtype=np.uint8)
        more_facts, more_arrays = self.deciding.state()
        facts, arrays = facts | more_facts, arrays | more_arrays
        return to_bytes(self.champion.model, {_SNAPSHOT: Attachment(facts, arrays)})

    def restore(self, content: bytes) -> None:
        """Become what `to_bytes` gave; a file that is not a snapshot of this log is refused with a sentence."""
        model, attached = from_bytes_attached(content)
        try:
            facts, arrays = attached[_SNAPSHOT]
            if facts["log"] != self._reader.fact("identity") or not 0 < facts["position"] <= self._reader.last:
                raise ModelFileError("A snapshot must be one of this log. Got one of another log.")
            self._restore(model, facts, arrays)
        except (KeyError, TypeError, ValueError, AttributeError, msgspec.MsgspecError) as error:
            if isinstance(error, ModelFileError):
                raise
            raise ModelFileError(
                f"A snapshot must hold what a service needs. Got one that does not: {error}."
            ) from None

    def _restore(self, model: Any, facts: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.settings = msgspec.convert(facts["settings"], ModelSettings)
        self.labels = labels_of(self.settings)
        self.schema = Schema.from_json(facts["schema"])
        self.champion = Line(msgspec.convert(facts["chosen"], ChallengerSettings), model, self.labels)
        self.champion.window.restore(under("champion/", arrays))
        self.n_learned, self.n_expired = int(facts["learned"]), int(facts["expired"])
        self.n_refused, self.n_dropped = int(facts["refused"]), int(facts["dropped"])
        self.expired_until = int(facts["expired_until"])
        if "challenger" in facts:
            chosen = msgspec.convert(facts["challenger"], ChallengerSettings)
            rival = built(self.settings, chosen, self.schema)
            if "challenger model" in arrays:
                rival = from_bytes_attached(arrays["challenger model"].tobytes())[0]
            if "challenger history" in arrays:
                rival.history_ = from_bytes_attached(arrays["challenger history"].tobytes())[0]
            self.challenger = Line(chosen, rival, self.labels)
            self.challenger.window.restore(under("challenger/", arrays))
        self.deciding = Deciding(self.settings.decision, has_challenger=self.has_challenger)
        self.deciding.restore(facts, arrays)
        self.position = int(facts["position"])


def unobserved(model: Any, rows: Floats) -> EncodedRows:
    """Rows as they were before their history was read, so that it can be noted once more."""
    fresh = rows.copy()
    fresh[:, model.encoder_.first_feature :] = np.nan
    return fresh.view(EncodedRows)


def processor() -> str:
    """What the bits of a model may depend on beside its entries."""
    import llvmlite.binding as llvm

    return f"{platform.machine()} {llvm.get_host_cpu_name()}"
