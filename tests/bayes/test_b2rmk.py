"""The Bayesian rankers: the naive ones to 1e-8, a bound that never falls, and a monitor that notices wrong updates."""

import itertools
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import lopsided as lp
from lopsided.bayes import batch
from lopsided.bayes.batch import BatchFit
from lopsided.bayes.kernel_pool import KernelPool
from lopsided.bayes.laws import Gamma, InverseGaussian
from lopsided.datasets import four_clusters
from lopsided.kernels import Gaussian, Linear, Normalized, Polynomial, bayes_pool
from lopsided.metrics import auroc
from oracles import b2rmk as naive
from oracles import laws
from oracles import ob2rmk as online

VARIANTS = {
    "published": ({"variant": "published"}, {}),
    "scores": ({"refit": None}, {}),
    "label": ({"start": "label", "refit": None}, {"start": "label", "prior_v": (10.0, 1.0), "prior_c": (10.0, 1.0)}),
}


def problem(n=150, seed=0, n_features=4):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, n_features))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0.2, 1, -1)


def test_the_pool_gives_the_matrices_of_its_kernels():
    X, _ = problem(30)
    matrices = KernelPool(bayes_pool()).matrices(X[:7], X)
    for matrix, kernel in zip(matrices, laws.bayes_kernels(), strict=True):
        assert np.abs(matrix - kernel(X[:7, None], X[None])).max() < 1e-13


# ---- batch ----


@pytest.mark.parametrize("weighted", [False, True])
def test_after_50_sweeps_the_batch_learner_is_the_naive_one(weighted):
    X, y = problem()
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], size=60) if weighted else None
    learner = lp.B2RMK(max_sweeps=50, tol=0.0).fit(X[:60], y[:60], sample_weight=weights)
    oracle = naive.B2RMK(max_sweeps=50, tol=0.0).fit(X[:60], y[:60], weights)
    expected = oracle.scores(X)
    assert np.abs(learner.decision_function(X) - expected).max() < 1e-8 * np.ptp(expected)
    assert np.abs(learner.elbo_ - oracle.elbo).max() < 1e-8 * abs(oracle.elbo[-1])
    assert np.abs(learner.kernel_weights_ - oracle.e()).max() < 1e-8
    order = np.argsort(-oracle.y, kind="stable")
    assert np.abs(learner.support_weights_ - oracle.m_a[order]).max() < 1e-8
    assert learner.n_sweeps_ == 50 and not learner.converged_


@pytest.mark.parametrize(
    "of_examples, of_kernels", [((0.1, 0.5), (0.5, 0.5)), ((0.5, 0.1), (1.5, 2.0)), ((1.0, 1.0), (0.05, 0.3))]
)
def test_with_other_priors_it_is_the_naive_one_and_its_bound_never_falls(of_examples, of_kernels):
    X, y = problem()
    learner = lp.B2RMK(max_sweeps=30, tol=0.0, example_prior=of_examples, kernel_prior=of_kernels).fit(X[:60], y[:60])
    oracle = naive.B2RMK(max_sweeps=30, tol=0.0, shape_a=of_examples, shape_e=of_kernels).fit(X[:60], y[:60])
    expected = oracle.scores(X)
    assert np.abs(learner.decision_function(X) - expected).max() < 1e-8 * np.ptp(expected)
    assert np.abs(learner.elbo_ - oracle.elbo).max() < 1e-8 * abs(oracle.elbo[-1])
    assert not falls(learner.elbo_)


def test_a_smaller_alpha_of_the_kernels_leaves_fewer_of_them():
    X, y = problem(100)
    weights = [abs(lp.B2RMK(kernel_prior=(alpha, 0.5)).fit(X, y).kernel_weights_) for alpha in (0.01, 0.5, 1.5)]
    left = [int((w > 0.01 * w.max()).sum()) for w in weights]
    assert left[0] < left[1] < left[2]


