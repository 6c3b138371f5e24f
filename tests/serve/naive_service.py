"""What clients were told, and what must be true of a log because of it, worked out entry by entry, plainly."""

from dataclasses import dataclass, field

import msgspec

from lopsided.serve import entries as log
from lopsided.serve.folding import Fold
from lopsided.serve.messages import EventAnswers, LabelOutcomes
from lopsided.serve.opening import entries_of, recovered
from lopsided.serve.requests import Change, NewEvents, NewLabels
from lopsided.serve.storage.log import LogReader
from oracles.share_above import ShareAbove


@dataclass
class Told:
    """All that was acknowledged, and all entries that were given to the disk."""

    is_made: bool = False
    events: dict = field(default_factory=dict)  # answers by id
    labels: list = field(default_factory=list)  # id, sign, outcome, sequence
    changes: list = field(default_factory=list)  # sequences
    replies: dict = field(default_factory=dict)  # by key
    written: dict = field(default_factory=dict)  # bytes by sequence, acknowledged or not
    forgotten: int = 0  # the last entry whose events are gone: their ids are new again
    forgotten_by: dict = field(default_factory=dict)  # by sequence: the same when that entry was made
    given_up: dict = field(default_factory=dict)  # parked labels that have waited too long: the latest entry then
    made_replies: dict = field(default_factory=dict)  # by key: when, and the entry behind it
    lost_replies: set = field(default_factory=set)  # keys whose answers were forgotten, and the requests came again
    replies_before: float = float("-inf")  # which may be forgotten

    def take(self, asked) -> None:
        """An answer that has come."""
        if isinstance(asked, NewEvents):
            for answer in asked.answers:
                self._take_answer(answer)
        elif isinstance(asked, NewLabels):
            for outcome, sign in zip(asked.outcomes, asked.signs, strict=True):
                self.labels.append((outcome.id, sign, outcome.outcome, outcome.sequence))
        elif isinstance(asked, Change):
            self.changes.append(asked.sequence)

    def take_replayed(self, asked) -> None:
        """An answer that was given before, perhaps to nobody."""
        if isinstance(asked, NewEvents):
            asked.answers = msgspec.json.decode(asked.replayed, type=EventAnswers).answers
        else:
            asked.outcomes = msgspec.json.decode(asked.replayed, type=LabelOutcomes).outcomes
        self.take(asked)

    def opened(self, model) -> None:
        """What is on the disk counts: of what was made before a crash, some may never have been written."""
        self._parked_since = dict(model.reader._sql.execute("SELECT id, received FROM parked"))
        self.forgotten_by = {at: last for at, last in self.forgotten_by.items() if at <= model.written}

    def made(self, group, sequence, aging, patience) -> None:
        """A group that is to be written, up to an entry: what it gives up must be old enough."""
        now, came = group.received, set()
        for at, entry in group.entries:
            self.forgotten_by[at] = aging._forgotten_until
            came |= set(entry.ids) if isinstance(entry, log.Events) else set()
        for name, label in group.parked.items():
            if label is not None:
                self._parked_since[name] = label[2]
                continue
            since = self._parked_since.pop(name, now)  # by this very group, unless it is known
            if name not in came:
                assert since < now - patience, "a label was given up before its time"
                self.given_up[name] = sequence
        for key, received, _, last in group.replies:
            then, behind = self.made_replies.get(key, (float("inf"), float("inf")))
            if then < self.replies_before or behind <= aging._forgotten_until:  # for its age, or with its entries
                self.lost_replies.add(key)
            self.made_replies[key] = received, last
        if group.replies_before is not None:
            assert group.replies_before <= now - 7 * 86400.0
            self.replies_before = max(self.replies_before, group.replies_before)

    def take_reply(self, key, reply) -> None:
        """A request with a key gets the same answer again, unless that was forgotten meanwhile."""
        before = self.replies.setdefault(key, reply)
        assert before == reply or key in self.lost_replies, "another answer to the same key"
        self.replies[key] = reply
        self.lost_replies.discard(key)

    def _take_answer(self, answer) -> None:
        plain = msgspec.structs.replace(answer, duplicate=False)
        before = self.events.setdefault(answer.id, plain)
        older, newer = sorted((before, plain), key=lambda answer: answer.sequence)
        assert before == plain or older.sequence <= self.forgotten, "another answer to the same id"
        self.events[answer.id] = newer


