"""A model as an ONNX graph. The only file that imports onnx.

The graph computes in float64: missing numbers (NaN) by their means, scales, then a linear score or a sum of Gaussian or
polynomial kernels, the decision, and the probability.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.estimators.compose.pipeline import StreamPipeline
from lopsided.estimators.compose.table_pipeline import TablePipeline
from lopsided.inspection import KernelSum, ScoreForm, feature_names
from lopsided.kernels import Gaussian, Kernel, Normalized, Polynomial, Sum
from lopsided.version import __version__

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnx.reference import ReferenceEvaluator
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

    def sum_of(self, terms: list[str]) -> str:
        total = terms[0]
        for term in terms[1:]:
            total = self.add("Add", total, term)
        return total


def graph_of(model: Any, form: ScoreForm, names: list[str] | None = None) -> bytes:
    """The content of an ONNX file: input `rows` (encoded), outputs `score` and `probability`."""
    graph = _Graph()
    raw = _raw_score(graph, form, _prepared(graph, model, "rows"))
    graph.add("Sub", raw, graph.constant(model.threshold_), output="score")
    slope, offset = model.calibration_
    logit = graph.add("Add", graph.add("Mul", raw, graph.constant(slope)), graph.constant(offset))
    logit = graph.add("Clip", logit, graph.constant(-_LARGEST_LOGIT), graph.constant(_LARGEST_LOGIT))
    graph.add("Sigmoid", logit, output="probability")
    rows = helper.make_tensor_value_info("rows", TensorProto.DOUBLE, ["n", model.n_features_in_])
    outputs = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["n"]) for name in ("score", "probability")]
    made = helper.make_graph(graph.nodes, type(model.final_learner).__name__, [rows], outputs, graph.constants)
    result = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="lopsided", producer_version=__version__
    )
    result.ir_version = 8
    labels = {"positive": str(model.positive_label_), "negative": str(model.negative_label_)}
    columns = "\n".join(feature_names(model) if names is None else names)
    helper.set_model_props(result, {"columns": columns, **labels})
    onnx.checker.check_model(result)
    return bytes(result.SerializeToString())


def scores_of(content: bytes, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The scores that the content of an ONNX file gives, by onnx's own reference."""
    (scores,) = ReferenceEvaluator(onnx.load_from_string(content)).run(["score"], {"rows": rows})
    return np.asarray(scores)


def _prepared(graph: _Graph, model: Any, rows: str) -> str:
    """Fill and scale, as the pipeline does."""
    if not isinstance(model, StreamPipeline):
        return rows
    if isinstance(model, TablePipeline):
        filling = np.zeros(model.n_features_in_)
        filling[: model.missing_as_.size] = model.missing_as_
        rows = graph.add("Where", graph.add("IsNaN", rows), graph.constant(filling), rows)
    middle, factor = model.affine()
    return graph.add("Mul", graph.add("Sub", rows, graph.constant(middle)), graph.constant(factor))


def _raw_score(graph: _Graph, form: ScoreForm, rows: str) -> str:
    terms = [_kernel_sum(graph, kept, rows) for kept in form.kernel_sums if kept.weights.size]
    if form.linear is not None:
        terms.append(graph.add("MatMul", rows, graph.constant(form.linear.weights)))
    if not terms:  # a model that has kept nothing yet: the bias alone, once a row
        terms.append(graph.add("ReduceSum", _times(graph, rows, 0.0), graph.constant(np.array([1])), keepdims=0))
    return graph.add("Add", graph.sum_of(terms), graph.constant(form.bias))


def _kernel_sum(graph: _Graph, kept: KernelSum, rows: str) -> str:
    similar = graph.sum_of([_times(graph, _kernel(graph, k, rows, kept.vectors), f) for f, k in kept.kernels])
    return graph.add("MatMul", similar, graph.constant(kept.weights))


def _times(graph: _Graph, values: str, factor: float) -> str:
    return values if factor == 1.0 else graph.add("Mul", values, graph.constant(factor))


def _kernel(graph: _Graph, kernel: Kernel, rows: str, vectors: npt.NDArray[np.float64]) -> str:
    """The matrix of k(row, vector)."""
    if isinstance(kernel, Sum):
        parts = zip(kernel.weights, kernel.kernels, strict=True)
        return graph.sum_of([_times(graph, _kernel(graph, part, rows, vectors), weight) for weight, part in parts])
    if isinstance(kernel, Normalized):
        lengths = np.sqrt(np.diagonal(kernel.kernel(vectors)))
        own = _of_itself(graph, kernel.kernel, rows)
        product = graph.add("Mul", graph.add("Sqrt", own), graph.constant(lengths[None]))
        values = graph.add("Div", _kernel(graph, kernel.kernel, rows, vectors), product)
        # A point of length 0 has nothing in common with any other.
        return graph.add("Where", graph.add("Greater", product, graph.constant(0.0)), values, graph.constant(0.0))
    if isinstance(kernel, Polynomial):
        return _power(graph, kernel, graph.add("MatMul", rows, graph.constant(vectors.T)))
    assert isinstance(kernel, Gaussian)
    middle = vectors.mean(axis=0)  # distances do not change when all is moved, and lose fewer digits in the middle
    rows, vectors = graph.add("Sub", rows, graph.constant(middle)), vectors - middle
    norms = graph.add("Add", _squares(graph, rows), graph.constant((vectors * vectors).sum(axis=1)))
    products = graph.add("MatMul", rows, graph.constant(vectors.T))
    distances = graph.add("Sub", norms, _times(graph, products, 2.0))
    return graph.add("Exp", _times(graph, distances, -kernel.gamma))


def _of_itself(graph: _Graph, kernel: Kernel, rows: str) -> str:
    """The column of k(row, row)."""
    if isinstance(kernel, Polynomial):
        return _power(graph, kernel, _squares(graph, rows))
    if isinstance(kernel, Sum):
        parts = zip(kernel.weights, kernel.kernels, strict=True)
        return graph.sum_of([_times(graph, _of_itself(graph, part, rows), weight) for weight, part in parts])
    ones = graph.add("Add", _times(graph, _squares(graph, rows), 0.0), graph.constant(1.0))
    if isinstance(kernel, Normalized):
        own = _of_itself(graph, kernel.kernel, rows)
        return graph.add("Where", graph.add("Greater", own, graph.constant(0.0)), ones, graph.constant(0.0))
    return ones  # a Gaussian


def _squares(graph: _Graph, rows: str) -> str:
    return graph.add("ReduceSum", graph.add("Mul", rows, rows), graph.constant(np.array([1])), keepdims=1)


def _power(graph: _Graph, kernel: Polynomial, products: str) -> str:
    moved = graph.add("Add", products, graph.constant(kernel.coef0))
    return graph.add("Pow", moved, graph.constant(float(kernel.degree))) if kernel.degree > 1 else moved
