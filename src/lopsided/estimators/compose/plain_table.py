"""Tables as rows of numbers, scaled and learned row by row: columns by a schema, given or found in the first rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from lopsided.constraints import ParameterError
from lopsided.core.arithmetic.compiled import Floats, Integers, bound
from lopsided.core.geometry.filling import fill_missing
from lopsided.core.geometry.points import Rows
from lopsided.encoding import EncodedRows, Schema
from lopsided.encoding.hashing import CODE_UNIT
from lopsided.estimators.base import validation
from lopsided.estimators.base.online import OnlineClassifier
from lopsided.estimators.compose.cells_as_they_came import CellsAsTheyCame
from lopsided.estimators.compose.file_pipeline import FilePipeline
from lopsided.estimators.compose.first_rows import checked_array, first_schema, is_array, named_columns
from lopsided.estimators.compose.key_encoder import KeyEncoder
from lopsided.estimators.compose.keyed_learner import KeyedLearner
from lopsided.estimators.compose.keyed_rows import one_code
from lopsided.estimators.compose.merging_parts import MergesTables
from lopsided.estimators.compose.pipeline import StreamPipeline
from lopsided.estimators.default_learner import default_learner
from lopsided.estimators.kernel.koil import KOIL
from lopsided.estimators.state.arrays import in_range, taken


def _has_a_model_for_each_key(model: PlainTable) -> bool:
    return model._model_key() is not None


def _mapping(row: Any) -> Any:
    """One row of a data frame as a mapping."""
    return row.to_dict() if hasattr(row, "to_dict") else row


class PlainTable(MergesTables, CellsAsTheyCame, FilePipeline):
    """Encodes the columns of a table, scales its numbers, and learns: a `TablePipeline` without a history."""

    _shape: ClassVar[tuple[str, ...]] = (*StreamPipeline._shape, "_found", "_n_columns")
    _found: Schema | None = None  # in the first rows
    _n_columns: int | None = None  # of the arrays that it began with, if it did
    _default: OnlineClassifier | None = None  # what None was for 'learner' when it began

    def __init__(self, schema: Schema | None = None, scaler: Any = None, learner: Any = None) -> None:
        self.schema = schema
        self.scaler = scaler
        self.learner = learner

    def _check_parameters(self) -> None:
        if not (self.schema is None or isinstance(self.schema, Schema)):
            raise ParameterError(
                "The 'schema' parameter of TablePipeline must be a Schema, or None to find it in the first rows. "
                f"Got {self.schema!r} instead."
            )
        super()._check_parameters()

    def _default_learner(self) -> OnlineClassifier:
        return default_learner() if self._default is None else self._default

    @property
    def schema_(self) -> Schema:
        """What the columns are: as given, or as found in the first rows."""
        schema = self.schema if self._found is None else self._found
        if schema is None:
            raise NotFittedError("This TablePipeline has no schema yet: 'fit' and the other ways to learn find one.")
        return schema

    @property
    def schema_notes_(self) -> list[str]:
        """What the columns are, in words."""
        return str(self.schema_).splitlines()

    def find_schema(self, X: Any) -> Self:
        """Find the schema in these rows, if none was given and nothing has been learned; none of them is learned.

        For a stream that begins with single rows: they are encoded as if all these rows had come first.
        """
        with self._alone:
            if self.schema is None and not self._started:
                self._find_schema(X)
        return self

    def _find_schema(self, X: Any) -> None:
        rows = checked_array(self, X) if is_array(X) else X
        key = self._model_key()
        self._found = first_schema(rows, ignore=[] if key is None else [key])
        self._n_columns = rows.shape[1] if is_array(X) else None

    def _model_key(self) -> str | None:
        """The column by which the learner keeps a model for each key, if it does."""
        learner = self._given_learner()
        return str(learner.key) if isinstance(learner, KeyedLearner) else None

    def _check_scale_of_learner(self) -> None:
        learner = self._given_learner()
        if isinstance(learner, KeyedLearner) and not isinstance(learner.key, str):
            raise ParameterError(
                f"The 'key' of the KeyedLearner of a {type(self).__name__} must be the name of a column. "
                f"Got {learner.key!r}."
            )

    @property
    def encoder_(self) -> KeyEncoder:
        """How columns become numbers."""
        encoder: KeyEncoder | None = self.__dict__.get("_encoder")
        schema = self.schema if self._found is None else self._found
        if encoder is None or encoder.schema is not schema or encoder.key != self._model_key():
            encoder = self._encoder = KeyEncoder(self.schema_, self._model_key())
        return encoder

    # ---------------------------------------------------------------- the door

    def _checked(self, X: Any, y: Any, sample_weight: Any, *, first: bool) -> tuple[Any, npt.NDArray[Any], Floats]:
        if first and self.schema is not None:
            self._found = self._n_columns = None
        elif first and (self._started or self._found is None):
            self._find_schema(X)
        matrix = self._matrix(X)
        if first:
            self.n_features_in_ = matrix.shape[1]
        y = validation.checked_labels(self, y, matrix.shape[0])
        return matrix, y, validation.checked_weights(sample_weight, matrix.shape[0])

    def _matrix(self, X: Any) -> Floats:
        encoder = self.encoder_
        is_of_numbers = self._n_columns is None or (isinstance(X, np.ndarray) and X.dtype.kind in "biuf" and len(X))
        if isinstance(X, np.ndarray) and X.shape[1:] == (encoder.width,) and is_of_numbers:
            return X if isinstance(X, EncodedRows) else encoder.checked_rows(X)
        if self._n_columns is not None and is_array(X):
            X = checked_array(self, X)
            if X.shape[1] != self._n_columns:
                raise ValueError(
                    f"X has {X.shape[1]} features, but TablePipeline is expecting {self._n_columns} features as input."
                )
            X = named_columns(X)
        return encoder.rows(encoder.columns_of(X))

    def _rows_of(self, X: Any) -> Rows:
        return validation.as_rows(self._matrix(X))

    def _learn_first(self, x: Any, y: Any, score: float | None, weight: float) -> Self:
        scores = None if score is None else [score]
        rows = np.asarray(x)[None] if is_array(x) else [_mapping(x)]
        return self.learn_many(rows, [y], scores=scores, sample_weight=None if weight == 1.0 else [weight])

    def _take_one(self, x: Any) -> None:
        if isinstance(x, Mapping):
            self._one_cells = x
            self.encoder_.row(x, self._one_x)
        elif isinstance(x, np.ndarray) or (self._n_columns is not None and is_array(x)):
            x = np.asanyarray(x)
            if x.shape not in (self._one_x.shape, (self._n_columns,)):
                raise ValueError(f"An encoded row must have {self.encoder_.width} features, got shape {x.shape}.")
            self._one_x[:] = self._matrix(x[None])[0]
            self._one_cells = getattr(x, "cells", None)
        else:
            cells = self._one_cells = _mapping(x)
            self.encoder_.row(cells, self._one_x)

    # ---------------------------------------------------------------- learning

    def _start(self, n_features: int) -> None:
        if n_features != self.encoder_.width:
            raise ValueError(f"The schema must describe {n_features} features. Got one of {self.encoder_.width}.")
        if self.learner is None:
            self._default = self._default_learner()
        super()._start(n_features)
        if self._model_key() is not None:
            self.learner_._key_at = self.encoder_.key_place
        n_numbers = self.encoder_.n_numbers
        self.scaler_.n_features_in_ = max(n_numbers, 1)
        self.scaler_._start(max(n_numbers, 1))
        self._counts, self._means = np.zeros(n_numbers, dtype=np.int64), np.zeros(n_numbers)

    def compile_ahead(self, n_features: int | None = None, *, sparse: bool = False, classes: Any = None) -> Self:
        """Compile beforehand; how wide a row is follows from the schema, if it is known."""
        self.check_parameters()
        is_known = self.schema is not None or self._found is not None
        if is_known and self._model_key() is not None:
            return self._compile_by(np.ones((2, self.encoder_.width)), classes)
        return super().compile_ahead(self.encoder_.width if is_known else n_features, sparse=sparse, classes=classes)

    def _compile_by(self, rows: Floats, classes: Any) -> Self:
        """Let a copy learn and answer these encoded rows."""
        if self._model_key() is not None:
            rows[:, self.encoder_.key_place] = CODE_UNIT
        labels = np.asarray([0, 1] if classes is None else classes)
        copy, encoded = clone(self), rows.view(EncodedRows)
        copy.progressive_scores(copy.arrived(encoded) if hasattr(copy, "arrived") else encoded, labels, classes=labels)
        copy.answer(encoded)
        copy.learn_one(encoded[0], labels[0]).answer_one(encoded[0])
        return self

    def _prepared(self, rows: Rows, turns: Floats | None) -> Rows:
        """Rows without gaps and on scale, each by what was known before it."""
        n_numbers = self.encoder_.n_numbers
        matrix = rows.dense.copy()
        if not n_numbers:
            return validation.as_rows(matrix)
        turns = np.full(len(matrix), np.nan) if turns is None else turns
        fill_missing(matrix, self._counts, self._means, turns)
        if not self._scales:
            return validation.as_rows(matrix)
        if n_numbers == matrix.shape[1]:
            return self.scaler_._scale(validation.as_rows(matrix), turns)
        numbers = validation.as_rows(np.ascontiguousarray(matrix[:, :n_numbers]))
        matrix[:, :n_numbers] = self.scaler_._scale(numbers, turns).dense
        return validation.as_rows(matrix)

    def _pass_one_on(self, *, learn: bool) -> None:
        name = "_one_fill_and_note" if learn else "_one_fill"
        steps = self.__dict__.get(name)
        if steps is None:
            steps = self.__dict__[name] = self._bound_steps(learn=learn)
        for step in steps:
            step()

    def _bound_steps(self, *, learn: bool) -> list[Callable[[], Any]]:
        """What `_prepared` does, for the one example again and again: fill in place, scale into the learner's row."""
        n_numbers, one, target = self.encoder_.n_numbers, self._one_row.dense, self.learner_._one_row.dense
        steps: list[Callable[[], Any]] = []
        if n_numbers:
            steps.append(bound(fill_missing, one, self._counts, self._means, np.full(1, 1.0 if learn else np.nan)))
        if n_numbers and self._scales:
            numbers, scaled = validation.as_rows(one[:, :n_numbers]), validation.as_rows(target[:, :n_numbers])
            steps.append(self.scaler_._bound(numbers, scaled, learn=learn))
            one, target = one[:, n_numbers:], target[:, n_numbers:]
        if one.size:
            steps.append(partial(np.copyto, target, one))
        return steps

    def _prepare_for_one(self) -> None:
        super()._prepare_for_one()
        self.__dict__.pop("_one_fill_and_note", None)
        self.__dict__.pop("_one_fill", None)

    # ---------------------------------------------------------------- looking inside

    @available_if(_has_a_model_for_each_key)  # type: ignore[untyped-decorator]
    def key_codes(self, X: Any) -> Integers:
        """The code of each row's key: see `KeyedLearner.key_codes`. Only a pipeline around one has this method."""
        return self.encoder_.key_codes(self._matrix(X))

    def encoded(self, X: Any) -> Floats:
        """Rows as numbers, before gaps are filled and numbers scaled: what `encoder_` makes of columns."""
        return self._matrix(X)

    @property
    def missing_as_(self) -> Floats:
        """What missing numbers become: the means so far, one for each number of `encoder_` (a copy)."""
        self._check_started()
        return self._means.copy()

    @property
    def typical_row_(self) -> Floats:
        """The row that others are explained against: numbers at their means, no category, no text, no hour."""
        row = np.zeros(self.n_features_in_)
        row[: self._means.size] = self.missing_as_
        if (key := self._model_key()) is not None:
            row[self.encoder_.key_place] = one_code(None, key)
        return row

    def _unscaled(self, rows: Floats) -> Floats:
        result = rows.copy()
        if self._scales:
            n_numbers = self.encoder_.n_numbers
            result[:, :n_numbers] = self.scaler_.unscaled(result[:, :n_numbers])
        return result

    def _affine(self) -> tuple[Floats, Floats]:
        middle, factor = np.zeros(self.n_features_in_), np.ones(self.n_features_in_)
        n_numbers = self.encoder_.n_numbers
        if self._scales and n_numbers:
            middle[:n_numbers], factor[:n_numbers] = self.scaler_.affine()
        return middle, factor

    # ---------------------------------------------------------------- keeping

    def _kept_words(self) -> dict[str, Any]:
        words: dict[str, Any] = {} if self._found is None else {"schema": self._found, "n_columns": self._n_columns}
        return words if self._default is None else words | {"learner": self._default}

    def _take_words(self, words: dict[str, Any]) -> None:
        self._found, self._n_columns = words.get("schema"), words.get("n_columns")
        if self.learner is None:  # files of 0.1.0 do not say what that was
            self._default = words.get("learner") or KOIL()

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return super()._arrays() | {"encoder/counts": self._counts, "encoder/means": self._means}

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        super()._restore(arrays)
        n_numbers = self.encoder_.n_numbers
        self._counts = taken(arrays, "encoder/counts", np.int64, (n_numbers,))
        self._means = taken(arrays, "encoder/means", np.float64, (n_numbers,))
        in_range("encoder/counts", self._counts, 0, 2**62)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
