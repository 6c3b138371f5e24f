"""A question of one's own in the form of a table: learners, and what one would otherwise pick, on chosen sets."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from lopsided import OnlineScaler, StreamPipeline
from lopsided.competitors import COMPETITORS, competitor
from lopsided.datasets import Dataset
from lopsided.estimators.base.online import OnlineClassifier
from lopsided.metrics import auroc, average_precision
from lopsided.reproduce.protocols import entry
from lopsided.reproduce.table import Effort, Entry, Method, Table, built

_FIRST_ROWS = 60  # learned before the clock starts, so that what is compiled or imported on demand is there


def contest(
    learners: Mapping[str, tuple[Any, Mapping[str, Any]]],
    rivals: Sequence[str],
    sets: Sequence[str],
    *,
    data: str | Path | None = None,
    label: str | None = None,
    positive: str | None = None,
    runs: int = 1,
    rows: int | None = None,
    seed: int = 0,
    jobs: int = 1,
) -> Table:
    """The table of a question: learners by the name to show, each a class and its parameters, and competitors.

    The name of the table says what else its figures depend on, so that a log tells one question from another; of the
    folder `data` that is its path, not what is in it.
    """
    methods = {name: Method(built(kind, **parameters)) for name, (kind, parameters) in learners.items()}
    methods |= {name: Method(partial(competitor, name)) for name in rivals}
    order, which = "in order" if runs == 1 else "shuffled", "all" if rows is None else f"the first {rows}"
    source = "" if data is None else f", sets of {Path(data).resolve()}"
    source += "".join(f", {what} {value}" for what, value in (("label", label), ("positive", positive)) if value)
    return Table(
        name=f"compare, {which} rows {order}, seed {seed}{source}",
        title="Learners side by side",
        sets={name: name for name in sets},
        methods=partial(_the_same_on_every_set, methods),
        perform=partial(tested_then_trained, rows=rows, seed=seed),
        measures=("AUROC", "AUPRC"),
        runs=runs,
        reference=next(iter(methods)),
        scaling="none",
        keeps_order=True,
        label=label,
        positive=positive,
        remarks=(
            "Every row is scored by the model that has not seen it, and then learned.",
            "Learners of this package have their features scaled online; competitors scale for themselves or need not.",
            "One run, in the order of the set." if runs == 1 else f"{runs} runs, each in a random order of its own.",
            *([f"Timed while {jobs} processes ran at once."] if jobs > 1 else []),
            *who_is_who(rivals),
        ),
    )


def who_is_who(rivals: Sequence[str]) -> list[str]:
    """A sentence for each competitor."""
    return [f"{name} is {COMPETITORS[name].summary}." for name in rivals]


def _the_same_on_every_set(methods: Mapping[str, Method], set_name: str) -> Mapping[str, Method]:
    return methods


def tested_then_trained(
    table: Table, set_name: str, method: str, dataset: Dataset, effort: Effort, *, rows: int | None, seed: int
) -> list[Entry]:
    """Progressive validation: one run in the order of the set, or several in random orders."""
    X, y = (dataset.X, dataset.y) if rows is None else (dataset.X[:rows], dataset.y[:rows])
    make = table.methods(set_name)[method].make
    _ready(make(random_state=seed), X).progressive_scores(X[:_FIRST_ROWS], y[:_FIRST_ROWS], classes=[0, 1])
    entries = []
    for run in range(1, effort.runs + 1):
        order = np.arange(len(y)) if effort.runs == 1 else np.random.default_rng([seed, run]).permutation(len(y))
        learner, examples, labels = _ready(make(random_state=seed + run - 1), X), X[order], y[order]
        began = time.perf_counter()
        scores = learner.progressive_scores(examples, labels, classes=[0, 1])
        seconds = time.perf_counter() - began
        measures = {"AUROC": auroc(labels, scores), "AUPRC": average_precision(labels, scores)}
        measures["microseconds"] = 1e6 * seconds / len(labels)
        logged = entry(table, set_name, method, run, {}, measures, learner=learner, seconds=seconds)
        diverged = int(getattr(learner, "n_diverged_", 0))
        entries.append(logged | {"seed": seed + run - 1, "rows": len(labels), "diverged": diverged})
    return entries


def _ready(learner: Any, X: Any) -> Any:
    """A learner of this package behind a scaler; a competitor as it is."""
    if not isinstance(learner, OnlineClassifier):
        return learner
    return StreamPipeline(OnlineScaler(center=not issparse(X)), learner)
