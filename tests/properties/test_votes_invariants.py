"""What must hold for BOMKC and OMKC: the invariants of their specification that speak of several kernels, by number.

Those of one kernel are in `test_sampling_invariants.py`, `test_budget_invariants.py` and
`test_kernel_learner_invariants.py`. Streams and learners have different seeds.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from core.agreement import clusters
from lopsided import BOGD, BOMKC, BPAS, OMKC, RBP, SPA, Forgetron, KernelPA, KernelPerceptron
from lopsided.checks import check_batch_equals_loop, check_pickling, check_saving_and_loading
from lopsided.constraints import ParameterError
from lopsided.estimators.base.randomness import UniformStream
from lopsided.kernels import Gaussian, Linear, Normalized, Polynomial
from properties.generated import KERNELS, streams
from properties.going_on import CLASSES, one_by_one
from properties.inspection import bytes_of

SEED = 4321
POOL = [Gaussian(gamma=0.7), Polynomial(2, 0.5), Gaussian(gamma=30.0), Linear()]
BOUNDED = [(variant, base) for variant in ("DD", "SD") for base in ("rbp", "forgetron", "bogd", "bpas")]
UNBOUNDED = [("U", "perceptron"), ("DD", "perceptron"), ("DD", "pa"), ("SD", "perceptron"), ("SD", "pa")]
VOTERS = {
    "BOMKC": BOMKC(POOL, sampling_scale=1.5),
    "BOMKC, published pool": BOMKC(),
    **{f"{variant} {base}": OMKC(POOL, variant, base) for variant, base in UNBOUNDED},
    **{f"{variant} {base}": OMKC(POOL, variant, base, budget=22) for variant, base in BOUNDED},
}
every_voter = pytest.mark.parametrize("name", VOTERS)


def make(name, **changes):
    return clone(VOTERS[name]).set_params(random_state=SEED, **changes)


def held(learner):
    """How many vectors each kernel holds."""
    return np.array([len(points) for points in learner.support_vectors_])


def assert_same_vectors(one, other):
    for points, others in zip(one.support_vectors_, other.support_vectors_, strict=True):
        np.testing.assert_array_equal(points, others)


# ---- 5: the weights of the kernels, and their chances ----


def kernel_scores(learner, x):
    """F_i, computed from outside of the learner."""
    parts = zip(learner.kernels, learner.support_vectors_, learner.support_weights_, strict=True)
    return np.array([float(kernel(x[None], points)[0] @ weights) for kernel, points, weights in parts])


@pytest.mark.parametrize("exploration", [0.0, 0.001, 0.3])
@pytest.mark.parametrize("name", ["BOMKC", "SD perceptron", "SD pa"])
def test_5_weights_are_shares_and_a_kernel_learns_when_its_uniform_is_below_its_chance(name, exploration):
    X, y = clusters(250)
    learner = make(name, exploration=exploration, discount=0.9)
    uniforms = np.random.default_rng(SEED).random((250, 4))
    learner.partial_fit(X[:1], y[:1], classes=CLASSES)
    lost = 0
    for t in range(1, 250):
        F, theta, before = kernel_scores(learner, X[t]), learner.kernel_weights_, held(learner)
        chance = (1.0 - exploration) * (theta / theta.max()) + exploration
        assert (exploration <= chance).all() and (chance <= 1.0).all() and chance[theta.argmax()] == 1.0
        learner.learn_one(X[t], y[t])
        losses, wrong = np.maximum(0.0, 1.0 - y[t] * F), y[t] * F <= 0.0
        if name == "BOMKC":
            gains, discounted = uniforms[t] < np.minimum(1.0, losses) / 1.5 * chance, wrong
        else:
            wins = uniforms[t] < chance
            gains, discounted = wins & (wrong if name == "SD perceptron" else losses > 0.0), wins & wrong
            lost += (wrong & ~wins).sum()
        np.testing.assert_array_equal(held(learner) - before, gains)
        theta = theta * np.where(discounted, 0.9, 1.0)
        np.testing.assert_allclose(learner.kernel_weights_, theta / theta.sum(), rtol=1e-12)
        assert learner.kernel_weights_.sum() == pytest.approx(1.0, abs=1e-12)
        assert (learner.kernel_weights_ > 0.0).all()
    assert lost > 20 or name == "BOMKC"


class LargestUniform:
    """Stands in for a generator that draws nothing but the largest number below 1."""

    def random(self, n):
        return np.full(n, np.nextafter(1.0, 0.0))


@pytest.mark.parametrize("exploration", [0.0, 0.001, 0.01, 0.1, 0.3, 0.7])
def test_5_the_chance_of_the_heaviest_kernel_is_one_exactly(exploration):
    X, y = clusters(300)
    learner = make("SD perceptron", exploration=exploration, discount=0.9)
    learner.partial_fit(X[:1], y[:1], classes=CLASSES, sample_weight=[0.0])  # begun, nothing learned
    learner._uniforms = UniformStream(LargestUniform())
    learned = 0
    for t in range(300):
        theta, before = learner.kernel_weights_, held(learner)
        wrong = y[t] * kernel_scores(learner, X[t]) <= 0.0
        learner.learn_one(X[t], y[t])
        np.testing.assert_array_equal(held(learner) - before, wrong & (theta == theta.max()))
        learned += (held(learner) - before).sum()
    assert learned > 20


@given(
    streams(),
    st.sampled_from(sorted(VOTERS)),
    st.lists(st.sampled_from(KERNELS), min_size=1, max_size=4),
    st.sampled_from([0.3, 0.99, 1.0]),
)
def test_5_weights_of_kernels_are_positive_and_sum_to_one(stream, name, pool, discount):
    learner = make(name, kernels=pool, discount=discount)
    scores = [learner.score_one(stream.X[t]) for t in one_by_one(learner, *stream)]
    theta = learner.kernel_weights_
    assert (theta > 0.0).all() and theta.sum() == pytest.approx(1.0, abs=1e-12)
    assert (np.abs(scores) <= 1.0 + 1e-12).all()  # a vote is an average of signs


@pytest.mark.parametrize("name", ["BOMKC", "SD perceptron", "DD bpas"])
def test_5_a_weight_that_underflows_leaves_the_others_as_they_are(name):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 2))
    y = np.where(X[:, 0] > 0.0, 1, -1)
    # The kernel that always says 0 is always wrong.
    learner = make(name, kernels=[Linear(), Gaussian(gamma=1e12)], discount=0.5, exploration=0.9)
    scores = learner.progressive_scores(X, y, classes=CLASSES)
    theta = learner.kernel_weights_
    assert theta[0] == 1.0 and theta[1] == 0.0
    assert np.isfinite(scores).all() and np.mean((scores[1000:] > 0) == (y[1000:] > 0)) > 0.95


def test_5_if_every_kernel_may_always_learn_sd_is_dd():
    X, y = clusters(300)
    sd, dd = make("SD perceptron", exploration=1.0), make("DD perceptron")
    np.testing.assert_array_equal(
        sd.progressive_scores(X, y, classes=CLASSES), dd.progressive_scores(X, y, classes=CLASSES)
    )
    assert_same_vectors(sd, dd)
    other = make("SD perceptron", exploration=0.5).partial_fit(X, y, classes=CLASSES)
    assert other.n_support_ < dd.n_support_


# ---- 6: one kernel ----

ALONE = {
    "U perceptron": (OMKC(variant="U"), KernelPerceptron()),
    "DD perceptron": (OMKC(), KernelPerceptron()),
    "SD perceptron": (OMKC(variant="SD"), KernelPerceptron()),  # the chance of the heaviest is 1
    "DD pa": (OMKC(base="pa", learning_rate=0.3), KernelPA(C=0.3)),
    "SD pa": (OMKC(variant="SD", base="pa", learning_rate=0.3), KernelPA(C=0.3)),
    "BOMKC": (BOMKC(sampling_scale=2.0), SPA(sampling_scale=2.0, average=False)),
    "DD rbp": (OMKC(base="rbp", budget=5), RBP(budget=5)),
    "DD forgetron": (OMKC(base="forgetron", budget=5), Forgetron(budget=5)),
    "SD forgetron": (OMKC(variant="SD", base="forgetron", budget=5), Forgetron(budget=5)),
    "DD bogd": (OMKC(base="bogd", budget=5, regularization=0.1), BOGD(budget=5, regularization=0.1)),
    "SD bogd": (OMKC(variant="SD", base="bogd", budget=5, regularization=0.1), BOGD(budget=5, regularization=0.1)),
    "DD bpas": (OMKC(base="bpas", budget=5, C=0.4), BPAS(budget=5, C=0.4)),
    "SD bpas": (OMKC(variant="SD", base="bpas", budget=5, C=0.4), BPAS(budget=5, C=0.4)),
}


@given(
    streams(kinds=("free",)),
    st.sampled_from(sorted(ALONE)),
    st.sampled_from(KERNELS),
    st.integers(0, 99),
    st.booleans(),
)
def test_6_a_vote_of_one_kernel_is_the_learner_of_that_kernel(stream, name, kernel, seed, strict):
    voter, alone = (clone(learner).set_params(random_state=seed) for learner in ALONE[name])
    voter.set_params(kernels=[kernel], zero_vote=0, strict=strict)
    alone.set_params(kernel=kernel)
    votes = voter.progressive_scores(*stream, classes=CLASSES)
    np.testing.assert_array_equal(votes, np.sign(alone.progressive_scores(*stream, classes=CLASSES)))
    (points,), (weights,) = voter.support_vectors_, voter.support_weights_
    np.testing.assert_array_equal(points, alone.support_vectors_)
    np.testing.assert_array_equal(weights, alone.support_weights_)
    np.testing.assert_array_equal(voter.kernel_weights_, 1.0)


def test_6_other_uniforms_give_another_learner():
    X, y = clusters(200)
    voter, alone = (clone(learner) for learner in ALONE["BOMKC"])
    voter.set_params(kernels=[Gaussian(gamma=0.7)], random_state=SEED).fit(X, y)
    alone.set_params(gamma=0.7, random_state=SEED + 1).fit(X, y)
    assert not np.array_equal(voter.support_vectors_[0], alone.support_vectors_)


# ---- 7: U and DD differ in the vote only ----


@given(streams(kinds=("free",)), st.lists(st.sampled_from(KERNELS), min_size=2, max_size=4), st.booleans())
def test_7_equal_votes_and_discounted_ones_keep_the_same_vectors(stream, pool, strict):
    U, DD = (make(name, kernels=pool, strict=strict) for name in ("U perceptron", "DD perceptron"))
    for learner in (U, DD):
        learner.partial_fit(*stream, classes=CLASSES)
    assert_same_vectors(U, DD)
    np.testing.assert_allclose(U.kernel_weights_, 1.0 / len(pool), rtol=1e-12)


def test_7_their_votes_do_differ_and_so_do_the_vectors_of_sd():
    X, y = clusters(300)
    U, DD, SD = (make(f"{variant} perceptron", discount=0.8) for variant in ("U", "DD", "SD"))
    votes = [learner.progressive_scores(X, y, classes=CLASSES) for learner in (U, DD, SD)]
    assert np.abs(votes[0] - votes[1]).max() > 0.1
    assert SD.n_support_ < DD.n_support_ == U.n_support_
    assert np.ptp(DD.kernel_weights_) > 0.1


# ---- 8: never more vectors than the budget ----


@given(streams(), st.sampled_from(BOUNDED), st.integers(1, 20), st.integers(1, 4))
def test_8_there_are_never_more_vectors_than_the_budget(stream, form, budget, m):
    learner = OMKC(POOL[:m], *form, budget=budget, random_state=SEED)
    for _ in one_by_one(learner, *stream):
        assert learner.n_support_ == held(learner).sum() <= budget
        assert form[0] == "SD" or held(learner).max() <= budget // m


@pytest.mark.parametrize("variant, base", BOUNDED)
def test_8_a_budget_that_mistakes_exceed_is_used_up_and_memory_stays_as_it_was(variant, base):
    learner = make(f"{variant} {base}").partial_fit(*clusters(1), classes=CLASSES)
    size = bytes_of(learner)
    for start in range(10):
        learner.partial_fit(*clusters(100, seed=start))
        assert learner.n_support_ == (22 if variant == "SD" else 20) and bytes_of(learner) == size


# ---- 12: the order and the number of features ----


@every_voter
def test_12_the_order_of_features_and_features_that_are_zero_change_nothing_but_rounding(name):
    X, y = clusters(300, n_features=5)
    order, places = np.array([3, 0, 4, 1, 2]), [1, 2, 4, 6, 7]
    padded = np.zeros((300, 9))
    padded[:, places] = X
    models = [make(name) for _ in range(3)]
    votes = [
        m.progressive_scores(form, y, classes=CLASSES) for m, form in zip(models, (X, X[:, order], padded), strict=True)
    ]
    for other, back in ((1, np.argsort(order)), (2, places)):
        np.testing.assert_allclose(votes[other], votes[0], rtol=0, atol=1e-10)
        for i in range(len(models[0].support_vectors_)):
            np.testing.assert_array_equal(models[other].support_vectors_[i][:, back], models[0].support_vectors_[i])
            np.testing.assert_allclose(
                models[other].support_weights_[i], models[0].support_weights_[i], rtol=0, atol=1e-10
            )


# ---- 13, 14: stopping and going on; batches ----


@pytest.mark.parametrize("check", [check_saving_and_loading, check_pickling, check_batch_equals_loop])
@every_voter
def test_13_14_neither_stops_nor_batches_matter(name, check):
    check(make(name))


# ---- Beyond the invariants ----


def test_a_loss_cap_above_the_sampling_scale_is_refused_because_chances_end_at_one():
    with pytest.raises(ParameterError, match="loss_cap"):
        make("BOMKC", loss_cap=2.0, sampling_scale=1.5).fit(*clusters(50))


@pytest.mark.parametrize("name", ["DD perceptron", "DD pa", "DD forgetron", "DD bpas"])
def test_without_draws_the_order_of_the_kernels_is_of_no_importance(name):
    X, y = clusters(300)
    order = [2, 0, 3, 1]
    one, other = make(name), make(name, kernels=[POOL[i] for i in order])
    np.testing.assert_allclose(
        one.progressive_scores(X, y, classes=CLASSES), other.progressive_scores(X, y, classes=CLASSES), atol=1e-12
    )
    for place, index in enumerate(order):
        np.testing.assert_array_equal(other.support_vectors_[place], one.support_vectors_[index])


def test_the_step_with_unit_norm_is_that_of_normalised_lengths():
    """For Gaussians and normalised kernels k(x, x) = 1, and the option changes nothing; for others it does."""
    X, y = clusters(300)
    for pool, same in ([Gaussian(gamma=0.7), Normalized(Polynomial(2, 1.0))], True), ([Polynomial(2, 0.5)], False):
        ways = [make("BOMKC", kernels=pool, unit_norm=unit).fit(X, y).support_weights_[-1] for unit in (True, False)]
        assert (len(ways[0]) == len(ways[1]) and np.allclose(*ways, rtol=0, atol=1e-9)) == same
