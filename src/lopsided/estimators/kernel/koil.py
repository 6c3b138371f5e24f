"""KOIL: a kernel ranker that maximises AUC online within two buffers of support vectors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lopsided.constraints import Constraint, choice, flag, number, pair_of, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.geometry.points import Rows, empty_points
from lopsided.core.pairwise.admission import UNBOUNDED
from lopsided.core.pairwise.koil import (
    CONSTANT,
    INVERSE_SQUARE_ROOT,
    THEORY,
    Plan,
    empty_workspace,
    run,
    score_rows,
)
from lopsided.core.pairwise.support import SIZE, SUPPORT_DIVERGED, USED, empty_support
from lopsided.core.pairwise.violators import HINGE, SQUARED_HINGE
from lopsided.estimators.base.merging import drawn
from lopsided.estimators.kernel.parameters import ONE_KERNEL, POLICIES, budget_pair, chosen_kernel
from lopsided.estimators.kernel.support_learner import SupportVectorLearner
from lopsided.estimators.kernel.uniting import Kept, united
from lopsided.estimators.kernel.uniting_supports import add_tallies, kept_in_rooms, sizes_of, support_of
from lopsided.estimators.state.arrays import named_arrays
from lopsided.estimators.state.points import points_arrays, restored_points
from lopsided.estimators.state.support import (
    doubled_rooms,
    grown_points,
    grown_support,
    occupied_slots,
    restored_support,
    signs_of_rooms,
    true_weights,
)

LOSSES = {"hinge": HINGE, "squared_hinge": SQUARED_HINGE}
SCHEDULES = {"constant": CONSTANT, "invsqrt": INVERSE_SQUARE_ROOT, "theory": THEORY}
DRAWS_A_STEP = 2  # a full reservoir: one uniform to be let in, one for the slot
FIRST_ROOM = 64  # slots a class with which an unbounded learner begins
CURE = "lower C, learning_rate or n_neighbors, or take schedule='theory'"  # for divergence

PAIRWISE: dict[str, Constraint] = {
    "C": number(above=0),
    "learning_rate": number(above=0, most=1),
    "budget": whole(1) | pair_of(whole(1)),
    "n_neighbors": choice("auto") | whole(1),
    "policy": choice(*POLICIES),
    "compensate": flag(),
    "loss": choice(*LOSSES),
    "neighbors": choice("violators", "among_nearest"),
    "schedule": choice(*SCHEDULES),
}


def pairwise_plan(learner: Any, *, decay: bool) -> Plan:
    """The parameters of KOIL as the numbers that compiled code reads."""
    positives, negatives = budget_pair(learner.budget)
    automatic = learner.n_neighbors == "auto"
    return Plan(
        rate=float(learner.learning_rate),
        neighbors_positive=max(1, negatives // 10) if automatic else int(learner.n_neighbors),
        neighbors_negative=max(1, positives // 10) if automatic else int(learner.n_neighbors),
        policy=POLICIES[learner.policy],
        compensate=bool(learner.compensate),
        loss=LOSSES[learner.loss],
        among_nearest=learner.neighbors == "among_nearest",
        schedule=SCHEDULES[learner.schedule],
        decay=decay,
    )


class KOIL(SupportVectorLearner):
    """Learns a ranking function that maximises AUC online, within a fixed budget of support vectors for each class.

    Use it when the class that matters is rare, the boundary is not linear, and what you need is an order (who to look
    at first). It is the default learner of this package. It is a ranker: there is no bias term, so where the order is
    cut is a separate choice (`threshold`).

    For each example (x, y) the k most similar opposite vectors that are ranked wrongly, with a loss l_i = max(0,
    1 - y (f(x) - f(z_i))) > 0, are pushed away and the example joins its buffer, all weights shrinking by (1 - eta)::

        weight_i -= y eta C g_i   (i in V),    weight of x = y eta C sum_V g_i,    g_i = 1 or 2 l_i

    A full buffer replaces a uniformly drawn vector with probability budget / seen ("reservoir") or the oldest ("fifo").
    With `compensate` the weight of whatever is left out goes to its most similar vector of the same class, which is
    what makes a bounded buffer nearly as good as an unbounded one.

    Cost of one example: O(slots (n_features + n_neighbors)) with slots = both budgets together. Memory: 8 slots
    (slots + n_features) bytes, fixed at the first example; "unbounded" grows by doubling.

    Parameters
    ----------
    C : float > 0, default=1.0
        Cost of a wrongly ranked pair. `sample_weight` multiplies it.
    learning_rate : float > 0 and <= 1, default=0.01
        Step size eta, which is also the share by which all weights shrink at each step.
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
    dtype : {"float64", "float32"}, default="float64"
        How support vectors are kept. With "float32" distances between dense rows are computed in single precision: a
        row takes a third less time at 300 features, a quarter less at 60, little less below 20 (`make bench`), and
        vectors take half the memory. Scores then have about seven digits, of which fewer are right where features lie
        far from 0 for what they vary: scale them first. Sparse rows are measured in double precision, against vectors
        in single precision.
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
    >>> from lopsided import KOIL
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = KOIL(gamma=20.0, random_state=0)
    >>> scores = learner.progressive_scores(stream.X, stream.y)
    >>> round(auroc(stream.y, scores), 3)
    0.948
    >>> learner.n_support_
    200

    References
    ----------
    J. Hu, "Kernelized Online Imbalanced Learning", MPhil thesis, The Chinese University of Hong Kong, 2015; J. Hu, H.
    Yang, I. King, M. R. Lyu, A. M.-C. So, "Kernelized Online Imbalanced Learning with Fixed Budgets", AAAI 2015. Names
    there: KOIL_RS++ is the default, KOIL_FIFO++ is policy="fifo", RS and FIFO have compensate=False, KOIL^2 is
    loss="squared_hinge".

    Differences from the paper: an example whose weight would be 0 is not stored, and the first examples get the weight
    eta C y, without which nothing could be ranked; both raise the AUC (segment .976 to .984). V is taken from all
    violators, as Algorithm 2 says, not from the k nearest, as equation (3.9) does.
    """

    _constraints: ClassVar[dict[str, Constraint]] = PAIRWISE | ONE_KERNEL | {"dtype": choice("float64", "float32")}

    def __init__(
        self,
        C: float = 1.0,
        learning_rate: float = 0.01,
        budget: int | tuple[int, int] = 100,
        n_neighbors: int | str = "auto",
        policy: str = "reservoir",
        compensate: bool = True,
        loss: str = "hinge",
        neighbors: str = "violators",
        schedule: str = "constant",
        kernel: Any = "rbf",
        gamma: float | str = 1.0,
        degree: int = 3,
        coef0: float = 0.0,
        dtype: str = "float64",
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.learning_rate = learning_rate
        self.budget = budget
        self.n_neighbors = n_neighbors
        self.policy = policy
        self.compensate = compensate
        self.loss = loss
        self.neighbors = neighbors
        self.schedule = schedule
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.dtype = dtype
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        self._plan = pairwise_plan(self, decay=True)
        self._kernel = chosen_kernel(self, n_features).compiled()
        self._pair_cost = float(self.C)
        rooms = (FIRST_ROOM, FIRST_ROOM) if self._plan.policy == UNBOUNDED else budget_pair(self.budget)
        self._support = empty_support(rooms)
        self._points = empty_points(n_features, sum(rooms), dtype=np.dtype(self.dtype))
        self._make_workspace()

    def _make_workspace(self) -> None:
        k = max(self._plan.neighbors_positive, self._plan.neighbors_negative)
        self._work = empty_workspace(self._support.weights.size, k)
        self._unbind()

    _run = staticmethod(run)
    _score_rows = staticmethod(score_rows)

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        model = (self._support, self._points, self._kernel, self._plan)
        return (*model, rows, signs, costs, draws, self._work, scores)

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        return self._support, self._points, self._kernel, rows, self._work, scores

    @property
    def _draws_a_row(self) -> int:
        return DRAWS_A_STEP

    @property
    def _cost(self) -> float:
        return self._pair_cost

    def _make_room(self) -> None:
        rooms = doubled_rooms(self._support.tally[SIZE], self._support.tally[USED])
        larger = grown_support(self._support, rooms, type(self).__name__)
        self._points = grown_points(self._points, self._support, rooms)
        self._support = larger
        self._make_workspace()

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return named_arrays(support=self._support) | points_arrays(self._points)

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        rooms = None if self._plan.policy == UNBOUNDED else budget_pair(self.budget)
        self._support = restored_support(arrays, rooms)
        slots, dtype = self._support.weights.size, np.dtype(self.dtype)
        self._points = restored_points(arrays, self.n_features_in_, slots, self.n_seen_, dtype=dtype)
        self._make_workspace()

    def _kept(self) -> Kept:
        sizes = sizes_of(self._support)
        return kept_in_rooms(self._support, self._points, np.arange(sum(sizes)), np.repeat([1.0, -1.0], sizes))

    def _merge(self, models: list[Any], shares: Floats) -> None:
        both = united([model._kept() for model in models], shares)
        self._start(self.n_features_in_)
        self._support, self._points, _ = support_of(
            both,
            np.where(both.signs > 0.0, 0, 1),
            sizes_of(self._support),
            policy=self._plan.policy,
            kernel=self._kernel,
            n_features=self.n_features_in_,
            uniforms=drawn(self._uniforms, both.size),
            owner=type(self).__name__,
            dtype=np.dtype(self.dtype),
        )
        add_tallies(self._support, [model._support for model in models])
        self._points.marks[-1] = self.n_seen_
        self._make_workspace()

    @property
    def n_diverged_(self) -> int:
        """How many steps were left out because they would have made a weight or a score infinite."""
        return self._support.tally.item(SUPPORT_DIVERGED, 0) + self._support.tally.item(SUPPORT_DIVERGED, 1)

    def _cure_for_divergence(self) -> str:
        return CURE

    @property
    def n_support_(self) -> int:
        """How many support vectors there are."""
        self._check_started()
        return int(self._support.tally[USED].sum())

    def _columns_in_use(self) -> npt.NDArray[np.int64]:
        return occupied_slots(self._support)

    @property
    def support_weights_(self) -> Floats:
        """Their weights (a copy): f(x) is the sum of weight times similarity."""
        self._check_started()
        return true_weights(self._support)[occupied_slots(self._support)]

    @property
    def support_signs_(self) -> Floats:
        """+1 for a vector of the rare class, -1 for one of the other (a copy); a weight may have either sign."""
        self._check_started()
        return signs_of_rooms(self._support.tally)
