"""The naive transcription of the Bayesian rankers against its model, from outside.

The package itself takes no part in this: it shows that the transcription is worth comparing with. The lower bound is
compared with the densities of SciPy, and every update with the lower bound, of which it must be a maximum.
"""

import copy
import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from oracles import b2rmk as naive

FEW = [naive.gaussian(0.5), naive.gaussian(2.0), naive.polynomial(2)]
LABEL = {"start": "label", "prior_v": (10.0, 1.0), "prior_c": (10.0, 1.0)}
ROUNDING = 1e-9  # relative, of the lower bound

both_starts = pytest.mark.parametrize("options", [{}, LABEL, {"C": 0.1}, {"C": 3.0}], ids=str)


def problem(n, seed=0, d=2):
    """Overlapping classes in the square, one of each at the beginning."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    y[:2] = 1, -1
    X = rng.normal(size=(n, d))
    X[:, 0] += y > 0
    return np.clip(X / 2.0, -1.0, 1.0), y


def swept(n=10, sweeps=5, kernels=FEW, seed=0, learner=naive.B2RMK, **options):
    return learner(kernels, max_sweeps=sweeps, tol=0.0, **options).fit(*problem(n, seed))


@cache
def stream(n=30, seed=3, learner=naive.OB2RMK, **options):
    """A learner after the problem of n points; do not change it."""
    settings = {"budget": 6, "warm_up": 12, "max_sweeps": 20, **options}
    model = learner(FEW, **settings)
    for x, y in zip(*problem(n, seed), strict=True):
        model.step(x, y)
    return model


def streamed(n=30, **options):
    return copy.deepcopy(stream(n, **options))


def repeated(step, iterations, cls=naive.OnlineStep, **changes):
    """The same step from its beginning, with so many iterations."""
    old = {"m_t": step.m_t, "Sigma_t": step.Sigma_t, "m_be": step.m_be_t, "Sigma_be": step.Sigma_be_t}
    options = {"start": step.start, "prior_v": step.prior_v, "prior_c": step.prior_c}
    columns = {"K": step.K, "y": step.y, "C": step.C[0, 0]}
    return cls(**{**columns, **old, **options, **changes}).learn(iterations)


def last_step(iterations, **options):
    """The last step of a stream again."""
    return repeated(stream(**options).last, iterations)


def worst_fall(trace):
    """The largest relative fall of the bound, and the factor whose update did it."""
    falls = [((before - after) / abs(after), name) for (_, before), (name, after) in itertools.pairwise(trace)]
    return max(falls)


# ---- Section 1: kernels ----


def test_the_pool_has_18_kernels_of_length_one():
    rng = np.random.default_rng(0)
    kernels = naive.bayes_kernels()
    assert len(kernels) == 18
    for x, z in rng.normal(size=(20, 2, 4)):
        values = [k(x, z) for k in kernels]
        assert [k(x, x) for k in kernels] == [1.0] * 18
        assert values == [k(z, x) for k in kernels]
        for j, width in enumerate(2.0 ** np.arange(-6, 7)):
            assert values[j] == pytest.approx(math.exp(-(math.dist(x, z) ** 2) / (2 * width**2)), rel=1e-10)
        for q in range(1, 6):
            literal = (1 + x @ z) ** q / math.sqrt((1 + x @ x) ** q * (1 + z @ z) ** q)
            assert values[12 + q] == pytest.approx(literal, rel=1e-12)
        for wide, narrow in zip(values[1:13], values[:12], strict=True):
            assert narrow == pytest.approx(wide**4, rel=1e-8, abs=1e-300)  # section 11


def test_kernel_matrices_have_support_by_row_and_are_positive():
    X, _ = problem(8)
    for kernel, K in zip(naive.bayes_kernels(), naive.kernel_matrices(naive.bayes_kernels(), X, X[:3]), strict=True):
        assert K.shape == (8, 3)
        assert K[5, 2] == kernel(X[5], X[2])
    for K in naive.kernel_matrices(naive.bayes_kernels(), X, X):
        assert np.min(np.linalg.eigvalsh(K)) > -1e-12


# ---- Sections 2, 4, 6: laws ----


@pytest.mark.parametrize("C", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("u", [-2.0, -0.3, 0.4, 1.5])
def test_augmentation_integrates_to_the_pseudo_likelihood(C, u):
    def density(theta):
        return math.exp(-((theta + C * u) ** 2) / (2 * theta)) / math.sqrt(2 * math.pi * theta)

    middle = C * abs(u)
    area = quad(density, 0, middle, epsabs=1e-13)[0] + quad(density, middle, np.inf, epsabs=1e-13)[0]
    assert area == pytest.approx(math.exp(-2 * C * max(0.0, u)), rel=1e-8)


@pytest.mark.parametrize("p", [-0.25, 0.0, 0.5, 1.0])
@pytest.mark.parametrize("A, B", [(1.0, 1.0), (0.3, 4.0), (7.0, 0.02), (30.0, 20.0)])
def test_moments_of_the_generalized_inverse_gaussian(p, A, B):
    law = naive.GIG(p, A, B)

    def moment(k):
        def f(t):  # x = exp(t)
            return math.exp((p + k) * t - (A * math.exp(t) + B * math.exp(-t)) / 2 + law.s)

        return quad(f, -12, 12, points=[math.log(B / A) / 2], epsabs=1e-14, epsrel=1e-12, limit=200)[0]

    assert law.log_normalizer() == pytest.approx(math.log(moment(0)) - law.s, abs=1e-9)
    assert law.mean == pytest.approx(moment(1) / moment(0), rel=1e-8)
    assert law.mean_inverse == pytest.approx(moment(-1) / moment(0), rel=1e-8)


def test_closed_form_of_order_one_half_is_the_general_one():
    closed, general = naive.GIG(0.5, 0.7, 3.0), naive.GIG(np.nextafter(0.5, 1), 0.7, 3.0)
    for law in (closed, general):
        s = math.sqrt(0.7 * 3.0)
        assert law.mean == pytest.approx(math.sqrt(3.0 / 0.7) + 1 / 0.7, rel=1e-12)  # section 8.5, A = 2 <xi>
        assert law.mean_inverse == pytest.approx(math.sqrt(0.7 / 3.0), rel=1e-12)
        assert law.log_normalizer() == pytest.approx(math.log(2 * math.pi / 0.7) / 2 - s, rel=1e-12)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
def test_large_arguments_continue_small_ones(p):
    below, above = (naive.GIG(p, 1.0, s**2) for s in (1e5 * (1 - 1e-12), 1e5 * (1 + 1e-12)))
    assert above.mean == pytest.approx(below.mean, rel=1e-9)
    assert above.mean_inverse == pytest.approx(below.mean_inverse, rel=1e-9)
    assert above.log_normalizer() - below.log_normalizer() == pytest.approx(-2e-7, abs=1e-9)  # -s, no jump


def test_extreme_arguments_stay_finite():
    for A, B in itertools.product([0.0, 1e-200, 1.0, 1e50], repeat=2):
        law = naive.GIG(0.0, A, B)
        assert np.all(np.isfinite([law.mean, law.mean_inverse, law.log_normalizer()]))
        assert law.mean > 0 and law.mean_inverse > 0


def test_gamma_law():
    law, other = naive.Gamma(2.3, 0.7), stats.gamma(2.3, scale=1 / 0.7)
    assert law.mean == pytest.approx(other.mean())
    assert law.entropy() == pytest.approx(float(other.entropy()))
    assert law.mean_log == pytest.approx(other.expect(np.log))
    prior = stats.gamma(1.4, scale=1 / 3.0)
    expected = other.expect(prior.logpdf)
    assert naive.expected_log_gamma(law, 1.4, 3.0, math.log(3.0)) == pytest.approx(expected, rel=1e-7)


# ---- Section 6: the lower bound is what it says, by sampling from q ----


class Draws:
    """Draws from q, of which log p(everything) - log q is collected with the densities of SciPy."""

    def __init__(self, n, seed):
        self.n, self.rng, self.total = n, np.random.default_rng(seed), np.zeros(n)

    def known(self, log_density):
        self.total += log_density

    def gamma(self, factor):
        law = stats.gamma(factor.shape, scale=1.0 / np.asarray(factor.rate))
        return self._drawn(law, np.shape(factor.rate))

    def gig(self, p, A, B):
        A, B = np.broadcast_arrays(A, B)
        columns = [
            self._drawn(stats.geninvgauss(p, math.sqrt(a * b), scale=math.sqrt(b / a)), ())
            for a, b in zip(A.ravel(), B.ravel(), strict=True)
        ]
        return np.array(columns).T.reshape(self.n, *A.shape)

    def gaussian(self, m, Sigma):
        law = stats.multivariate_normal(m, Sigma)
        x = law.rvs(self.n, random_state=self.rng).reshape(self.n, len(m))
        self.total -= law.logpdf(x)
        return x

    def hierarchy(self, x, prior):
        """x ~ N(0, lambda), lambda ~ Ga(alpha, xi), xi ~ Ga(beta, phi), phi ~ Ga(1/2, eta), eta ~ Ga(1/2, 1)"""
        lam, xi = self.gig(prior.scale.p, prior.scale.A, prior.scale.B), self.gamma(prior.rate)
        phi, eta = self.gamma(prior.top), self.gamma(prior.top_rate)
        self.known(np.sum(stats.norm.logpdf(x, scale=np.sqrt(lam)), axis=1))
        self.known(np.sum(stats.gamma.logpdf(lam, prior.alpha, scale=1 / xi), axis=1))
        self.known(np.sum(stats.gamma.logpdf(xi, prior.beta, scale=1 / phi[:, None]), axis=1))
        self.known(stats.gamma.logpdf(phi, 0.5, scale=1 / eta) + stats.gamma.logpdf(eta, 0.5))

    def precision(self, factor, prior):
        x = self.gamma(factor)
        self.known(stats.gamma.logpdf(x, prior[0], scale=1 / prior[1]))
        return x

    def columns(self, model, a, be, v, c):
        """G, f, theta."""
        P, N, n = model.P, model.N, self.n
        G, f = np.zeros((n, P, N)), np.zeros((n, N))
        for i in range(N):
            G[:, :, i] = self.gaussian(model.M_G[:, i], model.Sigma_g)
            f[:, i] = self.gaussian(model.m_f[[i]], model.s_f[[i]][:, None])[:, 0]
            for m in range(P):
                self.known(stats.norm.logpdf(G[:, m, i], a @ model.K[m][:, i], 1 / np.sqrt(v)))
            self.known(stats.norm.logpdf(f[:, i], np.sum(be[:, 1:] * G[:, :, i], axis=1) + be[:, 0], 1 / np.sqrt(c)))
        theta = self.gig(0.5, np.ones_like(model.C), model.C**2 * model.chi)
        for (p, i), (q, j) in itertools.product(enumerate(model.positives), enumerate(model.negatives)):
            Cu = model.C[p, q] * (1 - f[:, i] + f[:, j])
            self.known(stats.norm.logpdf(-Cu, theta[:, p, q], np.sqrt(theta[:, p, q])))

    def _drawn(self, law, shape):
        x = law.rvs((self.n, *shape), random_state=self.rng)
        self.total -= law.logpdf(x).reshape(self.n, -1).sum(axis=1)
        return x

    def compare(self, bound, error):
        deviation = np.std(self.total) / math.sqrt(self.n)
        assert deviation < error  # or the comparison says little
        assert abs(np.mean(self.total) - bound) < 4 * deviation


def compare_batch(model, n=12_000, error=0.08):
    draws = Draws(n, seed=1)
    a, be = draws.gaussian(model.m_a, model.Sigma_a), draws.gaussian(model.m_be, model.Sigma_be)
    draws.hierarchy(a, model.prior_a)
    draws.hierarchy(be[:, 1:], model.prior_e)
    gamma = draws.precision(model.gamma, model.prior_gamma)
    draws.known(stats.norm.logpdf(be[:, 0], 0, 1 / np.sqrt(gamma)))
    v, c = draws.precision(model.v, model.prior_v), draws.precision(model.c, model.prior_c)
    draws.columns(model, a, be, v, c)
    draws.compare(model.bound(), error)


@pytest.mark.parametrize(
    "sweeps, weights, error", [(1, None, 0.3), (40, None, 0.08), (40, (2.0, 0.5, 1.0, 3.0, 1.5), 0.08)]
)
def test_lower_bound_of_the_batch_by_sampling(sweeps, weights, error):
    model = naive.B2RMK(FEW[1:], max_sweeps=sweeps, tol=0.0).fit(*problem(5), weights)
    compare_batch(model, error=error)


def test_lower_bound_holds_between_updates():
    model = swept(5, sweeps=3, kernels=FEW[1:])
    model.run(["f_positive", "a", "G", "xi", "be"])  # theta, lambda and the others are stale
    model.m_f[0] += 0.2
    compare_batch(model, error=0.3)


@pytest.mark.parametrize("options", [{}, LABEL | {"C": 3.0}], ids=str)
def test_step_objective_by_sampling(options):
    step = last_step(4, budget=3, **options)
    draws = Draws(12_000, seed=1)
    a, be = draws.gaussian(step.m_a, step.Sigma_a), draws.gaussian(step.m_be, step.Sigma_be)
    draws.known(stats.multivariate_normal(step.m_t, step.Sigma_t).logpdf(a[:, :-1]))
    draws.known(stats.multivariate_normal(step.m_be_t, step.Sigma_be_t).logpdf(be))
    draws.hierarchy(a[:, -1:], step.prior_newest)
    v, c = draws.precision(step.v, step.prior_v), draws.precision(step.c, step.prior_c)
    draws.columns(step, a, be, v, c)
    draws.compare(step.bound(), 0.08)


# ---- Sections 6, 8: no update lowers the bound; each is its maximum ----


@pytest.mark.parametrize("n, kernels, seed", [(2, FEW, 0), (10, FEW, 1), (25, None, 2)])
def test_no_update_of_the_batch_lowers_the_bound(n, kernels, seed):
    model = swept(n, sweeps=25, kernels=kernels, seed=seed, trace=True)
    assert len(model.trace) == 24 * len(model.SWEEP)
    assert worst_fall(model.trace)[0] < ROUNDING
    assert len(model.elbo) == 25
    assert np.all(np.diff(model.elbo) > 0)
    assert model.elbo[-1] == pytest.approx(sum(model.terms().values()), rel=1e-14)


@both_starts
def test_no_update_of_a_step_lowers_the_objective(options):
    falls = []

    class Watched(naive.OB2RMK):
        def learn(self, *args):
            super().learn(*args)
            falls.append(worst_fall(self.last.trace)[0])
            assert np.all(np.diff(self.last.objective) > -1e-12)

    stream(18, learner=Watched, trace=True, n_iterations=10, budget=7, **options)
    assert len(falls) == 6
    assert max(falls) < ROUNDING


def culprit_of(model, factor, spoil, sweep):
    """From a model near its optimum on, one update is wrong: the largest fall and the factor that did it."""
    model = copy.deepcopy(model)
    correct = getattr(model, f"update_{factor}")

    def update():
        correct()
        spoil(model)

    setattr(model, f"update_{factor}", update)
    model.trace = [("start", model.bound())]
    model.run([*sweep, *sweep])
    return worst_fall(model.trace)


def shift_f(model):
    model.m_f[model.positives] += 0.05


def rate_of(name):
    def spoil(model):
        getattr(model, name).rate *= 1.05

    return spoil


def scale(name, by):
    def spoil(model):
        setattr(model, name, getattr(model, name) * by)

    return spoil


def forget_the_two(model):
    model.prior_a.scale = naive.GIG(0.0, model.prior_a.rate.mean, model.a2())


def swap_the_arguments(model):
    model.prior_a.scale = naive.GIG(0.0, model.a2(), 2 * model.prior_a.rate.mean)


def forget_the_variance(model):
    model.prior_e.scale = naive.GIG(0.0, 2 * model.prior_e.rate.mean, model.e() ** 2)


def forget_the_trace(model):
    alpha, beta = model.prior_v
    rest = model.SSg() - np.trace(model.Sigma_a @ model.S)
    model.v = naive.Gamma(alpha + model.P * model.N / 2, beta + rest / 2)


MISTAKES = [
    ("v", rate_of("v")),
    ("v", forget_the_trace),
    ("f_positive", shift_f),
    ("be", scale("m_be", 1.01)),
    ("G", scale("Sigma_g", 1.1)),
    ("a", scale("m_a", 1.01)),
    ("c", rate_of("c")),
    ("gamma", rate_of("gamma")),
    ("theta", scale("chi", 1.2)),
    ("lambda", forget_the_two),
    ("lambda", swap_the_arguments),
    ("omega", forget_the_variance),
]


@pytest.mark.parametrize("factor, spoil", MISTAKES)
def test_a_wrong_update_of_the_batch_is_noticed(factor, spoil):
    model = settled_batch()
    assert culprit_of(model, factor, lambda _: None, model.SWEEP)[0] < ROUNDING
    fall, culprit = culprit_of(model, factor, spoil, model.SWEEP)
    assert fall > 1e-6
    assert culprit == factor


@cache
def settled_batch():
    return swept(10, sweeps=400)


@pytest.mark.parametrize(
    "factor, spoil",
    [("v", rate_of("v")), ("f_positive", shift_f), ("be", scale("m_be", 1.01)), ("a", scale("m_a", 1.01))],
)
def test_a_wrong_update_of_a_step_is_noticed(factor, spoil):
    step = settled_step()
    assert culprit_of(step, factor, lambda _: None, step.FROM_SCORES)[0] < ROUNDING
    fall, culprit = culprit_of(step, factor, spoil, step.FROM_SCORES)
    assert fall > 1e-6
    assert culprit == factor


@cache
def settled_step():
    return last_step(200)


def disturbed(model, factor, rng, size):
    """A copy with the parameters of one factor moved a little, within its family."""

    def near(x):
        return x * np.exp(size * rng.normal(size=np.shape(x)))

    def moved(m, Sigma):
        L, n = np.linalg.cholesky(Sigma), len(Sigma)
        E = np.eye(n) + size * rng.normal(size=(n, n))
        return m + size * (L @ rng.normal(size=m.shape)), L @ E @ E.T @ L.T

    model = copy.deepcopy(model)
    if factor in ("a", "be"):
        m, Sigma = moved(getattr(model, f"m_{factor}"), getattr(model, f"Sigma_{factor}"))
        setattr(model, f"m_{factor}", m)
        setattr(model, f"Sigma_{factor}", Sigma)
    elif factor == "G":
        model.M_G, model.Sigma_g = moved(model.M_G, model.Sigma_g)
    elif factor in ("v", "c", "gamma"):
        old = getattr(model, factor)
        setattr(model, factor, naive.Gamma(near(old.shape), near(old.rate)))
    elif factor == "theta":
        model.chi = near(model.chi)
    elif factor.startswith("f_"):
        side = model.positives if factor == "f_positive" else model.negatives
        model.m_f[side] += size * np.sqrt(model.s_f[side]) * rng.normal(size=len(side))
        model.s_f[side] = near(model.s_f[side])
    else:
        a_names, e_names = ["lambda", "xi", "phi", "eta"], ["omega", "vphi", "rho", "tau"]
        hierarchy = getattr(model, "prior_newest", None) or (model.prior_a if factor in a_names else model.prior_e)
        part = ["scale", "rate", "top", "top_rate"][(a_names + e_names).index(factor) % 4]
        old = getattr(hierarchy, part)
        new = naive.GIG(old.p, near(old.A), near(old.B)) if part == "scale" else None
        setattr(hierarchy, part, new or naive.Gamma(near(old.shape), near(old.rate)))
    return model


def assert_maximum(model, factor):
    rng = np.random.default_rng(0)
    getattr(model, f"update_{factor}")()
    top = model.bound()
    for size in (0.3, 0.01):
        for _ in range(4):
            assert disturbed(model, factor, rng, size).bound() < top, factor
    # the derivatives vanish: both directions of a small move lose the same
    rng_a, rng_b = np.random.default_rng(1), np.random.default_rng(1)
    h = 1e-3
    up, down = disturbed(model, factor, rng_a, h).bound() - top, disturbed(model, factor, rng_b, -h).bound() - top
    assert up == pytest.approx(down, rel=0.1, abs=1e-9), factor


@pytest.mark.parametrize("sweeps", [1, 8])
def test_every_update_of_the_batch_is_a_maximum(sweeps):
    model = swept(9, sweeps=sweeps)
    for factor in model.SWEEP:
        assert_maximum(model, factor)


@both_starts
def test_every_update_of_a_step_is_a_maximum(options):
    step = last_step(2, **options)
    for factor in step.FROM_SCORES:
        assert_maximum(step, factor)


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
    model = naive.OB2RMK(FEW, warm_up=10, max_sweeps=5)
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
    model = naive.OB2RMK(FEW, max_sweeps=5)
    for x, label in zip(X, y, strict=True):
        model.step(x, label)
    assert model.m_a is None
    model.finish()
    np.testing.assert_array_equal(model.scores(X), swept(12).scores(X))
    model.finish()
    assert len(model.points) == 12


def test_batch_larger_than_the_buffers_is_cut_down():
    X, y = problem(30)
    model = naive.OB2RMK(FEW, warm_up=30, budget=4, max_sweeps=20)
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
        np.testing.assert_array_equal(step.K, naive.kernel_matrices(FEW, support, columns))
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


class LowRankStep(naive.OnlineStep):
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
    class LowRank(naive.OB2RMK):
        step_class = LowRankStep

    direct, low_rank = (streamed(72, learner=learner, n_iterations=6, **options) for learner in (naive.OB2RMK, LowRank))
    X, _ = problem(50, seed=9)
    np.testing.assert_allclose(low_rank.scores(X), direct.scores(X), rtol=0, atol=1e-9)  # after 60 steps
    np.testing.assert_allclose(low_rank.Sigma_a, direct.Sigma_a, rtol=0, atol=1e-9)
    step = low_rank.last
    step.update_a()
    np.testing.assert_allclose(step.low_rank_Z, step.Z(), rtol=1e-10)
    assert step.low_rank_trace == pytest.approx(np.trace(step.Sigma_a @ step.S), rel=1e-10)


def test_state_stays_a_covariance():
    model = streamed(72, learner=naive.OB2RMK, n_iterations=6)
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
    class Mirrored(naive.OnlineStep):
        FROM_SCORES, FROM_LABEL = (
            tuple({"f_positive": "f_negative", "f_negative": "f_positive"}.get(name, name) for name in order)
            for order in (naive.OnlineStep.FROM_SCORES, naive.OnlineStep.FROM_LABEL)
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
    one, two = (naive.OB2RMK(FEW, budget=6, warm_up=12, max_sweeps=5, n_iterations=5, C=C) for C in (1.0, 3.0))
    for n, (x, label) in enumerate(zip(X, y, strict=True)):
        one.step(x, label, 1.0 if n < 12 else 3.0)  # the batch has C = 1 in both
        two.step(x, label)
    np.testing.assert_array_equal(one.scores(X), two.scores(X))


def test_weight_zero_is_not_seen():
    X, y = problem(40, seed=3)
    one, two = (naive.OB2RMK(FEW, budget=6, warm_up=12, max_sweeps=5, n_iterations=5) for _ in range(2))
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
