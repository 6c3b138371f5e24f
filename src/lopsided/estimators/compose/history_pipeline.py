"""Tables with keys: an encoder, a history of the keys, a scaler and a learner, also where labels come late."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from lopsided.constraints import ParameterError
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.geometry.filling import fill_missing
from lopsided.core.geometry.points import Rows
from lopsided.encoding import EncodedRows, Schema
from lopsided.estimators.base import validation
from lopsided.estimators.compose.first_rows import first_schema
from lopsided.estimators.compose.history import KeyedHistory
from lopsided.estimators.compose.history_columns import tokens_of
from lopsided.estimators.compose.history_encoder import HistoryEncoder
from lopsided.estimators.compose.table_pipeline import TablePipeline


class HistoryPipeline(TablePipeline):
    """Tables with keys: what each key did before is learned from beside the columns, each row by what came before it.

    A `TablePipeline` whose rows get the features of a `KeyedHistory`. The columns of the keys need not be columns that
    the schema learns from; the time must be in the schema.

    Where labels are there at once, rows are read, remembered and learned one after the other. Where they come late, as
    in `lopsided.late.LateLearner`, a row is observed when it comes (`arrived`): its features are those of that
    moment and wait with it, and its label counts for its keys when it is learned.

    Cost of a row: that of the learner for all its features, and about a microsecond for each key. Memory: that of the
    history and of the learner; a row that waits holds the features of its history too.

    Parameters
    ----------
    schema : Schema, default=None
        What the columns are, such as `lopsided.encoding.infer_schema` finds in the first rows. None finds it in the
        first rows that come; keys are then not learned from but by their history.
    history : KeyedHistory, default=None
        Which columns are keys, time and amount, by their names. It must be given.
    scaler : OnlineScaler or "none" or None, default=None
        Scales numbers and features of the history. None is OnlineScaler(), "none" leaves them as they are.
    learner : learner or None, default=None
        Any learner of this package. None is KOIL(). Its threshold, pos_label, shuffle and random_state hold for the
        pipeline.

    Attributes
    ----------
    history_ : KeyedHistory
        The history as it stands.

    Examples
    --------
    >>> from lopsided import HistoryPipeline, KeyedHistory, KOIL
    >>> from lopsided.encoding import infer_schema
    >>> rows = {"card": ["a", "b", "a", "b"], "when": [0, 60, 120, 180], "amount": [5.0, 9.0, 6.0, 80.0]}
    >>> history = KeyedHistory(keys=["card"], time="when", value="amount", half_lives=["1d"])
    >>> model = HistoryPipeline(infer_schema(rows, ignore=["card"]), history, learner=KOIL(random_state=0))
    >>> scores = model.progressive_scores(rows, [0, 0, 0, 1])
    >>> model.history_.n_keys_, model.learner_.n_features_in_
    (2, 14)
    """

    def __init__(
        self, schema: Schema | None = None, history: Any = None, scaler: Any = None, learner: Any = None
    ) -> None:
        super().__init__(schema, scaler, learner)
        self.history = history

    def _check_parameters(self) -> None:
        if not isinstance(self.history, KeyedHistory):
            raise ParameterError(
                "The 'history' parameter of HistoryPipeline must be a KeyedHistory, which names keys and time. "
                f"Got {self.history!r} instead."
            )
        self.history._check_parameters()
        super()._check_parameters()

    @property
    def encoder_(self) -> HistoryEncoder:
        """How columns become numbers."""
        made = self.__dict__.get("_history_encoder")
        if made is None or made[0] is not self.schema_ or made[1] is not self.history:
            made = self._history_encoder = (self.schema_, self.history, HistoryEncoder(self.schema_, self.history))
        return made[2]

    def _find_schema(self, X: Any) -> None:
        keys = [str(key) for key in self.history.keys]
        self._found = first_schema(X, time=str(self.history.time), ignore=keys)

    def _checked(self, X: Any, y: Any, sample_weight: Any, *, first: bool) -> tuple[Any, npt.NDArray[Any], Floats]:
        matrix, y, weights = super()._checked(X, y, sample_weight, first=first)
        (self.__dict__.get("history_") or self.history).check_first_time(self.encoder_.keyed(matrix[:1]))
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

    def arrived(self, X: Any) -> EncodedRows:
        """Rows have come whose labels are not known yet: observe them, and give them back as they are to wait.

        What is given back holds the features of this moment. To score and to learn it, pass it on as it is.
        """
        with self._alone:
            if not self._started:
                self._check_parameters()
            matrix = self._matrix(X).copy()
            self._observe(matrix, np.full(matrix.shape[0], np.nan))
            return matrix.view(EncodedRows)

    def _observe(self, matrix: Floats, signs: Floats) -> None:
        """Read and remember rows that have not been observed, and learn the labels of all that have one, in order."""
        encoder, history = self.encoder_, self._history_now()
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
            history = self.history_ = clone(self.history)
            history.n_features_in_ = len(history.keys) + 1
            history._begin_empty()
            history._use_lock(self._alone)
        return history

    # ---------------------------------------------------------------- learning

    def _start(self, n_features: int) -> None:
        super()._start(n_features)
        self._history_now()
        n_scaled = self.encoder_.n_numbers + len(self.encoder_.history_names)
        self.scaler_.n_features_in_ = n_scaled
        self.scaler_._start(n_scaled)

    def _learner_width(self, n_features: int) -> int:
        return self.encoder_.n_encoded + len(self.encoder_.history_names)

    def _learn(self, rows: Rows, signs: Floats, weights: Floats, *, every_score: bool) -> Floats:
        matrix = rows.dense.copy()
        self._observe(matrix, signs)
        return super()._learn(validation.as_rows(matrix), signs, weights, every_score=every_score)

    def _prepared(self, rows: Rows, *, learn: bool) -> Rows:
        """Rows without gaps and on scale; one that has not been observed is read as if it were the next."""
        encoder, matrix = self.encoder_, rows.dense
        features = matrix[:, encoder.first_feature :].copy()
        unread = ~encoder.is_observed(matrix)
        if unread.any():
            history, keyed = self._history_now(), encoder.keyed(matrix[unread])
            features[unread] = history._read(keyed, np.full(keyed.seconds.size, np.nan), note=False).features
        encoded, n_numbers = matrix[:, : encoder.n_encoded].copy(), encoder.n_numbers
        if n_numbers:
            fill_missing(encoded, self._counts, self._means, learn)
        if self._scales:
            together = np.concatenate([encoded[:, :n_numbers], features], axis=1)
            scaled = self.scaler_._scale(validation.as_rows(together), learn=learn).dense
            encoded[:, :n_numbers], features = scaled[:, :n_numbers], scaled[:, n_numbers:]
        return validation.as_rows(np.concatenate([encoded, features], axis=1))

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        self._observe(self._one_row.dense, np.array([sign]))
        return super()._learn_one(sign, weight)

    def _pass_one_on(self, *, learn: bool) -> None:
        self.learner_._one_x[:] = self._prepared(self._one_row, learn=learn).dense[0]

    def compile_ahead(self, n_features: int | None = None, *, sparse: bool = False, classes: Any = None) -> Self:
        """Compile beforehand; how wide a row is follows from the schema and the history."""
        self.check_parameters()
        rows = np.ones((2, self.encoder_.width))
        rows[:, self.encoder_.first_feature :] = np.nan
        labels = np.asarray([0, 1] if classes is None else classes)
        copy, rows = clone(self), rows.view(EncodedRows)
        copy.progressive_scores(copy.arrived(rows), labels, classes=labels)
        copy.answer(rows)
        copy.learn_one(rows[0], labels[0]).answer_one(rows[0])
        return self

    # ---------------------------------------------------------------- looking inside

    def _unscaled(self, rows: Floats) -> Floats:
        encoder = self.encoder_
        result = np.full((rows.shape[0], encoder.width), np.nan)
        result[:, : encoder.n_encoded] = rows[:, : encoder.n_encoded]
        result[:, encoder.first_feature :] = rows[:, encoder.n_encoded :]
        if self._scales:
            scaled = self._scaled_columns()
            result[:, scaled] = self.scaler_.unscaled(result[:, scaled])
        return result

    def _affine(self) -> tuple[Floats, Floats]:
        middle, factor = np.zeros(self.n_features_in_), np.ones(self.n_features_in_)
        if self._scales:
            scaled = self._scaled_columns()
            middle[scaled], factor[scaled] = self.scaler_.affine()
        return middle, factor

    def _scaled_columns(self) -> npt.NDArray[np.int64]:
        encoder = self.encoder_
        return np.concatenate([np.arange(encoder.n_numbers), np.arange(encoder.first_feature, encoder.width)])

    # ---------------------------------------------------------------- keeping

    @property
    def nbytes_(self) -> int:
        """What the model holds, in bytes, with room for all keys of the history."""
        with self._alone:
            self._check_started()
            own = sum(array.nbytes for name, array in super()._arrays().items() if not name.startswith("rows/"))
            return own + self.history_.nbytes_ + sum(part.nbytes_ for part in self._parts())

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return super()._arrays() | {f"past/{name}": array for name, array in self.history_._arrays().items()}

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        super()._restore(arrays)
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
