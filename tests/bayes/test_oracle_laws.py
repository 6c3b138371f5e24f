"""The naive transcription of the Bayesian rankers, from outside: kernels, laws, and the lower bound by sampling.

The package itself takes no part in this: it shows that the transcription is worth comparing with.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from bayes.problems import FEW, LABEL, last_step, problem, swept
from oracles import b2rmk as naive
from oracles import laws

# ---- Section 1: kernels ----


def test_the_pool_has_18_kernels_of_length_one():
    rng = np.random.default_rng(0)
    kernels = laws.bayes_kernels()
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
    for kernel, K in zip(laws.bayes_kernels(), laws.kernel_matrices(laws.bayes_kernels(), X, X[:3]), strict=True):
        assert K.shape == (8, 3)
        assert K[5, 2] == kernel(X[5], X[2])
    for K in laws.kernel_matrices(laws.bayes_kernels(), X, X):
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
    law = laws.GIG(p, A, B)

    def moment(k):
        def f(t):  # x = exp(t)
            return math.exp((p + k) * t - (A * math.exp(t) + B * math.exp(-t)) / 2 + law.s)

        return quad(f, -12, 12, points=[math.log(B / A) / 2], epsabs=1e-14, epsrel=1e-12, limit=200)[0]

    assert law.log_normalizer() == pytest.approx(math.log(moment(0)) - law.s, abs=1e-9)
    assert law.mean == pytest.approx(moment(1) / moment(0), rel=1e-8)
    assert law.mean_inverse == pytest.approx(moment(-1) / moment(0), rel=1e-8)


def test_closed_form_of_order_one_half_is_the_general_one():
    closed, general = laws.GIG(0.5, 0.7, 3.0), laws.GIG(np.nextafter(0.5, 1), 0.7, 3.0)
    for law in (closed, general):
        s = math.sqrt(0.7 * 3.0)
        assert law.mean == pytest.approx(math.sqrt(3.0 / 0.7) + 1 / 0.7, rel=1e-12)  # section 8.5, A = 2 <xi>
        assert law.mean_inverse == pytest.approx(math.sqrt(0.7 / 3.0), rel=1e-12)
        assert law.log_normalizer() == pytest.approx(math.log(2 * math.pi / 0.7) / 2 - s, rel=1e-12)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
def test_large_arguments_continue_small_ones(p):
    below, above = (laws.GIG(p, 1.0, s**2) for s in (1e5 * (1 - 1e-12), 1e5 * (1 + 1e-12)))
    assert above.mean == pytest.approx(below.mean, rel=1e-9)
    assert above.mean_inverse == pytest.approx(below.mean_inverse, rel=1e-9)
    assert above.log_normalizer() - below.log_normalizer() == pytest.approx(-2e-7, abs=1e-9)  # -s, no jump


def test_extreme_arguments_stay_finite():
    for A, B in itertools.product([0.0, 1e-200, 1.0, 1e50], repeat=2):
        law = laws.GIG(0.0, A, B)
        assert np.all(np.isfinite([law.mean, law.mean_inverse, law.log_normalizer()]))
        assert law.mean > 0 and law.mean_inverse > 0


def test_gamma_law():
    law, other = laws.Gamma(2.3, 0.7), stats.gamma(2.3, scale=1 / 0.7)
    assert law.mean == pytest.approx(other.mean())
    assert law.entropy() == pytest.approx(float(other.entropy()))
    assert law.mean_log == pytest.approx(other.expect(np.log))
    prior = stats.gamma(1.4, scale=1 / 3.0)
    expected = other.expect(prior.logpdf)
    assert laws.expected_log_gamma(law, 1.4, 3.0, math.log(3.0)) == pytest.approx(expected, rel=1e-7)


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
