"""Small problems for the transcription of the Bayesian rankers, and models that have learned them."""

import copy
import itertools
from functools import cache

import numpy as np
import pytest

from oracles import b2rmk as naive
from oracles import laws
from oracles import ob2rmk as online

FEW = [laws.gaussian(0.5), laws.gaussian(2.0), laws.polynomial(2)]
LABEL = {"start": "label", "prior_v": (10.0, 1.0), "prior_c": (10.0, 1.0)}
ROUNDING = 1e-9  # relative, of the lower bound

both_starts = pytest.mark.parametrize("options", [{}, LABEL, {"C": 0.1}, {"C": 3.0}], ids=str)


def problem(n, seed=0, d=2):
    """Overlapping classes in the square, one of each at the beginning."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    y[:2] = 1, -1
    X = rng.normal(size=(n, d))
    X[:, 0] += y > 0
    return np.clip(X / 2.0, -1.0, 1.0), y


def swept(n=10, sweeps=5, kernels=FEW, seed=0, learner=naive.B2RMK, **options):
    return learner(kernels, max_sweeps=sweeps, tol=0.0, **options).fit(*problem(n, seed))


@cache
def stream(n=30, seed=3, learner=online.OB2RMK, **options):
    """A learner after the problem of n points; do not change it."""
    settings = {"budget": 6, "warm_up": 12, "max_sweeps": 20, **options}
    model = learner(FEW, **settings)
    for x, y in zip(*problem(n, seed), strict=True):
        model.step(x, y)
    return model


def streamed(n=30, **options):
    return copy.deepcopy(stream(n, **options))


def repeated(step, iterations, cls=online.OnlineStep, **changes):
    """The same step from its beginning, with so many iterations."""
    old = {"m_t": step.m_t, "Sigma_t": step.Sigma_t, "m_be": step.m_be_t, "Sigma_be": step.Sigma_be_t}
    options = {"start": step.start, "prior_v": step.prior_v, "prior_c": step.prior_c}
    columns = {"K": step.K, "y": step.y, "C": step.C[0, 0]}
    return cls(**{**columns, **old, **options, **changes}).learn(iterations)


def last_step(iterations, **options):
    """The last step of a stream again."""
    return repeated(stream(**options).last, iterations)


def worst_fall(trace):
    """The largest relative fall of the bound, and the factor whose update did it."""
    falls = [((before - after) / abs(after), name) for (_, before), (name, after) in itertools.pairwise(trace)]
    return max(falls)
