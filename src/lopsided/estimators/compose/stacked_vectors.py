"""The linear learners of all keys as the rows of one array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

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
from lopsided.core.keyed.table import KeyTable
from lopsided.core.linear.weight_vector import STEPS
from lopsided.estimators.compose.keyed_models import KeyedModels, OneRow
from lopsided.estimators.linear.weight_vector import PointwiseLinearLearner
from lopsided.estimators.state.arrays import ModelFileError, in_range

_NO_PRIOR = -1.0


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

    def check_alike(self, other: KeyedModels) -> None:
        """They have nothing in common but their parameters."""

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
