"""The parameters that all kernel learners share, and what they mean."""

from __future__ import annotations

from typing import Any

from lopsided.constraints import Constraint, choice, number, whole
from lopsided.core.pairwise.admission import FIFO, RESERVOIR, UNBOUNDED
from lopsided.kernels import Gaussian, Kernel, Linear, Polynomial, bayes_pool, default_pool

POLICIES = {"reservoir": RESERVOIR, "fifo": FIFO, "unbounded": UNBOUNDED}

ONE_KERNEL: dict[str, Constraint] = {
    "kernel": choice("rbf", "poly", "linear")
    | Constraint(lambda k: isinstance(k, Kernel), "a kernel of lopsided.kernels"),
    "gamma": number(above=0) | choice("auto"),
    "degree": whole(1),
    "coef0": number(least=0),
}


def _is_pool(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(kernel, Kernel) for kernel in value)


POOL: dict[str, Constraint] = {
    "kernels": choice("default", "bayes") | Constraint(_is_pool, "a non-empty list of kernels of lopsided.kernels"),
}


def chosen_kernel(learner: Any, n_features: int) -> Kernel:
    """The kernel that `kernel`, `gamma`, `degree` and `coef0` of a learner ask for."""
    if isinstance(learner.kernel, Kernel):
        return learner.kernel
    if learner.kernel == "rbf":
        return Gaussian(gamma=1.0 / n_features if learner.gamma == "auto" else learner.gamma)
    if learner.kernel == "poly":
        return Polynomial(degree=learner.degree, coef0=learner.coef0)
    return Linear()


def chosen_pool(kernels: Any) -> list[Kernel]:
    """The kernels that `kernels` of a learner asks for."""
    if isinstance(kernels, str):
        return default_pool() if kernels == "default" else bayes_pool()
    return list(kernels)


def budget_pair(budget: Any) -> tuple[int, int]:
    """The budget of each class, the rare one first."""
    return (int(budget[0]), int(budget[1])) if isinstance(budget, list | tuple) else (int(budget), int(budget))
