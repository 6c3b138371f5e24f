"""The synthetic sets have the shape, the geometry and the difficulty that they promise."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from lopsided.datasets import four_clusters, overlapping
from lopsided.metrics import auroc


@pytest.mark.parametrize(("n_positive", "n_negative"), [(200, 800), (100, 1000), (1, 1), (3, 2), (7, 4001)])
def test_four_clusters_has_any_size(n_positive, n_negative):
    data = four_clusters(n_positive, n_negative)
    assert data.X.shape == (n_positive + n_negative, 2) and int(data.y.sum()) == n_positive
    assert data.X.dtype == np.float64 and data.X.flags.c_contiguous and data.y.dtype == np.int64
    assert data.X.min(axis=0).tolist() == [0, 0] and data.X.max(axis=0).tolist() == [1, 1]
    assert data.ratio == n_negative / n_positive


def test_four_clusters_repeats_itself_by_seed_only():
    np.testing.assert_array_equal(four_clusters(random_state=5).X, four_clusters(random_state=5).X)
    np.testing.assert_array_equal(four_clusters(random_state=5).y, four_clusters(random_state=5).y)
    assert not np.array_equal(four_clusters(random_state=5).X, four_clusters(random_state=6).X)
    assert not np.array_equal(four_clusters(random_state=None).X, four_clusters(random_state=None).X)


def test_the_rare_class_lies_in_the_middle_of_four_clusters():
    data = four_clusters(2000, 8000)
    middle = data.X[data.y == 1].mean(axis=0)
    from_middle = data.X[data.y == 0] - middle
    horizontal = np.abs(from_middle[:, 0]) > np.abs(from_middle[:, 1])
    sides = 2 * horizontal + (from_middle.sum(axis=1) > 0)
    counts = np.bincount(sides, minlength=4)
    assert counts.min() > 0.23 * counts.sum()
    # Distance of a cluster over its spread: 1 over 0.3, whatever the scaling to [0, 1] made of both.
    right = from_middle[sides == 3]
    assert right[:, 0].mean() / right[:, 1].std() == pytest.approx(1 / 0.3, rel=0.15)


def test_four_clusters_needs_a_kernel():
    train, test = four_clusters(random_state=1), four_clusters(random_state=2)
    linear = LogisticRegression().fit(train.X, train.y).decision_function(test.X)
    curved = SVC(gamma=10, class_weight="balanced").fit(train.X, train.y).decision_function(test.X)
    assert abs(auroc(test.y, linear) - 0.5) < 0.1
    assert 0.93 < auroc(test.y, curved) < 0.99


@pytest.mark.parametrize(("n", "n_features", "rare"), [(1000, 20, 0.05), (2, 1, 0.001), (10, 3, 0.999), (500, 2, 0.5)])
def test_overlapping_has_the_size_and_the_share_asked_for(n, n_features, rare):
    data = overlapping(n, n_features, rare)
    assert data.X.shape == (n, n_features) and len(data.feature_names) == n_features
    assert int(data.y.sum()) == min(max(round(rare * n), 1), n - 1)
    assert data.X.dtype == np.float64 and data.X.flags.c_contiguous
    np.testing.assert_array_equal(data.X, overlapping(n, n_features, rare).X)


@pytest.mark.parametrize("n_features", [1, 5, 50])
def test_overlapping_classes_stay_equally_far_apart_in_any_dimension(n_features):
    data = overlapping(20_000, n_features, 0.2, random_state=3)
    # The sum of the features is the best score there is: its AUC is Phi(2.4 / sqrt 2) = 0.955.
    assert auroc(data.y, data.X.sum(axis=1)) == pytest.approx(0.955, abs=0.006)
    positives = data.X[data.y == 1].mean(axis=0)
    assert np.linalg.norm(positives) == pytest.approx(2.4, abs=0.1)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: four_clusters(0, 10), "n_positive of four_clusters must be a whole number >= 1, got 0."),
        (lambda: four_clusters(10, 2.5), "n_negative of four_clusters must be a whole number >= 1, got 2.5."),
        (lambda: overlapping(1, 2), "n of overlapping must be a whole number >= 2, got 1."),
        (lambda: overlapping(10, True), "n_features of overlapping must be a whole number >= 1, got True."),
        (
            lambda: overlapping(10, 2, 1.0),
            "rare of overlapping must be a share between 0 and 1, both excluded, got 1.0.",
        ),
        (
            lambda: overlapping(10, 2, float("nan")),
            "rare of overlapping must be a share between 0 and 1, both excluded, got nan.",
        ),
    ],
)
def test_impossible_sizes_are_refused(call, sentence):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == sentence
