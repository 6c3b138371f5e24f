"""What every learner does with rows: batches, single examples, frames, sparse rows, labels, weights."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from lopsided import (
    BOGD,
    BOMKC,
    BPAS,
    FOGD,
    KOIL,
    NOGD,
    NORMA,
    OAM,
    OB2RMK,
    OCS,
    OFO,
    OILK,
    OMCSL,
    OMKC,
    OPAUC,
    OSKL,
    RBP,
    SPA,
    Forgetron,
    FourierRanker,
    KernelOGD,
    KernelPA,
    MultiKernelKOIL,
    OnlinePerceptron,
    OnlineScaler,
    Projectron,
    ProjectronPP,
    ResamplingBagging,
    StreamPipeline,
)
from lopsided.datasets import four_clusters
from lopsided.kernels import Gaussian, Polynomial

POOL = [Gaussian(gamma=20.0), Polynomial(2, 1.0)]
LEARNERS = [
    KOIL(gamma=20.0, budget=20, random_state=5),
    OILK(gamma=20.0, budget=30, policy="reservoir", random_state=5),
    MultiKernelKOIL(POOL, budget=20, random_state=5),
    SPA(gamma=20.0, sampling_scale=2.0, random_state=5),
    SPA(gamma=20.0, sampling_scale=2.0, budget=20, average=False, random_state=5),
    OSKL(gamma=20.0, sparsity=2.0, random_state=5),
    KernelOGD(gamma=20.0, random_state=5),
    NORMA(gamma=20.0, budget=20, decay=True, random_state=5),
    KernelPA(gamma=20.0, random_state=5),
    RBP(gamma=20.0, budget=20, random_state=5),
    Forgetron(gamma=20.0, budget=20, random_state=5),
    BPAS(gamma=20.0, budget=20, random_state=5),
    BOGD(gamma=20.0, budget=20, removal="uniform", random_state=5),
    ProjectronPP(gamma=20.0, budget=20, random_state=5),
    BOMKC(POOL, random_state=5),
    OMKC(POOL, variant="SD", base="forgetron", budget=40, random_state=5),
    OMCSL(measure="auroc", refresh=3, random_state=5),
    OMCSL(average=True, regularization=0.1, fit_intercept=True, random_state=5),
    OnlinePerceptron(fit_intercept=True),
    OCS(variant=2, loss="logistic"),
    OFO(learning_rate=1.0),
    OPAUC(),
    OPAUC(rank=4, random_state=5),
    OAM(budget=10, random_state=5),
    ResamplingBagging(random_state=5),
    FOGD(n_components=50, gamma=20.0, random_state=5),
    NOGD(gamma=20.0, budget=20, rank=20),
    FourierRanker(n_components=30, refresh=1, warm_up=50, random_state=5),
    StreamPipeline(OnlineScaler(center=False), KOIL(budget=20, random_state=5)),
]
learners = pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)


@pytest.fixture(scope="module")
def stream():
    return four_clusters(60, 240, random_state=3)


def arrays_of(model):
    return {name: array.copy() for name, array in model._arrays().items()}


def assert_same(left, right):
    for name, array in arrays_of(left).items():
        assert np.array_equal(array, right._arrays()[name]), name


@learners
def test_a_batch_equals_the_loop_of_single_rows_bit_for_bit(learner, stream):
    whole, rows, singles = clone(learner), clone(learner), clone(learner)
    scores = whole.progressive_scores(stream.X, stream.y)
    for x, y in zip(stream.X, stream.y, strict=True):
        rows.partial_fit(x[None], [y])
        singles.learn_one(x, y)
    assert_same(whole, rows)
    assert_same(whole, singles)
    mixed = clone(learner).partial_fit(stream.X[:40], stream.y[:40])
    for x, y in zip(stream.X[40:60], stream.y[40:60], strict=True):
        mixed.learn_one(x, y)
    later = mixed.progressive_scores(stream.X[60:], stream.y[60:])
    assert_same(whole, mixed)
    assert np.array_equal(later, scores[60:])


def averages(learner):
    """An averaged classifier reports row t with divisor t, and answers after T rows with divisor T; OMCSL draws."""
    return getattr(learner, "average", False) or isinstance(learner, OMCSL)


@pytest.mark.parametrize("learner", [learner for learner in LEARNERS if not averages(learner)], ids=str)
def test_progressive_scores_are_the_decision_function_before_each_row(learner, stream):
    scores = clone(learner).progressive_scores(stream.X, stream.y)
    model = clone(learner).partial_fit(stream.X[:50], stream.y[:50])
    for t in range(50, 120):
        assert model.decision_function(stream.X[t : t + 1])[0] == model.score_one(stream.X[t])
        assert model.score_one(stream.X[t]) == pytest.approx(scores[t], abs=1e-12)
        model.learn_one(stream.X[t], stream.y[t])


@learners
def test_answers_never_change_the_model(learner, stream):
    model = clone(learner).partial_fit(stream.X[:100], stream.y[:100])
    before = arrays_of(model)
    first = model.decision_function(stream.X)
    model.predict(stream.X)
    model.predict_proba(stream.X)
    model.score_one(stream.X[0])
    assert np.array_equal(model.decision_function(stream.X), first)
    for name, array in before.items():
        assert np.array_equal(array, model._arrays()[name])


@learners
def test_fit_forgets_and_is_one_pass_in_order(learner, stream):
    once = clone(learner).partial_fit(stream.X, stream.y)
    again = clone(learner).fit(stream.X[:80], stream.y[:80]).fit(stream.X, stream.y)
    assert_same(once, again)


def test_shuffle_permutes_before_any_other_draw(stream):
    order = np.random.default_rng(9).permutation(len(stream.y))
    rng = np.random.default_rng(9)
    rng.permutation(len(stream.y))
    shuffled = KOIL(gamma=20.0, budget=10, shuffle=True, random_state=9).fit(stream.X, stream.y)
    by_hand = KOIL(gamma=20.0, budget=10, random_state=rng).partial_fit(stream.X[order], stream.y[order])
    assert_same(shuffled, by_hand)


@learners
def test_sparse_rows_give_what_dense_rows_give(learner, stream):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12)) * (rng.random((300, 12)) < 0.3)
    dense, sparse = clone(learner), clone(learner)
    expected = dense.progressive_scores(X, stream.y)
    got = sparse.progressive_scores(sp.csr_matrix(X), stream.y)
    assert np.abs(got - expected).max() < 1e-10
    assert np.abs(sparse.decision_function(sp.csr_array(X)) - dense.decision_function(X)).max() < 1e-10
    assert np.abs(sparse.decision_function(X) - dense.decision_function(X)).max() < 1e-10


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


def test_pos_label_turns_the_scores_around(stream):
    plain = KOIL(gamma=20.0, random_state=0).fit(stream.X, 1 - stream.y)
    turned = KOIL(gamma=20.0, pos_label=0, random_state=0).fit(stream.X, stream.y)
    assert np.array_equal(plain.decision_function(stream.X), turned.decision_function(stream.X))
    assert np.array_equal(turned.predict(stream.X), 1 - plain.predict(stream.X))
    assert np.array_equal(turned.predict_proba(stream.X), plain.predict_proba(stream.X)[:, ::-1])


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


@learners
def test_a_weight_of_zero_is_no_row_and_all_zero_weights_are_nothing(learner, stream):
    weights = np.where(np.arange(300) % 3 == 0, 0.0, 1.0)
    weighted = clone(learner).partial_fit(stream.X, stream.y, sample_weight=weights)
    without = clone(learner).partial_fit(stream.X[weights > 0], stream.y[weights > 0])
    assert_same(weighted, without)
    before = arrays_of(weighted)
    weighted.partial_fit(stream.X, stream.y, sample_weight=np.zeros(300))
    for name, array in before.items():
        assert np.array_equal(array, weighted._arrays()[name])
    with pytest.raises(ValueError, match="zero"):
        clone(learner).fit(stream.X, stream.y, sample_weight=np.zeros(300))


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


@pytest.mark.parametrize(
    "learner",
    [
        KOIL(gamma=20.0, budget=10, random_state=0),
        OILK(gamma=20.0, budget=15, random_state=0),
        BPAS(gamma=20.0, budget=15),
        Projectron(gamma=20.0, budget=15),
        NOGD(gamma=20.0, budget=30, random_state=0),
        MultiKernelKOIL(budget=10, random_state=0),
        BOMKC(random_state=0),
        OB2RMK(budget=10),
        StreamPipeline(OnlineScaler(), KOIL(budget=10, random_state=0)),
    ],
    ids=lambda learner: type(learner).__name__,
)
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
