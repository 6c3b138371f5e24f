"""Every learner by its name. Whatever lists learners walks this: files, the command line, the docs, the tests.

An entry lives in the `__init__` of its family, beside the learner's file. Importing this costs nothing: a learner is
imported when it is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, TypeVar, overload

from lopsided.estimators.entry import Entry

FAMILIES = ("rare", "kernel", "linear", "features", "bayesian", "compose")
YOURS = "yours"  # the family of classes that a program registers

_CLAIMS = {field.name for field in fields(Entry)} - {"name", "module", "family", "registered_class"}
_Kind = TypeVar("_Kind", bound=type)


class RegistrationError(ValueError):
    """A class cannot be registered."""


def _of_this_package() -> Iterator[Entry]:
    for family in FAMILIES:
        yield from importlib.import_module(f"lopsided.estimators.{family}").ENTRIES


_ENTRIES: dict[str, Entry] = {entry.name: entry for entry in _of_this_package()}


def entries(**claims: bool) -> list[Entry]:
    """All entries, or those of which these plain facts hold: `entries(online=True, is_learner=True)`.

    >>> [entry.name for entry in entries(online=False)]
    ['B2RMK']
    """
    return [one for one in _ENTRIES.values() if all(getattr(one, name) is value for name, value in claims.items())]


def names() -> list[str]:
    """The names of all entries, in the order of their families."""
    return list(_ENTRIES)


def entry(name: str) -> Entry | None:
    """The entry of this name, if there is one."""
    return _ENTRIES.get(name)


def entry_of(kind: type) -> Entry | None:
    """The entry of this very class; a subclass that nobody registered has none, whatever its name is.

    >>> from lopsided import KOIL
    >>> entry_of(KOIL).family, entry_of(dict)
    ('kernel', None)
    """
    found = _ENTRIES.get(kind.__name__)
    # The module is compared first: it must not be imported for a class that comes from elsewhere.
    return found if found is not None and found.module == kind.__module__ and found.kind is kind else None


def nearest_entry(kind: type) -> Entry | None:
    """The entry of a class, or else of the nearest class that it is derived from."""
    return next((found for base in kind.__mro__ if (found := entry_of(base)) is not None), None)


def can(learner: Any, ability: str) -> bool:
    """Whether this instance claims an ability, one of the fields of `Entry`; a class unknown here claims nothing.

    >>> from lopsided import SPA
    >>> can(SPA(), "bounded"), can(SPA(budget=50), "bounded")
    (False, True)
    """
    found = entry_of(type(learner))
    return found is not None and found.claims(ability, learner)


@overload
def register(kind: _Kind, **claims: Any) -> _Kind: ...


@overload
def register(kind: None = None, **claims: Any) -> Callable[[_Kind], _Kind]: ...


def register(kind: Any = None, **claims: Any) -> Any:
    """Make a learner of your own known by its name, so that it can be saved, loaded, listed and checked.

    Call it where the class is defined, `register(MyLearner)` or `@register` above it: a program that loads the file of
    such a model must have registered the class too, for a file never says which code to run.

    Parameters
    ----------
    kind : class, default=None
        Derived from a learner of lopsided, or from `lopsided.OnlineClassifier`. None makes it a decorator with claims.
    **claims : bool or function of an instance
        What it can do, where that differs from the class it is derived from: fields of
        `lopsided.estimators.entry.Entry`, such as `bounded=False` or `trials=({"C": 2.0},)`.

    Examples
    --------
    >>> import lopsided as lp
    >>> @lp.register
    ... class CautiousKOIL(lp.KOIL):
    ...     def decision_function(self, X):
    ...         return super().decision_function(X) - 0.1
    >>> "CautiousKOIL" in lp.estimators.registry.names()
    True
    >>> lp.estimators.registry.forget("CautiousKOIL")
    """
    if kind is None:
        return lambda later: register(later, **claims)
    _check_is_learner(kind)
    _check_name_is_free(kind)
    _ENTRIES[kind.__name__] = _entry_for(kind, claims)
    return kind


def forget(name: str) -> None:
    """Take back what `register` did; the learners of this package stay."""
    if name in _ENTRIES and _ENTRIES[name].family == YOURS:
        del _ENTRIES[name]


def _check_is_learner(kind: Any) -> None:
    from lopsided.estimators.base.answering import Answering

    if not (isinstance(kind, type) and issubclass(kind, Answering)):
        raise RegistrationError(
            "What is registered must be a class derived from lopsided.OnlineClassifier or from a learner of lopsided. "
            f"Got {kind!r}."
        )


def _check_name_is_free(kind: type) -> None:
    """Names differ in more than capitals, because the command line has none. A class defined anew replaces itself."""
    for known in _ENTRIES.values():
        if known.name.lower() == kind.__name__.lower():
            same = known.family == YOURS and (known.kind.__module__, known.kind.__qualname__) == (
                kind.__module__,
                kind.__qualname__,
            )
            if not same:
                raise RegistrationError(
                    f"The name of a class to register must be new, capitals apart. Got {kind.__name__!r}, and there "
                    f"is {known.name!r} of {known.module}: rename the class."
                )


def _entry_for(kind: type, claims: dict[str, Any]) -> Entry:
    """The claims of the nearest registered ancestor, changed by those given."""
    unknown = [name for name in claims if name not in _CLAIMS]
    if unknown:
        raise RegistrationError(
            f"The claims of a class to register must be fields of lopsided.estimators.entry.Entry. Got {unknown[0]!r}."
        )
    known = nearest_entry(kind) or Entry("", "", "", bounded=False, sparse=False, random=True)
    place: dict[str, Any] = {"name": kind.__name__, "module": kind.__module__, "family": YOURS}
    return replace(known, registered_class=kind, **place, **claims)
