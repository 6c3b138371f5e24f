import numpy as np


def stream(n=400, n_keys=12, d=4, seed=3):
    """Rows with zeros, the key in column 1 of d + 2, words for the same keys, labels, weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d + 1))
    X[rng.random(X.shape) < 0.2] = 0.0
    keys = np.floor(n_keys * rng.random(n) ** 2)
    y = (X[:, 0] + np.where(keys % 2, 1.0, -1.0) * X[:, 1] + 0.3 * rng.standard_normal(n) > 1.0).astype(int)
    y[:2] = 0, 1
    return np.insert(X, 1, keys, axis=1), keys.astype(int), y, rng.choice([0.5, 1.0, 2.0], n)


def without_key(X):
    return np.delete(X, 1, axis=1)
