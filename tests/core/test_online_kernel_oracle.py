"""SPA, OSKL and the kernel classifiers they are compared with, against transcriptions of their specification.

Compared are the score of every example before it is learned, the support points (exactly, positives from old to new,
then negatives) and their weights, and the scores of fresh points. Both sides draw from the same seed.

No point occurs twice here. A perceptron that meets one again adds weights of +1 and -1 which cancel exactly, and the
sign of what remains of the score is rounding; to BPA-S two points that are multiples of each other are as bad under a
homogeneous polynomial. Nor do the Projectrons get a kernel whose rank their budget reaches: the inverse that the naive
ones carry would be that of a singular matrix.
"""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import lopsided
from core.agreement import KERNELS, TOLERANCE, Twins, clusters, difference, disagreement, learned_scores, naive_scores
from lopsided.core.pointwise.expansion import SCALE
from lopsided.kernels import Gaussian
from oracles import koil as kernels_of_oracles
from oracles import spa as naive

SEED = 11
GAUSSIAN = KERNELS["gaussian"]
# Conditioned well enough for an inverse of thirty vectors.
NARROW = Twins(Gaussian(gamma=4.0), kernels_of_oracles.gaussian(4.0), True)


class Case(NamedTuple):
    """A learner by its name on both sides, and parameters that both understand."""

    name: str
    parameters: dict
    kernel: Twins = GAUSSIAN


