"""A served model without threads, on a disk that fails, with clients that remember what they were told.

The model is the real one; what its three threads do is done here step by step, in an order drawn by a seed. Clients
send events, labels and changes, and what was not acknowledged before a crash they send again, the same bytes.
"""

import random
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import msgspec

from lopsided.constraints import ParameterError
from lopsided.serve import aging, folding, opening, running, sequencing
from lopsided.serve import entries as log
from lopsided.serve.configuration import Limits, checked, patience_of
from lopsided.serve.judging import NoRoomError
from lopsided.serve.measuring import Window
from lopsided.serve.messages import ChallengerSettings, Decision, ModelSettings
from lopsided.serve.requests import Change, NewEvents, NewLabels
from lopsided.serve.storage import ids, segments
from lopsided.serve.storage.ids import EventIds
from lopsided.serve.web.door import JSON, events_of, labels_of_request
from serve.naive_service import Told, check
from serve.simulated_disk import PowerLostError, SimulatedDisk

CHEAP = "onlineperceptron"


class _Still:
    """A thread that never runs."""

    def __init__(self, **given):
        pass

    def start(self):
        pass

    def join(self):
        pass


def without_threads(monkeypatch) -> None:
    """Models of which a test takes every step itself."""
    still = SimpleNamespace(Thread=_Still, Lock=threading.Lock, Event=threading.Event)
    monkeypatch.setattr(running, "threading", still)
    # Whoever opens a thousand models must not look through the whole process each time.
    monkeypatch.setattr(running, "gc", SimpleNamespace(collect=int, freeze=int, unfreeze=int))


def make_small(monkeypatch) -> None:
    """No threads, and limits so low that a short life meets all of them."""
    without_threads(monkeypatch)
    monkeypatch.setattr(EventIds.__init__, "__kwdefaults__", EventIds.__init__.__kwdefaults__ | {"room": 3})
    monkeypatch.setattr(ids, "_FAN_OUT", 2)
    monkeypatch.setattr(segments, "_BLOCK", 2)
    monkeypatch.setattr(segments, "_PIECE", 4)
    monkeypatch.setattr(sequencing, "FIRST_EVENTS", 6)
    monkeypatch.setattr(aging, "_MOST_EXPIRED", 5)
    monkeypatch.setattr(aging, "_MOST_CLOSED", 5)
    monkeypatch.setattr(aging, "_MOST_FORGOTTEN", 3)
    monkeypatch.setattr(Window.__init__, "__defaults__", (30,))
    # SQLite goes on closing files after the crash, and apsw says of each that it failed.
    monkeypatch.setattr(sys, "unraisablehook", lambda error: None)
    monkeypatch.setattr(folding, "processor", lambda: "any")


@dataclass
class Sent:
    """A request as bytes, and what came of it."""

    kind: str
    body: bytes | object
    key: str | None = None
    asked: object = None
    was_told: bool = False


