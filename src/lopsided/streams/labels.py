"""The two labels of a stream: what the file calls them, and which one is the positive label."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lopsided.labels import LabelMap
from lopsided.streams.errors import StreamError

# From here on float64 no longer tells neighbouring whole numbers apart, so two labels could become one.
_FIRST_INEXACT_INTEGER = 2**53
_LABELS_SHOWN = 5
_MOST_SPELLINGS = 10_000
# A label alone that tells that 1 is the positive one, and what the other is: after a 1 it may be 0 or -1, so anything.
_ALONE: dict[Any, Any] = {0: 0, -1: -1, 1: None}


def spelled(value: Any) -> str:
    """A label as a text: whole numbers without a point, so that 1, 1.0 and "1" are one label."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer() and abs(value) < _FIRST_INEXACT_INTEGER:
        return str(int(value))
    return str(value)


def valued(spelling: str) -> Any:
    """The number that a label spells (an int if it is whole), or the word itself; None for no label at all.

    Formats write truth in upper and in lower case: that is one label.

    >>> valued("+1"), valued("1.0"), valued("0.5"), valued("good"), valued("True"), valued("nan"), valued("")
    (1, 1, 0.5, 'good', 'true', None, None)
    """
    text = spelling.strip()
    try:
        number = float(text)
    except ValueError:
        return (text.lower() if text.lower() in ("true", "false") else text) or None
    if not math.isfinite(number):
        return None
    if "_" in text or abs(number) >= _FIRST_INEXACT_INTEGER:
        return text
    return int(number) if number.is_integer() else number


class Spellings:
    """How a stream spells its two labels; which sign each has is said by its map, `labels`.

    `negative` None means that every other label is the other class. Spellings are remembered, up to a limit, since a
    stream repeats its labels.

    >>> spellings = Spellings(positive=1, negative=-1)
    >>> [spellings.sign(text) for text in ("1", "+1", "1.0", "-1", "2", "")]
    [1.0, 1.0, 1.0, -1.0, None, None]
    >>> spellings.labels.classes.tolist(), Spellings("fraud", None).labels.negative
    ([-1, 1], 'not fraud')
    """

    def __init__(self, positive: Any, negative: Any) -> None:
        self.positive, self.negative = positive, negative
        names = [positive, _all_but(positive) if negative is None else negative]
        if len({isinstance(name, str) for name in names}) == 2:
            names = [str(name) for name in names]
        classes = np.array(names)
        self.labels = LabelMap(np.sort(classes), classes[0].item())
        self._signs: dict[str, float | None] = {}

    @classmethod
    def of(cls, labels: LabelMap) -> Self:
        """Those of a model that learned from such a stream."""
        rest = labels.negative == _all_but(labels.positive)
        return cls(labels.positive, None if rest else labels.negative)

    @property
    def rule(self) -> str:
        """What a label must be, in words."""
        if self.negative is None:
            return "must be a class name or a finite number"
        first, second = sorted((self.positive, self.negative), key=str)
        return f"must be {first} or {second}"

    @property
    def classes(self) -> npt.NDArray[Any]:
        """Both labels, sorted, as a learner has them."""
        return self.labels.classes

    @property
    def pos_label(self) -> Any:
        """The positive label, of the type of `classes`."""
        return self.labels.positive

    def sign(self, spelling: str) -> float | None:
        """+1, -1, or None for what is neither."""
        if spelling not in self._signs:
            if len(self._signs) >= _MOST_SPELLINGS:
                self._signs.clear()
            self._signs[spelling] = self._find(spelling)
        return self._signs[spelling]

    def _find(self, spelling: str) -> float | None:
        value = valued(spelling)
        if value is None:
            return None
        if value == self.positive or str(value) == str(self.positive):
            return 1.0
        if self.negative is None or value == self.negative or str(value) == str(self.negative):
            return -1.0
        return None


def _all_but(positive: Any) -> str:
    """The name of the other class where it is every other label."""
    return f"not {positive}"


def find_labels(
    seen: Iterable[str], positive: str | None, *, source: str, column: str | None, complete: bool
) -> Spellings:
    """The two labels of a stream that begins with these spellings.

    Without `positive` the rarer one is the positive label, of two equally frequent ones the larger; one label alone
    must be 0, -1 or 1, and 1 is positive. With `positive` all other labels are the other class, unless there is but
    one other. `complete` says that the stream ends with these: then a label that is not there is an error.
    """
    counts: Counter[Any] = Counter()
    for spelling in seen:
        value = valued(spelling)
        if value is not None:
            counts[value] += 1
    if len({isinstance(value, str) for value in counts}) == 2:  # numbers and words: all are words
        counts = Counter({str(value): rows for value, rows in counts.items()})
    where = f"the label column {column!r}" if column else "the label"
    if positive is not None:
        return _around(positive, counts, source, complete)
    if len(counts) == 2:
        (one, rows), (other, others) = counts.items()
        rarer = one if rows < others else other
        chosen = max(one, other) if rows == others else rarer
        return Spellings(chosen, other if chosen == one else one)
    alone = next(iter(counts), None) if len(counts) == 1 else None
    if alone in _ALONE and not complete:
        return Spellings(1, _ALONE[alone])
    shown = ", ".join(f"{label!r} in {rows} rows" for label, rows in counts.most_common(_LABELS_SHOWN))
    number = "one label" if len(counts) == 1 else f"{len(counts)} labels" if counts else "none"
    rule = "must hold two different labels"
    could_be_named = len(counts) > 2 or not complete
    if could_be_named:
        rule += f"{'' if len(counts) > 2 else ' in its first rows'} (or the positive label must be named)"
    rest = ", ..." if len(counts) > _LABELS_SHOWN else ""
    got = f"{number}: {shown}{rest}" if counts else number
    raise StreamError(source, None, where, rule, got, argument="positive" if could_be_named else None)


def _around(positive: str, counts: Counter[Any], source: str, complete: bool) -> Spellings:
    named = valued(positive)
    if named is None:
        raise StreamError(source, None, "the positive label", "must be a class name or a finite number", repr(positive))
    present = next((value for value in counts if str(value) == str(named) or value == named), None)
    if present is None and complete:
        words = " or ".join(sorted(map(str, counts)))
        raise StreamError(source, None, "the positive label", f"must be {words}", repr(positive))
    others = [value for value in counts if value != present]
    if complete and not others:
        raise StreamError(source, None, "the label", "must hold two different labels", f"one label: {positive}")
    value = named if present is None else present
    # Numbers of two signs are a pair by themselves; else one other label is the other, and several are all the rest.
    return Spellings(value, others[0] if len(others) == 1 else None)
