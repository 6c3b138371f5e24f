"""Every linear learner is the naive one, for every option: scores to 1e-10 over 2,000 examples, dense and sparse."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

import lopsided as lp
from oracles import linear as naive

N_FEATURES = 9
POINTWISE = [
    ("OnlinePerceptron", {}),
    ("OnlinePerceptron", {"learning_rate": 0.3}),
    *[
        ("OCS", {"variant": variant, "loss": loss, "decay": decay, "cost_ratio": ratio})
        for variant in (1, 2)
        for loss in ("hinge", "logistic")
        for decay, ratio in ((False, None), (True, None), (True, 3.0))
    ],
    ("OFO", {}),
    ("OFO", {"loss": "hinge", "learning_rate": 1.0}),
    ("OFO", {"decay": False, "learning_rate": 0.7}),
    ("OPAUC", {}),
    ("OPAUC", {"regularization": 0.1, "learning_rate": 0.03}),
    ("OPAUC", {"rank": 5}),
    ("OPAUC", {"rank": 20, "regularization": 0.0}),
    ("OAM", {"budget": 20}),
    ("OAM", {"budget": 20, "C": 0.01, "variant": "gra"}),
    ("OAM", {"budget": 1, "variant": "gra"}),
    ("OAM", {"budget": 300, "C": 0.001}),
    *[
        ("ResamplingBagging", {"mode": mode, "loss": loss})
        for mode in ("over", "under")
        for loss in ("hinge", "logistic")
    ],
    ("ResamplingBagging", {"n_members": 4, "forgetting": 0.99, "decay": False}),
]
COLUMNS = [
    ({}, 2_000),
    ({"loss": "logistic", "n_costs": 5, "decay": False}, 2_000),
    ({"sharpness": math.inf, "refresh": 7}, 2_000),
    ({"sharpness": 0.0}, 600),
    ({"average": True, "loss": "logistic"}, 2_000),
    ({"regularization": 0.3, "average": True}, 2_000),
    ({"regularization": 9.0, "average": True, "decay": False}, 600),  # the scale is folded again and again
    ({"regularization": 9.0, "decay": False}, 2_000),
    ({"measure": "auroc", "refresh": 20}, 2_000),
    ({"measure": "auroc", "n_costs": 3}, 600),
    ({"measure": "auroc", "key": "sigmoid", "n_bins": 50, "n_costs": 3, "sharpness": 30.0, "refresh": 3}, 600),
    ({"measure": "auprc", "refresh": 50}, 2_000),
    ({"measure": "auprc", "refresh": 5, "n_costs": 2, "interpolation": "step", "key": "sigmoid"}, 600),
]


@pytest.fixture(scope="module")
def stream():
    """Sparse rows with repetitions and some that are empty; a tenth is positive."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(2_000, N_FEATURES)) * (rng.random((2_000, N_FEATURES)) < 0.6)
    X[::50] = X[1::50]
    X[3::200] = 0.0
    return X, np.where(X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=2_000) > 1.5, 1, -1)


def compare(learner, expected, oracle, X, y, weights=None):
    """A learner, which has learned nothing, and a transcription, whose scores are expected."""
    if weights is None:
        assert np.abs(learner.progressive_scores(X, y) - expected).max() < 1e-10
    else:
        learner.partial_fit(X, y, sample_weight=weights)
    asked = X[:100].toarray() if sp.issparse(X) else X[:100]
    assert np.abs(learner.decision_function(asked) - [oracle.score(x) for x in asked]).max() < 1e-10


def dense_and_sparse(X, y, n):
    """The first n rows in both forms: the transcription, which takes its time, runs once for both."""
    return [(form(X[:n]), y[:n]) for form in (np.asarray, sp.csr_array)]


def naive_scores(oracle, X, y, weights=None):
    ones = np.ones(len(y)) if weights is None else weights
    return np.array([oracle.step(x, label, weight) for x, label, weight in zip(X, y, ones, strict=True)])


@pytest.mark.parametrize(("name", "options"), POINTWISE, ids=str)
def test_the_learner_is_the_naive_one(name, options, stream):
    oracle = getattr(naive, name)(N_FEATURES, seed=4, **options)
    expected = naive_scores(oracle, *stream)
    for rows, y in dense_and_sparse(*stream, 2_000):
        learner = getattr(lp, name)(random_state=4, **options)
        compare(learner, expected, oracle, rows, y)
        assert learner.n_diverged_ == 0
        if name != "ResamplingBagging":
            assert np.abs(learner.coef_[0] - oracle.w).max() < 1e-10
        else:
            assert np.abs(learner.coef_ - np.array(oracle.W)).max() < 1e-10


