"""The figures of the papers: what a policy, a budget, a number of neighbours, a rate or the time do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from lopsided import (
    B2RMK,
    BOGD,
    BOMKC,
    BPAS,
    KOIL,
    OB2RMK,
    OILK,
    OMCSL,
    OMKC,
    OSKL,
    RBP,
    SPA,
    Forgetron,
    Projectron,
    ProjectronPP,
)
from lopsided.datasets import Dataset
from lopsided.evaluate import fold_splits
from lopsided.metrics import auroc, average_precision, f1
from lopsided.reproduce.b2rmk import after_a_start
from lopsided.reproduce.protocols import entry, folds, permutations
from lopsided.reproduce.spa import BOUNDED_BASES
from lopsided.reproduce.table import Effort, Entry, Method, Table, built

Methods = Callable[[str], Mapping[str, Method]]
_STEPS = 20  # points of a curve over the stream

# (C, gamma) of KOIL as tuned for Table 3.3.
_KOIL_PAIR = {
    "australian": (32.0, 0.125),
    "diabetes": (32.0, 1.0),
    "german": (4.0, 0.0625),
    "segment": (8.0, 4.0),
    "heart": (32.0, 2.0**-6),
    "satimage": (8.0, 4.0),
}


def over_the_stream(table: Table, set_name: str, method_name: str, dataset: Dataset, effort: Effort) -> list[Entry]:
    """Test AUC after every twentieth of the training stream."""
    method = table.methods(set_name)[method_name]
    entries = []
    for split in fold_splits(dataset)[: effort.runs]:
        learner = method.make(random_state=split.number)
        curve: dict[str, float] = {}
        for k, part in enumerate(np.array_split(split.train, _STEPS), start=1):
            learner.partial_fit(dataset.X[part], dataset.y[part], classes=[0, 1])
            scores = learner.decision_function(dataset.X[split.test])
            curve[f"{k / _STEPS:g}"] = auroc(dataset.y[split.test], scores)
        entries.append(entry(table, set_name, method_name, split.number, {}, curve))
    return entries


def online_measure(table: Table, set_name: str, method_name: str, dataset: Dataset, effort: Effort) -> list[Entry]:
    """The progressive measure over all rows so far, in random orders."""
    method = table.methods(set_name)[method_name]
    measure = {"F": f1, "AUROC": auroc, "AUPRC": average_precision}[method_name.rpartition(", ")[2]]
    entries = []
    for run in range(1, effort.runs + 1):
        order = np.random.default_rng(run).permutation(dataset.n_rows)
        y = dataset.y[order]
        scores = method.make(random_state=run).progressive_scores(dataset.X[order], y, classes=[0, 1])
        ends = [dataset.n_rows * (k + 1) // _STEPS for k in range(_STEPS)]
        curve = {str(end): measure(y[:end], scores[:end]) for end in ends}
        entries.append(entry(table, set_name, method_name, run, {}, curve))
    return entries


def weights_of_a_fit(table: Table, set_name: str, method_name: str, dataset: Dataset, effort: Effort) -> list[Entry]:
    """What B2RMK makes of the training rows of the first split: weights of kernels, or of examples by size."""
    train = fold_splits(dataset)[0].train
    learner = B2RMK().fit(dataset.X[train], dataset.y[train])
    weights = learner.kernel_weights_ if method_name == "kernels" else np.sort(learner.support_weights_)
    curve = {str(k): float(weight) for k, weight in enumerate(weights, start=1)}
    return [entry(table, set_name, method_name, 1, {}, curve)]


def _weights(set_name: str) -> Mapping[str, Method]:
    return {"kernels": Method(B2RMK), "examples": Method(B2RMK)}


def _koil(set_name: str, **options: Any) -> Method:
    C, gamma = _KOIL_PAIR[set_name]
    return Method(built(KOIL, **{"C": C, "gamma": gamma, "budget": 100, "n_neighbors": 10} | options))


def _policies(set_name: str) -> Mapping[str, Method]:
    return {
        "RS": _koil(set_name, policy="reservoir", compensate=False),
        "FIFO": _koil(set_name, policy="fifo", compensate=False),
        "RS++": _koil(set_name, policy="reservoir"),
        "FIFO++": _koil(set_name, policy="fifo"),
        "unbounded": _koil(set_name, policy="unbounded"),
    }


def _budgets(set_name: str) -> Mapping[str, Method]:
    return {
        f"{name} @ {budget}": _koil(set_name, policy=policy, budget=budget, n_neighbors=max(1, budget // 10))
        for name, policy in (("RS++", "reservoir"), ("FIFO++", "fifo"))
        for budget in (10, 20, 40, 60, 80, 100, 150, 200, 300)
    }


def _neighbours(set_name: str) -> Mapping[str, Method]:
    return {
        f"{name} @ {k}": _koil(set_name, policy=policy, n_neighbors=k)
        for name, policy in (("RS++", "reservoir"), ("FIFO++", "fifo"))
        for k in (1, *range(10, 101, 10))
    }


def _buffers(set_name: str) -> Mapping[str, Method]:
    C, gamma = _KOIL_PAIR[set_name]
    return {
        f"{name} @ {budget}": Method(built(OILK, C=C, gamma=gamma, learning_rate=0.01, policy=policy, budget=budget))
        for name, policy in (("FIFO", "fifo"), ("RS", "reservoir"))
        for budget in (20, 50, 100, 200, 300, 400)
    }


def _error_against_time(set_name: str) -> Mapping[str, Method]:
    methods = {}
    for budget in (100, 200, 400, 800, 1600):
        bounded = {"gamma": 0.4, "budget": budget}
        methods[f"RBP @ {budget}"] = Method(built(RBP, **bounded))
        methods[f"Forgetron @ {budget}"] = Method(built(Forgetron, **bounded))
        methods[f"BPA-S @ {budget}"] = Method(built(BPAS, C=1.0, **bounded))
        methods[f"BOGD @ {budget}"] = Method(built(BOGD, learning_rate=0.1, **bounded))
        methods[f"Projectron @ {budget}"] = Method(built(Projectron, **bounded))
        methods[f"Projectron++ @ {budget}"] = Method(built(ProjectronPP, **bounded))
        for name, average in (("", True), (", last model", False)):
            spa = {"learning_rate": 1.0, "sampling_scale": 27_000.0 / budget, "gamma": 0.4, "average": average}
            oskl = {"learning_rate": 0.1, "sparsity": 15_000.0 / budget, "gamma": 0.4, "average": average}
            methods[f"SPA{name} @ {budget}"] = Method(built(SPA, **spa))
            methods[f"OSKL{name} @ {budget}"] = Method(built(OSKL, **oskl))
    return methods


def _alpha_and_beta(set_name: str) -> Mapping[str, Method]:
    return {
        f"beta = {beta:g} @ {alpha:g}": Method(
            built(SPA, learning_rate=1.0, gamma=0.4, loss_cap=alpha, sampling_scale=beta)
        )
        for beta in (2.5, 5.0, 10.0, 20.0, 40.0)
        for alpha in (0.1, 0.5, 1.0, 2.0, 3.0)
        if alpha <= beta
    }


_RATES_OF_BOGD = {"DD": 0.001, "SD": 1.0}  # as chosen for spa-6 on a9a


def _bounded_kernels(set_name: str) -> Mapping[str, Method]:
    methods = {}
    for budget in (1600, 3200, 6400):
        for variant in ("DD", "SD"):
            rates = {"learning_rate": _RATES_OF_BOGD[variant]}
            for name, base in BOUNDED_BASES:
                make = built(OMKC, variant=variant, base=base, budget=budget, **rates if base == "bogd" else {})
                methods[f"{variant} {name} @ {budget}"] = Method(make)
        methods[f"BOMKC(SPA) @ {budget}"] = Method(built(BOMKC, sampling_scale=3.0 * 12_000.0 / budget))
    return methods


def _online_measures(set_name: str) -> Mapping[str, Method]:
    methods = {}
    for measure, word, refresh in (("F", "f1", 1), ("AUROC", "auroc", 1), ("AUPRC", "auprc", 50)):
        for loss in ("hinge", "logistic"):
            make = built(OMCSL, learning_rate=10.0, loss=loss, measure=word, refresh=refresh, fit_intercept=True)
            methods[f"OMCSL {loss}, {measure}"] = Method(make)
    return methods


def _bayes(parameter: str, values: tuple[float, ...], set_name: str) -> Mapping[str, Method]:
    """The published step, which has no refits to hide what the parameter does, and the default."""
    return {
        f"{variant} @ {value:g}": Method(built(OB2RMK, variant=variant, **{parameter: value}), takes_start=True)
        for variant in ("default", "published")
        for value in values
    }


def _picture(name: str, title: str, sets: str, methods: Methods, perform: Any, x: str, **more: Any) -> Table:
    defaults: dict[str, Any] = {"measures": ("AUC",), "runs": 5, "reference": "", "x_label": x}
    names = {one: one for one in sets.split(",")}
    return Table(name=name, title=title, sets=names, methods=methods, perform=perform, **defaults | more)


_KOIL_SETS = "australian,diabetes,german,segment"
_TUNED = ("C and gamma as tuned for koil-3.3 (RS++).",)
_PERCENT: dict[str, Any] = {"measures": ("error",), "percent": True, "lower_is_better": True}
_BAYES_SETS = "sonar,heart,ionosphere,diabetes"

TABLES = [
    _picture("koil-fig-3.1", "Test AUC over the stream, by policy", _KOIL_SETS, _policies, over_the_stream,
             "share of the stream", runs=20, remarks=_TUNED),
    _picture("koil-fig-3.2", "AUC against the budget of a class", _KOIL_SETS, _budgets, folds,
             "budget", remarks=(*_TUNED, "A tenth of the budget as neighbours.")),
    _picture("koil-fig-3.3", "AUC against the number of neighbours, budget 100", _KOIL_SETS, _neighbours, folds,
             "neighbours", remarks=_TUNED),
    _picture("oilk-fig-1", "AUC of OILK against the size of its buffer", "australian,heart,segment,satimage", _buffers,
             folds, "buffer",
             remarks=(*_TUNED, "segment and satimage with the classes of koil-3.3; the paper has others.")),
    _picture("spa-fig-1", "Online error against time, for several budgets", "a9a,codrna", _error_against_time,
             permutations, "seconds", log_x=True, scaling="symmetric", **_PERCENT),
    _picture("spa-fig-2", "Online accuracy of SPA over alpha and beta", "a9a", _alpha_and_beta, permutations, "alpha",
             measures=("accuracy",), percent=True),
    _picture("spa-fig-3", "Online error of bounded multiple kernels against time", "a9a", _bounded_kernels,
             permutations, "seconds", log_x=True, remarks=("BOGD's rates as chosen for spa-6.",), **_PERCENT),
    _picture("omcsl-fig-1", "The online measure of OMCSL over the stream", "w8a,covtype1v5", _online_measures,
             online_measure, "rows", measures=("measure",), runs=3,
             remarks=("The step size 10 / sqrt(t), which tuning chooses for most of omcsl-3.",)),
    _picture("b2rmk-fig-1", "Weights of kernels and of examples", "fourclass", _weights, weights_of_a_fit,
             "number", measures=("weight",), runs=1, scaling="symmetric", log_x=True),
    _picture("b2rmk-fig-2", "AUC of OB2RMK against the budget of a class", _BAYES_SETS,
             partial(_bayes, "budget", (10, 25, 50, 75, 100)), after_a_start, "budget", scaling="symmetric"),
    _picture("b2rmk-fig-3", "AUC of OB2RMK against C", _BAYES_SETS,
             partial(_bayes, "C", (0.001, 0.01, 0.1, 0.3, 1.0, 3.0)), after_a_start, "C", scaling="symmetric",
             log_x=True),
    _picture("b2rmk-fig-3b", "AUC of OB2RMK against the iterations of a step", _BAYES_SETS,
             partial(_bayes, "n_iterations", (1, 5, 10, 20, 30, 50)), after_a_start, "iterations", scaling="symmetric"),
]  # fmt: skip
