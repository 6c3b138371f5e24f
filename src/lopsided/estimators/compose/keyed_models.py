"""The models of all keys by slot: stacked in one array where there are compiled loops for that, else one object each.

Both kinds freeze a model into bytes and make it again from them, bit for bit: for the disk, and for model files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import safetensors.numpy
from sklearn.base import clone

from lopsided.core.arithmetic.compiled import Floats, Integers, bound
from lopsided.core.geometry.points import Rows
from lopsided.core.keyed.linear import (
    COUNTS,
    Common,
    Records,
    keyed_linear_one,
    keyed_linear_run,
    keyed_linear_score_one,
    keyed_linear_score_rows,
    records_of,
)
from lopsided.core.keyed.table import NOT_THERE, KeyTable
from lopsided.core.linear.weight_vector import STEPS
from lopsided.estimators.base import validation
from lopsided.estimators.base.merging import drawn, in_fixed_order
from lopsided.estimators.linear.weight_vector import PointwiseLinearLearner
from lopsided.estimators.state import files
from lopsided.estimators.state.arrays import ModelFileError, in_range

_META = "model"
_NO_PRIOR = -1.0


class OneRow(NamedTuple):
    """Where a single row goes in and out of compiled code: its code and features, label, weight and score."""

    codes: Integers
    rows: Rows
    signs: Floats
    weights: Floats
    scores: Floats


class KeyedModels(Protocol):
    """What a `KeyedLearner` needs of the models of its keys; `slots` say which, row by row."""

    def make_room(self, n_slots: int) -> None:
        """Room for so many."""

    def begin(self, slots: Integers) -> None:
        """Empty models in these slots."""

    def frozen(self, slots: Integers) -> list[bytes]:
        """These models as bytes."""

    def thaw(self, slots: Sequence[int], records: Sequence[bytes]) -> None:
        """Put models that were frozen into these slots, after a look at whether they fit."""

    def merged(self, records: Sequence[Sequence[bytes]]) -> list[bytes]:
        """One record for each key out of several that were frozen elsewhere."""

    def learn(
        self, slots: Integers, rows: Rows, signs: Floats, weights: Floats, scores: Floats, start: int, stop: int
    ) -> int:
        """Learn the rows start..stop-1 and write the score of each before it; returns how many steps diverged."""

    def score(self, slots: Integers, fetched: Sequence[bytes], rows: Rows) -> Floats:
        """Scores; -1 is a new key, and -2, -3, ... are those that were fetched from the disk."""

    def bound_to_one(self, table: KeyTable, one: OneRow) -> tuple[Callable[[], Any], Callable[[], Any]] | None:
        """Calls that learn and score one row whose key is in memory; None where there are none.

        The first returns how many steps diverged, the second whether the key is there (if not, the score is that of a
        new key); both do nothing more for a key that is not. They hold until `make_room`.
        """

    @property
    def nbytes(self) -> int:
        """What they hold."""


def models_for(common: Any, prior_rows: float | None) -> KeyedModels:
    """The models of keys for this learner, which has begun: that of all rows, or without a prior the pattern of all."""
    if isinstance(common, PointwiseLinearLearner):
        return StackedVectors(common, prior_rows)
    return SeparateLearners(common, prior_rows)


class StackedVectors:
    """Linear learners: a record of 8 (features + 7) bytes for each key."""

    def __init__(self, common: PointwiseLinearLearner, prior_rows: float | None) -> None:
        self._common, self._prior_rows = common, _NO_PRIOR if prior_rows is None else float(prior_rows)
        self._numbers: Floats = np.zeros((0, common._model.weights.size + COUNTS))

    @property
    def _records(self) -> Records:
        return records_of(self._numbers)  # made anew: copies of a model keep one memory for both

    @property
    def _common_part(self) -> Common:
        return Common(self._common._model, self._prior_rows)

    def make_room(self, n_slots: int) -> None:
        """Room for so many."""
        larger = np.zeros((n_slots, self._numbers.shape[1]))
        larger[: self._numbers.shape[0]] = self._numbers
        self._numbers = larger

    def begin(self, slots: Integers) -> None:
        """Empty models in these slots."""
        self._numbers[slots] = 0.0

    def frozen(self, slots: Integers) -> list[bytes]:
        """These models as bytes."""
        return self._cut(self._numbers[slots])

    def _cut(self, numbers: Floats) -> list[bytes]:
        block, size = numbers.tobytes(), 8 * self._numbers.shape[1]
        return [block[start : start + size] for start in range(0, len(block), size)]

    def thaw(self, slots: Sequence[int], records: Sequence[bytes]) -> None:
        """Put models that were frozen into these slots."""
        self._numbers[slots] = self._read(records)

    def _read(self, records: Sequence[bytes]) -> Floats:
        width = self._numbers.shape[1]
        if any(len(record) != 8 * width for record in records):
            raise ModelFileError(f"The records of keys must have {8 * width} bytes each. Got others: they are damaged.")
        numbers = np.frombuffer(b"".join(records), dtype=np.float64).reshape(len(records), width)
        if not np.isfinite(numbers[:, :-COUNTS]).all():
            raise ModelFileError("The records of keys must hold finite weights. Got others: they are damaged.")
        in_range("records of keys", numbers.view(np.int64)[:, -COUNTS:], 0, 2**62)
        return numbers

    def merged(self, records: Sequence[Sequence[bytes]]) -> list[bytes]:
        """Weights are averaged, each model counting by its share of the key's rows; counts add up."""
        several = np.array([len(those) for those in records], dtype=np.int64)
        numbers = self._read([record for those in records for record in those])
        counts = numbers.view(np.int64)[:, -COUNTS:]
        firsts = np.cumsum(several) - several
        total = np.zeros((several.size, numbers.shape[1]))
        total.view(np.int64)[:, -COUNTS:] = np.add.reduceat(counts, firsts) if several.size else 0
        seen = np.maximum(total.view(np.int64)[:, -COUNTS + STEPS], 1)
        for place in range(several.max(initial=0)):
            those = np.flatnonzero(several > place)
            held = firsts[those] + place
            shares = counts[held, STEPS] / seen[those]
            total[those, :-COUNTS] += shares[:, None] * numbers[held, :-COUNTS]
        return self._cut(total)

    def learn(
        self, slots: Integers, rows: Rows, signs: Floats, weights: Floats, scores: Floats, start: int, stop: int
    ) -> int:
        """One compiled call for rows of mixed keys."""
        plan, common = self._common._plan, self._common_part
        return keyed_linear_run(self._records, common, plan, slots, rows, signs, weights, scores, start, stop)

    def score(self, slots: Integers, fetched: Sequence[bytes], rows: Rows) -> Floats:
        """One compiled call."""
        cold = records_of(np.zeros((len(fetched) + 1, self._numbers.shape[1])))
        if fetched:
            cold.numbers[:-1] = self._read(fetched)[::-1]
        scores = np.empty(slots.size)
        keyed_linear_score_rows(self._records, cold, self._common_part, self._common._plan, slots, rows, scores)
        return scores

    def bound_to_one(self, table: KeyTable, one: OneRow) -> tuple[Callable[[], Any], Callable[[], Any]]:
        """The same loops over one row."""
        records, common, plan, slots = self._records, self._common_part, self._common._plan, np.zeros(1, dtype=np.int64)
        blank = records_of(np.zeros((1, self._numbers.shape[1])))
        learn = bound(
            keyed_linear_one,
            table,
            records,
            common,
            plan,
            one.codes,
            slots,
            one.rows,
            one.signs,
            one.weights,
            one.scores,
        )
        score = bound(
            keyed_linear_score_one, table, records, blank, common, plan, one.codes, slots, one.rows, one.scores
        )
        return learn, score

    @property
    def nbytes(self) -> int:
        """What they hold."""
        return self._numbers.nbytes


