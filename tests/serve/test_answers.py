"""What a model answers where requests meet: labels before their events, ids twice, ids that look like ours."""

import pytest

from lopsided.serve import running
from lopsided.serve.opening import entries_of
from serve.asking import Service

COLUMNS = {"a": 1.0}


@pytest.fixture
def ask(tmp_path):
    with Service(tmp_path) as service:
        service.ask("PUT", "/models/m", {"learner": "onlineperceptron"})

        def ask(kind, body, key=None):
            headers = [] if key is None else [("idempotency-key", key)]
            return service.ask("POST", f"/models/m/{kind}", body, headers)

        ask.service = service
        yield ask


def _label(ask, name):
    return ask.service.ask("GET", f"/models/m/events/{name}").said["label"]


def test_another_label_for_an_event_that_has_not_come(ask):
    def give(label, **more):
        answer = ask("labels", {"id": "x", "label": label, **more})
        return answer.status, answer.said["outcome"]

    assert give(1) == (202, "parked")
    assert give(1) == (200, "duplicate")
    assert give(0) == (409, "conflict")
    assert give(0, correct=True) == (202, "parked")
    ask("events", {"id": "x", "columns": COLUMNS})
    assert _label(ask, "x") == 0


def test_an_event_that_comes_again_with_its_label(ask):
    ask("events", {"id": "x", "columns": COLUMNS})
    for _ in range(2):
        assert ask("events", {"id": "x", "columns": COLUMNS, "label": 1}).said["duplicate"]
    assert ask("labels", {"id": "x", "label": 1}).said["outcome"] == "duplicate"
    assert _label(ask, "x") == 1
    model = ask.service.house.model("m")
    assert sum(type(entry).__name__ == "Labels" for _, entry in entries_of(model.reader)) == 1


def test_an_id_that_we_would_have_given(ask):
    """The next entry is the second: its first event would be called 2-0."""
    ask("labels", {"id": "3-1", "label": 1})
    answers = ask("events", [{"id": "3-0", "columns": COLUMNS}, {"columns": COLUMNS}, {"columns": COLUMNS}]).said
    names = [answer["id"] for answer in answers["answers"]]
    assert len(set(names)) == 3 and "3-1" not in names and names[0] == "3-0"


def test_an_answer_that_changed_nothing_is_kept_too(ask):
    ask("events", {"id": "x", "columns": COLUMNS, "label": 1})
    first = ask("labels", {"id": "x", "label": 0}, "k")
    assert first.status == 409
    ask("labels", {"id": "x", "label": 0, "correct": True})
    again = ask("labels", {"id": "x", "label": 0}, "k")
    assert (again.status, again.body) == (first.status, first.body)


def test_what_is_forgotten_gives_its_room_back(ask):
    events = [{"id": f"{n}", "columns": {"a": 1.0, "b": "x" * 1000}} for n in range(500)]
    ask("events", events)
    writer = ask.service.house.model("m")._writer
    before = writer._sql.execute("PRAGMA page_count").get
    writer.append(running.Group(received=0.0, forget=(1, 99)))
    assert writer._sql.execute("PRAGMA page_count").get < before / 2
