"""Progressive validation when labels come late."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.late import LateLearner

Floats = npt.NDArray[np.float64]


def delayed_scores(learner: Any, X: Any, y: Any, delays: int | npt.ArrayLike, classes: Any = None) -> Floats:
    """Score every row when it comes, and learn it when its label has come: `delays` rows later.

    Row t is scored by a model that has learned the rows whose labels were known by then: those with s + delay_s < t,
    in the order in which the labels came (of two that came together the older row first). A delay of 0 is test, then
    train. All rows have been learned at the end. Until the learner has seen anything a score is 0. Labels that come by
    key, after a time, or never: `lopsided.late.LateLearner`.

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
    if isinstance(delays, int | np.integer) and delays >= 0:
        late = LateLearner(learner, delay=int(delays), classes=classes)
        scores = late.progressive_scores(X, y)
    else:
        late = LateLearner(learner, classes=classes)
        scores = late.progressive_scores(X, y, delays=delays)
    late.finish()
    return scores
