"""What a model is made of: kernels around examples, weights of features, and the names of what it reads.

A learner's score is often a plain sum, and whoever explains or exports it needs the terms. `score_form_of` gives them
for the learners whose score is exactly such a sum, and None for the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.estimators.bayesian.b2rmk import B2RMK
from lopsided.estimators.bayesian.ob2rmk import OB2RMK
from lopsided.estimators.compose.file_pipeline import SparsePipeline
from lopsided.estimators.compose.table_pipeline import TablePipeline
from lopsided.estimators.kernel.parameters import chosen_kernel, chosen_pool
from lopsided.estimators.kernel.voting import VotingLearner
from lopsided.estimators.linear.classifiers import OFO
from lopsided.estimators.linear.omcsl import OMCSL
from lopsided.estimators.linear.weight_vector import LinearLearner
from lopsided.kernels import Kernel

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_DIGITS = 6


@dataclass(frozen=True)
class KernelSum:
    """f(x) = sum_i weights_i sum_m factor_m k_m(vectors_i, x), with `kernels` the pairs (factor_m, k_m).

    `signs` are the classes of the vectors: +1 for the positive label, -1 for the other. `numbers` say which row each of
    them is, counted from 1 over the rows learned; 0 where nobody knows.
    """

    kernels: tuple[tuple[float, Kernel], ...]
    vectors: Floats
    weights: Floats
    signs: Floats
    numbers: Integers

    def similarities(self, row: Floats) -> Floats:
        """How much one row, of shape (1, n_features), has in common with each vector."""
        if not self.weights.size:
            return np.zeros(0)
        return np.asarray(sum(factor * kernel(row, self.vectors)[0] for factor, kernel in self.kernels))


@dataclass(frozen=True)
class LinearScore:
    """f(x) = weights.x"""

    weights: Floats


@dataclass(frozen=True)
class ScoreForm:
    """A score that is a sum: of kernels around examples, of weighted features, and a bias."""

    kernel_sums: tuple[KernelSum, ...] = ()
    linear: LinearScore | None = None
    bias: float = 0.0


def score_form_of(model: Any) -> ScoreForm | None:
    """The sum that the score of a model's learner is, on rows as the learner gets them; None if it is made otherwise.

    Exact for linear learners and OMCSL (whose best column answers), for all learners of one kernel, and for
    MultiKernelKOIL, B2RMK and OB2RMK. Votes, the probabilities of OFO, random features and pools are no such sums.

    >>> from lopsided import BOMKC, OPAUC
    >>> from lopsided.datasets import overlapping
    >>> stream = overlapping(200, 20)
    >>> form = score_form_of(OPAUC().fit(stream.X, stream.y))
    >>> form.kernel_sums, form.linear.weights.size, form.bias
    ((), 20, 0.0)
    >>> score_form_of(BOMKC().fit(stream.X, stream.y)) is None
    True
    """
    learner = model.final_learner
    # OFO answers with a probability; and where several kernels are taken by their signs they vote.
    if isinstance(learner, OFO | VotingLearner) or getattr(learner, "combine", "raw") != "raw":
        return None
    linear = linear_score_of(model)
    if linear is not None:
        return ScoreForm(linear=linear[0], bias=linear[1])
    sums = kernel_sums_of(model)
    bias = float(learner.intercept_) if isinstance(learner, B2RMK | OB2RMK) else 0.0
    return ScoreForm(tuple(sums), bias=bias) if sums else None


def kernel_sums_of(model: Any) -> list[KernelSum]:
    """The examples that a model keeps, with their kernels and weights; none for learners that keep none.

    Several kernels with examples of their own are a sum each, weighted by what the kernel counts.
    """
    learner = model.final_learner
    if isinstance(learner, LinearLearner):  # OAM keeps examples too, but does not score by them
        return []
    vectors = getattr(learner, "support_vectors_", None)
    if vectors is None:
        return []
    if not (hasattr(learner, "support_weights_") and hasattr(learner, "support_signs_")):
        return []
    weights, signs, numbers = learner.support_weights_, learner.support_signs_, _numbers_of(learner, vectors)
    if isinstance(vectors, list):
        counts = learner.kernel_weights_.tolist()
        parts = zip(chosen_pool(learner.kernels), counts, vectors, weights, signs, numbers, strict=True)
        return [KernelSum(((1.0, kernel),), _dense(own), count * w, s, n) for kernel, count, own, w, s, n in parts]
    if isinstance(learner, B2RMK | OB2RMK):
        kernels = tuple(zip(learner.kernel_weights_.tolist(), chosen_pool(learner.kernels), strict=True))
        return [KernelSum(kernels, _dense(vectors), weights, signs, numbers)]
    if not hasattr(learner, "kernel"):  # a class from elsewhere, whose weights may mean anything
        return []
    kernel = chosen_kernel(learner, getattr(learner, "n_features_in_", model.n_features_in_))
    return [KernelSum(((1.0, kernel),), _dense(vectors), weights, signs, numbers)]


def _numbers_of(learner: Any, vectors: Any) -> Any:
    numbers = getattr(learner, "support_numbers_", None)
    return np.zeros(vectors.shape[0], dtype=np.int64) if numbers is None else numbers


def linear_score_of(model: Any) -> tuple[LinearScore, float] | None:
    """Weights and bias of a linear learner with one answer, by which it ranks; None for all others."""
    learner = model.final_learner
    if isinstance(learner, LinearLearner):
        return LinearScore(learner.coef_[0]), float(learner.intercept_[0])
    if isinstance(learner, OMCSL):
        best = int(np.argmax(learner.expert_weights_))
        return LinearScore(learner.coef_[:, best]), float(learner.intercept_[best])
    return None


def feature_names(model: Any) -> list[str]:
    """What the numbers that a model takes are called: encoded columns, names of a data frame, or numbers.

    >>> from lopsided import KOIL
    >>> feature_names(KOIL().partial_fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]))
    ['x0', 'x1']
    """
    if isinstance(model, TablePipeline):
        return list(getattr(model.encoder_, "learned_names", model.encoder_.names))
    if isinstance(model, SparsePipeline):
        return [str(index + model.first_index) for index in range(model.n_features_in_)]
    names = getattr(model, "feature_names_in_", None)
    return [f"x{index}" for index in range(model.n_features_in_)] if names is None else [str(name) for name in names]


def columns_of(model: Any, vector: Floats, names: list[str] | None = None) -> dict[str, Any]:
    """The columns that a vector of the learner was made of, as far as they can be told, on the present scale.

    `names` are those of the features, if they are called otherwise than `feature_names` says. Of sparse rows only what
    is not 0 is told.
    """
    raw = model.unscaled(vector[None])[0] if hasattr(model, "unscaled") else vector
    if isinstance(model, TablePipeline):
        return {name: _rounded(value) for name, value in model.encoder_.in_words(raw).items()}
    names = feature_names(model) if names is None else names
    if isinstance(model, SparsePipeline):
        return {names[index]: _rounded(float(raw[index])) for index in np.flatnonzero(vector)}
    return {name: _rounded(value) for name, value in zip(names, raw.tolist(), strict=True)}


def prepared_row(model: Any, X: Any) -> Floats:
    """One row as the learner inside of a model gets it, dense."""
    return _dense(model.prepared(X) if hasattr(model, "prepared") else X)


def _dense(rows: Any) -> Floats:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)


def _rounded(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) and np.isfinite(value) else value
