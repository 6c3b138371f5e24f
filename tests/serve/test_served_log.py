"""A served model is what its learner makes of the same rows in the same order, called directly."""

import random

import pytest
from sklearn.base import clone

from lopsided.estimators.state.files import to_bytes
from lopsided.serve import running
from lopsided.serve.clock import steady_clock
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
