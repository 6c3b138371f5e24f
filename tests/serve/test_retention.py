"""What is kept of a model, by time and by size: the oldest goes first, and never what somebody still waits for.

No thread runs: what theirs would do is done here, step by step, so that nothing depends on how fast a machine is.
"""

import msgspec
import pytest

from lopsided.serve import looking, opening, running
from lopsided.serve.configuration import Limits, checked
from lopsided.serve.entries import Events, Labels
from lopsided.serve.messages import ModelSettings
from lopsided.serve.storage.disk import RealDisk
from lopsided.serve.web.door import JSON, events_of, labels_of_request
from serve.simulated_service import without_threads

LONG = [f"{k} " * 150 for k in range(9)]


class Stepped:
    """A model at work, one step after the other; its clock goes when somebody moves it."""

    def __init__(self, folder, limits, now=1.7e9):
        self.now, self.n_busy = now, 0
        if not folder.exists():
            opening.make_model(folder, RealDisk(), checked(ModelSettings(learner="onlineperceptron")), now)
        self.model = running.RunningModel("m", folder, RealDisk(), lambda: self.now, limits)

    def _ask(self, asked, key=None):
        asked.key = key
        self.model.submit(asked)
        self._step()
        return asked

    def _step(self):
        """What is in line is answered and written."""
        self.model._answer_group()
        self.model._write_groups()

    def score(self, events, key=None):
        return self._ask(events_of(msgspec.json.encode(events), JSON, self.model, self.now)[0], key).answers

    def label(self, name, label):
        body = msgspec.json.encode({"id": name, "label": label})
        return self._ask(labels_of_request(body, JSON, self.model, self.now)[0]).outcomes[0].outcome

    def send(self, first, n):
        """Events with long words, all of which get their labels."""
        for start in range(first, first + n, 50):
            own = range(start, start + 50)
            self.score([{"id": f"e{k}", "columns": {"x": float(k % 7), "words": LONG[k % 9]}} for k in own])
            labels = msgspec.json.encode([{"id": f"e{k}", "label": int(k % 3 == 0)} for k in own])
            self._ask(labels_of_request(labels, JSON, self.model, self.now)[0])

    def keep_house(self, until, most=200):
        """Snapshots are made where something is learned, and with them old events can go."""
        for _ in range(most):
            self.n_busy += 1
            self.score([{"id": f"busy {self.n_busy}", "columns": {"x": 1.0, "words": "a"}, "label": 1}])
            while self.model._fold.catch_up():
                pass
            self.model._sum_up()
            self.model._last_save = float("-inf")
            self.model._keep_house()
            self._step()
            if until():
                return
        raise AssertionError("it does not happen")

    @property
    def state(self):
        return looking.state_of(self.model)


@pytest.fixture(autouse=True)
def still(monkeypatch):
    without_threads(monkeypatch)


def test_by_size_the_oldest_events_go_with_all_that_is_known_of_them(tmp_path):
    limits = Limits(bytes=600_000)
    own = Stepped(tmp_path / "m", limits)
    own.send(0, 2500)
    model = own.model
    own.keep_house(lambda: 0 < model.size < limits.bytes and own.state.storage.removed > 1000)
    state = own.state
    assert state.storage.limit == limits.bytes and state.storage.bytes < limits.bytes
    assert any(f"{state.storage.removed:,} old event(s)" in note for note in state.notes)
    assert state.waiting == 0  # what is gone does not count as waiting
    found = opening.entries_of(model.reader)
    assert (
        sum(len(entry.ids) for _, entry in found if isinstance(entry, Events)) == state.events - state.storage.removed
    )
    old = [entry for sequence, entry in found if sequence <= model.forgotten]
    assert not any(isinstance(entry, Events | Labels) for entry in old)
    # An id that is gone is an id that nobody knows.
    assert own.label("e0", 1) == "parked" and looking.event_of(model, "e0") is None
    assert own.label("e2499", 1) == "duplicate" and own.label("e2499", 0) == "conflict"
    rows = own.state.champion.rows
    model.close()

    again = Stepped(tmp_path / "m", limits)
    assert again.state.storage.removed == state.storage.removed and again.state.champion.rows == rows
    assert again.label("e2499", 1) == "duplicate" and again.label("e0", 1) == "duplicate"  # of the one that is parked
    again.model.close()


def test_what_waits_for_its_label_is_kept_whatever_its_size(tmp_path):
    own = Stepped(tmp_path / "m", Limits(bytes=100_000))
    own.send(0, 100)
    own.score([{"id": "waits", "columns": {"x": 1.0, "words": "b"}}])
    own.send(100, 400)
    own.keep_house(lambda: any("still wait for their labels" in note for note in own.state.notes))
    own.keep_house(lambda: own.state.storage.removed == 100)
    for _ in range(5):
        own.keep_house(lambda: True)
    assert own.state.storage.removed == 100
    assert own.label("waits", 1) == "learned"
    own.keep_house(lambda: own.state.storage.removed > 400)
    own.model.close()


def test_by_time_what_is_old_goes_when_its_label_is_known_or_given_up(tmp_path):
    own = Stepped(tmp_path / "m", Limits(seconds=86_400.0))
    own.send(0, 50)
    own.score([{"id": "waits", "columns": {"x": 1.0, "words": "b"}}])
    for _ in range(5):
        own.keep_house(lambda: True)
    assert own.state.storage.removed == 0
    own.now += 2 * 86_400.0
    own.send(50, 50)
    for _ in range(5):
        own.keep_house(lambda: True)
    assert own.state.storage.removed == 50 and own.label("e0", 0) == "parked"  # all but what waits, and came after it
    own.now += 91 * 86_400.0
    own.keep_house(lambda: own.state.storage.removed >= 101)
    assert own.label("waits", 1) == "parked"
    own.model.close()


def test_replies_also_have_an_age_of_their_own(tmp_path):
    own = Stepped(tmp_path / "m", Limits())
    answers = own.score([{"columns": {"x": 1.0, "words": "a"}}] * 3, key="k")
    model = own.model

    def n_replies():
        return model.reader._sql.execute("SELECT count(*) FROM replies").get

    own.now += 6 * 86_400.0
    for _ in range(3):
        own.keep_house(lambda: True)
    assert n_replies() == 1 and own.score([{"columns": {"x": 1.0, "words": "a"}}] * 3, key="k") == []  # as before
    own.now += 2 * 86_400.0
    own.keep_house(lambda: n_replies() == 0)
    assert own.state.storage.removed == 0 and own.state.events == 3 + own.n_busy
    assert len(answers) == 3
    model.close()