class Shares:
    """Which events must be alerts where the rule is a rate: by scores alone, in the order of the log."""

    def __init__(self) -> None:
        self.share = self.champion = self.challenger = None
        self.has_schema = self.has_challenger = False

    def walk(self, entry) -> None:
        match entry:
            case log.Made():
                self.has_schema = entry.settings.schema != "infer"
                self._decide(entry.settings.decision)
            case log.SchemaFound():
                self.has_schema = True
            case log.DecisionChanged():
                self._decide(entry.decision)
            case log.Challenged():
                self.has_challenger = entry.challenger is not None
                self.challenger = self._begun() if self.has_challenger else None
            case log.Promoted():
                if self.challenger is not None:
                    self.champion, self.challenger = self.challenger, None
                self.has_challenger = self.has_challenger and not self.has_schema  # it begins when there is one
            case log.Events() if self.share is not None:
                self._check(entry)

    def _decide(self, decision) -> None:
        rule = str(decision.threshold)
        self.share = float(rule.removeprefix("rate:")) if rule.startswith("rate:") else None
        self.champion = self._begun()
        self.challenger = self._begun() if self.has_challenger else None

    def _begun(self):
        return None if self.share is None else ShareAbove(self.share)

    def _check(self, entry) -> None:
        if entry.rival_array is not None and self.challenger is not None:
            for score in entry.rival_array.tolist():
                _taken(self.challenger, score)
        for score, probability, flags in zip(
            entry.score_array.tolist(), entry.probability_array.tolist(), entry.flags, strict=True
        ):
            has_begun = probability == probability
            expected = has_begun and _taken(self.champion, score)
            assert bool(flags & log.ALERT) == expected, "the share of alerts is not what the scores make of it"


def _taken(share, score) -> bool:
    """Whether a score is an alert; a 0 before the first other score is that of a learner that knows nothing."""
    return bool(share.latest or score) and share.take(score, bounded=True)


class Walk:
    """A log from its beginning to its end: events, labels, alerts, parked labels."""

    def __init__(self, entries, forgotten_by=None) -> None:
        self._forgotten_by = forgotten_by or {}
        self.places, self.fates, self.parked, self.alerts = {}, {}, {}, {}
        self.names = {}  # by place
        self.labelled_at = {}  # (name, sign) -> sequences
        self.parked_at = {}  # by name
        self.signs = {}  # by name: all labels that it ever had, parked ones too
        self.n_events = 0
        self.expired_until = 0
        shares = Shares()
        for sequence, entry in entries:
            self._walk(sequence, entry)
            shares.walk(entry)

    def _walk(self, sequence, entry) -> None:
        match entry:
            case log.Events():
                for number, name in enumerate(entry.ids):
                    before, forgotten = self.places.get(name, 0), self._forgotten_by.get(sequence, 0)
                    assert before < log.place_of(forgotten + 1, 0), f"event {name} is in the log twice"
                    place = log.place_of(sequence, number)
                    self.places[name], self.names[place] = place, name
                    self.parked.pop(name, None)
                    self.n_events += 1
                    if entry.flags[number]:
                        self.alerts[place] = entry.flags[number]
            case log.Labels():
                for place, sign, correct in zip(entry.places, entry.signs, entry.corrects, strict=True):
                    assert (place in self.fates) == correct, "a label is learned twice"
                    assert self.fates.get(place) != sign, "a label is learned twice"
                    self.fates[place] = sign
                    self.labelled_at.setdefault((self.names[place], sign), []).append(sequence)
                    self._note(self.names[place], sign)
            case log.Parked():
                self.parked |= dict(zip(entry.ids, entry.signs, strict=True))
                for name, sign in zip(entry.ids, entry.signs, strict=True):
                    self.parked_at[name] = sequence
                    self._note(name, sign)
            case log.Expired():
                assert not set(entry.places) & set(self.fates), "an event with a label has expired"
                assert all(entry.first <= log.entry_and_number(place)[0] <= entry.last for place in entry.places)
                assert entry.first > self.expired_until
                self.expired_until = entry.last
                if entry.as_negative:
                    self.fates |= dict.fromkeys(entry.places, -1)
                    for place in entry.places:
                        self._note(self.names[place], -1)

    def _note(self, name, sign) -> None:
        self.signs.setdefault(name, set()).add(sign)


