"""What a program may ask of a learner: the contract between the learners and everything that uses them.

Commands, evaluation, services and adapters use these methods and nothing with a leading underscore. A class of your own
that has them can be used wherever a learner of this package can; `lopsided.checks.check_learner` tells whether it does.
A call that raises has changed nothing: whoever holds rows that wait for their labels relies on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from lopsided.labels import LabelMap

Floats = npt.NDArray[np.float64]


class Answer(NamedTuple):
    """What a model says of some rows, from one pass: arrays for many rows, single values for one.

    `score` ranks: the raw score, on the ruler of `progressive_scores`, never shifted by the threshold. `probability` is
    that of the rare class. `decision` is the label: the rare one where the score is above `threshold`.
    """

    score: Any
    probability: Any
    decision: Any
    threshold: float


@runtime_checkable
class Ranker(Protocol):
    """Something that answers: scores, probabilities and decisions for rows, whatever made it."""

    classes_: npt.NDArray[Any]
    n_features_in_: int

    @property
    def positive_label_(self) -> Any:
        """The label of the rare class."""

    @property
    def negative_label_(self) -> Any:
        """The label of the other class."""

    @property
    def threshold_(self) -> float:
        """Where `predict` switches, on the ruler of the raw scores."""

    def raw_scores(self, X: Any) -> Floats:
        """Ranking scores, never shifted by the threshold."""

    def answer(self, X: Any) -> Answer:
        """Scores, probabilities and decisions from one pass."""

    def decision_function(self, X: Any) -> Floats:
        """Ranking scores, 0 where the decision lies."""

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Labels."""

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the two `classes_`."""


@runtime_checkable
class Learner(Ranker, Protocol):
    """A ranker that learns row by row, remembers what it answered, and can be kept."""

    @property
    def started_(self) -> bool:
        """Whether it has begun to learn."""

    @property
    def labels_(self) -> LabelMap:
        """The two labels, and which one is rare."""

    @property
    def n_seen_(self) -> int:
        """Rows learned so far."""

    @property
    def n_positives_seen_(self) -> int:
        """How many of them are of the rare class."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows, in the order given."""

    def learn_many(self, X: Any, y: Any, *, scores: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; `scores` are the raw scores that were answered when they came."""

    def progressive_scores(self, X: Any, y: Any, classes: Any = None) -> Floats:
        """For each row: the raw score of the model before it, then learn from it."""

    def learn_one(self, x: Any, y: Any, *, score: float | None = None, weight: float = 1.0) -> Self:
        """Learn from one row; `score` is the raw score that was answered when it came."""

    def score_one(self, x: Any) -> float:
        """`decision_function` of one row."""

    def raw_score_one(self, x: Any) -> float:
        """`raw_scores` of one row."""

    def answer_one(self, x: Any) -> Answer:
        """`answer` for one row."""

    def compile_ahead(self, n_features: int | None = None, *, sparse: bool = False, classes: Any = None) -> Self:
        """Compile beforehand what learning and answering need."""

    def snapshot(self) -> Self:
        """An independent copy of one moment, whatever other threads do."""

    def to_bytes(self) -> bytes:
        """The content of a model file."""

    def save(self, path: str | Path) -> None:
        """Write the model into one file."""


@runtime_checkable
class TurnTaker(Protocol):
    """What a learner may have besides, for labels that come late: learning and scoring in turn, in one call.

    With late labels what is known changes from row to row, so that rows are learned and scored in turn. A learner
    without this method is called for every row or two; the scores are the same.
    """

    def take_turns(
        self, X: Any, turns: Floats, scores: Floats, places: npt.NDArray[np.int64], weights: Floats | None = None
    ) -> Self:
        """Learn some rows and score others, in the order given, as `learn_one` and `raw_score_one` would.

        `turns` are +1 or -1 for rows to be learned as of the rare or the other class, NaN for rows to be scored.
        `scores` and `places` say what was answered when a row to be learned came, `scores[place]`, and where the score
        of another one is written. `weights` are those of the rows to be learned, above 0; None: 1 each.
        """


@runtime_checkable
class Mergeable(Protocol):
    """What a learner may have besides, for streams that several of them learn in parts.

    `lopsided.merge` and `lopsided.empty_like` call these; scalers, histories, samples and metrics have them too.
    """

    def empty_like(self) -> Self:
        """An empty one that can be merged with this one when it has learned another part of the stream."""

    def merged_with(self, others: Iterable[Self], budget: Any = None) -> Self:
        """A new one that has learned what this one and the others have; all of them stay as they are.

        An empty one changes nothing, and the order makes no difference. `budget` is the number of vectors that the new
        one may keep; None: as many as each of them may.
        """
