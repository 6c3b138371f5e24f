"""Squared distances by scalar products: as exact as a Gaussian needs them, whichever way they are measured."""

import numpy as np
import pytest

from lopsided.core.arithmetic.products import dense_dots
from lopsided.core.geometry.dense_products import gaussians_from_products, squares_from_products


def squares(values, x, gamma):
    n = values.shape[1]
    dots, found, scratch = np.empty(n), np.empty(n), np.empty(n)
    dense_dots(values, x, 0, n, dots)
    norms = np.einsum("ji,ji->i", values, values)
    squares_from_products(values, x, 0, n, norms, float(x @ x), gamma, gamma, dots, found, scratch)
    return found


@pytest.mark.parametrize("far_away", [0.0, 1.0, 1e3, 1e7])
@pytest.mark.parametrize("gamma", [2048.0, 8.0, 0.1, 1e-4])
def test_a_gaussian_keeps_its_digits_wherever_the_points_lie(gamma, far_away):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6, 50)) + far_away
    x = values[:, 7] + 0.01 * rng.normal(size=6)
    exact = ((values - x[:, None]) ** 2).sum(0)
    similar = np.exp(-gamma * squares(values, x, gamma))
    assert np.allclose(similar, np.exp(-gamma * exact), rtol=0, atol=1e-11)


def test_enormous_rows_have_no_distance_that_is_no_number():
    values = np.array([[1.0, 1e200, -1e300]])
    with np.errstate(over="ignore"):
        found = squares(values, np.array([1e200]), 1.0)
    assert np.array_equal(found, [np.inf, 0.0, np.inf])


@pytest.mark.parametrize("far_away", [0.0, 1.0, 1e3, 1e200])
@pytest.mark.parametrize("gamma", [2048.0, 60.0, 8.0, 0.1, 1e-4])
def test_a_row_of_gaussians_is_the_same_in_one_pass_and_with_care(gamma, far_away):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(6, 50)) + far_away
    x = values[:, 7] + 0.01 * rng.normal(size=6)
    with np.errstate(over="ignore"):
        norms, norm = np.einsum("ji,ji->i", values, values), float(x @ x)
        exact = np.exp(-gamma * ((values - x[:, None]) ** 2).sum(0))
    dots, rows = np.empty(50), []
    dense_dots(values, x, 0, 50, dots)
    for care in (0, 5):
        row, squares, scratch, left = np.full(50, np.nan), np.empty(50), np.empty(50), np.array([care])
        gaussians_from_products(values, x, 0, 50, norms, norm, gamma, dots, row, squares, scratch, left)
        rows.append(row)
    assert np.array_equal(*rows)
    np.testing.assert_allclose(rows[0], exact, rtol=0, atol=1e-11)


def test_care_is_taken_for_a_while_after_a_row_that_needed_it():
    values, x = np.zeros((1, 20)), np.array([100.0])
    dots, row, squares, scratch, care = np.zeros(20), np.ones(20), np.ones(20), np.ones(20), np.zeros(1, dtype=np.int64)
    arguments = (values, x, 0, 20, np.zeros(20), 1e4, 1.0, dots, row, squares, scratch, care)
    gaussians_from_products(*arguments)
    assert care[0] > 0 and not row.any()
    left = care[0]
    gaussians_from_products(*arguments)
    assert care[0] == left - 1


@pytest.mark.parametrize("near", [0, 7, 8, 18])
def test_one_point_that_is_near_is_found_among_those_that_are_far(near):
    values, x = np.full((1, 19), 1e3), np.array([-1e3])
    values[0, near] = -1e3 + 0.5
    dots, row, squares, scratch, care = (
        values[0] * x,
        np.ones(19),
        np.ones(19),
        np.ones(19),
        np.zeros(1, dtype=np.int64),
    )
    gaussians_from_products(values, x, 0, 19, values[0] ** 2, 1e6, 1.0, dots, row, squares, scratch, care)
    np.testing.assert_allclose(row, np.where(np.arange(19) == near, np.exp(-0.25), 0.0), rtol=1e-12, atol=0)


@pytest.mark.parametrize("n_points", [0, 1, 20])
def test_rows_that_need_no_care_leave_it_at_that(n_points):
    values, x = np.ones((1, n_points)), np.array([0.5])
    row, squares, scratch, care = np.ones(n_points), np.ones(n_points), np.ones(n_points), np.zeros(1, dtype=np.int64)
    norms, dots = values[0] ** 2, values[0] * x
    gaussians_from_products(values, x, 0, n_points, norms, 0.25, 1.0, dots, row, squares, scratch, care)
    np.testing.assert_allclose(row, np.exp(-0.25), rtol=1e-12, atol=0)
    assert care[0] == 0
