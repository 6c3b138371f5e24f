"""The OpenAPI document, made of the table of routes and the types of their messages."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from lopsided.serve.messages import Problem
from lopsided.serve.web.door import ARROW, NDJSON
from lopsided.serve.web.routes import NOBODY, ROUTES, Route
from lopsided.version import __version__

_REFUSALS = {
    400: "The body is not what its Content-Type says.",
    401: "The token is missing or unknown.",
    403: "The token lacks the right, or a page of another site asks.",
    404: "There is no such model, or nothing of that name in it.",
    413: "The body is too large.",
    422: "The request does not fit the model; the sentence says where.",
    429: "Too much at once: try again after Retry-After seconds.",
    503: "The model cannot write at the moment: try again after Retry-After seconds.",
}


def document() -> dict[str, Any]:
    """All of it, as JSON."""
    types = [kind for route in ROUTES for kind in (route.takes, *_gives(route)) if kind is not None]
    schemas, components = msgspec.json.schema_components([*types, Problem], ref_template="#/components/schemas/{name}")
    by_type = {str(kind): schema for kind, schema in zip([*types, Problem], schemas, strict=True)}
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_type)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "lopsided",
            "version": __version__,
            "description": "Score events now, learn from labels later, lose nothing.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _gives(route: Route) -> tuple[Any, ...]:
    """One of these, or nothing that is described."""
    if route.gives is None:
        return ()
    return route.gives if isinstance(route.gives, tuple) else (route.gives,)


def _operation(route: Route, by_type: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": route.summary,
        "operationId": f"{route.method.lower()}{re.sub(r'[^a-z0-9]+', '_', route.path)}".rstrip("_"),
        "parameters": _parameters(route),
        "responses": _responses(route, by_type),
    }
    if route.right != NOBODY:
        operation["security"] = [{"token": []}]
    if route.takes is not None:
        content = {kind: {"schema": _body(kind, by_type[str(route.takes)])} for kind in route.kinds}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _body(kind: str, schema: Any) -> Any:
    if kind == NDJSON:
        return {"type": "string", "description": "One JSON object in each line."}
    return {"type": "string", "format": "binary", "description": "An Arrow stream."} if kind == ARROW else schema


def _parameters(route: Route) -> list[dict[str, Any]]:
    patterns = {"name": "^[a-z0-9][a-z0-9_-]{0,63}$"}
    found = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string"} | ({"pattern": patterns[name]} if name in patterns else {"minLength": 1}),
        }
        for name in re.findall(r"{(\w+)}", route.path)
    ]
    found += [
        {"name": name, "in": "query", "description": words, "schema": {"type": "string"}}
        for name, words in route.queries.items()
    ]
    if route.has_key:
        words = "Makes a request safe to repeat: the same key gets the same answer, and nothing happens twice."
        found.append({"name": "Idempotency-Key", "in": "header", "description": words, "schema": {"type": "string"}})
    return found


def _responses(route: Route, by_type: dict[str, Any]) -> dict[str, Any]:
    responses = {}
    for status, words in ({} if route.right == NOBODY else _REFUSALS).items():
        responses[str(status)] = {"description": words, "content": _content(by_type[str(Problem)])}
    for status, words in route.statuses.items():
        is_problem = status in (503,) or (status == 409 and route.method == "PUT")
        given = [by_type[str(kind)] for kind in ([Problem] if is_problem else _gives(route))]
        schema = None if not given else given[0] if len(given) == 1 else {"anyOf": given}
        responses[str(status)] = {"description": words} | ({} if schema is None else {"content": _content(schema)})
    return dict(sorted(responses.items()))


def _content(schema: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
