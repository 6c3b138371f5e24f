"""Models that learned different parts of a stream, as one: what merging is for every learner.

The models are copied, put into an order that does not depend on the order given, and the first of them, the one that
has seen most, becomes all of them. What that means is up to each learner (`_merge`): sums are added, weights are
averaged, sets of vectors are united and cut down to the budget.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from lopsided.core.arithmetic.compiled import Floats
from lopsided.estimators.base.recent_rows import merged_rows
from lopsided.estimators.base.score_memory import merged_memory
from lopsided.labels import LabelMap

# What models may differ in: it has no part in what they hold.
_MAY_DIFFER = ("random_state", "threshold", "shuffle", "n_jobs", "pos_label")
_UNIFORMS_OF_A_SEED = 4


class MergeError(ValueError):
    """Models that do not fit together."""


class Merges:
    """A learner that can be merged with others of its kind. See `lopsided.merge`."""

    # ---------------------------------------------------------------- what a learner provides

    _takes_small_steps: ClassVar[bool] = False  # of a fixed size, and many of them, before it gets anywhere

    def _merge(self, models: list[Any], shares: Floats) -> None:
        """Become the merge of these models, of which this one is a copy of the first; all have seen rows.

        `shares` are the models' shares of all rows.
        """
        raise MergeError(f"Models to merge must be of a class that knows how. Got {type(self).__name__}.")

    def _comes_first(self) -> bool:
        """Whether this model has what others can be merged into, where not all of them may have it."""
        return True

    def _take_after(self: Any, original: Any) -> None:
        """What an empty model must have in common with another one, for both to be merged later."""

    def _set_budget(self: Any, budget: Any) -> None:
        """Get ready to keep so many vectors from now on."""
        if self.get_params(deep=False).get("budget") is None:
            raise MergeError(
                f"The 'budget' parameter of merge must be None for {type(self).__name__} without a budget of its own. "
                f"Got {budget!r}."
            )
        self.budget = budget
        self._check_parameters()
        self._begun_with |= {"budget": budget}

    # ---------------------------------------------------------------- the contract

    def part_weight(self, n_parts: int) -> float:
        """The `sample_weight` of every row of one of so many parts of a stream, if their models are merged later.

        A learner that takes small steps of a fixed size has gone a fraction of its way after a fraction of the rows,
        and the average of such models has gone no further. It needs steps as many times larger as there are parts, and
        the average smooths them. For all others it is 1.

        >>> from lopsided import FOGD, KOIL
        >>> FOGD().part_weight(16), KOIL().part_weight(16)
        (16.0, 1.0)
        """
        return float(n_parts) if self._takes_small_steps else 1.0

    def empty_like(self: Any) -> Any:
        """An empty model for another part of the stream, to be merged with this one later: see `lopsided.empty_like`.

        It has the same parameters, labels and features, and the same random directions and scale where the learner
        has such. It draws other random numbers than this one, and than another empty model of this one.
        """
        with self._alone:
            if not self._started:
                return clone(self)
            original, seed = copy.deepcopy(self), self._seed_of_another()
        empty = type(self)(**original._kept_parameters())
        empty._take_words(original._kept_words())
        for name in self._shape:
            if name in original.__dict__:
                setattr(empty, name, original.__dict__[name])
        empty._begin(original._labels)
        empty._uniforms.rng = np.random.default_rng(seed)
        empty._take_after(original)
        return empty

    def merged_with(self: Any, others: Iterable[Any], budget: Any = None) -> Any:
        """A new model of this one and others that learned other parts of the stream: see `lopsided.merge`.

        All of them stay as they are.
        """
        models = [copy.deepcopy(model) for model in (self, *others)]
        check_parameters_agree(models)
        begun = [model for model in models if model._started]
        if not begun:
            return models[0]
        _check_rows_agree(begun)
        labels = _common_labels([model._labels for model in begun])
        seen = in_fixed_order([model for model in begun if model.n_seen_]) or begun[:1]
        seen[0]._set_labels(labels)
        return seen[0]._merged(seen, budget)

    def _merged(self: Any, models: list[Any], budget: Any = None) -> Any:
        """The merge of models in their final order, which begins with this one."""
        merged = copy.deepcopy(self)
        for name, value in merged._kept_parameters().items():  # those by which all of them began
            setattr(merged, name, value)
        if budget is not None:
            merged._set_budget(budget)
        elif len(models) == 1:
            return merged
        seen = np.array([model.n_seen_ for model in models], dtype=np.float64)
        merged._memory = merged_memory([model._memory for model in models])
        merged._recent, merged._rate_cut = merged_rows([model._recent for model in models]), None
        merged._merge(models, seen / max(seen.sum(), 1.0))
        merged._prepare_for_one()
        return merged

    # ---------------------------------------------------------------- randomness

    def _seed_of_another(self: Any) -> list[int]:
        """A seed that follows from this model's own stream of uniforms, which stays where it is; never the same twice.

        How often is asked is not kept in files.
        """
        asked = self.__dict__["_empty_ones"] = self.__dict__.get("_empty_ones", 0) + 1
        return [asked, *(drawn(copy.deepcopy(self._uniforms), _UNIFORMS_OF_A_SEED) * 2.0**32).astype(np.int64).tolist()]


def drawn(uniforms: Any, n: int) -> Floats:
    """The next n uniforms of a learner's stream."""
    draws = uniforms.reserve(n)
    place = int(draws.position[0])
    draws.position[0] += n
    return np.array(draws.uniforms[place : place + n])