@dataclass
class Life:
    """One model from its making to its end, through crashes."""

    seed: int
    folder: Path
    ignores_syncs: bool = False
    sent: list = field(default_factory=list)
    told: Told = field(default_factory=Told)
    keyed: dict = field(default_factory=dict)  # requests that can be repeated, by key
    n_ids: int = 0
    n_crashes: int = 0

    def __post_init__(self):
        self.draw = random.Random(self.seed)
        self.now = 1.7e9
        self.settings = checked(_settings(self.draw))
        self.limits = Limits(
            seconds=self.draw.choice((None, 0.0, 1000.0, 4000.0)),
            bytes=self.draw.choice((None, None, 0, 1, 100_000)),
            id_memory=self.draw.choice((0, 64, 1 << 20)),
            parked=self.draw.choice((0, 2, 100)),
        )
        self.root = self.folder / "0"
        self.root.mkdir(parents=True)
        self.model = None

    # ---------------------------------------------------------------- power on, power off

    def live(self, crashes: int = 2, steps: int = 45) -> None:
        """Live through some crashes, and check what is left after each."""
        try:
            self._live(crashes, steps)
        finally:
            self._close()

    def _live(self, crashes: int, steps: int) -> None:
        for _ in range(crashes):
            disk = self._faulty_disk()
            try:
                self._open(disk)
                self._check(disk)
                self._repeat()
                for _ in range(steps):
                    self._something()
                    if self.model.failure is not None:  # a full disk: opened again by whoever asks next
                        assert isinstance(self.model.failure, running.StorageError | OSError), self.model.failure
                        self._close()
                        self._open(disk)
                        self._check(disk)
                        self._repeat()
            except PowerLostError:
                pass
            self._lose_power(disk)
        self._open(SimulatedDisk(self.root))
        check(self)
        self._repeat()
        self._finish()

    def _check(self, disk) -> None:
        """Whoever looks at it has made room before."""
        full_at, disk.full_at = disk.full_at, None
        check(self)
        disk.full_at = full_at

    def _faulty_disk(self):
        lose_power_at = int(10 ** self.draw.uniform(1.3, 3.5))
        full_at = self.draw.randint(20, 400) if self.draw.random() < 0.3 else None
        full_for = self.draw.randint(1, 30)
        return SimulatedDisk(
            self.root,
            lose_power_at=lose_power_at,
            full_at=full_at,
            full_for=full_for,
            ignores_syncs=self.ignores_syncs,
        )

    def _open(self, disk) -> None:
        self.model = None
        folder = self.root / "models" / "m"
        for _ in range(50):  # a disk that is full now will not be for ever
            try:
                self.model = running.RunningModel("m", folder, disk, lambda: self.now, self.limits)
                break
            except (running.StorageError, opening.NotMadeError, OSError) as error:
                disk.step()
                if not self.told.is_made and (isinstance(error, opening.NotMadeError) or not folder.exists()):
                    self._make(folder, disk)
        assert self.model is not None, "the model cannot be opened"
        self.model._writer._sql.execute(f"PRAGMA wal_autocheckpoint={self.draw.choice((1, 5, 20))}")
        self.model._writer.append = partial(self._append, self.model._writer.append)
        self.model._sequencer.process = partial(self._process, self.model._sequencer.process)
        self.told.opened(self.model)

    def _make(self, folder, disk) -> None:
        with suppress(running.StorageError, OSError):
            opening.make_model(folder, disk, self.settings, self.now)
            self.told.is_made = True

    def _process(self, process, requests, now):
        group = process(requests, now)
        sequencer = self.model._sequencer
        self.told.made(group, sequencer.sequence, sequencer.aging, patience_of(self.settings)[0])
        return group

    def _append(self, append, group) -> None:
        self.told.written.update((sequence, log.packed(entry)) for sequence, entry in group.entries)
        append(group)

    def _close(self) -> None:
        if self.model is not None:
            for connection in (*self.model._readers, self.model._writer):
                with suppress(Exception):
                    connection.close()
        self.model = None

    def _lose_power(self, disk) -> None:
        self._close()
        disk.has_stopped = True
        self.n_crashes += 1
        self.root = self.folder / str(self.n_crashes)
        self.root.mkdir()
        disk.survivors(self.root, self.draw)
        disk.let_go()
        self.now += self.draw.choice((0.0, 1.0, -5000.0, 3000.0, 30 * 86400.0))  # whoever sets the clock meanwhile

    # ---------------------------------------------------------------- what happens

    def _something(self) -> None:
        model, draw = self.model, self.draw
        what = draw.choices(
            ("events", "labels", "change", "answer", "write", "learn", "publish", "wait", "house", "ids", "quiet"),
            (20, 14, 6, 25, 25, 15, 5, 6, 12, 12, 5),
        )[0]
        match what:
            case "events":
                self._send(Sent("events", self._events(), self._key()))
            case "labels":
                self._send(Sent("labels", self._labels(), self._key()))
            case "change":
                self._send(Sent("change", self._change()))
            case "answer":
                self._answer()
            case "write":
                self._write()
            case "learn":
                try:
                    model._fold.catch_up(limit=draw.randint(1, 20))
                except OSError as error:
                    model.failure = error
            case "publish":
                model._publish()
            case "wait":
                self.now += draw.choice((1.0, 600.0, 3601.0, 4001.0, -100.0))
            case "house":
                model._last_save = model._last_save if draw.random() < 0.3 else float("-inf")
                model._keep_house()
            case "ids":
                model._tidy_ids()
            case "quiet":
                self._rest()

    def _rest(self) -> None:
        """Nobody asks for a while: all is written, learned and saved, so that old events can be forgotten."""
        model = self.model
        for _ in range(self.draw.randint(2, 5)):
            self._answer()
            self._write()
            try:
                while model.failure is None and model._fold.catch_up():
                    pass
            except OSError as error:
                model.failure = error
            if model.failure is None:
                model._last_save = float("-inf")
                model._keep_house()

    def _answer(self) -> None:
        if not self.model._inbox.empty():
            self.model._answer_group()

    def _write(self) -> None:
        if not self.model._outbox.empty():
            self.model._write_groups()

    def _finish(self) -> None:
        """Everything in line is answered, written and learned."""
        self._answer()
        self._write()
        check(self, opened_again=True)

    def _send(self, sent: Sent) -> None:
        model = self.model
        sent.was_told = False
        if sent not in self.sent:
            self.sent.append(sent)
        try:
            if sent.kind == "events":
                sent.asked = events_of(sent.body, JSON, model, self.now)[0]
            elif sent.kind == "labels":
                sent.asked = labels_of_request(sent.body, JSON, model, self.now)[0]
            else:
                sent.asked = Change(sent.body)
        except ParameterError:
            self.sent.remove(sent)
            return
        sent.asked.key = sent.key
        sent.asked.done = partial(self._tell, sent)
        model.submit(sent.asked)

    def _tell(self, sent: Sent) -> None:
        asked = sent.asked
        if asked.error is not None:
            if isinstance(asked.error, ParameterError | NoRoomError):
                self.sent.remove(sent)
            return  # or it is sent again
        sent.was_told = True
        self.sent.remove(sent)
        self.told.forgotten = self.model.forgotten
        if sent.key is not None:
            reply = msgspec.json.encode(asked.reply()) if asked.replayed is None else asked.replayed
            self.told.take_reply(sent.key, reply)
            self.keyed[sent.key] = sent
        if asked.replayed is None:
            self.told.take(asked)
        elif isinstance(asked, NewEvents | NewLabels):
            self.told.take_replayed(asked)

    def _repeat(self) -> None:
        """Clients ask again for what they were not told, and now and then for what they were."""
        for sent in list(self.sent):
            self._send(sent)
        for sent in self.draw.sample(list(self.keyed.values()), min(2, len(self.keyed))):
            self._send(Sent(sent.kind, sent.body, sent.key))

    # ---------------------------------------------------------------- what is asked

    def _key(self):
        return f"key {self.draw.getrandbits(40)}" if self.draw.random() < 0.3 else None

    def _id(self, new: float) -> str:
        """An id: new, or one of before, which may or may not have got through."""
        if self.n_ids == 0 or self.draw.random() < new:
            self.n_ids += 1
            return f"e{self.n_ids - 1}"
        return f"e{self.draw.randint(max(0, self.n_ids - 40), self.n_ids)}"

    def _events(self) -> bytes:
        draw, events = self.draw, []
        for _ in range(draw.randint(1, 4)):
            sign = draw.random() < 0.3
            event = {"columns": {"a": draw.gauss(2.0 * sign, 1.0), "b": round(draw.gauss(0, 1), 2)}}
            if self.settings.keys:
                event["columns"] |= {"card": f"c{draw.randint(0, 3)}", "when": self.now + draw.randint(-50, 50)}
            elif draw.random() < 0.5:
                event["time"] = self.now - draw.choice((0.0, 100.0))
            if draw.random() < 0.9:
                event["id"] = self._id(0.9)
            if draw.random() < 0.2:
                event["label"] = int(sign)
            events.append(event)
        return msgspec.json.encode(events)

    def _labels(self) -> bytes:
        draw = self.draw
        labels = [
            {"id": self._id(0.05), "label": int(draw.random() < 0.3), "correct": draw.random() < 0.3}
            for _ in range(draw.randint(1, 5))
        ]
        return msgspec.json.encode(labels)

    def _change(self):
        draw, name = self.draw, f"v{self.draw.randint(0, 1)}"
        rules = Decision(), Decision(threshold=0.1), Decision(threshold="rate:0.3"), Decision(alerts="2/hour")
        decision = draw.choice(rules)
        challenger = ChallengerSettings(CHEAP)

        def version(sequencer):
            if name in sequencer.versions:
                raise ParameterError("taken")
            return log.VersionMade(name)

        def rollback(sequencer):
            if name not in sequencer.versions:
                raise ParameterError("unknown")
            return log.RolledBack(name)

        def promote(sequencer):
            if not sequencer.has_challenger:
                raise ParameterError("nobody")
            return log.Promoted()

        return draw.choice(
            (
                lambda _: log.DecisionChanged(decision),
                lambda _: log.Challenged(challenger),
                lambda _: log.Challenged(None),
                promote,
                version,
                version,
                rollback,
                rollback,
            )
        )


def _settings(draw) -> ModelSettings:
    options = {"learner": CHEAP, "unlabelled": draw.choice(("drop:1h", "negative:1h"))}
    kind = draw.random()
    if kind < 0.06:
        options["learner"] = "auto"
    elif kind < 0.2:
        options |= {"learner": "koil", "parameters": {"budget": 5}}
    elif kind < 0.35:
        options |= {"keys": ["card"], "time": "when", "value": "b"}
    if (rule := draw.random()) < 0.6:
        options["decision"] = Decision(alerts="3/hour") if rule < 0.3 else Decision(threshold="rate:0.2")
    if draw.random() < 0.2:
        options |= {"selective": True, "exploration": 0.5}
    return ModelSettings(**options)