@pytest.mark.parametrize("prior", [0.5, (0.5,), (0.5, 0.0), (-1.0, 0.5), (2.0, 0.5), ("a", 1.0)])
def test_a_prior_that_is_none_is_refused(prior):
    with pytest.raises(ValueError, match="of B2RMK must be a pair of numbers above 0"):
        lp.B2RMK(kernel_prior=prior).fit(*problem(20))


def test_it_stops_where_the_naive_one_stops():
    X, y = problem(60)
    learner, oracle = lp.B2RMK(tol=1e-3).fit(X, y), naive.B2RMK(tol=1e-3).fit(X, y)
    assert learner.n_sweeps_ == oracle.n_sweeps < 200
    assert learner.converged_


def sweeps(fit, n=12):
    for _ in range(n):
        fit.sweep()


def falls(bounds):
    """By more than rounding."""
    return any(after < before - 1e-9 * abs(before) for before, after in itertools.pairwise(bounds))


def batch_fit(seed=0, n=40):
    X, y = problem(n, seed)
    return BatchFit(KernelPool(bayes_pool()).matrices(X, X), y.astype(float), np.ones(n))


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_never_falls_not_even_between_factors(seed):
    fit = batch_fit(seed)
    fit.sweep()
    bounds = [fit.bound()]
    for _ in range(40):
        for update in (
            fit.update_a,
            lambda: fit.of_a.update(fit._squares_of_a()),
            fit.update_v,
            fit.update_g,
            fit.update_be,
            lambda: fit.of_e.update(np.diagonal(fit._ee())),
            fit.update_gamma,
            fit.update_c,
            fit.update_f,
            fit.update_theta,
        ):
            update()
            bounds.append(fit.bound())
    assert not falls(bounds)


def wrong_v(self):
    right_v(self)
    self.v = Gamma(self.v.shape, 1.05 * self.v.rate)


def wrong_f(self):
    right_f(self)
    self.m_f[self.positives] += 0.05


def wrong_be(self):
    right_be(self)
    self.m_be = 1.01 * self.m_be


right_v, right_f, right_be = BatchFit.update_v, BatchFit.update_f, BatchFit.update_be


@pytest.mark.parametrize(("name", "wrong"), [("update_v", wrong_v), ("update_f", wrong_f), ("update_be", wrong_be)])
def test_the_bound_notices_a_wrong_update(name, wrong, monkeypatch):
    fit = batch_fit()
    sweeps(fit, 60)
    before = fit.bound()
    monkeypatch.setattr(BatchFit, name, wrong)
    getattr(fit, name)()
    assert fit.bound() < before - 1e-9 * abs(before)


def test_moments_of_the_inverse_gaussian_are_those_of_its_density():
    for p, A, B in ((0.0, 0.7, 2.0), (0.5, 3.0, 0.1), (0.0, 1e-3, 1e-4), (1.5, 2.0, 2.0)):
        x = np.exp(np.linspace(-25, 12, 400_001))
        density = x ** (p - 1.0) * np.exp(-(A * x + B / x) / 2.0)
        law = InverseGaussian.of(p, np.array([A]), np.array([B]))
        total = np.trapezoid(density, x)
        assert law.mean[0] == pytest.approx(np.trapezoid(x * density, x) / total, rel=1e-6)
        assert law.mean_inverse[0] == pytest.approx(np.trapezoid(density / x, x) / total, rel=1e-6)
        assert law.log_normalizer()[0] == pytest.approx(np.log(total), rel=1e-6, abs=1e-6)
    far = InverseGaussian.of(0.0, np.array([1e6, 9.9999e9]), np.array([1e6, 1.0001]))
    assert np.isfinite(far.mean).all() and np.allclose(far.mean * far.mean_inverse, 1.0, atol=1e-4)


def test_a_matrix_that_rounding_made_indefinite_gets_one_push_and_no_more():
    nearly = np.ones((3, 3)) - 1e-13 * np.eye(3)
    covariance, _ = batch.inverse_and_log_determinant(nearly)
    assert np.isfinite(covariance).all()
    with pytest.raises(FloatingPointError, match="positive definite"):
        batch.inverse_and_log_determinant(-np.eye(3))


