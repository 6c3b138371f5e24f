"""OILK: the forerunner of KOIL, one buffer for both classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lopsided.constraints import Constraint, choice, number, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.geometry.points import Rows, empty_points
from lopsided.core.pairwise.koil import empty_workspace, score_rows
from lopsided.core.pairwise.oilk import OilkPlan, oilk_run
from lopsided.core.pairwise.support import SUPPORT_DIVERGED, USED, empty_support
from lopsided.estimators.base.merging import drawn
from lopsided.estimators.kernel.koil import DRAWS_A_STEP
from lopsided.estimators.kernel.parameters import ONE_KERNEL, POLICIES, chosen_kernel
from lopsided.estimators.kernel.support_learner import SupportVectorLearner
from lopsided.estimators.kernel.uniting import Kept, united
from lopsided.estimators.kernel.uniting_supports import add_tallies, kept_in_rooms, sizes_of, support_of
from lopsided.estimators.state.arrays import in_range, named_arrays, taken
from lopsided.estimators.state.points import points_arrays, restored_points
from lopsided.estimators.state.support import restored_support, true_weights


class OILK(SupportVectorLearner):
    """Learns a ranking function that maximises AUC online, within one fixed buffer that both classes share.

    The forerunner of KOIL, here for comparison: every opposite vector counts, not only the nearest, nothing makes up
    for what leaves, and a rare class gets few of the places. Prefer `KOIL`.

    For each example (x, y), all opposite vectors with y (f(x) - f(z_i)) < 1 are hits::

        weights <- (1 - eta) weights,    weight_i -= y eta C   (each hit),    weight of x = y eta C (number of hits)

    Every example is offered to the buffer, also with weight 0: a full one replaces the oldest ("fifo"), or a uniformly
    drawn one with probability budget / t ("reservoir").

    Cost of one example: O(budget (n_features + hits)). Memory: 8 budget (budget + n_features) bytes, fixed.

    Parameters
    ----------
    C : float > 0, default=1.0
        Cost of a wrongly ranked pair. `sample_weight` multiplies it.
    learning_rate : float > 0 and <= 1, default=0.01
        Step size eta, which is also the share by which all weights shrink at each step.
    budget : int >= 1, default=200
        The most support vectors of both classes together, N.
    policy : {"fifo", "reservoir"}, default="fifo"
        Who leaves a full buffer: the oldest vector, or a random one with probability budget / t.
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
        Seed of the random draws. The same int gives the same model; None takes fresh entropy.

    Examples
    --------
    >>> from lopsided import OILK
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = OILK(gamma=20.0, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.937

    References
    ----------
    H. Yang, J. Hu, M. R. Lyu, I. King, "Online Imbalanced Learning with Kernels", NIPS Workshop on Big Learning, 2013.
    """

    _constraints: ClassVar[dict[str, Constraint]] = ONE_KERNEL | {
        "C": number(above=0),
        "learning_rate": number(above=0, most=1),
        "budget": whole(1),
        "policy": choice("fifo", "reservoir"),
    }

    def __init__(
        self,
        C: float = 1.0,
        learning_rate: float = 0.01,
        budget: int = 200,
        policy: str = "fifo",
        kernel: Any = "rbf",
        gamma: float | str = 1.0,
        degree: int = 3,
        coef0: float = 0.0,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.learning_rate = learning_rate
        self.budget = budget
        self.policy = policy
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        self._plan = OilkPlan(rate=float(self.learning_rate), policy=POLICIES[self.policy])
        self._kernel = chosen_kernel(self, n_features).compiled()
        self._pair_cost = float(self.C)
        self._support = empty_support((int(self.budget), 0))
        self._slot_signs = np.zeros(int(self.budget))
        self._points = empty_points(n_features, int(self.budget))
        self._work = empty_workspace(int(self.budget), int(self.budget))

    _run = staticmethod(oilk_run)
    _score_rows = staticmethod(score_rows)

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        model = (self._support, self._slot_signs, self._points, self._kernel, self._plan)
        return (*model, rows, signs, costs, draws, self._work, scores)

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        return self._support, self._points, self._kernel, rows, self._work, scores

    @property
    def _draws_a_row(self) -> int:
        return DRAWS_A_STEP

    @property
    def _cost(self) -> float:
        return self._pair_cost

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return named_arrays(support=self._support) | points_arrays(self._points) | {"slot_signs": self._slot_signs}

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        self._support = restored_support(arrays, (int(self.budget), 0))
        self._slot_signs = taken(arrays, "slot_signs", np.float64, (int(self.budget),))
        in_range("slot_signs", self._slot_signs, -1, 1)
        self._points = restored_points(arrays, self.n_features_in_, int(self.budget), self.n_seen_)
        self._unbind()

    def _kept(self) -> Kept:
        return kept_in_rooms(self._support, self._points, np.arange(self._slot_signs.size), self._slot_signs)

    def _merge(self, models: list[Any], shares: Floats) -> None:
        both = united([model._kept() for model in models], shares)
        self._start(self.n_features_in_)
        self._support, self._points, held = support_of(
            both,
            np.zeros(both.size, dtype=np.int64),
            sizes_of(self._support),
            policy=self._plan.policy,
            kernel=self._kernel,
            n_features=self.n_features_in_,
            uniforms=drawn(self._uniforms, both.size),
            owner=type(self).__name__,
        )
        self._slot_signs[: held.size] = held.signs
        add_tallies(self._support, [model._support for model in models])
        self._points.marks[-1] = self.n_seen_
        self._unbind()

    @property
    def n_diverged_(self) -> int:
        """How many steps were left out because they would have made a weight or a score infinite."""
        return int(self._support.tally[SUPPORT_DIVERGED, 0])

    def _cure_for_divergence(self) -> str:
        return "lower C or learning_rate"

    def _slots_by_class(self) -> npt.NDArray[np.int64]:
        """The slots in use: positives by slot, then negatives."""
        signs = self._slot_signs[: self._support.tally[USED, 0]]
        return np.concatenate([np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)])

    @property
    def n_support_(self) -> int:
        """How many support vectors there are, those of weight 0 included."""
        self._check_started()
        return int(self._support.tally[USED, 0])

    def _columns_in_use(self) -> npt.NDArray[np.int64]:
        return self._slots_by_class()

    @property
    def support_weights_(self) -> Floats:
        """Their weights (a copy): f(x) is the sum of weight times similarity."""
        self._check_started()
        return true_weights(self._support)[self._slots_by_class()]

    @property
    def support_signs_(self) -> Floats:
        """+1 for a vector of the rare class, -1 for one of the other (a copy); a weight may have either sign."""
        self._check_started()
        return self._slot_signs[self._slots_by_class()]
