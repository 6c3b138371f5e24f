"""scikit-learn's tools around our learners. Its checks are run on every learner by tests/checks."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from estimators.trials import each, trials
from lopsided import KOIL, OnlineScaler, StreamPipeline
from lopsided.checks import check_scikit_learn
from lopsided.datasets import four_clusters


@each("estimator", trials(is_learner=False, takes_tables=False))
def test_scikit_learns_checks_pass_for_what_is_no_learner_too(estimator):
    check_scikit_learn(estimator)


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
