"""Requests made up from the service's own description, and bytes that are hardly requests: refused, and nothing more.

`make fuzz` sends ten thousand by schemathesis; these here are quick, and the same in every run.
"""

import json
import random
import re
import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lopsided.client import Client
from lopsided.serve.web.openapi import document
from lopsided.serve.web.routes import ROUTES
from serve.refusing import MODELS, check_answer, check_model, service_with_models
from serve.running_service import running_service

DOCUMENT = json.loads(json.dumps(document()))
LEFT_OUT = ("/models/{name}/stream",)  # it has no end
LIKELY = st.sampled_from(
    ("m", "e1", "e7", "a", "b", "x", "onlineperceptron", "f1", "5/day", "drop:1h", "infer", "FP64")
)
WORDS = LIKELY | st.text(max_size=8)
NUMBERS = st.integers(-3, 3) | st.integers() | st.floats() | st.sampled_from((2**63, 10**400, 1.7e9))
ANYTHING = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


def made_by(schema):
    """Values that fit a schema of the document; one in ten does not."""
    return st.integers(0, 9).flatmap(lambda luck: _fitting(schema) if luck else ANYTHING)


def _fitting(schema):
    if "$ref" in schema:
        return _fitting(DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return st.one_of([made_by(one) for one in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "object":
            return _objects(schema)
        case "array":
            least, most = schema.get("minItems", 0), min(schema.get("maxItems", 3), 3)
            return st.lists(made_by(schema.get("items", {})), min_size=least, max_size=most)
        case "string":
            return st.from_regex(schema["pattern"]) if "pattern" in schema else WORDS
        case "integer":
            return st.integers()
        case "number":
            return NUMBERS
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
    return ANYTHING


def _objects(schema):
    named, needed = schema.get("properties", {}), schema.get("required", [])
    fixed = {name: made_by(one) for name, one in named.items() if name in needed}
    free = {name: made_by(one) for name, one in named.items() if name not in needed}
    if named:
        return st.fixed_dictionaries(fixed, optional=free)
    others = schema.get("additionalProperties")
    return st.dictionaries(WORDS, made_by(others) if isinstance(others, dict) else ANYTHING, max_size=3)


@st.composite
def requests(draw):
    """A route, and a request to it."""
    route = draw(st.sampled_from([route for route in ROUTES if route.path not in LEFT_OUT]))
    described = DOCUMENT["paths"][route.path][route.method.lower()]
    # A model has four threads: no more are made than there are.
    is_new = route.method == "PUT" and route.path == "/models/{name}"
    names = st.sampled_from(sorted(MODELS)) if is_new or draw(st.integers(0, 9)) else st.text(max_size=9)
    path = route.path.replace("{name}", draw(names)).replace("{id}", draw(WORDS))
    body, headers = b"", []
    if "requestBody" in described:
        kind = draw(st.sampled_from(sorted(described["requestBody"]["content"])))
        schema = described["requestBody"]["content"][kind]["schema"]
        value = draw(made_by(schema))
        body = value.encode("utf-8", "replace") if isinstance(value, str) else json.dumps(value).encode()
        headers.append(("content-type", kind))
    query = "&".join(
        f"{one['name']}={draw(WORDS)}"
        for one in described["parameters"]
        if one["in"] == "query" and draw(st.booleans())
    )
    if any(one["in"] == "header" for one in described["parameters"]) and draw(st.booleans()):
        headers.append(("idempotency-key", draw(WORDS).encode("utf-8", "replace")))
    return route, path, body, headers, query.encode("utf-8", "replace")


def test_requests_made_of_the_description(tmp_path):
    with service_with_models(tmp_path / "data") as service:
        models, statuses = [service.house.model(name) for name in MODELS], []

        @settings(max_examples=500)
        @given(requests())
        def send(request):
            route, path, body, headers, query = request
            before = [model.written for model in models]
            answer = service.ask(route.method, path, body, headers, query)
            check_answer(route, route.method, answer, DOCUMENT["paths"])
            if answer.status >= 400:
                assert [model.written for model in models] == before, "a refused request has changed a model"
            assert all(model.failure is None for model in models)
            statuses.append(answer.status)

        send()
        assert len(statuses) >= 500 and {200, 400, 404, 409, 422} <= set(statuses)
        assert service.house.names == sorted(MODELS)
        for model in models:
            check_model(model, tmp_path / "copies" / model.name)


# ---------------------------------------------------------------- bytes over the socket


def _whole(draw):
    """A request that is one, to which there is an answer."""
    bodies = (b"{}", b'{"columns": {"a": 1}}', b'{"id": "e1", "label": 7}', b"[1, 2", b"\xff" * 9, b"")
    path = draw.choice(
        ("/models/m/events", "/models/m/labels", "/models/m", "/healthz", "/v2/models/m/infer", "//", "*")
    )
    body, method = draw.choice(bodies), draw.choice(("POST", "POST", "POST", "GET", "PUT", "DELETE"))
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _broken(draw):
    """The same with bytes that are lost, changed, repeated or of another kind."""
    content = bytearray(_whole(draw))
    match draw.randrange(6):
        case 0:
            return draw.randbytes(draw.randint(1, 300))
        case 1:
            return bytes(content[: draw.randrange(len(content))])
        case 2:
            for _ in range(draw.randint(1, 8)):
                content[draw.randrange(len(content))] = draw.randrange(256)
        case 3:
            lines = bytes(content).split(b"\r\n")
            draw.shuffle(lines)
            return b"\r\n".join(lines)
        case 4:
            length = draw.choice((b"Content-Length: -1", b"Transfer-Encoding: chunked", b"X: " + b"y" * 70_000))
            return bytes(content).replace(b"Connection: close", length)
        case 5:
            return bytes(content) * 3
    return bytes(content)


def _answers(address, content, *, is_whole):
    """All that comes back until the other side closes; what is not a request is ended by us."""
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as own:
        found = b""
        try:
            own.sendall(content)
            if not is_whole:
                own.shutdown(socket.SHUT_WR)
            while more := own.recv(65536):
                found += more
        except ConnectionError:  # it need not listen to the end
            pass
    return found


@pytest.mark.parametrize("seed", range(2))
def test_bytes_that_are_hardly_requests(seed, tmp_path):
    draw, statuses = random.Random(seed), set()
    with running_service(tmp_path / "data") as (address, house), Client(address) as client:
        for name, settings_of in MODELS.items():
            client.make_model(name, **settings_of)
        client.score_many("m", [{"id": f"e{k}", "columns": {"a": float(k)}, "label": k % 2} for k in range(9)])
        for _ in range(200):
            is_whole = draw.random() < 0.3
            content = _whole(draw) if is_whole else _broken(draw)
            found = [
                int(status)
                for status in re.findall(rb"HTTP/1.1 (\d{3})", _answers(address, content, is_whole=is_whole))
            ]
            assert all(status < 500 for status in found), content
            assert found or not is_whole
            statuses |= set(found)
        assert {200, 400, 404, 405, 422} <= statuses
        assert house.names == sorted(MODELS) and client.state("m").events >= 9
        for name in MODELS:
            assert house.model(name).failure is None
            check_model(house.model(name), tmp_path / "copies" / name)
