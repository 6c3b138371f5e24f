"""The naive transcription of the Bayesian rankers, from outside: every update is a maximum of the lower bound.

The package itself takes no part in this: it shows that the transcription is worth comparing with.
"""

import copy
from functools import cache

import numpy as np
import pytest

from bayes.problems import (
    FEW,
    ROUNDING,
    both_starts,
    last_step,
    stream,
    swept,
    worst_fall,
)
from oracles import laws
from oracles import ob2rmk as online

# ---- Sections 6, 8: no update lowers the bound; each is its maximum ----


@pytest.mark.parametrize("n, kernels, seed", [(2, FEW, 0), (10, FEW, 1), (25, None, 2)])
def test_no_update_of_the_batch_lowers_the_bound(n, kernels, seed):
    model = swept(n, sweeps=25, kernels=kernels, seed=seed, trace=True)
    assert len(model.trace) == 24 * len(model.SWEEP)
    assert worst_fall(model.trace)[0] < ROUNDING
    assert len(model.elbo) == 25
    assert np.all(np.diff(model.elbo) > 0)
    assert model.elbo[-1] == pytest.approx(sum(model.terms().values()), rel=1e-14)


@both_starts
def test_no_update_of_a_step_lowers_the_objective(options):
    falls = []

    class Watched(online.OB2RMK):
        def learn(self, *args):
            super().learn(*args)
            falls.append(worst_fall(self.last.trace)[0])
            assert np.all(np.diff(self.last.objective) > -1e-12)

    stream(18, learner=Watched, trace=True, n_iterations=10, budget=7, **options)
    assert len(falls) == 6
    assert max(falls) < ROUNDING


def culprit_of(model, factor, spoil, sweep):
    """From a model near its optimum on, one update is wrong: the largest fall and the factor that did it."""
    model = copy.deepcopy(model)
    correct = getattr(model, f"update_{factor}")

    def update():
        correct()
        spoil(model)

    setattr(model, f"update_{factor}", update)
    model.trace = [("start", model.bound())]
    model.run([*sweep, *sweep])
    return worst_fall(model.trace)


def shift_f(model):
    model.m_f[model.positives] += 0.05


def rate_of(name):
    def spoil(model):
        getattr(model, name).rate *= 1.05

    return spoil


def scale(name, by):
    def spoil(model):
        setattr(model, name, getattr(model, name) * by)

    return spoil


def forget_the_two(model):
    model.prior_a.scale = laws.GIG(0.0, model.prior_a.rate.mean, model.a2())


def swap_the_arguments(model):
    model.prior_a.scale = laws.GIG(0.0, model.a2(), 2 * model.prior_a.rate.mean)


def forget_the_variance(model):
    model.prior_e.scale = laws.GIG(0.0, 2 * model.prior_e.rate.mean, model.e() ** 2)


def forget_the_trace(model):
    alpha, beta = model.prior_v
    rest = model.SSg() - np.trace(model.Sigma_a @ model.S)
    model.v = laws.Gamma(alpha + model.P * model.N / 2, beta + rest / 2)


MISTAKES = [
    ("v", rate_of("v")),
    ("v", forget_the_trace),
    ("f_positive", shift_f),
    ("be", scale("m_be", 1.01)),
    ("G", scale("Sigma_g", 1.1)),
    ("a", scale("m_a", 1.01)),
    ("c", rate_of("c")),
    ("gamma", rate_of("gamma")),
    ("theta", scale("chi", 1.2)),
    ("lambda", forget_the_two),
    ("lambda", swap_the_arguments),
    ("omega", forget_the_variance),
]


@pytest.mark.parametrize("factor, spoil", MISTAKES)
def test_a_wrong_update_of_the_batch_is_noticed(factor, spoil):
    model = settled_batch()
    assert culprit_of(model, factor, lambda _: None, model.SWEEP)[0] < ROUNDING
    fall, culprit = culprit_of(model, factor, spoil, model.SWEEP)
    assert fall > 1e-6
    assert culprit == factor


