"""Requests that no client should send: refused with a sentence, never with a 500, and the model stays what it was."""

import io
import json
import random
import re

import msgspec
import pyarrow as pa
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from lopsided.serve.web.door import ARROW, JSON, NDJSON
from lopsided.serve.web.openapi import document
from lopsided.serve.web.routes import ROUTES
from serve.refusing import MODELS, check_answer, check_model, event, service_with_models

WEIRD = (
    None, True, -1, 0, 1, 2**63, -(2**70), 10**400, 1e308, -0.0, 5e-324, "", " ", "../../etc/passwd", "a" * 300, "\x00",
    "NaN", "é\u202e", [], {}, [[]], {"a": {"b": 1}}, "1e999", [0] * 50, "2026-13-45", "0001-01-01T00:00:00+23:59",
)  # fmt: skip
NAMES = ("..", "%2e%2e", "M", "m/..", "a" * 65, "é", "-x", ".", "m ", "con", "m\x00", "nobody", "\udc80")
RAW = (
    b"", b"{", b"[", b"null", b"[]", b"{}", b"\xff\xfe", b"[" * 5000, b'{"columns":' * 3000, b"NaN", b"1e999",
    b"\x00" * 9, b'{"columns":{"a":[1]}}', b"\n\n\n", b'{"a":1}\n{',
    b'{"columns": {"a": NaN}}', b'{"columns": {"a": 1e999}}', b'{"columns": {"a": 1}} trailing', b'"text"', b"-",
    b'{"columns": {"a": 1, "a": 2}, "id": "twice"}', b'{"id": "\\ud800", "columns": {"a": 1}}',
    b'{"columns": {"a": ' + b"9" * 400 + b"}}", b'{"columns": {"' + b"x" * 11000 + b'": 1}}',
)  # fmt: skip
HEADERS = (
    ("content-length", "-1"), ("content-length", "1e9"), ("content-length", "99999999999"), ("content-length", b"\xb2"),
    ("origin", "http://elsewhere"), ("authorization", b"Bearer \xff"), ("accept", "\x7f"),
)  # fmt: skip
QUERIES = (
    b"", b"limit=0", b"limit=-1", b"limit=%FF", b"day=2026-02-30", b"day=%00", b"limit=" + b"9" * 99, b"day=0001-01-01",
    b"day=9999-12-31", b"limit=5", b"limit=%C2%B2",
)  # fmt: skip
TYPES = (JSON, NDJSON, ARROW, "text/plain", "application/json; charset=utf-16", "", "/", "multipart/form-data")


@pytest.fixture
def service(tmp_path):
    with service_with_models(tmp_path / "data") as service:
        yield service


def _valid(draw, route, name):
    """A body that the route would take."""
    match route.path.rpartition("/")[2]:
        case "events":
            events = [event(draw, name) for _ in range(draw.randint(1, 3))]
            return events if draw.random() < 0.5 else events[0]
        case "labels":
            return {"id": f"e{draw.randint(0, 30)}", "label": draw.choice((0, 1)), "correct": draw.random() < 0.3}
        case "decision":
            return {"threshold": draw.choice(("f1", 0.3))} if draw.random() < 0.5 else {"alerts": "5/day"}
        case "challenger":
            return {"learner": "onlineperceptron"}
        case "versions" | "rollback":
            return {"name": f"v{draw.randint(0, 5)}"}
        case "infer":
            tensors = [{"name": "a", "shape": [1], "datatype": "FP64", "data": [0.5]}]
            return {"inputs": [*tensors, {"name": "b", "shape": [1], "datatype": "BYTES", "data": ["x"]}]}
        case _:
            return dict(MODELS.get(name, {}))


def _spoiled(draw, value):
    """The same with something in it that does not belong there."""
    if isinstance(value, dict) and value and draw.random() < 0.8:
        name = draw.choice(list(value))
        kind = draw.random()
        if kind < 0.15:
            return {key: part for key, part in value.items() if key != name}
        if kind < 0.25:
            return value | {draw.choice(("extra", "", "id", "ü" * 20, "time", "label")): draw.choice(WEIRD)}
        return value | {name: _spoiled(draw, value[name])}
    if isinstance(value, list) and value and draw.random() < 0.8:
        at = draw.randrange(len(value))
        return [*value[:at], _spoiled(draw, value[at]), *value[at + 1 :]]
    return draw.choice(WEIRD)


