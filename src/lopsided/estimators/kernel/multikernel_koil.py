"""KOIL with multiple kernels: the weights of the kernels are learned with the ranker."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lopsided.constraints import Constraint, choice, flag, number
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.geometry.kernels import stacked_kernels
from lopsided.core.geometry.points import Rows, empty_points
from lopsided.core.pairwise.admission import UNBOUNDED
from lopsided.core.pairwise.koil import empty_workspace
from lopsided.core.pairwise.multikernel_koil import (
    RAW,
    SIGN,
    PoolPlan,
    empty_pool_scratch,
    multikernel_run,
    multikernel_score_rows,
)
from lopsided.core.pairwise.support import SIZE, SUPPORT_DIVERGED, USED, empty_support
from lopsided.estimators.base.merging import averaged, drawn
from lopsided.estimators.kernel.koil import CURE, DRAWS_A_STEP, FIRST_ROOM, PAIRWISE, pairwise_plan
from lopsided.estimators.kernel.parameters import POOL, budget_pair, chosen_pool
from lopsided.estimators.kernel.support_learner import SupportVectorLearner
from lopsided.estimators.kernel.uniting import Kept, united
from lopsided.estimators.kernel.uniting_supports import (
    add_tallies,
    kept_in_rooms,
    kernel_at,
    sizes_of,
    support_of,
)
from lopsided.estimators.state.arrays import named_arrays, taken
from lopsided.estimators.state.points import numbers_of, points_arrays, vectors_at
from lopsided.estimators.state.stacked_supports import (
    all_wide_enough,
    experts_of,
    grown_experts,
    points_of_experts,
    points_once_shared,
    restored_expert_points,
    stacked,
    stacked_points,
)
from lopsided.estimators.state.support import (
    doubled_rooms,
    grown_points,
    grown_support,
    occupied_slots,
    restored_support,
    signs_of_rooms,
    true_weights,
)

_COMBINATIONS = {"raw": RAW, "sign": SIGN}


class MultiKernelKOIL(SupportVectorLearner):
    """Learns one KOIL for each kernel of a pool and, online, how much to trust each.

    Use it when you do not know the kernel width and cannot tune it. It costs about as much as the pool has kernels.

    Every kernel l has its own buffers. An example is learned by kernel l with probability w_l / max w, and then::

        w_l <- w_l exp(-weight_rate R_l),    R_l = the loss of kernel l summed over its violators V

    The score is sum_l q_l f_l(x) with q = w / sum w.

    Cost of one example: at most the number of kernels times that of KOIL. Memory: 8 m slots (slots +
    n_features) bytes for m kernels, fixed at the first example.

    Parameters
    ----------
    kernels : list of kernels or {"default", "bayes"}, default="default"
        The pool. "default" is 16 kernels: Gaussians of width 2^-6 ... 2^6 and the polynomials (x.z)^1, 2, 3.
        "bayes" is 13 Gaussians and 5 normalised polynomials.
    C : float > 0, default=1.0
        Cost of a wrongly ranked pair. `sample_weight` multiplies it.
    budget : int >= 1 or a pair of them, default=100
        The most support vectors of each class, N. A pair gives each class its own, the rare class first.
    n_neighbors : int >= 1 or "auto", default="auto"
        How many opposite vectors an example is compared with at most, k. "auto" is max(1, N // 10), N being the
        budget of the opposite class.
    policy : {"reservoir", "fifo", "unbounded"}, default="reservoir"
        Who leaves a full buffer: a random vector, with probability budget / seen; the oldest one; or nobody, the
        buffer growing.
    compensate : bool, default=True
        Whether the weight of what is left out goes to its most similar vector of the same class.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss of a pair. The squared hinge can diverge: see `schedule`.
    neighbors : {"violators", "among_nearest"}, default="violators"
        Which opposite vectors are compared with: the k nearest of all violators, or the violators among the k
        nearest vectors.
    schedule : {"constant", "invsqrt", "theory"}, default="constant"
        Step size over time: eta; eta / sqrt(t); or eta at most 1 / (1 + 4 C k^2 X^2), X^2 being the largest k(x,
        x): the step size of the convergence proof, at which the squared hinge cannot diverge.
    weight_rate : float >= 0, default=0.01
        How fast a kernel that ranks wrongly loses its weight, eta of w.
    learning_rate : float > 0 and <= 1, default=0.01
        Step size of each KOIL, lambda. With `decay` also the share by which all weights shrink at each step.
    combine : {"raw", "sign"}, default="raw"
        What is averaged over the kernels: the scores f_l(x), or their signs.
    decay : bool, default=True
        Whether the weights of support vectors shrink by (1 - learning_rate) at each step.
    risk_scale : float >= 0 or "C", default=1.0
        Factor of the loss R_l by which a kernel loses weight. "C" takes the value of C.
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
        Seed of the random draws. The same int gives the same model; None takes fresh entropy.

    Examples
    --------
    >>> from lopsided import MultiKernelKOIL
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.kernels import default_pool
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = MultiKernelKOIL(random_state=0)
    >>> scores = learner.progressive_scores(stream.X, stream.y)
    >>> round(auroc(stream.y, scores), 3)
    0.943
    >>> default_pool()[learner.kernel_weights_.argmax()].sigma  # the width that is trusted most
    0.125

    References
    ----------
    J. Hu, "Kernelized Online Imbalanced Learning", MPhil thesis, The Chinese University of Hong Kong, 2015, chapter 4.

    Differences from the paper: it combines signs, drops the decay and multiplies the risk by C; the defaults here come
    closer to its own table (glass .896 against .818 with signs, .891 published). Set combine="sign", decay=False,
    risk_scale="C" for the letter of it.
    """

    _constraints: ClassVar[dict[str, Constraint]] = (
        PAIRWISE
        | POOL
        | {
            "weight_rate": number(least=0),
            "combine": choice(*_COMBINATIONS),
            "decay": flag(),
            "risk_scale": number(least=0) | choice("C"),
        }
    )

    def __init__(
        self,
        kernels: Any = "default",
        C: float = 1.0,
        budget: int | tuple[int, int] = 100,
        n_neighbors: int | str = "auto",
        policy: str = "reservoir",
        compensate: bool = True,
        loss: str = "hinge",
        neighbors: str = "violators",
        schedule: str = "constant",
        weight_rate: float = 0.01,
        learning_rate: float = 0.01,
        combine: str = "raw",
        decay: bool = True,
        risk_scale: float | str = 1.0,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.budget = budget
        self.n_neighbors = n_neighbors
        self.policy = policy
        self.compensate = compensate
        self.loss = loss
        self.neighbors = neighbors
        self.schedule = schedule
        self.weight_rate = weight_rate
        self.learning_rate = learning_rate
        self.combine = combine
        self.decay = decay
        self.risk_scale = risk_scale
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        kernels = [kernel.compiled() for kernel in chosen_pool(self.kernels)]
        self._plan = pairwise_plan(self, decay=bool(self.decay))
        self._pool_plan = PoolPlan(
            weight_rate=float(self.weight_rate),
            combine=_COMBINATIONS[self.combine],
            risk_scale=1.0 if self.risk_scale == "C" else float(self.risk_scale),
            risk_by_cost=self.risk_scale == "C",
        )
        self._pair_cost = float(self.C)
        rooms = (FIRST_ROOM, FIRST_ROOM) if self._plan.policy == UNBOUNDED else budget_pair(self.budget)
        self._stack = stacked([empty_support(rooms)] * len(kernels))
        self._kernels = stacked_kernels(kernels)
        self._log_weights = np.zeros(len(kernels))
        self._points = stacked_points([empty_points(n_features, sum(rooms))] * len(kernels))
        self._make_workspace()

    def _make_workspace(self) -> None:
        k = max(self._plan.neighbors_positive, self._plan.neighbors_negative)
        self._work = empty_workspace(self._stack.weights.shape[1], k)
        self._scratch = empty_pool_scratch(self._stack)
        self._unbind()

    _run = staticmethod(multikernel_run)
    _score_rows = staticmethod(multikernel_score_rows)

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        model = (self._stack, self._kernels, self._log_weights, self._points, self._plan, self._pool_plan)
        return (*model, rows, signs, costs, draws, self._work, self._scratch, scores)

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        model = (self._stack, self._kernels, self._log_weights, self._points, self._pool_plan)
        return (*model, rows, self._work, self._scratch, scores)

    @property
    def _draws_a_row(self) -> int:
        return (1 + DRAWS_A_STEP) * self._stack.weights.shape[0]

    @property
    def _cost(self) -> float:
        return self._pair_cost

    def _make_room(self) -> None:
        rooms = doubled_rooms(self._stack.tally[0, SIZE], self._stack.tally[:, USED].max(axis=0))
        self._stack, self._points = grown_experts(self._stack, self._points, rooms, type(self).__name__)
        self._make_workspace()

    def _prepare_for(self, rows: Rows) -> None:
        points = all_wide_enough(self._points, rows)
        if points is not self._points:
            self._points = points
            self._unbind()

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        of_each = [points_arrays(own) for own in points_of_experts(self._points)]
        points = {name: np.stack([arrays[name] for arrays in of_each]) for name in of_each[0]}
        return named_arrays(support=self._stack) | points | {"log_weights": self._log_weights}

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        rooms = None if self._plan.policy == UNBOUNDED else budget_pair(self.budget)
        self._stack = restored_support(arrays, rooms, experts=self._stack.weights.shape[0])
        self._log_weights = taken(arrays, "log_weights", np.float64, self._log_weights.shape)
        if "pool.columns" in arrays:
            self._points = points_once_shared(arrays, self._stack, self._kernels, self.n_features_in_, self.n_seen_)
        else:
            self._points = restored_expert_points(arrays, self._stack, self.n_features_in_, self.n_seen_)
        self._make_workspace()

    def _kept(self, index: int) -> Kept:
        """The vectors of one kernel."""
        one = experts_of(self._stack)[index]
        sizes = sizes_of(one)
        own = points_of_experts(self._points)[index]
        return kept_in_rooms(one, own, np.arange(sum(sizes)), np.repeat([1.0, -1.0], sizes))

    def _merge(self, models: list[Any], shares: Floats) -> None:
        self._start(self.n_features_in_)
        m = self._log_weights.size
        supports, held = [], []
        for index in range(m):
            both = united([model._kept(index) for model in models], shares)
            support, points, _ = support_of(
                both,
                np.where(both.signs > 0.0, 0, 1),
                sizes_of(experts_of(self._stack)[index]),
                policy=self._plan.policy,
                kernel=kernel_at(self._kernels, index),
                n_features=self.n_features_in_,
                uniforms=drawn(self._uniforms, both.size),
                owner=type(self).__name__,
                experts=m,
            )
            add_tallies(support, [experts_of(model._stack)[index] for model in models])
            supports.append(support)
            held.append(points)
        rooms = max(sizes_of(one)[0] for one in supports), max(sizes_of(one)[1] for one in supports)
        self._stack = stacked([grown_support(one, rooms, type(self).__name__, experts=m) for one in supports])
        moved = [grown_points(points, one, rooms) for points, one in zip(held, supports, strict=True)]
        self._points = stacked_points(moved)
        self._points.marks[:, -1] = self.n_seen_
        self._log_weights[:] = averaged([model._log_weights for model in models], shares)
        self._make_workspace()

    @property
    def n_diverged_(self) -> int:
        """How many steps of an expert were left out because they would have made a weight or a score infinite."""
        return int(self._stack.tally[:, SUPPORT_DIVERGED].sum())

    def _cure_for_divergence(self) -> str:
        return CURE

    @property
    def kernel_weights_(self) -> Floats:
        """q: how much each kernel counts in the score; they sum to 1."""
        self._check_started()
        weights = np.exp(self._log_weights - self._log_weights.max())
        return np.asarray(weights / weights.sum())

    @property
    def n_support_(self) -> int:
        """How many support vectors there are, over all kernels."""
        self._check_started()
        return int(self._stack.tally[:, USED].sum())

    def _columns_in_use(self) -> list[npt.NDArray[np.int64]]:
        return [occupied_slots(one) for one in experts_of(self._stack)]

    @property
    def support_vectors_(self) -> list[Any]:
        """The support vectors of each kernel (copies): positives, then negatives."""
        self._check_started()
        return [vectors_at(*held) for held in zip(points_of_experts(self._points), self._columns_in_use(), strict=True)]

    @property
    def support_numbers_(self) -> list[npt.NDArray[np.int64]]:
        """Which row each of them is, counted from 1 over the rows learned (copies); 0 where nobody knows."""
        self._check_started()
        numbers = map(numbers_of, points_of_experts(self._points))
        return [own[columns] for own, columns in zip(numbers, self._columns_in_use(), strict=True)]

    def _kept_numbers(self) -> npt.NDArray[np.int64]:
        return np.concatenate([numbers_of(own) for own in points_of_experts(self._points)])

    @property
    def support_weights_(self) -> list[Floats]:
        """Their weights for each kernel (copies)."""
        self._check_started()
        return [true_weights(one)[occupied_slots(one)] for one in experts_of(self._stack)]

    @property
    def support_signs_(self) -> list[Floats]:
        """For each kernel +1 for a vector of the rare class and -1 for one of the other (copies)."""
        self._check_started()
        return [signs_of_rooms(tally) for tally in self._stack.tally]
