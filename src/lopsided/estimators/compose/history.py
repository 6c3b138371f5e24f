"""What a card, a device or a merchant did before: features of a row out of the past of its keys, point in time."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from lopsided.constraints import Constraint, check_parameters
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.history.rows import learn_labels, pass_rows
from lopsided.core.history.table import (
    EVENTS,
    LABELS,
    NEVER,
    POSITIVES,
    empty_history,
)
from lopsided.estimators.base import validation
from lopsided.estimators.base.locking import Locked
from lopsided.estimators.compose.history_columns import (
    HISTORY_CONSTRAINTS,
    KeyedRows,
    feature_names,
    plan_of,
    tokens_of,
    write_circles,
)
from lopsided.estimators.compose.history_counts import HistoryCounts
from lopsided.estimators.compose.merging_histories import AddsHistories
from lopsided.estimators.state.history import history_arrays, restored_history
from lopsided.labels import LabelMap, signs_of

Tokens = npt.NDArray[np.uint64]

_NO_FEATURES = np.zeros((0, 0))
_MANY_MISSING, _NEARLY_ALL = 20, 0.9


class HistoryWarning(UserWarning):
    """A history forgets keys for want of room, or a key is missing just where the label is positive."""


class Observed(NamedTuple):
    """Rows that have been read and remembered: their features, and tokens by which their labels can be learned."""

    features: Floats
    tokens: Tokens


class KeyedHistory(AddsHistories, HistoryCounts, Locked, TransformerMixin, BaseEstimator):
    """Features of a row out of what its keys (card, device, merchant, user) did before, in fixed memory.

    For each key and half-life: how often it was seen, how unusual the amount is for it, and how often its rows turned
    out positive; for each key and each pair of keys: how long ago they were last seen. Every row is read before it is
    remembered, and a label counts from when it arrives: nothing of a row, and no label that is not there yet, is ever
    in its features. docs/history.md has the formulas.

    Three steps, which may be days apart: `observe(X)` reads rows and remembers them; `learn_labels(tokens, y)` learns
    their labels when they come; `transform(X)` reads and changes nothing. Where labels are there at once,
    `progressive_features(X, y)` does all of it row by row, and so does `fit_transform`, after forgetting.

    Time does not run backwards: a row with a time before the latest, or without one, happens at the latest time, and is
    counted in `n_late_rows_`. Adding a constant to all times changes nothing but the circles of hour and week.

    Keys live in sets of eight slots; when a set is full, the key that was not seen for longest leaves, and a warning
    says so once. Cost of one row: about a microsecond for each key. Memory, by slot: 24 bytes, 40 for each half-life,
    and 96 for pairs if there are several keys; 37 MB with the defaults. A file holds only slots that are in use.

    Parameters
    ----------
    keys : list of str or int, default=()
        The columns whose values are keys: words or numbers, where 7, 7.0 and "7" are the same. It must be given. A
        missing key is a value of its own. Names for tables, numbers for arrays.
    time : str or int, default=None
        The column that says when: dates, or seconds. It must be given.
    value : str or int or None, default=None
        The column of amounts. None: there are none, and no features of them.
    half_lives : list of durations, default=("1h", "1d", "7d", "30d")
        After how long something counts half: seconds, minutes, hours, days or weeks, as in "15m", "12h" or "2w".
    slots : int, default=131072
        How many keys are remembered at most: a power of two. With twice as many as keys hardly any is forgotten.
    pos_label : label or None, default=None
        The positive label. None takes the larger of the two sorted labels.

    Attributes
    ----------
    n_evicted_, n_evicted_pairs_ : int
        Keys and pairs of keys that were forgotten for want of room.
    n_late_rows_ : int
        Rows whose time was before the latest.
    n_lost_labels_ : int
        Labels that came for keys that had been forgotten by then: they count in the base rate only.
    missing_keys_ : dict
        For each key the labels, and the positives among them, of rows in which it was missing.

    Examples
    --------
    >>> from lopsided import KeyedHistory
    >>> history = KeyedHistory(keys=["card"], time="when", value="amount", half_lives=["1d"])
    >>> features, tokens = history.observe({"card": ["a", "b", "a"], "when": [0, 60, 3600], "amount": [5.0, 9.0, 80.0]})
    >>> dict(zip(history.get_feature_names_out(), features[2].round(2).tolist()))["card.z_1d"]
    10.0
    >>> row = [{"card": "a", "when": 7200, "amount": 5.0}]
    >>> risk = list(history.get_feature_names_out()).index("card.risk_1d")
    >>> before = history.transform(row)[0, risk]
    >>> after = history.learn_labels(tokens[2:], [1]).transform(row)[0, risk]
    >>> round(float(before), 3), round(float(after), 3)
    (0.0, 2.485)
    """

    _constraints: ClassVar[dict[str, Constraint]] = HISTORY_CONSTRAINTS
    _labels: LabelMap

    def __init__(
        self,
        keys: Sequence[Any] = (),
        time: Any = None,
        value: Any = None,
        half_lives: Sequence[str] = ("1h", "1d", "7d", "30d"),
        slots: int = 2**17,
        pos_label: Any = None,
    ) -> None:
        self.keys = keys
        self.time = time
        self.value = value
        self.half_lives = half_lives
        self.slots = slots
        self.pos_label = pos_label

    # ---------------------------------------------------------------- rows

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget, then remember all rows, and learn their labels if there are any."""
        self._pass(X, y, forget=True, read=False)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Remember more rows in the order given, each label learned right after its row."""
        self._pass(X, y, read=False)
        return self

    def transform(self, X: Any) -> Floats:
        """Features of rows as of now, each as if it were the next one. Changes nothing."""
        self._check_started()
        rows = self._rows_of(X)
        with self._alone:
            return self._read(rows, np.full(rows.seconds.size, np.nan), note=False)[0]

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Floats:
        """Forget, then `progressive_features`: no row has itself, its label or its future in its features."""
        return self._pass(X, y, forget=True)[0]

    def progressive_features(self, X: Any, y: Any = None) -> Floats:
        """For each row: its features before it, then remember it and learn its label. Labels may be missing."""
        return self._pass(X, y)[0]

    def observe(self, X: Any) -> Observed:
        """Features of rows whose labels are still to come, and tokens by which `learn_labels` will know them.

        A token is the codes of the row's keys and when it happened: 8 bytes each, to be kept until the label comes.
        """
        return self._pass(X, None)

    def learn_labels(self, rows: Any, labels: Any) -> Self:
        """Labels have arrived for rows remembered before: `rows` are tokens of `observe`, or the rows once more.

        The order in which labels arrive makes no difference: each counts by the time of its row.
        """
        with self._alone:
            self._check_started()
            tokens = self._tokens_of(rows)
            signs, known = self._signs(labels, tokens.shape[0])
            if np.isnan(signs).any():
                row = int(np.flatnonzero(np.isnan(signs))[0])
                raise ValueError(f"The labels of learn_labels must all be there. Got none in row {row}.")
            self._set_labels(known)
            self._learn(tokens, signs)
        return self

    # ---------------------------------------------------------------- behind the door

    def _pass(self, X: Any, y: Any, *, forget: bool = False, read: bool = True) -> Observed:
        """Rows in order: read if asked for, then remembered, then their labels learned."""
        with self._alone:
            begins = forget or not self._started
            if begins:
                self._check_parameters()
            rows = self._rows_of(X)
            known = None if forget else self._known
            signs, labels = (np.full(rows.seconds.size, np.nan), known) if y is None else self._signs(y, rows, known)
            self.check_first_time(rows, begins=begins)
            if begins:
                self.__dict__.pop("_labels", None)
                self._start(X)
            self._set_labels(labels)
            return self._read(rows, signs, note=True, read=read)

    def _read(self, rows: KeyedRows, signs: Floats, *, note: bool, read: bool = True) -> Observed:
        n_rows, moments = rows.seconds.size, np.zeros(rows.seconds.size, dtype=np.int64)
        features = np.empty((n_rows, len(self._names))) if read else _NO_FEATURES
        if not note:
            self.check_first_time(rows)
        pass_rows(self._state, self._plan, rows.codes, rows.times, rows.amounts, signs, note, features, moments)
        if read:
            write_circles(rows, moments, features[:, -4:])
        if note:
            self._warn()
        return Observed(features, tokens_of(rows.codes, moments))

    def _learn(self, tokens: Tokens, signs: Floats) -> None:
        codes = np.ascontiguousarray(tokens[:, :-1])
        learn_labels(self._state, self._plan, codes, np.ascontiguousarray(tokens[:, -1]).view(np.int64), signs)
        self._warn()

    def _rows_of(self, X: Any) -> KeyedRows:
        if isinstance(X, KeyedRows):
            return X
        return KeyedRows.of(X, self.keys, self.time, self.value)

    def _tokens_of(self, rows: Any) -> Tokens:
        n_keys = len(self.keys)
        if isinstance(rows, np.ndarray) and rows.dtype == np.uint64:
            if rows.ndim != 2 or rows.shape[1] != n_keys + 1:
                raise ValueError(
                    f"The tokens of learn_labels must be rows of {n_keys + 1} codes. Got shape {rows.shape}."
                )
            return rows
        keyed = self._rows_of(rows)
        self.check_first_time(keyed)
        latest = self._state.clocks[EVENTS]
        times = keyed.times
        return tokens_of(keyed.codes, np.where(times == NEVER, latest, np.minimum(times, latest)))

    def _signs(self, y: Any, rows: Any, known: LabelMap | None = None) -> tuple[Floats, LabelMap | None]:
        n_rows = rows if isinstance(rows, int) else rows.seconds.size
        return signs_of(y, n_rows, known or self._known, None, self.pos_label)

    def check_first_time(self, rows: KeyedRows, *, begins: bool = False) -> None:
        """Refuse a first row without a time: nobody could say when it happened."""
        is_unset = begins or not self._started or self._state.clocks[EVENTS] == NEVER
        if is_unset and rows.seconds.size and not np.isfinite(rows.seconds[0]):
            raise ValueError(f"The first row of a history must have a time in column {self.time!r}. Got none.")

    def _start(self, X: Any) -> None:
        self._begin_empty()
        named = [str(name) for name in self._columns]
        if isinstance(X, np.ndarray) and X.ndim == 2:
            self.n_features_in_ = X.shape[1]
        else:
            self.n_features_in_ = len(named)
            self.feature_names_in_ = np.array(named, dtype=object)

    def _begin_empty(self) -> None:
        has_amounts = self.value is not None
        self._columns = list(dict.fromkeys([*self.keys, self.time, *([self.value] if has_amounts else [])]))
        self._names = feature_names(self.keys, self.time, self.value, self.half_lives)
        self._plan = plan_of(len(self.keys), self.half_lives, has_amounts=has_amounts)
        self._state = empty_history(self.slots, len(self.keys), len(self.half_lives), has_amounts=has_amounts)
        self._warned: set[str] = set()

    def _set_labels(self, labels: LabelMap | None) -> None:
        if labels is not None:
            self._labels = labels

    @property
    def _known(self) -> LabelMap | None:
        return self.__dict__.get("_labels")

    def _warn(self) -> None:
        if self.n_evicted_ and "slots" not in self._warned:
            self._warned.add("slots")
            warnings.warn(
                f"KeyedHistory must have more slots than there are keys, and has {self.slots:,}: {self.n_evicted_:,} "
                "key(s) were forgotten and will look new when they come again (n_evicted_ counts them). Raise 'slots'.",
                HistoryWarning,
                stacklevel=4,
            )
        for key, (labels, positives) in self.missing_keys_.items():
            is_rare = 2 * int(self._state.tally[POSITIVES]) < int(self._state.tally[LABELS])
            if is_rare and labels >= _MANY_MISSING and positives >= _NEARLY_ALL * labels and key not in self._warned:
                self._warned.add(key)
                warnings.warn(
                    f"The key {key!r} should be known before the label is: {positives:,} of {labels:,} rows without it "
                    "are positive, so that it may be missing because of the label.",
                    HistoryWarning,
                    stacklevel=4,
                )

    # ---------------------------------------------------------------- looking inside

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """The names of the features, in order."""
        self._check_parameters()
        return np.array(feature_names(self.keys, self.time, self.value, self.half_lives), dtype=object)

    # ---------------------------------------------------------------- keeping

    def to_bytes(self) -> bytes:
        """The content of the file that `save` writes."""
        from lopsided.estimators.state.files import to_bytes

        return to_bytes(self)

    def save(self, path: str | Path) -> None:
        """Write the history into one file; `lopsided.load` reads it."""
        from lopsided.estimators.state.files import save_model

        save_model(self, path)

    def _begin(self, labels: LabelMap) -> None:
        """What a file says of labels; all else is restored from arrays."""
        self._labels = labels

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return history_arrays(self._state)

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        self._begin_empty()
        restored_history(arrays, self._state)

    @property
    def _started(self) -> bool:
        return "_state" in self.__dict__

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False), self._constraints)

    def _check_started(self) -> None:
        if not self._started:
            raise NotFittedError(
                "This KeyedHistory instance is not fitted yet. Call 'fit', 'partial_fit' or 'observe' first."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return self._started

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        validation.make_writable(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
