"""Linear classifiers that judge each example by its own score: perceptron, cost-sensitive descent, F-optimal online."""

from __future__ import annotations

from typing import Any, ClassVar

from lopsided.constraints import Constraint, choice, flag, nothing, number
from lopsided.core.linear.weight_vector import (
    F_OPTIMAL,
    PERCEPTRON,
    SHIFTED_MARGIN,
    WEIGHTED_LOSS,
    LinearPlan,
    threshold_of,
)
from lopsided.estimators.linear.weight_vector import LINEAR, LOSS, RATE, PointwiseLinearLearner


class OnlinePerceptron(PointwiseLinearLearner):
    """Learns a linear classifier from its mistakes, blind to how rare a class is. The plainest baseline.

    For each example with y f(x) <= 0::

        w += eta y x

    Cost of one example: O(n_features), or O(non-zeros) for CSR. Memory: one number a feature.

    Parameters
    ----------
    learning_rate : float > 0, default=1.0
        Step size eta.
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
        Only used by `shuffle`: learning itself draws nothing.

    Examples
    --------
    >>> from lopsided import OnlinePerceptron
    >>> from lopsided.datasets import overlapping
    >>> from lopsided.metrics import auroc
    >>> stream = overlapping(2_000, 20)
    >>> learner = OnlinePerceptron(fit_intercept=True)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.834

    References
    ----------
    F. Rosenblatt, "The Perceptron", Psychological Review 65(6), 1958.
    """

    _constraints: ClassVar[dict[str, Constraint]] = LINEAR | RATE

    def __init__(
        self,
        learning_rate: float = 1.0,
        fit_intercept: bool = False,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.fit_intercept = fit_intercept
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _make_plan(self) -> LinearPlan:
        return LinearPlan(PERCEPTRON, False, float(self.learning_rate), False, 1.0, bool(self.fit_intercept))


class OCS(PointwiseLinearLearner):
    """Learns a linear classifier by online gradient descent in which a positive costs more than a negative.

    How much more is rho: by default the ratio of negatives to positives seen so far, so that both classes weigh the
    same in total, or a fixed `cost_ratio`. Variant 1 asks a margin of rho of the positives, variant 2 multiplies their
    loss by rho. With r = rho for a positive and 1 for a negative, and z = y f(x)::

        variant 1:  loss max(0, r - z)  or  log(1 + exp(r - z))
        variant 2:  loss r max(0, 1 - z)  or  r log(1 + exp(-z)),     w -= eta gradient

    Cost of one example: O(n_features), or O(non-zeros) for CSR. Memory: one number a feature.

    Parameters
    ----------
    variant : 1 or 2, default=1
        1 asks a margin of rho of the positives, 2 multiplies their loss by rho.
    loss : {"hinge", "logistic"}, default="hinge"
        The loss whose gradient is followed.
    learning_rate : float > 0, default=0.1
        Step size eta. With `decay` it is eta / sqrt(t) at step t.
    decay : bool, default=False
        Whether the step size falls as 1 / sqrt(t).
    cost_ratio : float > 0 or None, default=None
        How much more a positive costs than a negative, rho. None takes the ratio of negatives to positives seen so
        far.
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
        Only used by `shuffle`: learning itself draws nothing.

    Examples
    --------
    >>> from lopsided import OCS
    >>> from lopsided.datasets import overlapping
    >>> from lopsided.metrics import auroc
    >>> stream = overlapping(2_000, 20)
    >>> learner = OCS(variant=2, fit_intercept=True)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.897

    References
    ----------
    J. Wang, P. Zhao, S. C. H. Hoi, "Cost-Sensitive Online Classification", ICDM 2012 (COG-I and COG-II). The original
    knows the ratio of the classes beforehand.
    """

    _constraints: ClassVar[dict[str, Constraint]] = (
        LINEAR
        | RATE
        | LOSS
        | {
            "variant": Constraint(lambda value: value in (1, 2) and not isinstance(value, bool), "1 or 2"),
            "decay": flag(),
            "cost_ratio": nothing() | number(above=0),
        }
    )

    def __init__(
        self,
        variant: int = 1,
        loss: str = "hinge",
        learning_rate: float = 0.1,
        decay: bool = False,
        cost_ratio: float | None = None,
        fit_intercept: bool = False,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.variant = variant
        self.loss = loss
        self.learning_rate = learning_rate
        self.decay = decay
        self.cost_ratio = cost_ratio
        self.fit_intercept = fit_intercept
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _make_plan(self) -> LinearPlan:
        return LinearPlan(
            SHIFTED_MARGIN if self.variant == 1 else WEIGHTED_LOSS,
            self.loss == "logistic",
            float(self.learning_rate),
            bool(self.decay),
            float(self.cost_ratio or 0.0),
            bool(self.fit_intercept),
        )


class OFO(PointwiseLinearLearner):
    """Learns probabilities and the threshold on them that maximises F1, both online.

    The score is q - tau, where q is the probability and tau, half of F1 so far, the best threshold for it. Ranking by
    q is ranking by w.x; with the hinge loss q is cut off at 0 and 1, which ties what lies beyond.

    For each example, called positive if q > tau::

        a += [positive and called],    b += [positive] + [called],    tau = a / b,    w -= eta gradient of the loss

    Cost of one example: O(n_features), or O(non-zeros) for CSR. Memory: one number a feature.

    Parameters
    ----------
    loss : {"logistic", "hinge"}, default="logistic"
        The loss whose gradient is followed. The probability q is 1 / (1 + exp(-f)) with "logistic", (1 + f) / 2 cut
        to [0, 1] with "hinge".
    learning_rate : float > 0, default=0.1
        Step size eta. With `decay` it is eta / sqrt(t) at step t.
    decay : bool, default=True
        Whether the step size falls as 1 / sqrt(t).
    fit_intercept : bool, default=False
        Whether to learn a bias, as the weight of a feature that is always 1.
    threshold : float or {"zero", "f1", "gmean", "rate:SHARE"}, default="zero"
        The score above which `predict` answers with the positive label. "zero" is 0, where q = tau: the published
        rule. "f1" and "gmean" maximise that measure over the latest progressive scores. "rate:0.01" flags that
        share of the stream, an alert budget.
    pos_label : label or None, default=None
        The positive label, the one of the rare class. None takes the larger of the two sorted labels. If it is the
        smaller one, scikit-learn's own scorers, which assume the larger, read the score reversed.
    shuffle : bool, default=False
        Whether `fit` shuffles the rows before its single pass. `partial_fit` keeps the order given.
    random_state : int or numpy.random.Generator or None, default=None
        Only used by `shuffle`: learning itself draws nothing.

    Examples
    --------
    >>> from lopsided import OFO
    >>> from lopsided.datasets import overlapping
    >>> from lopsided.metrics import f1
    >>> stream = overlapping(2_000, 20)
    >>> learner = OFO(learning_rate=1.0, fit_intercept=True)
    >>> round(f1(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.401
    >>> round(2 * learner.tau_, 3)  # F1 so far
    0.401

    References
    ----------
    R. Busa-Fekete, B. Szorenyi, K. Dembczynski, E. Hullermeier, "Online F-Measure Optimization", NIPS 2015. The model
    of the probability is open there.
    """

    _takes_small_steps = True
    _constraints: ClassVar[dict[str, Constraint]] = (
        LINEAR | RATE | {"loss": choice("logistic", "hinge"), "decay": flag()}
    )

    def __init__(
        self,
        loss: str = "logistic",
        learning_rate: float = 0.1,
        decay: bool = True,
        fit_intercept: bool = False,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.decay = decay
        self.fit_intercept = fit_intercept
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _make_plan(self) -> LinearPlan:
        logistic = self.loss == "logistic"
        return LinearPlan(
            F_OPTIMAL, logistic, float(self.learning_rate), bool(self.decay), 1.0, bool(self.fit_intercept)
        )

    @property
    def tau_(self) -> float:
        """The threshold on the probability: half of F1 so far."""
        self._check_started()
        return float(threshold_of(self._model))
