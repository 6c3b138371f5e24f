"""A look inside: what a learner of the KOIL family keeps, how much memory it takes, whether two are the same."""

import numpy as np

from lopsided.core.pairwise.support import SCALE, START, USED, Support
from lopsided.kernels import Gaussian, Kernel


def slots_in_use(support):
    """Positives by slot, then negatives."""
    rooms = zip(support.tally[START], support.tally[USED], strict=True)
    return np.concatenate([start + np.arange(used) for start, used in rooms])


def experts(learner):
    """The support sets of a learner with their kernels and points, one a kernel."""
    if hasattr(learner, "_stack"):
        supports = [Support(*(array[index] for array in learner._stack)) for index in range(len(learner.kernels))]
        return [
            (support, kernel, values[:, slots_in_use(support)].T)
            for support, kernel, values in zip(supports, learner.kernels, learner._points.values, strict=True)
        ]
    kernel = learner.kernel if isinstance(learner.kernel, Kernel) else Gaussian(gamma=learner.gamma)
    return [(learner._support, kernel, learner._points.values[:, slots_in_use(learner._support)].T)]


def cache_error(learner):
    """How far cached scores are from Gram matrix times weights, and the Gram matrix from the kernel of the points.

    Relative to the largest score, if that is above 1. The Gram matrix is computed anew by `lopsided.kernels`.
    """
    worst = 0.0
    for support, kernel, points in experts(learner):
        slots = slots_in_use(support)
        weights = support.levels[SCALE] * support.weights[slots]
        cached = support.levels[SCALE] * support.scores[slots]
        gram, kept = kernel(points), support.gram[np.ix_(slots, slots)]
        size = max(1.0, np.abs(cached).max(initial=0.0))
        worst = max(
            worst,
            np.abs(cached - kept @ weights).max(initial=0.0) / size,
            np.abs(cached - gram @ weights).max(initial=0.0) / size,
            np.abs(kept - gram).max(initial=0.0) / max(1.0, np.abs(gram).max(initial=0.0)),
        )
    return float(worst)


def arrays_of(parts):
    """All arrays in nested tuples and dictionaries."""
    if isinstance(parts, np.ndarray):
        return [parts]
    if isinstance(parts, dict):
        parts = list(parts.values())
    return [array for part in parts for array in arrays_of(part)] if isinstance(parts, tuple | list) else []


def bytes_of(learner):
    """The memory of a model and of what it works in, apart from the uniforms fetched ahead."""
    parts = [learner._arrays(), learner._work, getattr(learner, "_scratch", ())]
    return sum(array.nbytes for array in arrays_of(parts))


def assert_same_model(one, other, except_for=(), rounding=0.0):
    """Bit for bit (or to rounding): every array, what is remembered of scores, the future of the random stream."""
    first, second = one._arrays(), other._arrays()
    assert first.keys() == second.keys()
    for name in first.keys() - set(except_for):
        np.testing.assert_allclose(first[name], second[name], rtol=rounding, atol=rounding, err_msg=name)
    np.testing.assert_array_equal(one._memory.counts, other._memory.counts)
    np.testing.assert_allclose(one._memory.positive, other._memory.positive, rtol=rounding, atol=rounding)
    np.testing.assert_allclose(one._memory.negative, other._memory.negative, rtol=rounding, atol=rounding)
    np.testing.assert_array_equal(_future(one), _future(other))


def _future(learner, n=1000):
    """The next uniforms, without using them up."""
    rng = np.random.Generator(type(learner._uniforms.rng.bit_generator)())
    rng.bit_generator.state = learner._uniforms.rng.bit_generator.state
    return np.concatenate([learner._uniforms.unused(), rng.random(n)])[:n]


def assert_close_models(one, other, tolerance=1e-12):
    """The same points in the same order, and weights that differ by rounding at most."""
    np.testing.assert_array_equal(one.support_vectors_, other.support_vectors_)
    np.testing.assert_allclose(one.support_weights_, other.support_weights_, rtol=0, atol=tolerance)


def class_counts(learner):
    """How many vectors each class holds: positives, negatives."""
    return learner._support.tally[USED].tolist()


def class_weights(learner):
    """The weights of each class: positives, negatives."""
    used = class_counts(learner)[0]
    return learner.support_weights_[:used], learner.support_weights_[used:]
