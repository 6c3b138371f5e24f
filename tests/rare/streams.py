"""Small streams for the tests of the rare-event family, and a learner beside its oracle, row by row."""

import numpy as np
import scipy.sparse as sp

from oracles.boosting import splits_in_order


def turning(n, n_features=4, rare=0.12, turn=None, seed=0):
    """Positives lie to one side of the others in the first two features, from row `turn` on to the other side."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < rare, 1, -1)
    X = rng.standard_normal((n, n_features))
    side = np.where(np.arange(n) < (n if turn is None else turn), 1.0, -1.0)
    X[:, 0] += 1.8 * (y > 0) * side
    X[:, 1] -= 1.2 * (y > 0) * side
    return X, y


def stripes(n, rare=0.15, turn=None, seed=5):
    """Positives have a fraction below a half in the first feature, from row `turn` on in the second: trees see that."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < rare, 1, -1)
    X = rng.uniform(-2.0, 2.0, (n, 4))
    rows, place = np.arange(n), np.where(np.arange(n) < (n if turn is None else turn), 0, 1)
    X[rows, place] = np.floor(X[rows, place]) + np.where(y > 0, 0.0, 0.5) + 0.5 * rng.random(n)
    return X, y


def with_gaps(X, share=0.15, seed=1):
    """Some values missing, some 0."""
    X, u = X.copy(), np.random.default_rng(seed).random(X.shape)
    X[u < share] = np.nan
    X[u > 1.0 - share] = 0.0
    return X


def weights_for(n, seed=2):
    """Half of them 1, others from 0.3 to 2.5."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < 0.5, 1.0, rng.uniform(0.3, 2.5, n))


def choices_of(forest):
    """By tree, the splits in the order in which they were made."""
    fields = forest.features, forest.thresholds, forest.left
    return [splits_in_order(*(field[t] for field in fields)) for t in range(int(forest.size[0]))]


def side_by_side(learner, model, forest_of, X, y, weights=None, sparse=False):
    """The scores of both before each row; `forest_of` shows the learner's trees, for splits that gain the same."""
    weights = np.ones(len(y)) if weights is None else weights
    found, expected = np.zeros(len(y)), np.zeros(len(y))
    for t in range(len(y)):
        if sparse or t == 0:
            row = sp.csr_array(X[t : t + 1]) if sparse else X[t : t + 1]
            found[t] = learner.raw_scores(row)[0] if t else 0.0
            learner.partial_fit(row, y[t : t + 1], classes=[-1, 1], sample_weight=weights[t : t + 1])
        else:
            found[t] = learner.raw_score_one(X[t])
            learner.learn_one(X[t], y[t], weight=weights[t])
        expected[t] = model.step(X[t], y[t], weights[t], lambda: choices_of(forest_of(learner)))
    return found, expected
