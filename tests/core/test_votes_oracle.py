"""BOMKC and OMKC against transcriptions of their specification.

Compared are the vote on every example before it is learned, every kernel's support points (exactly, positives from old
to new, then negatives) and their weights, the votes on fresh points, and the weights of the kernels. Both sides draw
from the same seed.

No point occurs twice: weights of +1 and -1 at the same point cancel, and the sign of what remains, which is the vote,
is rounding.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from core.agreement import KERNELS, TOLERANCE, clusters, difference, disagreement, learned_scores, naive_scores
from lopsided import BOMKC, OMKC
from lopsided.core.pointwise.expansion import SCALE
from oracles import multiple_kernels as naive

SEED = 13
POOL = ["gaussian", "polynomial", "narrow gaussian", "linear"]
UNBOUNDED = [("U", "perceptron"), ("DD", "perceptron"), ("DD", "pa"), ("SD", "perceptron"), ("SD", "pa")]
BOUNDED = [(variant, base) for variant in ("DD", "SD") for base in ("rbp", "forgetron", "bogd", "bpas")]
every_form = pytest.mark.parametrize("variant, base", UNBOUNDED + BOUNDED)
every_bounded_form = pytest.mark.parametrize("variant, base", BOUNDED)


class Member:
    """One kernel of a naive vote in the words of `core.agreement`."""

    def __init__(self, member, classes, n_features):
        self.member, self.classes, self.n_features = member, classes, n_features

    def points(self):
        return np.array([point for point, _ in self.member.support()]).reshape(-1, self.n_features)

    def weights(self):
        return np.array([weight for _, weight in self.member.support()])

    def labels(self):
        return np.array([self.classes[point.tobytes()] for point in self.points()])


class Remembering:
    """A naive vote that remembers the class of every point that its kernels may have kept."""

    def __init__(self, model, n_features=3):
        self.model, self.classes = model, {}
        self.members = [Member(member, self.classes, n_features) for member in model.members]

    def step(self, x, y, weight=1.0):
        assert self.classes.setdefault(x.tobytes(), y) == y
        return self.model.step(x, y, weight)

    def score(self, x):
        return self.model.score(x)


def both(learner, pool=POOL, **parameters):
    """A learner and the naive vote with the same parameters and seed."""
    oracle = {BOMKC: naive.BOMKC, OMKC: naive.OMKC}[learner]
    return (
        learner([KERNELS[name].real for name in pool], random_state=SEED, **parameters),
        Remembering(oracle([KERNELS[name].naive for name in pool], seed=SEED, **parameters)),
    )


def budgeted(base, budget):
    return {"budget": budget} if base not in ("perceptron", "pa") else {}


def theta_difference(learner, model):
    return float(np.abs(learner.kernel_weights_ - model.model.theta).max())


def check(learner, model, X, y):
    """The two models agree, and so do the weights of their kernels."""
    assert disagreement(learner, model, X, y) < TOLERANCE
    assert theta_difference(learner, model) < TOLERANCE
    assert learner.n_diverged_ == 0


# ---- BOMKC ----


@pytest.mark.parametrize(
    "options",
    [{}, {"strict": True}, {"unit_norm": True, "zero_vote": -1}, {"strict": True, "unit_norm": True, "zero_vote": 0}],
    ids=str,
)
def test_bomkc_is_the_naive_one(options):
    learner, model = both(BOMKC, sampling_scale=10.0, **options)
    check(learner, model, *clusters(2000))
    assert all(10 <= len(points) <= 300 for points in learner.support_vectors_)


@pytest.mark.parametrize("zero_vote", [1, 0, -1])
@pytest.mark.parametrize("unit_norm", [False, True], ids=["own norm", "unit norm"])
@pytest.mark.parametrize("strict", [False, True], ids=["zero is wrong", "strict"])
def test_bomkc_with_any_options_is_the_naive_one(strict, unit_norm, zero_vote):
    learner, model = both(BOMKC, strict=strict, unit_norm=unit_norm, zero_vote=zero_vote)
    check(learner, model, *clusters(300, seed=11))


@pytest.mark.parametrize(
    "parameters",
    [
        {"discount": 0.7, "exploration": 0.1},
        {"discount": 1.0},
        {"exploration": 0.0, "discount": 0.9},
        {"exploration": 1.0},
        {"loss_cap": 0.3, "learning_rate": 1.0},
        {"loss_cap": 3.0},
    ],
    ids=str,
)
def test_bomkc_with_any_numbers_is_the_naive_one(parameters):
    learner, model = both(BOMKC, **parameters)
    check(learner, model, *clusters(300, seed=1))


def test_bomkc_with_kernels_that_say_exactly_nothing_is_the_naive_one():
    X, y = clusters(400, seed=2)
    learner, model = both(BOMKC, strict=True, zero_vote=-1)
    check(learner, model, 50.0 * X, y)  # k(x, z) underflows to 0 for both Gaussians
    assert (np.array(learner._stack.tally)[[0, 2], 0] > 20).all()


def test_bomkc_with_the_published_pool_is_the_naive_one():
    learner = BOMKC(random_state=SEED)
    check(learner, Remembering(naive.BOMKC(naive.default_kernels(), seed=SEED)), *clusters(400, seed=5))
    assert len(learner.support_vectors_) == 16


# ---- OMKC ----


@every_form
def test_omkc_is_the_naive_one(variant, base):
    # Kernels without a budget keep what they get wrong: three kernels and classes further apart, for few vectors.
    X, y = clusters(2000)
    X[y > 0] += 0.7
    learner, model = both(OMKC, POOL[:3], variant=variant, base=base, **budgeted(base, 36))
    check(learner, model, X, y)
    assert learner.n_support_ == 36 if base not in ("perceptron", "pa") else learner.n_support_ > 100


@pytest.mark.parametrize(
    "options",
    [
        {"strict": True, "zero_vote": -1},
        {"unit_norm": True, "zero_vote": 0},
        {"discount": 0.8, "exploration": 0.1},
        {"learning_rate": 0.5, "C": 0.5, "regularization": 0.1},
    ],
    ids=str,
)
@every_form
def test_omkc_with_any_options_is_the_naive_one(variant, base, options):
    learner, model = both(OMKC, variant=variant, base=base, **budgeted(base, 30), **options)
    check(learner, model, *clusters(150, seed=3))


@pytest.mark.parametrize("budget", [1, 2, 5, 12, 200])
@every_bounded_form
def test_omkc_with_any_budget_is_the_naive_one(variant, base, budget):
    # Fewer vectors than kernels: in DD nobody has room, in SD who comes too late has nothing to give away.
    learner, model = both(OMKC, variant=variant, base=base, budget=budget)
    check(learner, model, *clusters(130, seed=4))
    held = [len(points) for points in learner.support_vectors_]
    if variant == "DD":
        assert max(held) <= budget // 4
    elif budget < 4:
        assert sum(held) == budget and min(held) == 0


@pytest.mark.parametrize("variant, base", [("SD", "pa"), ("SD", "rbp"), ("DD", "forgetron"), ("DD", "bpas")])
def test_omkc_with_the_published_pool_is_the_naive_one(variant, base):
    parameters = {"variant": variant, "base": base, **budgeted(base, 80)}
    learner = OMKC(random_state=SEED, **parameters)
    check(learner, Remembering(naive.OMKC(naive.default_kernels(), seed=SEED, **parameters)), *clusters(300, seed=5))


@pytest.mark.parametrize("product", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("variant", ["DD", "SD"])
def test_folding_the_scale_is_not_seen_from_outside(variant, product):
    learner, model = both(
        OMKC, variant=variant, base="bogd", budget=30, learning_rate=0.5, regularization=2.0 * product
    )
    check(learner, model, *clusters(800, seed=6))
    assert (np.abs(learner._stack.levels[:, SCALE]) >= 1e-100).all()


# ---- Both ----

FORMS = [(BOMKC, {})] + [(OMKC, {"variant": v, "base": b, **budgeted(b, 30)}) for v, b in UNBOUNDED + BOUNDED]
every_learner = pytest.mark.parametrize("learner, parameters", FORMS, ids=[str(list(p.values())) for _, p in FORMS])


@every_learner
def test_sample_weights_multiply_the_step_and_zero_skips_the_row(learner, parameters):
    X, y = clusters(400, seed=7)
    weights = np.random.default_rng(7).choice([0.0, 0.5, 1.0, 2.0], size=400)
    learner, model = both(learner, **parameters)
    learner.partial_fit(X, y, classes=[-1, 1], sample_weight=weights)
    naive_scores(model, X, y, weights)
    assert difference(learner, np.zeros(0), model, np.zeros(0)) < TOLERANCE
    assert theta_difference(learner, model) < TOLERANCE


def thin(n, seed, n_features=3):
    """Rows of which half of the entries are 0, beyond the first two: no row is a multiple of another."""
    X, y = clusters(n, seed, n_features)
    X[:, 2:] *= np.random.default_rng(seed).random((n, n_features - 2)) < 0.5
    return X, y


@every_learner
def test_sparse_rows_give_the_model_of_dense_ones(learner, parameters):
    X, y = thin(1000, seed=8, n_features=6)
    dense, sparse = both(learner, **parameters)[0], both(learner, **parameters)[0]
    expected = dense.progressive_scores(X, y, classes=[-1, 1])
    np.testing.assert_allclose(sparse.progressive_scores(sp.csr_array(X), y, [-1, 1]), expected, rtol=0, atol=1e-10)
    for points, others in zip(sparse.support_vectors_, dense.support_vectors_, strict=True):
        np.testing.assert_array_equal(points, others)
    for weights, others in zip(sparse.support_weights_, dense.support_weights_, strict=True):
        np.testing.assert_allclose(weights, others, rtol=0, atol=1e-10)
    np.testing.assert_allclose(sparse.kernel_weights_, dense.kernel_weights_, rtol=0, atol=1e-10)


@every_learner
def test_sparse_and_dense_batches_that_take_turns_are_the_naive_model(learner, parameters):
    X, y = thin(200, seed=9)
    learner, model = both(learner, **parameters)
    forms = [sp.csr_array, np.asarray]
    scores = [
        learner.progressive_scores(forms[start // 20 % 2](X[start : start + 20]), y[start : start + 20], [-1, 1])
        for start in range(0, 200, 20)
    ]
    assert difference(learner, np.concatenate(scores), model, naive_scores(model, X, y)) < TOLERANCE


@every_learner
def test_kernels_hold_a_shared_point_once_and_free_it_when_the_last_lets_go(learner, parameters):
    learner, _ = both(learner, **parameters)
    X, y = clusters(400, seed=10)
    for start in range(0, 400, 50):
        learner.partial_fit(X[start : start + 50], y[start : start + 50])
        pool, used = learner._pool, [len(points) for points in learner.support_vectors_]
        held = pool.columns[pool.columns >= 0]
        assert held.size == sum(used) == learner.n_support_
        np.testing.assert_array_equal(np.bincount(held, minlength=pool.holders.size), pool.holders)
        free = pool.free[: pool.free_count[0]]
        np.testing.assert_array_equal(np.sort(free), np.flatnonzero(pool.holders == 0))
    assert pool.holders.max() > 1


# ---- The comparison sees what it should see ----


@pytest.mark.parametrize(
    "learner, parameters, change",
    [
        (BOMKC, {}, {"strict": True}),
        (BOMKC, {}, {"unit_norm": True}),
        (BOMKC, {}, {"zero_vote": -1}),
        (BOMKC, {}, {"discount": 0.989}),
        (BOMKC, {}, {"exploration": 0.5}),
        (BOMKC, {}, {"sampling_scale": 3.1}),
        (BOMKC, {}, {"seed": SEED + 1}),
        (OMKC, {}, {"variant": "U"}),
        (OMKC, {}, {"variant": "SD"}),
        (OMKC, {"base": "pa"}, {"learning_rate": 0.1001}),
        (OMKC, {"base": "pa"}, {"unit_norm": True}),
        (OMKC, {"variant": "SD"}, {"seed": SEED + 1}),
        (OMKC, {"base": "rbp", "budget": 30}, {"seed": SEED + 1}),
        (OMKC, {"base": "rbp", "budget": 30}, {"variant": "SD"}),
        (OMKC, {"base": "rbp", "budget": 32}, {"budget": 31}),
        (OMKC, {"base": "rbp", "budget": 30, "variant": "SD"}, {"budget": 31}),
        (OMKC, {"base": "forgetron", "budget": 32}, {"base": "rbp"}),
        (OMKC, {"base": "bogd", "budget": 30}, {"removal": "uniform"}),
        (OMKC, {"base": "bogd", "budget": 30}, {"regularization": 1.1e-3}),
        (OMKC, {"base": "bpas", "budget": 30}, {"C": 0.1001}),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else value.__name__,
)
def test_the_comparison_notices_another_rule(learner, parameters, change):
    oracle = {BOMKC: naive.BOMKC, OMKC: naive.OMKC}[learner]
    real, _ = both(learner, **parameters)
    model = Remembering(oracle([KERNELS[name].naive for name in POOL], **({"seed": SEED} | parameters | change)))
    apart = disagreement(real, model, *clusters(300))
    assert max(apart, theta_difference(real, model)) > TOLERANCE


class DiscountsFirst(naive.BOMKC):
    """Probabilities from the weights after the discount, as the authors' program has it."""

    def step(self, x, y, weight=1.0):
        self.wrong_ones = np.array([self.wrong(y, F) for F in self.scores(x)])
        return super().step(x, y, weight)

    def probabilities(self):
        before = self.theta
        self.theta = before * np.where(getattr(self, "wrong_ones", False), self.discount, 1.0)
        p = super().probabilities()
        self.theta = before
        return p


