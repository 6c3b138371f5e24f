"""PrioritySample: rows of a stream in fixed memory, weighted so that sums over the stream stay right on average."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lopsided.constraints import Constraint, anything, check_parameters, number, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.sampling.priority import KEPT, SEEN, age, empty_sample, fill_counts, offer
from lopsided.estimators.base.merging import MergeError, drawn, refuse_unless_equal
from lopsided.estimators.base.randomness import UniformStream
from lopsided.estimators.rare.sample_union import merge_samples

_CONSTRAINTS: dict[str, Constraint] = {
    "size": whole(1),
    "fade": Constraint(number(above=0, most=1).accepts, "a number > 0 and <= 1"),
    "random_state": anything(),
}


class PrioritySample:
    """Keeps `size` rows of a stream, important ones rather than others, and how many rows each of them stands for.

    A row of weight m and importance w gets the priority q = m w / u, u uniform in (0, 1]. The largest priorities are
    kept; with tau the largest that was turned away, a kept row counts max(m, tau / w). Then the sum of count times
    anything over the kept rows estimates the sum over all rows without bias, whatever the importances are.

    Cost of a row: O(n_features + log(size)) if it is kept. Memory: 8 n_features + 40 bytes per row.

    Parameters
    ----------
    size : int >= 1
        How many rows are kept.
    fade : float > 0 and <= 1, default=1.0
        Weight of the past at each new row: counts are as of the last one. 1 keeps everything.
    random_state : int or numpy.random.Generator or None, default=None
        Seed of the uniforms, one per row.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import PrioritySample
    >>> amounts = np.arange(1.0, 1001.0)[:, None]
    >>> sample = PrioritySample(100, random_state=0)
    >>> sample.add(amounts, importance=amounts[:, 0]).n_rows
    100
    >>> round(sample.counts @ sample.rows[:, 0]), int(amounts.sum())
    (492664, 500500)

    References
    ----------
    N. Duffield, C. Lund, M. Thorup, "Priority sampling for estimation of arbitrary subset sums", JACM 54(6), 2007;
    G. Cormode, V. Shkapenyuk, D. Srivastava, B. Xu, "Forward decay", ICDE 2009 (the fade).
    """

    def __init__(self, size: int, *, fade: float = 1.0, random_state: Any = None) -> None:
        check_parameters("PrioritySample", {"size": size, "fade": fade, "random_state": random_state}, _CONSTRAINTS)
        self.size, self.fade = int(size), float(fade)
        self._uniforms = UniformStream(np.random.default_rng(random_state))
        self._sample = empty_sample(0, 0)
        self._empty_ones = 0

    def add(self, X: Any, *, weight: Any = 1.0, importance: Any = 1.0) -> Self:
        """Offer rows in the order given.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
        weight : float > 0 or a vector of them
            How much a row counts by itself.
        importance : float > 0 or a vector of them
            How much a row should be kept rather than others of the same weight.
        """
        X = np.ascontiguousarray(X, dtype=np.float64)
        if X.ndim != 2 or (self._sample.heap.size and X.shape[1] != self._sample.rows.shape[1]):
            width = self._sample.rows.shape[1] if self._sample.heap.size else "any number of"
            raise ValueError(f"The rows X of PrioritySample.add must be 2-d with {width} features. Got {X.shape}.")
        given = {}
        for name, value in (("weight", weight), ("importance", importance)):
            values = np.asarray(value, dtype=np.float64)
            if values.ndim > 1 or values.size not in (1, len(X)):
                raise ValueError(
                    f"The {name} of PrioritySample.add must be one number or one a row, {len(X)}. Got {values.size}."
                )
            values = np.broadcast_to(values, len(X))
            if not ((values > 0.0) & np.isfinite(values)).all():
                raise ValueError(f"The {name} of a row of PrioritySample.add must be > 0 and finite. Got {value!r}.")
            given[name] = values
        if not self._sample.heap.size:
            self._sample = empty_sample(self.size, X.shape[1])
        draws = self._uniforms.reserve(len(X))
        for x, m, w in zip(X, given["weight"].tolist(), given["importance"].tolist(), strict=True):
            if self.fade < 1.0:
                age(self._sample, self.fade)
            u = float(draws.uniforms[draws.position[0]])
            draws.position[0] += 1
            offer(self._sample, x, m, w, u, self.n_seen)
        return self

    @property
    def n_rows(self) -> int:
        """How many rows are kept."""
        return int(self._sample.tally[KEPT])

    @property
    def n_seen(self) -> int:
        """How many rows have been offered."""
        return int(self._sample.tally[SEEN])

    @property
    def rows(self) -> Floats:
        """The kept rows (a copy)."""
        return self._sample.rows[: self.n_rows].copy()

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """Which rows of their stream they are, counted from 0 (a copy)."""
        return self._sample.numbers[: self.n_rows].copy()

    @property
    def counts(self) -> Floats:
        """How many rows of weight 1, as of now, each of them stands for."""
        counts = np.empty(self.n_rows)
        fill_counts(self._sample, counts)
        return counts

    def empty_like(self) -> Self:
        """An empty sample of the same size for another part of the stream; it draws other uniforms than this one."""
        self._empty_ones += 1
        seed = (drawn(copy.deepcopy(self._uniforms), 4) * 2.0**32).astype(np.int64).tolist()
        return type(self)(self.size, fade=self.fade, random_state=[self._empty_ones, *seed])

    def merged_with(self, others: Iterable[PrioritySample], budget: Any = None) -> PrioritySample:
        """A new sample of all streams, from this one and others; all of them stay as they are.

        `budget` is its size; None: that of the largest of them. The order makes no difference.
        """
        samples = [copy.deepcopy(sample) for sample in (self, *others)]
        for sample in samples:
            if not isinstance(sample, PrioritySample):
                raise MergeError(f"The models to merge must be of one class. Got {type(sample).__name__} too.")
            refuse_unless_equal("PrioritySample", "'fade'", self.fade, sample.fade)
        offered = [sample for sample in samples if sample._sample.heap.size]
        for sample in offered[1:]:
            shapes = (offered[0]._sample.rows.shape[1], sample._sample.rows.shape[1])
            refuse_unless_equal("PrioritySample", "number of features", *shapes)
        offered.sort(key=lambda sample: (-sample.size, -sample.n_seen, sample._record()))
        first = offered[0] if offered else samples[0]
        size = first.size if budget is None else budget
        check_parameters("PrioritySample", {"size": size}, {"size": _CONSTRAINTS["size"]})
        if size == first.size and len(offered) < 2:
            return first
        merged = PrioritySample(size, fade=self.fade)
        merged._uniforms = first._uniforms
        for sample in offered:
            merged.merge(sample)
        return merged

    def _record(self) -> bytes:
        return b"".join(array.tobytes() for array in self._sample)

    def merge(self, other: PrioritySample) -> Self:
        """Take in what another sample of another stream has kept: the sample of both streams, both as of now.

        The largest priorities of both stay, and the largest that was turned away by either, or now, is remembered.
        The other one stays as it is. The order of merging makes no difference.
        """
        if not isinstance(other, PrioritySample):
            raise ValueError(f"The 'other' parameter of merge must be a PrioritySample. Got {type(other).__name__}.")
        if other is self:  # whose rows would count as those of a second stream with the same priorities
            raise ValueError("The 'other' parameter of merge must be another one. Got the sample itself.")
        if not other._sample.heap.size:
            return self
        theirs = other._sample
        if not self._sample.heap.size:
            self._sample = empty_sample(self.size, theirs.rows.shape[1])
        mine = self._sample
        if mine.rows.shape[1] != theirs.rows.shape[1]:
            raise ValueError(
                f"The other sample of PrioritySample.merge must have {mine.rows.shape[1]} features. "
                f"Got {theirs.rows.shape[1]}."
            )
        merge_samples(mine, theirs)
        return self
