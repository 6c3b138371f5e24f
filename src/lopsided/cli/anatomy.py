"""What a model is made of, and its score as a sum of parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.constraints import ParameterError
from lopsided.estimators.kernel.parameters import chosen_kernel, chosen_pool
from lopsided.kernels import Kernel

Floats = npt.NDArray[np.float64]

_DIGITS = 6


@dataclass(frozen=True)
class Expansion:
    """A sum of kernels: factor times the sum of weight times k(vector, x); `signs` are the classes of the vectors."""

    kernel: Kernel
    factor: float
    vectors: Floats
    weights: Floats
    signs: Floats


@dataclass(frozen=True)
class Part:
    """One term of a score: a support vector (weight, similarity, its columns) or a feature (weight, value).

    The name of a vector is "like" if it is of the class that is looked for, else "unlike".
    """

    amount: float
    name: str
    weight: float
    times: float
    columns: dict[str, Any] | None = None


def expansions_of(model: Any) -> list[Expansion]:
    """The sums of kernels that a model's score is; none for a linear model."""
    learner = model.learner_
    vectors = getattr(learner, "support_vectors_", None)
    if vectors is None:
        return []
    weights = learner.support_weights_
    if isinstance(vectors, list):
        factors = learner.kernel_weights_.tolist()
        pool = chosen_pool(learner.kernels)
        parts = zip(pool, factors, map(_dense, vectors), weights, learner.support_signs_, strict=True)
        return [Expansion(*part) for part in parts]
    if not hasattr(learner, "kernel"):
        return []
    signs = learner.support_signs_
    return [Expansion(chosen_kernel(learner, model.n_features_in_), 1.0, _dense(vectors), weights, signs)]


def coefficients_of(model: Any) -> tuple[Floats, float] | None:
    """Weights and bias of a linear model that has one of each."""
    coefficients = getattr(model.learner_, "coef_", None)
    if coefficients is None or np.size(coefficients) != model.n_features_in_:
        return None
    bias = np.ravel(getattr(model.learner_, "intercept_", 0.0))
    return np.ravel(coefficients), float(bias[0]) if bias.size else 0.0


def parts_of_score(model: Any, X: Any) -> tuple[float, list[Part]]:
    """The raw score of one encoded row, and the terms that it is the sum of, the largest first."""
    raw = float(model.raw_scores(X)[0])
    row = _prepared(model, X)
    parts: list[Part] = []
    for expansion in expansions_of(model):
        similar = expansion.kernel(row, expansion.vectors)[0] if expansion.weights.size else np.zeros(0)
        weights = expansion.factor * expansion.weights
        terms = zip(expansion.vectors, weights.tolist(), expansion.signs, similar.tolist(), strict=True)
        for vector, weight, sign, near in terms:
            name = "like" if sign > 0 else "unlike"
            parts.append(Part(weight * near, name, weight, near, columns_of(model, vector)))
    linear = coefficients_of(model)
    if linear is not None and not parts:
        coefficients, bias = linear
        names = feature_names(model)
        parts = [
            Part(float(coefficients[j] * row[0, j]), names[j], float(coefficients[j]), float(row[0, j]))
            for j in np.flatnonzero(coefficients * row[0])
        ]
        parts += [Part(bias, "bias", bias, 1.0)] if bias else []
    if abs(sum(part.amount for part in parts) - raw) > 1e-6 * max(1.0, abs(raw)):
        raise ParameterError(
            "A score can be explained if it is a sum over support vectors or features. "
            f"Got a model of {type(model.learner_).__name__}, whose score is made otherwise."
        )
    return raw, sorted(parts, key=lambda part: -abs(part.amount))


def _prepared(model: Any, X: Any) -> Floats:
    from lopsided.estimators.base import validation

    rows = validation.as_rows(X)
    return validation.dense_rows(model._prepared(rows, learn=False), model.n_features_in_)


def _dense(vectors: Any) -> Floats:
    return np.asarray(vectors.toarray() if hasattr(vectors, "toarray") else vectors)


def feature_names(model: Any) -> list[str]:
    """What the encoded columns are called."""
    if hasattr(model, "schema"):
        return model.encoder_.names
    return [str(index + model.first_index) for index in range(model.n_features_in_)]


def columns_of(model: Any, vector: Floats) -> dict[str, Any]:
    """The columns that a vector was made of, as far as they can be told, on the present scale."""
    if hasattr(model, "schema"):
        return {
            name: _rounded(value) for name, value in model.encoder_.in_words(model.unscaled(vector[None])[0]).items()
        }
    if model._scales:
        vector = np.where(vector != 0.0, model.scaler_.unscaled(vector[None])[0], 0.0)
    return {str(index + model.first_index): _rounded(float(vector[index])) for index in np.flatnonzero(vector)}


def _rounded(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) and np.isfinite(value) else value


def columns_in_words(columns: dict[str, Any], most: int = 8) -> str:
    """Columns on one line; of a hashed column the words that are hashed so, or their places."""
    words = []
    for name, value in columns.items():
        if isinstance(value, list):
            value = " or ".join(value) or "nothing"
        elif value is None or value != value:
            value = "missing" if value is None else "?"
        words.append(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}")
    return ", ".join(words[:most] + (["..."] if len(words) > most else []))
