"""How the papers ran their experiments: folds, permutations, train and test files, random splits.

Each function runs one method on one set and returns one entry a run: parameters, seed, measures, vectors, seconds.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.svm import SVC

from lopsided.datasets import Dataset
from lopsided.evaluate import fold_splits, inner_labellings, random_splits, tune
from lopsided.evaluate.records import versions
from lopsided.evaluate.tuning import learned
from lopsided.metrics import auroc, average_precision, f1
from lopsided.reproduce.table import Effort, Entry, Method, Parameters, Table

Floats = npt.NDArray[np.float64]

_FINALISTS = 40  # settings that are compared under all inner labellings, not only under the first
_QUICK_SETTINGS = 24


def entry(
    table: Table,
    set_name: str,
    method: str,
    run: int,
    parameters: Parameters,
    measures: dict[str, float],
    *,
    learner: Any = None,
    seconds: float = 0.0,
) -> Entry:
    """One line of the log; the number of a run is its seed."""
    vectors = vectors_of(learner)
    if vectors is not None:
        measures = measures | {"vectors": float(vectors)}
    what = {"table": table.name, "set": set_name, "method": method, "run": run, "seed": run}
    what["parameters"] = plain(parameters)
    return what | {"measures": measures, "seconds": round(seconds, 4), "versions": versions()}


def plain(parameters: Parameters) -> Parameters:
    """Parameters that can be written as JSON; a kernel by its text."""
    simple = (int, float, str, bool)
    return {name: value if isinstance(value, simple) else repr(value) for name, value in parameters.items()}


def vectors_of(learner: Any) -> int | None:
    """How many support vectors there are; none for a linear learner."""
    count = getattr(learner, "n_support_", None)
    return None if count is None else int(np.sum(count))


def held_out_measures(y: npt.NDArray[np.int64], scores: Floats) -> dict[str, float]:
    """Of scores whose decision lies at 0."""
    areas = {"AUC": auroc(y, scores), "AUPRC": average_precision(y, scores), "F": f1(y, scores)}
    right = (scores > 0) == (y == 1)
    return areas | {"AUROC": areas["AUC"], "accuracy": 100.0 * float(np.mean(right))}


def folds(table: Table, set_name: str, method_name: str, dataset: Dataset, effort: Effort) -> list[Entry]:
    """5 folds x 4 repetitions; parameters by inner cross-validation on training rows of the first split, or of each.

    Published inner folds belong to the first split; the others get random ones.
    """
    method = table.methods(set_name)[method_name]
    entries: list[Entry] = []
    parameters: Parameters = {}
    for split in fold_splits(dataset)[: effort.runs]:
        if split.number == 1 or effort.tune_each:
            source = dataset if split.number == 1 else replace(dataset, inner_folds=None)
            labellings = inner_labellings(source, split)
            parameters = tuned(method, dataset.X[split.train], dataset.y[split.train], labellings, effort)
        learner = method.make(**parameters, random_state=split.number)
        entries.append(tested(table, set_name, method_name, learner, split, dataset, parameters))
    return entries


def tuned(
    method: Method, X: Any, y: npt.NDArray[np.int64], labellings: npt.NDArray[np.int64], effort: Effort
) -> Parameters:
    """The best setting by inner folds: all under the first labelling, the best of them under all four."""
    settings = list(method.settings)
    if len(settings) == 1:
        return dict(settings[0])
    if effort.quick and len(settings) > _QUICK_SETTINGS:
        settings = settings[:: -(-len(settings) // _QUICK_SETTINGS)]
    first = tune(method.make, settings, X, y, labellings[:, :1])
    if effort.quick or labellings.shape[1] == 1 or y.size > 5000:
        return first.parameters
    ranked = np.argsort(-np.array(first.scores), kind="stable")[:_FINALISTS]
    return tune(method.make, [settings[k] for k in sorted(ranked)], X, y, labellings).parameters


def tested(
    table: Table, set_name: str, method: str, learner: Any, split: Any, dataset: Dataset, parameters: Parameters
) -> Entry:
    """Learn the training rows of a split, judge on its test rows."""
    X, y = dataset.X[split.train], dataset.y[split.train]
    began = time.process_time()
    learned(learner, X, y, [0, 1])
    seconds = time.process_time() - began
    measures = held_out_measures(dataset.y[split.test], learner.decision_function(dataset.X[split.test]))
    return entry(table, set_name, method, split.number, parameters, measures, learner=learner, seconds=seconds)


def permutations(table: Table, set_name: str, method_name: str, dataset: Dataset, effort: Effort) -> list[Entry]:
    """Online accuracy and error over random orders of all rows; the parameter by accuracy on an order of its own."""
    method = table.methods(set_name)[method_name]
    X, y = dataset.X, dataset.y
    tuning = np.random.default_rng([0, 1]).permutation(y.size)
    if effort.quick:
        tuning = tuning[:2000]
    settings = list(method.settings)
    parameters = dict(settings[0])
    if len(settings) > 1:
        shares = [_online(method.make(**setting, random_state=0), X[tuning], y[tuning])[0] for setting in settings]
        parameters = dict(settings[int(np.argmax(shares))])
    # The first call compiles, or reads what was compiled before: that is no part of a run.
    _online(method.make(**parameters, random_state=0), X[:2], np.array([0, 1]))
    entries = []
    for run in range(1, effort.runs + 1):
        order = np.random.default_rng(run).permutation(y.size)
        if effort.quick:
            order = order[:5000]
        learner, rows, labels = method.make(**parameters, random_state=run), X[order], y[order]
        began = time.process_time()
        right, scores = _online(learner, rows, labels)
        seconds = time.process_time() - began
        measures = {"accuracy": 100.0 * right, "error": 100.0 - 100.0 * right, "AUC": auroc(labels, scores)}
        entries.append(entry(table, set_name, method_name, run, parameters, measures, learner=learner, seconds=seconds))
    return entries


def _online(learner: Any, X: Any, y: npt.NDArray[np.int64]) -> tuple[float, Floats]:
    """The share that was right before it was learned, and the scores.

    A score of exactly 0 says negative, as `predict` does. Counted as wrong, the examples before the first vector would
    take half a point from SPA on w7a, where one example in 200 is sampled.
    """
    scores = learner.progressive_scores(X, y, classes=[0, 1])
    return _share_right(y, scores), scores


def train_and_test_files(
    table: Table, set_name: str, method_name: str, dataset: Dataset, effort: Effort, *, most_tuned: int = 8000
) -> list[Entry]:
    """The original training file in random orders, accuracy on the original test file; tuned on part of the former."""
    method = table.methods(set_name)[method_name]
    n = dataset.n_train
    if n is None:
        raise ValueError(f"The set {dataset.name} must have n_train, the rows of its training file, got none.")
    order = np.random.default_rng(0).permutation(n)[: 1500 if effort.quick else most_tuned]
    labellings = (np.arange(order.size) % 5 + 1)[:, None]
    parameters = dict(method.settings[0])
    if len(method.settings) > 1:
        X, y = dataset.X[order], dataset.y[order]
        parameters = tune(method.make, method.settings, X, y, labellings, measure=_share_right).parameters
    # What compiles does so now, and is no part of a run.
    learned(method.make(**parameters, random_state=0), dataset.X[order[:200]], dataset.y[order[:200]], [0, 1])
    entries = []
    for run in range(1, effort.runs + 1):
        rows = np.random.default_rng(run).permutation(n)
        if effort.quick:
            rows = rows[:5000]
        learner = method.make(**parameters, random_state=run)
        began = time.process_time()
        learned(learner, dataset.X[rows], dataset.y[rows], [0, 1])
        seconds = time.process_time() - began
        measures = held_out_measures(dataset.y[n:], learner.decision_function(dataset.X[n:]))
        entries.append(entry(table, set_name, method_name, run, parameters, measures, learner=learner, seconds=seconds))
        if isinstance(learner, SVC):  # the order of rows is all the same to it
            entries = [entries[0] | {"run": again} for again in range(1, effort.runs + 1)]
            break
    return entries


def _share_right(y: npt.NDArray[np.int64], scores: Floats) -> float:
    return float(np.mean((scores > 0) == (y == 1)))


def random_halves(table: Table, set_name: str, method_name: str, dataset: Dataset, effort: Effort) -> list[Entry]:
    """Random splits, 4/5 to learn from; parameters by the progressive measure on the training part of the first."""
    method = table.methods(set_name)[method_name]
    measure = {"F": f1, "AUROC": auroc, "AUPRC": average_precision}[method_name.rpartition(" ")[2]]
    entries: list[Entry] = []
    parameters: Parameters = dict(method.settings[0])
    for split in random_splits(dataset.n_rows, effort.runs):
        X, y = dataset.X[split.train], dataset.y[split.train]
        if split.number == 1 and len(method.settings) > 1:
            part = slice(0, 10_000 if effort.quick else None)
            found = []
            for setting in method.settings:
                scores = method.make(**setting, random_state=0).progressive_scores(X[part], y[part], classes=[0, 1])
                found.append(measure(y[part], scores))
            parameters = dict(method.settings[int(np.nanargmax(found))])
        learner = method.make(**parameters, random_state=split.number)
        entries.append(tested(table, set_name, method_name, learner, split, dataset, parameters))
    return entries
