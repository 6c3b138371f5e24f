"""What must hold for every kernel classifier of one kernel, by the numbers of its specification.

Going on after a stop (13) and batches of any size (14) are among the checks of all learners, in tests/checks.
"""

import numpy as np
import pytest

from core.agreement import clusters
from lopsided.kernels import Gaussian, Linear, Polynomial
from properties.going_on import (
    CLASSES,
    from_file,
    from_pickle,
)
from properties.inspection import assert_same_model
from properties.kernel_learners import (
    every_learner,
    make,
)

# ---- 12: the order and the number of features ----


@every_learner
def test_12_the_order_of_features_and_features_that_are_zero_change_nothing_but_rounding(name):
    X, y = clusters(400, n_features=5)
    X *= 0.7
    order = np.array([3, 0, 4, 1, 2])
    padded = np.zeros((400, 9))
    padded[:, [1, 2, 4, 6, 7]] = X
    for kernel in [Gaussian(gamma=2.0), *([] if "Projectron" in name else [Linear(), Polynomial(2, 0.5)])]:
        models = [make(name, kernel=kernel) for _ in range(3)]
        scores = [
            m.progressive_scores(form, y, classes=CLASSES)
            for m, form in zip(models, (X, X[:, order], padded), strict=True)
        ]
        for other, back in ((1, np.argsort(order)), (2, [1, 2, 4, 6, 7])):
            np.testing.assert_allclose(scores[other], scores[0], rtol=0, atol=1e-10)
            np.testing.assert_array_equal(models[other].support_vectors_[:, back], models[0].support_vectors_)
            np.testing.assert_allclose(models[other].support_weights_, models[0].support_weights_, rtol=0, atol=1e-10)


# ---- 13: stopping and going on ----


@pytest.mark.parametrize("again", [from_file, from_pickle])
def test_13_an_spa_whose_budget_is_used_up_can_be_kept(again, tmp_path):
    X, y = clusters(300)
    steady, stopped = (make("SPA, bounded", budget=4, sampling_scale=1.0) for _ in range(2))
    expected = steady.progressive_scores(X, y, classes=CLASSES)
    stopped.partial_fit(X[:200], y[:200], classes=CLASSES)
    assert stopped.n_support_ == 4
    stopped = again(stopped, tmp_path)
    np.testing.assert_array_equal(stopped.progressive_scores(X[200:], y[200:]), expected[200:])
    assert_same_model(steady, stopped)
