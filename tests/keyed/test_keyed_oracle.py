"""Each key is learned as by a learner of its own, bit for bit; a prior is what its formula says."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import lopsided as lp
from keyed.streams import stream, without_key
from lopsided.core.keyed.linear import COUNTS
from lopsided.core.linear.weight_vector import empty_linear_model
from lopsided.metrics import auroc
from oracles import linear as naive
from oracles.keyed import Corrected, Separate

LINEAR = [
    lp.OnlinePerceptron(fit_intercept=True),
    lp.OCS(),
    lp.OCS(variant=2, loss="logistic", decay=True, fit_intercept=True),
    lp.OCS(cost_ratio=3.0),
    lp.OFO(fit_intercept=True),
    lp.OFO(loss="hinge", learning_rate=1.0),
]
STACKED = [
    lp.OPAUC(),
    lp.OMCSL(n_costs=5, random_state=4),
    lp.OMCSL(measure="auroc", refresh=3, average=True, decay=False, regularization=0.01, fit_intercept=True,
             n_bins=8, key="sigmoid", random_state=4),
    lp.FOGD(n_components=10, gamma="auto", random_state=4),
]  # fmt: skip
OTHERS = [
    lp.KOIL(budget=5, random_state=4),
    lp.OPAUC(rank=3, random_state=4),
    lp.FourierRanker(n_components=8, warm_up=4, random_state=4),
    lp.SPA(sampling_scale=2.0, random_state=4),
    lp.StreamPipeline(lp.OnlineScaler(), lp.FOGD(n_components=10, random_state=4)),
    lp.ExpertPool([lp.OCS(), lp.OILK(budget=4)], random_state=4),
]


def name_of(learner):
    return " ".join(str(learner).split())


def separate_scores(oracle, X, keys, y):
    return np.array([
        oracle.of(key).progressive_scores(x[None], [label], classes=[0, 1])[0]
        for key, x, label in zip(keys, without_key(X), y, strict=True)
    ])  # fmt: skip


@pytest.mark.parametrize("learner", LINEAR + STACKED + OTHERS, ids=name_of)
@pytest.mark.parametrize("max_keys", [100, 3])
def test_a_key_without_prior_is_a_learner_of_its_own(learner, max_keys):
    X, keys, y, _ = stream(160)
    oracle = Separate(lambda: clone(learner), max_keys)
    model = lp.KeyedLearner(learner, key=1, max_keys=max_keys, prior=None)
    expected = separate_scores(oracle, X, keys, y)
    np.testing.assert_array_equal(model.progressive_scores(X, y, classes=[0, 1]), expected)
    assert (model.n_keys_, model.n_dropped_) == (len(oracle.learners), oracle.dropped)
    for key, own in oracle.learners.items():
        rows = X[keys == key]
        np.testing.assert_array_equal(model.raw_scores(rows), own.raw_scores(without_key(rows)))


NAIVE = [
    (lp.OnlinePerceptron(learning_rate=0.3), lambda d: naive.OnlinePerceptron(d, learning_rate=0.3)),
    (lp.OCS(loss="logistic"), lambda d: naive.OCS(d, loss="logistic")),
    (lp.OCS(variant=2, decay=True, cost_ratio=2.0), lambda d: naive.OCS(d, variant=2, decay=True, cost_ratio=2.0)),
    (lp.OFO(), naive.OFO),
    (lp.OFO(loss="hinge", decay=False), lambda d: naive.OFO(d, loss="hinge", decay=False)),
]


@pytest.mark.parametrize(("learner", "make"), NAIVE, ids=[name_of(learner) for learner, _ in NAIVE])
@pytest.mark.parametrize("m", [20.0, 0.0])
def test_with_a_prior_keys_correct_the_learner_of_all_rows(learner, make, m):
    X, keys, y, weights = stream(600, d=6)
    oracle = Corrected(lambda: make(7), m)
    signs = np.where(y > 0, 1, -1)
    rows = list(zip(keys, without_key(X), signs, weights, strict=True))
    expected = [oracle.step(key, x, sign, weight) for key, x, sign, weight in rows]
    model = lp.KeyedLearner(learner, key=1, prior_rows=m)
    scores = np.empty(len(y))
    model.learn_many(X[:1], y[:1], classes=[0, 1], sample_weight=weights[:1])
    scores[0] = model.score_memory_.latest[0]
    for t in range(1, len(y), 7):  # scored before they are learned, in small portions
        part = slice(t, t + 7)
        model.partial_fit(X[part], y[part], sample_weight=weights[part])
        scores[part] = model.score_memory_.latest[t : t + 7][: len(y[part])]
    np.testing.assert_allclose(scores, expected, atol=1e-9)
    asked = [oracle.score(key, x) for key, x in zip(keys, without_key(X), strict=True)]
    np.testing.assert_allclose(model.raw_scores(X), asked, atol=1e-9)


@pytest.mark.parametrize("learner", LINEAR, ids=name_of)
def test_the_learner_of_all_rows_is_the_one_without_keys(learner):
    X, _, y, _ = stream(200)
    model = lp.KeyedLearner(learner, key=1).partial_fit(X, y)
    plain = clone(learner).partial_fit(without_key(X), y)
    np.testing.assert_array_equal(model.global_learner_.coef_, plain.coef_)
    unknown = X.copy()
    unknown[:, 1] = 4711
    np.testing.assert_array_equal(model.raw_scores(unknown), plain.raw_scores(without_key(X)))


@pytest.mark.parametrize("learner", STACKED + OTHERS[:2], ids=name_of)
def test_other_learners_mix_answers(learner):
    X, keys, y, _ = stream(160)
    oracle, common, m = Separate(lambda: clone(learner)), clone(learner), 5.0
    own = separate_scores(oracle, X, keys, y)
    every = common.progressive_scores(without_key(X), y)
    before = np.array([np.count_nonzero(keys[:t] == key) for t, key in enumerate(keys)])
    share = before / (before + m)
    model = lp.KeyedLearner(learner, key=1, prior_rows=m)
    np.testing.assert_allclose(model.progressive_scores(X, y), share * own + (1 - share) * every, rtol=1e-13)


def test_records_hold_what_a_model_counts():
    assert empty_linear_model(3).tally.size == COUNTS


def test_keys_that_differ_are_learned_apart():
    X, _, y, _ = stream(6_000, n_keys=30)
    plain = lp.OCS(learning_rate=0.03).progressive_scores(without_key(X), y)
    keyed = lp.KeyedLearner(lp.OCS(learning_rate=0.03), key=1).progressive_scores(X, y)
    assert auroc(y, keyed) > auroc(y, plain) + 0.05


def test_sparse_rows_are_dense_ones():
    X, _, y, _ = stream(200)
    one, other = (lp.KeyedLearner(lp.OCS(), key=1, max_keys=5) for _ in range(2))
    expected = one.progressive_scores(X, y)
    np.testing.assert_allclose(other.progressive_scores(sp.csr_array(X), y), expected, atol=1e-12)
    np.testing.assert_allclose(other.raw_scores(sp.csr_array(X)), one.raw_scores(X), atol=1e-12)
