"""SPA and OSKL: classifiers that let an example in by the toss of a coin, and answer with their average."""

from __future__ import annotations

from typing import Any, ClassVar

from lopsided.constraints import Constraint, ParameterError, flag, nothing, number, whole
from lopsided.core.pointwise.online_kernel import PointwisePlan
from lopsided.core.pointwise.rules import SAMPLED_LOGISTIC, SPARSE_PASSIVE_AGGRESSIVE
from lopsided.estimators.kernel.online_kernel import OnlineKernelLearner, plan, rule
from lopsided.estimators.kernel.parameters import ONE_KERNEL


def check_sampling(owner: str, loss_cap: float, sampling_scale: float) -> None:
    """A probability min(loss_cap, l) / sampling_scale must not exceed 1."""
    if loss_cap > sampling_scale:
        raise ParameterError(
            f"The 'loss_cap' parameter of {owner} must be at most 'sampling_scale', {sampling_scale!r}. "
            f"Got {loss_cap!r} instead."
        )


class SPA(OnlineKernelLearner):
    """Learns a kernel classifier from a sample of the examples it gets wrong, and answers with an average.

    The average is that of all classifiers so far; the expected number of support vectors is at most loss_cap T /
    sampling_scale after T examples.

    Use it for long streams in which accuracy matters: a step that lets nothing in costs one kernel row, weights never
    change afterwards, and the average is bounded like the last classifier. With a `budget` the vectors never exceed it,
    however long the stream is.

    For each example with loss l = max(0, 1 - y f(x)), from the last classifier f::

        let in with probability rho = min(loss_cap, l) / sampling_scale,   weight = y min(eta / rho, l / k(x, x))

    With a `budget` B, sampling_scale at step t is at least loss_cap t / (B - vectors).

    Cost of one example: O(vectors n_features), or O(vectors non-zeros) for CSR. Memory: 8 n_features + 48 bytes a
    vector, growing by doubling, or fixed with a budget.

    Parameters
    ----------
    learning_rate : float > 0, default=0.1
        Step size eta.
    loss_cap : float > 0 and <= sampling_scale, default=1.0
        Loss beyond which an example is no more likely to be let in, alpha.
    sampling_scale : float > 0, default=20.0
        How rarely examples are let in, beta: the larger, the fewer vectors.
    average : bool, default=True
        Whether to answer with the average of all classifiers so far, (1/T) sum f_t, or with the last one.
    budget : int >= 1 or None, default=None
        The most support vectors ever. None sets no limit: their expected number grows with the stream.
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
    >>> from lopsided import SPA
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = SPA(gamma=20.0, sampling_scale=2.0, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.939
    >>> learner.n_support_
    136

    References
    ----------
    J. Lu, D. Sahoo, P. Zhao, S. C. H. Hoi, "Sparse Passive-Aggressive Learning for Bounded Online Kernel Methods", ACM
    TIST 9(4), 2018. The budget is ours: the published bound grows with the stream.
    """

    _constraints: ClassVar[dict[str, Constraint]] = ONE_KERNEL | {
        "learning_rate": number(above=0),
        "loss_cap": number(above=0),
        "sampling_scale": number(above=0),
        "average": flag(),
        "budget": nothing() | whole(1),
    }

    @property
    def _remembers_its_answers(self) -> bool:
        return False  # but those of the last model, and of rows that were drawn

    def __init__(
        self,
        learning_rate: float = 0.1,
        loss_cap: float = 1.0,
        sampling_scale: float = 20.0,
        average: bool = True,
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
        self.loss_cap = loss_cap
        self.sampling_scale = sampling_scale
        self.average = average
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
            rule(SPARSE_PASSIVE_AGGRESSIVE, loss_cap=self.loss_cap),
            rate=self.learning_rate,
            sampling_scale=self.sampling_scale,
            sample_budget=self.budget or 0,
            draws=True,
            averages=self.average,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_sampling("SPA", self.loss_cap, self.sampling_scale)


class OSKL(OnlineKernelLearner):
    """Learns a kernel classifier by unbiased, mostly empty, steps of the logistic loss; answers with an average.

    The other sampler among the published ones, for comparison with `SPA`: the number of vectors grows with the stream.

    For each example::

        let in with probability 1 / (1 + exp(y f(x))) / G,    weight = y eta G

    Cost of one example: O(vectors n_features). Memory: 8 n_features + 48 bytes a vector, growing by doubling.

    Parameters
    ----------
    learning_rate : float > 0, default=0.1
        Step size eta.
    sparsity : float >= 1, default=10.0
        How rarely examples are let in, G: the larger, the fewer vectors, each with a larger weight.
    average : bool, default=True
        Whether to answer with the average of all classifiers so far, (1/T) sum f_t, or with the last one.
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
    >>> from lopsided import OSKL
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = OSKL(gamma=20.0, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.625
    >>> learner.n_support_
    28

    References
    ----------
    L. Zhang, J. Yi, R. Jin, M. Lin, X. He, "Online Kernel Learning with a Near Optimal Sparsity Bound", ICML 2013. Loss
    and radius of projection are left open where it is compared with; logistic and none are chosen here.
    """

    _takes_small_steps = True
    _constraints: ClassVar[dict[str, Constraint]] = ONE_KERNEL | {
        "learning_rate": number(above=0),
        "sparsity": number(least=1),
        "average": flag(),
    }

    @property
    def _remembers_its_answers(self) -> bool:
        return False  # but those of the last model, and of rows that were drawn

    def __init__(
        self,
        learning_rate: float = 0.1,
        sparsity: float = 10.0,
        average: bool = True,
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
        self.sparsity = sparsity
        self.average = average
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
            rule(SAMPLED_LOGISTIC),
            rate=self.learning_rate,
            sampling_scale=self.sparsity,
            draws=True,
            averages=self.average,
        )
