"""A model as an ONNX graph. The only file that imports onnx.

The graph computes in float64: missing numbers (NaN) by their means, scales, then the formula of the score, the
decision, and the probability.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.export.formulas import raw_score
from lopsided.inspection import feature_names
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


def graph_of(model: Any, names: list[str] | None = None) -> bytes | None:
    """The content of an ONNX file: input `rows` (encoded), outputs `score` and `probability`; None if it has none."""
    graph = _Graph()
    raw = raw_score(graph, model, "rows")
    if raw is None:
        return None
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
