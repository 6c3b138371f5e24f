"""What a race begins with: learners with parameters drawn from short lists of reasonable values."""

from __future__ import annotations

import inspect
import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

# Features beyond which a learner is left out: one keeps a matrix of them, others take too long.
_WIDEST = {"OPAUC": 500, "OB2RMK": 500, "FourierRanker": 5000, "RareEventClassifier": 5000, "default": 500}
_ALONE = ("OB2RMK",)  # slow, so with its defaults only
_FIRST = {"FourierRanker": {"regularization": "auto", "focus": 6.0}}  # better than the defaults on most streams
_OF_BANDWIDTHS = ((0.05, 0.25), (0.25, 1.0), (1.0, 4.0))
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
    """One or more of every family: the default, random features, bounded kernels, linear ones, Bayesian, pools."""
    from lopsided import BPAS, KOIL, OB2RMK, OMCSL, OPAUC, SPA, ExpertPool, FourierRanker, RareEventClassifier

    kinds = (RareEventClassifier, FourierRanker, KOIL, BPAS, SPA, OPAUC, OMCSL, OB2RMK)
    return {kind.__name__.lower(): kind for kind in kinds} | {"expertpool": ExpertPool.default}


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
    if "bandwidths" in defaults:
        values["bandwidths"] = list(_OF_BANDWIDTHS)
    if "focus" in defaults:
        values["focus"] = [0.0, 3.0, 6.0]
    return values if _name(kind) not in _ALONE else {}


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
        The learners to try; None is `default_kinds()`. Some are left out where rows are
        too wide for them.
    fixed : mapping of names to parameters, optional
        For each learner the parameters that are not to be tuned.
    seed : int, default=0
        Random seed.

    >>> from lopsided import BPAS, KOIL, OPAUC
    >>> for candidate in draw_candidates(8, 5, kinds={"koil": KOIL, "bpas": BPAS, "opauc": OPAUC}):
    ...     print(candidate.name, candidate.settings)
    koil {'gamma': 0.125}
    bpas {'gamma': 0.125}
    opauc {}
    koil {'gamma': 0.125, 'C': 100.0, 'learning_rate': 0.001}
    bpas {'gamma': 0.0375, 'C': 100.0}
    """
    kinds = dict(default_kinds() if kinds is None else kinds)
    narrow = {name: kind for name, kind in kinds.items() if n_features <= _WIDEST.get(_name(kind), n_features)}
    kinds, names = narrow or kinds, list(narrow or kinds)
    given = {name: dict((fixed or {}).get(name, {})) for name in names}
    values = {name: values_to_try(kinds[name], n_features, given[name]) for name in names}
    candidates = [
        Candidate(
            name,
            kinds[name],
            _FIRST.get(_name(kinds[name]), {})
            | given[name]
            | ({"gamma": _rounded(1 / n_features)} if "gamma" in values[name] else {}),
        )
        for name in names
    ]
    rng, tries = random.Random(seed), 0
    names = [name for name in names if values[name]] or names  # the others have no second candidate
    while len(candidates) < count and tries < 50 * count:
        name = names[len(candidates) % len(names)] if tries % 3 else names[0]
        tries += 1
        drawn = {parameter: rng.choice(options) for parameter, options in values[name].items()}
        first = {key: value for key, value in _FIRST.get(_name(kinds[name]), {}).items() if key not in drawn}
        candidate = Candidate(name, kinds[name], first | given[name] | drawn)
        if not any(candidate.is_same_as(other) for other in candidates):
            candidates.append(candidate)
    return candidates[:count]


def _name(kind: Any) -> str:
    """What a class, or what makes a learner, is called."""
    return getattr(kind, "__name__", "") or _name(kind.func)


def _rounded(value: float) -> float:
    """Four digits are enough, and can be written down."""
    return float(f"{value:.4g}")
