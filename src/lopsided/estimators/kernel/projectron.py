"""Projectron and Projectron++: instead of storing an example, spread it over the vectors that are there."""

from __future__ import annotations

from typing import Any, ClassVar

from lopsided.constraints import Constraint, number, whole
from lopsided.core.pointwise.online_kernel import PROJECTING, PROJECTING_ON_MARGIN_ERRORS, PointwisePlan
from lopsided.core.pointwise.rules import PERCEPTRON
from lopsided.estimators.kernel.online_kernel import OnlineKernelLearner, plan, rule
from lopsided.estimators.kernel.parameters import ONE_KERNEL


class Projectron(OnlineKernelLearner):
    """Learns a kernel perceptron within a budget: once full, mistakes are projected on the vectors that are there.

    For each example with y f(x) <= 0, with q = K^-1 k(x) its projection and delta^2 = k(x, x) - k(x).q::

        if full, or delta^2 <= tol k(x, x):  weights += y q,     else:  weight = y

    Cost of one example: O(budget n_features), and O(budget^2) for a mistake. Memory: 8 budget (budget + n_features)
    bytes, fixed.

    Parameters
    ----------
    budget : int >= 1, default=100
        The most support vectors, B.
    tol : float >= 0, default=1e-08
        An example nearer to the span of the vectors than this share of its squared length is projected even if
        there is room.
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
    >>> from lopsided import Projectron
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = Projectron(gamma=20.0, budget=50, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.91
    >>> learner.n_support_
    50

    References
    ----------
    F. Orabona, J. Keshet, B. Caputo, "Bounded Kernel-Based Online Learning", JMLR 10, 2009, with a budget instead of a
    threshold on the distance; `tol` only guards against duplicates.
    """

    _constraints: ClassVar[dict[str, Constraint]] = ONE_KERNEL | {"budget": whole(1), "tol": number(least=0)}

    def __init__(
        self,
        budget: int = 100,
        tol: float = 1e-8,
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
        self.tol = tol
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _make_plan(self) -> PointwisePlan:
        return plan(rule(PERCEPTRON), budget=self.budget, projection=PROJECTING, tolerance=self.tol)


class ProjectronPP(Projectron):
    """Learns as `Projectron` does, and also from examples within the margin, as far as their projection helps.

    In addition, for each example with 0 < y f(x) < 1, loss l, w = k(x).q and tau = min(l / w, 1)::

        if 2 l - tau w - 2 U delta >= 0:  weights += y tau q,    U = sqrt((B + 1) / log(B + 1)) / 4

    Cost of one example: O(budget n_features), and O(budget^2) for one within the margin. Memory: 8 budget (budget +
    n_features) bytes, fixed.

    Parameters
    ----------
    budget : int >= 1, default=100
        The most support vectors, B.
    tol : float >= 0, default=1e-08
        An example nearer to the span of the vectors than this share of its squared length is projected even if
        there is room.
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
    >>> from lopsided import ProjectronPP
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = ProjectronPP(gamma=20.0, budget=50, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.927
    >>> learner.n_support_
    50

    References
    ----------
    F. Orabona, J. Keshet, B. Caputo, "Bounded Kernel-Based Online Learning", JMLR 10, 2009.
    """

    def _make_plan(self) -> PointwisePlan:
        projection = PROJECTING_ON_MARGIN_ERRORS
        return plan(rule(PERCEPTRON), budget=self.budget, projection=projection, tolerance=self.tol)
