"""Online kernel classifiers with a budget, told apart by who leaves and what becomes of its weight."""

from __future__ import annotations

from typing import Any, ClassVar

from lopsided.constraints import Constraint, choice, number, whole
from lopsided.core.pointwise.budget import (
    DROP,
    LEAST_DAMAGE,
    OLDEST,
    PROJECT_ON_NEWCOMER,
    RESCALE,
    SHRINK_FIRST,
    UNIFORM,
)
from lopsided.core.pointwise.online_kernel import PointwisePlan
from lopsided.core.pointwise.rules import GRADIENT, PASSIVE_AGGRESSIVE, PERCEPTRON
from lopsided.estimators.kernel.online_kernel import OnlineKernelLearner, plan, rule
from lopsided.estimators.kernel.parameters import ONE_KERNEL


class RBP(OnlineKernelLearner):
    """Learns a kernel perceptron within a budget: a full one forgets a vector drawn at random.

    The randomized budget perceptron: the simplest bounded learner, and a yardstick for the others.

    For each example with y f(x) <= 0::

        if full, a uniformly drawn vector leaves;    weight = y

    Cost of one example: O(budget n_features). Memory: (8 n_features + 48) budget bytes, fixed.

    Parameters
    ----------
    budget : int >= 1, default=100
        The most support vectors, B.
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
    >>> from lopsided import RBP
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = RBP(gamma=20.0, budget=50, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.855
    >>> learner.n_support_
    50

    References
    ----------
    G. Cavallanti, N. Cesa-Bianchi, C. Gentile, "Tracking the Best Hyperplane with a Simple Budget Perceptron", Machine
    Learning 69, 2007.
    """

    _constraints: ClassVar[dict[str, Constraint]] = ONE_KERNEL | {"budget": whole(1)}

    def __init__(
        self,
        budget: int = 100,
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
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _make_plan(self) -> PointwisePlan:
        return plan(rule(PERCEPTRON), budget=self.budget, eviction=UNIFORM, draws=True)


class Forgetron(OnlineKernelLearner):
    """Learns a kernel perceptron within a budget: all weights shrink before the oldest vector leaves.

    They shrink just enough for its leaving to do little damage (the self-tuned Forgetron, with its mistake bound).

    For each example with y f(x) <= 0::

        weight = y;    if there is one too many: all weights <- phi weights, and the oldest leaves

    phi <= 1 is the largest number at which the damage of all removals stays below 15/32 of the mistakes.

    Cost of one example: O(budget n_features). Memory: (8 n_features + 48) budget bytes, fixed.

    Parameters
    ----------
    budget : int >= 1, default=100
        The most support vectors, B.
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
    >>> from lopsided import Forgetron
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = Forgetron(gamma=20.0, budget=50, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.879
    >>> learner.n_support_
    50

    References
    ----------
    O. Dekel, S. Shalev-Shwartz, Y. Singer, "The Forgetron: A Kernel-Based Perceptron on a Budget", SIAM J. Computing
    37(5), 2008. Where the quadratic has its larger root beyond 1, a widely copied implementation takes it and inflates
    the model; the root in (0, 1] is taken here.
    """

    _constraints: ClassVar[dict[str, Constraint]] = ONE_KERNEL | {"budget": whole(1)}

    def __init__(
        self,
        budget: int = 100,
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
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _make_plan(self) -> PointwisePlan:
        return plan(rule(PERCEPTRON), budget=self.budget, eviction=OLDEST, repair=SHRINK_FIRST, draws=True)


class BPAS(OnlineKernelLearner):
    """Learns a passive-aggressive kernel classifier within a budget: whoever does the least damage leaves.

    The damage is measured after projecting the leaving vector on the newcomer (budgeted passive-aggressive, simple).

    For each example with loss l > 0 and tau = min(C, l / k(x, x))::

        not full:  weight = y tau
        full:      r = argmin_i a_i^2 (k(z_i, z_i) - k(x, z_i)^2 / k(x, x)) leaves
                   weight = a_r k(x, z_r) / k(x, x) + y tau

    Cost of one example: O(budget n_features). Memory: (8 n_features + 48) budget bytes, fixed.

    Parameters
    ----------
    budget : int >= 1, default=100
        The most support vectors, B.
    C : float > 0, default=1.0
        The largest step. `sample_weight` multiplies it.
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
    >>> from lopsided import BPAS
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = BPAS(gamma=20.0, budget=50, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.928
    >>> learner.n_support_
    50

    References
    ----------
    Z. Wang, S. Vucetic, "Online Passive-Aggressive Algorithms on a Budget", AISTATS 2010.
    """

    _constraints: ClassVar[dict[str, Constraint]] = ONE_KERNEL | {"budget": whole(1), "C": number(above=0)}

    def __init__(
        self,
        budget: int = 100,
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
        self.budget = budget
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
        return plan(
            rule(PASSIVE_AGGRESSIVE, cap=self.C),
            budget=self.budget,
            eviction=LEAST_DAMAGE,
            repair=PROJECT_ON_NEWCOMER,
            draws=True,
        )


class BOGD(OnlineKernelLearner):
    """Learns a kernel classifier by regularised gradient steps within a budget (bounded online gradient descent).

    For each example::

        weights <- (1 - eta lambda) weights,    and if y f(x) < 1:  weight = eta y, after one has left if full

    The oldest leaves; or, with removal="uniform", one drawn at random, the others growing by B / (B - 1) to make up for
    it, all being kept below 10 eta.

    Cost of one example: O(budget n_features). Memory: (8 n_features + 48) budget bytes, fixed.

    Parameters
    ----------
    budget : int >= 1, default=100
        The most support vectors, B.
    learning_rate : float > 0, default=0.1
        Step size eta.
    regularization : float >= 0, default=0.001
        How strongly all weights shrink at each step, lambda. They are multiplied by (1 - eta lambda).
    removal : {"oldest", "uniform"}, default="oldest"
        Who leaves when there are too many: the oldest vector, or a random one, the others growing to make up for
        it.
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
    >>> from lopsided import BOGD
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = BOGD(gamma=20.0, budget=50, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.769
    >>> learner.n_support_
    50

    References
    ----------
    P. Zhao, J. Wang, P. Wu, R. Jin, S. C. H. Hoi, "Fast Bounded Online Gradient Descent Algorithms for Scalable
    Kernel-Based Online Learning", ICML 2012. It leaves open which vector is discarded; the oldest matches its accuracy.
    """

    _takes_small_steps = True
    _constraints: ClassVar[dict[str, Constraint]] = ONE_KERNEL | {
        "budget": whole(1),
        "learning_rate": number(above=0),
        "regularization": number(least=0),
        "removal": choice("oldest", "uniform"),
    }

    def __init__(
        self,
        budget: int = 100,
        learning_rate: float = 0.1,
        regularization: float = 1e-3,
        removal: str = "oldest",
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
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.removal = removal
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _make_plan(self) -> PointwisePlan:
        uniform = self.removal == "uniform"
        return plan(
            rule(GRADIENT),
            budget=self.budget,
            eviction=UNIFORM if uniform else OLDEST,
            repair=RESCALE if uniform else DROP,
            rate=self.learning_rate,
            shrinkage=self.regularization,
            draws=True,
        )
