"""The table of OMCSL: measures of the final model on held-out rows, linear learners."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lopsided import OCS, OFO, OMCSL, OPAUC, ResamplingBagging
from lopsided.datasets import Dataset
from lopsided.evaluate import grid, random_splits
from lopsided.reproduce.protocols import entry, random_halves
from lopsided.reproduce.table import Effort, Entry, Method, Table, built

_RATES = grid(learning_rate=[0.01, 0.1, 1.0, 10.0], decay=[True, False])
_LAST = 5000
_LOSSES = {"h": "hinge", "l": "logistic"}
_MEASURES = {"F": "f1", "AUROC": "auroc", "AUPRC": "auprc"}


def _methods(set_name: str) -> Mapping[str, Method]:
    """Each method once for every measure it was published with, since it is tuned for that measure."""
    methods = {
        "OPAUC AUROC": Method(OPAUC, grid(learning_rate=[1e-3, 1e-2, 1e-1], regularization=[0.0, 1e-4, 1e-2])),
    }
    for letter, loss in _LOSSES.items():
        bias = {"loss": loss, "fit_intercept": True}
        methods[f"OFO-{letter} F"] = Method(built(OFO, **bias), _RATES)
        for mode, name in (("over", "iOOB"), ("under", "iUOB")):
            methods[f"{name}-{letter} F"] = Method(built(ResamplingBagging, mode=mode, **bias), _RATES)
        for measure, word in _MEASURES.items():
            refresh = 50 if measure == "AUPRC" else 1
            methods[f"OMCSL-{letter} {measure}"] = Method(built(OMCSL, measure=word, refresh=refresh, **bias), _RATES)
            for variant in (1, 2):
                methods[f"OCS{variant}-{letter} {measure}"] = Method(built(OCS, variant=variant, **bias), _RATES)
    return methods


def _cost_errors(set_name: str) -> Mapping[str, Method]:
    methods = {}
    for letter, loss in _LOSSES.items():
        for measure, word in _MEASURES.items():
            refresh = 50 if measure == "AUPRC" else 1
            make = built(OMCSL, measure=word, refresh=refresh, loss=loss, fit_intercept=True)
            methods[f"OMCSL-{letter} cost error {measure}"] = Method(make)
    return methods


def _selection(table: Table, set_name: str, method_name: str, dataset: Dataset, effort: Effort) -> list[Entry]:
    """How far the cost that is selected lies from the one whose column is the best online, over the whole stream."""
    method, measure = table.methods(set_name)[method_name], method_name.rpartition(" ")[2]
    entries = []
    for split in random_splits(dataset.n_rows, effort.runs):
        learner = method.make(random_state=split.number)
        X, y = dataset.X[split.train], dataset.y[split.train]
        learner.partial_fit(X[:-_LAST], y[:-_LAST], classes=[0, 1])
        selected = []
        for begin in range(y.size - _LAST, y.size, 100):
            learner.partial_fit(X[begin : begin + 100], y[begin : begin + 100])
            selected.append(learner.expert_weights_)
        costs = learner.costs_
        best = costs[int(np.argmax(learner.expert_measures_[_MEASURES[measure]]))]
        error = float(np.mean([weights @ np.abs(costs - best) for weights in selected]))
        measures = {f"cost error {measure}": error}
        entries.append(entry(table, set_name, method_name, split.number, {}, measures))
    return entries


TABLES = [
    Table(
        name="omcsl-3",
        title="F-measure, AUROC and AUPRC on held-out rows",
        sets={"covtype1v5": "covtype1v5", "w8a": "w8a"},
        methods=_methods,
        perform=random_halves,
        measures=("F", "AUROC", "AUPRC"),
        runs=25,
        reference="OMCSL-h",
        remarks=(
            "Step sizes by the progressive measure on the training part of the first split; all learners have a bias. "
            "Areas of OCS1 and OCS2 were printed below .5 or as copies of their F, iOOB and iUOB with an F below .14: "
            "no linear score of these rows has such figures, so that being above them says nothing.",
            "Step sizes .01, .1, 1 or 10, constant or divided by the root of the number of steps; OPAUC's rate .001, "
            ".01 or .1, its regularisation 0, .0001 or .01.",
        ),
        impossible={"aloi-1": "its file could not be obtained"},
        own=("OMCSL",),
    ),
    Table(
        name="omcsl-4",
        title="How far the selected cost is from the best",
        sets={"covtype1v5": "covtype1v5", "w8a": "w8a"},
        methods=_cost_errors,
        perform=_selection,
        measures=("cost error F", "cost error AUROC", "cost error AUPRC"),
        runs=25,
        reference="",
        lower_is_better=True,
        remarks=(
            "Mean over the last 5,000 steps of |c - c*| under the selecting distribution; c* is the cost whose own "
            "learner has the best measure over the whole stream. The default step size.",
        ),
        impossible={"aloi-1": "its file could not be obtained"},
        own=("OMCSL",),
    ),
]
