"""What learners do with rows: frames, sparse rows, labels, weights. What all must do is in tests/checks."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from estimators.trials import each, trials
from lopsided import KOIL, OILK, MultiKernelKOIL, StreamPipeline
from lopsided.datasets import four_clusters
from lopsided.kernels import Gaussian, Polynomial

POOL = [Gaussian(gamma=20.0), Polynomial(2, 1.0)]


@pytest.fixture(scope="module")
def stream():
    return four_clusters(60, 240, random_state=3)


def assert_same(left, right):
    for name, array in left._arrays().items():
        assert np.array_equal(array, right._arrays()[name]), name


def test_shuffle_permutes_before_any_other_draw(stream):
    order = np.random.default_rng(9).permutation(len(stream.y))
    rng = np.random.default_rng(9)
    rng.permutation(len(stream.y))
    shuffled = KOIL(gamma=20.0, budget=10, shuffle=True, random_state=9).fit(stream.X, stream.y)
    by_hand = KOIL(gamma=20.0, budget=10, random_state=rng).partial_fit(stream.X[order], stream.y[order])
    assert_same(shuffled, by_hand)


def test_progressive_scores_learn_by_weights_and_only_score_rows_of_weight_0(stream):
    rng = np.random.default_rng(0)
    weights = rng.choice([0.0, 0.5, 2.0], len(stream.y))
    one, other = (KOIL(gamma=20.0, budget=10, random_state=1).partial_fit(stream.X[:2], [0, 1]) for _ in range(2))
    found = one.progressive_scores(stream.X, stream.y, sample_weight=weights)
    for x, label, weight, score in zip(stream.X, stream.y, weights, found, strict=True):
        assert other.raw_score_one(x) == pytest.approx(score, rel=1e-12, abs=1e-12)
        other.learn_one(x, label, weight=weight)
    assert_same(one, other)


def test_sparse_rows_may_be_unsorted_and_have_duplicates():
    rows = sp.csr_matrix((np.ones(5), np.array([2, 0, 2, 1, 1]), np.array([0, 2, 5])), shape=(2, 3))
    sparse = KOIL(random_state=0).partial_fit(rows, [0, 1])
    dense = KOIL(random_state=0).partial_fit(rows.toarray(), [0, 1])
    assert np.allclose(sparse.support_vectors_, dense.support_vectors_)
    assert rows.indices.tolist() == [2, 0, 2, 1, 1], "the caller's matrix stays as it was"


def test_data_frames_bring_feature_names(stream):
    frame = pd.DataFrame(stream.X, columns=["amount", "hour"])
    model = KOIL(random_state=0).partial_fit(frame, stream.y)
    assert model.feature_names_in_.tolist() == ["amount", "hour"]
    assert np.array_equal(
        model.decision_function(frame), KOIL(random_state=0).fit(stream.X, stream.y).decision_function(stream.X)
    )
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[["hour", "amount"]], stream.y)


@pytest.mark.parametrize(
    ("negative", "positive"), [(0, 1), (-1, 1), (False, True), ("fine", "fraud"), (2.0, 7.0), (1, 2)]
)
def test_any_two_labels(negative, positive, stream):
    y = np.where(stream.y == 1, positive, negative)
    model = KOIL(gamma=20.0, random_state=0).fit(stream.X, y)
    assert model.classes_.tolist() == [negative, positive]
    assert set(model.predict(stream.X).tolist()) <= {negative, positive}
    assert model.predict(stream.X).dtype == y.dtype
    assert roc_auc_score(stream.y, model.decision_function(stream.X)) > 0.9
    other = KOIL(gamma=20.0, random_state=0)
    for x, label in zip(stream.X, y.tolist(), strict=True):
        if not hasattr(other, "classes_"):
            other.partial_fit(x[None], [label], classes=[positive, negative])
        else:
            other.learn_one(x, label)
    assert_same(model, other)


def test_a_stream_may_begin_with_one_class():
    for first, second, classes in ((1, 0, [0, 1]), (1, -1, [-1, 1]), (0, 1, [0, 1]), (-1, 1, [-1, 1])):
        model = KOIL(random_state=0).learn_one([0.0], first).learn_one([1.0], second)
        assert model.classes_.tolist() == classes
        assert model.n_support_ == 2
    model = KOIL(random_state=0).learn_one([0.0], True).learn_one([1.0], False)
    assert model.classes_.tolist() == [False, True]
    with pytest.raises(ValueError, match="classes"):
        KOIL().partial_fit([[0.0]], ["fraud"])
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        KOIL().learn_one([0.0], 0).learn_one([0.0], -1)


def test_a_weight_multiplies_the_cost(stream):
    weighted = KOIL(C=1.0, gamma=20.0, random_state=0).fit(stream.X, stream.y, sample_weight=np.full(300, 2.5))
    costly = KOIL(C=2.5, gamma=20.0, random_state=0).fit(stream.X, stream.y)
    assert_same(weighted, costly)


def test_support_attributes_are_copies_that_make_the_decision_function(stream):
    kernel = Gaussian(gamma=20.0)
    for model in (KOIL(gamma=20.0, budget=20, random_state=0), OILK(gamma=20.0, budget=20, random_state=0)):
        model.fit(stream.X, stream.y)
        scores = kernel(stream.X, model.support_vectors_) @ model.support_weights_
        assert np.abs(scores - model.decision_function(stream.X)).max() < 1e-12
        assert len(model.support_vectors_) == model.n_support_
        model.support_vectors_[:] = 0.0
        model.support_weights_[:] = 0.0
        assert np.abs(scores - model.decision_function(stream.X)).max() < 1e-12
        signs = np.sign(model.support_weights_)
        assert (np.diff(signs[signs != 0]) <= 0).all() or isinstance(model, OILK), "positives come first"
    model = MultiKernelKOIL(POOL, budget=20, random_state=0).fit(stream.X, stream.y)
    parts = [k(stream.X, v) @ w for k, v, w in zip(POOL, model.support_vectors_, model.support_weights_, strict=True)]
    assert np.abs(model.kernel_weights_ @ parts - model.decision_function(stream.X)).max() < 1e-12
    assert sum(map(len, model.support_vectors_)) == model.n_support_


def test_random_state_none_is_fresh_and_a_generator_is_used(stream):
    learner = KOIL(gamma=20.0, budget=5)
    one, two = clone(learner).fit(stream.X, stream.y), clone(learner).fit(stream.X, stream.y)
    assert not np.array_equal(one.support_weights_, two.support_weights_)
    seeded = clone(learner).set_params(random_state=np.random.default_rng(4)).fit(stream.X, stream.y)
    assert_same(seeded, clone(learner).set_params(random_state=4).fit(stream.X, stream.y))


@each("learner", trials("keeps_vectors", takes_tables=False))
def test_support_signs_are_the_labels_of_the_support_vectors(learner):
    stream = four_clusters(60, 240, random_state=3)
    learner.fit(stream.X, stream.y)
    vectors, signs = learner.support_vectors_, learner.support_signs_
    if not isinstance(signs, list):
        vectors, signs = [vectors], [signs]
    label_of = {tuple(x): 2 * y - 1 for x, y in zip(stream.X.tolist(), stream.y.tolist(), strict=True)}
    for X, s in zip(vectors, signs, strict=True):
        assert len(X) == len(s) and np.isin(s, (-1.0, 1.0)).all() and (np.diff(s) <= 0).all()
        if not isinstance(learner, StreamPipeline):  # there the vectors are scaled
            assert [label_of[tuple(x)] for x in X.tolist()] == s.tolist()
