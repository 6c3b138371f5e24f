"""KOIL with its vectors in float32: the algorithm is the same, and where single precision is exact so are scores."""

import numpy as np
import pytest
import scipy.sparse as sp

import lopsided as lp
from core.agreement import TOLERANCE, clusters, learned_scores, naive_scores
from lopsided.kernels import Gaussian
from oracles import koil as naive


def quarters(n, n_features, seed):
    """Rows of multiples of 1/4, whose distances are exact in single precision."""
    rng = np.random.default_rng(seed)
    return rng.integers(-8, 9, size=(n, n_features)) / 4.0, np.where(rng.random(n) < 0.3, 1, -1)


@pytest.mark.parametrize("policy", ["reservoir", "fifo", "unbounded"])
@pytest.mark.parametrize("n_features", [3, 8])
def test_the_learner_is_the_naive_one_where_single_precision_is_exact(n_features, policy):
    parameters = {"C": 2.0, "learning_rate": 0.05, "budget": (9, 13), "n_neighbors": 3, "policy": policy}
    learner = lp.KOIL(kernel=Gaussian(gamma=0.3), dtype="float32", random_state=5, **parameters)
    model = naive.KOIL(naive.gaussian(0.3), seed=5, **parameters)
    X, y = quarters(400, n_features, seed=1)
    np.testing.assert_allclose(learned_scores(learner, X, y), naive_scores(model, X, y), rtol=0, atol=TOLERANCE)


def test_elsewhere_it_is_near_to_double_precision_but_not_the_same():
    X, y = clusters(600)
    double, single = (lp.KOIL(gamma=2.0, dtype=dtype, random_state=0) for dtype in ("float64", "float32"))
    expected, scores = double.progressive_scores(X, y), single.progressive_scores(X, y)
    assert 0.0 < np.abs(scores - expected).max() < 1e-4
    assert single._points.values.dtype == np.float32 and single.support_vectors_.dtype == np.float64
    assert 2 * single._points.values.nbytes == double._points.values.nbytes


def test_sparse_rows_are_learned_as_dense_ones_are():
    X, y = quarters(300, 9, seed=2)
    X[np.abs(X) < 1.0] = 0.0
    dense, sparse = (lp.KOIL(gamma=0.3, budget=20, dtype="float32", random_state=0) for _ in range(2))
    expected = dense.progressive_scores(X, y)
    np.testing.assert_allclose(sparse.progressive_scores(sp.csr_array(X), y), expected, rtol=0, atol=TOLERANCE)


def test_features_beyond_single_precision_leave_numbers():
    X, y = clusters(200)
    X[::7] *= 1e60
    learner = lp.KOIL(gamma=2.0, budget=20, dtype="float32", random_state=0)
    assert np.isfinite(learner.progressive_scores(X, y)).all()
    assert np.isfinite(learner.support_vectors_).all()


def test_a_file_keeps_the_precision(tmp_path):
    X, y = clusters(400)
    whole = lp.KOIL(gamma=2.0, budget=20, dtype="float32", random_state=0).partial_fit(X, y)
    half = lp.KOIL(gamma=2.0, budget=20, dtype="float32", random_state=0).partial_fit(X[:200], y[:200])
    half.save(tmp_path / "model")
    resumed = lp.load(tmp_path / "model").partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(resumed.raw_scores(X), whole.raw_scores(X))
    assert resumed._points.values.dtype == np.float32
