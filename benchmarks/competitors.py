"""What else one might use on a stream, each as a function from rows and labels to progressive scores.

Only those that are installed are offered: `pip install lightgbm river vowpalwabbit`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier

Scores = Callable[[np.ndarray, np.ndarray], np.ndarray]
FIRST_FITS, EVERY = (100, 250, 500), 1_000


def lightgbm_refitted(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """LightGBM, fitted anew on everything so far after 100, 250, 500 and then every 1,000 examples."""
    import lightgbm

    scores = np.zeros(len(y))
    times = [*FIRST_FITS, *range(EVERY, len(y), EVERY)]
    for start, stop in zip(times, [*times[1:], len(y)], strict=True):
        if start < len(y) and np.unique(y[:start]).size == 2:
            model = lightgbm.LGBMClassifier(n_jobs=1, verbose=-1, random_state=0).fit(X[:start], y[:start])
            scores[start:stop] = model.predict(X[start:stop], raw_score=True)
    return scores


def adaptive_forest(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """River's adaptive random forest, one example at a time."""
    from river import forest

    model, scores = forest.ARFClassifier(seed=0), np.zeros(len(y))
    for t in range(len(y)):
        x = dict(enumerate(X[t].tolist()))
        scores[t] = model.predict_proba_one(x).get(1, 0.0)
        model.learn_one(x, int(y[t]))
    return scores


def vowpal_ksvm(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Vowpal Wabbit's online kernel machine with a Gaussian kernel, one example at a time."""
    from vowpalwabbit import Workspace

    model, scores = Workspace("--ksvm --kernel rbf --bandwidth 1.0 --quiet"), np.zeros(len(y))
    for t in range(len(y)):
        features = " ".join(f"{j}:{value:.9g}" for j, value in enumerate(X[t]))
        scores[t] = model.predict(f"| {features}")
        model.learn(f"{1 if y[t] else -1} | {features}")
    model.finish()
    return scores


def sampler_with_sgd(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """scikit-learn's RBFSampler (400 components, gamma 1) and SGDClassifier, logistic loss, one example at a time."""
    Z = RBFSampler(gamma=1.0, n_components=400, random_state=0).fit(X[:1]).transform(X)
    model, scores = SGDClassifier(loss="log_loss", random_state=0), np.zeros(len(y))
    for t in range(len(y)):
        if t:
            scores[t] = model.decision_function(Z[t : t + 1])[0]
        model.partial_fit(Z[t : t + 1], y[t : t + 1], classes=[0, 1])
    return scores


def installed() -> dict[str, Scores]:
    """The competitors that can run here, by name."""
    needs = {
        "LightGBM, refitted": ("lightgbm", lightgbm_refitted),
        "River ARF": ("river", adaptive_forest),
        "VW ksvm": ("vowpalwabbit", vowpal_ksvm),
        "RBFSampler + SGD": ("sklearn", sampler_with_sgd),
    }
    return {name: scores for name, (module, scores) in needs.items() if importlib.util.find_spec(module)}
