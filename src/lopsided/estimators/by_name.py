"""Learners by their names in lower case, as commands and services are told them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lopsided.constraints import ParameterError
from lopsided.estimators import registry

AUTO = "auto"
# What "auto" is, for whoever names none: a class, and what differs from its defaults.
_AUTO: tuple[str, dict[str, Any]] = ("RareEventClassifier", {})
DEFAULT_THRESHOLD = "f1"  # the rule of the publications, zero, flags far too many rows where positives are rare
# Not to be built by their parameters alone, or not online, but reachable all the same.
_POOL, _BATCH = "expertpool", "b2rmk"


def learner_names(*, online: bool = False) -> list[str]:
    """What a learner may be called: auto, and class names in lower case; only those that learn row by row, if `online`.

    >>> "koil" in learner_names(), "onlinescaler" in learner_names(), learner_names()[0]
    (True, False, 'auto')
    """
    names = [entry.name.lower() for entry in registry.entries(on_command_line=True)]
    return [AUTO, *sorted([*names, _POOL, *([] if online else [_BATCH])])]


def learner_class(name: str, *, asked_by: str = "The option --learner", online: bool = False) -> Any:
    """The class behind a name; `asked_by` begins the sentence that refuses any other."""
    wanted = _AUTO[0].lower() if name.lower() == AUTO else name.lower()
    reachable = (_POOL,) if online else (_POOL, _BATCH)
    for entry in registry.entries():
        if entry.name.lower() == wanted and (entry.on_command_line or wanted in reachable):
            return entry.kind
    raise ParameterError(f"{asked_by} must be one of {', '.join(learner_names(online=online))}, got {name!r}.")


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


def set_threshold(model: Any, rule: str | float) -> None:
    """Another threshold for a model, wherever in it the learner is that has one."""
    path, inner = "threshold", model
    while inner is not None and "threshold" not in (names := inner.get_params(deep=False)):
        path, inner = f"learner__{path}", names.get("learner")  # None: a learner that was left to its default
    model.set_params(**{path: rule})  # of the whole, which keeps what the rule goes by
    model.check_parameters()
