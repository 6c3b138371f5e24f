"""Models that take what files hold: an encoder, a history of keys, a scaler and a learner that learn together."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.geometry.filling import fill_missing
from lopsided.core.geometry.points import Rows
from lopsided.encoding import EncodedRows, Schema
from lopsided.estimators.base import validation
from lopsided.estimators.base.online import OnlineClassifier
from lopsided.estimators.compose.history import KeyedHistory
from lopsided.estimators.compose.history_columns import tokens_of
from lopsided.estimators.compose.history_encoder import HistoryEncoder
from lopsided.estimators.compose.key_encoder import KeyEncoder
from lopsided.estimators.compose.plain_table import PlainTable


def _keeps_a_history(model: TablePipeline) -> bool:
    return model._given_history() is not None


class TablePipeline(PlainTable):
    """Encodes the columns of a table, scales its numbers, and learns: what `lopsided learn` saves.

    Use it for tables with words, dates and missing values; for a matrix of numbers `StreamPipeline` does the same. A
    missing number becomes the mean of those before it, categories and words are hashed, of dates the hour, weekday and
    day of month are learned. Only numbers are scaled, each row by what was known before it.

    `X` is a data frame of pandas or polars, an arrow table, a mapping of columns, a list of mappings, an array, or the
    columns of a stream's chunk. A key that a row, a mapping, does not have is a missing value. Cost of a row: that of
    its encoded width, which `n_features_in_` says.

    Without a schema the first rows that it sees tell what the columns are, 1,000 of them at most; `schema_` says what
    was found. A first batch of some hundred rows tells more than a single one: from there on, and with a schema from
    the start, a batch equals the loop of its rows.

    With a schema that names keys (`infer_schema(rows, keys=["card"], time="when", value="amount")`) each row also gets
    the features of a `KeyedHistory`: what its keys did before it. Where labels are there at once, rows are read,
    remembered and learned one after the other. Where they come late, as in `lopsided.late.LateLearner`, a row is
    observed when it comes (`arrived`): its features are those of that moment and wait with it, and its label counts
    for its keys when it is learned. That costs about a microsecond more for each key of a row, and what the learner
    needs for the features.

    Parameters
    ----------
    schema : Schema or None, default=None
        What the columns are, as `lopsided.encoding.infer_schema` finds it. None finds it in the first rows, without
        keys.
    scaler : OnlineScaler or "none" or None, default=None
        Scales the numbers of every row. None is OnlineScaler(), "none" leaves numbers as they are.
    learner : learner or None, default=None
        Any learner of this package. None is RareEventClassifier(). Its threshold, pos_label,
        shuffle and random_state hold for the pipeline.

    Attributes
    ----------
    schema_ : Schema
        What the columns are: as given, or as found in the first rows.
    schema_notes_ : list of str
        The same in words, one line for each column or run of columns, with the reason for each that is ignored.
    history_ : KeyedHistory
        The history as it stands, if the schema names keys.

    Examples
    --------
    >>> from lopsided import KOIL, TablePipeline
    >>> rows = {"amount": [3.0, None, 5.0, 40.0] * 20, "country": ["NO", "SE", "NO", "XX"] * 20}
    >>> model = TablePipeline(learner=KOIL(random_state=0)).partial_fit(rows, [0, 0, 0, 1] * 20)
    >>> print(model.schema_)
    amount   number, missing values are noted
    country  category, hashed into 8 columns
    >>> alike, other = model.decision_function([{"amount": 38.0, "country": "XX"}, {"country": "NO"}])
    >>> bool(alike > other)
    True
    """

    _made_history: tuple[Schema, KeyedHistory | None] | None = None  # as the schema has it

    def _given_history(self) -> KeyedHistory | None:
        """The history that is to be kept; None if no column is a key."""
        schema = self.schema if self._found is None else self._found
        if schema is None:
            return None
        if self._made_history is None or self._made_history[0] is not schema:
            self._made_history = (schema, _history_of(schema))
        return self._made_history[1]

    @property
    def encoder_(self) -> KeyEncoder:
        """How columns become numbers."""
        return super().encoder_ if self._given_history() is None else self._keyed_encoder

    @property
    def _keyed_encoder(self) -> HistoryEncoder:
        history = self._given_history()
        made = self.__dict__.get("_history_encoder")
        key = self._model_key()
        if made is None or made[0] is not self.schema_ or made[1] is not history or made[2].key != key:
            assert history is not None
            made = self._history_encoder = (self.schema_, history, HistoryEncoder(self.schema_, history, key))
        return made[2]

    def _checked(self, X: Any, y: Any, sample_weight: Any, *, first: bool) -> tuple[Any, npt.NDArray[Any], Floats]:
        matrix, y, weights = super()._checked(X, y, sample_weight, first=first)
        history = self.__dict__.get("history_") or self._given_history()
        if history is not None:
            history.check_first_time(self._keyed_encoder.keyed(matrix[:1]))
        return matrix, y, weights

    # ---------------------------------------------------------------- the history

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, the history included, then learn from the rows once, in the order given."""
        with self._alone:
            before = self.__dict__.pop("history_", None)
            try:
                return super().fit(X, y, sample_weight)
            except BaseException:
                if before is not None:
                    self.history_ = before
                raise

    @available_if(_keeps_a_history)  # type: ignore[untyped-decorator]
    def arrived(self, X: Any) -> EncodedRows:
        """Rows have come whose labels are not known yet: observe them, and give them back as they are to wait.

        What is given back holds the features of this moment. To score and to learn it, pass it on as it is. Only a
        pipeline with a history has this method.
        """
        with self._alone:
            if not self._started:
                self._check_parameters()
            matrix = self._matrix(X)
            result = matrix.copy().view(EncodedRows)
            self._observe(np.asarray(result), np.full(result.shape[0], np.nan))
            result.cells = getattr(matrix, "cells", None)
            return result

    @available_if(_keeps_a_history)  # type: ignore[untyped-decorator]
    def read_as_next(self, X: Any) -> EncodedRows:
        """Rows with the features of their history as of now, each as if it were the next one. Changes nothing."""
        with self._alone:
            self._check_started()
            matrix = self._matrix(X)
            result, encoder = matrix.copy().view(EncodedRows), self._keyed_encoder
            unread = np.flatnonzero(~encoder.is_observed(matrix))
            if unread.size:
                keyed = encoder.keyed(np.asarray(matrix)[unread])
                found = self._history_now()._read(keyed, np.full(unread.size, np.nan), note=False)
                np.asarray(result)[unread, encoder.first_feature :] = found.features
            result.cells = getattr(matrix, "cells", None)
            return result

    def _observe(self, matrix: Floats, signs: Floats) -> None:
        """Read and remember rows that have not been observed, and learn the labels of all that have one, in order."""
        encoder, history = self._keyed_encoder, self._history_now()
        observed = encoder.is_observed(matrix)
        cuts = [0, *(np.flatnonzero(observed[1:] != observed[:-1]) + 1).tolist(), matrix.shape[0]]
        for start, stop in pairwise(cuts if matrix.shape[0] else ()):
            rows, keyed = slice(start, stop), encoder.keyed(matrix[start:stop])
            if observed[start]:
                if not np.isnan(signs[rows]).any():
                    history._learn(tokens_of(keyed.codes, keyed.times), np.ascontiguousarray(signs[rows]))
            else:
                history.check_first_time(keyed)
                features, tokens = history._read(keyed, np.ascontiguousarray(signs[rows]), note=True)
                encoder.write_features(matrix, rows, features, tokens[:, -1].view(np.int64) / 1e6)

    def _history_now(self) -> KeyedHistory:
        history: KeyedHistory | None = self.__dict__.get("history_")
        if history is None:
            history = self.history_ = clone(self._given_history())
            history.n_features_in_ = len(history.keys) + 1
            history._begin_empty()
            history._use_lock(self._alone)
        return history

    # ---------------------------------------------------------------- learning

    def _start(self, n_features: int) -> None:
        super()._start(n_features)
        if not _keeps_a_history(self):
            return
        self._history_now()
        n_scaled = self.encoder_.n_numbers + len(self._keyed_encoder.history_names)
        self.scaler_.n_features_in_ = n_scaled
        self.scaler_._start(n_scaled)

    def _learner_width(self, n_features: int) -> int:
        if not _keeps_a_history(self):
            return super()._learner_width(n_features)
        return len(self._keyed_encoder.learned_names)

    def _learn(self, rows: Rows, signs: Floats, weights: Floats, *, every_score: bool) -> Floats:
        if _keeps_a_history(self):
            matrix = rows.dense.copy()
            self._observe(matrix, signs)
            rows = validation.as_rows(matrix)
        return super()._learn(rows, signs, weights, every_score=every_score)

    def _take_turns(self, rows: Rows, turns: Floats, weights: Floats) -> Floats:
        if _keeps_a_history(self):  # what keys have done is read and noted row by row
            self._one_cells = None
            return OnlineClassifier._take_turns(self, rows, turns, weights)
        return super()._take_turns(rows, turns, weights)

    def _prepared(self, rows: Rows, turns: Floats | None) -> Rows:
        """Rows without gaps and on scale; one that has not been observed is read as if it were the next."""
        if not _keeps_a_history(self):
            return super()._prepared(rows, turns)
        encoder, matrix = self._keyed_encoder, rows.dense
        features = matrix[:, encoder.first_feature :].copy()
        unread = ~encoder.is_observed(matrix)
        if unread.any():
            history, keyed = self._history_now(), encoder.keyed(matrix[unread])
            features[unread] = history._read(keyed, np.full(keyed.seconds.size, np.nan), note=False).features
        encoded, n_numbers = matrix[:, : encoder.n_encoded].copy(), encoder.n_numbers
        if n_numbers:
            noted = np.full(len(encoded), np.nan) if turns is None else turns
            fill_missing(encoded, self._counts, self._means, noted)
        if self._scales:
            together = np.concatenate([encoded[:, :n_numbers], features], axis=1)
            scaled = self.scaler_._scale(validation.as_rows(together), turns).dense
            encoded[:, :n_numbers], features = scaled[:, :n_numbers], scaled[:, n_numbers:]
        return validation.as_rows(np.concatenate([encoded, features], axis=1))

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        if _keeps_a_history(self):
            self._observe(self._one_row.dense, np.array([sign]))
        return super()._learn_one(sign, weight)

    def _pass_one_on(self, *, learn: bool) -> None:
        if _keeps_a_history(self):
            self.learner_._one_x[:] = self._prepared(self._one_row, np.ones(1) if learn else None).dense[0]
        else:
            super()._pass_one_on(learn=learn)

    def compile_ahead(self, n_features: int | None = None, *, sparse: bool = False, classes: Any = None) -> Self:
        """Compile beforehand; how wide a row is follows from the schema, if it is known."""
        self.check_parameters()
        if not _keeps_a_history(self):
            return super().compile_ahead(n_features, sparse=sparse, classes=classes)
        rows = np.ones((2, self.encoder_.width))
        rows[:, self._keyed_encoder.first_feature :] = np.nan
        return self._compile_by(rows, classes)

    # ---------------------------------------------------------------- looking inside

    @property
    def typical_row_(self) -> Floats:
        """The row that others are explained against: numbers at their means, no category, no text, no hour."""
        row = super().typical_row_
        if _keeps_a_history(self):
            first = self._keyed_encoder.first_feature
            row[first:] = self.scaler_.means_[self.encoder_.n_numbers :] if self._scales else 0.0
        return row

    def _unscaled(self, rows: Floats) -> Floats:
        if not _keeps_a_history(self):
            return super()._unscaled(rows)
        encoder = self._keyed_encoder
        result = np.full((rows.shape[0], encoder.width), np.nan)
        result[:, : encoder.n_encoded] = rows[:, : encoder.n_encoded]
        result[:, encoder.first_feature :] = rows[:, encoder.n_encoded :]
        if self._scales:
            scaled = self._scaled_columns()
            result[:, scaled] = self.scaler_.unscaled(result[:, scaled])
        return result

    def _affine(self) -> tuple[Floats, Floats]:
        if not _keeps_a_history(self):
            return super()._affine()
        middle, factor = np.zeros(self.n_features_in_), np.ones(self.n_features_in_)
        if self._scales:
            scaled = self._scaled_columns()
            middle[scaled], factor[scaled] = self.scaler_.affine()
        return middle, factor

    def _scaled_columns(self) -> npt.NDArray[np.int64]:
        encoder = self._keyed_encoder
        return np.concatenate([np.arange(encoder.n_numbers), np.arange(encoder.first_feature, encoder.width)])

    # ---------------------------------------------------------------- keeping

    @property
    def nbytes_(self) -> int:
        """What the model holds, in bytes, with room for all keys of the history."""
        if not _keeps_a_history(self):
            return super().nbytes_
        with self._alone:
            self._check_started()
            own = sum(array.nbytes for name, array in super()._arrays().items() if not name.startswith("rows/"))
            return own + self.history_.nbytes_ + sum(part.nbytes_ for part in self._parts())

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        arrays = super()._arrays()
        if _keeps_a_history(self):
            arrays |= {f"past/{name}": array for name, array in self.history_._arrays().items()}
        return arrays

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        super()._restore(arrays)
        if _keeps_a_history(self):
            past = {name.removeprefix("past/"): array for name, array in arrays.items() if name.startswith("past/")}
            self._history_now()._restore(past)

    def _use_lock(self, lock: Any) -> None:
        super()._use_lock(lock)
        if "history_" in self.__dict__:
            self.history_._use_lock(lock)

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        if "history_" in self.__dict__:
            self.history_._use_lock(self._alone)


def _history_of(schema: Schema) -> KeyedHistory | None:
    if not schema.history_keys or schema.time is None:
        return None
    return KeyedHistory(keys=list(schema.history_keys), time=schema.time.name, value=schema.value)
