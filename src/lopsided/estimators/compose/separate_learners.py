"""One object for each key, for any learner; and what all models of keys that are learners of their own share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import safetensors.numpy
from sklearn.base import clone

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.geometry.points import Rows
from lopsided.core.keyed.table import NOT_THERE, KeyTable
from lopsided.estimators.base import validation
from lopsided.estimators.base.merging import drawn, in_fixed_order
from lopsided.estimators.compose.keyed_models import KeyedModels, OneRow
from lopsided.estimators.state import files
from lopsided.estimators.state.arrays import ModelFileError, in_range

_META = "model"


class OwnLearners:
    """Each key has a learner of its own. With a prior its scores are mixed with those of the learner of all rows."""

    def __init__(self, common: Any, prior_rows: float | None) -> None:
        self._common, self._prior_rows = common, prior_rows
        self._blank = self._made()

    def _made(self) -> Any:
        """A learner that has learned nothing."""
        member = clone(self._common)
        member.n_features_in_ = self._common.n_features_in_
        member._begin(self._common._labels)
        if member.random_state is None:
            member._uniforms.rng = self._new_generator()
        return self._joined(member)

    def _new_generator(self) -> np.random.Generator:
        """For a key whose learner has no seed: its draws follow from those of all, which are kept in files."""
        return np.random.default_rng((drawn(self._common._uniforms, 4) * 2.0**32).astype(np.int64))

    def _joined(self, member: Any) -> Any:
        member._memory = self._common._memory  # scores are remembered once, for all
        member._leave_rows_to_another()
        if self._common._scores_every_row:
            member._score_every_row()
        return member

    def _packed(self, member: Any, rows: int) -> bytes:
        """A learner that has learned so many rows, as a record."""
        raise NotImplementedError

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

    def merged(self, records: Sequence[Sequence[bytes]]) -> list[bytes]:
        """By the merge of the learner."""
        result = []
        for those in records:
            unpacked = [self._unpacked(record) for record in those]
            members = in_fixed_order([member for member, _ in unpacked])
            result.append(self._packed(members[0]._merged(members), sum(rows for _, rows in unpacked)))
        return result

    def _learned_by_all(self, rows: Rows, signs: Floats, weights: Floats, start: int, stop: int) -> Floats | None:
        """Let the learner of all rows learn the rows start..stop-1; returns their scores, None without a prior."""
        if self._prior_rows is None:
            return None
        if stop - start < signs.size:
            rows = some_rows(rows, np.arange(start, stop))
        every, part = self._common._scores_every_row, slice(start, stop)
        scores: Floats = self._common._learn(rows, signs[part], weights[part], every_score=every)
        return scores

    def _mixed(self, n: Integers | int, own: Floats, common: Floats) -> Floats:
        """n / (n + m) of the key's own score, the rest of the common one; a new key has nothing of its own."""
        n = np.broadcast_to(np.asarray(n, dtype=np.float64), common.shape)
        share = np.divide(n, n + (self._prior_rows or 0.0), out=np.zeros(common.shape), where=n > 0)
        return np.where(n > 0, share * own + (1.0 - share) * common, common)

    def check_alike(self, other: KeyedModels) -> None:
        """Each learner says for itself whether it can be merged with another."""

    def bound_to_one(self, table: KeyTable, one: OneRow) -> None:
        """None: each key has calls of its own."""


class SeparateLearners(OwnLearners):
    """Any learner: an object for each key."""

    def __init__(self, common: Any, prior_rows: float | None) -> None:
        super().__init__(common, prior_rows)
        self._members: list[Any] = []
        self._rows: Integers = np.zeros(0, dtype=np.int64)  # learned by each

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
        return [self._packed(self._members[slot], self._rows.item(slot)) for slot in slots.tolist()]

    def _packed(self, member: Any, rows: int) -> bytes:
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

    def learn(
        self, slots: Integers, rows: Rows, signs: Floats, weights: Floats, scores: Floats, start: int, stop: int
    ) -> int:
        """A call for each key among the rows."""
        every, diverged = self._common._scores_every_row, 0
        common = self._learned_by_all(rows, signs, weights, start, stop)
        for slot, places in _by_slot(slots[start:stop]):
            places = places + start
            member, before = self._members[slot], self._rows.item(slot)
            already = member.n_diverged_
            own = member._learn(some_rows(rows, places), signs[places], weights[places], every_score=every)
            diverged += member.n_diverged_ - already
            self._rows[slot] = before + places.size
            scores[places] = own
            if common is not None:
                scores[places] = self._mixed(before + np.arange(places.size), own, common[places - start])
        return diverged

    def score(self, slots: Integers, fetched: Sequence[bytes], rows: Rows) -> Floats:
        """A call for each key among the rows."""
        scores = np.empty(slots.size)
        for slot, places in _by_slot(slots):
            if slot <= NOT_THERE - 1:
                member, n = self._thawed(fetched[NOT_THERE - 1 - slot])
            else:
                member, n = (self._blank, 0) if slot == NOT_THERE else (self._members[slot], self._rows.item(slot))
            some = some_rows(rows, places)
            own = member._score(some)
            scores[places] = own if self._prior_rows is None else self._mixed(n, own, self._common._score(some))
        return scores

    @property
    def nbytes(self) -> int:
        """What they hold."""
        return sum(member.nbytes_ for member in self._members if member is not None) + self._rows.nbytes


def _by_slot(slots: Integers) -> Iterator[tuple[int, Integers]]:
    """Each slot, and the places at which it stands, in order."""
    order = np.argsort(slots, kind="stable")
    found, firsts = np.unique(slots[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, firsts[1:]), strict=True)


def some_rows(rows: Rows, places: Integers) -> Rows:
    """The rows in these places."""
    if not rows.starts.size:
        return validation.as_rows(rows.dense[places])
    width = int(rows.features.max(initial=0)) + 1
    return validation.as_rows(validation.matrix_of(rows, width)[places])
