"""KOIL by looked-up kernel rows: the same scores as KOIL by features, for every option that is served."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from lopsided import KOIL, NORMA
from lopsided.datasets import load_keel
from lopsided.estimators.kernel import distance_table
from lopsided.estimators.kernel.distance_table import DistanceTable
from lopsided.evaluate import grid, tune
from lopsided.kernels import Gaussian, Normalized, Sum

YEAST = load_keel("yeast4")
Y = YEAST.y
X = np.hstack([YEAST.X, YEAST.X**2])  # 16 features, the fewest for which it pays
TRAIN, REST = np.arange(0, 1000), np.arange(1000, 1484)

OPTIONS = [
    {"policy": "reservoir"},
    {"policy": "fifo", "loss": "squared_hinge", "C": 0.1},
    {"policy": "reservoir", "compensate": False, "budget": (5, 40)},
    {"neighbors": "among_nearest", "n_neighbors": 3, "schedule": "invsqrt"},
    {"loss": "squared_hinge", "schedule": "theory", "C": 100.0, "budget": 10},
    {"kernel": Sum([Gaussian(gamma=1.0), Gaussian(gamma=8.0)])},
    {"kernel": Normalized(Sum([Gaussian(gamma=1.0), Gaussian(gamma=8.0)]))},
    {"threshold": "f1", "budget": 30},
    {"pos_label": 0, "threshold": -0.25},
]


def by_features(learner):
    return learner.partial_fit(X[TRAIN], Y[TRAIN], classes=[0, 1]).decision_function(X[REST])


@pytest.mark.parametrize("options", OPTIONS)
def test_scores_are_those_of_the_learner(options):
    known = DistanceTable(X)
    for gamma in (4.0, 0.5):  # the second kernel takes the place of the first
        chosen = options | {"gamma": gamma}
        assert known.serves(KOIL(**chosen))
        for seed in (1, 2):
            looked_up = known.scores_after(KOIL(**chosen, random_state=seed), Y, [0, 1], TRAIN, REST)
            np.testing.assert_array_equal(looked_up, by_features(KOIL(**chosen, random_state=seed)))


def test_rows_may_be_taken_in_any_order_and_more_than_once():
    train = np.random.default_rng(0).integers(0, 1484, 2000)
    looked_up = DistanceTable(X).scores_after(KOIL(random_state=0), Y, [0, 1], train, REST)
    learner = KOIL(random_state=0).partial_fit(X[train], Y[train], classes=[0, 1])
    np.testing.assert_allclose(looked_up, learner.decision_function(X[REST]), rtol=1e-9)


class OtherKOIL(KOIL):
    """A subclass may do anything, so it learns by features."""


def test_what_is_not_served():
    assert not DistanceTable(X).serves(KOIL(policy="unbounded"))
    assert not DistanceTable(X).serves(KOIL(kernel="poly"))
    assert not DistanceTable(X).serves(NORMA())
    assert not DistanceTable(X).serves(OtherKOIL())
    assert not DistanceTable(sp.csr_array(X)).serves(KOIL())
    assert not DistanceTable(X.astype(np.float32)).serves(KOIL())
    assert not DistanceTable(X[:, :15]).serves(KOIL())


def test_too_many_rows_are_not_served(monkeypatch):
    assert DistanceTable(X).serves(KOIL())
    monkeypatch.setattr(distance_table, "MOST_ROWS", 1483)
    assert not DistanceTable(X).serves(KOIL())


def test_bad_parameters_and_bad_rows_get_the_message_of_the_learner():
    with pytest.raises(ValueError, match="The 'gamma' parameter of KOIL"):
        DistanceTable(X).serves(KOIL(gamma="wide"))
    broken = X.copy()
    broken[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        DistanceTable(broken).scores_after(KOIL(), Y, [0, 1], TRAIN, REST)
    with pytest.raises(ValueError, match="NaN"):
        DistanceTable(broken).scores_after(KOIL(), Y, [0, 1], REST, TRAIN)


def test_tuning_finds_the_same_with_and_without():
    settings = grid(gamma=[0.5, 4.0, 32.0], C=[0.1, 10.0], budget=[10, 60])
    folds = np.stack([np.arange(len(Y)) % 5, np.arange(len(Y)) % 3], axis=1)
    shared, alone = tune(KOIL, settings, X, Y, folds), tune(OtherKOIL, settings, X, Y, folds)
    assert shared.scores == alone.scores
    assert shared.parameters == alone.parameters


@pytest.mark.parametrize("kind", [KOIL, OtherKOIL])
def test_settings_in_any_order_and_labels_of_pandas(kind):
    order = np.random.default_rng(3).permutation(len(Y))
    folds = (np.arange(len(Y)) % 4)[:, None]
    plain = tune(kind, grid(C=[0.1, 10.0], gamma=[0.5, 4.0]), X[order], Y[order], folds)
    for labels in (pd.Series(Y).iloc[order], pd.Series(Y[order], index=np.arange(len(Y))[::-1])):
        again = tune(kind, grid(gamma=[0.5, 4.0], C=[0.1, 10.0]), X[order], labels, folds)
        assert [again.scores[k] for k in (0, 2, 1, 3)] == plain.scores


def test_data_frames_are_taken():
    folds = (np.arange(len(Y)) % 4)[:, None]
    frame = pd.DataFrame(X, index=np.arange(len(Y))[::-1])
    assert tune(KOIL, [{}], frame, Y, folds).scores == tune(KOIL, [{}], X, Y, folds).scores
