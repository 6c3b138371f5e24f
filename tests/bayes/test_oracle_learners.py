"""The naive transcription of the Bayesian rankers, from outside: what the batch learner and the online one do.

The package itself takes no part in this: it shows that the transcription is worth comparing with.
"""

import copy
import math

import numpy as np
import pytest

from bayes.problems import (
    FEW,
    LABEL,
    both_starts,
    last_step,
    problem,
    repeated,
    streamed,
    swept,
)
from oracles import b2rmk as naive
from oracles import laws
from oracles import ob2rmk as online

# ---- Sections 4, 5: the batch learner ----


def test_initial_values_of_the_batch():
    X, y = problem(7)
    model = naive.B2RMK().start(X, y)
    np.testing.assert_array_equal(model.M_G, [y] * 18)
    np.testing.assert_array_equal(model.Sigma_g, np.eye(18))
    np.testing.assert_array_equal(model.m_f, y)
    np.testing.assert_array_equal(model.s_f, np.ones(7))
    np.testing.assert_array_equal(model.m_be, [0.0] + [1 / 18] * 18)
    np.testing.assert_array_equal(model.Sigma_be, np.eye(19) / 18**2)
    np.testing.assert_array_equal(model.chi, np.full_like(model.C, 3.0))  # (1 - 1 - 1)^2 + 1 + 1
    np.testing.assert_array_equal(model.C, np.ones_like(model.C))
    for hierarchy in (model.prior_a, model.prior_e):
        for mean in (hierarchy.mean_inverse_scale, hierarchy.rate.mean, hierarchy.top.mean, hierarchy.top_rate.mean):
            np.testing.assert_array_equal(mean, np.ones_like(mean))
    assert (model.v.mean, model.c.mean, model.gamma.mean) == (1.0, 1.0, 1.0)


def test_first_sweep_by_hand_for_two_points():
    """One kernel, k = 1 everywhere, worked out by hand up to v."""
    model = naive.B2RMK([lambda x, z: np.ones(np.broadcast_shapes(x.shape, z.shape)[:-1])])
    model.start([[0.0], [1.0]], [1, -1])
    np.testing.assert_array_equal(model.chi, [[(1 - 1 - 1) ** 2 + 2.0]])
    model.update_a()
    # S = 2 [[1, 1], [1, 1]], precision [[3, 2], [2, 3]], K M_G' = 0
    np.testing.assert_allclose(model.Sigma_a, np.array([[3, -2], [-2, 3]]) / 5, rtol=1e-14)
    np.testing.assert_array_equal(model.m_a, [0.0, 0.0])
    model.update_v()
    # SSg = 2 + 2 + tr(Sigma_a S) = 4 + 4/5
    assert model.v.shape == 101.0
    assert model.v.rate == pytest.approx(0.01 + 2.4, rel=1e-14)


def test_quantities_of_section_4_are_expectations():
    """SSf, SSg and <u^2> by drawing a, b, e, G, f."""
    model = swept(4, sweeps=2)
    rng, n = np.random.default_rng(0), 100_000
    a = rng.multivariate_normal(model.m_a, model.Sigma_a, n)
    be = rng.multivariate_normal(model.m_be, model.Sigma_be, n)
    G = model.M_G.T + rng.multivariate_normal(np.zeros(3), model.Sigma_g, (n, 4))  # draws x N x P
    f = model.m_f + np.sqrt(model.s_f) * rng.normal(size=(n, 4))
    means = np.stack([a @ K for K in model.K], axis=-1)
    draws_g = np.sum((G - means) ** 2, axis=(1, 2))
    draws_f = np.sum((f - np.sum(be[:, None, 1:] * G, axis=-1) - be[:, :1]) ** 2, axis=1)
    i, j = model.positives[0], model.negatives[-1]
    draws_u = (1 - f[:, i] + f[:, j]) ** 2
    for draws, exact in [(draws_g, model.SSg()), (draws_f, model.SSf()), (draws_u, model.u2()[0, -1])]:
        assert abs(np.mean(draws) - exact) < 4 * np.std(draws) / math.sqrt(n)


