"""Models that take what files hold: an encoder, a scaler and a learner that learn together, row by row."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lopsided.constraints import ParameterError
from lopsided.core.arithmetic.compiled import Floats, bound
from lopsided.core.geometry.filling import fill_missing
from lopsided.core.geometry.points import Rows
from lopsided.encoding import EncodedRows, Schema, TableEncoder
from lopsided.encoding.raw_cells import RawCells
from lopsided.estimators.base import validation
from lopsided.estimators.compose.pipeline import StreamPipeline
from lopsided.estimators.compose.remembered_rows import RememberedCells, RememberedRows
from lopsided.estimators.compose.scaler import OnlineScaler
from lopsided.estimators.state.arrays import in_range, taken

NO_SCALER = "none"


class _FilePipeline(StreamPipeline):
    """A pipeline that may go without its scaler, because a command line must be able to say so."""

    _scales: bool  # whether the model does, whatever became of the parameter since it began

    @property
    def _is_to_scale(self) -> bool:
        return not isinstance(self.scaler, str)

    def _given_scaler(self) -> OnlineScaler:
        return super()._given_scaler() if self._is_to_scale else OnlineScaler()

    def _start(self, n_features: int) -> None:
        super()._start(n_features)
        self._scales = self._is_to_scale

    def _check_parameters(self) -> None:
        if not self._is_to_scale and self.scaler != NO_SCALER:
            raise ParameterError(
                f"The 'scaler' parameter of {type(self).__name__} must be an OnlineScaler or 'none'. "
                f"Got {self.scaler!r} instead."
            )
        super()._check_parameters()

    def _prepared(self, rows: Rows, *, learn: bool) -> Rows:
        return super()._prepared(rows, learn=learn) if self._scales else rows

    def _pass_one_on(self, *, learn: bool) -> None:
        if self._scales:
            super()._pass_one_on(learn=learn)
        else:
            self.learner_._one_x[:] = self._one_x

    @property
    def scale_kind(self) -> str:
        """How numbers are scaled: "standard", "minmax" or "none"."""
        is_scaled = self._scales if self._started else self._is_to_scale
        return super().scale_kind if is_scaled else NO_SCALER

    @property
    def typical_row_(self) -> Floats:
        """The row that others are explained against: every feature at its mean, where that is known."""
        self._check_started()
        return super().typical_row_ if self._scales else self.learner_.typical_row_

    def _unscaled(self, rows: Floats) -> Floats:
        return super()._unscaled(rows) if self._scales else rows.copy()

    def _affine(self) -> tuple[Floats, Floats]:
        n_features = self.n_features_in_
        return super()._affine() if self._scales else (np.zeros(n_features), np.ones(n_features))


def _mapping(row: Any) -> Any:
    """One row of a data frame as a mapping."""
    return row.to_dict() if hasattr(row, "to_dict") else row


class SparsePipeline(_FilePipeline):
    """Sparse rows with numbered features, as LIBSVM files have them: what `lopsided learn` saves for such files.

    Parameters
    ----------
    first_index : 0 or 1, default=1
        The number of the first feature in the files.
    scaler : OnlineScaler or "none", default="none"
        Scales every row; it must keep zeros (center=False). "none" leaves values as they are.
    learner : learner or None, default=None
        Any learner of this package. None is KOIL(). Its threshold, pos_label, shuffle and random_state hold for the
        pipeline.
    """

    def __init__(self, first_index: int = 1, scaler: Any = NO_SCALER, learner: Any = None) -> None:
        self.first_index = first_index
        self.scaler = scaler
        self.learner = learner

    def _check_parameters(self) -> None:
        if self.first_index not in (0, 1):
            raise ParameterError(
                f"The 'first_index' parameter of SparsePipeline must be 0 or 1. Got {self.first_index!r} instead."
            )
        super()._check_parameters()

    def _check_features(self, X: Any) -> None:
        if self._is_to_scale:
            super()._check_features(X)

    def _unscaled(self, rows: Floats) -> Floats:
        return np.where(rows != 0.0, super()._unscaled(rows), 0.0)  # what is 0 has been 0, whatever its scale

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._is_to_scale or tags.input_tags.sparse
        return tags


class TablePipeline(_FilePipeline):
    """Encodes the columns of a table, scales its numbers, and learns: what `lopsided learn` saves.

    Use it for tables with words, dates and missing values; for a matrix of numbers `StreamPipeline` does the same. A
    missing number becomes the mean of those before it, categories and words are hashed, dates become days, weekday and
    hour. Only numbers are scaled, each row by what was known before it.

    `X` is a data frame, an arrow table, a mapping of columns, a list of mappings, or the columns of a stream's chunk.
    Cost of a row: that of its encoded width, which `n_features_in_` says.

    Parameters
    ----------
    schema : Schema, default=None
        What the columns are, such as `lopsided.encoding.infer_schema` finds in the first rows. It must be given.
    scaler : OnlineScaler or "none" or None, default=None
        Scales the numbers of every row. None is OnlineScaler(), "none" leaves numbers as they are.
    learner : learner or None, default=None
        Any learner of this package. None is KOIL(). Its threshold, pos_label, shuffle and random_state hold for the
        pipeline.

    Examples
    --------
    >>> from lopsided import KOIL, TablePipeline
    >>> from lopsided.encoding import infer_schema
    >>> rows = {"amount": [3.0, None, 5.0, 40.0], "country": ["NO", "SE", "NO", "XX"]}
    >>> model = TablePipeline(infer_schema(rows), learner=KOIL(random_state=0))
    >>> model.partial_fit(rows, [0, 0, 0, 1]).n_features_in_
    10
    >>> alike, other = model.decision_function([{"amount": 38.0, "country": "XX"}, {"amount": None, "country": "NO"}])
    >>> bool(alike > other)
    True
    """

    def __init__(self, schema: Schema | None = None, scaler: Any = None, learner: Any = None) -> None:
        self.schema = schema
        self.scaler = scaler
        self.learner = learner

    def _check_parameters(self) -> None:
        if not isinstance(self.schema, Schema):
            raise ParameterError(
                "The 'schema' parameter of TablePipeline must be a Schema, such as infer_schema of the first rows. "
                f"Got {self.schema!r} instead."
            )
        super()._check_parameters()

    @property
    def encoder_(self) -> TableEncoder:
        """How columns become numbers."""
        encoder: TableEncoder | None = self.__dict__.get("_encoder")
        if encoder is None or encoder.schema is not self.schema:
            assert self.schema is not None
            encoder = self._encoder = TableEncoder(self.schema)
        return encoder

    # ---------------------------------------------------------------- the door

    def _checked(self, X: Any, y: Any, sample_weight: Any, *, first: bool) -> tuple[Any, npt.NDArray[Any], Floats]:
        matrix = self._matrix(X)
        if first:
            self.n_features_in_ = matrix.shape[1]
        y = validation.checked_labels(self, y, matrix.shape[0])
        return matrix, y, validation.checked_weights(sample_weight, matrix.shape[0])

    def _matrix(self, X: Any) -> Floats:
        if isinstance(X, np.ndarray) and X.shape[1:] == (self.encoder_.width,):
            return X if isinstance(X, EncodedRows) else self.encoder_.checked_rows(X)
        return self.encoder_.rows(self.encoder_.columns_of(X))

    def _rows_of(self, X: Any) -> Rows:
        return validation.as_rows(self._matrix(X))

    def _learn_first(self, x: Any, y: Any, score: float | None, weight: float) -> Self:
        scores = None if score is None else [score]
        rows = x[None] if isinstance(x, np.ndarray) else [_mapping(x)]
        return self.learn_many(rows, [y], scores=scores, sample_weight=None if weight == 1.0 else [weight])

    def _take_one(self, x: Any) -> None:
        if isinstance(x, np.ndarray):
            if x.shape != self._one_x.shape:
                raise ValueError(f"An encoded row must have {self.encoder_.width} features, got shape {x.shape}.")
            self._one_x[:] = self._matrix(x[None])[0]
            self._one_cells = None
        else:
            self._one_cells = _mapping(x)
            self.encoder_.row(self._one_cells, self._one_x)

    # ---------------------------------------------------------------- rows as they came

    _one_cells: Any = None  # of the single row at hand, unless it came encoded
    _one_batch: RawCells | None = None  # the same for the rows that are being learned

    def _learn_checked(
        self, X: Any, signs: Floats, weights: Floats, *, every_score: bool = False, answered: Floats | None = None
    ) -> Floats:
        cells = getattr(X, "cells", None)
        self._one_batch = None if cells is None else cells.part(weights > 0)
        try:
            return super()._learn_checked(X, signs, weights, every_score=every_score, answered=answered)
        finally:
            self._one_batch = None

    def _take_dense_turns(self, rows: Rows, turns: list[float], scores: Floats, places: list[int]) -> None:
        self._one_cells = None  # such rows are encoded
        super()._take_dense_turns(rows, turns, scores, places)

    def _no_rows(self) -> RememberedRows:
        assert self.schema is not None
        return RememberedCells(self.schema)

    def _rows_as_they_came(self, rows: Rows) -> Callable[[int], Any]:
        return super()._rows_as_they_came(rows) if self._one_batch is None else self._one_batch.row

    def _one_as_it_came(self) -> Any:
        return super()._one_as_it_came() if self._one_cells is None else dict(self._one_cells)

    def remembered_row(self, number: int) -> dict[str, Any] | None:
        """The row of this number, counted from 1 over the rows learned, as it came: its columns, and its identifier.

        None if no example of the learner is that row, or if a file of an older version did not keep it. Of a row that
        came encoded a hashed column is a list of the words that it may have been.
        """
        with self._alone:
            self._check_started()
            return self._rows.cells(number) if isinstance(self._rows, RememberedCells) else None

    # ---------------------------------------------------------------- learning

    def _start(self, n_features: int) -> None:
        if n_features != self.encoder_.width:
            raise ValueError(f"The schema must describe {n_features} features. Got one of {self.encoder_.width}.")
        super()._start(n_features)
        n_numbers = self.encoder_.n_numbers
        self.scaler_.n_features_in_ = max(n_numbers, 1)
        self.scaler_._start(max(n_numbers, 1))
        self._counts, self._means = np.zeros(n_numbers, dtype=np.int64), np.zeros(n_numbers)

    def compile_ahead(self, n_features: int | None = None, *, sparse: bool = False, classes: Any = None) -> Self:
        """Compile beforehand; how wide a row is follows from the schema."""
        self.check_parameters()
        return super().compile_ahead(self.encoder_.width, sparse=sparse, classes=classes)

    def _prepared(self, rows: Rows, *, learn: bool) -> Rows:
        """Rows without gaps and on scale, each by what was known before it."""
        n_numbers = self.encoder_.n_numbers
        matrix = rows.dense.copy()
        if not n_numbers:
            return validation.as_rows(matrix)
        fill_missing(matrix, self._counts, self._means, learn)
        if not self._scales:
            return validation.as_rows(matrix)
        if n_numbers == matrix.shape[1]:
            return self.scaler_._scale(validation.as_rows(matrix), learn=learn)
        numbers = validation.as_rows(np.ascontiguousarray(matrix[:, :n_numbers]))
        matrix[:, :n_numbers] = self.scaler_._scale(numbers, learn=learn).dense
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
            steps.append(bound(fill_missing, one, self._counts, self._means, learn))
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
