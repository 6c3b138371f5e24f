"""Dense blocks through a matrix product: the same support vectors as row by row, and the same scores to 1e-10."""

import numpy as np
import pytest
from sklearn.base import clone

from lopsided import BOGD, BPAS, OSKL, RBP, SPA, Forgetron, KernelOGD, KernelPA, ProjectronPP
from lopsided.estimators.kernel import online_kernel
from lopsided.estimators.kernel.dense_blocks import BLOCK

LEARNERS = [
    SPA(sampling_scale=1.5, gamma=0.02, random_state=1),
    SPA(sampling_scale=1.5, gamma=0.02, budget=150, random_state=1),
    OSKL(sparsity=1.0, gamma=0.02, random_state=1),
    KernelOGD(gamma=0.02),
    KernelPA(kernel="poly", degree=2, coef0=1.0),
    RBP(gamma=0.02, budget=100, random_state=1),
    Forgetron(gamma=0.02, budget=100),
    BPAS(gamma=0.02, budget=100),
    BOGD(gamma=0.02, budget=100),
    ProjectronPP(gamma=0.02, budget=100, tol=1e-4),
]
learners = pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: str(learner)[:60])


def stream(offset=0.0):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(700, 70))
    return X + offset, np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0.3, 1, -1)


@pytest.fixture
def blocks(monkeypatch):
    """The blocks that were made."""
    made, products = [], online_kernel.products
    monkeypatch.setattr(online_kernel, "products", lambda *args: made.append(products(*args)) or made[-1])
    return made


@learners
def test_blocks_give_the_same_support_and_scores(learner, blocks):
    X, y = stream()
    whole, single = clone(learner), clone(learner)
    scores = whole.progressive_scores(X, y)
    assert sum(ahead.dots.size > 0 for ahead in blocks) > 3
    one_by_one = [single.progressive_scores(X[t : t + 1], y[t : t + 1], classes=[-1, 1])[0] for t in range(y.size)]
    assert np.abs(scores - one_by_one).max() < 1e-10
    assert np.array_equal(whole.support_vectors_, single.support_vectors_)
    asked = np.array([whole.score_one(x) for x in X[: 2 * BLOCK + 7]])
    assert np.abs(whole.decision_function(X[: 2 * BLOCK + 7]) - asked).max() < 1e-10


def test_where_distances_would_lose_their_digits_rows_go_one_by_one(blocks):
    X, y = stream(offset=1e4)
    learner = KernelOGD(gamma=0.02)
    scores = learner.progressive_scores(X, y)
    assert blocks and not any(ahead.dots.size for ahead in blocks)
    assert np.abs(scores - KernelOGD(gamma=0.02).progressive_scores(X - 1e4, y)).max() < 1e-8