def test_stopping_rule():
    X, y = problem(12)
    loose = naive.B2RMK(FEW, tol=1e-3).fit(X, y)
    assert loose.converged and 2 < loose.n_sweeps < 200
    before, after = (
        naive.B2RMK(FEW, tol=0.0, max_sweeps=n).fit(X, y).train_scores for n in (loose.n_sweeps - 1, loose.n_sweeps)
    )
    np.testing.assert_array_equal(after, loose.train_scores)
    assert np.max(np.abs(after - before)) < 1e-3 * max(1.0, np.ptp(after))
    assert not naive.B2RMK(FEW, tol=0.0, max_sweeps=3).fit(X, y).converged


def test_training_scores_are_scores():
    model = swept(15, kernels=None)
    np.testing.assert_allclose(model.scores(model.points), model.train_scores, rtol=1e-12)
    expected = [
        sum(
            a * e * k(point, x)
            for a, point in zip(model.m_a, model.points, strict=True)
            for e, k in zip(model.m_be[1:], model.kernels, strict=True)
        )
        + model.m_be[0]
        for x in model.points[:3]
    ]
    np.testing.assert_allclose(model.train_scores[:3], expected, rtol=1e-12)


def test_one_class_is_an_error():
    with pytest.raises(ValueError, match="both classes"):
        naive.B2RMK().fit([[0.0], [1.0]], [1, 1])


def test_order_of_rows_and_of_kernels_does_not_matter():
    X, y = problem(14)
    model = swept(14, sweeps=20)
    rows = np.random.default_rng(0).permutation(14)
    other = naive.B2RMK(FEW[::-1], max_sweeps=20, tol=0.0).fit(X[rows], y[rows])
    np.testing.assert_allclose(other.scores(X), model.scores(X), rtol=1e-9)
    np.testing.assert_allclose(other.m_be[:0:-1], model.m_be[1:], rtol=1e-8)
    np.testing.assert_allclose(other.m_a, model.m_a[rows], rtol=1e-8)
    assert other.elbo == pytest.approx(model.elbo, rel=1e-11)


def test_rotations_do_not_matter():
    X, y = problem(14, d=3)
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    one, two = (naive.B2RMK(max_sweeps=20, tol=0.0).fit(Z, y) for Z in (X, X @ Q))
    np.testing.assert_allclose(two.scores(X @ Q), one.scores(X), rtol=1e-8)


def test_exchanging_the_classes_and_their_updates_changes_the_sign():
    class Mirrored(naive.B2RMK):
        SWEEP = (*naive.B2RMK.SWEEP[:-3], "f_negative", "f_positive", "theta")

    X, y = problem(14)
    one, two = swept(14, sweeps=20), Mirrored(FEW, max_sweeps=20, tol=0.0).fit(X, -y)
    np.testing.assert_allclose(two.scores(X), -one.scores(X), rtol=1e-9)
    np.testing.assert_allclose(two.m_be[1:], one.m_be[1:], rtol=1e-9)
    assert two.elbo == pytest.approx(one.elbo, rel=1e-11)


def test_weights_of_the_batch_are_weights_of_pairs():
    X, y = problem(10)
    plain, ones = swept(10), naive.B2RMK(FEW, max_sweeps=5, tol=0.0).fit(X, y, np.ones(10))
    np.testing.assert_array_equal(ones.m_a, plain.m_a)
    w = np.random.default_rng(0).uniform(0.5, 2.0, 10)
    w[4] = 0.0
    kept = np.arange(10) != 4
    one = naive.B2RMK(FEW, max_sweeps=5, tol=0.0).fit(X, y, w)
    two = naive.B2RMK(FEW, max_sweeps=5, tol=0.0).fit(X[kept], y[kept], w[kept])
    np.testing.assert_array_equal(one.m_a, two.m_a)
    np.testing.assert_array_equal(one.C, np.outer(w[kept][y[kept] > 0], w[kept][y[kept] < 0]))
    threes = np.where(y > 0, 3.0, 1.0)  # every pair three times
    np.testing.assert_allclose(
        naive.B2RMK(FEW, max_sweeps=5, tol=0.0).fit(X, y, threes).m_a, swept(10, C=3.0).m_a, rtol=1e-12
    )


# ---- Sections 7, 8: the online learner ----


