"""A model as an ONNX graph. The only file that imports onnx.

The graph computes in float64: missing numbers (NaN) by their means, scales, then a linear score or a sum of Gaussian or
polynomial kernels, the decision, and the probability.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.cli.anatomy import coefficients_of, expansions_of, feature_names
from lopsided.constraints import ParameterError
from lopsided.kernels import Gaussian, Kernel, Polynomial
from lopsided.version import __version__

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        'An ONNX file must be written by the package onnx, which `pip install "lopsided[onnx]"` brings, '
        f"got no package {error.name}.",
        name=error.name,
    ) from None

_OPSET = 17
_LARGEST_LOGIT = 700.0  # beyond, its exponential is infinite


class _Graph:
    """Nodes and constants, with names made up on the way."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: Any) -> str:
        name = f"c{len(self.constants)}"
        array = np.asarray(values)
        array = array if array.dtype == np.int64 else array.astype(np.float64)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        name = output or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name


def as_onnx(model: Any) -> bytes:
    """The content of an ONNX file: input `rows` (encoded), outputs `score` and `probability`."""
    graph = _Graph()
    width = model.n_features_in_
    raw = _raw_score(graph, model, _prepared(graph, model, "rows"))
    graph.add("Sub", raw, graph.constant(model.threshold_), output="score")
    slope, offset = model.calibration_
    logit = graph.add("Add", graph.add("Mul", raw, graph.constant(slope)), graph.constant(offset))
    logit = graph.add("Clip", logit, graph.constant(-_LARGEST_LOGIT), graph.constant(_LARGEST_LOGIT))
    graph.add("Sigmoid", logit, output="probability")
    rows = helper.make_tensor_value_info("rows", TensorProto.DOUBLE, ["n", width])
    outputs = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["n"]) for name in ("score", "probability")]
    made = helper.make_graph(graph.nodes, type(model.learner_).__name__, [rows], outputs, graph.constants)
    result = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="lopsided", producer_version=__version__
    )
    result.ir_version = 8
    labels = {"positive": str(model._labels.positive), "negative": str(model._labels.negative)}
    helper.set_model_props(result, {"columns": "\n".join(feature_names(model)), **labels})
    onnx.checker.check_model(result)
    return bytes(result.SerializeToString())


def _prepared(graph: _Graph, model: Any, rows: str) -> str:
    """Fill and scale, as the pipeline does."""
    width = model.n_features_in_
    factor, middle = np.ones(width), np.zeros(width)
    means = np.zeros(width)
    n_scaled = width
    if hasattr(model, "schema"):
        n_scaled = model.encoder_.n_numbers
        means[:n_scaled] = model._means
        rows = graph.add("Where", graph.add("IsNaN", rows), graph.constant(means), rows)
    if model._scales and n_scaled:
        middle[:n_scaled], factor[:n_scaled] = model.scaler_.affine()
    return graph.add("Mul", graph.add("Sub", rows, graph.constant(middle)), graph.constant(factor))


def _raw_score(graph: _Graph, model: Any, rows: str) -> str:
    terms = []
    for expansion in expansions_of(model):
        if expansion.weights.size:
            similar = _kernel(graph, expansion.kernel, rows, expansion.vectors, model)
            terms.append(graph.add("MatMul", similar, graph.constant(expansion.factor * expansion.weights)))
    linear = coefficients_of(model) if not terms else None
    if linear is not None:
        product = graph.add("MatMul", rows, graph.constant(linear[0]))
        terms.append(graph.add("Add", product, graph.constant(linear[1])))
    if not terms:
        raise cannot_be_exported(model)
    raw = terms[0]
    for term in terms[1:]:
        raw = graph.add("Add", raw, term)
    return raw


def _kernel(graph: _Graph, kernel: Kernel, rows: str, vectors: Any, model: Any) -> str:
    if isinstance(kernel, Gaussian):  # distances do not change when all is moved, and lose fewer digits in the middle
        middle = vectors.mean(axis=0)
        rows, vectors = graph.add("Sub", rows, graph.constant(middle)), vectors - middle
    products = graph.add("MatMul", rows, graph.constant(vectors.T))
    if isinstance(kernel, Polynomial):
        moved = graph.add("Add", products, graph.constant(kernel.coef0))
        return graph.add("Pow", moved, graph.constant(float(kernel.degree))) if kernel.degree > 1 else moved
    if not isinstance(kernel, Gaussian):
        raise cannot_be_exported(model)
    squares = graph.add("ReduceSum", graph.add("Mul", rows, rows), graph.constant(np.array([1])), keepdims=1)
    norms = graph.add("Add", squares, graph.constant((vectors * vectors).sum(axis=1)))
    distances = graph.add("Sub", norms, graph.add("Mul", products, graph.constant(2.0)))
    return graph.add("Exp", graph.add("Mul", distances, graph.constant(-kernel.gamma)))


def cannot_be_exported(model: Any) -> ParameterError:
    """The sentence for a model that is no such sum."""
    return ParameterError(
        "A model can be exported if it is linear or a sum of Gaussian or polynomial kernels. "
        f"Got a model of {type(model.learner_).__name__}, which is made otherwise."
    )
