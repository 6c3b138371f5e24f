"""One score as the sum that it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.constraints import ParameterError
from lopsided.encoding import EncodedRows
from lopsided.estimators.compose.expert_pool import ExpertPool
from lopsided.estimators.compose.file_columns import encoded_rows
from lopsided.estimators.compose.table_pipeline import TablePipeline
from lopsided.inspection.anatomy import columns_of, feature_names, prepared_row, score_form_of
from lopsided.plain_values import plain_value

EXAMPLE, FEATURE, BIAS, MEMBER = "example", "feature", "bias", "member"
_WORST = 1e-6


@dataclass(frozen=True)
class Part:
    """One term of a score: `amount` is `weight` times `times`.

    Its `kind` is "example" (an example that the model keeps: `times` is how similar the row is to it, `columns` what it
    was, `is_positive` its class), "feature" (`times` is the value of the feature on its scale), "member" (a learner of
    a pool: `times` is its score as the pool counts it) or "bias".
    """

    kind: str
    name: str
    amount: float
    weight: float
    times: float
    columns: dict[str, Any] | None = None
    is_positive: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "kind": self.kind,
            "name": self.name,
            "amount": self.amount,
            "weight": self.weight,
            "times": self.times,
            "columns": plain_value(self.columns),
        }


@dataclass(frozen=True)
class Explanation:
    """The score of one row, what was decided, and the terms of the score, the largest first.

    The amounts of the `parts` sum to the raw score; `score` is that less the `threshold`.
    """

    score: float
    threshold: float
    probability: float
    decision: Any
    positive: Any
    negative: Any
    parts: tuple[Part, ...]

    def rest(self, top: int) -> tuple[int, float]:
        """How many terms there are after the first `top`, and what they sum to."""
        others = self.parts[top:]
        return len(others), float(sum(part.amount for part in others))

    def to_json(self, top: int | None = None) -> dict[str, Any]:
        """As plain values: the first `top` terms, and the rest of them together."""
        top = len(self.parts) if top is None else top
        terms, amount = self.rest(top)
        return {
            "score": self.score,
            "probability": self.probability,
            "predicted": plain_value(self.decision),
            "threshold": self.threshold,
            "parts": [part.to_json() for part in self.parts[:top]],
            "rest": {"terms": terms, "amount": amount},
        }


def explain(model: Any, X: Any, *, names: list[str] | None = None) -> Explanation:
    """Take the score of one row apart; nothing is approximated.

    Parameters
    ----------
    model : any model that has learned.
    X : the row: an array, a mapping of columns to values, or a table of one row, as the model takes it.
    names : what the features are called; default: as `feature_names` says.

    The score of a kernel learner is a sum over the examples that it keeps, of weight times similarity; that of a linear
    one a sum over features, of weight times value; that of a weighted pool a sum over its members, and of one that
    answers with the best member the sum that this member's score is. ParameterError for other learners.

    >>> from lopsided import OPAUC
    >>> model = OPAUC().fit([[0.0, 1.0], [0.5, 1.0], [4.0, 0.0]], [0, 0, 1])
    >>> for part in explain(model, {"age": 2.0, "size": 1.0}, names=["age", "size"]).parts:
    ...     print(f"{part.amount:+.4f} = {part.weight:+.4f} x {part.times:g}  {part.name}")
    +0.0750 = +0.0375 x 2  age
    -0.0100 = -0.0100 x 1  size
    """
    row = _one_row(model, X)
    model = model.snapshot()  # score and parts are of one moment, whatever other threads do
    answer = model.answer(row)
    raw = float(answer.score[0])
    parts = _parts(model, row, raw, feature_names(model) if names is None else names)
    threshold = float(answer.threshold)
    return Explanation(
        raw - threshold,
        threshold,
        float(answer.probability[0]),
        answer.decision[0],
        model.positive_label_,
        model.negative_label_,
        tuple(sorted(parts, key=lambda part: -abs(part.amount))),
    )


def _one_row(model: Any, X: Any) -> Any:
    """The row in the form in which a model takes many."""
    if isinstance(X, Mapping) and not any(isinstance(cells, list | tuple | np.ndarray) for cells in X.values()):
        X = [X]
    if isinstance(X, np.ndarray) and X.ndim == 1:
        X = X[None]
    if isinstance(X, np.ndarray) and not isinstance(model, TablePipeline):
        X = X.view(EncodedRows)  # features in the order of the model, by whatever names
    is_table = isinstance(X, Mapping) or (isinstance(X, list) and X and isinstance(X[0], Mapping))
    row = encoded_rows(model, X, "the row") if is_table or not hasattr(X, "shape") else X
    if row.shape[0] != 1:
        raise ParameterError(f"The rows to explain must be one at a time, got {row.shape[0]:,}.")
    return row


def _parts(model: Any, row: Any, raw: float, names: list[str]) -> list[Part]:
    learner = model.final_learner
    if isinstance(learner, ExpertPool):
        return _parts_of_pool(model, learner, row, names)
    form = score_form_of(model)
    parts = []
    if form is not None:
        x = prepared_row(model, row)
        for terms in form.kernel_sums:
            near = terms.similarities(x)
            for vector, weight, sign, similar in zip(terms.vectors, terms.weights, terms.signs, near, strict=True):
                name = "like" if sign > 0 else "unlike"
                columns = columns_of(model, vector, names)
                amount = float(weight * similar)
                parts.append(Part(EXAMPLE, name, amount, float(weight), float(similar), columns, bool(sign > 0)))
        if form.linear is not None:
            weights: npt.NDArray[np.float64] = form.linear.weights
            for j in np.flatnonzero(weights * x[0]):
                weight, value = float(weights[j]), float(x[0, j])
                parts.append(Part(FEATURE, names[j], weight * value, weight, value))
        if form.bias:
            parts.append(Part(BIAS, "bias", form.bias, form.bias, 1.0))
    if form is None or abs(sum(part.amount for part in parts) - raw) > _WORST * max(1.0, abs(raw)):
        raise cannot_be_explained(model)
    return parts


def _parts_of_pool(model: Any, pool: ExpertPool, row: Any, names: list[str]) -> list[Part]:
    x = model.prepared(row) if model is not pool else row
    if pool.combine != "weighted":
        best = pool.best_
        return _parts(best, x, float(best.raw_scores(x)[0]), names)
    counted = pool.standardized_scores(x)[0]
    terms = zip(pool.members_, pool.expert_weights_.tolist(), counted.tolist(), strict=True)
    return [Part(MEMBER, plain_value(member), weight * score, weight, score) for member, weight, score in terms]


def cannot_be_explained(model: Any) -> ParameterError:
    """The sentence for a model whose score is no such sum."""
    return ParameterError(
        "A score can be explained if it is a sum over support vectors, features or the members of a pool. "
        f"Got a model of {type(model.final_learner).__name__}, whose score is made otherwise."
    )


def columns_in_words(columns: Mapping[str, Any], most: int = 8) -> str:
    """Columns on one line; of a hashed column the words that are hashed so, or their places.

    >>> columns_in_words({"amount": 17.5, "country": ["NO", "SE"], "age": None})
    'amount=17.5, country=NO or SE, age=missing'
    """
    words = []
    for name, value in columns.items():
        if isinstance(value, list):
            value = " or ".join(value) or "nothing"
        elif value is None or value != value:
            value = "missing" if value is None else "?"
        words.append(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}")
    return ", ".join(words[:most] + (["..."] if len(words) > most else []))