def test_warm_up():
    X, y = problem(30)
    y[:20], y[20] = -1, 1  # the positive comes late
    model = online.OB2RMK(FEW, warm_up=10, max_sweeps=5)
    before = [model.step(x, label) for x, label in zip(X[:20], y[:20], strict=True)]
    assert before == [0.0] * 20
    assert model.m_a is None
    assert model.score(X[0]) == 0.0
    assert model.step(X[20], 1) == 0.0
    batch = naive.B2RMK(FEW, max_sweeps=5).fit(X[:21], y[:21])  # that example included
    np.testing.assert_array_equal(model.scores(X), batch.scores(X))
    np.testing.assert_array_equal(model.m_a, batch.m_a)
    assert model.step(X[21], y[21]) == pytest.approx(batch.scores(X[21:22])[0], rel=1e-14)
    assert model.last is not None


def test_end_of_the_warm_up():
    X, y = problem(12)
    model = online.OB2RMK(FEW, max_sweeps=5)
    for x, label in zip(X, y, strict=True):
        model.step(x, label)
    assert model.m_a is None
    model.finish()
    np.testing.assert_array_equal(model.scores(X), swept(12).scores(X))
    model.finish()
    assert len(model.points) == 12


def test_batch_larger_than_the_buffers_is_cut_down():
    X, y = problem(30)
    model = online.OB2RMK(FEW, warm_up=30, budget=4, max_sweeps=20)
    for x, label in zip(X, y, strict=True):
        model.step(x, label)
    batch = model.initial
    kept = sorted(
        n for side in (+1, -1) for n in sorted(np.flatnonzero(y == side), key=lambda n: y[n] * batch.m_a[n])[-4:]
    )
    np.testing.assert_array_equal(model.points, X[kept])
    np.testing.assert_array_equal(model.labels, y[kept])
    np.testing.assert_array_equal(model.m_a, batch.m_a[kept])
    np.testing.assert_array_equal(model.Sigma_a, batch.Sigma_a[np.ix_(kept, kept)])
    np.testing.assert_array_equal(model.m_be, batch.m_be)


def test_pairs_of_a_step():
    model = streamed(n=20, budget=7)
    x = np.array([0.1, -0.2])
    for y in (+1, -1):
        before = copy.deepcopy(model)
        model.step(x, y)
        step = model.last
        other = [p for p, label in zip(before.points, before.labels, strict=True) if label == -y]
        own = [n for n, label in enumerate(before.labels) if label == y]
        near = sorted(other, key=lambda p: math.dist(p, x))[:3]
        full = len(own) == 7
        columns = [x, *near]
        kept = list(range(len(before.points)))
        if full:
            r = min(own, key=lambda n: y * before.m_a[n])
            columns.append(before.points[r])
            kept.remove(r)
        assert (model.dropped is not None) == full
        assert list(step.y) == [y, -y, -y, -y] + [y] * full
        support = np.array([*(before.points[n] for n in kept), x])
        np.testing.assert_array_equal(model.points, support)
        np.testing.assert_array_equal(step.K, laws.kernel_matrices(FEW, support, columns))
        np.testing.assert_array_equal(step.m_t, before.m_a[kept])
        np.testing.assert_array_equal(step.Sigma_t, before.Sigma_a[np.ix_(kept, kept)])
        assert step.C.shape == ((1 + full, 3) if y > 0 else (3, 1 + full))
        assert len(model.m_a) == len(kept) + 1


def test_nearest_ties_and_few_opposites():
    model = streamed(n=20)
    model.points = [np.array([float(n % 2), 0.0]) for n in range(len(model.points))]
    other = model.buffer(-1)
    assert model.nearest(np.array([0.5, 0.0]), +1) == other[:3]
    model.n_neighbors = 50
    assert sorted(model.nearest(np.array([0.2, 0.0]), +1)) == other


def test_worst_ties_go_to_the_first():
    model = streamed(n=20)
    model.m_a = np.zeros_like(model.m_a)
    assert model.worst(+1) == model.buffer(+1)[0]
    model.m_a[model.buffer(-1)[2]] = 0.5  # the largest of the negatives
    assert model.worst(-1) == model.buffer(-1)[2]


