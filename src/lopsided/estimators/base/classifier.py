"""What every learner has in common: the door, the labels, the threshold, probabilities, and the file.

A learner is the numbers. It says how to start (`_start`), how to learn from rows in order while reporting the score of
each before it was learned (`_learn`), how to score (`_score`), and which arrays it is made of (`_arrays`, `_restore`).
Everything else is here, once.
"""

from __future__ import annotations

import copy
import math
import warnings
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError

from lopsided.constraints import Constraint, anything, check_parameters, choice, flag, number
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.geometry.points import Rows
from lopsided.estimators.base import validation
from lopsided.estimators.base.answering import Answering, share_of
from lopsided.estimators.base.compiling import compile_ahead
from lopsided.estimators.base.randomness import UniformStream
from lopsided.estimators.base.recent_rows import RecentRows
from lopsided.estimators.base.score_memory import ScoreMemory
from lopsided.labels import LabelMap, map_of_labels


class DivergenceWarning(UserWarning):
    """Steps were left out because they would have made the model infinite."""


class CommonClassWarning(UserWarning):
    """The class that is taken to be rare, since nobody named it, is the common one."""


_ROWS_TO_BE_SURE = 100
_CLEAR_MAJORITY = 0.6
_BEYOND_CHANCE = 3.5  # standard deviations of the difference between two classes of the same size


def _is_rate(value: Any) -> bool:
    try:
        return 0.0 < (share_of(value) or 0.0) < 1.0
    except ValueError:
        return False


def _kept(value: Any) -> Any:
    """A parameter that stays as it is, whatever becomes of the learners that it holds."""
    holds_learners = hasattr(value, "get_params") or isinstance(value, list | tuple)
    return clone(value, safe=False) if holds_learners else value


COMMON_CONSTRAINTS: dict[str, Constraint] = {
    "threshold": choice("zero", "f1", "gmean") | Constraint(_is_rate, "'rate:SHARE' with 0 < SHARE < 1") | number(),
    "pos_label": anything(),
    "shuffle": flag(),
    "random_state": anything(),
}


