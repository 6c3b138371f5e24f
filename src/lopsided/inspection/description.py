"""What there is to say about a model, as plain data."""

from __future__ import annotations

import inspect
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from lopsided.encoding import Schema
from lopsided.estimators.bayesian.ob2rmk import OB2RMK
from lopsided.estimators.compose.expert_pool import ExpertPool
from lopsided.estimators.compose.pipeline import StreamPipeline
from lopsided.estimators.compose.table_pipeline import TablePipeline
from lopsided.estimators.kernel.koil import KOIL
from lopsided.estimators.kernel.multikernel_koil import MultiKernelKOIL
from lopsided.estimators.linear.rankers import OAM
from lopsided.inspection.anatomy import feature_names, kernel_sums_of, linear_score_of
from lopsided.inspection.examples import Example, columns_in_words, example_of
from lopsided.plain_values import parameters_of, plain_value

_BUDGET_A_CLASS = (KOIL, MultiKernelKOIL, OAM, OB2RMK)


@dataclass(frozen=True)
class ModelDescription:
    """What a model is made of. Values are as JSON has them, so that `to_json` is all that a program needs.

    Attributes
    ----------
    kind : the class of the whole, such as "StreamPipeline"; learner : that of the learner which gives the scores.
    parameters, defaults : of the learner; the names of those that were left at their defaults.
    scale : "standard", "minmax" or "none".
    positive, negative : the two labels.
    rows, positives : how many rows were learned, and how many of them have the positive label.
    features, feature_names : how many numbers the model takes, after encoding, and what they are called.
    schema : of a table; None for others.
    threshold_rule, threshold : how the decision is made, and where it lies on the scale of raw scores.
    calibration : slope and offset of the logistic curve from raw score to probability.
    n_support, budget, is_by_class : examples that are kept, and the most of them (None: no such thing).
    kernel_weights : how much each kernel or expert counts.
    members : of a pool: each with its learner, weight, and what it has achieved by measure.
    largest_vectors, largest_weights : the examples (weight, columns, the number of the row, its id if there is one) and
        features (feature, weight) that count most.
    anatomy : of a learner for rare events: rows of its sample by class, trees, what trees, the linear part, the short
        memory and each ridge count, and how often it has begun anew; None for others.
    memory : memory that the model holds.
    """

    kind: str
    learner: str
    parameters: dict[str, Any]
    defaults: list[str]
    scale: str
    positive: Any
    negative: Any
    rows: int
    positives: int
    features: int
    feature_names: list[str]
    schema: dict[str, Any] | None
    threshold_rule: str | float
    threshold: float
    calibration: tuple[float, float]
    n_support: int | None
    budget: Any
    is_by_class: bool
    kernel_weights: list[float] | None
    memory: int
    members: list[dict[str, Any]] = field(default_factory=list)
    largest_vectors: list[dict[str, Any]] = field(default_factory=list)
    largest_weights: list[dict[str, Any]] = field(default_factory=list)
    anatomy: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """As one JSON object."""
        return asdict(self) | {"calibration": list(self.calibration)}

    def __str__(self) -> str:
        """Lines for people: a name and what there is to say."""
        lines = [f"{name:<9}  {words}" for name, words in self._entries()]
        if self.schema is not None:
            lines += ["columns", *(f"  {line}" for line in str(Schema.from_json(self.schema)).splitlines())]
        if self.members:
            lines.append("members (weight, learner)")
            lines += [f"  {member['weight']:.4f}  {member['learner']}" for member in self.members]
        if self.largest_vectors:
            lines.append("largest support vectors (weight, columns)")
            lines += [f"  {v['weight']:+.4f}  {_vector_in_words(v)}" for v in self.largest_vectors]
        if self.largest_weights:
            lines.append("largest weights (of features on their scale)")
            lines += [f"  {w['weight']:+.4f}  {w['feature']}" for w in self.largest_weights]
        return "\n".join(lines)

    def _entries(self) -> list[tuple[str, str]]:
        given = [
            f"{name}={value!r}"
            for name, value in self.parameters.items()
            if name not in self.defaults and not (self.members and name == "learners")  # they have lines of their own
        ]
        share = self.positives / self.rows if self.rows else 0.0
        entries = [
            ("learner", f"{self.learner}({', '.join([*given, 'others by default'])})"),
            ("scale", self.scale),
            ("seen", f"{self.rows:,} rows, {self.positives:,} of them {self.positive} ({share:.2%})"),
            ("labels", f"{self.positive} is the positive label, {self.negative} the other"),
            ("features", f"{self.features:,}"),
            ("threshold", f"{self.threshold:.6g} (rule: {self.threshold_rule})"),
        ]
        if self.n_support is not None:
            budget = f", the budget is {self.budget}{' per class' * self.is_by_class}" if self.budget else ""
            entries.append(("support", f"{self.n_support:,} vectors{budget}"))
        if self.kernel_weights is not None and not self.members:
            entries.append(("weights", ", ".join(f"{weight:.3f}" for weight in self.kernel_weights)))
        return entries if self.anatomy is None else entries + _anatomy_in_words(self.anatomy)


