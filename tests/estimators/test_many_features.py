"""Thousands of features: support vectors are kept by their non-zeros, and the model is the one of a narrow table."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import lopsided as lp
from lopsided.core.geometry.points import WIDEST_TABLE
from lopsided.kernels import Gaussian, Linear

POOL = [Gaussian(gamma=0.3), Gaussian(gamma=2.0), Linear()]
LEARNERS = [
    lp.KOIL(budget=9, gamma=0.4, random_state=1),
    lp.KOIL(policy="unbounded", gamma=0.4, random_state=1),
    lp.KOIL(kernel="poly", degree=2, coef0=1.0, budget=9, policy="fifo"),
    lp.MultiKernelKOIL(POOL, budget=9, random_state=1),
    lp.OILK(gamma=0.4, budget=15),
    lp.SPA(gamma=0.4, sampling_scale=2.0, random_state=1),
    lp.KernelOGD(gamma=0.4),
    lp.RBP(gamma=0.4, budget=15, random_state=1),
    lp.Forgetron(gamma=0.4, budget=15),
    lp.BPAS(gamma=0.4, budget=15),
    lp.Projectron(gamma=0.4, budget=15, tol=1e-4),
    lp.NOGD(gamma=0.4, budget=40, rank=10),
    lp.BOMKC(POOL, random_state=1),
    lp.OMKC(POOL, variant="SD", base="forgetron", budget=30, random_state=1),
]
learners = pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: str(learner)[:60])
WIDE = WIDEST_TABLE + 900


@pytest.fixture(scope="module")
def stream():
    """Sparse rows of 40 features, and the same rows with these scattered among thousands."""
    rng = np.random.default_rng(7)
    narrow = rng.normal(size=(600, 40)) * (rng.random((600, 40)) < rng.uniform(0.05, 0.5, size=(600, 1)))
    places = np.sort(rng.choice(WIDE, size=40, replace=False))
    wide = sp.csr_array((narrow[narrow != 0], places[np.nonzero(narrow)[1]], sp.csr_array(narrow).indptr), (600, WIDE))
    y = np.where(narrow[:, 0] + narrow[:, 1] * narrow[:, 2] + 0.5 * rng.normal(size=600) > 0.5, 1, -1)
    return sp.csr_array(narrow), wide, places, y


@learners
def test_the_model_is_that_of_the_narrow_table(learner, stream):
    narrow, wide, places, y = stream
    one, other = clone(learner), clone(learner)
    assert np.allclose(one.progressive_scores(narrow, y), other.progressive_scores(wide, y), rtol=0, atol=1e-9)
    assert one.n_support_ == other.n_support_ > 0
    vectors, wide_vectors = one.support_vectors_, other.support_vectors_
    if not isinstance(vectors, list):
        vectors, wide_vectors = [vectors], [wide_vectors]
    for few, many in zip(vectors, wide_vectors, strict=True):
        assert np.array_equal(few, many.toarray()[:, places])


@learners
def test_dense_rows_and_single_examples_are_the_same_rows(learner, stream, tmp_path):
    _, wide, _, y = stream
    sparse, mixed = clone(learner), clone(learner)
    sparse.partial_fit(wide, y)
    dense = wide.toarray()
    mixed.partial_fit(wide[:50], y[:50])
    for t in range(50, 250):
        mixed.learn_one(dense[t], y[t])
    mixed.save(tmp_path / "model.lopsided")
    mixed = lp.load(tmp_path / "model.lopsided")
    mixed.partial_fit(dense[250:], y[250:])
    scores = sparse.decision_function(wide)
    assert np.allclose(scores, mixed.decision_function(dense), rtol=0, atol=1e-9)
    assert np.isclose(mixed.score_one(dense[3]), scores[3], rtol=0, atol=1e-9)


def test_memory_goes_with_the_non_zeros_and_not_with_the_features(stream):
    _, wide, _, y = stream
    learner = lp.SPA(gamma=0.4, sampling_scale=2.0, random_state=1).fit(wide, y)
    assert learner.nbytes_ < 0.05 * 8 * WIDE * learner.n_support_
    widened = sp.csr_array((wide.data, wide.indices, wide.indptr), (wide.shape[0], 10_000_000))
    assert lp.SPA(gamma=0.4, sampling_scale=2.0, random_state=1).fit(widened, y).nbytes_ == learner.nbytes_