class FromTheStart(LogReader):
    """Entries from memory: what was forgotten on the disk too."""

    def __init__(self, entries, identity) -> None:
        self._entries, self._identity = entries, identity

    def after(self, sequence, *, events, limit=256):
        wanted = [found for found in self._entries if found > sequence]
        for found in wanted:
            if events or not isinstance(self._entries[found], log.Events):
                yield found, self._entries[found]

    def events_at(self, sequence):
        return self._entries.get(sequence)

    def fact(self, name):
        return self._identity


class Shelf:
    """Versions in memory."""

    def __init__(self) -> None:
        self._kept = {}

    def keep(self, name, sequence, content):
        self._kept[name] = content

    def content(self, name):
        return self._kept[name]


def check(life, *, opened_again: bool = False) -> None:
    """Compare what is on the disk with what clients were told, and models with what the entries make of them."""
    model, told = life.model, life.told
    reader = model.reader
    found = dict(entries_of(reader))
    last = model.written
    # What was written is there, as it was written; only the unacknowledged end may be missing, and old events.
    for sequence, entry in found.items():
        assert told.written.setdefault(sequence, log.packed(entry)) == log.packed(entry)
    for sequence in [late for late in told.written if late > last]:
        del told.written[sequence]
    history = {sequence: log.unpacked(told.written[sequence]) for sequence in sorted(told.written)}
    assert list(history) == list(range(1, last + 1)), "there is a gap in the log"
    missing = [sequence for sequence in history if sequence not in found]
    assert life.limits.seconds is not None or life.limits.bytes is not None or not missing
    forgotten = max(missing, default=0)  # a beginning, but for what the model itself was told
    kinds = log.Events | log.Labels | log.Parked | log.Expired
    assert missing == [at for at in history if at <= forgotten and isinstance(history[at], kinds)]
    walk = Walk(history.items(), told.forgotten_by)
    for sequence in missing:  # nothing that still waited for its label
        if isinstance(history[sequence], log.Events) and sequence > walk.expired_until:
            assert all(log.place_of(sequence, k) in walk.fates for k in range(len(history[sequence].ids)))
    removed = [history[sequence] for sequence in missing if isinstance(history[sequence], log.Events)]
    assert int(reader.fact("removed") or 0) == sum(len(entry.ids) for entry in removed)

    # What was acknowledged is there, once.
    for name, answer in told.events.items():
        if answer.sequence <= forgotten:
            continue  # the same id may have come anew
        place = walk.places[name]
        sequence, number = log.entry_and_number(place)
        entry = history[sequence]
        assert answer == model.sequencer.answer_of(entry, number, sequence)
        assert model.sequencer.find([name]) == [place]
    for name, sign, outcome, sequence in told.labels:
        if outcome in ("learned", "corrected"):
            assert sequence in walk.labelled_at[name, sign]
        elif outcome in ("parked", "duplicate"):
            assert sign in walk.signs[name]
        elif outcome == "conflict":
            assert -sign in walk.signs[name]
        elif outcome == "refused":
            assert life.limits.parked < 100  # which no life comes to
    assert all(sequence in history for sequence in told.changes)

    # What is looked up agrees with the entries.
    sql = reader._sql
    first = log.place_of(forgotten + 1, 0)
    assert dict(sql.execute("SELECT place, sign FROM labels")) == _from(walk.fates, first)
    assert dict(sql.execute("SELECT place, flags FROM alerts")) == _from(walk.alerts, first)
    parked = {name: sign for name, (sign, *_) in reader.all_parked().items()}
    assert parked.items() <= walk.parked.items()
    assert len(parked) <= life.limits.parked
    assert int(reader.fact("events") or 0) == walk.n_events
    assert int(reader.fact("labelled") or 0) == len(walk.fates)
    for name in set(walk.parked) - set(parked):
        assert walk.parked_at[name] <= told.given_up.get(name, 0), "a label that waited for its event is lost"

    # The model is what the entries make of it.
    memory = FromTheStart(history, reader.fact("identity"))
    fresh = Fold(memory, Shelf())
    while fresh.catch_up():
        pass
    live = model._fold
    while live.catch_up():
        pass
    assert live.position == fresh.position
    content = fresh.to_bytes()
    assert live.to_bytes() == content, "the model is not what a replay from the start gives"
    if opened_again:
        again = recovered(model._folder, model._disk, reader)
        assert again.to_bytes() == content, "the model is not what a replay from the start gives"


def _from(table, first):
    return {place: value for place, value in table.items() if place >= first}