def test_it_learns_from_a_whole_set_only():
    for name in ("partial_fit", "progressive_scores", "learn_one", "score_one"):
        assert not hasattr(lp.B2RMK(), name)


# ---- online ----


@cache
def naive_steps(n, **options):
    """The naive learner after a problem of n points, and the score of each; what is published and what starts from the
    scores differ in refits alone, so that both are compared with one. Do not change it."""
    oracle = online.OB2RMK(**options)
    return oracle, np.array([oracle.step(x, label) for x, label in zip(*problem(n), strict=True)])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("options", [{}, {"budget": 12, "n_neighbors": 2, "C": 3.0}], ids=str)
def test_after_sixty_steps_the_online_learner_is_the_naive_one(variant, options):
    X, y = problem(100)
    shared = {"budget": 100, "warm_up": 35, "max_sweeps": 20} | options
    ours, theirs = VARIANTS[variant]
    learner = lp.OB2RMK(**shared, **ours)
    oracle, expected = naive_steps(100, **shared, **theirs)
    scores = learner.progressive_scores(X, y)
    assert (scores[:35] == 0.0).all()
    assert np.abs(scores - expected).max() < 1e-8 * np.ptp(expected)
    assert np.abs(np.sort(learner.support_weights_) - np.sort(oracle.m_a)).max() < 1e-8
    assert np.abs(learner.kernel_weights_ - oracle.m_be[1:]).max() < 1e-8
    assert learner.n_support_ == len(oracle.points) <= 2 * shared["budget"]
    assert learner.n_diverged_ == 0


def test_a_refit_is_a_batch_fit_of_what_the_buffers_hold():
    X, y = problem(90)
    learner = lp.OB2RMK(warm_up=30, budget=20, refit=30).partial_fit(X[:59], y[:59])
    before = learner.decision_function(X)
    stepped = lp.OB2RMK(warm_up=30, budget=20, refit=None).partial_fit(X[:60], y[:60])
    assert np.array_equal(
        lp.OB2RMK(warm_up=30, budget=20, refit=None).partial_fit(X[:59], y[:59]).decision_function(X), before
    )
    learner.partial_fit(X[59:60], y[59:60])  # the 30th step
    signs = stepped._posterior.signs[stepped._by_class()]
    batch = lp.B2RMK(max_sweeps=40, tol=1e-4).fit(stepped.support_vectors_, signs)
    assert np.allclose(learner.decision_function(X), batch.decision_function(X), rtol=0, atol=1e-8)
    assert np.array_equal(learner.support_vectors_, stepped.support_vectors_)


def test_sample_weights_multiply_the_cost():
    X, y = problem(70)
    weights = np.random.default_rng(0).choice([0.0, 0.4, 1.0, 3.0], size=70)
    learner, oracle = lp.OB2RMK("published", warm_up=30), online.OB2RMK(warm_up=30)
    learner.partial_fit(X, y, sample_weight=weights)
    for x, label, weight in zip(X, y, weights, strict=True):
        oracle.step(x, label, weight)
    expected = np.array([oracle.score(x) for x in X])
    assert np.abs(learner.decision_function(X) - expected).max() < 1e-8


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_batch_fit_waits_for_both_classes_and_loses_nothing(variant):
    X, y = problem(80)
    order = np.concatenate([np.flatnonzero(y < 0), np.flatnonzero(y > 0)])
    X, y = X[order], y[order]
    late = int((y < 0).sum())
    learner = lp.OB2RMK(warm_up=10, **VARIANTS[variant][0])
    scores = learner.progressive_scores(X[: late + 1], y[: late + 1], classes=[-1, 1])
    assert (scores == 0.0).all() and learner.n_support_ == late + 1
    start = lp.B2RMK().fit(X[: late + 1], y[: late + 1])
    assert np.abs(learner.decision_function(X) - start.decision_function(X)).max() < 1e-9
    short = lp.OB2RMK(**VARIANTS[variant][0]).fit(X[late - 9 : late + 9], y[late - 9 : late + 9])  # fewer than warm_up
    assert short.n_support_ == 18 and np.ptp(short.decision_function(X)) > 0.1


