"""From the user's two labels to -1 and +1, and back."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Labels whose partner is known without seeing it; the value is the pair it belongs to.
_UNDERSTOOD: dict[Any, tuple[Any, Any]] = {0: (0, 1), 1: (0, 1), -1: (-1, 1)}


class LabelError(ValueError):
    """A label cannot be understood."""


class LabelMap:
    """Two classes, sorted, and which of them is the rare one.

    `settled` is False while only a 1 has been seen whose partner may turn out to be 0 or -1. `is_told` says that
    somebody named the rare one; else it is the larger one, which may turn out to be common.

    >>> labels = LabelMap(np.array(["fraud", "ok"]), "fraud")
    >>> labels.signs(np.array(["ok", "fraud"])).tolist(), labels.names(np.array([True, False])).tolist()
    ([-1.0, 1.0], ['fraud', 'ok'])
    """

    def __init__(self, classes: npt.NDArray[Any], pos_label: Any = None, *, settled: bool = True) -> None:
        self.classes = classes
        self.settled = settled
        self.is_told = pos_label is not None
        if pos_label is not None and pos_label not in classes.tolist():
            raise LabelError(
                f"The 'pos_label' parameter must be one of the labels {classes.tolist()}. Got {pos_label!r} instead."
            )
        self.positive_index = 1 if pos_label is None else classes.tolist().index(pos_label)
        self.positive = _plain(classes[self.positive_index])
        self.negative = _plain(classes[1 - self.positive_index])
        self.sign_of = {self.positive: 1.0, self.negative: -1.0}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelMap):
            return NotImplemented
        return (self.positive, self.negative, self.settled) == (other.positive, other.negative, other.settled)

    __hash__ = None  # type: ignore[assignment]

    def signs(self, y: npt.NDArray[Any]) -> Floats:
        """+1 for the rare class, -1 for the other; a third label is refused. What is signs already stays as it is."""
        if isinstance(y, Signs):
            return y.view(np.ndarray)
        positive = np.asarray(y == self.positive)
        strangers = ~(positive | np.asarray(y == self.negative))
        if strangers.any():
            raise LabelError(
                f"Only binary classification is supported. The labels must be {self.classes.tolist()}. "
                f"Got {y[strangers][0]!r} in row {int(np.flatnonzero(strangers)[0])}."
            )
        return np.where(positive, 1.0, -1.0)

    def names(self, is_positive: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
        """Labels for a vector of decisions."""
        classes = self.classes[self.positive_index], self.classes[1 - self.positive_index]
        return np.where(is_positive, *classes).astype(self.classes.dtype, copy=False)


class Signs(np.ndarray[Any, np.dtype[np.float64]]):
    """Labels as +1 and -1, with the map that they came by: a learner takes them as they are.

    >>> labels = LabelMap(np.array(["fraud", "ok"]), "fraud")
    >>> signs = Signs.of([1.0, -1.0, -1.0], labels)
    >>> signs[1:].names().tolist()
    ['ok', 'ok']
    """

    labels: LabelMap

    @classmethod
    def of(cls, signs: npt.ArrayLike, labels: LabelMap) -> Self:
        """These signs, under these labels."""
        result = np.asarray(signs, dtype=np.float64).view(cls)
        result.labels = labels
        return result

    def __array_finalize__(self, source: Any) -> None:
        if isinstance(source, Signs):
            self.labels = source.__dict__.get("labels")  # type: ignore[assignment]

    def names(self) -> npt.NDArray[Any]:
        """The labels by their names."""
        return self.labels.names(self.view(np.ndarray) > 0.0)


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label


def map_of_classes(classes: Any, pos_label: Any) -> LabelMap:
    """The map for the two labels that the caller names."""
    distinct = np.unique(np.asarray(classes))
    if distinct.size != 2:
        raise LabelError(
            "Only binary classification is supported. The 'classes' parameter must hold two labels. "
            f"Got {distinct.tolist()} instead."
        )
    return LabelMap(distinct, pos_label)


def map_of_labels(y: npt.NDArray[Any], pos_label: Any) -> LabelMap:
    """The map for the labels of a first batch, of which there may be only one."""
    if isinstance(y, Signs):
        if pos_label is not None and pos_label != y.labels.positive:
            raise LabelError(
                f"The 'pos_label' parameter must be the positive label of the stream, {y.labels.positive!r}. "
                f"Got {pos_label!r} instead."
            )
        return y.labels
    distinct = np.unique(y)
    if distinct.size == 2:
        return LabelMap(distinct, pos_label)
    if distinct.size > 2:
        raise LabelError(
            "Only binary classification is supported. The labels of a stream must be two. "
            f"Got {distinct.size} of them: {distinct[:5].tolist()}{' ...' if distinct.size > 5 else ''}."
        )
    label = _plain(distinct[0])
    pair = _UNDERSTOOD.get(label) if isinstance(label, int | float) else None
    if pair is None:
        raise LabelError(
            "The first labels of a stream must be two different ones, or 0, 1, -1, False or True, or be announced by "
            f"'classes'. Got only {label!r}; call partial_fit(X, y, classes=[...]) once."
        )
    classes = np.array(pair, dtype=distinct.dtype)
    return LabelMap(classes, pos_label, settled=label != 1 or distinct.dtype == bool)


def settle(known: LabelMap, y: npt.NDArray[Any], pos_label: Any) -> LabelMap:
    """The map after more labels: a stream that began with 1 alone may go on with -1 instead of 0."""
    if isinstance(y, Signs):
        return _agreed(known, y.labels)
    if known.settled:
        return known
    others = np.unique(y[np.asarray(y != 1)])
    if others.size == 0:
        return known
    if others.size == 1 and others[0] == -1:
        return LabelMap(np.array([-1, 1], dtype=np.result_type(known.classes.dtype, others.dtype)), pos_label)
    return LabelMap(known.classes, pos_label)


def _agreed(known: LabelMap, new: LabelMap) -> LabelMap:
    """The known map, if the signs of a stream were made by the same labels."""
    if known.settled and (new.positive, new.negative) != (known.positive, known.negative):
        raise LabelError(
            f"The labels of the rows must be {known.positive!r} (positive) and {known.negative!r}, as learned so far. "
            f"Got {new.positive!r} and {new.negative!r}."
        )
    return known if known.settled else new


def signs_of(
    y: Any, n_rows: int, known: LabelMap | None, classes: Any, pos_label: Any
) -> tuple[Floats, LabelMap | None]:
    """+1, -1 or NaN (no label) for each row, and the map of labels by which they were found, if any is known."""
    names: npt.NDArray[Any] = y if isinstance(y, Signs) else np.asarray(y)
    if known is not None and known.settled and names.shape == (1,) == (n_rows,) and type(names) is np.ndarray:
        sign = known.sign_of.get(names.item()) if names.dtype.kind != "O" else None
        if sign is not None:  # a label alone, as a service has them: arithmetic of arrays takes ten times as long
            return np.array([sign]), known
    missing = missing_labels(names)
    if names.shape != (n_rows,):
        raise ValueError(f"The labels y must be as many as the rows of X, {n_rows}. Got shape {names.shape}.")
    there = names[~missing]
    if there.dtype == object:
        there = np.array(there.tolist())
    labels = known
    if labels is None and classes is not None:
        labels = map_of_classes(classes, pos_label)
    if there.size:
        labels = map_of_labels(there, pos_label) if labels is None else settle(labels, there, pos_label)
    signs = np.full(n_rows, np.nan)
    if labels is not None:
        signs[~missing] = labels.signs(there)
    return signs, labels


def missing_labels(names: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which rows have no label: NaN or None."""
    if names.dtype.kind == "f":
        return np.isnan(names.view(np.ndarray))
    if names.dtype.kind == "O":
        return np.array([name is None or name != name for name in names.ravel()], dtype=np.bool_).reshape(names.shape)
    return np.zeros(names.shape, dtype=np.bool_)
