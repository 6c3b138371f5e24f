"""The scores of learners as formulas of a row, in the operators of a graph.

Whatever is such a formula can be exported: a learner of a new kind gets a function here and a line in `_FORMULAS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from lopsided.estimators.compose.expert_pool import ExpertPool
from lopsided.estimators.compose.pipeline import StreamPipeline
from lopsided.estimators.compose.table_pipeline import TablePipeline
from lopsided.estimators.features.descent import FOGD
from lopsided.estimators.features.fourier_ranker import FourierRanker
from lopsided.estimators.kernel.multikernel_koil import MultiKernelKOIL
from lopsided.estimators.kernel.voting import VotingLearner
from lopsided.estimators.linear.bagging import ResamplingBagging
from lopsided.estimators.linear.classifiers import OFO
from lopsided.estimators.rare.boosted_sample import BoostedSample
from lopsided.estimators.rare.rare_event import RareEventClassifier
from lopsided.inspection import KernelSum, ScoreForm, kernel_sums_of, linear_score_of, score_form_of
from lopsided.kernels import Gaussian, Kernel, Normalized, Polynomial, Sum

Floats = npt.NDArray[np.float64]


class Graph(Protocol):
    """What formulas are written into: values are known by their names."""

    def constant(self, values: Any) -> str:
        """The name of a constant."""

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """The name of what an operator makes of these."""

    def sum_of(self, terms: list[str]) -> str:
        """The name of a sum."""


def raw_score(graph: Graph, model: Any, rows: str) -> str | None:
    """The raw score of every row as the model takes them; None if it is no formula that is known here."""
    learner = model.final_learner
    if model is not learner:
        rows = _prepared(graph, model, rows)
    formula = next((formula for kind, formula in _FORMULAS.items() if isinstance(learner, kind)), _sum_of_terms)
    return formula(graph, learner, rows)


def _prepared(graph: Graph, model: Any, rows: str) -> str:
    """Fill and scale, as the pipeline does."""
    if not isinstance(model, StreamPipeline):
        return rows
    if isinstance(model, TablePipeline):
        filling = np.zeros(model.n_features_in_)
        filling[: model.missing_as_.size] = model.missing_as_
        rows = graph.add("Where", graph.add("IsNaN", rows), graph.constant(filling), rows)
    middle, factor = model.affine()
    return graph.add("Mul", graph.add("Sub", rows, graph.constant(middle)), graph.constant(factor))


# ---------------------------------------------------------------- sums over examples and features


def _sum_of_terms(graph: Graph, learner: Any, rows: str) -> str | None:
    form = score_form_of(learner)
    return None if form is None else _form(graph, form, rows)


def _form(graph: Graph, form: ScoreForm, rows: str) -> str:
    terms = [_kernel_sum(graph, kept, rows) for kept in form.kernel_sums if kept.weights.size]
    if form.linear is not None:
        terms.append(graph.add("MatMul", rows, graph.constant(form.linear.weights)))
    terms = terms or [_zeros(graph, rows)]  # a model that has kept nothing yet: the bias alone, once a row
    return graph.add("Add", graph.sum_of(terms), graph.constant(form.bias))


def _zeros(graph: Graph, rows: str) -> str:
    return graph.add("Expand", graph.constant(0.0), graph.add("Shape", rows, start=0, end=1))


def _kernel_sum(graph: Graph, kept: KernelSum, rows: str) -> str:
    similar = graph.sum_of([_times(graph, _kernel(graph, k, rows, kept.vectors), f) for f, k in kept.kernels])
    return graph.add("MatMul", similar, graph.constant(kept.weights))


def _times(graph: Graph, values: str, factor: float) -> str:
    return values if factor == 1.0 else graph.add("Mul", values, graph.constant(factor))


def _plus(graph: Graph, values: str, term: Any) -> str:
    return graph.add("Add", values, graph.constant(term))


# ---------------------------------------------------------------- votes, probabilities, random features, pools


def _several_kernels(graph: Graph, learner: Any, rows: str) -> str | None:
    return _sum_of_terms(graph, learner, rows) if learner.combine == "raw" else _votes(graph, learner, rows)


def _votes(graph: Graph, learner: Any, rows: str) -> str:
    """Each kernel says the sign of its score; what stands for no sign is the learner's word."""
    at_zero = float(getattr(learner, "zero_vote", 0.0))
    terms = []
    for count, kept in zip(learner.kernel_weights_.tolist(), kernel_sums_of(learner), strict=True):
        value = _kernel_sum(graph, kept, rows) if kept.weights.size else _zeros(graph, rows)
        vote = graph.add("Sign", value)
        if at_zero:
            is_zero = graph.add("Sub", graph.constant(1.0), graph.add("Abs", vote))
            vote = graph.add("Add", vote, _times(graph, is_zero, at_zero))
        terms.append(_times(graph, vote, count))
    return graph.sum_of(terms)