@pytest.mark.parametrize("stopped_at", [20, 90])
def test_a_saved_model_goes_on_as_if_never_stopped(stopped_at, tmp_path):
    X, y = problem(120)
    whole = lp.OB2RMK(budget=15, warm_up=30, refit=25)
    scores = whole.progressive_scores(X, y)
    model = clone(whole).partial_fit(X[:stopped_at], y[:stopped_at])
    model.learn_one(X[stopped_at], y[stopped_at])
    model.save(tmp_path / "model.lopsided")
    resumed = lp.load(tmp_path / "model.lopsided")
    rest = slice(stopped_at + 1, None)
    assert np.array_equal(resumed.progressive_scores(X[rest], y[rest]), scores[rest])
    ranker = lp.B2RMK(max_sweeps=5).fit(X, y)
    ranker.save(tmp_path / "batch.lopsided")
    assert np.array_equal(lp.load(tmp_path / "batch.lopsided").decision_function(X), ranker.decision_function(X))


def test_memory_is_bounded_and_sparse_rows_are_the_same_rows():
    X, y = problem(200)
    learner = lp.OB2RMK(budget=10, warm_up=30, n_iterations=5).partial_fit(X[:100], y[:100])
    before = learner.nbytes_
    assert learner.partial_fit(sp.csr_array(X[100:]), y[100:]).nbytes_ == before
    dense = lp.OB2RMK(budget=10, warm_up=30, n_iterations=5).partial_fit(X, y)
    assert np.allclose(dense.decision_function(X), learner.decision_function(sp.csr_array(X)), rtol=0, atol=1e-12)
    assert learner.score_one(X[0]) == pytest.approx(dense.decision_function(X[:1])[0], abs=1e-12)


def test_it_ranks_what_no_line_can():
    train, test = four_clusters(40, 160, random_state=0), four_clusters(100, 400, random_state=1)
    pool = [Gaussian(sigma=s) for s in (0.1, 0.5, 2.0)] + [Linear(), Normalized(Polynomial(2, 1.0))]
    for learner in (lp.B2RMK(pool), lp.OB2RMK("published", pool), lp.OB2RMK(kernels=pool)):
        learner.fit(2 * train.X - 1, train.y)
        assert auroc(test.y, learner.decision_function(2 * test.X - 1)) > 0.8


def test_a_step_without_a_finite_result_is_left_out_and_told():
    X, y = problem(60)
    learner = lp.OB2RMK(warm_up=20).partial_fit(X, y)
    scores = learner.decision_function(X)
    with pytest.warns(lp.DivergenceWarning, match=r"scale the features"):
        learner.learn_one(np.full(4, 1e120), 1)
    assert learner.n_diverged_ == 1
    assert np.array_equal(learner.decision_function(X), scores)


def test_what_waits_for_the_rare_class_is_bounded():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (200, 2)), np.zeros(200, dtype=int)
    learner = lp.OB2RMK(warm_up=20, budget=15, max_sweeps=5).partial_fit(X, y)
    assert learner._waiting.shape == (30, 4)
    np.testing.assert_array_equal(learner._waiting[:, :2], X[-30:])
    learner.partial_fit(X[:1] + 3, [1])
    assert learner.n_support_ == 16
    published = lp.OB2RMK("published", warm_up=20, budget=15).partial_fit(X[:100], y[:100])
    assert published._waiting.shape == (100, 4)


def test_a_row_without_finite_kernels_does_not_spoil_the_start():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (80, 2))
    y = (X[:, 0] > 0.3).astype(int)
    X[5] = 1e40
    with pytest.warns(lp.DivergenceWarning):
        learner = lp.OB2RMK(warm_up=20).partial_fit(X, y)
    assert learner.n_diverged_ == 1 and np.ptp(learner.decision_function(X[:5])) > 0.0
