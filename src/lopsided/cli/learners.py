"""Learners by their name on the command line, with parameters given as `--set NAME=VALUE`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from lopsided.constraints import ParameterError
from lopsided.estimators.by_name import (
    AUTO,
    DEFAULT_THRESHOLD,
    learner_class,
    learner_names,
    learns_online,
    made_learner,
    maker_of,
)

__all__ = [
    "AUTO",
    "DEFAULT_THRESHOLD",
    "learner_class",
    "learner_names",
    "learns_online",
    "made_learner",
    "maker_of",
    "parsed_settings",
    "parsed_value",
    "settable_parameters",
]

# Options of their own set these, or they have no meaning for rows that are learned in the order of the file.
_NOT_SETTABLE = {"self", "pos_label", "random_state", "shuffle", "learners"}

_WORDS = {"none": None, "true": True, "false": False}


def settable_parameters(kind: Any) -> list[str]:
    """Names of the parameters that `--set` may give, in the order of the constructor."""
    return [name for name in inspect.signature(kind.__init__).parameters if name not in _NOT_SETTABLE]


def parsed_settings(kind: Any, settings: Iterable[str], *, asked_by: str = "The option --set") -> dict[str, Any]:
    """Parameters out of `NAME=VALUE` texts; whether a value is allowed is for the learner to say."""
    allowed = settable_parameters(kind)
    parameters: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if not equals:
            raise ParameterError(f"{asked_by} must be written NAME=VALUE, such as C=4, got {setting!r}.")
        if name not in allowed:
            raise ParameterError(
                f"{asked_by} must name a parameter of {kind.__name__} ({', '.join(allowed)}), got {name!r}."
            )
        if name in parameters:
            raise ParameterError(f"{asked_by} must name each parameter once, got {name!r} twice.")
        parameters[name] = parsed_value(text)
    return parameters


def parsed_value(text: str) -> Any:
    """An int, a float, True, False, None or a word, whichever comes first; commas make a tuple of them.

    >>> parsed_value("4"), parsed_value("0.5"), parsed_value("1e-3"), parsed_value("none"), parsed_value("false")
    (4, 0.5, 0.001, None, False)
    >>> parsed_value("fifo"), parsed_value("50,100")
    ('fifo', (50, 100))
    """
    if "," in text:
        return tuple(parsed_value(part) for part in text.split(","))
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
