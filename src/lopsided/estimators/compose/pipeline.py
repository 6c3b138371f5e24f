"""A scaler and a learner that learn together, row by row."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from lopsided.constraints import ParameterError
from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.geometry.points import Rows
from lopsided.estimators.base import validation
from lopsided.estimators.base.classifier import Classifier
from lopsided.estimators.base.online import OnlineClassifier
from lopsided.estimators.compose.learner_inside import SpeaksForItsLearner
from lopsided.estimators.compose.merging_parts import MergesParts
from lopsided.estimators.compose.remembered_rows import RememberedRows, RememberedVectors, vector_at
from lopsided.estimators.compose.scaler import OnlineScaler
from lopsided.estimators.kernel.koil import KOIL


class StreamPipeline(MergesParts, SpeaksForItsLearner):
    """Scales every row by what was known before it, then learns from it: a pipeline with `partial_fit`.

    scikit-learn's Pipeline cannot learn row by row. This one is itself a learner with everything a learner has, and is
    saved as one file. Support vectors are on the scale at which they were learned.

    Parameters
    ----------
    scaler : OnlineScaler or None, default=None
        Scales every row before it is learned. None is OnlineScaler().
    learner : learner or None, default=None
        Any learner of this package. None is KOIL(). Its threshold, pos_label, shuffle and random_state hold for the
        pipeline.

    Attributes
    ----------
    scaler_ : OnlineScaler
        The scaler as it stands.
    learner_ : learner
        The learner as it stands.

    Examples
    --------
    >>> from lopsided import KOIL, OnlineScaler, StreamPipeline
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> pipeline = StreamPipeline(OnlineScaler("standard"), KOIL(random_state=0))
    >>> scores = pipeline.progressive_scores(1000.0 * stream.X, stream.y)
    >>> round(auroc(stream.y, scores), 3)
    0.947
    """

    def __init__(self, scaler: Any = None, learner: Any = None) -> None:
        self.scaler = scaler
        self.learner = learner

    def set_params(self, **params: Any) -> Self:
        """As in scikit-learn; parameters of a part that was left to its default are those of the default."""
        for name, default in (("scaler", OnlineScaler), ("learner", self._default_learner)):
            if getattr(self, name) is None and any(key.startswith(f"{name}__") for key in params):
                setattr(self, name, default())
        return super().set_params(**params)

    def _given_scaler(self) -> OnlineScaler:
        return OnlineScaler() if self.scaler is None else self.scaler

    def _default_learner(self) -> Classifier:
        return KOIL()

    def _check_parameters(self) -> None:
        if not isinstance(self._given_scaler(), OnlineScaler):
            raise ParameterError(
                f"The 'scaler' parameter of StreamPipeline must be an OnlineScaler. Got {self.scaler!r} instead."
            )
        if not isinstance(self._given_learner(), Classifier):
            raise ParameterError(
                f"The 'learner' parameter of StreamPipeline must be a learner of lopsided. Got {self.learner!r}."
            )
        self._check_scale_of_learner()
        self._given_scaler()._check_parameters()
        self._given_learner()._check_parameters()

    def _check_scale_of_learner(self) -> None:
        if not self._given_learner()._takes_any_scale:
            raise ParameterError(
                f"The 'learner' parameter of {type(self).__name__} must take rows on any scale. "
                f"Got {type(self.learner).__name__}, whose keys are none: give the scaler to it instead."
            )

    def _check_features(self, X: Any) -> None:
        self._given_scaler()._check_features(X)

    def _next(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> tuple[Any, Floats, Floats]:
        learner = self._given_learner()
        if not isinstance(learner, OnlineClassifier):
            raise ParameterError(
                f"The learner of a {type(self).__name__} must learn row by row, unless all rows are given to 'fit'. "
                f"Got {type(learner).__name__}."
            )
        return super()._next(X, y, classes, sample_weight)

    def _start(self, n_features: int) -> None:
        self.scaler_ = clone(self._given_scaler())
        self.scaler_.n_features_in_ = n_features
        self.scaler_._start(n_features)
        self.learner_ = clone(self._given_learner())
        self.learner_.n_features_in_ = self._learner_width(n_features)
        self.learner_._begin(self._labels)
        self._rows = None if self.learner_._kept_numbers() is None else self._no_rows()
        self._share_with_parts()

    def _learner_width(self, n_features: int) -> int:
        """How many features the learner gets of a row of so many."""
        return n_features

    def _share_with_parts(self) -> None:
        """One lock, one stream of randomness and one memory of scores for the whole."""
        self._use_lock(self._alone)
        self.learner_._uniforms = self._uniforms
        self.learner_._memory = self._memory
        self.learner_._leave_rows_to_another()

    def _learn(self, rows: Rows, signs: Floats, weights: Floats, *, every_score: bool) -> Floats:
        scores = self.learner_._learn(self._prepared(rows, signs), signs, weights, every_score=every_score)
        self._remember(rows, signs)
        return scores

    def _take_turns(self, rows: Rows, turns: Floats, weights: Floats) -> Floats:
        scores: Floats = self.learner_._take_turns(self._prepared(rows, turns), turns, weights)
        self._remember(rows, turns)
        return scores

    def _score(self, rows: Rows) -> Floats:
        return self.learner_._score(self._prepared(rows, None))

    def _prepared(self, rows: Rows, turns: Floats | None) -> Rows:
        """Rows as the learner gets them, each by what was known before it.

        Those whose turn is a number become part of what is known; none do if there are no turns.
        """
        return self.scaler_._scale(rows, turns)

    # One example goes straight into the array from which the learner reads it.

    def learn_one(self, x: Any, y: Any, *, score: float | None = None, weight: float = 1.0) -> Self:
        """As in all learners, if the learner inside learns row by row."""
        if not isinstance(self._given_learner(), OnlineClassifier):
            self._next([], [], None, None)
        return super().learn_one(x, y, score=score, weight=weight)

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        rows = self._rows
        came = None if rows is None else self._one_as_it_came()
        self._pass_one_on(learn=True)
        score = self.learner_._learn_one(sign, weight)
        if rows is not None:
            rows.add(came, self.learner_._kept_numbers)
        return score

    def _score_one(self) -> float:
        if not isinstance(self.learner_, OnlineClassifier):
            return super()._score_one()
        self._pass_one_on(learn=False)
        return self.learner_._score_one()

    def _pass_one_on(self, *, learn: bool) -> None:
        """Scale the example; if `learn`, note it."""
        name = "_one_scale_and_note" if learn else "_one_scale"
        scale = self.__dict__.get(name)
        if scale is None:
            scale = self.__dict__[name] = self.scaler_._bound(self._one_row, self.learner_._one_row, learn=learn)
        scale()

    # What the learner keeps is on the scale of its moment: whoever wants to see it is shown the row as it came.

    _rows: RememberedRows | None  # None if the learner keeps none, or another pipeline around this one has them

    def _no_rows(self) -> RememberedRows:
        return RememberedVectors()

    def _remember(self, rows: Rows, turns: Floats) -> None:
        """These rows have come, and those whose turn is a number have been learned."""
        if self._rows is not None:
            learned, row_at = np.flatnonzero(turns == turns), self._rows_as_they_came(rows)
            self._rows.add_many(learned.size, lambda place: row_at(learned[place]), self.learner_._kept_numbers)

    def _rows_as_they_came(self, rows: Rows) -> Callable[[int], Any]:
        return partial(vector_at, rows)

    def _one_as_it_came(self) -> Any:
        return self._one_x.copy()

    def _kept_numbers(self) -> npt.NDArray[np.int64] | None:
        return self.learner_._kept_numbers()

    def _as_if_new(self, scores: Floats, numbers: Integers, rows: Rows, signs: Floats) -> Floats:
        return self.learner_._as_if_new(scores, numbers, self._prepared(rows, None), signs)

    @property
    def _remembers_its_answers(self) -> bool:
        return bool(self.learner_._remembers_its_answers)

    @property
    def _learns_by_heart(self) -> bool:
        return bool(self.learner_._learns_by_heart)

    def _leave_rows_to_another(self) -> None:
        if self._started:
            self._rows = None

    def remembered_row(self, number: int) -> Any:
        """The row of this number, counted from 1 over the rows learned, as it came: an array.

        None if no example of the learner is that row, or if a file of an older version did not keep it. The numbers of
        what is kept are the learner's `support_numbers_`.
        """
        with self._alone:
            self._check_started()
            rows = self._rows
            return rows.vector(number, self.n_features_in_) if isinstance(rows, RememberedVectors) else None

    def _score_every_row(self) -> None:
        super()._score_every_row()
        self.learner_._score_every_row()

    def _end_fit(self) -> None:
        self.learner_._end_fit()

    def _use_lock(self, lock: Any) -> None:
        super()._use_lock(lock)
        if self._started:
            self.scaler_._use_lock(lock)
            self.learner_._use_lock(lock)

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        if self._started:
            self._share_with_parts()

    @property
    def final_learner(self) -> Any:
        """The learner inside: as it learned, or as it was given before that."""
        return (self.learner_ if self._started else self._given_learner()).final_learner

    def _prepare_for_one(self) -> None:
        super()._prepare_for_one()
        self.__dict__.pop("_one_scale_and_note", None)
        self.__dict__.pop("_one_scale", None)

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        parts = {"scaler": self.scaler_._arrays(), "learner": self.learner_._arrays()}
        arrays = {f"{part}/{name}": array for part, arrays in parts.items() for name, array in arrays.items()}
        return arrays if self._rows is None else arrays | self._rows.arrays(self.learner_._kept_numbers())

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        for part, model in (("scaler/", self.scaler_), ("learner/", self.learner_)):
            model._restore({name.removeprefix(part): array for name, array in arrays.items() if name.startswith(part)})
        if self._rows is not None:
            self._rows.restore(arrays, self.n_seen_, self.n_features_in_)
        self._prepare_for_one()

    def _parts(self) -> list[Any]:
        return self.learner_._parts()

    def _restore_parts(self, parts: list[Any]) -> None:
        self.learner_._restore_parts(parts)
        self.learner_._use_lock(self._alone)
        self.learner_._leave_rows_to_another()

    @property
    def n_diverged_(self) -> int:
        """How many steps of the learner were left out because they would have made the model infinite."""
        return self.learner_.n_diverged_

    def _cure_for_divergence(self) -> str:
        return self.learner_._cure_for_divergence()

    @property
    def n_support_(self) -> int:
        """The learner's number of support vectors."""
        self._check_started()
        return self.learner_.n_support_

    @property
    def support_vectors_(self) -> Any:
        """The learner's support vectors, on the scale at which they were learned."""
        self._check_started()
        return self.learner_.support_vectors_

    @property
    def support_numbers_(self) -> Any:
        """Which row each of them is, counted from 1 over the rows learned: see `remembered_row`."""
        self._check_started()
        return self.learner_.support_numbers_

    @property
    def support_weights_(self) -> Any:
        """The learner's weights of them."""
        self._check_started()
        return self.learner_.support_weights_

    @property
    def support_signs_(self) -> Any:
        """The learner's classes of them."""
        self._check_started()
        return self.learner_.support_signs_

    # ---------------------------------------------------------------- looking inside

    @property
    def scale_kind(self) -> str:
        """How numbers are scaled: "standard" or "minmax"."""
        return self._given_scaler().kind

    def prepared(self, X: Any) -> Any:
        """Rows as the learner gets them, on the scale known so far: an array, or CSR for CSR. Changes nothing."""
        self._check_started()
        with self._alone:
            rows = validation.matrix_of(self._prepared(self._rows_of(X), None), self.n_features_in_)
        return self.learner_.prepared(rows) if isinstance(self.learner_, StreamPipeline) else rows

    def unscaled(self, rows: Floats) -> Floats:
        """Rows as this pipeline takes them, out of rows as its learner gets them; the other way round than `prepared`.

        By the scale known so far. NaN for a number that has not varied.
        """
        inner = self.learner_
        rows = inner.unscaled(rows) if isinstance(inner, StreamPipeline) else np.asarray(rows, dtype=np.float64)
        return self._unscaled(rows)

    @property
    def typical_row_(self) -> Floats:
        """The row that others are explained against: every feature at its mean."""
        self._check_started()
        return self.scaler_.means_

    def affine(self) -> tuple[Floats, Floats]:
        """Middle and factor of every feature: the learner gets (x - middle) factor, on the scale known so far."""
        self._check_started()
        middle, factor = self._affine()
        if isinstance(self.learner_, StreamPipeline):
            inner_middle, inner_factor = self.learner_.affine()
            with np.errstate(divide="ignore", invalid="ignore"):
                moved = np.where(factor > 0.0, middle + inner_middle / factor, middle)
            # Where the first factor is 0 the second scaler gets 0, and what it makes of that is no multiple of x.
            middle, factor = moved, factor * inner_factor
        return middle, factor

    def _unscaled(self, rows: Floats) -> Floats:
        return self.scaler_.unscaled(rows)

    def _affine(self) -> tuple[Floats, Floats]:
        return self.scaler_.affine()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._given_scaler().__sklearn_tags__().input_tags.sparse
        return tags
