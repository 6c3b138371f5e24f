"""The algebra of a step where it is tridiagonal, and what the matrices of many kernels leave out, against NumPy."""

import numpy as np
import pytest

from lopsided.bayes.kernel_pool import KernelPool
from lopsided.bayes.online import _directions
from lopsided.core.bayesian.buffers import NOBODY, grown_covariance
from lopsided.core.bayesian.directions import (
    add_combined_rows,
    explain,
    factor_shifted,
    products_with_rows,
    shifted_inverse,
    times_tridiagonal,
    trace_of_shifted,
)
from lopsided.kernels import Gaussian, Normalized, Polynomial, bayes_pool


def of_rank(rank, size, seed=0):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((size, rank)) * 10.0 ** -np.linspace(0, 4, rank) if rank else np.zeros((size, 1))
    return root @ root.T


def tridiagonal(diagonal, left):
    return np.diag(diagonal) + np.diag(left[1:], 1) + np.diag(left[1:], -1)


@pytest.mark.parametrize("rank", [0, 1, 2, 3, 8, 13])
def test_the_directions_say_all_of_a_matrix_and_are_orthonormal(rank):
    H = of_rank(rank, 13)
    U, diagonal, left = _directions(H)
    assert U.shape == (diagonal.size, 13) and diagonal.size <= max(rank, 1)
    assert np.abs(U @ U.T - np.eye(diagonal.size)).max(initial=0.0) < 1e-7  # of the least direction
    assert np.abs(U.T @ tridiagonal(diagonal, left) @ U - H).max() <= 1e-12 * np.abs(H).max()
    of_half = _directions(np.where(np.tri(13, k=-1, dtype=bool), np.nan, H))  # what is below the diagonal nobody made
    assert all(np.array_equal(one, other) for one, other in zip(of_half, (U, diagonal, left), strict=True))


@pytest.mark.parametrize("leaving", [NOBODY, 0, 3, 5])
def test_a_covariance_grows_by_the_half_that_is_made_of_what_is_explained(leaving):
    rng = np.random.default_rng(4)
    before, explained, h = of_rank(6, 6), of_rank(2, 6, seed=5), rng.standard_normal(6)
    expected = np.block([[before - explained + 0.5 * np.outer(h, h), 0.5 * h[:, None]], [0.5 * h, 0.5]])
    if leaving != NOBODY:
        expected = np.delete(np.delete(expected, leaving, axis=0), leaving, axis=1)
    found, half = np.empty_like(expected), np.where(np.tri(6, dtype=bool), explained, np.nan)
    assert grown_covariance(before, half, h, 0.5, leaving, found)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("v", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("rank", [1, 2, 7, 12])
def test_what_is_solved_with_them_is_what_a_dense_inverse_says(rank, v):
    rng = np.random.default_rng(1)
    A, W = rng.standard_normal((30, 12)), of_rank(rank, 12)
    U, diagonal, left = _directions(W)
    T = tridiagonal(diagonal, left)
    inverse = np.linalg.inv(np.eye(rank) + v * T)
    pivots, ratios, y, z = np.empty(rank), np.empty(rank), np.empty(rank), np.empty(rank)
    x = rng.standard_normal(rank)
    factor_shifted(diagonal, left, v, pivots, ratios)
    shifted_inverse(pivots, ratios, x, y)
    assert np.allclose(y, inverse @ x, rtol=1e-10, atol=1e-13)
    times_tridiagonal(diagonal, left, v, y, z)
    assert np.allclose(z, v * T @ inverse @ x, rtol=1e-10, atol=1e-13)
    assert trace_of_shifted(diagonal, left, pivots, ratios) == pytest.approx(np.trace(T @ inverse), rel=1e-10)
    rows = U @ A.T
    expected = v * rows.T @ inverse @ rows
    explain(rows, v, pivots, ratios)
    assert np.allclose(rows.T @ rows, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("count", [0, 1, 4, 7])
def test_rows_four_at_a_time(count):
    rng = np.random.default_rng(2)
    rows, x, weights = rng.standard_normal((count, 9)), rng.standard_normal(9), rng.standard_normal(count)
    products, total = np.empty(count), np.ones(9)
    products_with_rows(rows, x, products)
    add_combined_rows(rows, weights, total)
    assert np.allclose(products, rows @ x, rtol=0, atol=1e-13)
    assert np.allclose(total, 1.0 + weights @ rows, rtol=0, atol=1e-13)


def test_similarities_that_products_would_make_subnormal_are_0():
    x, z = np.zeros((1, 1)), np.array([[0.0], [1.0], [8.30], [8.31], [30.0]])
    assert np.array_equal(KernelPool([Gaussian(1.0)]).rows(x, z)[0, 0] > 0, [True, True, True, False, False])


def test_powers_of_a_cosine_are_the_normalised_polynomials():
    rng = np.random.default_rng(3)
    X, Z = rng.standard_normal((4, 3)), rng.standard_normal((6, 3))
    Z[0] = 0.0
    pool = [Normalized(Polynomial(degree, offset)) for offset in (0.0, 1.0) for degree in (1, 4)] + bayes_pool()
    for kernel, matrix in zip(pool, KernelPool(pool).matrices(X, Z), strict=True):
        assert np.allclose(matrix, kernel(X, Z), rtol=1e-13, atol=1e-15)
