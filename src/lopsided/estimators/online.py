"""Learning one example at a time: batches in order, test-then-train scores, and the fast path for single examples."""

from __future__ import annotations

from contextlib import AbstractContextManager
from threading import Lock
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from lopsided.constraints import LARGEST_FEATURE
from lopsided.core.compiled import Floats, bound
from lopsided.core.points import first_beyond
from lopsided.estimators import encoding
from lopsided.estimators.base import Classifier
from lopsided.estimators.labels import LabelMap, map_of_classes, map_of_labels, settle


class OnlineClassifier(Classifier):
    """Base of the learners that learn one example at a time.

    Several threads may use one learner: their calls wait for each other.
    """

    _ways_to_learn: ClassVar[str] = "'fit', 'partial_fit' or 'learn_one'"
    _scores_every_row = False  # also those that `learn_one` need not score

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows, in the order given; the same as learning from them one by one.

        Parameters
        ----------
        X : array, data frame or CSR matrix of shape (n_samples, n_features)
            The rows.
        y : vector of shape (n_samples,)
            Their labels; one class alone is fine.
        classes : list of two labels, optional
            Needed once, if the first rows do not show both labels and they are not 0, 1, -1 or bool.
        sample_weight : vector of shape (n_samples,), optional
            0 skips a row; any other weight multiplies the cost of its step.
        """
        X, signs, weights = self._next(X, y, classes, sample_weight)
        if (weights > 0).any():
            self._absorb(X, signs, weights)
        return self

    def progressive_scores(self, X: Any, y: Any, classes: Any = None) -> Floats:
        """Test, then train: for each row the score of the model before that row, then learn from it.

        The scores are never shifted by `threshold_`.
        """
        X, signs, weights = self._next(X, y, classes, None)
        return self._absorb(X, signs, weights, every_score=True)

    def _next(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> tuple[Any, Floats, Floats]:
        """Check a batch against what is known, and only then begin or go on."""
        first = not self._started
        if first:
            self._check_parameters()
        with encoding.shape_unchanged_on_error(self):
            X, y, weights = self._checked(X, y, sample_weight, first=first)
            labels = self._labels_for(y, classes)
            signs = labels.signs(y)
        if first:
            self._begin(labels)
        else:
            self._set_labels(labels)
        return X, signs, weights

    def _labels_for(self, y: npt.NDArray[Any], classes: Any) -> LabelMap:
        named = None if classes is None else map_of_classes(classes, self.pos_label)
        if not self._started:
            return named or map_of_labels(y, self.pos_label)
        if named is not None and self._labels.settled and named.classes.tolist() != self._labels.classes.tolist():
            raise ValueError(
                f"The 'classes' parameter must stay what it was, {self._labels.classes.tolist()}. "
                f"Got {named.classes.tolist()} instead."
            )
        if named is not None and not self._labels.settled and named.sign_of.get(1) != self._labels.sign_of[1]:
            raise ValueError(
                "The 'classes' parameter must hold 1 in the role it has had so far, "
                f"{'the rare class' if self._labels.sign_of[1] > 0 else 'the common class'}. "
                f"Got {named.classes.tolist()} instead."
            )
        return named or settle(self._labels, y, self.pos_label)

    # ---------------------------------------------------------------- one example

    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn from one example: a 1-d array and its label. The fast path for single examples."""
        if not self._started:
            return self.partial_fit(np.asarray(x)[None, ...], [y])
        with self._one_lock:
            self._take_one(x)
            try:
                sign = self._labels.sign_of.get(y) if self._labels.settled else None
            except TypeError:  # a label in an array of no dimensions has no hash
                sign = None
            if sign is None:
                labels = self._labels_for(encoding.checked_labels(self, [y], 1), None)
                sign = float(labels.signs(np.asarray([y]))[0])
                self._set_labels(labels)
            self._memory.remember_one(sign, self._learn_one(sign))
        if not self._has_warned:
            self._warn_of_divergence()
        return self

    def score_one(self, x: Any) -> float:
        """`decision_function` for one example, a 1-d array. The fast path for single examples."""
        return self._raw_score_one(x) - self.threshold_

    def _raw_score_one(self, x: Any) -> float:
        self._check_started()
        with self._one_lock:
            self._take_one(x)
            return self._score_one()

    def _learn_one(self, sign: float) -> float:
        """`_learn` for the example in `self._one_row`."""
        self._one_sign[0] = sign
        every = self._scores_every_row
        return float(self._learn(self._one_row, self._one_sign, np.ones(1), every_score=every)[0])

    def _score_one(self) -> float:
        """`_score` for the example in `self._one_row`."""
        return float(self._score(self._one_row)[0])

    def _take_one(self, x: Any) -> None:
        """Check one example and write it where compiled code reads it."""
        if type(x) is not np.ndarray and hasattr(x, "to_numpy"):
            self._check_names(x)
        x, one = np.asarray(x, dtype=np.float64), self._one_x
        if x.shape != one.shape:
            raise ValueError(
                f"The example x of {type(self).__name__} must be a 1-d array of {one.size} features. "
                f"Got shape {x.shape}."
            )
        one[:] = x
        bad = self._one_check()
        if bad >= 0:
            raise ValueError(
                f"The example x of {type(self).__name__} contains NaN or infinity, or what has no square. Every "
                "feature must be finite, and below 1e150 in size. "
                f"Got {x[bad]} in feature {bad}."
            )

    def _check_names(self, x: Any) -> None:
        """A series with names must have those of the features, in their order, as a data frame must."""
        known = getattr(self, "feature_names_in_", None)
        names = list(getattr(x, "index", ()))
        if known is not None and names and names != known.tolist():
            raise ValueError(
                f"The example x of {type(self).__name__} must have the features {', '.join(map(str, known))} in this "
                f"order. Got {', '.join(map(str, names))}."
            )

    def _score_every_row(self) -> None:
        """From now on `learn_one` scores every example, also those that cannot change the model."""
        self._scores_every_row = True

    @property
    def _alone(self) -> AbstractContextManager[Any]:
        return self._one_lock

    def _prepare_for_one(self) -> None:
        """The arrays through which single examples go in and out of compiled code."""
        self._one_lock = Lock()
        self._one_row = encoding.as_rows(np.zeros((1, self.n_features_in_)))
        self._one_x = self._one_row.dense[0]
        self._one_check = bound(first_beyond, self._one_x, LARGEST_FEATURE)
        self._one_sign, self._one_score = np.ones(1), np.zeros(1)