def _arrow(draw):
    columns = {
        "a": draw.choice(([1.0, None], ["x", "y"], [b"\xff", b""], [[1], [2]], [float("nan"), 1e300])),
        draw.choice(("id", "time", "label", "b")): draw.choice((["p", "q"], [1, 2], [None, None], [b"\xff", b"x"])),
    }
    sink = io.BytesIO()
    table = pa.table(columns)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content = bytearray(sink.getvalue())
    for _ in range(draw.choice((0, 0, 1, 5))):
        content[draw.randrange(len(content))] = draw.randrange(256)
    return bytes(content[: draw.choice((len(content), len(content) // 2))])


def _body(draw, route, name):
    """Bytes and their type."""
    kind = draw.random()
    if kind < 0.2:
        return draw.choice(RAW), draw.choice(TYPES)
    if kind < 0.25:
        return draw.randbytes(draw.randint(0, 60)), draw.choice(TYPES)
    if kind < 0.35 and route.path.endswith("events"):
        return _arrow(draw), ARROW
    value = _valid(draw, route, name)
    for _ in range(draw.choice((0, 1, 1, 2))):
        value = _spoiled(draw, value)
    content = json.dumps(value).encode()  # msgspec would refuse some of them
    if draw.random() < 0.1:
        content = content[: draw.randint(0, len(content))]
    return content, NDJSON if draw.random() < 0.1 else JSON if draw.random() < 0.95 else draw.choice(TYPES)


def _request(draw):
    route = draw.choice(ROUTES)
    if route.path.endswith("stream"):
        route = ROUTES[6]
    name = draw.choice(NAMES) if draw.random() < 0.1 else draw.choice(list(MODELS))
    if route.method == "PUT" and route.path.endswith("{name}") and name not in MODELS:
        name = draw.choice(NAMES[:9])
    path = route.path.replace("{name}", name).replace(
        "{id}", draw.choice(("e1", "nobody", "..", "é", "a/b", "x" * 999))
    )
    body, kind = _body(draw, route, name) if route.takes is not None or draw.random() < 0.1 else (b"", JSON)
    headers = [("content-type", kind)]
    if draw.random() < 0.1:
        headers.append(("idempotency-key", draw.choice((b"", b"\xff\xfe", b"k" * 201, b"fine", b"a b", b"k" * 200))))
    if draw.random() < 0.1:
        headers.append(draw.choice(HEADERS))
    query = draw.choice(QUERIES)
    method = route.method if draw.random() < 0.97 else draw.choice(("PATCH", "OPTIONS", "DELETE", "BREW"))
    return route, method, path, body, headers, query


def _bombard(service, seed, n):
    draw, documented = random.Random(seed), document()["paths"]
    models = [service.house.model(name) for name in MODELS]
    statuses = set()
    for k in range(n):
        route, method, path, body, headers, query = _request(draw)
        before = [model.written for model in models]
        try:
            answer = service.ask(method, path, body, headers, query)
            check_answer(route, method, answer, documented)
            if answer.status >= 400:
                assert [model.written for model in models] == before, "a refused request has changed a model"
            assert all(model.failure is None for model in models), [model.failure for model in models]
        except Exception as error:
            error.add_note(f"request {k} of seed {seed}: {method} {path!r} {headers} {query!r} {body[:300]!r}")
            raise
        statuses.add(answer.status)
    assert {200, 400, 404, 405, 409, 413, 422} <= statuses
    assert service.house.names == sorted(MODELS)
    for model in models:
        check_model(model, service.house.folder.parent / "copies" / model.name)


@pytest.mark.parametrize("seed", range(2))
def test_malformed_requests_change_nothing(service, seed):
    _bombard(service, seed, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_ten_thousand_malformed_requests_change_nothing(service, seed):
    _bombard(service, seed, 1000)


def test_every_path_of_the_document_is_one_that_is_served():
    described = {(path, method.upper()) for path, methods in document()["paths"].items() for method in methods}
    assert described == {(route.path, route.method) for route in ROUTES}
    operations = [operation for methods in document()["paths"].values() for operation in methods.values()]
    assert all(re.fullmatch(r"[a-z0-9_]+", operation["operationId"]) for operation in operations)


def test_the_document_is_one():
    found = msgspec.json.decode(msgspec.json.encode(document()))
    assert list(OpenAPIV31SpecValidator(found).iter_errors()) == []
