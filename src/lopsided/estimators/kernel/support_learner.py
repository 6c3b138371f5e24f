"""What every learner that keeps examples has in common: points that make room for any row, and what they weigh."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.geometry.kernels import self_similarity
from lopsided.core.geometry.points import Points, Rows
from lopsided.estimators.base import validation
from lopsided.estimators.base.compiled_learner import CompiledLearner
from lopsided.estimators.kernel.parameters import chosen_kernel
from lopsided.estimators.state.points import numbers_of, vectors_at, wide_enough
from lopsided.kernels import Gaussian, Kernel, Normalized

_AT_A_TIME = 256  # vectors, so that the table of similarities stays small
_STANDS_IN = 2.5  # power of the similarity to its nearest neighbour, up to which that one stands in for a row


class SupportLearner(CompiledLearner):
    """A learner that keeps examples, in `_points`."""

    _points: Points
    _kernel: Any

    def _prepare_for(self, rows: Rows) -> None:
        points = wide_enough(self._points, rows)
        if points is not self._points:
            self._points = points
            self._unbind()

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        if self._points.lookup.size:
            self._prepare_for(self._one_row)
        return super()._learn_one(sign, weight)

    def _vectors_at(self, columns: npt.NDArray[np.int64]) -> Any:
        return vectors_at(self._points, columns)


class SupportVectorLearner(SupportLearner):
    """A learner whose score is made of the examples that it keeps, each of which is a row that was learned."""

    def _columns_in_use(self) -> Any:
        """The columns of the support vectors, in their order; a list of them where there are several kernels."""
        raise NotImplementedError

    @property
    def support_vectors_(self) -> Any:
        """The support vectors (a copy): positives, then negatives; a list of them where there are several kernels."""
        self._check_started()
        return _of_each(self._columns_in_use(), self._vectors_at)

    @property
    def support_numbers_(self) -> Any:
        """Which row each support vector is, counted from 1 over the rows learned (a copy); 0 where nobody knows."""
        self._check_started()
        return _of_each(self._columns_in_use(), lambda columns: numbers_of(self._points)[columns])

    def _kept_numbers(self) -> npt.NDArray[np.int64]:
        return numbers_of(self._points)

    def _own_parts(self, numbers: Integers, rows: Rows, signs: Floats) -> Floats | float:
        """The term of the row itself, if it is a support vector, as far as no other row would have stood in for it.

        Had the row not been learned, another one of its class would have been learned in its place, the more so the
        nearer it is: 1 - k^2.5 of the term is left, where k is the similarity to its nearest neighbour.
        """
        known, columns = self.support_numbers_, self._columns_in_use()
        if isinstance(columns, list) or not known.size:  # several kernels vote or are mixed
            return 0.0
        norms = self._points.squared_norms[columns]
        terms = self.support_weights_ * [self_similarity(self._kernel, norm) for norm in norms.tolist()]
        _, places, which = np.intersect1d(numbers, known, return_indices=True)
        vectors = validation.matrix_of(rows, self.n_features_in_).toarray() if rows.starts.size else rows.dense
        kernel = chosen_kernel(SimpleNamespace(**self._begun_with), self.n_features_in_)
        parts = np.zeros(numbers.size)
        parts[places] = terms[which] * (1.0 - nearest_similarity(kernel, vectors, signs, places) ** _STANDS_IN)
        return parts


def nearest_similarity(
    kernel: Kernel, vectors: Floats, signs: Floats, places: Integers, most_peers: int | None = None
) -> Floats:
    """How similar some of the vectors are to the nearest other one of their class: from 0 to 1, their lengths aside.

    With `most_peers` only every so-many-th vector of a class is looked at, so that there are at most so many.
    """
    nearest = np.zeros(places.size)
    for sign in np.unique(signs[places]):
        peers, mine = np.flatnonzero(signs == sign), np.flatnonzero(signs[places] == sign)
        if most_peers is not None:
            peers = peers[:: -(-peers.size // most_peers)]
        for start in range(0, mine.size, _AT_A_TIME):
            some = places[mine[start : start + _AT_A_TIME]]
            nearest[mine[start : start + _AT_A_TIME]] = _nearest_of(kernel, vectors, some, peers)
    return np.minimum(nearest, 1.0)


def similarities(kernel: Kernel, X: Floats, Z: Floats) -> Floats:
    """k(x_i, z_j), without a table of all differences."""
    return np.exp(-kernel.gamma * cdist(X, Z, "sqeuclidean")) if isinstance(kernel, Gaussian) else kernel(X, Z)


def _nearest_of(kernel: Kernel, vectors: Floats, some: Integers, peers: Integers) -> Floats:
    _, itself, column = np.intersect1d(some, peers, return_indices=True)
    if isinstance(kernel, Gaussian):  # an exponential a row is enough
        distances = cdist(vectors[some], vectors[peers], "sqeuclidean")
        distances[itself, column] = np.inf
        return np.exp(-kernel.gamma * distances.min(axis=1))
    table = np.abs(Normalized(kernel)(vectors[some], vectors[peers]))
    table[itself, column] = 0.0
    return np.asarray(table.max(axis=1))


def _of_each(columns: Any, find: Callable[[npt.NDArray[np.int64]], Any]) -> Any:
    return [find(own) for own in columns] if isinstance(columns, list) else find(columns)
