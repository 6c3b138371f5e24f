"""Is a 90 % interval one? And is the spread under it the posterior's?"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lopsided as lp
from lopsided.bayes.kernel_pool import KernelPool
from lopsided.bayes.online import Posterior, scores_of
from lopsided.bayes.uncertainty import REMEMBERED, RankMemory, Ruler, scores_and_spreads
from lopsided.constraints import ParameterError
from lopsided.datasets import four_clusters, overlapping
from lopsided.kernels import Gaussian, Linear, Polynomial

QUICK = {"budget": 40, "n_iterations": 10, "kernels": [Gaussian(sigma=s) for s in (0.25, 0.5, 1.0, 2.0)] + [Linear()]}


def a_stream(kind, seed, n):
    if kind == "clusters":
        stream = four_clusters(n // 4, n - n // 4, random_state=seed)
        return 2 * stream.X - 1, stream.y
    stream = overlapping(n, 6, rare=0.2, random_state=seed)
    return stream.X / 3, stream.y


def share_of_negatives_below(scores, y):
    negatives = scores[y == 0]
    return np.array([np.mean(negatives < score) for score in scores])


# How wide: few kernels and 40 vectors a class say little about the clusters, and the intervals admit it.
@pytest.mark.parametrize(("kind", "widest"), [("clusters", 0.5), ("overlapping", 0.2)])
def test_nine_of_ten_intervals_hold_the_rank_among_negatives_never_seen(kind, widest):
    covered, widths = [], []
    for seed in range(8):
        X, y = a_stream(kind, seed, 2400)
        learner = lp.OB2RMK(refit=100, **QUICK).partial_fit(X[:480], y[:480])
        held_out, labels = X[480:], y[480:]
        low, high = learner.rank_interval(held_out).T
        truth = share_of_negatives_below(learner.decision_function(held_out), labels)
        covered.append(np.mean((low <= truth) & (truth <= high)))
        widths.append(np.mean(high - low))
    assert 0.85 <= np.mean(covered) <= 0.95, covered
    assert np.mean(widths) < widest


def test_the_spread_is_that_of_the_posterior():
    rng = np.random.default_rng(0)
    n, pool = 5, KernelPool([Gaussian(1.0), Polynomial(2, 1.0), Linear()])

    def covariance(size):
        root = rng.standard_normal((size, size))
        return root @ root.T / size

    posterior = Posterior(
        rng.standard_normal((n, 2)),
        np.ones(n),
        rng.standard_normal(n),
        covariance(n),
        rng.standard_normal(4),
        covariance(4),
        np.zeros(n, dtype=np.int64),
    )
    X = rng.standard_normal((3, 2))
    scores, spreads = scores_and_spreads(posterior, pool, X)
    assert np.allclose(scores, scores_of(posterior, pool, X), rtol=0, atol=1e-12)
    a2 = posterior.Sigma_a + np.outer(posterior.m_a, posterior.m_a)
    be2 = posterior.Sigma_be + np.outer(posterior.m_be, posterior.m_be)
    for i, kernels in enumerate(pool.matrices(X, posterior.points).transpose(1, 0, 2)):
        # f = sum over m, n of e_m a_n k_mn + b; a and (b, e) are independent.
        second = be2[0, 0]
        for m in range(3):
            second += 2.0 * be2[0, m + 1] * sum(posterior.m_a[k] * kernels[m, k] for k in range(n))
            for other in range(3):
                for k in range(n):
                    for q in range(n):
                        second += be2[m + 1, other + 1] * a2[k, q] * kernels[m, k] * kernels[other, q]
        assert spreads[i] ** 2 == pytest.approx(second - scores[i] ** 2, rel=1e-9)


def test_nothing_is_claimed_before_anything_is_known():
    X, y = a_stream("overlapping", 0, 200)
    learner = lp.OB2RMK(warm_up=40, **QUICK).partial_fit(X[:20], y[:20])
    assert (learner.rank_interval(X) == [0.0, 1.0]).all()
    scores, spreads = learner.decision_function(X, return_std=True)
    assert (scores == 0.0).all() and np.isposinf(spreads).all()
    learner.partial_fit(X[20:45], y[20:45])
    assert (learner.rank_interval(X) == [0.0, 1.0]).all()
    for coverage in (0.0, 1.5, "much"):
        with pytest.raises(ParameterError, match="coverage"):
            learner.rank_interval(X, coverage)


def test_spreads_and_intervals_survive_a_file_and_a_stop(tmp_path):
    X, y = a_stream("overlapping", 1, 400)
    whole = lp.OB2RMK(**QUICK).partial_fit(X[:300], y[:300])
    stopped = lp.OB2RMK(**QUICK).partial_fit(X[:150], y[:150])
    stopped.save(tmp_path / "model.lopsided")
    resumed = lp.load(tmp_path / "model.lopsided")
    for x, label in zip(X[150:300], y[150:300], strict=True):
        resumed.learn_one(x, label)
    assert np.array_equal(resumed.rank_interval(X[300:]), whole.rank_interval(X[300:]))
    scores, spreads = whole.decision_function(X[300:], return_std=True)
    assert np.array_equal(resumed.decision_function(X[300:], return_std=True)[1], spreads)
    assert np.array_equal(scores, whole.decision_function(X[300:]))
    assert (spreads > 0).all() and np.isfinite(spreads).all()


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(0, 3 * REMEMBERED),
    rare=st.floats(0.01, 0.9),
    coverages=st.tuples(st.floats(0.05, 0.99), st.floats(0.05, 0.99)),
)
def test_intervals_hold_the_rank_lie_within_0_and_1_and_grow_with_the_coverage(seed, n, rare, coverages):
    rng = np.random.default_rng(seed)
    memory = RankMemory()
    for score, is_rare in zip(rng.standard_normal(n), rng.random(n) < rare, strict=True):
        memory.remember(float(score + 2.0 * is_rare), 0.1, 1.0 if is_rare else -1.0)
    scores = np.linspace(-4.0, 4.0, 9)
    (low, high), (lower, higher) = (memory.intervals(scores, coverage) for coverage in sorted(coverages))
    assert ((lower >= 0.0) & (lower <= low) & (low <= high) & (high <= higher) & (higher <= 1.0)).all()
    assert (np.diff(0.5 * (low + high)) >= -0.2).all()
    assert memory.ring.shape == (REMEMBERED, 3) and memory.factor() >= 0.0


def test_the_ruler_takes_out_what_a_refit_does_to_the_scale():
    scores, signs = np.array([1.0, 2.0, 8.0, 10.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    ruler, stretched = Ruler.of(scores, signs), Ruler.of(5.0 * scores - 3.0, signs)
    assert np.allclose((scores - ruler.zero) / ruler.unit, (5.0 * scores - 3.0 - stretched.zero) / stretched.unit)
    assert Ruler.of(-scores, signs).unit == 1.0  # the wrong way round: no scale to speak of
