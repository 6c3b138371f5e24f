"""Progressive validation when labels come late."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.estimators.base.online import OnlineClassifier

Floats = npt.NDArray[np.float64]


def delayed_scores(learner: Any, X: Any, y: Any, delays: int | npt.ArrayLike, classes: Any = None) -> Floats:
    """Score every row when it comes, and learn it when its label has come: `delays` rows later.

    Row t is scored by a model that has learned the rows whose labels were known by then: those with s + delay_s < t,
    in the order in which the labels came (of two that came together the older row first). A delay of 0 is test, then
    train. All rows have been learned at the end. Until the learner has seen anything a score is 0.

    Parameters
    ----------
    learner : learner
        Any learner of this package, or a scikit-learn classifier with partial_fit and decision_function.
    X : array, data frame or CSR matrix of shape (n_samples, n_features)
        The rows, in the order in which they came.
    y : vector of shape (n_samples,)
        Their labels.
    delays : int or vector of ints
        How many rows later a label is known: one number for all rows, or one for each.
    classes : list of two labels, optional
        Needed if `y` does not show both labels and they are not 0, 1, -1 or bool.

    Examples
    --------
    >>> from lopsided import KOIL
    >>> from lopsided.datasets import transactions
    >>> from lopsided.metrics import auroc
    >>> from lopsided.evaluate import delayed_scores
    >>> from lopsided import OnlineScaler, StreamPipeline
    >>> stream = transactions(4000)
    >>> learner = StreamPipeline(OnlineScaler(), KOIL(gamma=0.1, random_state=0))
    >>> prompt = delayed_scores(learner, stream.X, stream.y, 0)
    >>> learner = StreamPipeline(OnlineScaler(), KOIL(gamma=0.1, random_state=0))
    >>> late = delayed_scores(learner, stream.X, stream.y, 500)
    >>> round(auroc(stream.y, prompt), 3), round(auroc(stream.y, late), 3)
    (0.831, 0.717)
    """
    X, labels = X.to_numpy() if hasattr(X, "to_numpy") else X, np.asarray(y)
    n = labels.size
    waits = np.broadcast_to(np.asarray(delays), (n,))
    if not np.issubdtype(waits.dtype, np.integer) or (n and waits.min() < 0):
        raise ValueError(f"The delays of delayed_scores must be whole numbers >= 0, got {delays!r}.")
    distinct = np.unique(labels)
    known = classes if classes is not None or distinct.size != 2 else distinct
    arrival = np.arange(n) + waits
    order = np.argsort(arrival, kind="stable")
    # The fast path for single examples, where there is one.
    one_by_one = isinstance(learner, OnlineClassifier) and isinstance(X, np.ndarray)
    scores = np.zeros(n)
    learned = 0
    for t in range(n + 1):
        due = learned
        while due < n and (t == n or arrival[order[due]] < t):
            due += 1
        if one_by_one and learned and due == learned + 1:
            learner.learn_one(X[order[learned]], labels[order[learned]])
        elif due > learned:
            rows = order[learned:due]
            learner.partial_fit(X[rows], labels[rows], classes=known)
        learned = due
        if t < n and learned:
            scores[t] = (
                learner.raw_score_one(X[t])
                if one_by_one
                else learner.decision_function(X[t : t + 1])[0] + getattr(learner, "threshold_", 0.0)
            )
    return scores