def _bagging(graph: Graph, learner: Any, rows: str) -> str:
    """Positive votes less negative ones, by how many there are; a member that says 0 votes negative."""
    values = _plus(graph, graph.add("MatMul", rows, graph.constant(learner.coef_.T)), learner.intercept_)
    is_positive = graph.add("Greater", values, graph.constant(0.0))
    votes = graph.add("Where", is_positive, graph.constant(1.0), graph.constant(-1.0))
    return graph.add("ReduceMean", votes, axes=[1], keepdims=0)


def _probability(graph: Graph, learner: Any, rows: str) -> str:
    linear = linear_score_of(learner)
    assert linear is not None
    value = _plus(graph, graph.add("MatMul", rows, graph.constant(linear[0].weights)), linear[1])
    if learner.loss == "logistic":
        chance = graph.add("Sigmoid", value)
    else:
        chance = graph.add(
            "Clip", _plus(graph, _times(graph, value, 0.5), 0.5), graph.constant(0.0), graph.constant(1.0)
        )
    return _plus(graph, chance, -learner.tau_)


def _waves(graph: Graph, rows: str, directions: Floats, weights: Floats) -> str:
    """sqrt(1/H) (u.cos(w.x) + v.sin(w.x)); not every runtime has cosines of float64, but all have sines."""
    angles = graph.add("MatMul", rows, graph.constant(directions))
    n = directions.shape[1]
    scale = math.sqrt(1.0 / n)
    cosines = graph.add("Sin", _plus(graph, angles, math.pi / 2))
    return graph.sum_of([
        graph.add("MatMul", cosines, graph.constant(scale * weights[:n])),
        graph.add("MatMul", graph.add("Sin", angles), graph.constant(scale * weights[n : 2 * n])),
    ])  # fmt: skip


def _descent_on_waves(graph: Graph, learner: Any, rows: str) -> str:
    return _waves(graph, rows, learner.directions_, learner.coef_[0])


def _standardised(graph: Graph, learner: Any, rows: str, scale: Floats) -> str:
    """By means and deviations, within the learner's limits; what is missing is at its mean."""
    centre, spread = scale
    clip = learner.farthest_
    scaled = graph.add("Div", graph.add("Sub", rows, graph.constant(centre)), graph.constant(spread))
    known = graph.add("Clip", scaled, graph.constant(-clip), graph.constant(clip))
    return graph.add("Where", graph.add("IsNaN", scaled), graph.constant(0.0), known)


def _ranked(graph: Graph, learner: Any, rows: str, weights: Floats, linear: Floats) -> str:
    """Weights times z of a row: waves, and the features as far as they count; a column for each column of weights."""
    scaled = _standardised(graph, learner, rows, learner.scale_)
    waves = _waves(graph, scaled, learner.directions_, weights)
    return graph.add("Add", waves, graph.add("MatMul", scaled, graph.constant(linear)))


def _fourier_ranker(graph: Graph, learner: Any, rows: str) -> str:
    ranked = _ranked(graph, learner, rows, learner.coef_[0], learner.linear_coef_)
    return _plus(graph, ranked, float(learner.intercept_[0]))


def _rare_event(graph: Graph, learner: Any, rows: str) -> str:
    """The parts by their weights: f and f_s as averages over ridges, tanh(g / 8), and the linear part by eight."""
    limit = learner.largest_score_
    ranked = _plus(graph, _ranked(graph, learner, rows, learner.coef_.T, learner.linear_coef_.T), learner.intercept_)
    ranked = graph.add("Clip", ranked, graph.constant(-limit), graph.constant(limit))
    trees = graph.add("Tanh", _times(graph, _trees(graph, learner, rows), 1.0 / learner.squeeze_))
    *by_feature, constant = (learner.linear_weights_ / learner.squeeze_).tolist()
    scaled = _standardised(graph, learner, rows, learner.linear_scale_)
    linear = _plus(graph, graph.add("MatMul", scaled, graph.constant(by_feature)), constant)
    limit = learner.largest_linear_score_
    linear = graph.add("Clip", linear, graph.constant(-limit), graph.constant(limit))

    def by(weights: dict[str, float]) -> str:
        shares = np.array([weights["ranker"], weights["short"]]) @ learner.ridge_shares_
        terms = [
            graph.add("MatMul", ranked, graph.constant(shares)),
            _times(graph, trees, weights["trees"]),
            _times(graph, linear, weights["linear"]),
        ]
        return _plus(graph, graph.sum_of(terms), weights["constant"])

    score = by(learner.part_weights_)
    if not learner.n_trees_:
        return score
    slope, level = learner.log_odds_lines_["trees"]
    lean = graph.add("Sigmoid", _plus(graph, _times(graph, trees, slope), level - learner.sure_from_))
    return graph.add("Add", score, graph.add("Mul", lean, by(learner.leaning_weights_)))


