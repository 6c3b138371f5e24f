"""Kernel learners: pairwise (KOIL and its kin), pointwise with and without a budget, several kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lopsided.estimators import trial_parts
from lopsided.estimators.entry import Entry

if TYPE_CHECKING:
    from lopsided.estimators.kernel.budget_classifiers import BOGD as BOGD
    from lopsided.estimators.kernel.budget_classifiers import BPAS as BPAS
    from lopsided.estimators.kernel.budget_classifiers import RBP as RBP
    from lopsided.estimators.kernel.budget_classifiers import Forgetron as Forgetron
    from lopsided.estimators.kernel.koil import KOIL as KOIL
    from lopsided.estimators.kernel.multikernel_koil import MultiKernelKOIL as MultiKernelKOIL
    from lopsided.estimators.kernel.multiple_kernels import BOMKC as BOMKC
    from lopsided.estimators.kernel.multiple_kernels import OMKC as OMKC
    from lopsided.estimators.kernel.oilk import OILK as OILK
    from lopsided.estimators.kernel.projectron import Projectron as Projectron
    from lopsided.estimators.kernel.projectron import ProjectronPP as ProjectronPP
    from lopsided.estimators.kernel.spa import OSKL as OSKL
    from lopsided.estimators.kernel.spa import SPA as SPA
    from lopsided.estimators.kernel.unbounded_classifiers import NORMA as NORMA
    from lopsided.estimators.kernel.unbounded_classifiers import KernelOGD as KernelOGD
    from lopsided.estimators.kernel.unbounded_classifiers import KernelPA as KernelPA
    from lopsided.estimators.kernel.unbounded_classifiers import KernelPerceptron as KernelPerceptron


def _evicts(learner: Any) -> bool:
    return learner.policy != "unbounded"


def _draws_places(learner: Any) -> bool:
    return learner.policy == "reservoir"


def _has_budget(learner: Any) -> bool:
    return learner.budget is not None


def _reports_last(learner: Any) -> bool:
    return not learner.average


def _entry(name: str, file: str, *trials: dict[str, Any], **claims: Any) -> Entry:
    module = f"lopsided.estimators.kernel.{file}"
    return Entry(name, module, "kernel", trials, **{"keeps_vectors": True, "mergeable": True, **claims})


ENTRIES: tuple[Entry, ...] = (
    _entry(
        "KOIL",
        "koil",
        {"gamma": 2.0, "budget": (8, 12)},
        {"policy": "fifo", "budget": 9, "loss": "squared_hinge", "kernel": trial_parts.normalized_polynomial},
        {"policy": "fifo", "budget": 10, "kernel": trial_parts.sum_of_kernels, "threshold": "f1"},
        {"policy": "unbounded", "gamma": "auto", "threshold": "f1"},
        bounded=_evicts,
        random=_draws_places,
    ),
    _entry("OILK", "oilk", {"gamma": 2.0, "budget": 15}, {"policy": "reservoir", "budget": 30}, random=_draws_places),
    _entry(
        "MultiKernelKOIL",
        "multikernel_koil",
        {"budget": 4},
        {"kernels": trial_parts.three_kernels, "budget": 9},
        {"kernels": trial_parts.two_kernels, "policy": "unbounded"},
        bounded=_evicts,
        random=True,
    ),
    _entry(
        "SPA",
        "spa",
        {"sampling_scale": 2.0},
        {"sampling_scale": 2.0, "budget": 20, "average": False, "gamma": 2.0},
        {"sampling_scale": 2.0, "budget": 30, "threshold": "gmean"},
        bounded=_has_budget,
        random=True,
        reports_its_answer=_reports_last,
    ),
    _entry(
        "OSKL",
        "spa",
        {"sparsity": 2.0},
        bounded=False,
        random=True,
        reports_its_answer=_reports_last,
    ),
    _entry("KernelPerceptron", "unbounded_classifiers", {}, bounded=False),
    _entry("KernelOGD", "unbounded_classifiers", {"gamma": 2.0}, bounded=False),
    _entry(
        "NORMA",
        "unbounded_classifiers",
        {"decay": True},
        {"budget": 20, "regularization": 0.3},
        bounded=_has_budget,
    ),
    _entry("KernelPA", "unbounded_classifiers", {"kernel": "poly", "degree": 2, "coef0": 1.0}, bounded=False),
    _entry("RBP", "budget_classifiers", {"budget": 15}, random=True),
    _entry("Forgetron", "budget_classifiers", {"budget": 15}),
    _entry("BPAS", "budget_classifiers", {"budget": 15}),
    _entry(
        "BOGD",
        "budget_classifiers",
        {"budget": 15},
        {"budget": 15, "removal": "uniform"},
        random=lambda learner: learner.removal == "uniform",
    ),
    _entry("Projectron", "projectron", {"budget": 15, "tol": 1e-4}),
    _entry("ProjectronPP", "projectron", {"budget": 15}),
    _entry(
        "BOMKC",
        "multiple_kernels",
        {"kernels": trial_parts.two_kernels},
        bounded=False,
        random=True,
    ),
    _entry(
        "OMKC",
        "multiple_kernels",
        {"kernels": trial_parts.two_kernels},
        {"kernels": trial_parts.two_kernels, "variant": "SD"},
        {"kernels": trial_parts.three_kernels, "variant": "SD", "base": "rbp", "budget": 30},
        {"kernels": trial_parts.two_kernels, "base": "forgetron", "budget": 40},
        bounded=_has_budget,
        random=lambda learner: learner.variant == "SD" or learner.base == "rbp",
    ),
)
