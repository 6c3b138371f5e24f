"""FOGD, NOGD and FourierRanker against transcriptions of their specification, and what their arithmetic promises."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

import lopsided as lp
from core.agreement import KERNELS
from lopsided.core.arithmetic.trigonometry import LARGEST_ANGLE, waves
from oracles import fourier as naive

SEED = 11


def stream(n, d=4, rare=0.15, seed=0):
    """A rare class on both sides of the other; a third of the numbers are 0, scales and places differ."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < rare, 1, -1)
    X = rng.standard_normal((n, d))
    X[:, 0] = np.where(y > 0, np.sign(X[:, 0]) * 1.5, 0.0) + 0.7 * X[:, 0]
    X[:, 1] += 0.5 * y
    X[rng.random((n, d)) < 0.3] = 0.0
    return X * np.linspace(0.5, 3.0, d) + np.linspace(-1.0, 1.0, d) * (np.arange(d) % 2), y


def weights_of(n, seed=5):
    """Half of them 1, a quarter of other sizes, a quarter 0."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < 0.5, 1.0, rng.choice([0.0, 0.3, 2.5], n, p=[0.5, 0.25, 0.25]))


def oracle_scores(model, X, y, weights):
    scores = []
    for x, sign, weight in zip(X, y, weights, strict=True):
        scores.append(model.score(x) if not hasattr(model, "centre") or model.centre is not None else 0.0)
        if weight > 0:
            model.learn(x, sign, weight)
    return np.array(scores)


def largest_difference(learner, model, X, y, weights=None, sparse=False):
    """Of the score of every example before it is learned, and of fresh ones at the end."""
    rows = sp.csr_array(X) if sparse else X
    if weights is None:
        expected = oracle_scores(model, X, y, np.ones(len(y)))
        scores = learner.progressive_scores(rows, y, classes=[-1, 1])
    else:
        expected = oracle_scores(model, X, y, weights)
        scores = np.empty(len(y))
        for t in range(len(y)):
            scores[t] = learner.decision_function(rows[t : t + 1])[0] if t else 0.0
            learner.partial_fit(rows[t : t + 1], y[t : t + 1], classes=[-1, 1], sample_weight=weights[t : t + 1])
    fresh, _ = stream(50, X.shape[1], seed=99)
    ends = learner.decision_function(sp.csr_array(fresh) if sparse else fresh) - [model.score(x) for x in fresh]
    return max(np.abs(scores - expected).max(), np.abs(ends).max())


# ---------------------------------------------------------------- arithmetic


@pytest.mark.parametrize("size", [1e-9, 0.7, 1.0, 30.0, 1e4, LARGEST_ANGLE, 1e9])
def test_cosines_and_sines_are_those_of_the_library(size):
    angles = np.concatenate([np.random.default_rng(1).uniform(-size, size, 4001), [0.0, size, -size]])
    angles = np.concatenate([angles, np.pi / 4 * np.arange(-8, 9) * min(1.0, size)])
    cosines, sines = np.empty_like(angles), np.empty_like(angles)
    waves(angles, 2.0, cosines, sines)
    assert np.abs(cosines - 2 * np.cos(angles)).max() <= 4.5e-16
    assert np.abs(sines - 2 * np.sin(angles)).max() <= 4.5e-16


# ---------------------------------------------------------------- FOGD


@pytest.mark.parametrize("options", [{}, {"n_components": 31, "gamma": 0.2}, {"learning_rate": 0.7}], ids=str)
@pytest.mark.parametrize("sparse", [False, True])
def test_fogd(options, sparse):
    X, y = stream(2_000)
    learner, model = lp.FOGD(random_state=SEED, **options), naive.FOGD(4, seed=SEED, **options)
    assert largest_difference(learner, model, X, y, sparse=sparse) < 1e-9
    assert np.abs(learner.coef_[0] - model.u).max() < 1e-9
    assert np.array_equal(learner.directions_, model.directions)


def test_fogd_with_weights_and_gamma_auto():
    X, y = stream(600)
    learner, model = lp.FOGD(gamma="auto", random_state=SEED), naive.FOGD(4, gamma=0.25, seed=SEED)
    assert largest_difference(learner, model, X, y, weights_of(600)) < 1e-9


def test_fourier_features_stand_for_the_gaussian_kernel():
    X, _ = stream(20)
    learner = lp.FOGD(n_components=200_000, gamma=0.3, random_state=0).partial_fit(X[:1], [1])
    Z = np.array([naive.waves(learner.directions_, x) for x in X])
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    assert np.abs(Z @ Z.T - K).max() < 0.01


# ---------------------------------------------------------------- NOGD


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("budget_and_rank", [(40, 15), (12, 99)], ids=str)
def test_nogd(kernel, budget_and_rank):
    """Where all eigenvalues are nearly 1, as of a narrow Gaussian, the largest fifteen are a matter of rounding."""
    budget, rank = budget_and_rank if kernel != "narrow gaussian" else (40, 40)
    X, y = stream(2_000)
    learner = lp.NOGD(budget, rank, learning_rate=0.3, kernel=KERNELS[kernel].real)
    model = naive.NOGD(KERNELS[kernel].naive, budget=budget, rank=rank, learning_rate=0.3)
    assert largest_difference(learner, model, X / 3.0, y) < 1e-9
    assert learner.n_support_ == len(model.points)


@pytest.mark.parametrize("sparse", [False, True])
def test_nogd_with_weights(sparse):
    X, y = stream(600)
    learner = lp.NOGD(budget=30, rank=10, gamma=0.5)
    model = naive.NOGD(KERNELS["gaussian"].naive, budget=30, rank=10)
    assert largest_difference(learner, model, X, y, weights_of(600), sparse=sparse) < 1e-9


def test_nogd_of_full_rank_is_kernel_ogd_at_the_moment_of_the_map():
    X, y = stream(400)
    growing = lp.KernelOGD(gamma=2.0)
    t = 0
    while t == 0 or growing.n_support_ < 30:
        growing.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        t += 1
    for rank, close in ((30, True), (10, False)):
        mapped = lp.NOGD(budget=30, rank=rank, gamma=2.0).partial_fit(X[:t], y[:t], classes=[-1, 1])
        difference = np.abs(mapped.decision_function(X) - growing.decision_function(X)).max()
        assert (difference < 1e-9) == close
    support = mapped.support_vectors_
    K = np.exp(-2.0 * ((X[:, None] - support[None]) ** 2).sum(axis=-1))
    assert np.abs(K @ mapped.support_weights_ - mapped.decision_function(X)).max() < 1e-9


def test_equal_vectors_leave_nogd_finite():
    X = np.repeat(np.eye(3), 20, axis=0)
    y = np.tile([1, -1], 30)
    learner = lp.NOGD(budget=20, rank=20).partial_fit(X, y).partial_fit(X, y)
    assert learner.n_support_ == 20 and np.isfinite(learner.decision_function(X)).all()
    assert np.abs(learner.support_weights_).max() < 100


# ---------------------------------------------------------------- FourierRanker

SMALL = {"n_components": 40, "warm_up": 60}
OPTIONS = {
    "plain": ({}, {}),
    "faded": ({"fade": 0.99}, {"fades": (0.99,)}),
    "every row": ({"refresh": 1}, {"refresh": 1}),
    "every 37 rows, no features": ({"refresh": 37, "linear": 0.0}, {"refresh": 37, "linear": 0.0}),
    "one bandwidth, focus": ({"bandwidths": (0.7,), "focus": 3.0}, {"bandwidths": (0.7,), "focus": 3.0}),
    "three bandwidths": ({"bandwidths": [0.1, 1.0, 5.0]}, {"bandwidths": (0.1, 1.0, 5.0)}),
    "half of the directions sparse": ({"sparse_directions": 0.5}, {"sparse": 0.5}),
    "all directions sparse": ({"sparse_directions": 1.0, "bandwidths": 0.5}, {"sparse": 1.0, "bandwidths": (0.5,)}),
    "strong ridge": ({"regularization": 0.5, "linear": 1.0}, {"regularizations": (0.5,), "linear": 1.0}),
}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_fourier_ranker(options, sparse):
    ours, theirs = options
    X, y = stream(200 if ours.get("refresh") == 1 else 500)
    learner = lp.FourierRanker(random_state=SEED, **SMALL, **ours)
    model = naive.FourierRanker(4, seed=SEED, **SMALL, **theirs)
    assert largest_difference(learner, model, X, y, sparse=sparse) < 1e-8
    model.solve()
    assert np.abs(learner.solve().coef_[0] - model.solutions[0][0]).max() < 1e-8
    assert abs(learner.intercept_[0] + model.solutions[0][1]) < 1e-8


@pytest.mark.parametrize("options", ["plain", "faded", "one bandwidth, focus"])
def test_fourier_ranker_with_weights(options):
    ours, theirs = OPTIONS[options]
    X, y = stream(300)
    learner = lp.FourierRanker(random_state=SEED, **SMALL, **ours)
    model = naive.FourierRanker(4, seed=SEED, **SMALL, **theirs)
    assert largest_difference(learner, model, X, y, weights_of(300)) < 1e-8


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"regularization": "auto"}, {"regularizations": (0.1, 0.01, 0.001)}),
        ({"regularization": "auto", "fade": 0.99}, {"regularizations": (0.1, 0.01, 0.001), "fades": (0.99,)}),
        ({"fade": "auto"}, {"fades": (1.0, 0.999), "measure_fade": 0.999}),
    ],
    ids=str,
)
def test_fourier_ranker_of_several_variants(ours, theirs):
    X, y = stream(420)
    learner = lp.FourierRanker(random_state=SEED, **SMALL, **ours)
    theirs = {"measure_fade": 0.99} | theirs if ours.get("fade") == 0.99 else theirs
    model = naive.FourierRanker(4, seed=SEED, **SMALL, **theirs)
    assert largest_difference(learner, model, X, y) < 1e-7
    assert np.abs(learner.variant_weights_.ravel() - model.chances).max() < 1e-7


def growing_stream(n):
    """Features that grow tenfold, move away, begin to vary, or stop doing so after 300 rows."""
    X, y = stream(n)
    X[300:, 0] *= 10.0
    X[300:, 1] += 4.0
    X[:300, 2] = 0.0
    X[300:, 3] = 1.5
    return X, y


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("options", ["plain", "faded", "one bandwidth, focus"])
def test_fourier_ranker_whose_features_leave_their_scale(options, sparse):
    ours, theirs = OPTIONS[options]
    X, y = growing_stream(900)
    learner = lp.FourierRanker(random_state=SEED, **SMALL, **ours)
    model = naive.FourierRanker(4, seed=SEED, **SMALL, **theirs)
    assert largest_difference(learner, model, X, y, sparse=sparse) < 1e-8
    assert model.renewals == 2
    assert np.allclose(learner.scale_, [model.centre, model.spread], rtol=1e-10)


def test_fourier_ranker_of_two_memories_whose_features_leave_their_scale():
    X, y = growing_stream(600)
    learner = lp.FourierRanker(fade="auto", random_state=SEED, **SMALL)
    model = naive.FourierRanker(4, seed=SEED, fades=(1.0, 0.999), measure_fade=0.999, **SMALL)
    assert largest_difference(learner, model, X, y) < 1e-7


def test_fourier_ranker_holds_its_scale_if_told_to():
    X, y = growing_stream(600)
    learner = lp.FourierRanker(rescale=False, random_state=SEED, **SMALL)
    model = naive.FourierRanker(4, seed=SEED, rescale=False, **SMALL)
    assert largest_difference(learner, model, X, y) < 1e-8


def test_one_pass_over_many_rows_is_the_direct_solution():
    X, y = stream(5_000, rare=0.02)
    for fade in (1.0, 0.999):
        learner = lp.FourierRanker(n_components=100, fade=fade, random_state=SEED).fit(X, y)
        model = naive.FourierRanker(4, n_components=100, fades=(fade,), seed=SEED)
        model.rows, model.signs, model.weights = list(X), list(y), [1.0] * len(y)
        model.solve()
        assert np.abs(learner.coef_[0] - model.solutions[0][0]).max() < 1e-8


def test_the_ranker_minimises_the_loss_over_pairs():
    X, y = stream(120)
    learner = lp.FourierRanker(n_components=20, regularization=0.3, warm_up=120, random_state=SEED).fit(X, y)
    model = naive.FourierRanker(4, n_components=20, regularizations=(0.3,), warm_up=120, seed=SEED)
    model.rows, model.signs, model.weights = list(X), list(y), [1.0] * len(y)
    model.solve()
    Z = np.array([model.z(x) for x in X])
    pairs = (Z[y > 0][:, None] - Z[y < 0][None]).reshape(-1, Z.shape[1])
    ridge = 0.3 * (1 + 1 / math.sqrt((y > 0).sum()))
    best = np.linalg.solve(pairs.T @ pairs / len(pairs) + ridge * np.eye(Z.shape[1]), pairs.mean(axis=0))
    assert (learner.coef_[0] @ pairs.mean(axis=0)) == pytest.approx(1 - 1 / (1 + (y > 0).sum()), abs=1e-12)
    along = best @ learner.coef_[0] / np.linalg.norm(best) / np.linalg.norm(learner.coef_[0])
    assert along == pytest.approx(1.0, abs=1e-12)
