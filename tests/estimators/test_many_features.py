"""Thousands of features: support vectors are kept by their non-zeros, and the model is the one of a narrow table."""

import numpy as np
import pytest
import scipy.sparse as sp

import lopsided as lp
from estimators.trials import each, trials
from lopsided.checks.subject import fresh
from lopsided.core.geometry.points import WIDEST_TABLE

# Those that keep rows as they came; Bayesian rankers work with whole matrices, and pipelines hold one of these.
learners = each("learner", trials("keeps_vectors", "sparse", families=("kernel", "features")))
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


def narrow_kernel(learner):
    """An unused copy whose kernel does not depend on the number of features, and sees some rows as alike."""
    unused = fresh(learner)
    return unused.set_params(gamma=0.4) if "gamma" in unused.get_params() else unused


@learners
def test_the_model_is_that_of_the_narrow_table(learner, stream):
    narrow, wide, places, y = stream
    one, other = narrow_kernel(learner), narrow_kernel(learner)
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
    sparse, mixed = narrow_kernel(learner), narrow_kernel(learner)
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
