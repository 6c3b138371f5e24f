"""The theorems behind KOIL, in numbers on small streams: unbounded policy, hinge loss, constant rate (Hu 2015, ch. 3).

Notation and the runs themselves are in `koil_runs.py`.
"""

import itertools
from functools import cache

import numpy as np
import pytest

from lopsided.kernels import Gaussian
from theory.koil_runs import KERNELS, KINDS, make_stream, play, regret

STEPS = [(0.05, 0.1, 1), (0.3, 0.01, 3), (0.3, 0.5, 2), (1.0, 0.01, 1), (1.0, 0.1, 3), (3.0, 0.05, 2), (3.0, 0.3, 1)]
every_run = pytest.mark.parametrize(
    ("kernel", "kind", "steps"), list(itertools.product(KERNELS, KINDS, STEPS)), ids=lambda part: str(part)
)


@cache
def run_of(kernel, kind, steps):
    """One of the runs that all theorems are about; nobody changes it."""
    return play(KERNELS[kernel], *make_stream(kind), *steps)


@every_run
def test_lemma_1_bounds_the_length_of_the_function(kernel, kind, steps):
    """||f_t|| <= C max(k c_p, eta X)."""
    run = run_of(kernel, kind, steps)
    bound = run.C * max(run.k * run.c_p, run.eta * np.sqrt(run.gram.diagonal().max()))
    lengths = [np.sqrt(max(run.squared_length(f), 0.0)) for f in run.functions]
    assert max(lengths) <= bound * (1.0 + 1e-12)
    assert lengths[1] == pytest.approx(run.eta * run.C * np.sqrt(run.gram[0, 0]))


@every_run
def test_lemma_2_bounds_the_loss_of_every_pair(kernel, kind, steps):
    """l_i(f_t) <= U = 1 + C k c_p^2."""
    run = run_of(kernel, kind, steps)
    losses = np.concatenate([run.losses(t, run.functions[t]) for t in range(len(run.y))])
    assert losses.min() > 0.0  # V holds violators only
    assert losses.max() <= run.loss_bound


@every_run
def test_a_step_goes_down_the_gradient_of_the_instantaneous_risk(kernel, kind, steps):
    """f_{t+1} = f_t - eta (f_t - C sum_V pair), in the norm of the kernel's space; the first example gets eta C y."""
    run = run_of(kernel, kind, steps)
    for t in range(1, len(run.y)):
        surprise = run.functions[t + 1] - (run.functions[t] - run.eta * run.gradient(t))
        assert run.squared_length(surprise) < 1e-24
    np.testing.assert_allclose(run.functions[1], np.eye(len(run.y))[0] * run.eta * run.C * run.y[0], rtol=1e-14)


def test_a_step_with_a_full_buffer_does_not_and_the_check_sees_it():
    run = play(KERNELS["wide gaussian"], *make_stream("noise"), 1.0, 0.1, 2, policy="fifo", budget=5)
    surprises = [
        run.squared_length(run.functions[t + 1] - (run.functions[t] - run.eta * run.gradient(t)))
        for t in range(1, len(run.y))
    ]
    assert max(surprises) > 1e-6


def bound_of_descent(run, best):
    """||f_2 - f*||^2 / (2 eta) + eta/2 sum_t ||g_t||^2: what subgradient descent can lose, after the start-up step."""
    gradients = [run.squared_length(run.gradient(t)) for t in range(1, len(run.y))]
    return run.squared_length(run.functions[1] - best) / (2.0 * run.eta) + 0.5 * run.eta * sum(gradients)


def bound_of_parts(run, best):
    """||f*||^2 / (2 eta) + eta C k sum_t ((U - 1) + C k c_p^2): the gradients by their parts and Lemma 1.

    ||g_t||^2 = ||f_t||^2 - 2 C sum_V (1 - l_i) + C^2 ||sum_V pair||^2 <= 2 C k (U - 1) + 2 C^2 k^2 c_p^2.
    """
    a_step = (run.loss_bound - 1.0) + run.C * run.k * run.c_p**2
    return run.squared_length(best) / (2.0 * run.eta) + run.eta * run.C * run.k * len(run.y) * a_step


def printed_bound(run, best):
    """||f*||^2 / (2 eta) + eta C k sum_t ((U - 1) + (k + 1) C^2 c_p^2 / 2): the theorem as printed.

    For C < 2 k / (k + 1) this is less than the parts add up to; no stream here comes near either.
    """
    a_step = (run.loss_bound - 1.0) + 0.5 * (run.k + 1) * run.C**2 * run.c_p**2
    return run.squared_length(best) / (2.0 * run.eta) + run.eta * run.C * run.k * len(run.y) * a_step


@every_run
def test_theorem_1_bounds_the_regret(kernel, kind, steps):
    """R_T = sum_t L_t(f_t) - L_t(f*) is below all three bounds, for points that differ: k c_p >= eta X."""
    run = run_of(kernel, kind, steps)
    assert run.k * run.c_p >= run.eta * np.sqrt(run.gram.diagonal().max())
    lost, best = regret(run)
    longest = max(run.squared_length(run.gradient(t)) for t in range(1, len(run.y)))
    assert longest <= 2.0 * run.C * run.k * (run.loss_bound - 1.0) + 2.0 * (run.C * run.k * run.c_p) ** 2
    assert lost <= bound_of_descent(run, best) * (1.0 + 1e-6)
    assert lost <= bound_of_parts(run, best)
    assert lost <= printed_bound(run, best)


def test_the_printed_bound_leaves_out_the_start_up_step_and_fails_where_all_points_are_nearly_one():
    """With k c_p < eta X no step moves the function, but the first example has given it a length eta C X."""
    X, y = np.array([[0.0], [1e-3], [2e-3], [3e-3]]), np.array([1, -1, 1, -1])
    run = play(Gaussian(gamma=1.0), X, y, 0.1, 0.5, 1)
    lost, best = regret(run)
    assert run.k * run.c_p < run.eta
    assert printed_bound(run, best) < lost < bound_of_descent(run, best)


def test_a_model_that_climbs_breaks_the_bounds_and_the_check_sees_it():
    """The functions of a run on turned labels, ten times as long, judged by the risks of the right one."""
    X, y = make_stream("separate")
    run, turned = (play(KERNELS["wide gaussian"], X, labels, 1.0, 0.01, 3) for labels in (y, -y))
    lost, best = regret(run)
    bounds = [bound(run, best) for bound in (bound_of_descent, bound_of_parts, printed_bound)]
    run.functions = [10.0 * f for f in turned.functions]
    climbing, _ = regret(run)
    assert lost < min(bounds) and max(bounds) < climbing