@pytest.mark.parametrize(("options", "n"), COLUMNS, ids=str)
def test_omcsl_is_the_naive_one(options, n, stream):
    X, y = stream
    oracle = naive.OMCSL(N_FEATURES, seed=4, **options)
    expected = naive_scores(oracle, X[:n], y[:n])
    for rows, labels in dense_and_sparse(X, y, n):
        learner = lp.OMCSL(random_state=4, **options)
        compare(learner, expected, oracle, rows, labels)
        assert np.abs(learner.expert_measures_[learner.measure] - oracle.M).max() < 1e-10
        assert np.abs(learner.expert_weights_ - oracle.p).max() < 1e-9
        columns = oracle.sums if learner.average else oracle.W
        divisor = oracle.t if learner.average else 1
        assert np.abs(learner.coef_ - np.array(columns).T / divisor).max() < 1e-10
        assert np.array_equal(learner.costs_, oracle.positive_costs)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("OnlinePerceptron", {}),
        ("OCS", {}),
        ("OFO", {}),
        ("OPAUC", {}),
        ("OPAUC", {"rank": 5}),
        ("OAM", {"budget": 20}),
        ("OAM", {"budget": 20, "variant": "gra", "C": 0.01}),
        ("ResamplingBagging", {}),
        ("OMCSL", {"measure": "auroc", "refresh": 30}),
        ("OMCSL", {"regularization": 0.3, "average": True}),
    ],
    ids=str,
)
def test_sample_weights_multiply_the_step_and_zero_skips_the_row(name, options, stream):
    X, y = (part[:800] for part in stream)
    weights = np.random.default_rng(2).choice([0.0, 0.3, 1.0, 2.5], size=800)
    learner = getattr(lp, name)(random_state=4, **options)
    oracle = getattr(naive, name)(N_FEATURES, seed=4, **options)
    compare(learner, naive_scores(oracle, X, y, weights), oracle, X, y, weights)


@pytest.mark.parametrize("name", ["OnlinePerceptron", "OCS", "OFO", "OPAUC", "OAM", "ResamplingBagging", "OMCSL"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_the_intercept_is_the_weight_of_a_last_feature_that_is_always_1(name, sparse, stream):
    X, y = stream
    rows = sp.csr_array(X) if sparse else X
    inside = getattr(lp, name)(fit_intercept=True, random_state=4)
    outside = getattr(lp, name)(random_state=4)
    scores = inside.progressive_scores(rows, y)
    widened = np.column_stack([X, np.ones(len(X))])
    # Pairs cancel the constant: OPAUC and OAM agree although they leave it out.
    assert np.abs(scores - outside.progressive_scores(widened, y)).max() < 1e-9
    bias = {"OMCSL": lambda: outside.coef_[-1], "ResamplingBagging": lambda: outside.coef_[:, -1]}
    expected = bias.get(name, lambda: outside.coef_[:, -1])()
    assert np.abs(inside.intercept_ - expected).max() < 1e-9


# ---- the stream of which the specification prints the results ----

T = np.arange(1, 201)
LABELS = np.where(T % 7 == 0, 1, -1)
PRINTED = np.stack(
    [np.sin(T) + 0.8 * (LABELS > 0), np.cos(2.0 * T) - 0.5 * (LABELS > 0), np.sin(T.astype(float) ** 2), np.ones(200)],
    1,
)


@pytest.mark.parametrize(
    ("loss", "measure", "achieved"),
    [
        ("hinge", "f1", [0.4695652174, 0.2666666667, 0.0]),
        ("hinge", "auroc", [0.7919435216, 0.7611088040, 0.6528239203]),
        ("hinge", "auprc", [0.4140033338, 0.3524097802, 0.1712211187]),
        ("logistic", "f1", [0.4778761062, 0.2903225806, 0.1935483871]),
        ("logistic", "auroc", [0.7960963455, 0.7547757475, 0.7159468439]),
        ("logistic", "auprc", [0.3926090257, 0.3686934772, 0.3052299241]),
    ],
)
def test_omcsl_gives_the_printed_digits(loss, measure, achieved):
    learner = lp.OMCSL(3, loss, measure, sharpness=100.0, learning_rate=0.5, key="sigmoid", n_bins=100)
    learner.fit(PRINTED, LABELS)
    assert np.array_equal(np.round(learner.expert_measures_[measure], 10), achieved)
    first = {
        "hinge": [0.9721708788, -0.5245671626, -0.1434641759, -0.1779148738],
        "logistic": [0.5263954855, -0.3007106573, -0.0822289793, -0.0494846500],
    }[loss]
    assert np.array_equal(np.round(learner.coef_[:, 0], 10), first)


@pytest.mark.parametrize(
    ("learner", "weights"),
    [
        (lp.OnlinePerceptron(), [1.1971197202, -0.1934304950, 1.0220368884, -2.0]),
        (lp.OCS(), [0.2403306708, -0.0034678423, 0.2308418330, -1.2]),
        (lp.OCS(variant=2), [2.0470506621, -1.3659200307, -0.3999915135, -0.5]),
        (lp.OFO(), [0.1476899735, -0.0814237398, -0.0202583643, -0.7314694475]),
        (lp.OPAUC(), [0.4226380136, -0.2538817071, -0.1100228437, 0.0]),
    ],
    ids=str,
)
def test_the_baselines_give_the_printed_digits(learner, weights):
    learner.fit(PRINTED, LABELS)
    assert np.allclose(learner.coef_[0], weights, rtol=0, atol=5.1e-11)
    if isinstance(learner, lp.OFO):
        assert learner.tau_ == 7 / 57
