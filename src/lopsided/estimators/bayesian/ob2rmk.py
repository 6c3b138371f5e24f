"""OB2RMK: the Bayesian ranker over many kernels, online, with two buffers."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.bayes.batch import fitted
from lopsided.bayes.kernel_pool import KernelPool
from lopsided.bayes.online import Meeting, Posterior, begun, met, refitted, scores_of, stepped
from lopsided.bayes.uncertainty import REMEMBERED, RankMemory, Ruler, score_and_spread, scores_and_spreads
from lopsided.constraints import Constraint, check_parameters, choice, nothing, number, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.bayesian.step import FROM_LABEL, FROM_SCORES, StepPlan
from lopsided.core.geometry.points import Rows
from lopsided.estimators.base.blas import one_blas_thread
from lopsided.estimators.base.validation import dense_rows
from lopsided.estimators.bayesian.b2rmk import BATCH
from lopsided.estimators.bayesian.merging import UnitesBuffers
from lopsided.estimators.kernel.parameters import chosen_pool
from lopsided.estimators.state.arrays import ModelFileError, in_range, taken

# How a step starts, and (shape, rate) of the priors of v and c.
_STARTS = {"scores": (FROM_SCORES, 1.0, 1.0), "label": (FROM_LABEL, 10.0, 1.0)}
_REFIT_SWEEPS, _REFIT_TOL = 40, 1e-4


class Limits(NamedTuple):
    """Parameters as they were when learning began."""

    budget: int
    n_neighbors: int
    warm_up: int
    max_sweeps: int
    tol: float


class OB2RMK(UnitesBuffers):
    """Learns a Bayesian ranking over many kernels online, within two fixed buffers.

    The first `warm_up` examples are kept, scored 0, and fitted as `B2RMK` does; from then on every example is a step:
    the posterior so far is the prior, the example and its nearest opposites in the buffer are the data. For streams in
    which a millisecond per example is affordable and there is nobody to choose a kernel. Features should be scaled, to
    [-1, 1] for instance: it does not do so itself.

    Read to the letter (`variant="published"`) it learns little after its start: most of what a step asks for is taken
    for noise, and new weights stay small. So by default the posterior of what the buffers hold is fitted anew, as
    `B2RMK` does, after every `refit` examples; this was chosen on inner folds of training data.

    A step on (x, y): the k nearest of the other class, and, if the buffer of y is full, the member that speaks least
    for it, whose weight is integrated out. x gets a weight of its own; `n_iterations` updates of all factors follow.

    How far to trust a score: `decision_function(X, return_std=True)` and `rank_interval`, both set right by what the
    progressive ranks of the latest examples were off; the posterior alone is not honest about its width.

    Cost of one example: one to three milliseconds, by machine, for 100 + 100 vectors and 18 kernels, refits included.
    Memory: 8 (2 budget)^2 bytes, fixed once `warm_up` is over.

    Parameters
    ----------
    variant : {"default", "published"}, default="default"
        "published" is the publication to the letter; `start` and `refit` are then ignored.
    kernels : list of kernels or {"bayes", "default"}, default="bayes"
        The pool. "bayes" is 13 Gaussians and 5 normalised polynomials; "default" is 13 Gaussians and the
        polynomials (x.z)^1, 2, 3.
    budget : int >= 1, default=100
        The most support vectors of each class.
    n_neighbors : int >= 1, default=3
        How many nearest opposite vectors a step compares the example with, k.
    C : float > 0, default=1.0
        Cost of a wrongly ranked pair. `sample_weight` multiplies it.
    n_iterations : int >= 1, default=30
        Updates of all factors in a step. It acts as a step size: 30 is not convergence.
    warm_up : int >= 2, default=40
        The batch fit runs at the first example from this number on at which both classes have been seen. Until then
        scores are 0.
    start : {"scores", "label"}, default="scores"
        Where a step starts from: the scores, with priors Ga(1, 1) of the precisions, or the label, with Ga(10, 1).
    refit : int >= 1 or None, default=100
        Fit what the buffers hold again after so many examples (unweighted). None never does.
    max_sweeps : int >= 1, default=200
        The batch fit stops after so many sweeps.
    tol : float >= 0, default=1e-05
        The batch fit stops earlier when no training score moves by more than this share of their range.
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
    >>> from lopsided import OB2RMK
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(100, 400, random_state=0)
    >>> ranker = OB2RMK(budget=50)
    >>> scores = ranker.progressive_scores(2 * stream.X - 1, stream.y)
    >>> round(auroc(stream.y[40:], scores[40:]), 3)
    0.955
    >>> ranker.rank_interval([[0.0, 0.0], [0.9, 0.0]]).round(2).tolist()
    [[0.98, 1.0], [0.11, 0.41]]

    References
    ----------
    C. Du, C. Du, G. Long, Q. He, Y. Li, "Online Bayesian Multiple Kernel Bipartite Ranking", UAI 2016, which has both
    the batch model of `B2RMK` and this online form with two buffers.
    """

    _constraints: ClassVar[dict[str, Constraint]] = BATCH | {
        "variant": choice("default", "published"),
        "start": choice(*_STARTS),
        "refit": nothing() | whole(1),
        "budget": whole(1),
        "n_neighbors": whole(1),
        "C": number(above=0),
        "n_iterations": whole(1),
        "warm_up": whole(2),
    }

    def __init__(
        self,
        variant: str = "default",
        kernels: Any = "bayes",
        budget: int = 100,
        n_neighbors: int = 3,
        C: float = 1.0,
        n_iterations: int = 30,
        warm_up: int = 40,
        start: str = "scores",
        refit: int | None = 100,
        max_sweeps: int = 200,
        tol: float = 1e-5,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.variant = variant
        self.kernels = kernels
        self.budget = budget
        self.n_neighbors = n_neighbors
        self.C = C
        self.n_iterations = n_iterations
        self.warm_up = warm_up
        self.start = start
        self.refit = refit
        self.max_sweeps = max_sweeps
        self.tol = tol
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        self._pool = KernelPool(chosen_pool(self.kernels))
        published = self.variant == "published"
        start, shape, rate = _STARTS["scores" if published else self.start]
        self._refit_every = 0 if published else int(self.refit or 0)
        self._plan = StepPlan(float(self.C), shape, rate, shape, rate, start, int(self.n_iterations), -1.0)
        self._limits = Limits(
            int(self.budget), int(self.n_neighbors), int(self.warm_up), int(self.max_sweeps), float(self.tol)
        )
        self._most_waiting = None if published else max(self._limits.warm_up, 2 * self._limits.budget)
        Q = self._pool.size + 1
        self._posterior = Posterior(
            np.zeros((0, n_features)),
            np.zeros(0),
            np.zeros(0),
            np.zeros((0, 0)),
            np.zeros(Q),
            np.eye(Q),
            np.zeros(0, dtype=np.int64),
        )
        self._waiting = np.zeros((0, n_features + 2))  # features, sign, weight
        self._waiting_numbers = np.zeros(0, dtype=np.int64)
        # Examples, whether the batch fit has run, steps left out, steps since the last fit.
        self._counts = np.zeros(4, dtype=np.int64)
        self._ruler, self._ranks = Ruler(0.0, 1.0), RankMemory()

    @property
    def _has_begun(self) -> bool:
        return bool(self._counts[1])

    def _learn(self, rows: Rows, signs: Floats, weights: Floats, *, every_score: bool) -> Floats:
        X = dense_rows(rows, self.n_features_in_)
        with one_blas_thread:
            return np.array([self._learn_row(X[t], float(signs[t]), float(weights[t])) for t in range(signs.size)])

    @property
    def _pairs_to_compile(self) -> int:
        return int(self.warm_up) // 2 + 1  # the first step comes after the batch fit

    def _learn_row(self, x: Floats, sign: float, weight: float) -> float:
        """Returns the score before."""
        self._counts[0] += 1
        if not self._has_begun:
            self._keep_waiting(x, sign, weight)
            if self._counts[0] >= self._limits.warm_up:
                self._begin_if_possible()
            return 0.0
        limits = self._limits
        meeting = met(self._posterior, self._pool, x, sign, limits.budget, limits.n_neighbors)
        score, spread = score_and_spread(self._posterior, *meeting.of_example(self._pool.size))
        self._ranks.remember(self._on_ruler(score), spread / self._ruler.unit, sign)
        self._step(meeting, weight)
        return score

    def _keep_waiting(self, x: Floats, sign: float, weight: float) -> None:
        with np.errstate(all="ignore"):
            is_finite = np.isfinite(self._pool.matrices(x[None], x[None])).all()
        if not is_finite:
            self._counts[2] += 1
            return
        waiting = np.vstack([self._waiting, np.concatenate([x, [sign, weight]])])
        numbers = np.append(self._waiting_numbers, self._counts[0])
        if self._most_waiting is not None and waiting.shape[0] > self._most_waiting:
            # While the rare class has not come the other one may come for long: its oldest go.
            signs = waiting[:, -2]
            common = 1.0 if signs.sum() > 0 else -1.0
            oldest = np.flatnonzero(signs == common)[0]
            waiting, numbers = np.delete(waiting, oldest, axis=0), np.delete(numbers, oldest)
        self._waiting, self._waiting_numbers = waiting, numbers

    def _on_ruler(self, scores: Any) -> Any:
        return (scores - self._ruler.zero) / self._ruler.unit

    def _step(self, meeting: Meeting, weight: float) -> None:
        plan = self._plan._replace(cost=self._plan.cost * weight)
        try:
            learned = stepped(self._posterior, self._pool, plan, meeting)
        except (FloatingPointError, np.linalg.LinAlgError):
            self._counts[2] += 1
        else:
            learned.numbers[-1] = self._counts[0]
            self._posterior = learned
        self._counts[3] += 1
        if self._counts[3] == self._refit_every:
            self._counts[3] = 0
            if np.unique(self._posterior.signs).size == 2:
                self._posterior, scores = refitted(self._posterior, self._pool, _REFIT_SWEEPS, _REFIT_TOL)
                self._ruler = Ruler.of(scores, self._posterior.signs)

    def _begin_if_possible(self) -> None:
        """The batch fit on all examples so far, if both classes are among them."""
        X, signs, weights = self._waiting[:, :-2], self._waiting[:, -2], self._waiting[:, -1]
        if np.unique(signs).size < 2:
            return
        X = np.ascontiguousarray(X)
        K = self._pool.matrices(X, X)
        fit, _, _ = fitted(K, signs, weights, max_sweeps=self._limits.max_sweeps, tol=self._limits.tol)
        self._posterior = begun(fit, X, signs, self._waiting_numbers, self._limits.budget)
        self._ruler = Ruler.of(fit.scores, signs)
        self._waiting, self._waiting_numbers = self._waiting[:0], self._waiting_numbers[:0]
        self._counts[1] = 1

    def _end_fit(self) -> None:
        if not self._has_begun:
            with one_blas_thread:
                self._begin_if_possible()

    def _score(self, rows: Rows) -> Floats:
        X = dense_rows(rows, self.n_features_in_)
        if not self._has_begun:
            return np.zeros(X.shape[0])
        with one_blas_thread:
            return scores_of(self._posterior, self._pool, X)

    def decision_function(self, X: Any, return_std: bool = False) -> Any:
        """Ranking scores of the current model, shifted by `threshold_`; with `return_std` also how far to trust them.

        The second array is the posterior's standard deviation of each score times one factor, which makes it, seen
        through the ranks among negatives, as large as what the ranks of the latest examples turned out to be off.
        """
        with self._alone:
            scores = super().decision_function(X)
            if not return_std:
                return scores
            if not self._has_begun:
                return scores, np.full(scores.size, np.inf)
            rows = dense_rows(self._rows_of(X), self.n_features_in_)
            return scores, scores_and_spreads(self._posterior, self._pool, rows)[1] * self._ranks.factor()

    def rank_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """For each row an interval for the probability that it outranks a random negative, of shape (n_samples, 2).

        Made from the ranks among the latest 100 negatives, widened to what the ranks of the latest 250 examples
        turned out to be off, so that `coverage` of such intervals hold what later negatives say. It is [0, 1] until
        20 negatives have been scored, and wide until 50 ranks could be compared.
        """
        check_parameters("rank_interval", {"coverage": coverage}, {"coverage": number(above=0, most=1)})
        with self._alone:
            scores = self.raw_scores(X)
            return np.stack(self._ranks.intervals(self._on_ruler(scores), float(coverage)), axis=1)

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        kept = {"waiting": self._waiting, "counts": self._counts, "ruler": np.array(self._ruler)}
        kept["waiting_numbers"] = self._waiting_numbers
        return self._posterior._asdict() | kept | {"ranks": self._ranks.ring, "ranks_count": self._ranks.count}

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        points = taken(arrays, "points", np.float64, (None, self.n_features_in_))
        n, Q = points.shape[0], self._pool.size + 1
        self._posterior = Posterior(
            points,
            taken(arrays, "signs", np.float64, (n,)),
            taken(arrays, "m_a", np.float64, (n,)),
            taken(arrays, "Sigma_a", np.float64, (n, n)),
            taken(arrays, "m_be", np.float64, (Q,)),
            taken(arrays, "Sigma_be", np.float64, (Q, Q)),
            np.zeros(n, dtype=np.int64),
        )
        self._waiting = taken(arrays, "waiting", np.float64, (None, self.n_features_in_ + 2))
        self._waiting_numbers = np.zeros(self._waiting.shape[0], dtype=np.int64)
        self._counts = taken(arrays, "counts", np.int64, (4,))
        in_range("counts", self._counts, 0, 2**62)
        if "numbers" in arrays:  # older files do not say which rows they keep
            self._posterior = self._posterior._replace(numbers=taken(arrays, "numbers", np.int64, (n,)))
            self._waiting_numbers = taken(arrays, "waiting_numbers", np.int64, self._waiting_numbers.shape)
            in_range("numbers", self._kept_numbers(), 0, self._counts[0])
        self._ruler = Ruler(*taken(arrays, "ruler", np.float64, (2,)).tolist())
        self._ranks.ring = taken(arrays, "ranks", np.float64, (REMEMBERED, 3))
        self._ranks.count = taken(arrays, "ranks_count", np.int64, (1,))
        in_range("ranks_count", self._ranks.count, 0, 2**62)
        if not np.isin(self._posterior.signs, (-1.0, 1.0)).all():
            raise ModelFileError("The array 'signs' of the model file must hold -1 and 1. Got others: it is damaged.")

    @property
    def n_diverged_(self) -> int:
        """How many steps were left out because they had no finite result."""
        return self._counts.item(2)

    def _cure_for_divergence(self) -> str:
        return "scale the features to [-1, 1], or lower C"

    def _by_class(self) -> npt.NDArray[np.int64]:
        signs = self._posterior.signs
        return np.concatenate([np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)])

    @property
    def kernel_weights_(self) -> Floats:
        """<e>: how much each kernel counts, of either sign (a copy)."""
        self._check_started()
        return self._posterior.m_be[1:].copy()

    @property
    def intercept_(self) -> float:
        """<b>."""
        self._check_started()
        return float(self._posterior.m_be[0])

    @property
    def n_support_(self) -> int:
        """How many support vectors there are."""
        self._check_started()
        return self._posterior.m_a.size

    @property
    def support_vectors_(self) -> Floats:
        """The support vectors: positives from old to new, then negatives (a copy)."""
        self._check_started()
        return self._posterior.points[self._by_class()].copy()

    @property
    def support_numbers_(self) -> npt.NDArray[np.int64]:
        """Which row each of them is, counted from 1 over the rows learned (a copy); 0 where nobody knows."""
        self._check_started()
        return self._posterior.numbers[self._by_class()]

    def _kept_numbers(self) -> npt.NDArray[np.int64]:
        return np.concatenate([self._posterior.numbers, self._waiting_numbers])

    @property
    def support_weights_(self) -> Floats:
        """<a>: their weights (a copy)."""
        self._check_started()
        return self._posterior.m_a[self._by_class()].copy()

    @property
    def support_signs_(self) -> Floats:
        """+1 for a vector of the rare class, -1 for one of the other (a copy)."""
        self._check_started()
        return self._posterior.signs[self._by_class()].copy()
