"""Learners by their name on the command line, with parameters given as `--set NAME=VALUE`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from lopsided.constraints import ParameterError
from lopsided.estimators import registry

# Options of their own set these, or they have no meaning for rows that are learned in the order of the file.
_NOT_SETTABLE = {"self", "pos_label", "random_state", "shuffle", "learners"}

_WORDS = {"none": None, "true": True, "false": False}

AUTO = "auto"
# What `--learner auto` is, for whoever names none: a class, and what differs from its defaults.
_AUTO: tuple[str, dict[str, Any]] = ("RareEventClassifier", {})
DEFAULT_THRESHOLD = "f1"  # the rule of the publications, zero, flags far too many rows where positives are rare
# Not to be built by their parameters alone, or not online, but reachable all the same.
_POOL, _BATCH = "expertpool", "b2rmk"


def learner_names(*, online: bool = False) -> list[str]:
    """What `--learner` may be: auto, and class names in lower case; only those that learn row by row, if `online`.

    >>> "koil" in learner_names(), "onlinescaler" in learner_names(), learner_names()[0]
    (True, False, 'auto')
    """
    names = [entry.name.lower() for entry in registry.entries(on_command_line=True)]
    return [AUTO, *sorted([*names, _POOL, *([] if online else [_BATCH])])]


def learner_class(name: str) -> Any:
    """The class behind a name of the command line."""
    wanted = _AUTO[0].lower() if name.lower() == AUTO else name.lower()
    for entry in registry.entries():
        if entry.name.lower() == wanted and (entry.on_command_line or wanted in (_POOL, _BATCH)):
            return entry.kind
    raise ParameterError(f"The option --learner must be one of {', '.join(learner_names())}, got {name!r}.")


def learns_online(kind: Any) -> bool:
    """Whether a learner takes rows one after the other, and not a whole set."""
    entry = registry.nearest_entry(kind)
    return entry is None or entry.online


def maker_of(name: str) -> tuple[Callable[..., Any], dict[str, Any]]:
    """What makes a learner of this name, and the parameters that come with the name."""
    kind = learner_class(name)
    if name.lower() == _POOL:
        return kind.default, {}
    return kind, dict(_AUTO[1]) if name.lower() == AUTO else {}


def made_learner(name: str, settings: dict[str, Any], *, sparse: bool = False, **common: Any) -> Any:
    """A learner by its name, with these parameters instead of its defaults, for sparse rows or not."""
    make, own = maker_of(name)
    if name.lower() == _POOL:
        own = {"sparse": sparse}
    return make(**(own | settings), **common)


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
