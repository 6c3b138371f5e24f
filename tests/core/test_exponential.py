"""The exponential that vectorises, against the exact one."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from numba import njit

from lopsided.core.arithmetic.exponential import exponential, exponential_by_shifts, exponential_of_moderate
from lopsided.core.geometry.kernels import similarities
from lopsided.kernels import Gaussian

LOWEST, HIGHEST = -746.0, 710.0
LAST_FINITE = 709.782712893384  # the largest double with a finite exponential
SMALLEST_NORMAL = -708.3964185322641
LAST_POSITIVE = -745.1332191019411  # below, exp rounds to 0


def in_a_loop(x):
    """exp(x) as kernel rows compute it, many at a time: exp(-gamma d) with gamma = 1 and d = -x."""
    x = np.asarray(x, dtype=np.float64)
    row, nothing = np.empty_like(x), np.zeros_like(x)
    similarities(Gaussian(gamma=1.0).compiled(), -x, nothing, nothing, 0.0, row)
    return row


def error_in_ulps(x, found):
    """|found - exp(x)| in units of the last place of the exact value."""
    with np.errstate(over="ignore", under="ignore"):
        exact = np.exp(np.asarray(x, dtype=np.longdouble))
        rounded = exact.astype(np.float64)
    finite = np.isfinite(rounded) & np.isfinite(found)
    assert np.array_equal(np.isposinf(found), np.isposinf(rounded))
    error = np.zeros(len(found))
    error[finite] = np.abs((found[finite].astype(np.longdouble) - exact[finite]) / np.spacing(rounded[finite]))
    return error


POINTS = {
    "a dense grid": np.linspace(LOWEST, HIGHEST, 200_001),
    "random points": np.random.default_rng(0).uniform(LOWEST, HIGHEST, 200_000),
    "small arguments": np.random.default_rng(1).uniform(-1.0, 1.0, 100_000),
    "tiny arguments": np.concatenate([s * np.logspace(-320, -1, 5_000) for s in (-1.0, 1.0)]),
    "subnormal results": np.linspace(LOWEST, SMALLEST_NORMAL, 100_001),
    "the joints of the reduction": np.concatenate(
        [(n + 0.5) * math.log(2) + np.linspace(-1e-9, 1e-9, 21) for n in range(-1075, 1024)]
    ),
    "whole numbers": np.arange(LOWEST, HIGHEST + 1),
}


@pytest.mark.parametrize("points", list(POINTS))
def test_it_stays_within_two_units_of_the_last_place(points):
    x = POINTS[points]
    assert error_in_ulps(x, in_a_loop(x)).max() <= 2.0


def test_it_agrees_with_fifty_digits():
    x = np.random.default_rng(2).uniform(LOWEST + 1.0, LAST_FINITE, 500)
    with localcontext() as context:
        context.prec = 50
        exact = [Decimal(float(v)).exp() for v in x]
        found = [Decimal(float(v)) for v in in_a_loop(x)]
        errors = [abs(f - e) / Decimal(float(np.spacing(float(e)))) for f, e in zip(found, exact, strict=True)]
    assert max(errors) <= 2


def test_one_at_a_time_is_the_same_as_many():
    x = np.concatenate([points[::501] for points in POINTS.values()])
    one_by_one = np.array([exponential(float(v)) for v in x])
    for length in (1, 3, 4, 7, 8, 64, x.size):  # with and without a remainder after the vectorised part
        np.testing.assert_array_equal(in_a_loop(x[:length]), one_by_one[:length])


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (0.0, 1.0),
        (-0.0, 1.0),
        (5e-324, 1.0),
        (-5e-324, 1.0),
        (-math.inf, 0.0),
        (math.inf, math.inf),
        (-1e308, 0.0),
        (1e308, math.inf),
        (LOWEST, 0.0),
        (np.nextafter(LOWEST, -math.inf), 0.0),
        (HIGHEST, math.inf),
        (np.nextafter(LAST_FINITE, math.inf), math.inf),
        (np.nextafter(LAST_POSITIVE, -math.inf), 0.0),
        (LAST_POSITIVE, 5e-324),
        (-744.5, math.exp(-744.5)),
        (-744.0, math.exp(-744.0)),
    ],
)
def test_the_ends_are_exact(x, expected):
    assert exponential(float(x)) == expected
    assert in_a_loop([x])[0] == expected


def test_it_is_finite_up_to_the_last_argument_with_a_finite_value():
    assert math.isfinite(exponential(LAST_FINITE))
    assert exponential(LAST_FINITE) == pytest.approx(math.exp(LAST_FINITE), rel=1e-15)


def test_it_underflows_gradually():
    x = np.linspace(SMALLEST_NORMAL - 1.0, LAST_POSITIVE, 10_001)
    found = in_a_loop(x)
    assert ((found > 0.0) & (found < np.finfo(np.float64).tiny)).all()


@pytest.mark.parametrize("part", range(4))
def test_it_never_falls_on_a_fine_grid(part):
    edges = np.linspace(LOWEST, HIGHEST, 5)
    found = in_a_loop(np.linspace(edges[part], edges[part + 1], 500_001))
    finite = found[np.isfinite(found)]
    assert (np.diff(finite) >= 0.0).all() and not np.isfinite(found[finite.size :]).any()


@pytest.mark.parametrize("centre", [-1e-8, -0.01, -0.3, -math.log(2) / 2, -1.0, -30.3, -700.1, 3.3, 400.2])
def test_it_never_falls_between_neighbouring_numbers(centre):
    x = centre + np.spacing(abs(centre)) * np.arange(-50_000, 50_001)
    assert (np.diff(in_a_loop(x)) >= 0.0).all()


def test_the_measure_of_error_notices_three_units():
    x = POINTS["random points"][:1000]
    x = x[(x > -700) & (x < 700)]
    off = np.exp(x)
    assert error_in_ulps(x, off + 3.0 * np.spacing(off)).max() > 2.0


@njit
def _three_ways(x, moderate, by_shifts, plain):
    for i in range(x.size):
        plain[i] = exponential(x[i])
        by_shifts[i] = exponential_by_shifts(x[i])
        moderate[i] = exponential_of_moderate(min(max(x[i], -708.0), 709.0))


@pytest.mark.parametrize("points", list(POINTS))
def test_the_other_forms_have_its_bits(points):
    x = POINTS[points]
    moderate, by_shifts, plain = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    _three_ways(x, moderate, by_shifts, plain)
    assert np.array_equal(by_shifts, plain)
    inside = (x >= -708.0) & (x <= 709.0)
    assert np.array_equal(moderate[inside], plain[inside])
