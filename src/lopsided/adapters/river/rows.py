"""From River's dictionaries to the rows that a learner takes, as names of features come and go."""

from __future__ import annotations

import math
import struct
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from operator import itemgetter
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lopsided.streams.cells import is_missing

Floats = npt.NDArray[np.float64]


class SharedColumnWarning(UserWarning):
    """More names of features have come than there are columns."""


def in_order(names: Iterable[Any]) -> list[Any]:
    """Names in an order that does not depend on how a dictionary lists them."""
    return sorted(names, key=lambda name: (type(name).__name__, name) if isinstance(name, str) else ("", repr(name)))


class NumberRows:
    """Rows of numbers in a fixed number of columns, one for each name; the last `spare` ones are for names to come.

    A name that comes later takes a column that is free. When none is, it shares one of the spare columns, by a hash of
    its name: values there are added. Without spare columns it is left out.
    """

    def __init__(
        self, owner: str, names: Iterable[Any], *, spare: int, most: int, room: int = 0, absent: float
    ) -> None:
        known = in_order(names)[: max(most - spare, 1)]
        self.owner, self.spare, self.absent = owner, spare, absent
        self.n_own = max(len(known), 1)
        self.width = self.n_own + spare
        self.columns = {name: column for column, name in enumerate(known)}
        self._is_settled = False  # all columns are taken, and somebody has been told so
        self._make_ready()

    def wider(self, names: Iterable[Any], most: int) -> Self | None:
        """Rows with columns for these names too; None if there are none, or there can be no more columns."""
        known = [*self.columns, *in_order(set(names) - self.columns.keys())]
        if min(len(known), most - self.spare) <= self.n_own:
            return None
        return type(self)(self.owner, known, spare=self.spare, most=most, absent=self.absent)

    def _make_ready(self) -> None:
        """What a row with exactly the known names needs: names to values to bytes, all in C."""
        names = list(self.columns)
        self._n = len(names) or -1
        if len(names) == 1:
            only = names[0]
            self._values: Callable[[Any], tuple[Any, ...]] = lambda x: (x[only],)
        else:
            self._values = itemgetter(*names) if names else tuple
        self._pack = struct.Struct(f"{len(names)}d").pack_into
        self._whole, self._partial = np.full(self.width, self.absent), np.full(self.width, self.absent)
        self._buffer = self._whole.data

    def __getstate__(self) -> dict[str, Any]:
        made = ("_values", "_pack", "_whole", "_buffer", "_partial")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_ready()

    # ---------------------------------------------------------------- one row

    def row(self, x: Mapping[Any, Any]) -> Floats:
        """The numbers of a dictionary, in an array that the next call writes again."""
        if len(x) == self._n:
            try:
                self._pack(self._buffer, 0, *self._values(x))
                return self._whole
            except (KeyError, struct.error, OverflowError):
                pass  # other names, nothing in place of a number, or no number
        return self._by_name(x)

    def _by_name(self, x: Mapping[Any, Any]) -> Floats:
        row, columns = self._partial, self.columns
        row[:] = self.absent
        for name, value in x.items():
            column = columns.get(name)
            if type(value) is not float:
                value = self._number(name, value)
            if value != value:
                continue
            if column is not None:
                row[column] = value
            elif (shared := self._shared(name)) is not None:
                row[shared] = value if row[shared] != row[shared] else row[shared] + value
        return row

    def _number(self, name: Any, value: Any) -> float:
        """A value as a number, NaN for None and what else stands for nothing; a text is no number, whatever it says."""
        try:
            if isinstance(value, str | bytes):
                raise TypeError
            return math.nan if is_missing(value) else float(value)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"The feature {name!r} of {self.owner} must be a number. Got {value!r}: put River's OneHotEncoder or "
                "FeatureHasher before it, or use RiverTablePipeline, which takes words, dates and missing values."
            ) from None

    def has_gaps(self, row: Floats) -> bool:
        """Whether NaN stands in a row, where what is absent is something else."""
        return self.absent == self.absent and bool(np.isnan(row).any())

    def without_gaps(self, row: Floats) -> Floats:
        """The same with what an absent name has in place of NaN."""
        self._partial[:] = np.where(np.isnan(row), self.absent, row)
        return self._partial

    # ---------------------------------------------------------------- names that come late

    def note(self, names: Iterable[Any]) -> None:
        """Give each new name a free column, if there is one."""
        new = set(names) - self.columns.keys()
        if not new:
            return
        for name in in_order(new)[: self.width - len(self.columns)]:
            self.columns[name] = len(self.columns)
            new.discard(name)
        self._make_ready()
        if new and not self._is_settled:
            self._is_settled = True
            warnings.warn(
                f"{self.owner} has {self.width} columns, all taken: the feature {in_order(new)[0]!r} and others "
                + ("share the spare ones. " if self.spare else "are left out. ")
                + "More 'spare' columns, or a higher 'max_features', make room.",
                SharedColumnWarning,
                stacklevel=4,
            )

    def has_news(self, x: Mapping[Any, Any]) -> bool:
        """Whether a row has a name that can get a column, or that somebody must be told about."""
        return not self._is_settled and not x.keys() <= self.columns.keys()

    @contextmanager
    def unchanged_on_error(self) -> Iterator[None]:
        """Forget the names noted in here if it fails."""
        before = dict(self.columns), self._is_settled
        try:
            yield
        except BaseException:
            self.columns, self._is_settled = before
            self._make_ready()
            raise

    def _shared(self, name: Any) -> int | None:
        """The spare column that a name shares when all are taken."""
        if not self.spare or len(self.columns) < self.width:
            return None
        return self.n_own + zlib.crc32(repr(name).encode()) % self.spare

    # ---------------------------------------------------------------- many rows

    def matrix(self, X: Any) -> Floats:
        """The rows of a data frame of pandas."""
        result = np.full((len(X), self.width), self.absent)
        for name in X.columns:
            values = self._column(name, X[name])
            column = self.columns.get(name)
            if column is not None:
                result[:, column] = np.where(np.isnan(values), self.absent, values)
            elif (shared := self._shared(name)) is not None:
                before = np.nan_to_num(result[:, shared])
                result[:, shared] = np.where(np.isnan(values), result[:, shared], before + values)
        return result

    def _column(self, name: Any, cells: Any) -> Floats:
        if cells.dtype.kind in "biuf":
            return np.asarray(cells.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.array([self._number(name, cell) for cell in cells.tolist()], dtype=np.float64)


class TableRows:
    """Rows for a pipeline that takes dictionaries as they are: names become words, nothing else changes."""

    def row(self, x: Mapping[Any, Any]) -> Mapping[Any, Any]:
        """The same row, its names as words in a fixed order."""
        return {str(name): x[name] for name in in_order(x)}

    def note(self, names: Iterable[Any]) -> None:
        """The schema knows which names there are."""

    def unchanged_on_error(self) -> AbstractContextManager[None]:
        """There is nothing to change."""
        return nullcontext()

    def has_gaps(self, row: Any) -> bool:
        """A gap is a missing value."""
        return False

    def matrix(self, X: Any) -> Any:
        """A data frame with names that are words."""
        return X.rename(columns=str)
