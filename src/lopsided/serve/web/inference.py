"""The Open Inference Protocol (version 2), so that existing clients can score by a model. Nothing is written."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from lopsided.constraints import ParameterError
from lopsided.encoding import EncodedRows, Schema
from lopsided.labels import LabelMap
from lopsided.serve.configuration import label_of
from lopsided.serve.running import RunningModel
from lopsided.serve.scoring import Scorer
from lopsided.serve.web.door import MOST_AT_ONCE
from lopsided.serve.web.responses import decoded, json_response, model_of, problem
from lopsided.version import __version__

_NUMBERS = {"BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64"}


class Tensor(msgspec.Struct):
    """A column, by the name that it has in the schema: as many values as there are rows."""

    name: str
    shape: list[int]
    datatype: str
    data: list[Any]
    parameters: dict[str, Any] = {}


class InferenceRequest(msgspec.Struct):
    """Columns of rows to be scored."""

    inputs: list[Tensor]
    id: str | None = None
    parameters: dict[str, Any] = {}
    outputs: list[dict[str, Any]] = []


async def server(request: Request) -> Response:
    """What this is."""
    return json_response({"name": "lopsided", "version": __version__, "extensions": []})


async def ready(request: Request) -> Response:
    """Whether a model scores."""
    model = model_of(request)
    if model.failure is not None or model.view.champion is None:
        return problem(f"The model {model.name!r} does not know its columns yet, or cannot write.", 503)
    return json_response({"name": model.name, "ready": True})


async def metadata(request: Request) -> Response:
    """Inputs and outputs of a model."""
    model = model_of(request)
    columns = () if model.schema is None else _columns_of(model)
    return json_response(
        {
            "name": model.name,
            "versions": [version.name for version in model.versions.all()],
            "platform": "lopsided",
            "inputs": [
                {"name": name, "datatype": "FP64" if kind == "number" else "BYTES", "shape": [-1]}
                for name, kind in columns
            ],
            "outputs": [
                {"name": name, "datatype": kind, "shape": [-1]}
                for name, kind in (("score", "FP64"), ("probability", "FP64"), ("decision", "BYTES"))
            ],
        }
    )


def _columns_of(model: RunningModel) -> list[tuple[str, str]]:
    schema: Schema = model.schema
    names = [(column.name, column.kind) for column in schema.columns]
    return names + [(key, "key") for key in model.settings.keys if key not in dict(names)]


async def infer(request: Request) -> Response:
    """Scores, probabilities and decisions of rows."""
    model, asked = model_of(request), await decoded(request, InferenceRequest)
    rows = rows_of(asked)
    champion = model.view.champion
    if champion is None:
        raise ParameterError("The model must know its columns before it can score. Got one that has seen no events.")

    outputs = await asyncio.to_thread(
        lambda: outputs_of(champion, champion.model.encoder_.from_mappings(rows).view(EncodedRows), model.labels)
    )
    return json_response(reply_to(asked, {"model_name": model.name}, outputs))


def outputs_of(scorer: Scorer, rows: Any, labels: LabelMap) -> list[dict[str, Any]]:
    """What a model says of encoded rows, as the protocol has it."""
    scores = scorer.scores(rows)
    known = [None if np.isnan(value) else float(value) for value in scorer.probabilities(scores)]
    decisions = [str(label_of(labels, 1 if score > scorer.threshold else -1)) for score in scores]
    columns = (("score", "FP64", scores.tolist()), ("probability", "FP64", known), ("decision", "BYTES", decisions))
    return [{"name": name, "datatype": kind, "shape": [len(data)], "data": data} for name, kind, data in columns]


def reply_to(asked: InferenceRequest, facts: dict[str, Any], outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Facts about the model, the id of the request if it has one, and the outputs that were asked for, or all."""
    wanted = {output.get("name") for output in asked.outputs}
    named = {} if asked.id is None else {"id": asked.id}
    return {**facts, **named, "outputs": [one for one in outputs if not wanted or one["name"] in wanted]}


def rows_of(asked: InferenceRequest) -> list[dict[str, Any]]:
    """The columns of a request as rows."""
    sizes = {len(tensor.data) for tensor in asked.inputs}
    if len(sizes) != 1 or not 1 <= (n := sizes.pop()) <= MOST_AT_ONCE:
        raise ParameterError(f"The inputs must be columns of the same 1 to {MOST_AT_ONCE:,} rows. Got other sizes.")
    for tensor in asked.inputs:
        if tensor.shape not in ([n], [n, 1]):
            raise ParameterError(f"The shape of input {tensor.name!r} must be [{n}]. Got {tensor.shape[:4]}.")
        if tensor.datatype != "BYTES" and tensor.datatype not in _NUMBERS:
            raise ParameterError(f"The datatype of input {tensor.name!r} must be a number or BYTES. Got another.")
    columns = {tensor.name: _flat(tensor) for tensor in asked.inputs}
    return [{name: values[row] for name, values in columns.items()} for row in range(n)]


def _flat(tensor: Tensor) -> list[Any]:
    """The values of a column, which may be rows of one value each, if its shape says so."""
    values = tensor.data
    if len(tensor.shape) == 2 and all(isinstance(value, list) and len(value) == 1 for value in values):
        values = [value for (value,) in values]
    if any(isinstance(value, list | dict) for value in values):
        raise ParameterError(f"The data of input {tensor.name!r} must be flat, or as its shape. Got lists within.")
    return values
