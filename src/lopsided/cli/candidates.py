"""What `lopsided tune` tries: learners with parameters drawn from short lists of reasonable values."""

from __future__ import annotations

import inspect
import random
from collections.abc import Sequence
from typing import Any

from lopsided.cli.learners import learner_class, parsed_settings

# Kernels within a budget, a ranker over all pairs, and linear experts: three kinds of answers.
DEFAULT_LEARNERS = ("koil", "bpas", "opauc", "omcsl")
_WIDEST_MATRIX = 500  # features; OPAUC keeps a matrix of them
_OF_GAMMA = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # times 1 / (number of features)
_OF_C = (0.1, 1.0, 10.0, 100.0)
_OF_RATE = (0.1, 1.0, 10.0)  # times the default


def space_of(kind: Any, n_features: int, fixed: Sequence[str]) -> dict[str, list[Any]]:
    """The values to try for each parameter that a learner has and that is not fixed."""
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(kind.__init__).parameters.items()
        if name not in fixed
    }
    space: dict[str, list[Any]] = {}
    if "gamma" in defaults:
        space["gamma"] = [float(f"{factor / n_features:.4g}") for factor in _OF_GAMMA]
    if "C" in defaults:
        space["C"] = list(_OF_C)
    if "learning_rate" in defaults:
        space["learning_rate"] = [defaults["learning_rate"] * factor for factor in _OF_RATE]
    return space


def drawn(
    names: Sequence[str], settings: Sequence[str], n_features: int, count: int, seed: int
) -> list[dict[str, Any]]:
    """Up to `count` different candidates, {"learner": ..., "settings": {...}}; each learner's defaults come first."""
    rng = random.Random(seed)
    names = [name for name in names if name != "opauc" or n_features <= _WIDEST_MATRIX] or list(names)
    candidates: list[dict[str, Any]] = []
    spaces = {}
    for name in names:
        kind = learner_class(name)
        known = set(inspect.signature(kind.__init__).parameters)
        own = [setting for setting in settings if len(names) == 1 or setting.partition("=")[0].strip() in known]
        fixed = parsed_settings(kind, own)
        spaces[name] = (fixed, space_of(kind, n_features, list(fixed)))
        first = dict(fixed)
        if "gamma" in spaces[name][1]:
            first["gamma"] = float(f"{1.0 / n_features:.4g}")
        candidates.append({"learner": name, "settings": first})
    tries = 0
    while len(candidates) < count and tries < 50 * count:
        name = names[len(candidates) % len(names)] if tries % 3 else names[0]
        tries += 1
        fixed, space = spaces[name]
        values = {parameter: rng.choice(options) for parameter, options in space.items()}
        candidate = {"learner": name, "settings": {**fixed, **values}}
        if not any(_is_same(candidate, other) for other in candidates):
            candidates.append(candidate)
    return candidates[:count]


def _is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two candidates are one, the defaults that only one of them names included."""
    if one["learner"] != other["learner"]:
        return False
    parameters = inspect.signature(learner_class(one["learner"]).__init__).parameters
    whole = [{name: p.default for name, p in parameters.items()} | dict(c["settings"]) for c in (one, other)]
    return whole[0] == whole[1]


def in_words(settings: dict[str, Any]) -> str:
    """Settings as `--set` has them."""
    return " ".join(f"--set {name}={_value(value)}" for name, value in settings.items())


def _value(value: Any) -> str:
    return (
        ",".join(map(_value, value))
        if isinstance(value, tuple)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
