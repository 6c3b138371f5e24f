"""The model does not depend on how its input is written: dense or sparse, in which order the features, with rows that
do not count.

Sparse rows are compared with dense ones on a grid of quarters, where distances are exact either way and ties stay ties,
and on free points, where nothing ties.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from lopsided import KOIL, OILK, MultiKernelKOIL
from lopsided.kernels import Gaussian, Linear, Polynomial
from properties.generated import parameters, streams
from properties.inspection import assert_close_models, assert_same_model, bytes_of, cache_error

CLASSES = [-1, 1]
EXACT = ("free", "grid")  # streams on which sparse and dense arithmetic find the same ties
POOL = [Gaussian(gamma=0.5), Polynomial(degree=2, coef0=1.0), Linear()]
FORMATS = [sp.csr_array, sp.csr_matrix]


def thinned(stream, seed):
    """The same stream with most entries 0, and a few rows that are 0 altogether."""
    rng = np.random.default_rng(seed)
    X = stream.X * (rng.random(stream.X.shape) < 0.5)
    return stream._replace(X=X * (rng.random(len(X)) < 0.9)[:, None])


def in_pieces(learner, X, y, forms, size):
    """Learn piece by piece, each in the next form; returns the progressive scores."""
    scores = []
    for number, start in enumerate(range(0, len(y), size)):
        piece = X[start : start + size]
        scores.append(
            learner.progressive_scores(forms[number % len(forms)](piece), y[start : start + size], classes=CLASSES)
        )
    return np.concatenate(scores)


# ---- Sparse rows ----


@given(streams(kinds=EXACT), parameters(), st.integers(0, 99), st.sampled_from(FORMATS))
def test_sparse_rows_give_the_model_of_dense_ones(stream, chosen, seed, form):
    stream = thinned(stream, seed)
    dense, sparse = KOIL(**chosen), KOIL(**chosen)
    expected = dense.progressive_scores(stream.X, stream.y, classes=CLASSES)
    scores = sparse.progressive_scores(form(stream.X), stream.y, classes=CLASSES)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-10)
    assert_close_models(dense, sparse, tolerance=1e-10)
    np.testing.assert_allclose(
        dense.decision_function(form(stream.X)), sparse.decision_function(stream.X), rtol=0, atol=1e-10
    )
    assert cache_error(sparse) < 1e-10


@given(streams(kinds=EXACT), parameters(), st.integers(0, 99), st.integers(1, 9), st.booleans())
def test_sparse_and_dense_batches_may_take_turns(stream, chosen, seed, size, sparse_first):
    stream = thinned(stream, seed)
    forms = [sp.csr_array, np.asarray] if sparse_first else [np.asarray, sp.csr_array]
    dense, mixed = KOIL(**chosen), KOIL(**chosen)
    expected = dense.progressive_scores(stream.X, stream.y, classes=CLASSES)
    scores = in_pieces(mixed, stream.X, stream.y, forms, size)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-10)
    assert_close_models(dense, mixed, tolerance=1e-10)
    assert cache_error(mixed) < 1e-10


@pytest.mark.parametrize("policy", ["reservoir", "fifo"])
@pytest.mark.parametrize("forms", [[sp.csr_array, np.asarray], [np.asarray, sp.csr_array]], ids=["sparse", "dense"])
def test_rows_of_one_form_leave_no_trace_in_the_slots_of_the_other(policy, forms):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12)) * (rng.random((400, 12)) < 0.4)
    y = np.where(rng.random(400) < 0.4, 1, -1)
    dense, mixed = (KOIL(budget=6, policy=policy, gamma=0.2, learning_rate=0.05, random_state=1) for _ in range(2))
    for start in range(0, 400, 100):  # long enough for every slot to change hands in between
        dense.partial_fit(X[start : start + 100], y[start : start + 100])
        form = forms[start // 100 % 2]
        mixed.partial_fit(form(X[start : start + 100]), y[start : start + 100])
        assert_close_models(dense, mixed, tolerance=1e-10)


def test_rows_of_zeros_and_stored_zeros_are_ordinary_rows():
    X = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.5, 0.5, 0.0]] * 8)
    y = np.tile([1, -1, -1, 1, 1], 8)
    features, starts = np.tile(np.arange(3, dtype=np.int32), 40), np.arange(0, 121, 3, dtype=np.int32)
    stored = sp.csr_array((X.ravel(), features, starts), shape=(40, 3))
    assert stored.nnz == 120
    models = [KOIL(budget=3, learning_rate=0.1, random_state=0).fit(form, y) for form in (X, sp.csr_array(X), stored)]
    for model in models[1:]:
        assert_close_models(models[0], model, tolerance=1e-10)


def test_a_sparse_row_with_repeated_or_unsorted_features_is_read_as_their_sum():
    tidy = sp.csr_array(np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 0.0], [0.0, 0.5, 4.0]]))
    features, starts = np.array([2, 0, 0, 1, 2, 1], dtype=np.int32), np.array([0, 3, 4, 6], dtype=np.int32)
    untidy = sp.csr_array((np.array([1.0, 1.0, 2.0, 2.0, 4.0, 0.5]), features, starts), shape=(3, 3))
    models = [KOIL(random_state=0).fit(form, [1, -1, 1]) for form in (tidy, untidy)]
    assert_close_models(*models, tolerance=1e-12)
    assert untidy.indices.tolist() == [2, 0, 0, 1, 2, 1]  # the caller's matrix is left as it was


@given(streams(most=60), parameters(), st.integers(0, 99))
def test_a_sparse_batch_equals_the_loop_of_its_rows_bit_for_bit(stream, chosen, seed):
    X = sp.csr_array(thinned(stream, seed).X)
    batch, rows = KOIL(**chosen), KOIL(**chosen)
    batch.partial_fit(X, stream.y, classes=CLASSES)
    for t in range(len(stream.y)):
        rows.partial_fit(X[[t]], stream.y[t : t + 1], classes=CLASSES)
    # How many non-zeros a slot could note depends on the rows seen together; everything else is the same.
    assert_same_model(batch, rows, except_for={"points.features"})


@pytest.mark.parametrize("policy", ["reservoir", "fifo"])
def test_sparse_rows_take_no_more_memory_once_the_widest_has_been_seen(policy):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20)) * (rng.random((300, 20)) < 0.3)
    X[0] = 1.0
    y = np.where(rng.random(300) < 0.4, 1, -1)
    learner = KOIL(budget=5, policy=policy, random_state=0).partial_fit(sp.csr_array(X[:1]), y[:1], classes=CLASSES)
    size = bytes_of(learner)
    learner.partial_fit(sp.csr_array(X), y)
    assert bytes_of(learner) == size


@pytest.mark.parametrize("stream_kind", ["free", "grid"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: OILK(budget=12, policy="reservoir", learning_rate=0.05, random_state=0),
        lambda: MultiKernelKOIL(
            [Gaussian(gamma=0.5), Polynomial(degree=2, coef0=1.0), Linear()],
            budget=6,
            learning_rate=0.05,
            random_state=0,
        ),
    ],
    ids=["OILK", "MultiKernelKOIL"],
)
def test_the_other_learners_take_sparse_and_mixed_rows_alike(make, stream_kind):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 5)) if stream_kind == "free" else rng.integers(-2, 3, size=(300, 5)) / 4.0
    X *= rng.random((300, 5)) < 0.5
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=300) > 0.3, 1, -1)
    expected = make().progressive_scores(X, y)
    for forms in ([sp.csr_array], [sp.csr_array, np.asarray]):
        scores = in_pieces(make(), X, y, forms, 20)
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-10)


# ---- The order of the features ----


@given(streams(), parameters(), st.randoms(use_true_random=False))
def test_the_order_of_the_features_changes_nothing_beyond_rounding(stream, chosen, random):
    order = list(range(stream.X.shape[1]))
    random.shuffle(order)
    one, other = KOIL(**chosen), KOIL(**chosen)
    scores = one.progressive_scores(stream.X, stream.y, classes=CLASSES)
    turned = other.progressive_scores(stream.X[:, order], stream.y, classes=CLASSES)
    np.testing.assert_allclose(turned, scores, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(other.support_vectors_, one.support_vectors_[:, order])
    np.testing.assert_allclose(other.support_weights_, one.support_weights_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_the_layout_and_type_of_the_array_change_nothing(order, dtype):
    rng = np.random.default_rng(2)
    X, y = rng.integers(-3, 4, size=(100, 3)), np.where(rng.random(100) < 0.4, 1, -1)
    expected = KOIL(budget=5, random_state=0).fit(X.astype(np.float64), y)
    given_array = np.array(X, dtype=dtype, order=order)
    assert_same_model(expected, KOIL(budget=5, random_state=0).fit(given_array, y))


# ---- Rows of weight 0 ----


@given(streams(least=2), parameters(), st.integers(0, 99), st.booleans())
def test_rows_of_weight_zero_are_not_there(stream, chosen, seed, sparse):
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 2.0], size=len(stream.y))
    kept, form = weights > 0, sp.csr_array if sparse else np.asarray
    weighted, left_out = KOIL(**chosen), KOIL(**chosen)
    weighted.partial_fit(form(stream.X), stream.y, classes=CLASSES, sample_weight=weights)
    if kept.any():
        left_out.partial_fit(form(stream.X[kept]), stream.y[kept], classes=CLASSES, sample_weight=weights[kept])
        assert_same_model(weighted, left_out)
    else:
        assert weighted.n_support_ == 0


@given(streams(least=2), parameters())
def test_weights_of_one_are_no_weights(stream, chosen):
    plain = KOIL(**chosen).partial_fit(stream.X, stream.y, classes=CLASSES)
    weighted = KOIL(**chosen).partial_fit(stream.X, stream.y, classes=CLASSES, sample_weight=np.ones(len(stream.y)))
    assert_same_model(plain, weighted)


@given(streams(least=2), parameters(), st.sampled_from([0.25, 0.5, 2.0]))
def test_one_weight_for_all_rows_is_another_cost(stream, chosen, weight):
    weighted = KOIL(**chosen).partial_fit(
        stream.X, stream.y, classes=CLASSES, sample_weight=np.full(len(stream.y), weight)
    )
    other = KOIL(**(chosen | {"C": weight * chosen["C"]})).partial_fit(stream.X, stream.y, classes=CLASSES)
    assert_same_model(weighted, other)