CASES = {
    "SPA": Case("SPA", {"sampling_scale": 3.0}),
    "SPA, last": Case("SPA", {"sampling_scale": 3.0, "average": False}),
    "SPA, sparse": Case("SPA", {"sampling_scale": 20.0, "loss_cap": 0.5, "learning_rate": 0.03}),
    "SPA, every loss": Case("SPA", {"sampling_scale": 2.0, "loss_cap": 2.0, "learning_rate": 1.0, "average": False}),
    "OSKL": Case("OSKL", {"sparsity": 3.0}),
    "OSKL, last": Case("OSKL", {"sparsity": 3.0, "average": False}),
    "OSKL, every gradient": Case("OSKL", {"sparsity": 1.0, "learning_rate": 0.7}),
    "KernelPerceptron": Case("KernelPerceptron", {}),
    "KernelOGD": Case("KernelOGD", {"learning_rate": 0.3}),
    "NORMA": Case("NORMA", {}),
    "NORMA, decaying": Case("NORMA", {"decay": True, "learning_rate": 0.8}),
    "NORMA, bounded": Case("NORMA", {"budget": 25, "regularization": 0.1}),
    "NORMA, bounded and decaying": Case("NORMA", {"budget": 25, "decay": True, "learning_rate": 0.8}),
    "NORMA, small margin": Case("NORMA", {"margin": 0.2, "budget": 25}),
    "NORMA, wide margin": Case("NORMA", {"margin": 1.7, "budget": 25, "regularization": 0.0}),
    "KernelPA": Case("KernelPA", {}),
    "KernelPA, small steps": Case("KernelPA", {"C": 0.25}),
    "RBP": Case("RBP", {"budget": 25}),
    "Forgetron": Case("Forgetron", {"budget": 25}),
    "BPAS": Case("BPAS", {"budget": 25}),
    "BPAS, small steps": Case("BPAS", {"budget": 25, "C": 0.25}),
    "BOGD": Case("BOGD", {"budget": 25}),
    "BOGD, uniform": Case("BOGD", {"budget": 25, "removal": "uniform", "learning_rate": 0.3}),
    "Projectron": Case("Projectron", {"budget": 25}, NARROW),
    "Projectron, coarse": Case("Projectron", {"budget": 100, "tol": 0.2}, NARROW),
    "Projectron++": Case("ProjectronPP", {"budget": 25}, NARROW),
    "Projectron++, coarse": Case("ProjectronPP", {"budget": 100, "tol": 0.2}, NARROW),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
DEFAULTS = [case for case in CASES.values() if case.kernel is not NARROW]
every_plain_case = pytest.mark.parametrize("case", DEFAULTS, ids=[n for n, c in CASES.items() if c in DEFAULTS])


class Remembering:
    """A naive model in the words of `core.agreement`: it remembers the class of every point that it may have kept."""

    def __init__(self, model):
        self.model, self.classes = model, {}

    def step(self, x, y, weight=1.0):
        assert self.classes.setdefault(x.tobytes(), y) == y
        return self.model.step(x, y, weight)

    def score(self, x):
        return self.model.score(x)

    def points(self):
        return [point for point, _ in self.model.support()]

    def weights(self):
        return np.array([weight for _, weight in self.model.support()])

    def labels(self):
        return np.array([self.classes[point.tobytes()] for point in self.points()])


def both(case, **changes):
    """A learner and the naive model with the same parameters and seed."""
    parameters = case.parameters | changes
    kernel = parameters.pop("kernel", case.kernel)
    learner = getattr(lopsided, case.name)(kernel=kernel.real, random_state=SEED, **parameters)
    return learner, Remembering(getattr(naive, case.name)(kernel.naive, seed=SEED, **parameters))


# ---- The oracles ----


@every_case
def test_the_learner_is_the_naive_one(case):
    learner, model = both(case)
    X, y = clusters(2000)
    assert disagreement(learner, model, X, y) < TOLERANCE
    assert 15 <= learner.n_support_ <= case.parameters.get("budget", 2000)
    assert set(model.labels()) == {-1, 1} and learner.n_diverged_ == 0


KINDS = ["polynomial", "cubic", "linear", "normalised polynomial", "narrow gaussian", "sum", "normalised sum"]


@every_plain_case
def test_every_kernel_is_the_naive_one(case):
    for number, kind in enumerate(KINDS):
        learner, model = both(case, kernel=KERNELS[kind])
        assert disagreement(learner, model, *clusters(250, seed=number)) < TOLERANCE, kind


# Ranks in three dimensions: polynomial of degree 2 with an offset 10, cubic without one 10; the others have none.
@pytest.mark.parametrize("name", ["Projectron", "ProjectronPP"])
@pytest.mark.parametrize(
    "kind, budget", [("polynomial", 5), ("cubic", 5), ("normalised polynomial", 5), ("narrow gaussian", 60), ("sum", 9)]
)
def test_every_kernel_of_a_projectron_is_the_naive_one(name, kind, budget):
    learner, model = both(Case(name, {"budget": budget}, KERNELS[kind]))
    assert disagreement(learner, model, *clusters(400, seed=2)) < TOLERANCE


@pytest.mark.parametrize("budget", [1, 2, 3, 60])
@pytest.mark.parametrize(
    "name", ["NORMA", "RBP", "Forgetron", "BPAS", "BOGD", "BOGD, uniform", "Projectron", "Projectron++"]
)
def test_any_budget_will_do(name, budget):
    learner, model = both(CASES[name], budget=budget)
    assert disagreement(learner, model, *clusters(400, seed=3)) < TOLERANCE
    assert learner.n_support_ == budget


def rows_with_weights(n, seed):
    return *clusters(n, seed), np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 2.0], size=n)


@every_case
def test_sample_weights_multiply_the_step_and_zero_skips_the_row(case):
    X, y, weights = rows_with_weights(600, seed=4)
    learner, model = both(case)
    learner.partial_fit(X, y, classes=[-1, 1], sample_weight=weights)
    naive_scores(model, X, y, weights)
    assert difference(learner, np.zeros(0), model, np.zeros(0)) < TOLERANCE


@pytest.mark.parametrize("name", ["SPA", "SPA, last", "NORMA, decaying", "Forgetron"])
def test_scores_between_rows_with_weights_are_the_naive_ones(name):
    X, y, weights = rows_with_weights(200, seed=4)
    learner, model = both(CASES[name])
    expected = []
    for x, label, weight in zip(X, y, weights, strict=True):
        expected.append(model.score(x))  # not what the step reports: the average of SPA then counts the step itself
        model.step(x, label, weight)
    assert difference(learner, learned_scores(learner, X, y, weights), model, np.array(expected)) < TOLERANCE


def with_zeros(n):
    """Every ninth point is 0, the only one that may be repeated: what it adds to a score is 0 exactly."""
    X, y = clusters(n, seed=5)
    X[::9], y[::9] = 0.0, 1
    return X, y


