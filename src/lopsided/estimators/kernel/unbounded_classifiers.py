"""Online kernel classifiers without a budget (NORMA may have one): what bounded learners are measured against."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lopsided.constraints import Constraint, flag, nothing, number, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.pointwise.budget import OLDEST
from lopsided.core.pointwise.online_kernel import PointwisePlan
from lopsided.core.pointwise.rules import GRADIENT, PASSIVE_AGGRESSIVE, PERCEPTRON
from lopsided.estimators.base.validation import as_rows
from lopsided.estimators.kernel.online_kernel import OnlineKernelLearner, plan, rule
from lopsided.estimators.kernel.parameters import ONE_KERNEL
from lopsided.estimators.kernel.uniting import united, without
from lopsided.estimators.kernel.uniting_supports import add_steps
from lopsided.estimators.state.points import numbers_of


class KernelPerceptron(OnlineKernelLearner):
    """Learns a kernel classifier by storing every example it gets wrong; nothing bounds it but its mistakes.

    The simplest one, and the yardstick: there is nothing to tune.

    For each example with y f(x) <= 0::

        weight = y

    Cost of one example: O(vectors n_features). Memory: 8 n_features + 48 bytes a vector, growing by doubling.

    Parameters
    ----------
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
    >>> from lopsided import KernelPerceptron
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = KernelPerceptron(gamma=20.0, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.91
    >>> learner.n_support_
    108

    References
    ----------
    Y. Freund, R. E. Schapire, "Large Margin Classification Using the Perceptron Algorithm", Machine Learning 37, 1999.
    """

    _constraints: ClassVar[dict[str, Constraint]] = ONE_KERNEL

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | str = 1.0,
        degree: int = 3,
        coef0: float = 0.0,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _make_plan(self) -> PointwisePlan:
        return plan(rule(PERCEPTRON))


class KernelOGD(OnlineKernelLearner):
    """Learns a kernel classifier by gradient steps of the hinge loss, storing every example within the margin.

    The unbounded gradient method: often the most accurate baseline, and the one that grows fastest.

    For each example with y f(x) < 1::

        weight = eta y

    Cost of one example: O(vectors n_features). Memory: 8 n_features + 48 bytes a vector, growing by doubling.

    Parameters
    ----------
    learning_rate : float > 0, default=0.1
        Step size eta.
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
    >>> from lopsided import KernelOGD
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = KernelOGD(gamma=20.0, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.943
    >>> learner.n_support_
    380

    References
    ----------
    J. Kivinen, A. J. Smola, R. C. Williamson, "Online Learning with Kernels", IEEE Trans. Signal Processing 52(8), 2004
    (without regularisation).
    """

    _constraints: ClassVar[dict[str, Constraint]] = ONE_KERNEL | {"learning_rate": number(above=0)}

    def __init__(
        self,
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
        self.learning_rate = learning_rate
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _make_plan(self) -> PointwisePlan:
        return plan(rule(GRADIENT), rate=self.learning_rate)

    def _merge(self, models: list[Any], shares: Floats) -> None:
        """The first model, which is shown the vectors of the others: each makes its step where its margin is too small.

        They are the rows that others have stepped at. An average would give each a fraction of its step, which is too
        little while models have seen few rows; nobody needs more than its margin asks for.
        """
        used = self.n_support_
        both = united([model._kept() for model in models[1:]], np.ones(len(models) - 1))
        both = without(both, self._kept())
        self._learn(as_rows(both.vectors), both.signs, np.abs(both.weights) / self._plan.rate, every_score=False)
        numbers_of(self._points)[self._expansion.order[used : self.n_support_]] = 0  # rows of other streams
        add_steps(self._expansion, [model._expansion for model in models])
        self._points.marks[-1] = self.n_seen_
        self._make_workspace()


class NORMA(OnlineKernelLearner):
    """Learns a kernel classifier by regularised gradient steps of the hinge loss: every weight shrinks at every step.

    Use it with a `budget`: what is oldest has shrunk most and is dropped first.

    For each example, with eta_t = eta or eta / sqrt(t)::

        weights <- (1 - eta_t lambda) weights,    and if y f(x) < margin:  weight = eta_t y

    Cost of one example: O(vectors n_features). Memory: 8 n_features + 48 bytes a vector, fixed with a budget.

    Parameters
    ----------
    learning_rate : float > 0, default=0.1
        Step size eta.
    regularization : float >= 0, default=0.01
        How strongly all weights shrink at each step, lambda. They are multiplied by (1 - eta_t lambda).
    margin : float >= 0, default=1.0
        Examples with y f(x) below it are stored.
    decay : bool, default=False
        Whether the step size falls: eta_t = eta / sqrt(t) instead of eta.
    budget : int >= 1 or None, default=None
        The most support vectors; the oldest is dropped. None sets no limit.
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
    >>> from lopsided import NORMA
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = NORMA(gamma=20.0, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.942
    >>> learner.n_support_
    460

    References
    ----------
    J. Kivinen, A. J. Smola, R. C. Williamson, "Online Learning with Kernels", IEEE Trans. Signal Processing 52(8),
    2004.
    """

    _takes_small_steps = True
    _constraints: ClassVar[dict[str, Constraint]] = ONE_KERNEL | {
        "learning_rate": number(above=0),
        "regularization": number(least=0),
        "margin": number(least=0),
        "decay": flag(),
        "budget": nothing() | whole(1),
    }

    def __init__(
        self,
        learning_rate: float = 0.1,
        regularization: float = 0.01,
        margin: float = 1.0,
        decay: bool = False,
        budget: int | None = None,
        kernel: Any = "rbf",
        gamma: float | str = 1.0,
        degree: int = 3,
        coef0: float = 0.0,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.margin = margin
        self.decay = decay
        self.budget = budget
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _make_plan(self) -> PointwisePlan:
        return plan(
            rule(GRADIENT, margin=self.margin),
            budget=self.budget or 0,
            eviction=OLDEST,
            rate=self.learning_rate,
            rate_decays=self.decay,
            shrinkage=self.regularization,
        )


class KernelPA(OnlineKernelLearner):
    """Learns a kernel classifier by the smallest change that gets each example right, at most C (PA-I).

    For each example with loss l = max(0, 1 - y f(x)) > 0::

        weight = y min(C, l / k(x, x))

    Cost of one example: O(vectors n_features). Memory: 8 n_features + 48 bytes a vector, growing by doubling.

    Parameters
    ----------
    C : float > 0, default=1.0
        The largest weight that an example can get. `sample_weight` multiplies it.
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
    >>> from lopsided import KernelPA
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = KernelPA(gamma=20.0, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.933
    >>> learner.n_support_
    270

    References
    ----------
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, "Online Passive-Aggressive Algorithms", JMLR 7, 2006.
    """

    _constraints: ClassVar[dict[str, Constraint]] = ONE_KERNEL | {"C": number(above=0)}

    def __init__(
        self,
        C: float = 1.0,
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
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _make_plan(self) -> PointwisePlan:
        return plan(rule(PASSIVE_AGGRESSIVE, cap=self.C))
