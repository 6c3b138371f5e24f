"""Online bagging with resampling of the classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lopsided.constraints import Constraint, choice, flag, number, whole
from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.geometry.points import Rows
from lopsided.core.linear.bagging import BaggingPlan, bagging_run, bagging_score_rows, resampling_rates
from lopsided.core.linear.weight_columns import empty_columns
from lopsided.estimators.base.merging import averaged
from lopsided.estimators.linear.weight_columns import ColumnsLearner, restored_columns
from lopsided.estimators.linear.weight_vector import LINEAR, LOSS, RATE
from lopsided.estimators.state.arrays import named_arrays, taken

_SHARE = number(above=0)


class ResamplingBagging(ColumnsLearner):
    """Learns a vote of linear classifiers, each of which sees every example a random number of times.

    "over" repeats the examples of the rare class ("under" leaves out those of the frequent one) so that both classes
    count the same; how frequent they are is followed as the stream goes. A baseline: the score is a vote, so it takes
    few values and ranks coarsely.

    For each example, class sizes w_k <- theta w_k + (1 - theta) [y = k], for each member::

        k ~ Poisson(max(w) / w_y)  (under: min(w) / w_y),      w -= eta_t k gradient of the loss

    Cost of one example: O(members n_features), or O(members non-zeros) for CSR. Memory: 8 members n_features bytes.

    Parameters
    ----------
    mode : {"over", "under"}, default="over"
        Repeat examples of the rare class, or leave out those of the frequent one.
    n_members : int >= 1, default=15
        How many classifiers vote.
    forgetting : float > 0 and < 1, default=0.9
        Weight of the past in the class sizes at each new example, theta. At 0.9 the rate never exceeds 9; 0.99 or
        0.999 can follow rarer classes.
    loss : {"hinge", "logistic"}, default="hinge"
        The loss whose gradient is followed.
    learning_rate : float > 0, default=0.1
        Step size eta. With `decay` it is eta / sqrt(t) at step t.
    decay : bool, default=True
        Whether the step size falls as 1 / sqrt(t).
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
        Seed of the repetitions, `rng.poisson(rate)` for each member and example. The same int gives the same model;
        None takes fresh entropy.

    Examples
    --------
    >>> from lopsided import ResamplingBagging
    >>> from lopsided.datasets import overlapping
    >>> from lopsided.metrics import auroc
    >>> stream = overlapping(2_000, 20)
    >>> learner = ResamplingBagging(fit_intercept=True, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.904

    References
    ----------
    S. Wang, L. L. Minku, X. Yao, "Resampling-Based Ensemble Methods for Online Class Imbalance Learning", IEEE TKDE
    27(5), 2015 (improved OOB and UOB). Members are linear here.
    """

    _takes_small_steps = True
    _constraints: ClassVar[dict[str, Constraint]] = (
        LINEAR
        | RATE
        | LOSS
        | {
            "mode": choice("over", "under"),
            "n_members": whole(1),
            "forgetting": Constraint(lambda v: _SHARE.accepts(v) and v < 1, "a number > 0 and < 1"),
            "decay": flag(),
        }
    )

    def __init__(
        self,
        mode: str = "over",
        n_members: int = 15,
        forgetting: float = 0.9,
        loss: str = "hinge",
        learning_rate: float = 0.1,
        decay: bool = True,
        fit_intercept: bool = False,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.mode = mode
        self.n_members = n_members
        self.forgetting = forgetting
        self.loss = loss
        self.learning_rate = learning_rate
        self.decay = decay
        self.fit_intercept = fit_intercept
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        self._plan = BaggingPlan(
            self.loss == "logistic", float(self.learning_rate), bool(self.decay), bool(self.fit_intercept)
        )
        self._resampling = float(self.forgetting), self.mode == "over"
        members = int(self.n_members)
        self._columns = empty_columns(n_features, members, averages=False)
        self._sizes, self._work = np.full(2, 0.5), np.zeros(members)
        self._times_of_one = np.zeros((1, members), dtype=np.int64)

    _run = staticmethod(bagging_run)
    _score_rows = staticmethod(bagging_score_rows)

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        # The last two say how often to learn each example, and with which row that begins: here for a single example.
        return self._columns, self._plan, rows, signs, costs, self._work, scores, self._times_of_one, 0

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        return self._columns, self._plan, rows, self._work, scores

    def _times(self, signs: Floats) -> Integers:
        """How often each member is to learn each example. The rates depend on the labels alone."""
        rates = np.empty(signs.size)
        resampling_rates(self._sizes, *self._resampling, signs, rates)
        return self._uniforms.rng.poisson(np.repeat(rates[:, None], self._work.size, axis=1))

    def _run_span(self, rows: Rows, arguments: tuple[Any, ...], start: int, stop: int) -> int:
        signs = arguments[3][start:stop]
        learned = ~np.isnan(signs)
        times = np.zeros((signs.size, self._work.size), dtype=np.int64)
        times[learned] = self._times(signs[learned])
        return bagging_run(*(*arguments[:-2], times, start, start, stop))

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        self._times_of_one[:] = self._times(np.array([sign]))
        return super()._learn_one(sign, weight)

    def _merge(self, models: list[Any], shares: Floats) -> None:
        self._merge_columns(models, shares)
        self._sizes[:] = averaged([model._sizes for model in models], shares)

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return named_arrays(columns=self._columns) | {"sizes": self._sizes}

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        self._columns = restored_columns(arrays, self._columns)
        self._sizes = taken(arrays, "sizes", np.float64, (2,))
        self._unbind()

    @property
    def coef_(self) -> Floats:
        """The weights of the members, (n_members, n_features) (a copy)."""
        return np.ascontiguousarray(self._all_weights()[:-1].T)

    @property
    def intercept_(self) -> Floats:
        """The biases of the members, (n_members,); 0 without `fit_intercept` (a copy)."""
        return self._all_weights()[-1].copy()
