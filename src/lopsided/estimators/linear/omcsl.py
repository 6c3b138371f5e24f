"""OMCSL: linear classifiers for many costs at once, chosen among by the measure that counts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lopsided.constraints import Constraint, choice, flag, number, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.geometry.points import Rows
from lopsided.core.linear.omcsl import OmcslPlan, omcsl_run, omcsl_score_rows
from lopsided.core.linear.weight_columns import empty_columns
from lopsided.core.measures.experts import CHANCE
from lopsided.estimators.base import validation
from lopsided.estimators.linear.weight_columns import ColumnsLearner, restored_columns
from lopsided.estimators.linear.weight_vector import LINEAR, LOSS, RATE
from lopsided.estimators.state.arrays import named_arrays
from lopsided.estimators.state.experts import (
    MEASURING,
    added_experts,
    empty_experts,
    experts_arrays,
    experts_plan,
    measures_of,
    restored_experts,
)
from lopsided.metrics.streaming import KEYS

_NO_SCORES = np.zeros((0, 0))


class OMCSL(ColumnsLearner):
    """Learns linear classifiers for many costs of a missed positive at once, and answers with the one that is best.

    Best by the measure that you choose, F1, AUROC or AUPRC, kept online for each. Use it where features are many and
    sparse, and where nobody knows what a missed positive costs.

    Column j of K has the costs c+ = 1 - j / (2 (K + 1)) for positives and c- = 1 - c+ for negatives. For each example,
    with scores s = W'x::

        report s_j for a j drawn with probability p_j;    M_j = measure of column j so far
        W_j -= eta_t (c_y l'(y s_j) y x + lambda W_j);    p_j ~ exp(sharpness M_j)

    Only what is reported during learning is drawn; `decision_function` uses the column with the largest p. The columns
    do not depend on the measure, sharpness or the draws, so one pass serves all measures (`expert_measures_`,
    `progressive_expert_scores`).

    Cost of one example: O(non-zeros K), and O(K log bins) for "auroc"; "auprc" takes O(K bins) at each refresh, so set
    `refresh` to 10 or more for it. Memory: 8 K (n_features + 1) bytes, twice with `average`, and 94 kB K for the areas.

    Parameters
    ----------
    n_costs : int >= 1, default=9
        How many costs of a missed positive are tried side by side, K.
    loss : {"hinge", "logistic"}, default="hinge"
        The loss whose gradient is followed.
    measure : {"f1", "auroc", "auprc"}, default="f1"
        The measure, kept online for each column, by which the best column is chosen.
    sharpness : float >= 0 or infinity, default=1000.0
        How much a better measure counts, gamma. The columns differ by hundredths, so 10 is nearly uniform; infinity
        takes the best.
    learning_rate : float > 0, default=0.1
        Step size eta. With `decay` it is eta / sqrt(t) at step t.
    decay : bool, default=True
        Whether the step size falls as 1 / sqrt(t).
    regularization : float >= 0, default=0.0
        How strongly the weights are pulled towards 0, lambda.
    refresh : int >= 1, default=1
        The measures are computed again after so many examples.
    average : bool, default=False
        Whether to answer with the average of the column over time instead of its last state.
    key : {"centred", "sigmoid", "float"}, default="centred"
        How scores are put into bins for "auroc" and "auprc"; see `lopsided.metrics.AUROC`.
    n_bins : int >= 2, default=1000
        Number of bins. Only for key="sigmoid".
    interpolation : {"trapezoid", "step"}, default="trapezoid"
        How the points of the precision-recall curve are joined: by straight lines, or by steps, which is average
        precision. Only for measure="auprc".
    fit_intercept : bool, default=False
        Whether to learn a bias, as the weight of a feature that is always 1.
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
    >>> from lopsided import OMCSL
    >>> from lopsided.datasets import overlapping
    >>> from lopsided.metrics import auroc
    >>> stream = overlapping(2_000, 20)
    >>> learner = OMCSL(measure="auroc", fit_intercept=True, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.913
    >>> learner.chosen_cost_
    0.95

    References
    ----------
    Y. Yan, T. Yang, Y. Yang, J. Chen, "A Framework of Online Learning with Imbalanced Streaming Data", AAAI 2017.
    Corrected here: the binned areas as printed lose ties and the top bin (an area of .916 comes out as .635).
    """

    _takes_small_steps = True
    _constraints: ClassVar[dict[str, Constraint]] = (
        LINEAR
        | RATE
        | LOSS
        | MEASURING
        | {
            "n_costs": whole(1),
            "decay": flag(),
            "regularization": number(least=0),
            "refresh": whole(1),
            "average": flag(),
            "key": choice(*KEYS),
            "n_bins": whole(2),
            "interpolation": choice("trapezoid", "step"),
        }
    )

    @property
    def _remembers_its_answers(self) -> bool:
        return False  # but those of the column that was drawn

    def __init__(
        self,
        n_costs: int = 9,
        loss: str = "hinge",
        measure: str = "f1",
        sharpness: float = 1000.0,
        learning_rate: float = 0.1,
        decay: bool = True,
        regularization: float = 0.0,
        refresh: int = 1,
        average: bool = False,
        key: str = "centred",
        n_bins: int = 1000,
        interpolation: str = "trapezoid",
        fit_intercept: bool = False,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_costs = n_costs
        self.loss = loss
        self.measure = measure
        self.sharpness = sharpness
        self.learning_rate = learning_rate
        self.decay = decay
        self.regularization = regularization
        self.refresh = refresh
        self.average = average
        self.key = key
        self.n_bins = n_bins
        self.interpolation = interpolation
        self.fit_intercept = fit_intercept
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        K = int(self.n_costs)
        self._plan = OmcslPlan(
            logistic=self.loss == "logistic",
            rate=float(self.learning_rate),
            rate_decays=bool(self.decay),
            regularization=float(self.regularization),
            averages=bool(self.average),
            intercept=bool(self.fit_intercept),
            experts=experts_plan(
                self.measure,
                self.sharpness,
                refresh=self.refresh,
                key=self.key,
                n_bins=self.n_bins,
                trapezoid=self.interpolation == "trapezoid",
            ),
        )
        theta = np.arange(1, K + 1) / (K + 1)
        self._costs = np.stack([1.0 - theta / 2.0, theta / 2.0])
        self._columns = empty_columns(n_features, K, self._plan.averages)
        self._experts = empty_experts(self._plan.experts, K)
        self._work, self._all_scores = np.zeros(K), _NO_SCORES

    _run = staticmethod(omcsl_run)
    _score_rows = staticmethod(omcsl_score_rows)

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        model = (self._columns, self._experts, self._costs, self._plan)
        return (*model, rows, signs, costs, draws, self._work, scores, self._all_scores)

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        return self._columns, self._experts, self._plan, rows, scores

    @property
    def _draws_a_row(self) -> int:
        return 1

    @property
    def _best(self) -> int:
        return int(np.argmax(self._experts.standing[CHANCE]))

    def _merge(self, models: list[Any], shares: Floats) -> None:
        self._merge_columns(models, shares)
        self._experts = added_experts([model._experts for model in models], self._plan.experts)

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return named_arrays(columns=self._columns) | experts_arrays(self._experts)

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        self._columns = restored_columns(arrays, self._columns)
        self._experts = restored_experts(arrays, self._experts)
        self._unbind()

    def expert_scores(self, X: Any) -> Floats:
        """The scores of all K columns, (n_samples, K). Changes nothing, draws nothing."""
        self._check_started()
        X = validation.checked_features(self, X, first=False)
        weights = self._all_weights(self._plan.averages)
        return np.asarray(X @ weights[:-1] + weights[-1])

    def progressive_expert_scores(self, X: Any, y: Any, classes: Any = None) -> Floats:
        """As `progressive_scores`, but of all K columns, (n_samples, K): one pass for every measure."""
        with self._alone:
            X, signs, weights = self._next(X, y, classes, None)
            turns = 2 if self._wants_answers else 1
            self._all_scores = np.zeros((turns * signs.size, self._costs.shape[1]))
            try:
                self._learn_checked(X, signs, weights, every_score=True)
                return self._all_scores[turns - 1 :: turns]
            finally:
                self._all_scores = _NO_SCORES
                self._unbind()

    @property
    def expert_weights_(self) -> Floats:
        """p: how likely each column is to answer (a copy)."""
        self._check_started()
        return self._experts.standing[CHANCE].copy()

    @property
    def expert_measures_(self) -> dict[str, Floats]:
        """What each column has achieved so far, by measure; the areas only if `measure` is one of them."""
        self._check_started()
        return measures_of(self._experts, self._plan.experts)

    @property
    def costs_(self) -> Floats:
        """c+: what a missed positive costs in each column; a false alarm costs 1 - c+ (a copy)."""
        self._check_started()
        return self._costs[0].copy()

    @property
    def chosen_cost_(self) -> float:
        """c+ of the column that answers."""
        self._check_started()
        return float(self._costs[0, self._best])

    @property
    def coef_(self) -> Floats:
        """The weights, (n_features, K); averaged if `average` (a copy)."""
        self._check_started()
        return self._all_weights(self._plan.averages)[:-1].copy()

    @property
    def intercept_(self) -> Floats:
        """The biases, (K,); 0 without `fit_intercept` (a copy)."""
        self._check_started()
        return self._all_weights(self._plan.averages)[-1].copy()
