"""BOMKC and OMKC: classifiers that let several kernels vote, and learn online whom to trust."""

from __future__ import annotations

from typing import Any, ClassVar

from lopsided.constraints import Constraint, ParameterError, choice, flag, nothing, number, whole
from lopsided.core.pointwise.budget import (
    DROP,
    LEAST_DAMAGE,
    NOBODY,
    OLDEST,
    PROJECT_ON_NEWCOMER,
    SHRINK_FIRST,
    UNIFORM,
    Budget,
)
from lopsided.core.pointwise.rules import GRADIENT, PASSIVE_AGGRESSIVE, PERCEPTRON, SPARSE_PASSIVE_AGGRESSIVE
from lopsided.core.pointwise.votes import VotePlan
from lopsided.estimators.kernel.online_kernel import rule
from lopsided.estimators.kernel.parameters import POOL
from lopsided.estimators.kernel.spa import check_sampling
from lopsided.estimators.kernel.voting import VotingLearner

_HEDGE: dict[str, Constraint] = {
    "discount": number(above=0, most=1),
    "exploration": number(least=0, most=1),
    "zero_vote": Constraint(lambda value: value in (-1, 0, 1) and not isinstance(value, bool), "-1, 0 or 1"),
    "unit_norm": flag(),
    "strict": flag(),
}