@pytest.mark.parametrize("kind", ["cubic", "linear"])
@pytest.mark.parametrize("name", ["SPA", "KernelPA", "BPAS", "KernelPerceptron", "Forgetron", "BOGD, uniform"])
def test_points_without_length_are_the_naive_ones(name, kind):
    learner, model = both(CASES[name], kernel=KERNELS[kind])
    assert disagreement(learner, model, *with_zeros(199)) < TOLERANCE  # the last one is 0
    assert (learner.support_vectors_ == 0.0).all(axis=1).any()


@pytest.mark.parametrize("name", ["Projectron", "ProjectronPP"])
def test_a_projectron_never_stores_a_point_without_length(name):
    learner, model = both(Case(name, {"budget": 5}, KERNELS["cubic"]))
    assert disagreement(learner, model, *with_zeros(199)) < TOLERANCE
    assert not (learner.support_vectors_ == 0.0).all(axis=1).any()


# ---- The scale of the shrinking ----


@pytest.mark.parametrize("product", [0.5, 0.9, 1.0, 1.5])
@pytest.mark.parametrize("name", ["NORMA", "NORMA, bounded", "BOGD", "BOGD, uniform"])
def test_folding_the_scale_is_not_seen_from_outside(name, product):
    # Beyond 1 every step turns the sign of all weights.
    learner, model = both(CASES[name], learning_rate=0.5, regularization=2.0 * product)
    X, y = clusters(1000, seed=6)
    scales, scores = [], []
    for start in range(0, 1000, 50):
        scores.append(learner.progressive_scores(X[start : start + 50], y[start : start + 50], classes=[-1, 1]))
        scales.append(abs(learner._expansion.levels[SCALE]))
    assert min(scales) >= 1e-100 and max(scales) <= 2.0
    assert difference(learner, np.concatenate(scores), model, naive_scores(model, X, y)) < TOLERANCE


# ---- Sparse rows ----


