"""Running scales, alone and in front of a learner."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from lopsided import KOIL, OnlineScaler, StreamPipeline
from lopsided.datasets import four_clusters
from lopsided.metrics import auroc

ROWS = np.random.default_rng(0).standard_normal((200, 5)) * [1, 10, 1e-3, 1e6, 1] + [0, 5, 1, -1e6, 0]


@pytest.mark.parametrize(("kind", "reference"), [("standard", StandardScaler()), ("minmax", MinMaxScaler())])
def test_after_n_rows_it_is_scikit_learns_scaler_of_them(kind, reference):
    scaler = OnlineScaler(kind)
    for start in range(0, 200, 37):
        scaler.partial_fit(ROWS[start : start + 37])
        seen = ROWS[: start + 37]
        assert np.abs(scaler.transform(ROWS) - reference.fit(seen).transform(ROWS)).max() < 1e-9


def test_sparse_rows_are_scaled_without_moving_zeros():
    rng = np.random.default_rng(1)
    X = sp.csr_matrix(ROWS * (rng.random(ROWS.shape) < 0.4))
    scaler = OnlineScaler(center=False).partial_fit(X[:80]).partial_fit(X[80:])
    expected = StandardScaler(with_mean=False).fit_transform(X)
    assert abs(scaler.transform(X) - expected).max() < 1e-9
    dense = OnlineScaler(center=False).fit(X.toarray())
    assert np.abs(dense.transform(X.toarray()) - expected.toarray()).max() < 1e-9
    with pytest.raises(ValueError, match=r"center=False. Got kind='standard' and center=True"):
        OnlineScaler().fit(X)
    with pytest.raises(ValueError, match="sparse"):
        StreamPipeline().partial_fit(X, np.arange(200) % 2)


@given(
    arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=st.floats(-1e6, 1e6)),
    st.sampled_from(["standard", "minmax"]),
    st.booleans(),
)
def test_results_are_finite_and_batches_equal_rows(X, kind, center):
    whole, rows = OnlineScaler(kind, center), OnlineScaler(kind, center)
    whole.partial_fit(X)
    for row in X:
        rows.partial_fit(row[None])
    assert np.array_equal(whole.transform(X), rows.transform(X))
    assert np.isfinite(whole.transform(X)).all()


def test_a_constant_feature_is_zero_until_it_varies():
    constant = np.full((50, 1), 0.1)
    for kind in ("standard", "minmax"):
        scaler = OnlineScaler(kind).fit(constant)
        assert scaler.transform([[0.1], [5.0], [-1e9]]).tolist() == [[0.0], [0.0], [0.0]]
        assert scaler.partial_fit([[0.2]]).transform([[0.2]])[0, 0] > 0


def test_scaling_does_not_touch_the_callers_rows():
    X = ROWS.copy()
    OnlineScaler().fit(X).transform(X)
    assert np.array_equal(X, ROWS)


def test_a_pipeline_scales_each_row_by_what_was_known_before_it():
    stream = four_clusters(60, 240, random_state=0)
    X = stream.X * [1e4, 1e-4] + [7.0, -3.0]
    scores = StreamPipeline(OnlineScaler(), KOIL(random_state=0)).progressive_scores(X, stream.y)
    by_hand, scaler, learner = [], OnlineScaler().partial_fit(X[:1]), KOIL(random_state=0)
    learner.learn_one(np.zeros(2), stream.y[0])
    by_hand.append(0.0)
    for x, y in zip(X[1:], stream.y[1:], strict=True):
        scaled = scaler.transform(x[None])
        by_hand += learner.progressive_scores(scaled, [y]).tolist()
        scaler.partial_fit(x[None])
    assert np.array_equal(scores, by_hand)
    assert auroc(stream.y, scores) > 0.85
    raw = KOIL(random_state=0).progressive_scores(X, stream.y)
    assert auroc(stream.y, scores) > auroc(stream.y, raw) + 0.2


def test_a_pipeline_draws_what_its_learner_would_draw():
    stream = four_clusters(60, 240, random_state=0)
    pipeline = StreamPipeline(OnlineScaler(center=False), KOIL(budget=5, random_state=3, shuffle=True))
    pipeline.fit(stream.X, stream.y)
    order = np.random.default_rng(3).permutation(300)
    expected = StreamPipeline(OnlineScaler(center=False), KOIL(budget=5, random_state=3))
    rng = np.random.default_rng(3)
    rng.permutation(300)
    expected.set_params(learner__random_state=rng).partial_fit(stream.X[order], stream.y[order])
    assert np.array_equal(pipeline.support_weights_, expected.support_weights_)
