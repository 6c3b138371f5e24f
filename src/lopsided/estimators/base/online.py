"""Learning one example at a time: batches in order, test-then-train scores, and the fast path for single examples."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from lopsided.constraints import LARGEST_FEATURE
from lopsided.core.arithmetic.compiled import Floats, bound
from lopsided.core.geometry.points import Rows, first_beyond, first_known_beyond
from lopsided.estimators.base import validation
from lopsided.estimators.base.classifier import Classifier
from lopsided.estimators.base.cutting import Cut
from lopsided.estimators.base.merging import Merges
from lopsided.labels import LabelMap, map_of_classes, map_of_labels, settle
from lopsided.protocol import Answer


class OnlineClassifier(Merges, Classifier):
    """Base of the learners that learn one example at a time."""

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
        with self._alone:
            X, signs, weights = self._next(X, y, classes, sample_weight)
            if (weights > 0).any():
                self._learn_checked(X, signs, weights)
        return self

    def learn_many(self, X: Any, y: Any, *, scores: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """`partial_fit` for rows that were answered before their labels came.

        Parameters
        ----------
        X, y, classes, sample_weight : as in `partial_fit`
        scores : the raw scores that were answered when the rows came: thresholds and probabilities remember these
            instead of what the model would say now. None: they are found on the way.
        """
        with self._alone:
            answered = None if scores is None else validation.checked_scores(scores, len(y))
            X, signs, weights = self._next(X, y, classes, sample_weight)
            if (weights > 0).any():
                self._learn_checked(X, signs, weights, every_score=answered is None, answered=answered)
        return self

    def progressive_scores(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Floats:
        """Test, then train: for each row the score of the model before that row, then learn from it.

        The scores are never shifted by `threshold_`. A row of a stream whose label is not known is scored only, and so
        is one of weight 0.
        """
        with self._alone:
            blank = validation.blank_rows(y)
            if sample_weight is not None:
                sample_weight = validation.checked_weights(sample_weight, len(y))
                skipped = sample_weight == 0.0
                blank = skipped | (False if blank is None else blank) if skipped.any() else blank
            if blank is not None:
                return self._progressive_around(X, y, classes, blank, sample_weight)
            X, signs, weights = self._next(X, y, classes, sample_weight)
            return self._learn_checked(X, signs, weights, every_score=True)

    def _progressive_around(
        self, X: Any, y: Any, classes: Any, blank: npt.NDArray[np.bool_], weights: Floats | None
    ) -> Floats:
        """The same where some rows are scored only; a model that has not begun has the score 0 for such a row."""
        scores = np.zeros(blank.size)
        cuts = [0, *(np.flatnonzero(blank[1:] != blank[:-1]) + 1).tolist(), blank.size]
        for start, stop in pairwise(cuts):
            rows = slice(start, stop)
            if not blank[start]:
                own = None if weights is None else weights[rows]
                scores[rows] = self.progressive_scores(X[rows], y[rows], classes, own)
            elif self._started:
                scores[rows] = self.raw_scores(X[rows])
        return scores

    def _next(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> tuple[Any, Floats, Floats]:
        """Check a batch against what is known, and only then begin or go on."""
        first = not self._started
        y, sample_weight = validation.without_blanks(y, sample_weight)
        if first:
            self._check_parameters()
        with validation.shape_unchanged_on_error(self):
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

    def learn_one(self, x: Any, y: Any, *, score: float | None = None, weight: float = 1.0) -> Self:
        """Learn from one example and its label. The fast path for single examples.

        Parameters
        ----------
        x : a 1-d array, or a mapping {name: number} with the names of the first row
        y : its label
        score : the raw score that was answered when the row came: thresholds and probabilities remember it instead of
            what the model would say now
        weight : 0 skips the row, any other weight multiplies the step's cost.
        """
        if score is not None and not (type(score) is float and abs(score) < np.inf):  # an array for one is slow
            score = validation.checked_scores([score], 1).item()
        skipped = weight != 1.0 and not validation.checked_weights([weight], 1).item()
        with self._alone:
            if not self._started:
                return self._learn_first(x, y, score, weight)
            self._take_one(x)
            try:
                sign = self._labels.sign_of.get(y) if self._labels.settled else None
            except TypeError:  # a label in an array of no dimensions has no hash
                sign = None
            if sign is None:
                labels = self._labels_for(validation.checked_labels(self, [y], 1), None)
                sign = float(labels.signs(np.asarray([y]))[0])
                self._set_labels(labels)
            if skipped:
                return self
            answer = None
            if self._recent.is_on:  # the rule is a share of alerts
                self._recent.offer_one(self._one_x, sign)
                answer = self._score_one() if score is None and self._wants_answers else None
            found = self._learn_one(sign, weight)
            self._memory.remember_one(sign, found if score is None else score, answer)
            if not self._has_warned:
                self._warn_of_divergence()
            if sign > 0.0 and self._may_be_wrong_way_round:
                self._warn_of_common_class()
        return self

    def _learn_first(self, x: Any, y: Any, score: float | None, weight: float) -> Self:
        names = list(x) if isinstance(x, Mapping) else []
        row = validation.values_of(self, x, names) if names else np.asarray(x)
        scores = None if score is None else [score]
        self.learn_many(row[None, ...], [y], scores=scores, sample_weight=None if weight == 1.0 else [weight])
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)
        return self

    def score_one(self, x: Any) -> float:
        """`decision_function` for one example: a 1-d array or a mapping. The fast path for single examples."""
        with self._alone:
            return self._shifted_one(self.raw_score_one(x), *self._cut_for_one())

    def _shifted_one(self, score: float, threshold: float, part: float) -> float:
        if not part or score != threshold:
            return score - threshold
        return self._shifted(np.array([score]), self._one_row, Cut(threshold, part)).item()

    def raw_score_one(self, x: Any) -> float:
        """`raw_scores` for one example: a 1-d array or a mapping. Never shifted by `threshold_`."""
        with self._alone:
            self._check_started()
            self._take_one(x)
            return self._score_one()

    def answer_one(self, x: Any) -> Answer:
        """`answer` for one example: a 1-d array or a mapping."""
        with self._alone:
            score, (threshold, part) = self.raw_score_one(x), self._cut_for_one()
            positive = self._shifted_one(score, threshold, part) > 0.0
            probability = float(self._memory.probability(np.array([score]))[0])
            return Answer(score, probability, self._labels.positive if positive else self._labels.negative, threshold)

    def take_turns(
        self, X: Any, turns: Floats, scores: Floats, places: npt.NDArray[np.int64], weights: Floats | None = None
    ) -> Self:
        """Learn some rows and score others, in the order given: `learn_one` and `raw_score_one` in turn, checked once.

        Parameters
        ----------
        X : array or CSR rows, one for each turn
        turns : +1 or -1, to learn the row as of the rare or the other class; or NaN, to score it
        scores : where scores are written; those of rows to be learned are what was answered when they came
        places : where in `scores` that of each row stands
        weights : of the rows to be learned, above 0; None: 1 each.
        """
        with self._alone:
            self._check_started()
            weights = np.ones(turns.size) if weights is None else validation.checked_weights(weights, turns.size)
            rows, learned = self._rows_of(X), ~np.isnan(turns)
            if self._recent.is_on:
                self._recent.offer(rows, turns, np.flatnonzero(learned))
            found = self._take_turns(rows, turns, weights)
            scores[places[~learned]] = found[~learned]
            self._memory.remember(turns[learned], scores[places[learned]])
            self._warn_of_divergence()
            if self._may_be_wrong_way_round:
                self._warn_of_common_class()
        return self

    def _take_turns(self, rows: Rows, turns: Floats, weights: Floats) -> Floats:
        """Learn or score rows in turn; returns the scores, NaN where a row to be learned need not be scored."""
        if rows.starts.size:
            return self._take_sparse_turns(rows, turns, weights)
        one, found = self._one_x, np.zeros(turns.size)
        for t, (sign, weight) in enumerate(zip(turns.tolist(), weights.tolist(), strict=True)):
            one[:] = rows.dense[t]
            found[t] = self._learn_one(sign, weight) if sign == sign else self._score_one()
        return found

    def _take_sparse_turns(self, rows: Rows, turns: Floats, weights: Floats) -> Floats:
        starts, every, found = rows.starts.tolist(), self._scores_every_row, np.zeros(turns.size)
        for t, sign in enumerate(turns.tolist()):
            entries = slice(starts[t], starts[t + 1])
            span = np.array([0, starts[t + 1] - starts[t]])
            row = rows._replace(starts=span, features=rows.features[entries], values=rows.values[entries])
            if sign == sign:
                found[t] = self._learn(row, turns[t : t + 1], weights[t : t + 1], every_score=every)[0]
            else:
                found[t] = self._score(row)[0]
        return found

    def _learn_with_answers(self, rows: Rows, signs: Floats, weights: Floats, *, every_score: bool) -> Floats:
        """`_learn`, each row being scored just before; those scores are left in `_answers`."""
        self._answers = None
        twice, turns = np.repeat(np.arange(signs.size), 2), np.repeat(signs, 2)
        turns[::2] = np.nan
        doubled = validation.as_rows(validation.matrix_of(rows, self.n_features_in_)[twice])
        found = self._learn_and_score(doubled, turns, np.repeat(weights, 2), every_score=every_score)
        self._answers = found[::2].copy()
        return found[1::2].copy()

    def _learn_and_score(self, rows: Rows, turns: Floats, weights: Floats, *, every_score: bool) -> Floats:
        """Learn some rows and score others in turn, all of them before they are learned."""
        return OnlineClassifier._take_turns(self, rows, turns, weights)

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        """`_learn` for the example in `self._one_row`."""
        self._one_sign[0] = sign
        every = self._scores_every_row
        return float(self._learn(self._one_row, self._one_sign, np.array([weight]), every_score=every)[0])

    def _score_one(self) -> float:
        """`_score` for the example in `self._one_row`."""
        return float(self._score(self._one_row)[0])

    def _take_one(self, x: Any) -> None:
        """Check one example and write it where compiled code reads it."""
        if type(x) is not np.ndarray:
            if isinstance(x, Mapping):
                x = validation.values_of(self, x, getattr(self, "feature_names_in_", None))
            elif hasattr(x, "to_numpy"):
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

    def _prepare_for_one(self) -> None:
        """The arrays through which single examples go in and out of compiled code."""
        self._one_row = validation.as_rows(np.zeros((1, self.n_features_in_)))
        self._one_x = self._one_row.dense[0]
        check = first_known_beyond if self.takes_missing else first_beyond
        self._one_check = bound(check, self._one_x, LARGEST_FEATURE)
        self._one_sign, self._one_cost, self._one_score = np.ones(1), np.ones(1), np.zeros(1)