def describe(model: Any, *, top: int = 5) -> ModelDescription:
    """Say what a model is made of.

    Parameters
    ----------
    model : any model that has learned: a learner, a pipeline, a pool.
    top : how many examples and weights of features are listed, the largest ones.

    Examples are shown as the rows that they were, by number and, if a column of identifiers was named, by that.

    >>> from lopsided import OPAUC
    >>> print(describe(OPAUC(learning_rate=0.1).fit([[0.0, 1.0], [0.5, 1.0], [4.0, 0.0]], ["ok", "ok", "rare"])))
    learner    OPAUC(learning_rate=0.1, others by default)
    scale      none
    seen       3 rows, 1 of them rare (33.33%)
    labels     rare is the positive label, ok the other
    features   2
    threshold  0 (rule: zero)
    largest weights (of features on their scale)
      +0.3750  x0
      -0.1000  x1
    """
    model = model.snapshot()  # all of it is of one moment, whatever other threads do
    learner = model.final_learner
    vectors = [
        {"weight": float(weight), **_shown(example_of([model], *kept))}
        for terms in kernel_sums_of(model)
        for kept, weight in _largest(list(zip(terms.vectors, terms.numbers, strict=True)), terms.weights, top)
    ]
    names = feature_names(model)
    linear = linear_score_of(model)
    weights = [] if linear is None else _largest(names, linear[0].weights, top)
    return ModelDescription(
        kind=type(model).__name__,
        learner=type(learner).__name__,
        parameters=parameters_of(learner),
        defaults=_defaults_of(learner),
        scale=scale_of(model),
        positive=plain_value(model.positive_label_),
        negative=plain_value(model.negative_label_),
        rows=model.n_seen_,
        positives=model.n_positives_seen_,
        features=model.n_features_in_,
        feature_names=names,
        schema=model.schema_.to_json() if isinstance(model, TablePipeline) else None,
        threshold_rule=plain_value(model.threshold_rule_),
        threshold=float(model.threshold_),
        calibration=model.calibration_,
        n_support=plain_value(getattr(learner, "n_support_", None)),
        budget=plain_value(getattr(learner, "budget", None)),
        is_by_class=isinstance(learner, _BUDGET_A_CLASS),
        kernel_weights=plain_value(kernel_weights_of(model)),
        memory=model.nbytes_,
        members=_members(learner) if isinstance(learner, ExpertPool) else [],
        largest_vectors=sorted(vectors, key=lambda vector: -abs(vector["weight"]))[:top],
        largest_weights=[{"feature": name, "weight": float(weight)} for name, weight in weights if weight],
        anatomy=getattr(learner, "anatomy_", None),
    )


def scale_of(model: Any) -> str:
    """How a model scales numbers: "standard", "minmax" or "none".

    >>> from lopsided import KOIL, OnlineScaler, StreamPipeline
    >>> scale_of(StreamPipeline(OnlineScaler("minmax"))), scale_of(KOIL())
    ('minmax', 'none')
    """
    return model.scale_kind if isinstance(model, StreamPipeline) else "none"


def kernel_weights_of(model: Any) -> Any:
    """The weights that a model gives to its kernels or experts (a copy), if it has such."""
    for name in ("kernel_weights_", "expert_weights_"):
        weights = getattr(getattr(model, "final_learner", model), name, None)
        if weights is not None:
            return np.array(weights, dtype=np.float64)
    return None


def _largest(things: Any, weights: Any, top: int) -> list[tuple[Any, float]]:
    """Those with the largest weights, whatever their signs."""
    order = np.argsort(-np.abs(weights), kind="stable")[:top]
    return [(things[place], float(weights[place])) for place in order]


def _defaults_of(learner: Any) -> list[str]:
    """The names of the parameters that are what the constructor would have made them."""
    standard = inspect.signature(type(learner).__init__).parameters
    return [name for name, value in learner.get_params(deep=False).items() if _is_same(value, standard[name].default)]


def _is_same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


def _shown(example: Example) -> dict[str, Any]:
    shown = {"columns": plain_value(example.columns), "row": example.number, "as_it_came": example.as_it_came}
    return shown if example.id is None else shown | {"id": example.id}


def _vector_in_words(vector: dict[str, Any]) -> str:
    words = columns_in_words(vector["columns"])
    if not vector["as_it_came"]:
        return f"on the present scale about {words}"
    name = f"{vector['id']}: " if "id" in vector else f"row {vector['row']:,}: " if vector["row"] else ""
    return name + words


def _anatomy_in_words(anatomy: dict[str, Any]) -> list[tuple[str, str]]:
    sampled = f"{anatomy['sampled_positives']:,} rows of the positive label, {anatomy['sampled_negatives']:,} others"
    entries = [("sample", sampled), ("trees", f"{anatomy['trees']:,}")]
    if "trees_share" not in anatomy:
        return entries
    counts = f"which count {anatomy['trees_share']:.1%} beside the ranker"
    sure = f"up to {anatomy['leaning_share']:.1%} more where they are sure of a positive"
    entries[1] = ("trees", f"{anatomy['trees']:,}, {counts}, and {sure}")
    linear = f"counts {anatomy['linear_share']:.1%} beside ranker and trees"
    ridges = ", ".join(f"{share:.3f} with ridge {ridge}" for ridge, share in anatomy["ridges"].items())
    restarts = anatomy["restarts"]
    short = f"counts {anatomy['short_share']:.1%}; it has taken over {restarts:,} time{'s' * (restarts != 1)}"
    return [*entries, ("linear", f"part {linear}"), ("ranker", ridges), ("short", f"memory {short}")]


def _members(pool: ExpertPool) -> list[dict[str, Any]]:
    measures = pool.expert_measures_
    return [
        {
            "learner": plain_value(member),
            "weight": float(weight),
            "measures": {name: plain_value(values[place]) for name, values in measures.items()},
        }
        for place, (member, weight) in enumerate(zip(pool.members_, pool.expert_weights_, strict=True))
    ]