def averaged(arrays: Sequence[Any], shares: Floats) -> Any:
    """The sum of share times array, in the order given."""
    total = shares[0] * arrays[0]
    for array, share in zip(arrays[1:], shares[1:], strict=True):
        total = total + share * array
    return total


def in_fixed_order(models: list[Any]) -> list[Any]:
    """The same models in an order that depends on what they hold alone: those that have seen most come first."""
    if len(models) < 2:
        return models
    return sorted(models, key=_place_in_order)


def _place_in_order(model: Any) -> tuple[Any, ...]:
    """What was learned comes before the state of the generator, which differs from run to run without a seed."""
    content = blake2b()
    for part in (model, *(model._parts() if hasattr(model, "_parts") else ())):
        for name, array in sorted(part._arrays().items()):
            content.update(name.encode() + np.ascontiguousarray(array).tobytes())
    return not model._comes_first(), -model.n_seen_, content.digest(), blake2b(model.to_bytes()).digest()


# -------------------------------------------------------------------- do they fit together?


def refuse_unless_equal(owner: str, what: str, first: Any, other: Any) -> None:
    """One sentence for whatever two models must have in common."""
    if not same_values(first, other):
        raise MergeError(f"The models of {owner} to merge must have the same {what}. Got {_told(first, other)}.")


def check_parameters_agree(models: Sequence[Any]) -> None:
    """Refuse models of other classes or with other parameters than the first."""
    first = models[0]
    for other in models[1:]:
        if type(other) is not type(first):
            kinds = f"{type(first).__name__} and {type(other).__name__}"
            raise MergeError(f"The models to merge must be of one class. Got {kinds}.")
        mine, theirs = _parameters(first), _parameters(other)
        for name in mine:
            if name not in _MAY_DIFFER:
                refuse_unless_equal(type(first).__name__, f"'{name}'", mine[name], theirs[name])


def _parameters(model: Any) -> dict[str, Any]:
    """As they were when the model began, or as they are."""
    if getattr(model, "_started", False) and hasattr(model, "_kept_parameters"):
        return dict(model._kept_parameters())
    return dict(model.get_params(deep=False))


def same_values(one: Any, other: Any) -> bool:
    """Whether parameters are equal: numbers, arrays, lists, and learners, whose seeds may differ."""
    if hasattr(one, "get_params"):
        if type(one) is not type(other):
            return False
        mine, theirs = one.get_params(deep=False), other.get_params(deep=False)
        return all(same_values(mine[name], theirs[name]) for name in mine if name not in _MAY_DIFFER)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_values, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_values(one[name], other[name]) for name in one)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


def _told(one: Any, other: Any) -> str:
    told = f"{one!r} and {other!r}"
    return " ".join(told.split()) if len(told) < 200 else "different ones"


def _check_rows_agree(models: list[Any]) -> None:
    first, owner = models[0], type(models[0]).__name__
    for other in models[1:]:
        refuse_unless_equal(owner, "number of features", first.n_features_in_, other.n_features_in_)
        mine, theirs = (getattr(model, "feature_names_in_", None) for model in (first, other))
        if mine is not None and theirs is not None:
            refuse_unless_equal(owner, "names of features", mine.tolist(), theirs.tolist())


def _common_labels(maps: list[LabelMap]) -> LabelMap:
    """The labels of all: one of them may not know yet what the partner of its 1 is."""
    known = next((labels for labels in maps if labels.settled), maps[0])
    for labels in maps:
        agrees = (labels.positive, labels.negative) == (known.positive, known.negative)
        if not labels.settled:
            agrees = labels.sign_of[1] == known.sign_of.get(1)
        if not agrees:
            told = f"{known.positive!r} against {known.negative!r} and {labels.positive!r} against {labels.negative!r}"
            raise MergeError(f"The models to merge must have the same labels, the rare one first. Got {told}.")
    return known