@cache
def settled_batch():
    return swept(10, sweeps=400)


@pytest.mark.parametrize(
    "factor, spoil",
    [("v", rate_of("v")), ("f_positive", shift_f), ("be", scale("m_be", 1.01)), ("a", scale("m_a", 1.01))],
)
def test_a_wrong_update_of_a_step_is_noticed(factor, spoil):
    step = settled_step()
    assert culprit_of(step, factor, lambda _: None, step.FROM_SCORES)[0] < ROUNDING
    fall, culprit = culprit_of(step, factor, spoil, step.FROM_SCORES)
    assert fall > 1e-6
    assert culprit == factor


@cache
def settled_step():
    return last_step(200)


def disturbed(model, factor, rng, size):
    """A copy with the parameters of one factor moved a little, within its family."""

    def near(x):
        return x * np.exp(size * rng.normal(size=np.shape(x)))

    def moved(m, Sigma):
        L, n = np.linalg.cholesky(Sigma), len(Sigma)
        E = np.eye(n) + size * rng.normal(size=(n, n))
        return m + size * (L @ rng.normal(size=m.shape)), L @ E @ E.T @ L.T

    model = copy.deepcopy(model)
    if factor in ("a", "be"):
        m, Sigma = moved(getattr(model, f"m_{factor}"), getattr(model, f"Sigma_{factor}"))
        setattr(model, f"m_{factor}", m)
        setattr(model, f"Sigma_{factor}", Sigma)
    elif factor == "G":
        model.M_G, model.Sigma_g = moved(model.M_G, model.Sigma_g)
    elif factor in ("v", "c", "gamma"):
        old = getattr(model, factor)
        setattr(model, factor, laws.Gamma(near(old.shape), near(old.rate)))
    elif factor == "theta":
        model.chi = near(model.chi)
    elif factor.startswith("f_"):
        side = model.positives if factor == "f_positive" else model.negatives
        model.m_f[side] += size * np.sqrt(model.s_f[side]) * rng.normal(size=len(side))
        model.s_f[side] = near(model.s_f[side])
    else:
        a_names, e_names = ["lambda", "xi", "phi", "eta"], ["omega", "vphi", "rho", "tau"]
        hierarchy = getattr(model, "prior_newest", None) or (model.prior_a if factor in a_names else model.prior_e)
        part = ["scale", "rate", "top", "top_rate"][(a_names + e_names).index(factor) % 4]
        old = getattr(hierarchy, part)
        new = laws.GIG(old.p, near(old.A), near(old.B)) if part == "scale" else None
        setattr(hierarchy, part, new or laws.Gamma(near(old.shape), near(old.rate)))
    return model


def assert_maximum(model, factor):
    rng = np.random.default_rng(0)
    getattr(model, f"update_{factor}")()
    top = model.bound()
    for size in (0.3, 0.01):
        for _ in range(4):
            assert disturbed(model, factor, rng, size).bound() < top, factor
    # the derivatives vanish: both directions of a small move lose the same
    rng_a, rng_b = np.random.default_rng(1), np.random.default_rng(1)
    h = 1e-3
    up, down = disturbed(model, factor, rng_a, h).bound() - top, disturbed(model, factor, rng_b, -h).bound() - top
    assert up == pytest.approx(down, rel=0.1, abs=1e-9), factor


@pytest.mark.parametrize("sweeps", [1, 8])
def test_every_update_of_the_batch_is_a_maximum(sweeps):
    model = swept(9, sweeps=sweeps)
    for factor in model.SWEEP:
        assert_maximum(model, factor)


@both_starts
def test_every_update_of_a_step_is_a_maximum(options):
    step = last_step(2, **options)
    for factor in step.FROM_SCORES:
        assert_maximum(step, factor)