def test_start_from_the_scores():
    step = last_step(0)
    e, b = step.m_be_t[1:], step.m_be_t[0]
    for i in range(step.N):
        z = [step.m_t @ K[:-1, i] for K in step.K]  # the newest weight is 0
        np.testing.assert_allclose(step.M_G[:, i], z, atol=1e-14)
        assert step.m_f[i] == pytest.approx(e @ z + b, abs=1e-14)
    assert (step.v.mean, step.c.mean) == (1.0, 1.0)
    np.testing.assert_array_equal(step.s_f, np.ones(step.N))
    np.testing.assert_array_equal(step.Sigma_g, np.eye(3))


def test_start_from_the_labels():
    step = last_step(0, **LABEL)
    np.testing.assert_array_equal(step.m_f, step.y)
    np.testing.assert_array_equal(step.M_G, np.tile(step.y, (3, 1)))
    np.testing.assert_array_equal(step.Sigma_g, np.eye(3) / 10.0)
    assert (step.v.mean, step.c.mean) == (10.0, 10.0)


class LowRankStep(online.OnlineStep):
    """q(a) by section 9."""

    def update_a(self):
        n, v, l_newest = len(self.m_t), self.v.mean, self.prior_newest.mean_inverse_scale[0]
        W, k_newest = np.hstack([K[:n] for K in self.K]), np.hstack([K[n] for K in self.K])
        A = self.Sigma_t @ W
        D, U = np.linalg.eigh((W.T @ A + A.T @ W) / 2)
        D = np.maximum(D, 0.0)
        kt, z0t = U.T @ k_newest, U.T @ (W.T @ self.m_t)
        q, r = 1 / (1 + v * D), U.T @ self.M_G.ravel() - z0t
        w = 1 / (l_newest + v * np.sum(kt**2 * q))
        m_newest = v * w * np.sum(kt * q * r)
        d = r - kt * m_newest
        self.low_rank_Z = (U @ (z0t + v * D * q * d + kt * m_newest)).reshape(self.P, self.N)
        self.low_rank_trace = np.sum(D * q) + w * np.sum((kt * q) ** 2)
        h = -v * A @ U @ (kt * q)
        old = self.Sigma_t - v * (A @ U) @ np.diag(q) @ (A @ U).T + w * np.outer(h, h)
        self.Sigma_a = np.block([[old, w * h[:, None]], [w * h[None, :], np.array([[w]])]])
        self.m_a = np.append(self.m_t + v * A @ U @ (q * d), m_newest)


@pytest.mark.parametrize("options", [{}, LABEL], ids=str)
def test_low_rank_form_is_exact(options):
    class LowRank(online.OB2RMK):
        step_class = LowRankStep

    direct, low_rank = (
        streamed(72, learner=learner, n_iterations=6, **options) for learner in (online.OB2RMK, LowRank)
    )
    X, _ = problem(50, seed=9)
    np.testing.assert_allclose(low_rank.scores(X), direct.scores(X), rtol=0, atol=1e-9)  # after 60 steps
    np.testing.assert_allclose(low_rank.Sigma_a, direct.Sigma_a, rtol=0, atol=1e-9)
    step = low_rank.last
    step.update_a()
    np.testing.assert_allclose(step.low_rank_Z, step.Z(), rtol=1e-10)
    assert step.low_rank_trace == pytest.approx(np.trace(step.Sigma_a @ step.S), rel=1e-10)


def test_state_stays_a_covariance():
    model = streamed(72, learner=online.OB2RMK, n_iterations=6)
    for Sigma in (model.Sigma_a, model.Sigma_be):
        np.testing.assert_array_equal(Sigma, Sigma.T)
        assert np.min(np.linalg.eigvalsh(Sigma)) > 0
    assert len(model.buffer(+1)) == len(model.buffer(-1)) == 6


def test_a_step_never_widens_the_old_weights():
    step = last_step(30)
    shrink = np.linalg.eigvalsh(step.Sigma_t - step.Sigma_a[:-1, :-1])
    # a finite precision was added; the newest weight, free before, may only take part of it back
    assert np.min(shrink) > -1e-12