class SeparateLearners:
    """Any learner: an object for each key. With a prior its scores are mixed with those of the learner of all rows."""

    def __init__(self, common: Any, prior_rows: float | None) -> None:
        self._common, self._prior_rows = common, prior_rows
        self._members: list[Any] = []
        self._rows: Integers = np.zeros(0, dtype=np.int64)  # learned by each
        self._blank = self._made()

    def _made(self) -> Any:
        """A learner that has learned nothing."""
        member = clone(self._common)
        member.n_features_in_ = self._common.n_features_in_
        member._begin(self._common._labels)
        if member.random_state is None:  # its draws follow from those of all, which are kept in files
            member._uniforms.rng = np.random.default_rng((drawn(self._common._uniforms, 4) * 2.0**32).astype(np.int64))
        return self._joined(member)

    def _joined(self, member: Any) -> Any:
        member._memory = self._common._memory  # scores are remembered once, for all
        member._leave_rows_to_another()
        if self._common._scores_every_row:
            member._score_every_row()
        return member

    def make_room(self, n_slots: int) -> None:
        """Room for so many."""
        more = n_slots - len(self._members)
        self._members += [None] * more
        self._rows = np.append(self._rows, np.zeros(more, dtype=np.int64))

    def begin(self, slots: Integers) -> None:
        """Empty models in these slots."""
        for slot in slots.tolist():
            self._members[slot] = self._made()
        self._rows[slots] = 0

    def frozen(self, slots: Integers) -> list[bytes]:
        """These models as bytes."""
        return [self._frozen(self._members[slot], self._rows.item(slot)) for slot in slots.tolist()]

    def _frozen(self, member: Any, rows: int) -> bytes:
        arrays, description = files.packed(member)
        own = {name: array for name, array in arrays.items() if not name.startswith("memory.")}
        own["memory.seen"] = np.array([rows, 0])  # the rest is common to all keys
        words = json.dumps({"rows": rows, "description": description}, sort_keys=True)
        return safetensors.numpy.save(own, metadata={_META: words})

    def thaw(self, slots: Sequence[int], records: Sequence[bytes]) -> None:
        """Put models that were frozen into these slots."""
        for slot, record in zip(slots, records, strict=True):
            self._members[slot], self._rows[slot] = self._thawed(record)

    def _thawed(self, record: bytes) -> tuple[Any, int]:
        member, rows = self._unpacked(record)
        return self._joined(member), rows

    def merged(self, records: Sequence[Sequence[bytes]]) -> list[bytes]:
        """By the merge of the learner."""
        result = []
        for those in records:
            unpacked = [self._unpacked(record) for record in those]
            members = in_fixed_order([member for member, _ in unpacked])
            result.append(self._frozen(members[0]._merged(members), sum(rows for _, rows in unpacked)))
        return result

    def _unpacked(self, record: bytes) -> tuple[Any, int]:
        """A learner of its own, and the rows that it has learned."""
        try:
            length = int.from_bytes(record[:8], "little")
            words = json.loads(json.loads(record[8 : 8 + length])["__metadata__"][_META])
            arrays = safetensors.numpy.load(record)
            rows, description = int(words["rows"]), words["description"]
        except (ValueError, KeyError, TypeError, safetensors.SafetensorError):
            raise ModelFileError("The record of a key must be a learner. Got something else: it is damaged.") from None
        blank = {name: array for name, array in files.packed(self._blank)[0].items() if name.startswith("memory.")}
        member = files.unpacked(description, blank | arrays)
        if str(member) != str(self._blank) or member.n_features_in_ != self._common.n_features_in_:
            raise ModelFileError(f"The record of a key must be {self._blank}. Got {member}: it is damaged.")
        in_range("rows of a key", rows, 0, 2**62)
        return member, rows

    def learn(
        self, slots: Integers, rows: Rows, signs: Floats, weights: Floats, scores: Floats, start: int, stop: int
    ) -> int:
        """A call for each key among the rows."""
        every, diverged = self._common._scores_every_row, 0
        span = np.arange(start, stop)
        if self._prior_rows is not None:
            common = np.empty(signs.size)
            common[span] = self._common._learn(_some(rows, span), signs[span], weights[span], every_score=every)
        for slot, places in _by_slot(slots[span]):
            places = places + start
            member, before = self._members[slot], self._rows.item(slot)
            already = member.n_diverged_
            own = member._learn(_some(rows, places), signs[places], weights[places], every_score=every)
            diverged += member.n_diverged_ - already
            self._rows[slot] = before + places.size
            scores[places] = own
            if self._prior_rows is not None:
                scores[places] = self._mixed(before + np.arange(places.size), own, common[places])
        return diverged

    def _mixed(self, n: Integers | int, own: Floats, common: Floats) -> Floats:
        """n / (n + m) of the key's own score, the rest of the common one; a new key has nothing of its own."""
        n = np.broadcast_to(np.asarray(n, dtype=np.float64), common.shape)
        share = np.divide(n, n + (self._prior_rows or 0.0), out=np.zeros(common.shape), where=n > 0)
        return np.where(n > 0, share * own + (1.0 - share) * common, common)

    def score(self, slots: Integers, fetched: Sequence[bytes], rows: Rows) -> Floats:
        """A call for each key among the rows."""
        scores = np.empty(slots.size)
        for slot, places in _by_slot(slots):
            if slot <= NOT_THERE - 1:
                member, n = self._thawed(fetched[NOT_THERE - 1 - slot])
            else:
                member, n = (self._blank, 0) if slot == NOT_THERE else (self._members[slot], self._rows.item(slot))
            some = _some(rows, places)
            own = member._score(some)
            scores[places] = own if self._prior_rows is None else self._mixed(n, own, self._common._score(some))
        return scores

    def bound_to_one(self, table: KeyTable, one: OneRow) -> None:
        """None: each key has calls of its own."""

    @property
    def nbytes(self) -> int:
        """What they hold."""
        return sum(member.nbytes_ for member in self._members if member is not None) + self._rows.nbytes


def _by_slot(slots: Integers) -> Iterator[tuple[int, Integers]]:
    """Each slot, and the places at which it stands, in order."""
    order = np.argsort(slots, kind="stable")
    found, firsts = np.unique(slots[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, firsts[1:]), strict=True)


def _some(rows: Rows, places: Integers) -> Rows:
    if not rows.starts.size:
        return validation.as_rows(rows.dense[places])
    width = int(rows.features.max(initial=0)) + 1
    return validation.as_rows(validation.matrix_of(rows, width)[places])
