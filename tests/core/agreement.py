"""A learner and its naive transcription side by side: streams, kernels in both spellings, and the comparison.

Labels are -1 and +1. `disagreement` is one number, the largest difference in anything that can be seen of the two
models, so that a test can ask for a small one, and a test of the test for a large one.
"""

from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from lopsided.kernels import Gaussian, Linear, Normalized, Polynomial, Sum
from oracles import koil as naive

TOLERANCE = 1e-9


class Twins(NamedTuple):
    """A kernel of the package and the same one for the naive transcription."""

    real: object
    naive: object
    bounded: bool


_PARTS = [Gaussian(gamma=1.3), Polynomial(degree=2, coef0=1.0)]
_NAIVE_SUM = naive.weighted_sum([naive.gaussian(1.3), naive.polynomial(2, 1.0)], [0.7, 0.3])
KERNELS = {
    "gaussian": Twins(Gaussian(gamma=0.5), naive.gaussian(0.5), True),
    "narrow gaussian": Twins(Gaussian(gamma=40.0), naive.gaussian(40.0), True),
    "polynomial": Twins(Polynomial(degree=2, coef0=0.5), naive.polynomial(2, 0.5), False),
    "cubic": Twins(Polynomial(degree=3), naive.polynomial(3), False),
    "linear": Twins(Linear(), naive.linear(), False),
    "normalised polynomial": Twins(
        Normalized(Polynomial(degree=2, coef0=1.0)), naive.normalized(naive.polynomial(2, 1.0)), False
    ),
    "sum": Twins(Sum(_PARTS, weights=[0.7, 0.3]), _NAIVE_SUM, False),
    "normalised sum": Twins(Normalized(Sum(_PARTS, weights=[0.7, 0.3])), naive.normalized(_NAIVE_SUM), False),
    "sum of normalised": Twins(
        Sum([Normalized(part) for part in _PARTS], weights=[0.4, 0.9]),
        naive.weighted_sum([naive.gaussian(1.3), naive.normalized(naive.polynomial(2, 1.0))], [0.4, 0.9]),
        False,
    ),
}


# ---- Streams ----


def clusters(n, seed=0, n_features=3):
    """Two clouds that overlap: with C = 2 half of the opposite vectors are violators in most of the steps."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1, -1)
    return 0.6 * rng.normal(size=(n, n_features)) + 0.8 * (y > 0)[:, None], y


def duplicated(n, seed=0, n_features=3):
    """Thirty points over and over, with either label: equal similarities everywhere."""
    rng = np.random.default_rng(seed)
    points, which = 0.6 * rng.normal(size=(30, n_features)), rng.integers(30, size=n)
    return points[which], np.where(rng.random(n) < np.where(which < 12, 0.85, 0.1), 1, -1)


def lattice(n, seed=0, n_features=3):
    """Points of a coarse grid, whose distances are exact: different points are equally far, too."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, n_features)) / 4.0
    return X, np.where(rng.random(n) < np.where(X[:, 0] > 0, 0.85, 0.1), 1, -1)


def well_ranked(n, seed=0):
    """Two clouds far apart: few violators once the model has begun, so that few vectors are stored."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1, -1)
    return 0.3 * rng.normal(size=(n, 2)) + 2.0 * (y > 0)[:, None], y


STREAMS = {"clusters": clusters, "duplicated": duplicated, "lattice": lattice}


# ---- The comparison ----


def naive_scores(model, X, y, weights=None):
    """Step the naive model through the stream; the score of each row before it was learned."""
    weights = np.ones(len(y)) if weights is None else weights
    return np.array([model.step(x, label, weight) for x, label, weight in zip(X, y, weights, strict=True)])


def learned_scores(learner, X, y, weights=None):
    """The same for a learner of the package, in one batch; if there are weights, row by row and in a batch."""
    if weights is None:
        return learner.progressive_scores(X, y, classes=[-1, 1])
    at_once = clone(learner).partial_fit(X, y, classes=[-1, 1], sample_weight=weights)
    learner.partial_fit(X[:1], y[:1], classes=[-1, 1], sample_weight=weights[:1])
    scores = [0.0]
    for x, label, weight in zip(X[1:], y[1:].tolist(), weights[1:].tolist(), strict=True):
        scores.append(learner.score_one(x))
        learner.learn_one(x, label, weight=weight)
    np.testing.assert_array_equal(at_once.decision_function(X), learner.decision_function(X))
    return np.array(scores)


def difference(learner, scores, model, expected, seed=99):
    """The largest difference of two models after a run; infinite if they do not hold the same points in order."""
    found, wanted = _supports_of_learner(learner), _supports_of_naive(model)
    assert len(found) == len(wanted)
    if not all(np.array_equal(points, others) for (points, _), (others, _) in zip(found, wanted, strict=True)):
        return np.inf
    fresh = np.random.default_rng(seed).normal(size=(40, learner.n_features_in_))
    pairs = [(weights, others) for (_, weights), (_, others) in zip(found, wanted, strict=True)]
    pairs += [(scores, expected), (learner.decision_function(fresh), np.array([model.score(x) for x in fresh]))]
    return max(float(np.abs(one - other).max(initial=0.0)) for one, other in pairs)


def disagreement(learner, model, X, y, weights=None):
    """Run both over the stream and return the largest difference."""
    return difference(learner, learned_scores(learner, X, y, weights), model, naive_scores(model, X, y, weights))


def _supports_of_learner(learner):
    points, weights = learner.support_vectors_, learner.support_weights_
    return list(zip(points, weights, strict=True)) if isinstance(points, list) else [(points, weights)]


def _supports_of_naive(model):
    """Points and weights as the package reports them: positives by slot, then negatives."""
    if hasattr(model, "members"):
        return [support for member in model.members for support in _supports_of_naive(member)]
    points, weights = np.array(model.points()), model.weights()
    if hasattr(model, "labels"):  # one buffer for both classes
        order = np.argsort(-model.labels(), kind="stable")
        points, weights = points[order], weights[order]
    return [(points, weights)]
