"""scikit-learn's conventions: its own checks, and its tools around our learners."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from lopsided import (
    B2RMK,
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
    ExpertPool,
    Forgetron,
    FourierRanker,
    KernelOGD,
    KernelPA,
    KernelPerceptron,
    MultiKernelKOIL,
    OnlinePerceptron,
    OnlineScaler,
    Projectron,
    ProjectronPP,
    ResamplingBagging,
    StreamPipeline,
)
from lopsided.checks import EXPECTED_FAILED_CHECKS
from lopsided.datasets import four_clusters
from lopsided.kernels import Gaussian, Linear, Normalized, Polynomial

ESTIMATORS = [
    KOIL(),
    KOIL(policy="fifo", loss="squared_hinge", kernel=Normalized(Polynomial(2, 1.0))),
    KOIL(policy="unbounded", threshold="f1"),
    OILK(),
    MultiKernelKOIL(),
    MultiKernelKOIL(kernels=[Gaussian(gamma=0.5), Linear()], policy="unbounded"),
    SPA(),
    SPA(budget=20, average=False),
    OSKL(),
    KernelPerceptron(),
    KernelOGD(),
    NORMA(budget=30),
    KernelPA(),
    RBP(),
    Forgetron(budget=20),
    BPAS(),
    BOGD(removal="uniform"),
    Projectron(),
    ProjectronPP(),
    BOMKC([Gaussian(gamma=0.5), Linear()]),
    OMKC([Gaussian(gamma=0.5), Linear()], variant="SD"),
    OMKC([Gaussian(gamma=0.5), Linear()], base="forgetron", budget=40),
    OMCSL(),
    OMCSL(measure="auroc", fit_intercept=True, average=True),
    OnlinePerceptron(),
    OCS(variant=2),
    OFO(fit_intercept=True),
    OPAUC(),
    OPAUC(rank=5),
    OAM(),
    OAM("gra", C=0.01),
    ResamplingBagging(),
    B2RMK([Gaussian(gamma=0.5), Linear()], max_sweeps=10),
    OB2RMK(kernels=[Gaussian(gamma=0.5), Linear()], n_iterations=4, max_sweeps=10),
    FOGD(n_components=50),
    NOGD(budget=30, rank=10),
    FourierRanker(n_components=40),
    FourierRanker(n_components=40, regularization="auto", fade="auto", focus=3.0),
    ExpertPool([KOIL(), OCS()]),
    ExpertPool([SPA(), OPAUC()], combine="sample", measure="f1"),
    OnlineScaler(),
    OnlineScaler(kind="minmax"),
    OnlineScaler(center=False),
    StreamPipeline(),
    StreamPipeline(OnlineScaler(center=False), OILK()),
]


# The checks warn about what they do themselves: skipping what the estimator does not claim, and data frames.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.EstimatorCheckFailedWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_scikit_learns_checks_pass(estimator):
    results = check_estimator(estimator, expected_failed_checks=EXPECTED_FAILED_CHECKS, on_fail=None)
    failed = {
        r["check_name"]: str(r["exception"]) for r in results if r["status"] not in ("passed", "skipped", "xfail")
    }
    assert not failed
    assert sum(result["status"] == "passed" for result in results) > 40


@pytest.fixture(scope="module")
def stream():
    return four_clusters(60, 240, random_state=3)


def test_grid_search_finds_a_better_gamma(stream):
    search = GridSearchCV(KOIL(random_state=0), {"gamma": [1e-6, 20.0]}, scoring="roc_auc", cv=3)
    search.fit(stream.X, stream.y)
    assert search.best_params_ == {"gamma": 20.0}
    assert search.best_score_ > 0.9


def test_grid_search_reaches_into_a_pipeline_in_two_processes(stream):
    pipeline = StreamPipeline(OnlineScaler(), KOIL(random_state=0))
    search = GridSearchCV(pipeline, {"learner__gamma": [1e-6, 1.0]}, scoring="roc_auc", cv=2, n_jobs=2)
    assert search.fit(stream.X, stream.y).best_params_ == {"learner__gamma": 1.0}


def test_cross_val_score(stream):
    scores = cross_val_score(KOIL(gamma=20.0, random_state=0), stream.X, stream.y, scoring="roc_auc", cv=3)
    assert scores.min() > 0.9


def test_calibrated_classifier(stream):
    model = CalibratedClassifierCV(KOIL(gamma=20.0, random_state=0), cv=3).fit(stream.X, stream.y)
    assert roc_auc_score(stream.y, model.predict_proba(stream.X)[:, 1]) > 0.9


def test_one_vs_rest_makes_three_classes_of_two(stream):
    y = np.where(stream.X[:, 0] > 0.66, 2, np.where(stream.X[:, 0] > 0.33, 1, 0))
    model = OneVsRestClassifier(KOIL(gamma=20.0, threshold="f1", random_state=0)).fit(stream.X, y)
    assert (model.predict(stream.X) == y).mean() > 0.8


def test_bagging_and_scikit_learns_own_pipeline(stream):
    model = make_pipeline(StandardScaler(), BaggingClassifier(KOIL(random_state=0), n_estimators=3, random_state=0))
    assert roc_auc_score(stream.y, model.fit(stream.X, stream.y).predict_proba(stream.X)[:, 1]) > 0.9


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_clone_copies_parameters_and_no_state(estimator, stream):
    fitted = clone(estimator).fit(stream.X, stream.y)
    copy = clone(fitted)
    assert str(copy) == str(estimator)
    assert not any(name.endswith("_") and not name.startswith("__") for name in vars(copy))


LEARNERS = [estimator for estimator in ESTIMATORS if not isinstance(estimator, OnlineScaler | B2RMK)]


def same_arrays(left, right):
    left, right = left._arrays(), right._arrays()
    return left.keys() == right.keys() and all(np.array_equal(left[name], right[name]) for name in left)


@pytest.mark.parametrize("estimator", LEARNERS, ids=str)
def test_pickle_and_joblib_continue_as_if_never_stopped(estimator, stream, tmp_path):
    model = clone(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=7)
    else:
        model.set_params(learner=KOIL(random_state=7))
    model.partial_fit(stream.X[:150], stream.y[:150])
    for x, y in zip(stream.X[:3], stream.y[:3], strict=True):
        model.learn_one(x, y)
    pickled = pickle.loads(pickle.dumps(model))
    joblib.dump(model, tmp_path / "model.joblib")
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    for other in (pickled, mapped):
        assert same_arrays(model, other)
    model.partial_fit(stream.X[150:], stream.y[150:])
    pickled.partial_fit(stream.X[150:], stream.y[150:])
    for x, y in zip(stream.X[150:], stream.y[150:], strict=True):
        mapped.learn_one(x, y)
    assert same_arrays(model, pickled)
    assert same_arrays(model, mapped)


def test_a_copy_learns_apart_from_its_original(stream):
    import copy

    model = KOIL(random_state=0).partial_fit(stream.X[:100], stream.y[:100])
    model.learn_one(stream.X[0], stream.y[0])
    other = copy.deepcopy(model)
    before = model.decision_function(stream.X)
    for x, y in zip(stream.X[100:], stream.y[100:], strict=True):
        other.learn_one(x, y)
    assert np.array_equal(model.decision_function(stream.X), before)
    assert not np.array_equal(other.decision_function(stream.X), before)