def thin(n, seed, n_features=8):
    """Rows of which half of the entries are 0, beyond the first two: no row is a multiple of another."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    X[:, 2:] *= rng.random((n, n_features - 2)) < 0.5
    return X, np.where((X[:, 0] + X[:, 1] > 0.4) != (rng.random(n) < 0.1), 1, -1)


@every_case
def test_sparse_rows_give_the_model_of_dense_ones(case):
    X, y = thin(2000, seed=7)
    dense, sparse = both(case)[0], both(case)[0]
    expected = dense.progressive_scores(X, y, classes=[-1, 1])
    np.testing.assert_allclose(
        sparse.progressive_scores(sp.csr_array(X), y, classes=[-1, 1]), expected, rtol=0, atol=1e-10
    )
    np.testing.assert_array_equal(sparse.support_vectors_, dense.support_vectors_)
    np.testing.assert_allclose(sparse.support_weights_, dense.support_weights_, rtol=0, atol=1e-10)
    fresh = thin(40, seed=8)[0]
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_array(fresh)), dense.decision_function(fresh), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("kind", ["gaussian", "cubic"])
@every_plain_case
def test_sparse_and_dense_batches_that_take_turns_are_the_naive_model(case, kind):
    X, y = thin(200, seed=9, n_features=4)
    learner, model = both(case, kernel=KERNELS[kind])
    forms = [sp.csr_array, np.asarray]
    scores = [
        learner.progressive_scores(forms[start // 20 % 2](X[start : start + 20]), y[start : start + 20], [-1, 1])
        for start in range(0, 200, 20)
    ]
    assert difference(learner, np.concatenate(scores), model, naive_scores(model, X, y)) < TOLERANCE


# ---- The comparison sees what it should see ----

CHANGES = [
    ("SPA", {"average": False}),
    ("SPA", {"loss_cap": 0.99}),
    ("SPA", {"sampling_scale": 3.01}),
    ("SPA", {"learning_rate": 0.100001}),
    ("SPA", {"seed": SEED + 1}),
    ("OSKL", {"average": False}),
    ("OSKL", {"sparsity": 3.01}),
    ("OSKL", {"seed": SEED + 1}),
    ("KernelPerceptron", {"kernel": kernels_of_oracles.gaussian(0.50001)}),
    ("KernelOGD", {"learning_rate": 0.3001}),
    ("NORMA", {"decay": True}),
    ("NORMA", {"margin": 0.99}),
    ("NORMA", {"regularization": 0.0101}),
    ("NORMA, bounded", {"budget": 24}),
    ("KernelPA", {"C": 0.999}),
    ("RBP", {"seed": SEED + 1}),
    ("RBP", {"budget": 24}),
    ("Forgetron", {"budget": 24}),
    ("BPAS", {"C": 0.999}),
    ("BPAS", {"budget": 24}),
    ("BOGD", {"removal": "uniform"}),
    ("BOGD", {"regularization": 1.1e-3}),
    ("BOGD, uniform", {"seed": SEED + 1}),
    ("Projectron", {"budget": 24}),
    ("Projectron, coarse", {"tol": 0.21}),
    ("Projectron++", {"budget": 24}),
]


@pytest.mark.parametrize("name, change", CHANGES, ids=[f"{name}, {next(iter(change))}" for name, change in CHANGES])
def test_the_comparison_notices_another_rule(name, change):
    case = CASES[name]
    learner, _ = both(case)
    changed = {"kernel": case.kernel.naive, "seed": SEED} | case.parameters | change
    model = Remembering(getattr(naive, case.name)(**changed))
    assert disagreement(learner, model, *clusters(400)) > TOLERANCE


def test_the_comparison_notices_a_projectron_that_is_one_without_margin_errors():
    learner, _ = both(CASES["Projectron++"])
    _, model = both(CASES["Projectron"])
    assert disagreement(learner, model, *clusters(400)) > TOLERANCE


class ShrinksFirst(naive.BOGD):
    """The score after the shrink decides."""

    def update(self, x, y, F, **others):
        self.shrink()
        self.gradient_step(x, y, (1.0 - self.learning_rate * self.regularization) * F, **others)


class LargerRoot(naive.Forgetron):
    """Takes the root of the quadratic that exceeds 1, and inflates the model."""

    def multiply(self, factor):
        super().multiply(1.01 if factor < 1.0 else 1.0)


class EvictsTheYoungest(naive.Learner):
    def remove(self, i):
        super().remove(len(self.points) - 1)


class ForgetsTheYoungest(EvictsTheYoungest, naive.RBP):
    """Drops the last vector instead of a drawn one."""


@pytest.mark.parametrize(
    "name, wrong, parameters",
    [
        ("BOGD", ShrinksFirst, {"budget": 60, "learning_rate": 0.3, "regularization": 0.1}),
        ("Forgetron", LargerRoot, {"budget": 25}),
        ("RBP", ForgetsTheYoungest, {"budget": 25}),
    ],
)
def test_the_comparison_notices_a_subtle_fault(name, wrong, parameters):
    learner, model = both(Case(name, parameters))
    assert disagreement(learner, model, *clusters(400)) < TOLERANCE
    learner, _ = both(Case(name, parameters))
    model = Remembering(wrong(GAUSSIAN.naive, seed=SEED, **parameters))
    assert disagreement(learner, model, *clusters(400)) > TOLERANCE


@pytest.mark.parametrize("name", ["SPA", "NORMA, bounded", "Projectron"])
def test_the_comparison_notices_a_single_weight(name):
    X, y = clusters(200)
    learner, model = both(CASES[name])
    scores, expected = learned_scores(learner, X, y), naive_scores(model, X, y)
    assert difference(learner, scores, model, expected) < TOLERANCE
    learner._expansion.weights[1] += 1e-7 / learner._expansion.levels[SCALE]
    assert difference(learner, scores, model, expected) > TOLERANCE


def test_the_comparison_notices_two_vectors_that_change_places():
    X, y = clusters(200)
    learner, model = both(CASES["KernelPerceptron"])
    scores, expected = learned_scores(learner, X, y), naive_scores(model, X, y)
    order = learner._expansion.order
    same = np.flatnonzero(learner._expansion.signs[: learner.n_support_] == 1)[:2]
    order[same] = order[same[::-1]]
    assert difference(learner, scores, model, expected) == np.inf
