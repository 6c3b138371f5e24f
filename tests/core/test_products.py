"""Products of matrices in tiles, wherever the tiles end."""

import os
import subprocess
import sys

import numpy as np
import pytest

from lopsided.core.arithmetic.products import (
    LOWER,
    UPPER,
    WHOLE,
    dense_dots,
    dense_dots_of_four,
    multiply,
    transpose,
)

SHAPES = [(90, 200, 200), (90, 33, 90), (200, 7, 200), (58, 90, 20), (4, 3, 16), (5, 1, 17), (3, 5, 40), (40, 5, 7)]


def matrices(shape):
    rng = np.random.default_rng(0)
    m, k, n = shape
    return rng.normal(size=(m, k)), rng.normal(size=(k, n))


@pytest.mark.parametrize("shape", [*SHAPES, (17, 0, 33), (2, 0, 2)])
def test_a_product_is_that_of_numpy(shape):
    left, right = matrices(shape)
    found = np.full((shape[0], shape[2]), np.nan)
    multiply(left, right, WHOLE, found)
    np.testing.assert_allclose(found, left @ right, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("part", "half"), [(UPPER, np.triu), (LOWER, np.tril)])
@pytest.mark.parametrize("n", [1, 3, 5, 15, 16, 17, 31, 33, 66, 90])
def test_half_a_product_is_half_of_it(n, part, half):
    left, right = matrices((n, 6, n))
    found = np.full((n, n), np.nan)
    multiply(left, right, part, found)
    np.testing.assert_allclose(half(np.nan_to_num(found)), half(left @ right), rtol=0, atol=1e-12)
    assert np.array_equal(half(np.isnan(found)), np.zeros((n, n)))
    assert n < 60 or np.isnan(found).sum() > n * n // 4  # what nobody needs is not made


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 20), (90, 200)])
def test_a_transposed_matrix(shape):
    matrix = np.random.default_rng(1).normal(size=shape)
    found = np.empty(shape[::-1])
    transpose(matrix, found)
    assert np.array_equal(found, matrix.T)


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


def test_what_is_no_contiguous_array_of_floats_is_refused():
    left, right = matrices((8, 8, 32))
    for other in (left.T, left.astype(np.float32)):
        with pytest.raises(Exception, match="No implementation"):
            multiply(other, right, WHOLE, np.empty((8, 32)))


def test_shorter_tiles_of_another_processor_multiply_as_well(tmp_path):
    program = (
        "import sys, numpy as np; from lopsided.core.arithmetic.product_tiles import POINTS\n"
        "from lopsided.core.arithmetic.products import dense_dots, dense_dots_of_four, multiply\n"
        "assert POINTS == 8\n"
        "left, right, products, together, alone = np.load(sys.argv[1]).values()\n"
        "for part in range(3): multiply(left, right, part, products[part])\n"
        "dense_dots_of_four(right, left, 7, 2, 43, together)\n"
        "for place in range(4): dense_dots(right, left[7 + place], 2, 43, alone[place, 2:43])\n"
        "np.savez(sys.argv[2], products, together, alone)\n"
    )
    left, right = matrices((45, 5, 45))
    np.savez(tmp_path / "given.npz", left, right, np.zeros((3, 45, 45)), np.zeros((4, 45)), np.zeros((4, 45)))
    command = [sys.executable, "-c", program, str(tmp_path / "given.npz"), str(tmp_path / "made.npz")]
    environment = os.environ | {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    subprocess.run(command, env=environment, check=True, timeout=300)
    products, together, alone = np.load(tmp_path / "made.npz").values()
    for product, half in zip(products, (np.asarray, np.triu, np.tril), strict=True):
        np.testing.assert_allclose(half(product), half(left @ right), rtol=0, atol=1e-13)
    np.testing.assert_allclose(together[:, 2:43], (left @ right)[7:11, 2:43], rtol=0, atol=1e-13)
    assert np.array_equal(together, alone)
