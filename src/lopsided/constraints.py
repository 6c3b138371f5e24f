"""What each parameter may be, as data, and the one sentence that says so when it is not."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

LARGEST_FEATURE = 1e150  # its square is finite, and sums of such squares are
SECONDS_OF_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_WORDS_OF_UNITS = {"second": "s", "sec": "s", "minute": "m", "min": "m", "hour": "h", "day": "d", "week": "w"}
_DURATION = re.compile(r"([0-9.eE+-]+)\s*([a-z]+)")
_SIZE = re.compile(r"\s*([0-9]{1,6}(?:\.[0-9]+)?)\s*([kKmMgGtT][bB])\s*")


class Constraint(NamedTuple):
    """The values a parameter may take: a test, and the same in words."""

    accepts: Any
    allowed: str

    def __or__(self, other: Constraint) -> Constraint:
        return Constraint(
            lambda value: self.accepts(value) or other.accepts(value), f"{self.allowed} or {other.allowed}"
        )


class ParameterError(ValueError):
    """A parameter has a value that it must not have."""


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def number(*, above: float | None = None, least: float | None = None, most: float | None = None) -> Constraint:
    """A finite number in a range: `above` excludes its bound, `least` and `most` include theirs."""
    bounds = [f"> {above:g}"] if above is not None else []
    bounds += [f">= {least:g}"] if least is not None else []
    bounds += [f"<= {most:g}"] if most is not None else []

    def accepts(value: Any) -> bool:
        return (
            _is_real(value)
            and (above is None or value > above)
            and (least is None or value >= least)
            and (most is None or value <= most)
        )

    return Constraint(accepts, " ".join(["a finite number", " and ".join(bounds)]).strip())


def whole(least: int) -> Constraint:
    """A whole number, at least so large."""
    return Constraint(lambda value: _is_whole(value) and value >= least, f"an int >= {least}")


def seconds_in(duration: Any) -> float | None:
    """The seconds of a duration such as "90s", "15m", "12h", "7d", "2w" or "2 weeks"; None for anything else.

    >>> seconds_in("90s"), seconds_in("2 weeks"), seconds_in("2"), seconds_in("soon")
    (90.0, 1209600.0, None, None)
    """
    found = _DURATION.fullmatch(duration) if isinstance(duration, str) else None
    if found is None:
        return None
    unit = _WORDS_OF_UNITS.get(found[2].removesuffix("s"), found[2])
    try:
        seconds = float(found[1]) * SECONDS_OF_UNITS[unit]
    except (KeyError, ValueError):
        return None
    return seconds if 0.0 <= seconds < math.inf else None


def bytes_in(size: Any) -> int | None:
    """The bytes of a size such as "500MB", "20GB" or "1.5 TB", in powers of 1,000; None for anything else.

    >>> bytes_in("500MB"), bytes_in("1.5 GB"), bytes_in("20"), bytes_in("much")
    (500000000, 1500000000, None, None)
    """
    found = _SIZE.fullmatch(size) if isinstance(size, str) else None
    return None if found is None else round(float(found[1]) * 1000 ** ("kmgt".index(found[2][0].lower()) + 1))


def pair_of(part: Constraint) -> Constraint:
    """Two values, one for each class (the rare one first)."""
    return Constraint(
        lambda value: isinstance(value, tuple | list) and len(value) == 2 and all(map(part.accepts, value)),
        "a pair of them",
    )


def choice(*options: str) -> Constraint:
    """One of these words."""
    words = [f"'{option}'" for option in options]
    text = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
    return Constraint(lambda value: isinstance(value, str) and value in options, text)


def flag() -> Constraint:
    """True or False."""
    return Constraint(lambda value: isinstance(value, bool) or type(value).__name__ == "bool", "True or False")


def nothing() -> Constraint:
    """None."""
    return Constraint(lambda value: value is None, "None")


def anything() -> Constraint:
    """Any value: checked elsewhere, or nothing to check."""
    return Constraint(lambda value: True, "anything")


def check_parameters(owner: str, values: Mapping[str, Any], constraints: Mapping[str, Constraint]) -> None:
    """Raise a ParameterError for the first parameter that breaks its constraint.

    >>> check_parameters("KOIL", {"C": -1}, {"C": number(above=0)})
    Traceback (most recent call last):
        ...
    lopsided.constraints.ParameterError: The 'C' parameter of KOIL must be a finite number > 0. Got -1 instead.
    """
    for name, value in values.items():
        constraint = constraints.get(name)
        if constraint is None:  # a mistake of whoever wrote the class
            raise TypeError(f"The '_constraints' of {owner} must say what '{name}' may be. Got nothing of that name.")
        if not constraint.accepts(value):
            raise ParameterError(
                f"The '{name}' parameter of {owner} must be {constraint.allowed}. Got {value!r} instead."
            )
