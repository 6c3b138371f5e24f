"""What a race begins with: learners with parameters drawn from short lists of reasonable values."""

from __future__ import annotations

import inspect
import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

_WIDEST_MATRIX = 500  # features; OPAUC keeps a matrix of them
_OF_GAMMA = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # times 1 / (number of features)
_OF_C = (0.1, 1.0, 10.0, 100.0)
_OF_RATE = (0.1, 1.0, 10.0)  # times the default


@dataclass(frozen=True)
class Candidate:
    """A learner by its name, its class, and the parameters that differ from its defaults."""

    name: str
    kind: Any
    settings: dict[str, Any]

    def built(self, **common: Any) -> Any:
        """The learner, with parameters that all candidates have in common."""
        return self.kind(**self.settings, **common)

    def is_same_as(self, other: Candidate) -> bool:
        """Whether two candidates are one, the defaults that only one of them names included."""
        return self.kind is other.kind and self._whole() == other._whole()

    def _whole(self) -> dict[str, Any]:
        return {name: p.default for name, p in inspect.signature(self.kind).parameters.items()} | self.settings


def default_kinds() -> dict[str, Any]:
    """Kernels within a budget, a ranker over all pairs, and linear experts: three kinds of answers."""
    from lopsided import BPAS, KOIL, OMCSL, OPAUC

    return {kind.__name__.lower(): kind for kind in (KOIL, BPAS, OPAUC, OMCSL)}


def values_to_try(kind: Any, n_features: int, fixed: Collection[str] = ()) -> dict[str, list[Any]]:
    """The values to try for each parameter that a learner has and that is not fixed.

    >>> from lopsided import NORMA
    >>> values_to_try(NORMA, 10, fixed=["gamma"])
    {'learning_rate': [0.010000000000000002, 0.1, 1.0]}
    """
    defaults = {
        name: parameter.default for name, parameter in inspect.signature(kind).parameters.items() if name not in fixed
    }
    values: dict[str, list[Any]] = {}
    if "gamma" in defaults:
        values["gamma"] = [_rounded(factor / n_features) for factor in _OF_GAMMA]
    if "C" in defaults:
        values["C"] = list(_OF_C)
    if "learning_rate" in defaults:
        values["learning_rate"] = [defaults["learning_rate"] * factor for factor in _OF_RATE]
    return values


def draw_candidates(
    n_features: int,
    count: int = 24,
    *,
    kinds: Mapping[str, Any] | None = None,
    fixed: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int = 0,
) -> list[Candidate]:
    """Up to `count` different candidates for rows of this width; each learner's defaults come first.

    Parameters
    ----------
    n_features : int
        How wide the rows are: kernel widths to try depend on it.
    count : int, default=24
        How many candidates to draw at most.
    kinds : mapping of names to classes, optional
        The learners to try; None is `default_kinds()`. OPAUC is left out where its matrix would be large.
    fixed : mapping of names to parameters, optional
        For each learner the parameters that are not to be tuned.
    seed : int, default=0
        Random seed.

    >>> for candidate in draw_candidates(8, 6):
    ...     print(candidate.name, candidate.settings)
    koil {'gamma': 0.125}
    bpas {'gamma': 0.125}
    opauc {}
    omcsl {}
    koil {'gamma': 0.125, 'C': 100.0, 'learning_rate': 0.001}
    bpas {'gamma': 0.0375, 'C': 100.0}
    """
    kinds = dict(default_kinds() if kinds is None else kinds)
    narrow = {name: kind for name, kind in kinds.items() if kind.__name__ != "OPAUC" or n_features <= _WIDEST_MATRIX}
    kinds, names = narrow or kinds, list(narrow or kinds)
    given = {name: dict((fixed or {}).get(name, {})) for name in names}
    values = {name: values_to_try(kinds[name], n_features, given[name]) for name in names}
    candidates = [
        Candidate(
            name, kinds[name], given[name] | ({"gamma": _rounded(1 / n_features)} if "gamma" in values[name] else {})
        )
        for name in names
    ]
    rng, tries = random.Random(seed), 0
    while len(candidates) < count and tries < 50 * count:
        name = names[len(candidates) % len(names)] if tries % 3 else names[0]
        tries += 1
        drawn = {parameter: rng.choice(options) for parameter, options in values[name].items()}
        candidate = Candidate(name, kinds[name], given[name] | drawn)
        if not any(candidate.is_same_as(other) for other in candidates):
            candidates.append(candidate)
    return candidates[:count]


def _rounded(value: float) -> float:
    """Four digits are enough, and can be written down."""
    return float(f"{value:.4g}")
