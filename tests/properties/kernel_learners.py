"""The kernel classifiers of one kernel, and what their invariants look at.

Streams and learners have different seeds: a learner that draws what made the labels would let in one class only.
"""

import numpy as np
import pytest
from sklearn.base import clone

from lopsided import (
    BOGD,
    BPAS,
    NORMA,
    OSKL,
    RBP,
    SPA,
    Forgetron,
    KernelOGD,
    KernelPA,
    KernelPerceptron,
    Projectron,
    ProjectronPP,
)
from lopsided.kernels import Gaussian
from properties.generated import streams

SEED = 1234
GAUSSIANS = [Gaussian(gamma=0.7), Gaussian(gamma=9.0)]
SHARE = 15.0 / 32.0

LEARNERS = {
    "SPA": SPA(sampling_scale=2.0),
    "SPA, last": SPA(sampling_scale=2.0, average=False),
    "SPA, bounded": SPA(sampling_scale=2.0, budget=200),
    "OSKL": OSKL(sparsity=2.0),
    "KernelPerceptron": KernelPerceptron(),
    "KernelOGD": KernelOGD(),
    "NORMA": NORMA(decay=True),
    "NORMA, bounded": NORMA(budget=9, regularization=0.3),
    "KernelPA": KernelPA(),
    "RBP": RBP(budget=9),
    "Forgetron": Forgetron(budget=9),
    "BPAS": BPAS(budget=9),
    "BOGD": BOGD(budget=9),
    "BOGD, uniform": BOGD(budget=9, removal="uniform"),
    "Projectron": Projectron(budget=9),
    "ProjectronPP": ProjectronPP(budget=9),
}
every_learner = pytest.mark.parametrize("name", LEARNERS)


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
