"""Numbers as people write them: 5,256.00 or 5.256,00, with a currency or a percent sign, (3.00) for -3.

A form is found in the first rows of a column and holds for all its rows. Columns of plain numbers have none, and never
come here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

POINT, COMMA = ".", ","
_BLANKS = " \t\u00a0\u202f"  # also those that do not let a line break between digits
_GROUPS = {"": "", COMMA: ",", POINT: r"\.", " ": f"[{_BLANKS}]", "'": "['\u2019]"}
_MINUS = "-\u2212"  # the hyphen (first, as it must be within brackets), and what typesetters use
_MARKS = (
    "US$", "R$", "$", "€", "£", "¥", "₹", "₩", "₺", "₽", "₿", "%", "kr", "zł", "Kč",
    "USD", "EUR", "GBP", "JPY", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "AUD", "CAD", "NZD", "CNY", "INR",
    "BRL", "MXN", "ZAR",
)  # fmt: skip
_BEHIND = ("%", "kr", "zł", "Kč")  # how these are written; codes of three letters too
# Decimal mark and what separates thousands; where several fit equally well, the first of them is taken.
_CONVENTIONS = ((POINT, COMMA), (COMMA, POINT), (COMMA, " "), (POINT, " "), (POINT, "'"), (COMMA, "'"))
_RARE = 0.02  # a mark that is rarer in the first rows is a slip, whose rows are bad
_LONGEST = 40  # letters of a number with what stands around it
_AROUND = re.compile(rf"^[{_MINUS}+({_BLANKS}]*([^0-9.,]*?)[{_MINUS}+{_BLANKS}]*[0-9.,].*?([^0-9.,)]*)\)?$")


@dataclass(frozen=True)
class NumberForm:
    """How the numbers of a column are written.

    `decimal` is the decimal mark, `group` what may separate thousands, `marks` the currencies and percent signs that
    may stand before or behind a number, and `parentheses` says that (3.00) is -3. A number is what stands between the
    marks: 12 % is 12.

    >>> form = NumberForm(decimal=",", group=".", marks=("€",))
    >>> str(form), form.read("5.256,00 €"), form.read("12"), form.read("5,256.00"), form.read("$12")
    ('1.234,50 €', 5256.0, 12.0, None, None)
    """

    decimal: str = POINT
    group: str = COMMA
    marks: tuple[str, ...] = ()
    parentheses: bool = False

    @cached_property
    def pattern(self) -> str:
        """What a number must look like, for Python's regular expressions and for arrow's."""
        blanks, point = f"[{_BLANKS}]*", re.escape(self.decimal)
        mark = f"(?:{'|'.join(map(re.escape, self._longest_first))})" if self.marks else "(?:)"
        whole = "[0-9]+"
        if self.group:
            whole = f"(?:[1-9][0-9]{{0,2}}(?:{_GROUPS[self.group]}[0-9]{{3}})+|[0-9]+)"
        number = f"(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        before = f"(?:[{_MINUS}+]?{blanks}{mark}?|{mark}{blanks}[{_MINUS}+]?)"
        plain = f"{before}{blanks}{number}{blanks}{mark}?"
        return rf"^(?:{plain}|\({blanks}{plain}{blanks}\))$" if self.parentheses else f"^(?:{plain})$"

    @property
    def _longest_first(self) -> list[str]:
        return sorted(self.marks, key=len, reverse=True)

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def read(self, text: str) -> float | None:
        """The number that a text is, or None."""
        text = text.strip()
        if not self._compiled.match(text):
            return None
        is_negative = text.startswith("(")
        for mark in self._longest_first:
            text = text.replace(mark, "")
        for letter in f"()'\u2019{_BLANKS}" + (self.group if self.group in (POINT, COMMA) else ""):
            text = text.replace(letter, "")
        text = text.replace(self.decimal, POINT).replace("\u2212", "-")
        return -float(text) if is_negative else float(text)

    def at_once(self, texts: Any) -> Any:
        """An arrow column of texts without blanks around them as float64, or None if one of them is no such number."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not pc.all(pc.match_substring_regex(texts, self.pattern), min_count=0).as_py():
            return None
        is_negative = pc.starts_with(texts, "(") if self.parentheses else None
        for mark in self._longest_first:
            texts = pc.replace_substring(texts, mark, "")
        left_out = f"[()'\u2019{_BLANKS}{self.group if self.group in (POINT, COMMA) else ''}]"
        texts = pc.replace_substring_regex(texts, left_out, "")
        if self.decimal != POINT:
            texts = pc.replace_substring(texts, self.decimal, POINT)
        texts = pc.replace_substring_regex(pc.replace_substring(texts, "\u2212", "-"), r"^\+", "")
        numbers = texts.cast(pa.float64())
        return numbers if is_negative is None else pc.if_else(is_negative, pc.negate(numbers), numbers)

    def __str__(self) -> str:
        text = f"1{self.group}234{self.decimal}50"
        mark = self.marks[0] if self.marks else ""
        if mark in _BEHIND or mark.isalpha():
            text = f"{text} {mark}"
        elif mark:
            text = f"{text} {mark}" if self.decimal == COMMA else f"{mark}{text}"
        if len(self.marks) > 1:
            text += f" (also {', '.join(self.marks[1:])})"
        return f"{text}, (1{self.decimal}00) for -1" if self.parentheses else text


class FoundForm(NamedTuple):
    """A form, the share of the texts that it reads, and an example that another form would read as another number."""

    form: NumberForm
    share: float
    ambiguous: str | None


def find_number_form(texts: Sequence[str], decimal: str | None = None) -> FoundForm | None:
    """The form that reads most of these texts; None if none reads any. `decimal` says which mark it must have."""
    texts = [text.strip() for text in texts]
    if not any(letter.isdigit() for text in texts for letter in text):
        return None
    seen = Counter(mark for text in texts for mark in _marks_of(text))
    marks = [mark for mark, n_texts in seen.most_common() if n_texts >= _RARE * len(texts)]
    parentheses = any(text.startswith("(") and text.endswith(")") for text in texts)
    found = []
    for mark, group in _CONVENTIONS:
        if decimal in (None, mark):
            form = NumberForm(mark, group, tuple(marks), parentheses)
            found.append((form, [form.read(text) for text in texts]))
    best, values = max(found, key=lambda pair: sum(value is not None for value in pair[1]))
    n_read = sum(value is not None for value in values)
    if not n_read:
        return None
    rivals = [other for form, other in found if form is not best and sum(v is not None for v in other) == n_read]
    ambiguous = None
    if any(_differ(values, other) for other in rivals):
        pairs = (zip(texts, values, other, strict=True) for other in rivals)
        ambiguous = next(text for rows in pairs for text, one, two in rows if one is not None and one != two)
    return FoundForm(best, n_read / len(texts), ambiguous)


def _marks_of(text: str) -> list[str]:
    """The currencies and percent signs around a number."""
    around = _AROUND.match(text) if len(text) <= _LONGEST else None
    return [part for part in map(str.strip, around.groups()) if part in _MARKS] if around else []


def _differ(values: Sequence[float | None], others: Sequence[float | None]) -> bool:
    return any(one is not None and two is not None and one != two for one, two in zip(values, others, strict=True))
