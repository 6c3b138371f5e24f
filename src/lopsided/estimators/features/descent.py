"""Gradient descent in features that stand for a kernel: FOGD draws them, NOGD takes them from its first vectors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lopsided.constraints import Constraint, choice, number, whole
from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.features.fourier import DRAWN, WAVES_DIVERGED, empty_wave_model, fogd_run, fogd_score_rows
from lopsided.core.features.nystrom import (
    MAPPED,
    NYSTROM_DIVERGED,
    USED,
    empty_nystrom_model,
    fill_gram,
    nogd_run,
    nogd_score_rows,
)
from lopsided.core.geometry.points import Rows, empty_points
from lopsided.core.pointwise.online_kernel import empty_row_scratch
from lopsided.estimators.base import validation
from lopsided.estimators.base.blas import one_blas_thread
from lopsided.estimators.base.compiled_learner import CompiledLearner
from lopsided.estimators.base.merging import averaged
from lopsided.estimators.features.directions import check_directions
from lopsided.estimators.features.merging_maps import MergesMaps
from lopsided.estimators.kernel.parameters import ONE_KERNEL, chosen_kernel
from lopsided.estimators.kernel.support_learner import nearest_similarity
from lopsided.estimators.state.arrays import in_range, named_arrays, refilled
from lopsided.estimators.state.points import points_arrays, restored_points
from lopsided.kernels import Gaussian

_PEERS = 512  # rows of a class among which one is looked for that stands in for another
_SMALLEST_EIGENVALUE = 1e-10  # of the largest; what is smaller is rounding, and its feature is left at 0


class FOGD(CompiledLearner):
    """Learns a Gaussian-kernel classifier as a linear one of random Fourier features; their number bounds it.

    For long streams on which `KernelOGD` would grow: every example costs the same, whatever came before, and no
    example is kept. The kernel is met on average only, the better the more components there are.

    With directions w_i from N(0, 2 gamma I), i = 1 ... H = n_components // 2::

        z(x) = sqrt(1/H) (cos w_1.x ... cos w_H.x, sin w_1.x ... sin w_H.x),    f(x) = u.z(x)
        if y f(x) < 1:  u += eta y z(x)

    Cost of one example: O(n_features n_components), or O(non-zeros n_components) for CSR. Memory: 4 n_components
    (n_features + 2) bytes.

    Parameters
    ----------
    n_components : int >= 1, default=400
        Length of z, the number of random features. An odd number is rounded down, and 1 counts as 2.
    gamma : float > 0 or "auto", default=1.0
        Inverse width of the Gaussian kernel exp(-gamma ||x - z||^2): the larger, the narrower. "auto" is 1 /
        n_features.
    learning_rate : float > 0, default=0.1
        Step size eta. `sample_weight` multiplies it.
    threshold : float or {"zero", "f1", "gmean", "rate:SHARE"}, default="zero"
        The score above which `predict` answers with the positive label. "zero" is 0, the published rule. "f1" and
        "gmean" maximise that measure over the latest progressive scores. "rate:0.01" flags that share of the
        stream, an alert budget.
    pos_label : label or None, default=None
        The positive label, the one of the rare class. None takes the larger of the two sorted labels. If it is the
        smaller one, scikit-learn's own scorers, which assume the larger, read the score reversed.
    shuffle : bool, default=False
        Whether `fit` shuffles the rows before its single pass. `partial_fit` keeps the order given.
    random_state : int or numpy.random.Generator or None, default=None
        Seed of the directions, `rng.standard_normal((n_features, H)) * sqrt(2 gamma)`, drawn at the first row. The
        same int gives the same model; None takes fresh entropy.

    Examples
    --------
    >>> from lopsided import FOGD
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = FOGD(gamma=20.0, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.937

    References
    ----------
    J. Lu, S. C. H. Hoi, J. Wang, P. Zhao, Z.-Y. Liu, "Large Scale Online Kernel Learning", JMLR 17, 2016;
    A. Rahimi, B. Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007.
    """

    _takes_small_steps = True
    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": whole(1),
        "gamma": number(above=0) | choice("auto"),
        "learning_rate": number(above=0),
    }

    def __init__(
        self,
        n_components: int = 400,
        gamma: float | str = 1.0,
        learning_rate: float = 0.1,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.learning_rate = learning_rate
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        half = max(1, int(self.n_components) // 2)
        self._rate = float(self.learning_rate)
        self._bandwidth = 1.0 / n_features if self.gamma == "auto" else float(self.gamma)
        self._model = empty_wave_model(n_features, half)
        self._angles, self._z = np.zeros(half), np.zeros(2 * half)

    def _prepare_for(self, rows: Rows) -> None:
        # Not earlier: `fit` may shuffle before, and a pool may hand over another generator.
        if not self._model.tally[DRAWN]:
            normals = self._uniforms.rng.standard_normal(self._model.directions.shape)
            self._model.directions[:] = np.sqrt(2.0 * self._bandwidth) * normals
            self._model.tally[DRAWN] = 1

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        self._prepare_for(self._one_row)
        return super()._learn_one(sign, weight)

    _run = staticmethod(fogd_run)
    _score_rows = staticmethod(fogd_score_rows)

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        return self._model, self._rate, rows, signs, costs, self._angles, self._z, scores

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        return self._model, rows, self._angles, self._z, scores

    def _own_parts(self, numbers: Integers, rows: Rows, signs: Floats) -> Floats | float:
        """The step that a row has made at its own place, as far as no other row of its class would have made it.

        A row has made a step if it would make one now, had it not; see `SupportLearner` for what stands in for it.
        """
        vectors = validation.matrix_of(rows, self.n_features_in_).toarray() if rows.starts.size else rows.dense
        steps = self._rate * signs  # times z(x).z(x), which is 1
        stepped = np.flatnonzero(signs * (self._score(rows) - steps) < 1.0)
        kernel, parts = Gaussian(self._bandwidth), np.zeros(signs.size)
        nearest = nearest_similarity(kernel, vectors, signs, stepped, most_peers=_PEERS)
        parts[stepped] = steps[stepped] * (1.0 - nearest**2)
        return parts

    def _take_after(self, original: Any) -> None:
        self._model.directions[:] = original._model.directions
        self._model.tally[DRAWN] = original._model.tally[DRAWN]

    def _merge(self, models: list[Any], shares: Floats) -> None:
        check_directions(models, [model._model.directions for model in models])
        self._model.weights[:] = averaged([model._model.weights for model in models], shares)
        self._model.tally[:] = sum(model._model.tally for model in models)
        self._model.tally[DRAWN] = 1
        self._unbind()

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return named_arrays(model=self._model)

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        self._model = refilled(arrays, "model", self._model)
        in_range("model.tally", self._model.tally, 0, 2**62)
        self._unbind()

    @property
    def n_diverged_(self) -> int:
        """How many steps were left out because they would have made a weight infinite."""
        return self._model.tally.item(WAVES_DIVERGED)

    @property
    def directions_(self) -> Floats:
        """The directions w_i, a column each (a copy)."""
        self._check_started()
        return self._model.directions.copy()

    @property
    def coef_(self) -> Floats:
        """u, (1, n_components): the weights of all cosines, then of all sines (a copy)."""
        self._check_started()
        return self._model.weights[None].copy()


class NOGD(MergesMaps):
    """Learns a kernel classifier of any kernel in the features that its first vectors span; their number bounds it.

    Where the examples lie on few directions, features made from them say more than random ones, and any kernel will
    do. What the first vectors do not span it never learns: for streams that drift take `FOGD`.

    Until `budget` vectors are stored it is `KernelOGD`. Then, once, with K = V L V' their kernel matrix and a their
    weights, for the `rank` largest eigenvalues::

        z(x) = L^(-1/2) V' k(x),    u = L^(1/2) V' a,    f(x) = u.z(x)
        and from then on, if y f(x) < 1:  u += eta y z(x)

    With rank = budget nothing changes at that moment. Eigenvalues below 1e-10 of the largest are taken for rounding:
    their features are 0.

    Cost of one example: O(budget (n_features + rank)). Memory: 8 budget (n_features + rank) bytes.

    Parameters
    ----------
    budget : int >= 1, default=100
        How many vectors are stored before the map is made, B.
    rank : int >= 1 and <= budget, default=50
        Number of features of z, r.
    learning_rate : float > 0, default=0.1
        Step size eta. `sample_weight` multiplies it.
    kernel : Kernel or {"rbf", "poly", "linear"}, default="rbf"
        How similar two examples are: the Gaussian kernel, the polynomial one, the scalar product x.z, or a kernel
        object, which brings its own parameters.
    gamma : float > 0 or "auto", default=1.0
        Inverse width of the Gaussian kernel exp(-gamma ||x - z||^2): the larger, the narrower. "auto" is 1 /
        n_features. Only for kernel="rbf".
    degree : int >= 1, default=3
        Degree of the polynomial kernel (x.z + coef0)^degree. Only for kernel="poly".
    coef0 : float >= 0, default=0.0
        Constant of the polynomial kernel (x.z + coef0)^degree. Only for kernel="poly".
    threshold : float or {"zero", "f1", "gmean", "rate:SHARE"}, default="zero"
        The score above which `predict` answers with the positive label. "zero" is 0, the published rule. "f1" and
        "gmean" maximise that measure over the latest progressive scores. "rate:0.01" flags that share of the
        stream, an alert budget.
    pos_label : label or None, default=None
        The positive label, the one of the rare class. None takes the larger of the two sorted labels. If it is the
        smaller one, scikit-learn's own scorers, which assume the larger, read the score reversed.
    shuffle : bool, default=False
        Whether `fit` shuffles the rows before its single pass. `partial_fit` keeps the order given.
    random_state : int or numpy.random.Generator or None, default=None
        Only used by `shuffle`: learning itself draws nothing.

    Examples
    --------
    >>> from lopsided import NOGD
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = NOGD(gamma=20.0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.943
    >>> learner.n_support_
    100

    References
    ----------
    J. Lu, S. C. H. Hoi, J. Wang, P. Zhao, Z.-Y. Liu, "Large Scale Online Kernel Learning", JMLR 17, 2016.
    """

    _takes_small_steps = True
    _constraints: ClassVar[dict[str, Constraint]] = ONE_KERNEL | {
        "budget": whole(1),
        "rank": whole(1),
        "learning_rate": number(above=0),
    }

    def __init__(
        self,
        budget: int = 100,
        rank: int = 50,
        learning_rate: float = 0.1,
        kernel: Any = "rbf",
        gamma: float | str = 1.0,
        degree: int = 3,
        coef0: float = 0.0,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.rank = rank
        self.learning_rate = learning_rate
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        budget = int(self.budget)
        rank = min(int(self.rank), budget)
        self._rate = float(self.learning_rate)
        self._kernel = chosen_kernel(self, n_features).compiled()
        self._points = empty_points(n_features, budget)
        self._model = empty_nystrom_model(budget, rank)
        self._work, self._z = empty_row_scratch(budget, n_features), np.zeros(rank)

    _run = staticmethod(nogd_run)
    _score_rows = staticmethod(nogd_score_rows)

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        model = (self._model, self._points, self._kernel, self._rate)
        return (*model, rows, signs, costs, self._work, self._z, scores)

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        return self._model, self._points, self._kernel, rows, self._work, self._z, scores

    def _run_span(self, rows: Rows, arguments: tuple[Any, ...], start: int, stop: int) -> int:
        learned = super()._run_span(rows, arguments, start, stop)
        self._map_if_full()
        return learned if learned == stop else super()._run_span(rows, arguments, learned, stop)

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        score = super()._learn_one(sign, weight)
        self._map_if_full()
        return score

    @property
    def _pairs_to_compile(self) -> int:
        return (int(self.budget) + 1) // 2  # the map is made when the budget is full

    def _map_if_full(self) -> None:
        """Make the map from k(x) to z(x), once; in place, since calls may be bound to these arrays."""
        model = self._model
        if model.tally[MAPPED] or model.tally[USED] < model.signs.size:
            return
        gram = np.empty((model.signs.size, model.signs.size))
        fill_gram(self._points, self._kernel, self._work, gram)
        with one_blas_thread:
            values, vectors = np.linalg.eigh(gram)
        values, vectors = values[::-1][: self._z.size], vectors[:, ::-1][:, : self._z.size]
        sound = values > max(_SMALLEST_EIGENVALUE * values[0], 0.0)
        roots = np.sqrt(np.where(sound, values, 1.0))
        model.mapping[:] = np.where(sound, vectors / roots, 0.0).T
        model.weights[:] = np.where(sound, roots * (vectors.T @ model.vector_weights), 0.0)
        model.tally[MAPPED] = 1

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return named_arrays(model=self._model) | points_arrays(self._points)

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        self._model = refilled(arrays, "model", self._model)
        in_range("model.tally", self._model.tally, 0, 2**62)
        in_range("model.tally", self._model.tally[USED], 0, int(self.budget))
        in_range("model.tally", self._model.tally[MAPPED], 0, 1)
        self._points = restored_points(arrays, self.n_features_in_, int(self.budget), self.n_seen_)
        self._unbind()

    @property
    def n_diverged_(self) -> int:
        """How many steps were left out because they would have made a weight infinite."""
        return self._model.tally.item(NYSTROM_DIVERGED)

    def _by_class(self) -> npt.NDArray[np.int64]:
        signs = self._model.signs[: self._model.tally[USED]]
        return np.concatenate([np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)])

    @property
    def n_support_(self) -> int:
        """How many vectors there are."""
        self._check_started()
        return self._model.tally.item(USED)

    def _columns_in_use(self) -> npt.NDArray[np.int64]:
        return self._by_class()

    @property
    def support_weights_(self) -> Floats:
        """Their weights in the decision function (a copy): a, later V L^(-1/2) u."""
        self._check_started()
        model = self._model
        weights = model.weights @ model.mapping if model.tally[MAPPED] else model.vector_weights
        return np.asarray(weights[self._by_class()])

    @property
    def support_signs_(self) -> Floats:
        """+1 for a vector of the rare class, -1 for one of the other (a copy); a weight may have either sign."""
        self._check_started()
        return self._model.signs[self._by_class()]