class BOMKC(VotingLearner):
    """Learns one sparse passive-aggressive classifier per kernel, and which of them to trust, in bounded expectation.

    Use it to classify when the kernel is unknown. What bounds it is the toss: kernel i lets an example in with
    probability rho_i p_i, rho_i = min(loss_cap, l_i) / sampling_scale, the rule of `SPA`, p_i near 1 for kernels
    that have been right.

    For each example, all kernels voting before anything changes::

        vote = sum_i theta_i sign f_i(x),       p_i = (1 - delta) theta_i / max theta + delta
        let in with probability rho_i p_i,      weight = y min(eta / rho_i, l_i / k_i(x, x))
        theta_i <- gamma theta_i if y f_i(x) <= 0,      then theta <- theta / sum theta

    Cost of one example: O(distinct vectors n_features + vectors of all kernels); an example that several kernels hold
    is stored, and its distance computed, once. Memory: 8 n_features bytes a distinct vector and 48 a kernel that holds
    it, growing by doubling.

    Parameters
    ----------
    kernels : list of kernels or {"default", "bayes"}, default="default"
        The pool. "default" is 16 kernels: Gaussians of width 2^-6 ... 2^6 and the polynomials (x.z)^1, 2, 3.
        "bayes" is 13 Gaussians and 5 normalised polynomials.
    learning_rate : float > 0, default=0.1
        Step size eta.
    loss_cap : float > 0 and <= sampling_scale, default=1.0
        Loss beyond which an example is no more likely to be let in, alpha.
    sampling_scale : float > 0, default=3.0
        How rarely examples are let in, beta: the larger, the fewer vectors. 10 suits 10^5 examples and more.
    discount : float > 0 and <= 1, default=0.99
        Share of its weight that a kernel keeps when it was wrong, gamma.
    exploration : float from 0 to 1, default=0.001
        Smallest chance of a kernel to learn from an example, delta.
    zero_vote : 1 or 0 or -1, default=1
        How a kernel whose score is 0 votes.
    unit_norm : bool, default=False
        Whether k(x, x) = 1 is taken in the step, as the authors' program does.
    strict : bool, default=False
        Whether a kernel is discounted only for y f < 0, as printed. A kernel that always says 0 then ends up
        dominating.
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
    >>> from lopsided import BOMKC
    >>> from lopsided.datasets import four_clusters
    >>> stream = four_clusters(random_state=0)
    >>> learner = BOMKC(random_state=0)
    >>> votes = learner.progressive_scores(stream.X, stream.y)
    >>> round(float(((votes > 0) == stream.y).mean()), 3)
    0.808
    >>> learner.n_support_
    1624

    References
    ----------
    J. Lu, D. Sahoo, P. Zhao, S. C. H. Hoi, "Sparse Passive-Aggressive Learning for Bounded Online Kernel Methods", ACM
    TIST 9(4), 2018.
    """

    _constraints: ClassVar[dict[str, Constraint]] = (
        POOL
        | _HEDGE
        | {"learning_rate": number(above=0), "loss_cap": number(above=0), "sampling_scale": number(above=0)}
    )

    def __init__(
        self,
        kernels: Any = "default",
        learning_rate: float = 0.1,
        loss_cap: float = 1.0,
        sampling_scale: float = 3.0,
        discount: float = 0.99,
        exploration: float = 0.001,
        zero_vote: int = 1,
        unit_norm: bool = False,
        strict: bool = False,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.learning_rate = learning_rate
        self.loss_cap = loss_cap
        self.sampling_scale = sampling_scale
        self.discount = discount
        self.exploration = exploration
        self.zero_vote = zero_vote
        self.unit_norm = unit_norm
        self.strict = strict
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_sampling("BOMKC", self.loss_cap, self.sampling_scale)

    def _make_plan(self, n_kernels: int, wants_dots: bool) -> VotePlan:
        return VotePlan(
            rule=rule(SPARSE_PASSIVE_AGGRESSIVE, loss_cap=self.loss_cap, unit_norm=self.unit_norm),
            budget=Budget(0, NOBODY, DROP),
            rate=float(self.learning_rate),
            shrinkage=0.0,
            sampling_scale=float(self.sampling_scale),
            total=0,
            stochastic=True,
            hedges=True,
            trials=True,
            evictions=False,
            discount=float(self.discount),
            exploration=float(self.exploration),
            zero_vote=float(self.zero_vote),
            strict=bool(self.strict),
            wants_dots=wants_dots,
        )


# base: rule, who leaves, repair, whether a step draws an eviction uniform a kernel
_BASES: dict[str, tuple[int, int, int, bool]] = {
    "perceptron": (PERCEPTRON, NOBODY, DROP, False),
    "pa": (PASSIVE_AGGRESSIVE, NOBODY, DROP, False),
    "rbp": (PERCEPTRON, UNIFORM, DROP, True),
    "forgetron": (PERCEPTRON, OLDEST, SHRINK_FIRST, False),
    "bogd": (GRADIENT, OLDEST, DROP, True),
    "bpas": (PASSIVE_AGGRESSIVE, LEAST_DAMAGE, PROJECT_ON_NEWCOMER, False),
}


class OMKC(VotingLearner):
    """Learns one classifier per kernel and which of them to trust; unbounded, or within one budget for all kernels.

    The baselines of `BOMKC`. Variant "U" gives all kernels the same say, "DD" discounts those that were wrong, "SD"
    also lets kernel i learn only with probability p_i = (1 - delta) theta_i / max theta + delta.

    Without a budget the base learners are perceptrons or passive-aggressive (cap `learning_rate`). With a budget B they
    are RBP, Forgetron, BOGD or BPA-S: in "DD" each kernel has B // m vectors, in "SD" all of them have B together.

    Cost of one example: O(distinct vectors n_features + vectors of all kernels). Memory: 8
    n_features bytes a distinct vector and 48 a kernel that holds it, growing by doubling, or fixed with a budget.

    Parameters
    ----------
    kernels : list of kernels or {"default", "bayes"}, default="default"
        The pool. "default" is 16 kernels: Gaussians of width 2^-6 ... 2^6 and the polynomials (x.z)^1, 2, 3.
        "bayes" is 13 Gaussians and 5 normalised polynomials.
    variant : {"DD", "SD", "U"}, default="DD"
        "DD": every kernel learns from every example, wrong ones lose weight. "SD": kernels learn by chance, the
        better the likelier. "U": all kernels weigh the same (perceptron without a budget only).
    base : {"perceptron", "pa", "rbp", "forgetron", "bogd", "bpas"}, default="perceptron"
        The learner of each kernel: one of the first two without a budget, one of the last four with a budget.
    budget : int >= 1 or None, default=None
        The most support vectors of all kernels together, B. None sets no limit.
    learning_rate : float > 0, default=0.1
        The largest weight in "pa", the step size eta in "bogd".
    C : float > 0, default=0.1
        The largest step in "bpas".
    regularization : float >= 0, default=0.001
        How strongly all weights shrink at each step in "bogd", lambda.
    discount : float > 0 and <= 1, default=0.99
        Share of its weight that a kernel keeps when it was wrong, gamma.
    exploration : float from 0 to 1, default=0.001
        Smallest chance of a kernel to learn from an example, delta.
    zero_vote : 1 or 0 or -1, default=1
        How a kernel whose score is 0 votes.
    unit_norm : bool, default=False
        Whether k(x, x) = 1 is taken in the step, as the authors' program does.
    strict : bool, default=False
        Whether a kernel is discounted only for y f < 0, as printed. A kernel that always says 0 then ends up
        dominating.
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
    >>> from lopsided import OMKC
    >>> from lopsided.datasets import four_clusters
    >>> stream = four_clusters(random_state=0)
    >>> learner = OMKC(base="bpas", budget=480, random_state=0)
    >>> votes = learner.progressive_scores(stream.X, stream.y)
    >>> round(float(((votes > 0) == stream.y).mean()), 3)
    0.799
    >>> learner.n_support_
    480

    References
    ----------
    S. C. H. Hoi, R. Jin, P. Zhao, T. Yang, "Online Multiple Kernel Classification", Machine Learning 90, 2013.
    """

    _constraints: ClassVar[dict[str, Constraint]] = (
        POOL
        | _HEDGE
        | {
            "variant": choice("DD", "SD", "U"),
            "base": choice(*_BASES),
            "budget": nothing() | whole(1),
            "learning_rate": number(above=0),
            "C": number(above=0),
            "regularization": number(least=0),
        }
    )

    def __init__(
        self,
        kernels: Any = "default",
        variant: str = "DD",
        base: str = "perceptron",
        budget: int | None = None,
        learning_rate: float = 0.1,
        C: float = 0.1,
        regularization: float = 1e-3,
        discount: float = 0.99,
        exploration: float = 0.001,
        zero_vote: int = 1,
        unit_norm: bool = False,
        strict: bool = False,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.variant = variant
        self.base = base
        self.budget = budget
        self.learning_rate = learning_rate
        self.C = C
        self.regularization = regularization
        self.discount = discount
        self.exploration = exploration
        self.zero_vote = zero_vote
        self.unit_norm = unit_norm
        self.strict = strict
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        unbounded = self.base in ("perceptron", "pa")
        if unbounded != (self.budget is None) or (self.variant == "U" and self.base != "perceptron"):
            raise ParameterError(
                "The parameters of OMKC must be base='perceptron' or 'pa' without a budget, one of 'rbp', 'forgetron', "
                "'bogd', 'bpas' with one, and 'perceptron' for variant='U'. "
                f"Got variant={self.variant!r}, base={self.base!r}, budget={self.budget!r}."
            )

    def _make_plan(self, n_kernels: int, wants_dots: bool) -> VotePlan:
        kind, eviction, repair, draws_evictions = _BASES[self.base]
        cap = self.C if self.base == "bpas" else self.learning_rate
        return VotePlan(
            rule=rule(kind, cap=cap, unit_norm=self.unit_norm),
            budget=Budget((self.budget or 0) // n_kernels, eviction, repair),
            rate=float(self.learning_rate),
            shrinkage=float(self.regularization) if self.base == "bogd" else 0.0,
            sampling_scale=1.0,
            total=self.budget or 0,
            stochastic=self.variant == "SD",
            hedges=self.variant != "U",
            trials=self.variant == "SD",
            evictions=draws_evictions,
            discount=float(self.discount),
            exploration=float(self.exploration),
            zero_vote=float(self.zero_vote),
            strict=bool(self.strict),
            wants_dots=wants_dots,
        )
