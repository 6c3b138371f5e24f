"""A River class for each registered online learner, with the learner's own parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from sklearn.base import clone

from lopsided.adapters.river.classifier import RiverClassifier
from lopsided.estimators import registry, trial_parts
from lopsided.estimators.entry import Entry

_PREFIX = "River"
# Columns of the data set that River's checks use, in the roles that a history needs.
_COLUMNS_OF_CHECKS = {"keys": ["is_popular"], "time": "age_of_domain", "value": None}
# A row without its time has no place in a history: checks that take away columns at random do not apply there.
_TAKE_COLUMNS_AWAY = {
    "check_emerging_features",
    "check_disappearing_features",
    "check_radically_disappearing_features",
    "check_learn_many_matches_learn_one",
}
_SECTION = re.compile(r"^Parameters\n-+\n.*?(?=\n\n\S|\Z)", re.DOTALL | re.MULTILINE)


def ready_names() -> list[str]:
    """The names of all of them."""
    return [_PREFIX + entry.name for entry in registry.entries(is_learner=True, online=True)]


def ready_class(name: str) -> type[RiverClassifier] | None:
    """The class of this name; None if no learner is called so.

    >>> import inspect
    >>> list(inspect.signature(ready_class("RiverRBP")).parameters)[-3:]
    ['spare', 'max_features', 'classes']
    """
    return _made(name) if name in ready_names() else None


@cache
def _made(name: str) -> type[RiverClassifier]:
    entry = registry.entry(name.removeprefix(_PREFIX))
    assert entry is not None
    kind = entry.kind
    of_learner = list(inspect.signature(kind).parameters.values())
    of_adapter = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in inspect.signature(RiverClassifier).parameters.values()
        if parameter.name != "learner"
    ]
    signature = inspect.Signature(
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *of_learner, *of_adapter]
    )

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        for parameter, value in list(given.arguments.items())[1:]:
            setattr(self, parameter, value)
        self._begin()

    def given_learner(self: Any) -> Any:
        return kind(**{one.name: clone(getattr(self, one.name), safe=False) for one in of_learner})

    def unit_test_params(cls: type) -> Iterator[dict[str, Any]]:
        return _small_parameters(entry)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    content = {
        "__init__": __init__,
        "__doc__": _docstring(kind),
        "__module__": "lopsided.adapters.river",
        "_given_learner": given_learner,
        "_unit_test_params": classmethod(unit_test_params),
        "_unit_test_skips": lambda self: _TAKE_COLUMNS_AWAY if hasattr(self, "history") else set(),
    }
    return type(name, (RiverClassifier,), content)


def _docstring(kind: type) -> str:
    """What the learner is, all parameters, and where to read on."""
    learner, adapter = inspect.cleandoc(kind.__doc__ or ""), inspect.cleandoc(RiverClassifier.__doc__ or "")
    first = learner.split("\n\n")[0]
    told = [_SECTION.search(text) for text in (learner, adapter)]
    parameters, others = (found.group(0) if found else "" for found in told)
    others = others[others.index("spare : ") :]
    return (
        f"`lopsided.{kind.__name__}` as a River classifier: see `RiverClassifier` for features that come and go.\n\n"
        f"{first}\n\n{parameters}\n{others}\n"
    )


def _small_parameters(entry: Entry) -> Iterator[dict[str, Any]]:
    """Parameters for River's own checks: small, and with a seed, since two equal models must agree there."""
    for instance in entry.instances():
        found = instance.get_params(deep=False)
        if "learner" in found:
            found["learner"] = clone(found["learner"] or trial_parts.small_koil())
        for seeded in (found, getattr(found.get("learner"), "__dict__", {})):
            if "random_state" in seeded:
                seeded["random_state"] = 0
        if "schema" in found:  # that of a trial describes other columns than those of the checks
            found["schema"] = None
        if "history" in found:
            found["history"] = clone(found["history"]).set_params(**_COLUMNS_OF_CHECKS)
        yield found
