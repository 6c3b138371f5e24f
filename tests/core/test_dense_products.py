"""Squared distances by scalar products: as exact as a Gaussian needs them, and the bits of a row alone."""

import numpy as np
import pytest

from lopsided.core.geometry.dense_products import (
    dense_dots,
    dense_dots_of_four,
    gaussians_from_products,
    squares_from_products,
)


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


@pytest.mark.parametrize("n_features", [1, 4, 7, 20])
def test_rows_measured_together_have_the_bits_of_one_alone(n_features):
    rng = np.random.default_rng(1)
    values, X, together = rng.normal(size=(n_features, 37)), rng.normal(size=(6, n_features)), np.zeros((4, 37))
    dense_dots_of_four(values, X, 1, 3, 34, together)
    for place in range(4):
        alone = np.empty(31)
        dense_dots(values, X[1 + place], 3, 34, alone)
        assert np.array_equal(together[place, 3:34], alone)


@pytest.mark.parametrize("n_points", [1, 7, 8, 15, 16, 17, 40])
def test_tiles_measure_every_point(n_points):
    rng = np.random.default_rng(2)
    values, X, dots = rng.normal(size=(5, n_points)), rng.normal(size=(4, 5)), np.zeros((4, n_points))
    dense_dots_of_four(values, X, 0, 0, n_points, dots)
    np.testing.assert_allclose(dots, X @ values, rtol=0, atol=1e-13)


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