@both_starts
def test_exchanging_the_classes_of_a_step_changes_the_sign(options):
    class Mirrored(online.OnlineStep):
        FROM_SCORES, FROM_LABEL = (
            tuple({"f_positive": "f_negative", "f_negative": "f_positive"}.get(name, name) for name in order)
            for order in (online.OnlineStep.FROM_SCORES, online.OnlineStep.FROM_LABEL)
        )

    step = last_step(30, **options)
    flip = np.array([-1.0, 1.0, 1.0, 1.0])  # b, not e
    opposite = {"y": -step.y, "m_t": -step.m_t, "m_be": flip * step.m_be_t}
    mirror = repeated(step, 30, Mirrored, **opposite, Sigma_be=np.outer(flip, flip) * step.Sigma_be_t)
    np.testing.assert_allclose(mirror.m_a, -step.m_a, rtol=1e-9)
    np.testing.assert_allclose(mirror.m_be, flip * step.m_be, rtol=1e-9)
    np.testing.assert_allclose(mirror.m_f, -step.m_f, rtol=1e-9)


def test_without_loss_and_doubt_nothing_moves():
    """C -> 0 and a certain (b, e): all means stay."""
    step = last_step(0)
    still = repeated(step, 30, C=1e-13, Sigma_be=np.eye(4) * 1e-14)
    np.testing.assert_allclose(still.m_a, np.append(step.m_t, 0.0), atol=1e-10)
    np.testing.assert_allclose(still.m_be, step.m_be_t, atol=1e-10)
    np.testing.assert_allclose(still.m_f, step.m_f, atol=1e-10)


def test_larger_C_separates_the_pairs_more():
    margins = []
    for C in (0.1, 1.0, 3.0):
        step = repeated(last_step(0), 30, C=C)
        margins.append(np.mean(step.m_f[step.positives]) - np.mean(step.m_f[step.negatives]))
    assert margins[0] < margins[1] < margins[2]


def test_weight_multiplies_C():
    X, y = problem(22, seed=3)
    one, two = (online.OB2RMK(FEW, budget=6, warm_up=12, max_sweeps=5, n_iterations=5, C=C) for C in (1.0, 3.0))
    for n, (x, label) in enumerate(zip(X, y, strict=True)):
        one.step(x, label, 1.0 if n < 12 else 3.0)  # the batch has C = 1 in both
        two.step(x, label)
    np.testing.assert_array_equal(one.scores(X), two.scores(X))


def test_weight_zero_is_not_seen():
    X, y = problem(40, seed=3)
    one, two = (online.OB2RMK(FEW, budget=6, warm_up=12, max_sweeps=5, n_iterations=5) for _ in range(2))
    for n, (x, label) in enumerate(zip(X, y, strict=True)):
        if n % 3:
            assert one.step(x, label) == two.step(x, label)
        else:
            assert one.step(x, label, 0.0) == one.score(x)
    assert one.t == two.t
    np.testing.assert_array_equal(one.m_a, two.m_a)


def test_empty_opposite_buffer():
    model = streamed(n=20, budget=5)
    for r in sorted(model.buffer(-1), reverse=True):
        model.marginalize(r)
    before = copy.deepcopy(model)
    assert len(before.points) == 5  # full
    model.step([0.3, 0.3], 1)
    r = before.worst(+1)
    kept = [n for n in range(5) if n != r]
    np.testing.assert_array_equal(model.m_a, [*before.m_a[kept], 0.0])
    expected = np.eye(5)
    expected[:4, :4] = before.Sigma_a[np.ix_(kept, kept)]
    np.testing.assert_array_equal(model.Sigma_a, expected)
    np.testing.assert_array_equal(model.m_be, before.m_be)
    np.testing.assert_array_equal(model.dropped, before.points[r])


def test_non_finite_rows_change_nothing():
    model = streamed(n=20)
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match="not finite"):
        model.step([np.nan, 0.0], 1)
    np.testing.assert_array_equal(model.m_a, before.m_a)
    assert len(model.points) == len(before.points)


def test_tolerance_of_the_iterations():
    short = last_step(0).learn(30, tol=1e-2)
    assert 1 < short.n_iterations < 30
    before, after = last_step(short.n_iterations - 1), last_step(short.n_iterations)
    np.testing.assert_array_equal(short.m_a, after.m_a)
    assert np.max(np.abs(after.m_f - before.m_f)) < 1e-2
    assert streamed(15, iteration_tol=1e-2).last.n_iterations < 30
