"""Linear rankers: AUC by the square loss with class statistics (OPAUC), or by the hinge with reservoirs (OAM)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lopsided.constraints import Constraint, choice, nothing, number, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.geometry.points import Rows, empty_points
from lopsided.core.geometry.shared_points import fill_columns
from lopsided.core.linear.oam import (
    GRADIENT,
    HELD,
    OAM_DIVERGED,
    SEEN,
    SEQUENTIAL,
    OamModel,
    OamPlan,
    empty_oam_tally,
    oam_run,
    oam_score_rows,
)
from lopsided.core.linear.opauc import (
    OPAUC_DIVERGED,
    OpaucPlan,
    empty_moments,
    opauc_run,
    opauc_score_rows,
)
from lopsided.estimators.base import validation
from lopsided.estimators.base.merging import averaged, drawn
from lopsided.estimators.kernel.support_learner import SupportLearner
from lopsided.estimators.kernel.uniting import Kept, joined, kept, sampled_by_mass
from lopsided.estimators.linear.merging_moments import add_classes, go_on
from lopsided.estimators.linear.weight_vector import LINEAR, RATE, LinearLearner
from lopsided.estimators.state.arrays import in_range, named_arrays, refilled, taken
from lopsided.estimators.state.points import moved_points, numbers_of, points_arrays, restored_points, wide_enough


class OPAUC(LinearLearner):
    """Learns a linear ranking that maximises AUC in one pass, without keeping examples: means and covariances suffice.

    The least square of 1 - w.(x_positive - x_negative) over all pairs so far. The strongest linear ranker here; of
    quadratic cost in the features, unless `rank` sketches the covariances.

    For each example (x, y), with c and S the mean and covariance of the opposite class and v = x - c::

        w -= eta (lambda w - y v + (v.w) v + S w)

    Cost of one example: O(n_features^2), with `rank` O(n_features rank). Memory: 16 n_features^2 bytes, with `rank`
    16 n_features rank.

    Parameters
    ----------
    learning_rate : float > 0, default=0.01
        Step size eta. The loss is quadratic: for features that are not about 1 in size take a smaller one, or scale
        them.
    regularization : float >= 0, default=0.0001
        How strongly the weights are pulled towards 0, lambda.
    rank : int >= 1 or None, default=None
        Number of columns of the sketch of each covariance. None keeps the covariance itself.
    fit_intercept : bool, default=False
        Accepted by all linear learners. Pairs do not see a bias, so here it stays 0.
    threshold : float or {"zero", "f1", "gmean", "rate:SHARE"}, default="zero"
        The score above which `predict` answers with the positive label. "zero" is 0, the published rule. "f1" and
        "gmean" maximise that measure over the latest progressive scores. "rate:0.01" flags that share of the
        stream, an alert budget.
    pos_label : label or None, default=None
        The positive label, the one of the rare class. None takes the larger of the two sorted labels. If it is the
        smaller one, scikit-learn's own scorers, which assume the larger, read the score reversed.
    shuffle : bool, default=False
        Whether `fit` shuffles the rows before its single pass. `partial_fit` keeps the order given.
    random_state : int or numpy.random.Generator or None, default=None
        Seed of the sketch, which draws `rng.standard_normal(rank) / sqrt(rank)` for each example. Without `rank`
        only `shuffle` draws.

    Examples
    --------
    >>> from lopsided import OPAUC
    >>> from lopsided.datasets import overlapping
    >>> from lopsided.metrics import auroc
    >>> stream = overlapping(2_000, 20)
    >>> learner = OPAUC()
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.924

    References
    ----------
    W. Gao, R. Jin, S. Zhu, Z.-H. Zhou, "One-Pass AUC Optimization", ICML 2013. The sketch here is of the covariance;
    published code sketches the second moment, which is not the same where means are not 0.
    """

    _constraints: ClassVar[dict[str, Constraint]] = (
        LINEAR | RATE | {"regularization": number(least=0), "rank": nothing() | whole(1)}
    )

    def __init__(
        self,
        learning_rate: float = 0.01,
        regularization: float = 1e-4,
        rank: int | None = None,
        fit_intercept: bool = False,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.rank = rank
        self.fit_intercept = fit_intercept
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        self._plan = OpaucPlan(float(self.learning_rate), float(self.regularization))
        self._moments = empty_moments(n_features, int(self.rank or 0))
        self._work = np.zeros((4, max(n_features, int(self.rank or 0))))
        self._normals_of_one = np.zeros((1, self._moments.sketch_sum.shape[1]))

    _run = staticmethod(opauc_run)
    _score_rows = staticmethod(opauc_score_rows)

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        # The last two are the normal numbers of the sketch and the row they begin with: here those of a single example.
        return self._moments, self._plan, rows, signs, costs, self._work, scores, self._normals_of_one, 0

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        return self._moments, rows, scores

    def _normals(self, n: int) -> Floats:
        """r for n examples, each from N(0, I / rank)."""
        rank = self._moments.sketch_sum.shape[1]
        return self._uniforms.rng.standard_normal((n, rank)) / np.sqrt(max(rank, 1))

    def _run_span(self, rows: Rows, arguments: tuple[Any, ...], start: int, stop: int) -> int:
        learned = ~np.isnan(arguments[3][start:stop])
        normals = np.zeros((stop - start, self._moments.sketch_sum.shape[1]))
        normals[learned] = self._normals(int(np.count_nonzero(learned)))
        return opauc_run(*(*arguments[:-2], normals, start, start, stop))

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        self._normals_of_one[:] = self._normals(1)
        return super()._learn_one(sign, weight)

    def _merge(self, models: list[Any], shares: Floats) -> None:
        moments = self._moments
        for model in models[1:]:
            add_classes(moments, model._moments)
        moments.weights[:] = averaged([model._moments.weights for model in models], shares)
        # The average has gone as far as the models have, which is less far than one model of all rows.
        seen = np.array([model.n_seen_ for model in models], dtype=np.float64)
        go_on(moments, self._plan, float(seen.sum() - shares @ seen))
        self._unbind()

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return named_arrays(moments=self._moments)

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        self._moments = refilled(arrays, "moments", self._moments)
        in_range("moments.tally", self._moments.tally, 0, 2**62)
        self._unbind()

    @property
    def _weights(self) -> Floats:
        return self._moments.weights

    @property
    def n_diverged_(self) -> int:
        """How many steps were left out because they would have made a weight infinite."""
        return self._moments.tally.item(OPAUC_DIVERGED)


class OAM(LinearLearner, SupportLearner):
    """Learns a linear ranking that maximises AUC, from a reservoir of examples of each class.

    The linear forerunner of `KOIL`: every example is compared with all that are kept of the opposite class.

    For each example (x, y), for each opposite x' that is kept, v = y (x - x'), C_t = C max(1, n_opposite / budget)::

        "seq":  w += min(C_t / 2, max(0, 1 - w.v) / |v|^2) v,  one after the other
        "gra":  w += C_t / 2 sum of the v with w.v <= 1,       all at once

    Cost of one example: O(budget n_features), or O(budget non-zeros) for CSR. Memory: 2 budget examples.

    Parameters
    ----------
    variant : {"seq", "gra"}, default="seq"
        Learn from the pairs one after the other, or from all of them in one gradient step.
    C : float > 0, default=0.1
        The largest step. On features of unit scale 1e-4 to 1e-2 is often better than the published 0.1.
        `sample_weight` multiplies it.
    budget : int >= 1, default=100
        The most examples kept of each class, B.
    fit_intercept : bool, default=False
        Accepted by all linear learners. Pairs do not see a bias, so here it stays 0.
    threshold : float or {"zero", "f1", "gmean", "rate:SHARE"}, default="zero"
        The score above which `predict` answers with the positive label. "zero" is 0, the published rule. "f1" and
        "gmean" maximise that measure over the latest progressive scores. "rate:0.01" flags that share of the
        stream, an alert budget.
    pos_label : label or None, default=None
        The positive label, the one of the rare class. None takes the larger of the two sorted labels. If it is the
        smaller one, scikit-learn's own scorers, which assume the larger, read the score reversed.
    shuffle : bool, default=False
        Whether `fit` shuffles the rows before its single pass. `partial_fit` keeps the order given.
    random_state : int or numpy.random.Generator or None, default=None
        Seed of the random draws. The same int gives the same model; None takes fresh entropy.

    Examples
    --------
    >>> from lopsided import OAM
    >>> from lopsided.datasets import overlapping
    >>> from lopsided.metrics import auroc
    >>> stream = overlapping(2_000, 20)
    >>> learner = OAM(C=0.001, random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.905

    References
    ----------
    P. Zhao, S. C. H. Hoi, R. Jin, T. Yang, "Online AUC Maximization", ICML 2011.
    """

    _constraints: ClassVar[dict[str, Constraint]] = LINEAR | {
        "variant": choice("seq", "gra"),
        "C": number(above=0),
        "budget": whole(1),
    }

    def __init__(
        self,
        variant: str = "seq",
        C: float = 0.1,
        budget: int = 100,
        fit_intercept: bool = False,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.variant = variant
        self.C = C
        self.budget = budget
        self.fit_intercept = fit_intercept
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        variant = SEQUENTIAL if self.variant == "seq" else GRADIENT
        self._plan = OamPlan(variant, float(self.C), int(self.budget))
        self._points = empty_points(n_features, 2 * int(self.budget), by_non_zeros=True)
        self._marks, self._tally = np.zeros(2 * int(self.budget)), empty_oam_tally()
        self._w = np.zeros(n_features + 1)

    _run = staticmethod(oam_run)
    _score_rows = staticmethod(oam_score_rows)

    @property
    def _model(self) -> OamModel:
        return OamModel(self._w, self._points, self._marks, self._tally)

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        return self._model, self._plan, rows, signs, costs, draws, scores

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        return self._model, rows, scores

    @property
    def _draws_a_row(self) -> int:
        return 1

    def _merge(self, models: list[Any], shares: Floats) -> None:
        self._start(self.n_features_in_)
        budget = self._plan.budget
        self._w[:] = averaged([model._w for model in models], shares)
        self._tally[:] = sum(model._tally for model in models)
        parts = [self._reservoir(models, own) for own in range(2)]
        both, held = joined(parts), [part.size for part in parts]
        rows = validation.as_rows(both.vectors)
        points = wide_enough(empty_points(self.n_features_in_, both.size, by_non_zeros=True), rows)
        fill_columns(points, rows, both.numbers)
        columns = np.concatenate([own * budget + np.arange(size) for own, size in enumerate(held)])
        self._points = moved_points(points, np.arange(both.size), columns, 2 * budget)
        self._points.marks[-1], self._tally[HELD : HELD + 2] = self.n_seen_, held
        self._unbind()

    def _reservoir(self, models: list[Any], own: int) -> Kept:
        """A uniform sample of all that the models have seen of a class, from their uniform samples."""
        parts = []
        for t, model in enumerate(models):
            held, seen = int(model._tally[HELD + own]), float(model._tally[SEEN + own])
            columns = own * model._plan.budget + np.arange(held)
            numbers = numbers_of(model._points)[columns] if t == 0 else np.zeros(held, dtype=np.int64)
            parts.append(kept(model._vectors_at(columns), np.zeros(held), np.ones(held), numbers, seen=seen))
        both, most = joined(parts), self._plan.budget
        uniforms = drawn(self._uniforms, both.size)
        if both.size <= most:
            return both
        return both.chosen(np.flatnonzero(sampled_by_mass(both.masses, most, uniforms)))

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return points_arrays(self._points) | {"weights": self._w, "tally": self._tally}

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        self._w = taken(arrays, "weights", np.float64, self._w.shape)
        self._tally = taken(arrays, "tally", np.int64, self._tally.shape)
        in_range("tally", self._tally, 0, 2**62)
        in_range("tally", self._tally[HELD : HELD + 2], 0, int(self.budget))
        room = 2 * int(self.budget)
        self._points = restored_points(arrays, self.n_features_in_, room, self.n_seen_, by_non_zeros=True)
        self._unbind()

    @property
    def _weights(self) -> Floats:
        return self._w

    @property
    def n_diverged_(self) -> int:
        """How many steps were left out because they would have made a weight infinite."""
        return self._tally.item(OAM_DIVERGED)

    def _cure_for_divergence(self) -> str:
        return "lower C"
