"""A served model is what its learner makes of the same rows in the same order, called directly."""

import random

import msgspec
import numpy as np
import pytest
from sklearn.base import clone

from lopsided.estimators.state.files import to_bytes
from lopsided.serve import running
from lopsided.serve.clock import steady_clock
from lopsided.serve.configuration import built, found_schema, labels_of
from lopsided.serve.entries import Events
from lopsided.serve.learning import Known, Line
from lopsided.serve.messages import ChallengerSettings, ModelSettings
from lopsided.serve.opening import entries_of, recovered
from oracles.served_log import learned
from serve.asking import Service

SETTINGS = (
    {"learner": "onlineperceptron"},
    {"learner": "koil", "parameters": {"budget": 10}},
    {"learner": "onlineperceptron", "selective": True, "exploration": 0.3},
    {"learner": "auto", "unlabelled": "negative:1h"},
)


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_model_is_what_direct_calls_give(settings, tmp_path, monkeypatch):
    draw, ahead, steady = random.Random(0), [0.0], steady_clock()
    monkeypatch.setattr(running, "_TICK", 0.05)
    with Service(tmp_path / "data", clock=lambda: steady() + ahead[0]) as service:
        assert service.ask("PUT", "/models/m", settings).status == 201
        for n in range(40):
            signs = [draw.random() < 0.3 for _ in range(5)]
            events = [
                {"id": f"{n}-{k}", "columns": {"a": draw.gauss(2 * sign, 1), "b": draw.choice("xyz")}}
                for k, sign in enumerate(signs)
            ]
            assert service.ask("POST", "/models/m/events", events).status == 200
            labels = [{"id": f"{n}-{k}", "label": int(sign)} for k, sign in enumerate(signs) if draw.random() < 0.8]
            labels += [{"id": f"{n // 2}-0", "label": draw.randint(0, 1), "correct": True}, {"id": "?", "label": 1}]
            assert service.ask("POST", "/models/m/labels", labels).status == 200
        assert service.ask("POST", "/models/m/events", {"id": "?", "columns": {"a": 1.0, "b": "x"}}).status == 200
        model = service.house.model("m")
        if settings["learner"] == "auto":
            ahead[0] = 7200.0
            while not any(type(entry).__name__ == "Expired" for _, entry in entries_of(model.reader)):
                service.ask("GET", "/healthz")
        folder, disk = model._folder, model._disk
        found = recovered(folder, disk, model.reader).champion.model
        naive = learned(entries_of(model.reader), clone(found), model.labels.classes)
        assert to_bytes(found) == to_bytes(naive)


@pytest.mark.parametrize("learner", ["onlineperceptron", "koil"])
def test_an_event_that_does_not_fit_is_left_out_and_the_others_are_learned_in_order(learner):
    """Labels of one entry, some of them corrections of others, and columns that turned out to be something else."""
    settings = ModelSettings(learner=learner)
    rows = [{"a": float(k % 7), "b": "xy"[k % 2]} for k in range(40)]
    schema = found_schema(settings, rows)
    rows[3] = {"a": "words", "b": "x"}
    scores = np.linspace(-1.0, 1.0, 40)
    columns = [msgspec.json.encode(row) for row in rows]
    entry = Events(
        [f"e{k}" for k in range(40)], scores.tobytes(), columns, 1, scores.tobytes(), scores.tobytes(), bytes(40)
    )
    model, labels = built(settings, settings, schema), labels_of(settings)
    naive = clone(model)
    line = Line(ChallengerSettings(learner), model, labels)
    for first in (0, 20):
        order = [*range(first, first + 20), first + 5, first + 3, first + 6]
        signs = np.array([1.0 if k % 3 else -1.0 for k in order[:20]] + [-1.0, 1.0, 1.0])
        corrects = [False] * 20 + [True] * 3
        weights = np.array([1.0 + (k % 4 == 0) for k in order])
        known = Known([k << 14 for k in order], [(entry, k) for k in order], signs, weights, corrects, [0.0] * 23)
        assert line.learn(known, rival=False) == (2 if first == 0 else 0)
        for k, sign, weight in zip(order, signs, weights, strict=True):
            if k != 3:
                label = labels.classes[int(sign > 0)]
                naive.learn_many([rows[k]], [label], scores=[scores[k]], sample_weight=[weight], classes=labels.classes)
    assert to_bytes(line.model) == to_bytes(naive)
    assert line.window.measures(None).labels == 40  # each once, as it was corrected