class StepsByTheTrial(naive.BOMKC):
    """The step size uses the probability of the whole trial, rho p, instead of rho."""

    def step(self, x, y, weight=1.0):
        before = [len(member.points) for member in self.members]
        F, p = self.scores(x), self.probabilities()
        reported = super().step(x, y, weight)
        for member, n, score, chance in zip(self.members, before, F, p, strict=True):
            if len(member.points) > n:
                loss = max(0.0, 1.0 - y * score)
                rho = min(self.loss_cap, loss) / self.sampling_scale
                member.a[-1] = y * member.tau(weight * self.learning_rate / (rho * chance), loss, x)
        return reported


class ShrinksOnlyWhoLearns(naive.OMKC):
    """BOGD in SD: kernels that lost the toss keep their weights."""

    def step(self, x, y, weight=1.0):
        state = self.rng.bit_generator.state
        losers = np.array(self.uniforms()) >= self.probabilities()
        self.rng.bit_generator.state = state
        kept = [list(member.a) for member in self.members]
        reported = super().step(x, y, weight)
        for member, loses, a in zip(self.members, losers, kept, strict=True):
            member.a = a if loses else member.a
        return reported


@pytest.mark.parametrize(
    "learner, wrong, parameters",
    [
        (BOMKC, DiscountsFirst, {"exploration": 0.0, "discount": 0.5}),
        (BOMKC, StepsByTheTrial, {}),
        (OMKC, ShrinksOnlyWhoLearns, {"variant": "SD", "base": "bogd", "budget": 30, "discount": 0.9}),
    ],
)
def test_the_comparison_notices_a_subtle_fault(learner, wrong, parameters):
    real, model = both(learner, **parameters)
    check(real, model, *clusters(300))
    real, _ = both(learner, **parameters)
    model = Remembering(wrong([KERNELS[name].naive for name in POOL], seed=SEED, **parameters))
    apart = disagreement(real, model, *clusters(300))
    assert max(apart, theta_difference(real, model)) > TOLERANCE


def test_the_comparison_notices_a_single_weight_of_a_single_kernel():
    X, y = clusters(200)
    learner, model = both(BOMKC)
    scores, expected = learned_scores(learner, X, y), naive_scores(model, X, y)
    assert difference(learner, scores, model, expected) < TOLERANCE
    learner._stack.weights[2, 0] += 1e-7 / learner._stack.levels[2, SCALE]
    assert difference(learner, scores, model, expected) > TOLERANCE
