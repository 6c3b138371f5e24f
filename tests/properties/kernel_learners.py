"""The kernel classifiers of one kernel, and what their invariants look at.

Streams and learners have different seeds: a learner that draws what made the labels would let in one class only.
"""

import numpy as np
import pytest
from sklearn.base import clone

from estimators.trials import trials
from lopsided import SPA, Forgetron, Projectron, ProjectronPP
from lopsided.estimators.kernel.online_kernel import OnlineKernelLearner
from lopsided.kernels import Gaussian
from properties.generated import streams

SEED = 1234
GAUSSIANS = [Gaussian(gamma=0.7), Gaussian(gamma=9.0)]
SHARE = 15.0 / 32.0

# Those of the registry that step by one kernel and one example at a time; with a budget, one that is soon used up.
POINTWISE = [
    clone(learner).set_params(budget=9) if getattr(learner, "budget", None) else learner
    for learner in trials(families=("kernel",))
    if isinstance(learner, OnlineKernelLearner)
]
LEARNERS = {str(learner): learner for learner in POINTWISE} | {
    "SPA": SPA(sampling_scale=2.0),
    "SPA, last": SPA(sampling_scale=2.0, average=False),
    "SPA, bounded": SPA(sampling_scale=2.0, budget=200),
    "Forgetron": Forgetron(budget=9),
    "Projectron": Projectron(budget=9),
    "ProjectronPP": ProjectronPP(budget=9),
}
every_learner = pytest.mark.parametrize("name", [str(learner) for learner in POINTWISE])


def make(name, **changes):
    return clone(LEARNERS[name]).set_params(random_state=SEED, **changes)


def free_streams(**limits):
    return streams(kinds=("free",), **limits)


def numbers(learner, X):
    """The numbers of the examples that the support vectors are; all examples differ."""
    same = (X[:, None, :] == learner.support_vectors_[None]).all(axis=2)
    assert (same.sum(axis=0) == 1).all()
    return same.argmax(axis=0)


def coefficients(learner, X):
    """The learner's function as one coefficient an example."""
    f = np.zeros(len(X))
    if hasattr(learner, "classes_"):
        f[numbers(learner, X)] = learner.support_weights_
    return f


def assert_same_expansion(one, other, tolerance=0.0):
    np.testing.assert_array_equal(one.support_vectors_, other.support_vectors_)
    np.testing.assert_allclose(one.support_weights_, other.support_weights_, rtol=0, atol=tolerance)
