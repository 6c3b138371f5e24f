"""The two labels of a stream: what the file calls them, and which one is the positive label."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lopsided.labels import LabelMap
from lopsided.streams.errors import StreamError

# From here on float64 no longer tells neighbouring whole numbers apart, so two labels could become one.
_FIRST_INEXACT_INTEGER = 2**53
_LABELS_SHOWN = 5
_MOST_SPELLINGS = 10_000
# How files spell a label that is not known yet. "None" is not among them: it may well be the other class.
_BLANKS = frozenset(("", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NAN", "-nan", "null", "NULL"))
# What becomes of rows with such a label, and the sign they get: none is not known, no sign at all is a bad row.
BLANK: dict[str, float | None] = {"unknown": math.nan, "negative": -1.0, "error": None}
# Pairs of labels whose second one is the positive label, however common it is.
_BY_CONVENTION = ((0, 1), (-1, 1), ("false", "true"))  # False and True are 0 and 1 to Python
# A label alone that tells that 1 is the positive one, and what the other is: after a 1 it may be 0 or -1, so anything.
_ALONE: dict[Any, Any] = {0: 0, -1: -1, 1: None}

_COMMON = 0.6  # a share of the first rows from which on a label is no rare one


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

    `negative` None means that every other label is the other class. `blank` says what a label that is empty means:
    "unknown" (NaN for a sign), "negative", or "error". Spellings are remembered, up to a limit, since a stream repeats
    its labels. `note` is what a user should know of how they were found; `others_seen` are the labels of the first rows
    if there are several and the positive one is not among them.

    >>> spellings = Spellings(positive=1, negative=-1)
    >>> [spellings.sign(text) for text in ("1", "+1", "1.0", "-1", "2", "")]
    [1.0, 1.0, 1.0, -1.0, None, nan]
    >>> spellings.labels.classes.tolist(), Spellings("fraud", None).labels.negative
    ([-1, 1], 'not fraud')
    """

    note: str | None = None
    others_seen: str | None = None

    def __init__(self, positive: Any, negative: Any, blank: str = "unknown") -> None:
        self.positive, self.negative, self.blank = positive, negative, blank
        names = [positive, _all_but(positive) if negative is None else negative]
        if len({isinstance(name, str) for name in names}) == 2:
            names = [str(name) for name in names]
        classes = np.array(names)
        self.labels = LabelMap(np.sort(classes), classes[0].item())
        self._signs: dict[str, float | None] = {}

    @classmethod
    def of(cls, labels: LabelMap, blank: str = "unknown") -> Self:
        """Those of a model that learned from such a stream."""
        rest = labels.negative == _all_but(labels.positive)
        return cls(labels.positive, None if rest else labels.negative, blank)

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
        if value is not None and (value == self.positive or str(value) == str(self.positive)):
            return 1.0
        if is_blank(spelling) and str(self.negative) != spelling.strip():
            return BLANK[self.blank]
        if value is None:
            return None
        if self.negative is None or value == self.negative or str(value) == str(self.negative):
            return -1.0
        return None


def is_blank(spelling: str) -> bool:
    """Whether a label is not there, or what stands for that in a file.

    >>> is_blank(" "), is_blank("NA"), is_blank("nan"), is_blank("0"), is_blank("None")
    (True, True, True, False, False)
    """
    return spelling.strip() in _BLANKS


def positive_of(counts: Mapping[Any, int]) -> Any:
    """Which of two labels is the positive one: 1 or true of 0 and 1, -1 and 1, false and true; else the rarer one.

    Of two equally frequent ones it is the larger.

    >>> positive_of({0: 3, 1: 9}), positive_of({"ok": 3, "fraud": 9}), positive_of({"ok": 9, "fraud": 9})
    (1, 'ok', 'ok')
    """
    for negative, positive in _BY_CONVENTION:
        if set(counts) == {negative, positive}:
            return positive
    return min(sorted(counts, reverse=True), key=counts.__getitem__)


def _all_but(positive: Any) -> str:
    """The name of the other class where it is every other label."""
    return f"not {positive}"


def find_labels(
    seen: Iterable[str],
    positive: str | None,
    *,
    source: str,
    column: str | None,
    complete: bool,
    blank: str = "unknown",
) -> Spellings:
    """The two labels of a stream that begins with these spellings; those that are blank do not count.

    Without `positive` it is as `positive_of` has it; one label alone must be 0, -1 or 1, and 1 is positive. With
    `positive` all other labels are the other class, unless there is but one other. `complete` says that the stream
    ends with these: then a label that is not there is an error.
    """
    counts: Counter[Any] = Counter()
    for spelling in seen:
        value = valued(spelling)
        if value is not None and (not is_blank(spelling) or spelling.strip() == positive):
            counts[value] += 1
    if len({isinstance(value, str) for value in counts}) == 2:  # numbers and words: all are words
        counts = Counter({str(value): rows for value, rows in counts.items()})
    where = f"the label column {column!r}" if column else "the label"
    if positive is not None:
        return _around(positive, counts, source, complete, blank)
    if len(counts) == 2:
        chosen = positive_of(counts)
        found = Spellings(chosen, next(label for label in counts if label != chosen), blank)
        if counts[chosen] > _COMMON * counts.total():
            found.note = (
                f"the positive label is {chosen}, the more common one: {counts[chosen]:,} of the first "
                f"{counts.total():,} rows have it"
            )
        return found
    alone = next(iter(counts), None) if len(counts) == 1 else None
    if alone in _ALONE and not complete:
        return Spellings(1, _ALONE[alone], blank)
    shown = _shown(counts)
    number = "one label" if len(counts) == 1 else f"{len(counts)} labels" if counts else "none"
    rule = "must hold two different labels"
    could_be_named = len(counts) > 2 or not complete
    if could_be_named:
        rule += f"{'' if len(counts) > 2 else ' in its first rows'} (or the positive label must be named)"
    got = f"{number}: {shown}" if counts else number
    raise StreamError(source, None, where, rule, got, argument="positive" if could_be_named else None)


def _shown(counts: Counter[Any]) -> str:
    shown = ", ".join(f"{label!r} in {rows} rows" for label, rows in counts.most_common(_LABELS_SHOWN))
    return shown + (", ..." if len(counts) > _LABELS_SHOWN else "")


def _around(positive: str, counts: Counter[Any], source: str, complete: bool, blank: str) -> Spellings:
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
    found = Spellings(value, others[0] if len(others) == 1 else None, blank)
    if present is None and counts:
        found.note = f"the positive label {positive!r} is not among those of the first rows: {_shown(counts)}"
        found.others_seen = _shown(counts) if len(counts) > 1 else None
    return found
