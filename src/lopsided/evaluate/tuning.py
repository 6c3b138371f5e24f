"""Parameters by cross-validation: every setting of a grid on every inner fold, at the speed of the compiled loops."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.estimators.base.classifier import Classifier
from lopsided.estimators.kernel.distance_table import DistanceTable
from lopsided.metrics import auroc

Parameters = dict[str, Any]
Measure = Callable[[npt.NDArray[Any], npt.NDArray[np.float64]], float]

# Settings whose held-out measures differ by less are equal, and the first of them wins.
_TIE = 1e-12


@dataclass(frozen=True)
class Tuned:
    """The best setting, its mean held-out measure, and that of every setting in the order of the grid."""

    parameters: Parameters
    score: float
    scores: list[float]


def grid(**values: Iterable[Any]) -> list[Parameters]:
    """All combinations, the last parameter changing fastest.

    >>> grid(gamma=[0.5, 1.0], C=[1, 2])
    [{'gamma': 0.5, 'C': 1}, {'gamma': 0.5, 'C': 2}, {'gamma': 1.0, 'C': 1}, {'gamma': 1.0, 'C': 2}]
    """
    return [dict(zip(values, combination, strict=True)) for combination in itertools.product(*values.values())]


def tune(
    make: Callable[..., Any],
    settings: Sequence[Mapping[str, Any]],
    X: Any,
    y: npt.NDArray[Any],
    labellings: npt.NDArray[np.int64],
    *,
    measure: Measure = auroc,
    jobs: int = 1,
) -> Tuned:
    """The setting with the best mean measure on held-out folds; of equals the first.

    `make(**setting, random_state=seed)` builds a learner; one that cannot learn online is fitted. `labellings` has a
    column of fold numbers for each repetition of the cross-validation; repetition r runs with seed r. One pass in the
    order of the rows each; a fold whose measure is not defined (one class only) does not count. With more `jobs` the
    settings are shared out among processes: then `make` must be importable, such as a class or `functools.partial` of
    one. Settings of KOIL share the squared distances of the rows, and neighbours in the grid their kernel matrix.

    >>> from lopsided import KOIL
    >>> from lopsided.datasets import four_clusters
    >>> stream = four_clusters(random_state=0)
    >>> folds = np.arange(1000)[:, None] % 5
    >>> tune(KOIL, grid(gamma=[0.01, 1.0, 20.0]), stream.X, stream.y, folds).parameters
    {'gamma': 20.0}
    """
    if jobs > 1 and len(settings) > 1:
        # Neighbours in the grid have much in common, so a part is a stretch of it.
        size = -(-len(settings) // (4 * jobs))
        parts = [settings[start : start + size] for start in range(0, len(settings), size)]
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as processes:
            tasks = [processes.submit(_held_out, make, part, X, y, labellings, measure) for part in parts]
            scores = [score for task in tasks for score in task.result()]
    else:
        scores = _held_out(make, settings, X, y, labellings, measure)
    best, chosen = -np.inf, 0
    for k, score in enumerate(scores):
        if score > best + _TIE:
            best, chosen = score, k
    return Tuned(dict(settings[chosen]), scores[chosen], scores)


def learned(learner: Any, X: Any, y: npt.NDArray[Any], classes: Any) -> Any:
    """One pass in the order of the rows, to its end; a batch learner is fitted."""
    if not hasattr(learner, "partial_fit"):
        return learner.fit(X, y)
    learner.partial_fit(X, y, classes=classes)
    if isinstance(learner, Classifier):
        learner.finish()
    return learner


def _held_out(
    make: Callable[..., Any],
    settings: Sequence[Mapping[str, Any]],
    X: Any,
    y: npt.NDArray[Any],
    labellings: npt.NDArray[np.int64],
    measure: Measure,
) -> list[float]:
    y = np.asarray(y)
    folds = [(seed, labels == fold) for seed, labels in enumerate(labellings.T) for fold in np.unique(labels)]
    parts = [(seed, held, X[~held], X[held]) for seed, held in folds]
    classes, known = np.unique(y), DistanceTable(X)
    scores = [0.0] * len(settings)
    # Settings with the same kernel one after the other, for they share its matrix.
    for k in sorted(range(len(settings)), key=lambda k: [str(settings[k].get(name)) for name in ("kernel", "gamma")]):
        found = []
        for seed, held, train, rest in parts:
            learner = make(**settings[k], random_state=seed)
            if known.serves(learner):
                decisions = known.scores_after(learner, y, classes, np.flatnonzero(~held), np.flatnonzero(held))
            else:
                decisions = learned(learner, train, y[~held], classes).decision_function(rest)
            found.append(measure(y[held], decisions))
        scores[k] = float(np.nanmean(found)) if not np.isnan(found).all() else float("-inf")
    return scores
