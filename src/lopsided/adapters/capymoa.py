"""Any online learner as a CapyMOA classifier, for its streams and its evaluation.

Importing this module imports CapyMOA, which starts a Java machine: nothing else of lopsided imports it.

    from capymoa.datasets import ElectricityTiny
    from capymoa.evaluation import prequential_evaluation
    from lopsided import FourierRanker
    from lopsided.adapters.capymoa import CapyMOAClassifier

    stream = ElectricityTiny()
    learner = CapyMOAClassifier(stream.get_schema(), FourierRanker(random_state=0))
    print(prequential_evaluation(stream, learner).cumulative.accuracy())
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from lopsided.adapters.recent_answers import RecentAnswers
from lopsided.constraints import ParameterError
from lopsided.estimators.rare.rare_event import RareEventClassifier

try:
    from capymoa.base import Classifier
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        'The classifier for CapyMOA must have its package, which `pip install "lopsided[capymoa]"` brings, '
        f"got no package {error.name}.",
        name=error.name,
    ) from None

Floats = npt.NDArray[np.float64]


class CapyMOAClassifier(Classifier):
    """An online learner of lopsided as a CapyMOA classifier, for streams of two classes.

    Use it with `capymoa.evaluation.prequential_evaluation` and beside CapyMOA's own learners. Numeric attributes are
    taken as they are, scaled by nothing: put the learner into a `StreamPipeline` to scale them. A nominal attribute
    becomes one column of 0 and 1 for each of its values. A missing value is missing for a learner that takes missing
    values, else 0. Decisions go by the learner's threshold. Cost of a row: that of the learner, and a copy of
    the row out of Java's memory.

    Parameters
    ----------
    schema : capymoa.stream.Schema
        What the attributes and labels of the stream are.
    learner : learner or None, default=None
        Any online learner of lopsided that takes rows of numbers; it is copied. Its `pos_label` names the rare label.
        None is RareEventClassifier(random_state=random_seed).
    random_seed : int, default=1
        Seed of the learner that None stands for. A learner that is given has its own.
    """

    def __init__(self, schema: Any, learner: Any = None, random_seed: int = 1) -> None:
        super().__init__(schema=schema, random_seed=random_seed)
        self._names = [str(label) for label in schema.get_label_values()]
        if len(self._names) != 2:
            raise ParameterError(
                "The schema of CapyMOAClassifier must have two labels. "
                f"Got {len(self._names)}: {', '.join(self._names)}."
            )
        self.learner = learner
        self._model = clone(RareEventClassifier(random_state=random_seed) if learner is None else learner)
        self._sizes = _widths(schema)
        self._answers = RecentAnswers()

    def __str__(self) -> str:
        return f"CapyMOAClassifier({type(self._model).__name__})"

    @property
    def learner_(self) -> Any:
        """The learner as it stands, to save it or to look into it."""
        return self._model

    def train(self, instance: Any) -> None:
        """Learn from an instance with its label."""
        row, label = self._row(instance), self._names[instance.y_index]
        if self._model.started_:
            self._model.learn_one(row, label)
        else:
            self._model.partial_fit(row[None], [label], classes=self._names)

    def predict(self, instance: Any) -> int | None:
        """The index of the rare label where the score is above the learner's threshold, else that of the other one."""
        score = self._score(instance)
        if score is None:
            return None
        is_rare = score > self._answers.threshold(self._model)
        return self._names.index(self._model.positive_label_ if is_rare else self._model.negative_label_)

    def predict_proba(self, instance: Any) -> Floats | None:
        """The probabilities of both labels; None before anything was learned."""
        score = self._score(instance)
        if score is None:
            return None
        rare = self._answers.probability(self._model, score)
        is_second = self._names[1] == self._model.positive_label_
        return np.array([1.0 - rare, rare] if is_second else [rare, 1.0 - rare])

    def _score(self, instance: Any) -> float | None:
        return self._model.raw_score_one(self._row(instance)) if self._model.started_ else None

    def _row(self, instance: Any) -> Floats:
        """The attributes as columns of numbers."""
        values = np.asarray(instance.x, dtype=np.float64)
        if self._sizes is None:
            row = values
        else:
            columns = [
                [value] if size == 0 else [float(value == k) for k in range(size)]
                for value, size in zip(values.tolist(), self._sizes, strict=True)
            ]
            row = np.array([number for column in columns for number in column])
        return row if self._model.takes_missing else np.nan_to_num(row, nan=0.0, posinf=np.inf, neginf=-np.inf)


def _widths(schema: Any) -> list[int] | None:
    """How many values each attribute has, 0 for a numeric one; None if all are numeric."""
    header = schema.get_moa_header()
    attributes = [header.attribute(k) for k in range(header.numAttributes()) if k != header.classIndex()]
    sizes = [int(attribute.numValues()) if attribute.isNominal() else 0 for attribute in attributes]
    return sizes if any(sizes) else None