class Classifier(Answering, ClassifierMixin, BaseEstimator):
    """Base of all learners: a scikit-learn classifier for two classes.

    Several threads may use one learner: their calls wait for each other. What a program may ask of it, whatever its
    kind, is in `lopsided.protocol`.
    """

    _constraints: ClassVar[dict[str, Constraint]] = {}
    _ways_to_learn: ClassVar[str] = "'fit'"
    _names_read_from: ClassVar[tuple[Any, tuple[str, ...]]]
    _shape: ClassVar[tuple[str, ...]] = validation.SHAPE

    _answers: Floats | None = None  # of the rows learned last, if somebody wants them: see `_wants_answers`
    _takes_any_scale: ClassVar[bool] = True  # not where a number of a row is a name
    _may_be_wrong_way_round = False  # nobody named the rare class, and it may turn out to be the common one

    # Set by subclasses' constructors.
    threshold: str | float
    pos_label: Any
    shuffle: bool
    random_state: Any

    # ---------------------------------------------------------------- what a learner provides

    def _start(self, n_features: int) -> None:
        """Build the empty model; parameters are valid and `self._uniforms` is ready."""
        raise NotImplementedError

    def _learn(self, rows: Rows, signs: Floats, weights: Floats, *, every_score: bool) -> Floats:
        """Learn from rows in order; returns the score of each before it was learned.

        Unless `every_score`, a row that cannot change the model need not be scored: NaN stands for its score.
        """
        raise NotImplementedError

    def _score(self, rows: Rows) -> Floats:
        """Scores of the current model."""
        raise NotImplementedError

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything the next step depends on, except what the base class keeps."""
        raise NotImplementedError

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Take these arrays, after checking that they fit each other; `_start` was called before."""
        raise NotImplementedError

    def _parts(self) -> list[Any]:
        """Learners that this one is made of, each saved as a whole."""
        return []

    def _restore_parts(self, parts: list[Any]) -> None:
        """Take the learners that were `_parts`."""

    def _kept_numbers(self) -> npt.NDArray[np.int64] | None:
        """Which rows are kept, counted from 1 over the rows learned, or a few more; None if none ever are."""
        return None

    def _leave_rows_to_another(self) -> None:
        """Somebody around this learner keeps the rows as they came: nobody inside need do so."""

    def _end_fit(self) -> None:
        """What is left to do when `fit` has seen all rows."""

    def _prepare_for_one(self) -> None:
        """Get ready for single examples, where there are any."""

    def _check_features(self, X: Any) -> None:
        """Refuse rows that the learner cannot take, beyond what the door refuses."""

    def _threshold_rule(self) -> str | float:
        """How the threshold is found, in words that `ScoreMemory` knows, "zero", or a number."""
        return self.threshold

    @property
    def n_diverged_(self) -> int:
        """How many steps were left out because they would have made a weight or a score infinite."""
        return 0

    def _cure_for_divergence(self) -> str:
        """Which parameters to change, for the warning."""
        return "lower 'learning_rate'"

    # ---------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn from the rows once, in the order given (or shuffled, if `shuffle`).

        Parameters
        ----------
        X : array, data frame or CSR matrix of shape (n_samples, n_features)
            The rows.
        y : vector of shape (n_samples,)
            Their labels, of two classes.
        sample_weight : vector of shape (n_samples,), optional
            0 skips a row; any other weight multiplies the cost of its step.
        """
        with self._alone:
            self._check_parameters()
            with validation.shape_unchanged_on_error(self):
                X, y, weights = self._checked(X, y, sample_weight, first=True)
                if not (weights > 0).any():
                    raise ValueError("The sample weights of fit must not all be zero. Got nothing but zeros.")
                learned = y[weights > 0]
                if np.unique(learned).size == 1:
                    owner, only = type(self).__name__, learned[0]
                    raise ValueError(f"The labels y of {owner}.fit must hold two classes. Got one class: {only!r}.")
                labels = map_of_labels(y, self.pos_label)
                signs = labels.signs(y)
            self._begin(labels)
            if self.shuffle:
                order = self._uniforms.rng.permutation(len(y))
                X, signs, weights = X[order], signs[order], weights[order]
            self._learn_checked(X, signs, weights)
            # All rows are known here, and of words the last in the alphabet is as likely the common one as not.
            if self._may_be_wrong_way_round and y.dtype.kind == "U" and signs.sum() > 0:
                self._say_that_it_is_common()
            self._end_fit()
        return self

    def _checked(self, X: Any, y: Any, sample_weight: Any, *, first: bool) -> tuple[Any, npt.NDArray[Any], Floats]:
        X = validation.checked_features(self, X, first=first)
        self._check_features(X)
        y = validation.checked_labels(self, y, X.shape[0])
        return X, y, validation.checked_weights(sample_weight, X.shape[0])

    def _begin(self, labels: LabelMap) -> None:
        """An empty model for these labels and this many features."""
        self._uniforms = UniformStream(np.random.default_rng(self.random_state))
        self._begun_with = {name: _kept(value) for name, value in self.get_params(deep=False).items()}
        self._set_labels(labels)
        share = share_of(self._threshold_rule())
        self._memory, self._rate_cut = ScoreMemory(share), None
        self._recent = RecentRows(self.n_features_in_, is_on=share is not None)
        self._has_warned = False
        self._may_be_wrong_way_round = not labels.is_told
        self._start(self.n_features_in_)
        self._prepare_for_one()

    def _set_labels(self, labels: LabelMap) -> None:
        self._labels = labels
        self.classes_ = labels.classes

    def _learn_checked(
        self, X: Any, signs: Floats, weights: Floats, *, every_score: bool = False, answered: Floats | None = None
    ) -> Floats:
        """Learn from checked rows, with the lock; a weight of 0 skips the row.

        The scores `answered` when the rows came are remembered instead of those that the model would give now.
        """
        heavy = weights > 0
        if not heavy.all():
            X, signs, weights = X[heavy], signs[heavy], weights[heavy]
            answered = None if answered is None else answered[heavy]
        rows = validation.as_rows(X)
        if self._recent.is_on:
            self._recent.offer(rows, signs)
        inside = self.final_learner if answered is None and self._wants_answers else None
        if inside is not None:
            inside._answers = np.zeros(0)  # it shall leave them there
        scores = self._learn(rows, signs, weights, every_score=every_score)
        answers = None if inside is None else inside.__dict__.pop("_answers")
        self._memory.remember(signs, scores if answered is None else answered, answers)
        self._warn_of_divergence()
        if self._may_be_wrong_way_round:
            self._warn_of_common_class()
        return scores

    def _warn_of_common_class(self) -> None:
        """Say once that the class taken to be rare, because nobody named it, is common; asked after positive rows."""
        positives, negatives = self._memory.seen
        n_rows, more = positives + negatives, positives - negatives
        # One class alone, as in rows sorted by label, shows nothing yet.
        if n_rows < _ROWS_TO_BE_SURE or not negatives or positives < _CLEAR_MAJORITY * n_rows:
            return
        if more > _BEYOND_CHANCE * math.sqrt(n_rows):
            self._say_that_it_is_common()

    def _say_that_it_is_common(self) -> None:
        self._may_be_wrong_way_round = False
        positives, n_rows = self._memory.seen[0], sum(self._memory.seen)
        warnings.warn(
            f"The positive label is taken to be {self._labels.positive!r}, the larger one, but {positives:,} of the "
            f"{n_rows:,} rows so far have it: it is the common one. Name the rare one by 'pos_label'.",
            CommonClassWarning,
            stacklevel=5,
        )

    def _warn_of_divergence(self) -> None:
        if self.n_diverged_ and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"{type(self).__name__} diverges: {self.n_diverged_} step(s) would have made its scores infinite and "
                f"were left out (n_diverged_ counts them); {self._cure_for_divergence()}.",
                DivergenceWarning,
                stacklevel=4,
            )

    # ---------------------------------------------------------------- before and after

    def set_params(self, **params: Any) -> Self:
        """Change parameters; a share of alerts that is asked for now goes by the rows learned from now on."""
        super().set_params(**params)
        if self._started:
            share = share_of(self._threshold_rule())
            if self._recent.is_on != (share is not None):  # as in a file, rows are there if the rule is a share
                self._recent, self._rate_cut = RecentRows(self.n_features_in_, is_on=share is not None), None
            if share != self._memory.share:
                self._memory.follow(share)
        return self

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, with a sentence; `fit` and the first rows do so too."""
        self._check_parameters()

    def finish(self) -> Self:
        """What `fit` does after its last row; most learners have nothing left to do."""
        with self._alone:
            self._check_started()
            self._end_fit()
            self._rate_cut = None
        return self

    def compile_ahead(self, n_features: int | None = None, *, sparse: bool = False, classes: Any = None) -> Self:
        """Compile beforehand what learning and answering need, so that the first row is as fast as the others.

        A copy learns two rows; this learner stays as it is. Machine code is kept on disk: the second time is quick.

        Parameters
        ----------
        n_features : how many features the rows will have; None: as many as so far.
        sparse : whether they will be CSR rows.
        classes : the two labels, if they are not numbers.
        """
        compile_ahead(self, n_features, sparse=sparse, classes=classes)
        return self

    # ---------------------------------------------------------------- keeping

    def snapshot(self) -> Self:
        """An independent copy of one moment, whatever other threads do with this learner."""
        return copy.deepcopy(self)

    def to_bytes(self) -> bytes:
        """The content of the file that `save` writes; `lopsided.from_bytes` reads it."""
        from lopsided.estimators.state.files import to_bytes

        return to_bytes(self)

    def save(self, path: str | Path) -> None:
        """Write the model into one file of arrays and JSON; what `lopsided.load` reads goes on as if never stopped.

        Other threads may go on learning: the file is of one moment. It is read back before it replaces an older one.
        """
        from lopsided.estimators.state.files import save_model

        save_model(self, path)

    def _kept_words(self) -> dict[str, Any]:
        """What a file must say beside parameters and arrays, in values that a parameter may have."""
        return {}

    def _take_words(self, words: dict[str, Any]) -> None:
        """Take what a file says, before the model begins; {} if the file is of a version that said nothing."""

    def _kept_parameters(self) -> dict[str, Any]:
        """Parameters as they were when learning began, for they made the arrays; the threshold as it is now."""
        return self._begun_with | {"threshold": self.threshold}

    @property
    def nbytes_(self) -> int:
        """What the model holds, in bytes, the learners that it is made of included."""
        with self._alone:
            self._check_started()
            # Rows that are kept to be shown come and go with the examples of the learner: a bounded number of them.
            own = sum(array.nbytes for name, array in self._arrays().items() if not name.startswith("rows/"))
            return own + sum(part.nbytes_ for part in self._parts())

    # ---------------------------------------------------------------- conventions

    @property
    def _started(self) -> bool:
        return "_labels" in self.__dict__

    def _check_started(self) -> None:
        if not self._started:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. "
                f"Call {self._ways_to_learn} before asking for scores."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return self._started

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        validation.make_writable(self)
        if self._started:
            self._prepare_for_one()

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """The names of the parameters, read from a constructor once: scikit-learn parses it at every look at them."""
        constructor, names = cls.__dict__.get("_names_read_from", (None, ()))
        if constructor is not cls.__init__:
            names = tuple(super()._get_param_names())
            cls._names_read_from = (cls.__init__, names)
        return list(names)

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False), COMMON_CONSTRAINTS | self._constraints)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.takes_missing
        tags.classifier_tags.multi_class = False
        tags.non_deterministic = False
        return tags
