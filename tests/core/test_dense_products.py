"""Squared distances by scalar products: as exact as a Gaussian needs them, and the bits of a row alone."""

import numpy as np
import pytest

from lopsided.core.geometry.dense_products import dense_dots, dense_dots_of_four, squares_from_products


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