def _trees(graph: Graph, learner: Any, rows: str) -> str:
    """The sum of the leaves that a row ends in, all trees side by side, a level at a time.

    These are the comparisons of the model, in float64: operators for trees compare or add in float32 in some runtimes,
    and then rows near a threshold go another way. No comparison with NaN is true: what is missing goes left.
    """
    forest = learner.forest_
    n_trees, n_nodes = forest.features.shape
    if not n_trees:
        return _plus(graph, _zeros(graph, rows), float(forest.levels[0]))
    is_leaf, roots = forest.features < 0, n_nodes * np.arange(n_trees)[:, None]
    # A leaf leads to itself: nothing is larger than infinity.
    left = graph.constant((np.where(is_leaf, np.arange(n_nodes), forest.left) + roots).ravel())
    features = graph.constant(np.where(is_leaf, 0, forest.features).astype(np.int64).ravel())
    thresholds = graph.constant(np.where(is_leaf, np.inf, forest.thresholds).ravel())
    one = graph.constant(np.array([1]))
    shape = graph.add("Concat", graph.add("Shape", rows, start=0, end=1), one, axis=0)
    node = graph.add("Expand", graph.constant(roots.T), shape)
    for _ in range(_depth(forest)):
        value = graph.add("GatherElements", rows, graph.add("Gather", features, node), axis=1)
        is_above = graph.add("Greater", value, graph.add("Gather", thresholds, node))
        below = graph.add("Gather", left, node)
        node = graph.add("Where", is_above, graph.add("Add", below, one), below)
    leaves = graph.add("Gather", graph.constant(forest.values.ravel()), node)
    return _plus(graph, graph.add("ReduceSum", leaves, one, keepdims=0), float(forest.levels[0]))


def _depth(forest: Any) -> int:
    """The most steps from a root to a leaf; children come after their parents."""
    steps, trees = np.zeros(forest.features.shape, dtype=np.int64), np.arange(len(forest.features))
    for node in range(steps.shape[1]):
        inner = trees[forest.features[:, node] >= 0]
        for side in range(2):
            steps[inner, forest.left[inner, node] + side] = steps[inner, node] + 1
    return int(steps.max())


def _pool(graph: Graph, pool: Any, rows: str) -> str | None:
    """The best member, or all of them on the scales of their scores."""
    if pool.combine != "weighted":
        return raw_score(graph, pool.best_, rows)
    terms = [_zeros(graph, rows)]
    scales = pool.score_scales_.T.tolist()
    for member, weight, (mean, deviation) in zip(pool.members_, pool.expert_weights_.tolist(), scales, strict=True):
        if weight > 0.0 and deviation > 0.0:
            score = raw_score(graph, member, rows)
            if score is None:
                return None
            terms.append(_times(graph, _plus(graph, score, -mean), weight / deviation))
    return graph.sum_of(terms)


_FORMULAS: dict[type, Callable[[Graph, Any, str], str | None]] = {
    ExpertPool: _pool,
    FourierRanker: _fourier_ranker,
    RareEventClassifier: _rare_event,
    BoostedSample: _trees,
    FOGD: _descent_on_waves,
    MultiKernelKOIL: _several_kernels,
    VotingLearner: _votes,
    ResamplingBagging: _bagging,
    OFO: _probability,
}


# ---------------------------------------------------------------- kernels


def _kernel(graph: Graph, kernel: Kernel, rows: str, vectors: npt.NDArray[np.float64]) -> str:
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


def _of_itself(graph: Graph, kernel: Kernel, rows: str) -> str:
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


def _squares(graph: Graph, rows: str) -> str:
    return graph.add("ReduceSum", graph.add("Mul", rows, rows), graph.constant(np.array([1])), keepdims=1)


def _power(graph: Graph, kernel: Polynomial, products: str) -> str:
    moved = graph.add("Add", products, graph.constant(kernel.coef0))
    return graph.add("Pow", moved, graph.constant(float(kernel.degree))) if kernel.degree > 1 else moved
