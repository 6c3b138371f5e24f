"""Learners of several arrays for all keys: every array has a leading axis of slots, and one call learns mixed rows."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.arithmetic.generators import numbers_of_generator, state_of_generator
from lopsided.core.geometry.points import Rows
from lopsided.core.keyed.stacked import (
    count_rows,
    keyed_fogd_run,
    keyed_fogd_score_rows,
    keyed_omcsl_run,
    keyed_omcsl_score_rows,
    keyed_opauc_run,
    keyed_opauc_score_rows,
)
from lopsided.core.keyed.table import NOT_THERE
from lopsided.core.linear.weight_columns import SCALE
from lopsided.core.measures.experts import Experts
from lopsided.core.measures.ranking import KEPT, SETTLED
from lopsided.estimators.base.merging import refuse_unless_equal
from lopsided.estimators.base.randomness import UniformStream, generator_state
from lopsided.estimators.base.score_memory import ScoreMemory
from lopsided.estimators.compose.keyed_models import KeyedModels
from lopsided.estimators.compose.separate_learners import OwnLearners, some_rows
from lopsided.estimators.features.descent import FOGD
from lopsided.estimators.linear.omcsl import OMCSL
from lopsided.estimators.linear.rankers import OPAUC
from lopsided.estimators.state.arrays import ModelFileError, in_range

Arrays = Mapping[str, npt.NDArray[Any]]
_GENERATOR, _ROWS = "generator", "rows"  # what a record holds beside the learner's arrays


class Kind:
    """How the models of one class of learners are learned and scored together.

    `pattern` is a learner that has learned nothing; `arrays` are the models, with a leading axis of slots.
    """

    shared: ClassVar[tuple[str, ...]] = ()  # arrays that are the same for all keys

    def prepare(self, pattern: Any) -> None:
        """Give the pattern what all keys have in common."""

    def run(
        self, pattern: Any, arrays: Arrays, slots: Integers, rows: Rows, signs: Floats, costs: Floats, scores: Floats
    ) -> Any:
        """The compiled loop and its arguments up to the span."""
        raise NotImplementedError

    def score(self, pattern: Any, arrays: Arrays, slots: Integers, rows: Rows, scores: Floats) -> None:
        """The score of each row by the model in its slot."""
        raise NotImplementedError

    def check(self, arrays: Arrays) -> None:
        """Refuse what compiled code must not meet."""


class OpaucKind(Kind):
    """Means and covariances of both classes: 16 d^2 bytes for each key."""

    def run(
        self, pattern: Any, arrays: Arrays, slots: Integers, rows: Rows, signs: Floats, costs: Floats, scores: Floats
    ) -> Any:
        """One call for all keys."""
        moments, normals = _stacked("moments", pattern._moments, arrays), pattern._normals_of_one
        return keyed_opauc_run, moments, pattern._plan, slots, rows, signs, costs, pattern._work, scores, normals

    def score(self, pattern: Any, arrays: Arrays, slots: Integers, rows: Rows, scores: Floats) -> None:
        """One call for all keys."""
        keyed_opauc_score_rows(_stacked("moments", pattern._moments, arrays), slots, rows, scores)


class FogdKind(Kind):
    """The weights of the features, 8 n_components bytes for each key; the directions are those of all."""

    shared = ("model.directions",)

    def prepare(self, pattern: Any) -> None:
        """Draw the directions, as a learner does with its first row."""
        pattern._prepare_for(pattern._one_row)

    def run(
        self, pattern: Any, arrays: Arrays, slots: Integers, rows: Rows, signs: Floats, costs: Floats, scores: Floats
    ) -> Any:
        """One call for all keys."""
        model, scratch = _stacked("model", pattern._model, arrays), (pattern._angles, pattern._z)
        return keyed_fogd_run, model, pattern._rate, slots, rows, signs, costs, *scratch, scores

    def score(self, pattern: Any, arrays: Arrays, slots: Integers, rows: Rows, scores: Floats) -> None:
        """One call for all keys."""
        model = _stacked("model", pattern._model, arrays)
        keyed_fogd_score_rows(model, slots, rows, pattern._angles, pattern._z, scores)


class OmcslKind(Kind):
    """Columns, the standing of each, and a generator for each key."""

    def run(
        self, pattern: Any, arrays: Arrays, slots: Integers, rows: Rows, signs: Floats, costs: Floats, scores: Floats
    ) -> Any:
        """One call for all keys."""
        columns, experts = self._models(pattern, arrays)
        model = (columns, experts, pattern._costs, pattern._plan, arrays[_GENERATOR])
        draws = Draws(np.zeros(1), np.zeros(1, dtype=np.int64))
        return keyed_omcsl_run, *model, slots, rows, signs, costs, draws, pattern._work, scores, pattern._all_scores

    def score(self, pattern: Any, arrays: Arrays, slots: Integers, rows: Rows, scores: Floats) -> None:
        """One call for all keys."""
        keyed_omcsl_score_rows(*self._models(pattern, arrays), pattern._plan, slots, rows, scores)

    def _models(self, pattern: Any, arrays: Arrays) -> tuple[Any, Experts]:
        rankings = _stacked("rankings", pattern._experts.rankings, arrays)
        return _stacked("columns", pattern._columns, arrays), Experts(arrays["standing"], arrays["counts"], rankings)

    def check(self, arrays: Arrays) -> None:
        """Whole numbers that are places, and a scale."""
        places = arrays["rankings.tally"]
        in_range("records of keys", places[..., KEPT], 0, arrays["rankings.kept"].shape[-1])
        in_range("records of keys", places[..., SETTLED], 0, 1)
        if (arrays["columns.levels"][:, SCALE] == 0.0).any():
            raise ModelFileError("The records of keys must have a scale. Got 0: they are damaged.")


def kind_for(learner: Any) -> Kind | None:
    """How models of this learner are stacked; None where they cannot be.

    A sketch draws normal numbers, and Fourier features of a learner without a seed have directions of their own.
    """
    seed = learner.random_state
    is_number = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if type(learner) is OPAUC and learner.rank is None:
        return OpaucKind()
    if type(learner) is OMCSL and (seed is None or is_number):
        return OmcslKind()
    return FogdKind() if type(learner) is FOGD and is_number else None


def _stacked(part: str, like: Any, arrays: Arrays) -> Any:
    """A named tuple of the stacked arrays."""
    return like._replace(**{field: arrays[f"{part}.{field}"] for field in like._fields})


class StackedLearners(OwnLearners):
    """The arrays of all models, stacked; each key is, bit for bit, a learner of its own."""

    def __init__(self, common: Any, prior_rows: float | None, kind: Kind) -> None:
        super().__init__(common, prior_rows)
        self._kind = kind
        kind.prepare(self._blank)
        self._empty = self._arrays_of(self._blank)
        self._stacks = {name: np.zeros((0, *array.shape), array.dtype) for name, array in self._empty.items()}

    @property
    def _draws(self) -> bool:
        return self._blank._draws_a_row > 0

    def _arrays_of(self, member: Any, rows: int = 0) -> dict[str, npt.NDArray[Any]]:
        """What a key has of its own."""
        own = {name: array for name, array in member._arrays().items() if name not in self._kind.shared}
        if self._draws:
            own[_GENERATOR] = numbers_of_generator(member._uniforms.future()[1])
        return {name: np.array(own[name]) for name in sorted(own)} | {_ROWS: np.array(rows)}

    def _with_shared(self, stacks: Arrays) -> dict[str, npt.NDArray[Any]]:
        held = self._blank._arrays()
        return dict(stacks) | {name: held[name] for name in self._kind.shared}

    def check_alike(self, other: KeyedModels) -> None:
        """Refuse models of keys with other directions."""
        if self._kind.shared:
            mine, theirs = self._with_shared({}), cast(StackedLearners, other)._with_shared({})
            for name in mine:
                refuse_unless_equal(type(self._common).__name__, "random directions", mine[name], theirs[name])

    def make_room(self, n_slots: int) -> None:
        """Room for so many."""
        for name, stack in self._stacks.items():
            larger = np.zeros((n_slots, *stack.shape[1:]), stack.dtype)
            larger[: len(stack)] = stack
            self._stacks[name] = larger

    def begin(self, slots: Integers) -> None:
        """Empty models in these slots."""
        for name, array in self._empty.items():
            self._stacks[name][slots] = array
        if self._draws and self._blank.random_state is None:
            for slot in slots.tolist():
                state = generator_state(self._new_generator())
                self._stacks[_GENERATOR][slot] = numbers_of_generator(state)

    # ---------------------------------------------------------------- records

    def frozen(self, slots: Integers) -> list[bytes]:
        """These models as bytes: their arrays in the order of the names, then the number of rows."""
        return _cut([stack[slots] for stack in self._stacks.values()])

    def _packed(self, member: Any, rows: int) -> bytes:
        return _cut([array[None] for array in self._arrays_of(member, rows).values()])[0]

    @property
    def _record_size(self) -> int:
        return sum(array.nbytes for array in self._empty.values())

    def _read(self, records: Sequence[bytes]) -> dict[str, npt.NDArray[Any]]:
        """The arrays of records, with a leading axis."""
        size, start = self._record_size, 0
        # Files of old have a whole learner for each key.
        alike = [record if len(record) == size else self._packed(*super(StackedLearners, self)._unpacked(record))
                 for record in records]  # fmt: skip
        content = np.frombuffer(b"".join(alike), dtype=np.uint8).reshape(len(alike), size)
        found: dict[str, npt.NDArray[Any]] = {}
        for name, like in self._empty.items():
            stop = start + like.nbytes
            own = np.ascontiguousarray(content[:, start:stop]).view(like.dtype)
            found[name], start = own.reshape(len(alike), *like.shape), stop
            if like.dtype.kind == "f" and not np.isfinite(own).all():
                raise ModelFileError("The records of keys must hold finite weights. Got others: they are damaged.")
            if like.dtype.kind == "i" and name != _GENERATOR:
                in_range("records of keys", own, 0, 2**62)
        self._kind.check(found)
        return found

    def thaw(self, slots: Sequence[int], records: Sequence[bytes]) -> None:
        """Put models that were frozen into these slots."""
        for name, array in self._read(records).items():
            self._stacks[name][slots] = array

    def _unpacked(self, record: bytes) -> tuple[Any, int]:
        arrays = {name: array[0] for name, array in self._read([record]).items()}
        member, rows = copy.deepcopy(self._blank), int(arrays.pop(_ROWS))
        if self._draws:
            state = state_of_generator(arrays.pop(_GENERATOR))
            member._uniforms = UniformStream(member._uniforms.rng)
            member._uniforms.restore(np.zeros(0), state)
        member._memory = ScoreMemory()
        member._memory.seen = [rows, 0]
        member._restore(self._with_shared(arrays))
        return member, rows

    # ---------------------------------------------------------------- learning and scoring

    def learn(
        self, slots: Integers, rows: Rows, signs: Floats, weights: Floats, scores: Floats, start: int, stop: int
    ) -> int:
        """One compiled call for rows of mixed keys."""
        common, before = self._learned_by_all(rows, signs, weights, start, stop), np.empty_like(slots)
        count_rows(self._stacks[_ROWS], slots, before, start, stop)
        costs, arrays = self._blank._cost * weights, self._with_shared(self._stacks)
        loop, *arguments = self._kind.run(self._blank, arrays, slots, rows, signs, costs, scores)
        diverged: int = loop(*arguments, start, stop)
        if common is not None:
            scores[start:stop] = self._mixed(before[start:stop], scores[start:stop], common)
        return diverged

    def score(self, slots: Integers, fetched: Sequence[bytes], rows: Rows) -> Floats:
        """One compiled call for those in memory, and one for the others."""
        scores, n_rows = np.empty(slots.size), np.empty(slots.size, dtype=np.int64)
        hot, elsewhere = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        parts = [(hot, self._stacks, slots[hot])]
        if elsewhere.size:
            new = {name: array[None] for name, array in self._empty.items()}
            known = self._read(fetched)
            cold = {name: np.concatenate([array, known[name]]) for name, array in new.items()}
            parts.append((elsewhere, cold, NOT_THERE - slots[elsewhere]))
        for places, stacks, own_slots in parts:
            own = np.empty(places.size)
            some = rows if places.size == slots.size else some_rows(rows, places)
            self._kind.score(self._blank, self._with_shared(stacks), own_slots, some, own)
            scores[places], n_rows[places] = own, stacks[_ROWS][own_slots]
        return scores if self._prior_rows is None else self._mixed(n_rows, scores, self._common._score(rows))

    @property
    def nbytes(self) -> int:
        """What they hold."""
        return sum(stack.nbytes for stack in self._stacks.values())


def _cut(stacks: list[npt.NDArray[Any]]) -> list[bytes]:
    """The bytes of each entry of the leading axis, of one array after the other."""
    flat = [np.ascontiguousarray(stack).reshape(len(stack), math.prod(stack.shape[1:])) for stack in stacks]
    block = np.concatenate([part.view(np.uint8) for part in flat if part.shape[1]], axis=1)
    return [row.tobytes() for row in block]
