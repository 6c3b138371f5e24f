"""The streams that are hard to follow have the shape, the geometry and the changes that they promise."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from lopsided.datasets import abrupt_drift, rotating_hyperplane, xor
from lopsided.metrics import auroc

STREAMS = {"xor": xor, "rotating_hyperplane": rotating_hyperplane, "abrupt_drift": abrupt_drift}
streams = pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
BEST = 0.955  # of two Gaussians 2.4 apart


@streams
def test_any_size_with_exactly_the_rare_share(make):
    for n, rare, positives in ((2, 0.5, 1), (50, 0.01, 1), (1_000, 0.01, 10), (999, 0.3, 300), (10, 0.99, 9)):
        data = make(n, rare=rare)
        assert data.name == make.__name__ and data.X.shape[0] == n == data.y.size
        assert data.y.dtype == np.int64 and int(data.y.sum()) == positives
        assert data.X.dtype == np.float64 and data.X.flags.c_contiguous and np.isfinite(data.X).all()
        assert len(data.feature_names) == data.n_features


@streams
def test_streams_repeat_themselves_by_seed_only(make):
    assert np.array_equal(make(200, random_state=5).X, make(200, random_state=5).X)
    assert not np.array_equal(make(200, random_state=5).X, make(200, random_state=6).X)
    assert not np.array_equal(make(200, random_state=None).X, make(200, random_state=None).X)


def test_xor_is_in_the_product_and_nowhere_else():
    data = xor(40_000, rare=0.5)
    assert np.abs(data.X[data.y == 1].mean(axis=0) - data.X[data.y == 0].mean(axis=0)).max() < 0.03
    # The optimal ranking: log-likelihoods of two Gaussians a class.
    best = np.log(np.cosh((data.X[:, 0] - data.X[:, 1]) / 0.36)) - np.log(np.cosh(data.X.sum(axis=1) / 0.36))
    assert auroc(data.y, best) == pytest.approx(0.97, abs=0.004)
    line = LogisticRegression().fit(data.X, data.y).decision_function(data.X)
    assert auroc(data.y, line) < 0.53


def mean_difference(data, part):
    X, y = data.X[part], data.y[part]
    return X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)


def test_the_hyperplane_rotates_at_a_constant_speed():
    data = rotating_hyperplane(80_000, 4, rare=0.5, turns=0.5)
    for share in (0.02, 0.25, 0.5, 0.98):
        start = int((share - 0.02) * 80_000)
        found = mean_difference(data, slice(start, start + 3_200))
        angle = np.pi * share
        assert np.abs(found - [2.4 * np.cos(angle), 2.4 * np.sin(angle), 0, 0]).max() < 0.15
    still = rotating_hyperplane(20_000, 4, rare=0.5, turns=0.0)
    assert auroc(still.y, still.X[:, 0]) == pytest.approx(BEST, abs=0.005)


def test_the_classes_change_places_at_one_moment():
    data = abrupt_drift(20_000, 5, rare=0.4, at=0.3)
    toward = data.X.sum(axis=1)
    assert auroc(data.y[:6_000], toward[:6_000]) == pytest.approx(BEST, abs=0.006)
    assert auroc(data.y[6_000:], -toward[6_000:]) == pytest.approx(BEST, abs=0.006)
    for part in (slice(0, 6_000), slice(6_000, None)):
        for label in (0, 1):
            own = data.X[part][data.y[part] == label]
            assert own.std(axis=0) == pytest.approx(1.0, abs=0.06)
            assert np.abs(np.abs(own.mean(axis=0)) - 1.2 / np.sqrt(5)).max() < 0.06


def test_other_features_tell_the_classes_apart_later():
    data = abrupt_drift(20_000, 5, rare=0.4, at=0.3, kind="features")
    first, second = data.X[:, :2].sum(axis=1), data.X[:, 2:].sum(axis=1)
    for part, telling, silent in ((slice(0, 6_000), first, second), (slice(6_000, None), second, first)):
        assert auroc(data.y[part], telling[part]) == pytest.approx(BEST, abs=0.006)
        assert auroc(data.y[part], silent[part]) == pytest.approx(0.5, abs=0.02)


def test_a_gradual_change_rises_from_nothing_to_everything():
    data = abrupt_drift(50_000, 3, rare=0.5, at=0.5, width=0.4)
    toward = data.X.sum(axis=1)
    assert auroc(data.y[:15_000], toward[:15_000]) == pytest.approx(BEST, abs=0.006)
    assert auroc(data.y[23_000:27_000], toward[23_000:27_000]) == pytest.approx(0.5, abs=0.03)
    assert auroc(data.y[35_000:], -toward[35_000:]) == pytest.approx(BEST, abs=0.006)


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (xor, {"n": 1}, "n of xor must be a whole number >= 2, got 1"),
        (xor, {"n": 9, "rare": 1.0}, "rare of xor must be a share between 0 and 1, both excluded, got 1.0"),
        (rotating_hyperplane, {"n": 9, "n_features": 1}, "n_features of rotating_hyperplane must be .* >= 2, got 1"),
        (
            rotating_hyperplane,
            {"n": 9, "turns": np.inf},
            "turns of rotating_hyperplane must be a finite number, got inf",
        ),
        (
            abrupt_drift,
            {"n": 9, "at": 0.0},
            "at of abrupt_drift must be a share between 0 and 1, both excluded, got 0.0",
        ),
        (abrupt_drift, {"n": 9, "kind": "time"}, "kind of abrupt_drift must be 'places' or 'features', got 'time'"),
        (abrupt_drift, {"n": 9, "width": 1.5}, "width of abrupt_drift must be a share between 0 and 1, got 1.5"),
    ],
)
def test_impossible_streams_are_refused_with_a_sentence(make, options, words):
    with pytest.raises(ValueError, match=words):
        make(**options)
