"""Any online learner as a River classifier."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd
from river import base
from sklearn.base import clone

from lopsided.adapters.recent_answers import RecentAnswers
from lopsided.adapters.river.rows import NumberRows, TableRows, in_order
from lopsided.constraints import Constraint, anything, check_parameters, whole
from lopsided.estimators import registry

FIRST_ROWS = 256  # rows during which a new name gets a column as if it had been there from the start


class RiverClassifier(base.MiniBatchClassifier):
    """An online learner of lopsided as a River classifier: rows are dictionaries, and features may come and go.

    Use it in River's pipelines, ensembles and evaluation; `RiverKOIL` and its like take the learner's parameters
    directly. `predict_one` goes by the learner's `threshold`, `predict_proba_one` by its probabilities.

    Names of features: each gets a column. A name that a row does not have, or that is None or NaN there, is 0 in the
    row, or missing if the learner takes missing values (RareEventClassifier, BoostedSample). The first 256 rows are
    kept: when one of them brings new names, the learner begins again with more columns and learns those rows again, so
    that the names count as if they had been there, absent, from the start. After that the number of columns is fixed.
    A new name then takes a `spare` column; when all are taken, names share them by a hash and their values add up.
    Without spare columns it is left out. A `SharedColumnWarning` says so once.

    Cost of a row: that of the learner at as many columns, plus about 1 us at 20 features
    (`benchmarks/river_adapter.py`). New names among the first 256 rows cost at most that each of these rows is learned
    128 times on average, if every one brings some. Threshold and probabilities are found anew when they are asked for
    and there are a 16th more rows than at the last time, 2,048 at most: finding them for every row would cost more
    than learning it.

    Parameters
    ----------
    learner : learner
        Any online learner of lopsided; it is copied, and the copy learns.
    spare : int >= 0, default=0
        Columns left free for names that come after the first 256 rows. A column that is always empty is not for
        nothing: some learners, such as FourierRanker and KOIL with gamma="auto", take wider kernels for more columns.
        With 0 a stream whose names stay the same gives the learner's own scores to the last bit.
    max_features : int >= 1, default=1024
        The most columns, spare ones included.
    classes : tuple of two labels or None, default=None
        The two labels. Needed if they are words, since the first row shows only one of them.

    Examples
    --------
    >>> from lopsided import KOIL
    >>> model = RiverClassifier(KOIL(random_state=0))
    >>> model.learn_one({"amount": 0.2}, False)
    >>> model.learn_one({"amount": 3.0, "foreign": 1}, True)
    >>> model.predict_one({"amount": 2.9, "foreign": 1})
    True
    >>> model.learner_.n_features_in_, model.feature_columns_
    (2, {'amount': 0, 'foreign': 1})
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "spare": whole(0),
        "max_features": whole(1),
        "classes": anything(),
    }

    def __init__(self, learner: Any, spare: int = 0, max_features: int = 1024, classes: Any = None) -> None:
        self.learner = learner
        self.spare = spare
        self.max_features = max_features
        self.classes = classes
        self._begin()

    def _begin(self) -> None:
        settings = {name: getattr(self, name) for name in self._constraints}
        check_parameters(type(self).__name__, settings, self._constraints)
        if not self.max_features > self.spare:
            raise ValueError(
                f"The 'max_features' parameter of {type(self).__name__} must be more than 'spare', {self.spare}. "
                f"Got {self.max_features}."
            )
        self._model: Any = None  # the learner as it stands
        self._rows: Any = None
        self._first: list[tuple[dict[Any, Any], Any, float]] | None = []  # the first rows, while they are kept
        self._answers = RecentAnswers()

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from lopsided.estimators.kernel.koil import KOIL

        yield {"learner": KOIL(budget=20, random_state=0)}

    def _given_learner(self) -> Any:
        """A learner that has learned nothing."""
        return clone(self.learner)

    @property
    def learner_(self) -> Any:
        """The learner as it stands, to save it or to look into it; None before the first row."""
        return self._model

    @property
    def feature_columns_(self) -> dict[Any, int]:
        """Which column each name has; empty before the first row, and where a table's schema says it."""
        return dict(getattr(self._rows, "columns", {}))

    @property
    def _raw_memory_usage(self) -> int:
        """Bytes of the learner, of names and of rows that are kept; River would count compiled code as well."""
        own = len(pickle.dumps((self._rows, self._first)))
        return own if self._model is None else own + self._model.nbytes_

    # ---------------------------------------------------------------- learning

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn from one row and its label.

        Parameters
        ----------
        x : names and numbers (what a TablePipeline takes, if that is the learner)
        y : its label
        w : a weight; 0 skips the row.
        """
        rows = self._rows
        if self._first is not None:
            self._learn_among_first(x, y, w)
        elif isinstance(rows, NumberRows):
            if rows.has_news(x):
                with rows.unchanged_on_error():
                    rows.row(x)  # which refuses what is no number
                    rows.note(x)
                    self._learn_numbers(x, y, w)
            else:
                self._learn_numbers(x, y, w)
        else:
            self._model.learn_one(rows.row(x), y, weight=w)

    def _learn_numbers(self, x: dict[Any, Any], y: Any, w: float) -> None:
        row = self._rows.row(x)
        try:
            self._model.learn_one(row, y, weight=w)
        except ValueError:
            if not self._rows.has_gaps(row):
                raise
            self._model.learn_one(self._rows.without_gaps(row), y, weight=w)

    def _learn_among_first(self, x: dict[Any, Any], y: Any, w: float) -> None:
        """Learn a row while the first ones are kept, from the start again if it has a new name."""
        assert self._first is not None
        kept = [*self._first, (dict(x), y, w)]
        rows = self._rows_for(kept)
        if rows is not None:
            model = self._begun(rows, kept)
            self._model, self._rows = model, rows
            self._answers.forget()
        elif isinstance(self._rows, NumberRows):
            with self._rows.unchanged_on_error():
                self._rows.note(x)
                self._learn_numbers(x, y, w)
        else:
            self._model.learn_one(self._rows.row(x), y, weight=w)
        self._first = kept if len(kept) < FIRST_ROWS else None

    def _rows_for(self, kept: list[tuple[dict[Any, Any], Any, float]]) -> NumberRows | TableRows | None:
        """How rows are to be read from now on; None: as they are now."""
        x = kept[-1][0]
        if self._rows is None:
            given = self._given_learner()
            given.check_parameters()
            entry = registry.nearest_entry(type(given))
            if entry is not None and entry.takes_tables:
                return TableRows()
            absent = math.nan if given.takes_missing else 0.0
            return NumberRows(type(self).__name__, in_order(x), spare=self.spare, most=self.max_features, absent=absent)
        if isinstance(self._rows, NumberRows):
            self._rows.row(x)  # which refuses what is no number
            return self._rows.wider(x, self.max_features)
        # What the columns of a table are is the clearer the more rows there are: looked at again at 2, 4, 8, ... rows.
        return self._rows if self._finds_schema and len(kept) & (len(kept) - 1) == 0 else None

    @property
    def _finds_schema(self) -> bool:
        return self._model is not None and getattr(self._model, "schema", 0) is None

    def _begun(self, rows: NumberRows | TableRows, kept: list[tuple[dict[Any, Any], Any, float]]) -> Any:
        """A learner that has learned these rows, read in this way."""
        model = self._given_learner()
        labels, weights = [y for _, y, _ in kept], [w for _, _, w in kept]
        if isinstance(rows, NumberRows):
            X: Any = np.array([rows.without_gaps(rows.row(x)).tolist() for x, _, _ in kept])
        else:
            X = [rows.row(x) for x, _, _ in kept]
            if hasattr(model, "find_schema"):
                model.find_schema(X)
        return model.partial_fit(X, labels, classes=self.classes, sample_weight=weights)

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn from the rows of a data frame, in order: the same model as row by row."""
        labels = y.tolist()
        n = 0
        while self._first is not None and n < len(labels):
            self.learn_one(X.iloc[n].to_dict(), labels[n])
            n += 1
        if n < len(labels):
            rest = X.iloc[n:]
            with self._rows.unchanged_on_error():
                self._rows.matrix(rest)  # which refuses what is no number
                self._rows.note(X.columns)
                self._model.partial_fit(self._rows.matrix(rest), labels[n:])

    # ---------------------------------------------------------------- answering

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """The rare label where the score is above the learner's threshold, else the other one."""
        if self._model is None:
            return self._labels[0]
        return self._labels[self._score(x) > self._answers.threshold(self._model)]

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The probability of each label; a half each before anything was learned."""
        common, rare = self._labels
        chance = 0.5 if self._model is None else self._answers.probability(self._model, self._score(x))
        return {common: 1.0 - chance, rare: chance}

    def score_one(self, x: dict[Any, Any]) -> float:
        """The learner's score, by which rows are ranked, less its threshold: larger means more likely rare."""
        return 0.0 if self._model is None else self._score(x) - self._answers.threshold(self._model)

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """`predict_one` of every row."""
        above = self._scores(X) > (0.0 if self._model is None else self._answers.threshold(self._model))
        return pd.Series([self._labels[is_above] for is_above in above.tolist()], index=X.index)

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """`predict_proba_one` of every row."""
        common, rare = self._labels
        if self._model is None:
            chances = np.full(len(X), 0.5)
        else:
            find = self._answers.probability
            chances = np.array([find(self._model, score) for score in self._scores(X).tolist()])
        return pd.DataFrame({common: 1.0 - chances, rare: chances}, index=X.index)

    def _score(self, x: dict[Any, Any]) -> float:
        row = self._rows.row(x)
        try:
            return self._model.raw_score_one(row)
        except ValueError:
            if not self._rows.has_gaps(row):
                raise
            return self._model.raw_score_one(self._rows.without_gaps(row))

    def _scores(self, X: pd.DataFrame) -> npt.NDArray[np.float64]:
        return np.zeros(len(X)) if self._model is None else self._model.raw_scores(self._rows.matrix(X))

    @property
    def _labels(self) -> tuple[Any, Any]:
        """The other label and the rare one."""
        if self._model is None:
            return (False, True) if self.classes is None else tuple(self.classes)
        labels = self._model.labels_
        return labels.negative, labels.positive
