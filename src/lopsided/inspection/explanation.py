"""One score as the sum that it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lopsided.constraints import ParameterError
from lopsided.encoding import EncodedRows
from lopsided.estimators.compose.file_columns import encoded_rows
from lopsided.estimators.compose.table_pipeline import TablePipeline
from lopsided.inspection.anatomy import feature_names, prepared_row
from lopsided.inspection.terms import EXAMPLE, Part, Subject, in_order
from lopsided.plain_values import plain_value

WAYS = ("auto", "terms", "columns")
_NEAREST = 3


@dataclass(frozen=True)
class Explanation:
    """The score of one row, what was decided, and the terms of the score, a baseline first and then the largest.

    The amounts of the `parts` sum to the raw score; `score` is that less the `threshold`. `nearest` are the remembered
    examples of the positive label that the row is most like, where the parts are not examples themselves and the model
    keeps some; they are no part of the sum. `says` is what each part of a learner that is made of several says to the
    row (`part_scores` of RareEventClassifier); empty for others.
    """

    score: float
    threshold: float
    probability: float
    decision: Any
    positive: Any
    negative: Any
    parts: tuple[Part, ...]
    nearest: tuple[Part, ...] = ()
    says: dict[str, float] = field(default_factory=dict)

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
            "parts": [part.to_json(top) for part in self.parts[:top]],
            "rest": {"terms": terms, "amount": amount},
            "nearest": [part.to_json() for part in self.nearest],
            "says": self.says,
        }


def explain(model: Any, X: Any, *, names: list[str] | None = None, by: str = "auto") -> Explanation:
    """Take the score of one row apart; nothing is approximated, the parts sum to the score.

    Parameters
    ----------
    model : any model that has learned.
    X : the row: an array, a mapping of columns to values, or a table of one row, as the model takes it.
    names : what the features are called; default: as `feature_names` says.
    by : "terms" is the sum that the score is: over the examples that a kernel learner keeps, of weight times
        similarity; over the features of a linear one, of weight times value; over the members of a weighted pool, each
        with the terms of its own score. "columns" is for any learner: the score of a baseline, in which every column
        has its mean, and what each column adds to it, by the rule of `lopsided.inspection.additive`. "auto" takes the
        terms if there are such, and else the columns.

    Examples are shown as the rows that they were, whatever has become of the scale since.

    >>> from lopsided import OPAUC
    >>> model = OPAUC().fit([[0.0, 1.0], [0.5, 1.0], [4.0, 0.0]], [0, 0, 1])
    >>> for part in explain(model, {"age": 2.0, "size": 1.0}, names=["age", "size"]).parts:
    ...     print(f"{part.amount:+.4f} = {part.weight:+.4f} x {part.times:g}  {part.name}")
    +0.0750 = +0.0375 x 2  age
    -0.0100 = -0.0100 x 1  size
    """
    if by not in WAYS:
        raise ParameterError(f"A score must be explained by one of {', '.join(WAYS)}. Got {by!r}.")
    row = _one_row(model, X)
    model = model.snapshot()  # score and parts are of one moment, whatever other threads do
    if hasattr(model, "read_as_next"):
        row = model.read_as_next(row)
    answer = model.answer(row)
    subject = Subject(model, row, feature_names(model) if names is None else names)
    parts = None if by == "columns" else subject.terms([model], row)
    if parts is None:
        if by == "terms":
            raise _no_such_sum(model)
        parts = subject.columns([model], row)
    threshold = float(answer.threshold)
    return Explanation(
        float(answer.score[0]) - threshold,
        threshold,
        float(answer.probability[0]),
        answer.decision[0],
        model.positive_label_,
        model.negative_label_,
        in_order(parts),
        () if any(part.kind == EXAMPLE for part in parts) else subject.nearest(_NEAREST),
        _what_parts_say(model, row),
    )


def _what_parts_say(model: Any, row: Any) -> dict[str, float]:
    learner = model.final_learner
    if not hasattr(learner, "part_scores"):
        return {}
    given = learner.part_scores(prepared_row(model, row).view(EncodedRows))
    return {name: float(scores[0]) for name, scores in given.items()}


def _one_row(model: Any, X: Any) -> Any:
    """The row in the form in which a model takes many."""
    if isinstance(X, Mapping) and not any(isinstance(cells, list | tuple | np.ndarray) for cells in X.values()):
        X = [X]
    if isinstance(X, np.ndarray) and X.ndim == 1:
        X = X[None]
    if type(X) is np.ndarray and not isinstance(model, TablePipeline):
        X = X.view(EncodedRows)  # features in the order of the model, by whatever names
    is_table = isinstance(X, Mapping) or hasattr(X, "columns") or (isinstance(X, list) and isinstance(X[0], Mapping))
    row = encoded_rows(model, X, "the row") if is_table or not hasattr(X, "shape") else X
    if row.shape[0] != 1:
        raise ParameterError(f"The rows to explain must be one at a time, got {row.shape[0]:,}.")
    return row


def _no_such_sum(model: Any) -> ParameterError:
    return ParameterError(
        "A score has terms if it is a sum over support vectors, features or the members of a pool. Got a model of "
        f"{type(model.final_learner).__name__}, whose score is made otherwise: explain it by columns."
    )
