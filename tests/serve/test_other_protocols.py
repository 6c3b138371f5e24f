"""What other programs expect: the Open Inference Protocol, Prometheus, and a clock that nobody can set."""

import re
import time

import pytest

from lopsided.serve.clock import steady_clock
from serve.asking import Service

# What OpenTelemetry's conventions advise for http.server.request.duration, in seconds.
BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]


@pytest.fixture
def service(tmp_path):
    with Service(tmp_path) as service:
        settings = {"learner": "onlineperceptron", "labels": ["good", "bad"], "positive": "bad"}
        assert service.ask("PUT", "/models/m", settings).status == 201
        yield service


def _learn(service):
    rows = [{"a": float(k % 4), "b": "xy"[k % 2]} for k in range(40)]
    events = [{"columns": row, "label": "bad" if row["a"] > 2 else "good"} for row in rows]
    assert service.ask("POST", "/models/m/events", events).status == 200
    model = service.house.model("m")
    while model.view.position < model.written:
        service.ask("GET", "/healthz")


def test_the_open_inference_protocol(service):
    assert service.ask("GET", "/v2").said["name"] == "lopsided"
    assert service.ask("GET", "/v2/health/live").status == service.ask("GET", "/v2/health/ready").status == 200
    assert service.ask("GET", "/v2/models/m/ready").status == 503  # it has seen nothing
    _learn(service)
    assert service.ask("GET", "/v2/models/m/ready").said == {"name": "m", "ready": True}
    described = service.ask("GET", "/v2/models/m").said
    assert [(one["name"], one["datatype"], one["shape"]) for one in described["inputs"]] == [
        ("a", "FP64", [-1]),
        ("b", "BYTES", [-1]),
    ]
    assert [one["name"] for one in described["outputs"]] == ["score", "probability", "decision"]

    before = service.house.model("m").written
    flat = [
        {"name": "a", "shape": [2], "datatype": "FP64", "data": [3.0, 0.0]},
        {"name": "b", "shape": [2], "datatype": "BYTES", "data": ["y", "x"]},
    ]
    said = service.ask("POST", "/v2/models/m/infer", {"inputs": flat, "id": "7"}).said
    assert (said["model_name"], said["id"]) == ("m", "7")
    found = {one["name"]: one["data"] for one in said["outputs"]}
    nested = [one | {"shape": [2, 1], "data": [[value] for value in one["data"]]} for one in flat]
    again = service.ask("POST", "/v2/models/m/infer", {"inputs": nested, "outputs": [{"name": "score"}]}).said
    assert "id" not in again and [one["name"] for one in again["outputs"]] == ["score"]
    assert again["outputs"][0]["data"] == found["score"]
    wrong = [one | {"data": [[value, value] for value in one["data"]]} for one in nested]
    assert service.ask("POST", "/v2/models/m/infer", {"inputs": wrong}).status == 422
    assert service.house.model("m").written == before  # it only scores

    events = [{"columns": {"a": 3.0, "b": "y"}}, {"columns": {"a": 0.0, "b": "x"}}]
    answers = service.ask("POST", "/models/m/events", events).said["answers"]
    assert found == {name: [answer[name] for answer in answers] for name in ("score", "probability", "decision")}


def test_times_for_prometheus_have_the_bounds_of_opentelemetry(service):
    _learn(service)
    text = service.ask("GET", "/metrics").body.decode()
    own = re.findall(
        r'http_server_request_duration_seconds_bucket\{le="([^"]+)",.*route="/models/\{name\}/events"', text
    )
    assert [float(bound) for bound in own] == [*BOUNDS, float("inf")]
    assert 'lopsided_events_total{model="m"} 40.0' in text


def test_a_jump_of_the_machine_s_clock_is_not_seen(monkeypatch):
    clock = steady_clock()
    before = clock()
    monkeypatch.setattr(time, "time", lambda: before + 30 * 86_400.0)
    assert 0.0 <= clock() - before < 3600.0
