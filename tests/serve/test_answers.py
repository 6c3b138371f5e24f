"""What a model answers where requests meet: labels before their events, ids twice, ids that look like ours."""

import msgspec
import pytest

from lopsided.serve import running
from lopsided.serve.configuration import Limits, checked
from lopsided.serve.messages import ModelSettings
from lopsided.serve.opening import entries_of, make_model
from lopsided.serve.storage.disk import RealDisk
from lopsided.serve.web.door import JSON, labels_of_request
from serve.asking import Service
from serve.simulated_service import without_threads

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


def test_only_so_many_labels_wait_for_events_that_have_not_come(tmp_path):
    """One more is refused, and nothing of it is kept; what is known of the others, and of events, is judged as ever."""
    with Service(tmp_path, limits=Limits(parked=2)) as service:
        service.ask("PUT", "/models/m", {"learner": "onlineperceptron"})

        def give(names, label=1, key=None, **more):
            labels = [{"id": name, "label": label, **more} for name in names]
            headers = [] if key is None else [("idempotency-key", key)]
            answer = service.ask("POST", "/models/m/labels", labels[0] if len(names) == 1 else labels, headers)
            if answer.status != 200:
                return answer.status
            return [outcome["outcome"] for outcome in answer.said.get("outcomes", [answer.said])]

        assert give("ab") == ["parked", "parked"]
        before = service.house.model("m").written
        refused = service.ask("POST", "/models/m/labels", {"id": "c", "label": 1})
        assert (refused.status, refused.headers["retry-after"]) == (429, "1")
        assert refused.said["error"].startswith("At most 2 labels may wait for events that have not come.")
        assert give("cd", key="k") == 429 and service.house.model("m").written == before
        assert give("abc", 0) == ["conflict", "conflict", "refused"]
        assert give("ac", 0, correct=True) == ["parked", "refused"]
        state = service.ask("GET", "/models/m").said
        assert (state["parked"], state["refused"]) == (2, 5)
        assert any("2 labels wait for events that have not come" in note for note in state["notes"])
        counted = service.ask("GET", "/metrics").body.decode()
        assert 'lopsided_labels_refused_total{model="m"} 5.0' in counted
        assert 'lopsided_labels_parked{model="m"} 2.0' in counted
        # An event takes its label along, and there is room again; a request that was refused is not remembered.
        service.ask("POST", "/models/m/events", {"id": "a", "columns": COLUMNS})
        assert give("cd", key="k") == ["parked", "refused"]
        assert give("a", 0) == ["duplicate"]
    with Service(tmp_path, limits=Limits(parked=1)) as service:  # fewer than there are: none of these is lost
        assert service.ask("GET", "/models/m").said["parked"] == 2
        assert service.ask("POST", "/models/m/labels", {"id": "e", "label": 1}).status == 429
        service.ask("POST", "/models/m/events", [{"id": name, "columns": COLUMNS} for name in "bc"])
        assert service.ask("GET", "/models/m/events/b").said["label"] == 1
        assert service.ask("POST", "/models/m/labels", {"id": "e", "label": 1}).status == 202


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


def test_a_label_that_came_again_waits_from_then_on(tmp_path, monkeypatch):
    """It was corrected, and has not been written, when those that were on disk for too long are given up."""
    without_threads(monkeypatch)
    now = [1.7e9]
    settings = checked(ModelSettings(learner="onlineperceptron", unlabelled="drop:1h"))
    make_model(tmp_path / "m", RealDisk(), settings, now[0])
    model = running.RunningModel("m", tmp_path / "m", RealDisk(), lambda: now[0])
    for label in (0, 1):
        body = msgspec.json.encode({"id": "x", "label": label, "correct": True})
        model.submit(labels_of_request(body, JSON, model, now[0])[0])
        model._answer_group()
        if label == 0:
            model._write_groups()
        now[0] += 3601.0 * (1 - label)
    model._keep_house()
    model._answer_group()
    model._write_groups()
    assert {name: sign for name, (sign, *_) in model.reader.all_parked().items()} == {"x": 1}
    now[0] += 3601.0
    for _ in range(2):
        model._keep_house()
        model._answer_group()
        model._write_groups()
    assert model.reader.all_parked() == {} and model.sequencer.judge.n_parked == 0
    model.close()
