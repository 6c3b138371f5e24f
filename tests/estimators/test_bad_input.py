"""Bad input gets one sentence that says what, where, what is allowed and what came."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import lopsided as lp
from lopsided.constraints import ParameterError
from lopsided.estimators.state.files import to_bytes
from lopsided.kernels import Gaussian, Linear, Normalized, Polynomial, Sum

# One that has its own door, one behind another: that all refuse the same, and change nothing, is in tests/checks.
LEARNERS = [
    lp.KOIL(budget=5, random_state=0),
    lp.StreamPipeline(lp.OnlineScaler(), lp.KOIL(budget=5, random_state=0)),
]
X = np.random.default_rng(0).standard_normal((40, 3))
Y = (np.arange(40) % 4 == 0).astype(int)
NAN, INFINITE = X[:5].copy(), X[:5].copy()
NAN[3, 1] = np.nan
INFINITE[0, 0] = -np.inf

BAD_BATCHES = {
    "NaN": (NAN, Y[:5], "NaN"),
    "infinity": (INFINITE, Y[:5], "infinity"),
    "sparse NaN": (sp.csr_matrix(NAN), Y[:5], "NaN|sparse"),
    "a third label": (X[:5], [0, 1, 2, 0, 1], "Only binary classification is supported."),
    "wrong width": (X[:5, :2], Y[:5], "2 features"),
    "empty": (X[:0], Y[:0], "0 sample"),
    "no features": (X[:5, :0], Y[:5], "0 feature"),
    "one dimension": (X[0], Y[:1], "1D"),
    "three dimensions": (X[:4].reshape(2, 2, 3), Y[:2], "3"),
    "strings": ([["a", "b", "c"]] * 5, Y[:5], "could not convert"),
    "objects": (np.array([[object()] * 3] * 5), Y[:5], "float"),
    "complex": (X[:5] + 1j, Y[:5], "[Cc]omplex"),
    "too few labels": (X[:5], Y[:4], "Got 4"),
    "two columns of labels": (X[:5], np.stack([Y[:5]] * 2, axis=1), "1d"),
    "no labels": (X[:5], None, "y"),
    "NaN labels": (X[:5], [0.0, 1.0, np.nan, 0.0, 1.0], "NaN"),
    "continuous labels": (X[:5], [0.1, 0.7, 0.3, 0.2, 0.9], "continuous"),
    "mixed labels": (X[:5], np.array([0, "x", 1, None, 0], dtype=object), "one type"),
    "string labels after numbers": (X[:5], list("ababa"), "Only binary"),
}


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("kind", BAD_BATCHES)
def test_a_bad_batch_is_refused_whole(kind, learner):
    from sklearn.base import clone

    rows, labels, words = BAD_BATCHES[kind]
    model = clone(learner).fit(X, Y)
    model.learn_one(X[0], 1)
    before = to_bytes(model)
    for attempt in (
        lambda: model.partial_fit(rows, labels),
        lambda: model.progressive_scores(rows, labels),
        lambda: (
            model.fit(rows, labels)
            if kind not in ("wrong width", "string labels after numbers")
            else model.partial_fit(rows, labels)
        ),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            attempt()
        assert to_bytes(model) == before
    fresh = clone(learner)
    if kind not in ("wrong width", "string labels after numbers"):
        with pytest.raises((ValueError, TypeError), match=words):
            fresh.partial_fit(rows, labels)
        assert not hasattr(fresh, "n_features_in_")
        assert not fresh.__sklearn_is_fitted__()


@pytest.mark.parametrize("weights", [[-1.0] * 5, [np.nan] * 5, [1.0] * 4, [[1.0]] * 5, "heavy"])
def test_bad_sample_weights(weights):
    model = lp.KOIL(random_state=0).fit(X, Y)
    before = to_bytes(model)
    with pytest.raises((ValueError, TypeError)):
        model.partial_fit(X[:5], Y[:5], sample_weight=weights)
    assert to_bytes(model) == before


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ([np.nan, 0, 0], 1, r"NaN or infinity.* Got nan in feature 0"),
        ([0, 0, np.inf], 1, r"Got inf in feature 2"),
        ([0, 0], 1, r"1-d array of 3 features. Got shape \(2,\)"),
        ([[0, 0, 0]], 1, r"Got shape \(1, 3\)"),
        (["a", "b", "c"], 1, "could not convert"),
        ([0, 0, 0], 5, "Only binary classification is supported"),
        ([0, 0, 0], None, "Only binary|one type|labels"),
        ([0, 0, 0], "fraud", "Only binary"),
    ],
)
def test_one_bad_example(x, y, words):
    model = lp.KOIL(random_state=0).fit(X, Y)
    before = to_bytes(model)
    with pytest.raises((ValueError, TypeError), match=words):
        model.learn_one(x, y)
    assert to_bytes(model) == before


def test_enormous_but_finite_features_are_taken():
    model = lp.KOIL(kernel="poly", degree=3, random_state=0).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lp.DivergenceWarning)
        for _ in range(3):
            model.learn_one([1e149, -1e149, 1e149], 1)
            model.learn_one([1e120, 1e120, 1e120], 0)
    assert np.isfinite(model.decision_function([[1e149, 1e149, -1e149], [1e130, 1e130, 1e130]])).all()
    assert np.isfinite(model.decision_function(X)).all()
    assert model.n_diverged_ > 0


def test_one_class_is_not_enough_for_fit():
    with pytest.raises(ValueError, match=r"must hold two classes. Got one class: .*1"):
        lp.KOIL().fit(X, np.ones(40, dtype=int))


def test_other_classes_later():
    model = lp.KOIL().partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(ValueError, match=r"must stay what it was, \[0, 1\]. Got \[1, 2\]"):
        model.partial_fit(X, Y, classes=[1, 2])
    with pytest.raises(ValueError, match="must hold two labels"):
        lp.KOIL().partial_fit(X, Y, classes=[0, 1, 2])


def test_asking_before_learning():
    for ask in ("decision_function", "predict", "predict_proba"):
        with pytest.raises(ValueError, match="not fitted yet"):
            getattr(lp.KOIL(), ask)(X)
    with pytest.raises(ValueError, match="not fitted yet"):
        lp.KOIL().score_one(X[0])


BAD_PARAMETERS = [
    (lp.KOIL, {"budget": 0}, "The 'budget' parameter of KOIL must be an int >= 1 or a pair of them. Got 0 instead."),
    (lp.KOIL, {"budget": (5, 0)}, "Got (5, 0) instead."),
    (lp.KOIL, {"budget": 2.5}, "Got 2.5 instead."),
    (lp.KOIL, {"C": -1.0}, "The 'C' parameter of KOIL must be a finite number > 0. Got -1.0 instead."),
    (lp.KOIL, {"C": float("nan")}, "Got nan instead."),
    (lp.KOIL, {"gamma": "x"}, "The 'gamma' parameter of KOIL must be a finite number > 0 or 'auto'. Got 'x' instead."),
    (lp.KOIL, {"learning_rate": 2}, "must be a finite number > 0 and <= 1. Got 2 instead."),
    (lp.KOIL, {"policy": "lifo"}, "must be 'reservoir', 'fifo' or 'unbounded'. Got 'lifo' instead."),
    (lp.KOIL, {"n_neighbors": 0}, "must be 'auto' or an int >= 1. Got 0 instead."),
    (lp.KOIL, {"kernel": "cosine"}, "must be 'rbf', 'poly' or 'linear' or a kernel of lopsided.kernels. Got 'cosine'"),
    (lp.KOIL, {"threshold": "rate:2"}, "'rate:SHARE' with 0 < SHARE < 1 or a finite number. Got 'rate:2' instead."),
    (lp.KOIL, {"compensate": "yes"}, "must be True or False. Got 'yes' instead."),
    (lp.KOIL, {"pos_label": 7}, "must be one of the labels [0, 1]. Got 7 instead."),
    (lp.OILK, {"budget": (3, 3)}, "must be an int >= 1. Got (3, 3) instead."),
    (lp.OILK, {"policy": "unbounded"}, "must be 'fifo' or 'reservoir'. Got 'unbounded' instead."),
    (lp.MultiKernelKOIL, {"kernels": []}, "a non-empty list of kernels of lopsided.kernels. Got [] instead."),
    (lp.MultiKernelKOIL, {"risk_scale": "D"}, "must be a finite number >= 0 or 'C'. Got 'D' instead."),
    (lp.StreamPipeline, {"scaler": 3}, "must be an OnlineScaler. Got 3 instead."),
    (lp.StreamPipeline, {"learner": 3}, "must be a learner of lopsided. Got 3."),
    (lp.StreamPipeline, {"learner": lp.KOIL(C=0)}, "The 'C' parameter of KOIL"),
    (lp.FOGD, {"n_components": 0}, "The 'n_components' parameter of FOGD must be an int >= 1. Got 0 instead."),
    (lp.NOGD, {"rank": 0}, "The 'rank' parameter of NOGD must be an int >= 1. Got 0 instead."),
    (
        lp.FourierRanker,
        {"bandwidths": ()},
        "must be a non-empty list of numbers > 0 or a finite number > 0. Got () instead.",
    ),
    (lp.FourierRanker, {"fade": 0}, "must be a number > 0 and <= 1 or 'auto'. Got 0 instead."),
    (lp.FourierRanker, {"refresh": 0}, "must be an int >= 1 or 'auto'. Got 0 instead."),
    (lp.OnlineScaler, {"kind": "robust"}, "must be 'standard' or 'minmax'. Got 'robust' instead."),
]


@pytest.mark.parametrize(("kind", "parameters", "sentence"), BAD_PARAMETERS, ids=lambda value: str(value)[:40])
def test_a_bad_parameter_is_named_with_what_is_allowed(kind, parameters, sentence):
    with pytest.raises(ValueError) as error:
        kind(**parameters).fit(X, Y)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Gaussian(gamma=1.0, sigma=1.0),
        lambda: Gaussian(gamma=0.0),
        lambda: Gaussian(sigma=-1.0),
        lambda: Polynomial(degree=0),
        lambda: Polynomial(coef0=-1.0),
        lambda: Normalized("rbf"),
        lambda: Sum([]),
        lambda: Sum([Gaussian()], weights=[1.0, 2.0]),
        lambda: Sum([Gaussian()], weights=[-1.0]),
        lambda: Sum([Normalized(Sum([Gaussian(), Linear()]))]).compiled(),
    ],
)
def test_a_bad_kernel_is_refused(make):
    with pytest.raises(ParameterError, match=r"must .*Got"):
        make()


def test_a_lone_one_keeps_its_role_when_its_partner_is_named():
    for classes in ([1, 2], [5, 7]):
        with pytest.raises(ValueError, match="must hold 1 in the role it has had so far, the rare class"):
            lp.KOIL().partial_fit(X[:2], [1, 1]).partial_fit(X, Y, classes=classes)
    model = lp.KOIL().partial_fit(X[:2], [1, 1]).partial_fit(X, np.where(Y == 1, 1, -1), classes=[-1, 1])
    assert model.classes_.tolist() == [-1, 1]


def test_a_refused_label_settles_nothing():
    model = lp.KOIL().learn_one(X[0], 1)
    with pytest.raises(ValueError, match="Only binary"):
        model.learn_one(X[1], 2)
    assert model.learn_one(X[1], -1).classes_.tolist() == [-1, 1]


@pytest.mark.parametrize("value", [1e200, -1e200])
def test_a_feature_without_a_finite_square_is_refused(value):
    model = lp.KOIL().partial_fit(X, Y)
    wrong = np.array(X, dtype=float)
    wrong[1, 0] = value
    with pytest.raises(ValueError, match=r"must be below 1e\+150 in size.* Got .*e\+200"):
        model.partial_fit(wrong, Y)
    with pytest.raises(ValueError, match="below 1e150 in size"):
        model.learn_one(wrong[1], 1)


def test_a_series_must_have_the_names_of_the_features():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = lp.KOIL(random_state=0).fit(frame, Y)
    assert model.score_one(frame.iloc[3]) == model.decision_function(frame)[3]
    with pytest.raises(ValueError, match=r"must have the features a, b, c in this order. Got c, b, a"):
        model.score_one(frame.iloc[3][["c", "b", "a"]])


def test_a_rare_class_that_is_the_common_one_is_told():
    words = np.where(Y == 1, "bad", "good")
    with pytest.warns(UserWarning, match=r"positive label is taken to be 'good'.* 'pos_label'"):
        lp.KOIL().fit(X, words)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lp.KOIL(pos_label="bad").fit(X, words)
        lp.KOIL().fit(X, np.where(Y == 1, "x", "good"))


def test_parameters_of_a_part_left_to_its_default_can_be_set():
    pipeline = lp.StreamPipeline().set_params(learner__C=3.0, scaler__kind="minmax")
    assert pipeline.learner.C == 3.0 and pipeline.scaler.kind == "minmax"


@pytest.mark.parametrize(("dtype", "expected"), [("Int64", np.int64), ("boolean", np.bool_), ("int8", np.int8)])
def test_labels_keep_the_type_that_pandas_gave_them(dtype, expected):
    model = lp.KOIL(random_state=0).fit(X, pd.Series(Y == 1 if dtype == "boolean" else Y, dtype=dtype))
    assert model.classes_.dtype == model.predict(X[:2]).dtype == expected
    with pytest.raises(ValueError, match=r"NaN|NA"):
        model.partial_fit(X[:3], pd.Series([0, 1, None], dtype="Int64"))
