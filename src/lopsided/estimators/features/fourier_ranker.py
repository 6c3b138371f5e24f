"""FourierRanker: the best linear ranking of random Fourier features in the least-squares sense, kept up to date."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from lopsided.constraints import Constraint, choice, flag, number, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.features.fourier_ranker import (
    CENTRE,
    CLIP,
    DRAWN,
    DUE,
    FIXED,
    KEPT,
    SINCE,
    SOLVED,
    SPREAD,
    WAITING,
    RankerPlan,
    empty_ranker_scratch,
    empty_ranker_state,
    ranker_run,
    ranker_score_rows,
)
from lopsided.core.features.renewal import LOOK_DUE, empty_renewal
from lopsided.core.geometry.points import Rows
from lopsided.core.measures.experts import CHANCE
from lopsided.estimators.base import validation
from lopsided.estimators.base.blas import one_blas_thread
from lopsided.estimators.features.class_moments import ClassMoments
from lopsided.estimators.features.directions import draw_directions
from lopsided.estimators.features.renewed_scale import RenewsScale, room_for_renewal
from lopsided.estimators.state.arrays import ModelFileError, in_range, named_arrays, refilled, taken
from lopsided.estimators.state.experts import empty_experts, experts_arrays, experts_plan, restored_experts

_BLOCK = 64  # rows that are added to the moments by one matrix product
_EXAMPLES, _POSITIVES = 200, 20  # "auto": a solution after so many examples, and after each of the first positives
_RIDGES = (0.1, 0.01, 0.001)  # regularization="auto"
_FADES, _FADE_OF_MEASURE = (1.0, 0.999), 0.999  # fade="auto"
_SHARPNESS = 100.0


def _are_bandwidths(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(map(number(above=0).accepts, value))


class FourierRanker(RenewsScale):
    """Learns the least-squares AUC ranking of random Fourier features in one pass; their number bounds it.

    What `OPAUC` is for a line, at its optimum instead of on the way there: no step size, nothing to tune to begin with,
    features are standardised inside. The strongest single learner here on most streams, a little stronger with
    `regularization="auto", focus=6` (docs/evidence/fourier.md). What it has learned are sums, so that models of
    different parts of a stream can be added up (`lopsided.merge`).

    By class, the weighted count n, mean m and covariance S of z(x), from sums that every example enters; then::

        v = (S_+ + S_- + lambda (1 + 1/sqrt(n_+)) I)^-1 (m_+ - m_-)
        w = c v / v.(m_+ - m_-),    f(x) = w.z(x) - w.(m_+ + m_-) / 2,    c = n_+ / (n_+ + 1)

    v minimises the mean of (1 - v.(z - z'))^2 over all pairs so far, up to its length and with that ridge. On the scale
    of f the mean positive is at c/2 and the mean negative at -c/2, so that scores of different times can be compared;
    while positives are few no score is far from the middle.

    z(x) = sqrt(1/H) (cos r_1.s ... cos r_H.s, sin r_1.s ... sin r_H.s), then `linear` / sqrt(n_features) s, where s is
    x standardised, each feature held within 10 deviations, and H = n_components // 2 directions r_i are shared evenly
    by the bandwidths b, from N(0, 2 b / n_features I). The first `warm_up` rows are kept as they are: at each solution
    s is redefined by their means and deviations (1 for a feature that has not varied) and all of them are encoded
    anew. The last of them fixes the scale, until features leave it (`rescale`).

    f is solved for anew as `refresh` says, at the end of `fit`, and by `solve`; until then scores are of the last
    solution, and 0 before both classes have been seen.

    Cost of one example, with P = n_components + n_features: O(n_features n_components + P^2), and a share of O(P^3);
    "auto" ridges solve three times, an "auto" fade does everything twice. Memory: 16 P^2 bytes, once for each memory of
    `fade`, and 8 (64 P + warm_up n_features + n_features n_components / 2); 8 P^2 of scratch. With `rescale` also
    20,480 (n_features + 5), 2.7 MB at most.

    Parameters
    ----------
    n_components : int >= 1, default=400
        Number of cosines and sines in z. An odd number is rounded down, and 1 counts as 2.
    bandwidths : float > 0 or a list of them, default=(0.25, 1.0)
        One for each group of directions, b in exp(-b |s - s'|^2 / n_features): the larger, the narrower the kernel.
    regularization : float > 0 or "auto", default=0.01
        The ridge lambda. "auto" solves for 0.1, 0.01 and 0.001 and averages them by what each has achieved, p ~
        exp(100 AUROC).
    refresh : int >= 1 or "auto", default="auto"
        The ranking is solved for again after so many examples. "auto" is 200, and at once after each of the first
        20 positives.
    fade : float > 0 and <= 1 or "auto", default=1.0
        Weight of the past at each new example; 1 keeps everything. "auto" keeps memories of 1 and 0.999 side by
        side and averages them by what each achieves at present, p ~ exp(100 AUROC), measured with fade 0.999.
    linear : float >= 0, default=0.1
        How much the features themselves count in z. 0 leaves them out, and so do more than n_components features.
    focus : float >= 0, default=0.0
        How much more a negative counts the more it looks like a positive: its weight is multiplied by 2
        sigmoid(focus (f(x) + 1/2)), which is 1 for an average negative. 0 is the plain least squares over all
        pairs.
    warm_up : int >= 2, default=200
        Number of rows after which the scale of the features is fixed.
    rescale : bool, default=True
        Whether features that leave this scale are measured anew. At 400 rows and at every doubling: if, since the
        last look, the deviation of a standardised feature is above 1.5 or below 1/1.5, or its mean beyond 0.5, its
        mean and deviation become those of the rows since then, and n, m and S those of a sample: up to 2,048
        negatives and 512 positives, so that nothing is lost while a stream is shorter. Where the scale holds, nothing
        changes. Of rows wider than 128 features fewer are kept, and none beyond 2,048: their scale stays fixed.
    sparse_directions : float >= 0 and <= 1, default=0.0
        Share of the directions of each bandwidth that see one, two or three features, chosen at random, instead of
        all. It helps where a few features decide, and costs where all do: 0.5 is worth +0.02 AUC on `agrawal` and
        -0.01 on nine KEEL sets (benchmarks/fourier_options.py).
    threshold : float or {"zero", "f1", "gmean", "rate:SHARE"}, default="zero"
        The score above which `predict` answers with the positive label. "zero" is 0, half-way between the mean
        scores of the two classes. "f1" and "gmean" maximise that measure over the latest progressive scores.
        "rate:0.01" flags that share of the stream, an alert budget.
    pos_label : label or None, default=None
        The positive label, the one of the rare class. None takes the larger of the two sorted labels. If it is the
        smaller one, scikit-learn's own scorers, which assume the larger, read the score reversed.
    shuffle : bool, default=False
        Whether `fit` shuffles the rows before its single pass. `partial_fit` keeps the order given.
    random_state : int or numpy.random.Generator or None, default=None
        Seed of the directions, `rng.standard_normal((n_features, H))`, drawn at the first example and scaled, and
        of the features that sparse ones see. The same int gives the same model; None takes fresh entropy.

    Examples
    --------
    >>> from lopsided import FourierRanker
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> learner = FourierRanker(random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 3)
    0.96

    References
    ----------
    W. Gao, R. Jin, S. Zhu, Z.-H. Zhou, "One-Pass AUC Optimization", ICML 2013 (the moments); A. Rahimi, B. Recht,
    "Random Features for Large-Scale Kernel Machines", NIPS 2007. The rest is of this package.
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": whole(1),
        "bandwidths": Constraint(_are_bandwidths, "a non-empty list of numbers > 0") | number(above=0),
        "regularization": number(above=0) | choice("auto"),
        "refresh": whole(1) | choice("auto"),
        "fade": Constraint(number(above=0, most=1).accepts, "a number > 0 and <= 1") | choice("auto"),
        "linear": number(least=0),
        "focus": number(least=0),
        "warm_up": whole(2),
        "rescale": flag(),
        "sparse_directions": number(least=0, most=1),
    }

    def __init__(
        self,
        n_components: int = 400,
        bandwidths: Any = (0.25, 1.0),
        regularization: float | str = 0.01,
        refresh: int | str = "auto",
        fade: float | str = 1.0,
        linear: float = 0.1,
        focus: float = 0.0,
        warm_up: int = 200,
        rescale: bool = True,
        sparse_directions: float = 0.0,
        threshold: float | str = "zero",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.bandwidths = bandwidths
        self.regularization = regularization
        self.refresh = refresh
        self.fade = fade
        self.linear = linear
        self.focus = focus
        self.warm_up = warm_up
        self.rescale = rescale
        self.sparse_directions = sparse_directions
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    # ---------------------------------------------------------------- the empty model

    def _start(self, n_features: int) -> None:
        fades = _FADES if isinstance(self.fade, str) else (float(self.fade),)
        self._plan = RankerPlan(
            refresh=_EXAMPLES if isinstance(self.refresh, str) else int(self.refresh),
            eager=_POSITIVES if isinstance(self.refresh, str) else 0,
            linear=float(self.linear) / np.sqrt(n_features),
            focus=float(self.focus),
            fade=fades[0],
        )
        self._ridges = _RIDGES if isinstance(self.regularization, str) else (float(self.regularization),)
        variants = len(fades) * len(self._ridges)
        with_features = self.linear > 0 and n_features <= self.n_components
        self._state = empty_ranker_state(
            n_features, max(1, int(self.n_components) // 2), with_features, variants, _BLOCK, int(self.warm_up)
        )
        self._renewal = room_for_renewal(n_features) if self.rescale else empty_renewal(0, 0, n_features)
        length = self._state.weights.shape[1]
        self._moments_by_fade = [ClassMoments(length, fade) for fade in fades]
        fade_of_measure = _FADE_OF_MEASURE if isinstance(self.fade, str) else float(self.fade)
        # One variant need not be ranked.
        self._experts_plan = experts_plan("auroc" if variants > 1 else "f1", _SHARPNESS, fade=fade_of_measure)
        self._experts = empty_experts(self._experts_plan, variants)
        self._work, self._matrix = empty_ranker_scratch(self._state), np.zeros((length, length))

    def _prepare_for(self, rows: Rows) -> None:
        # Not earlier: `fit` may shuffle before, and a pool may hand over another generator.
        if not self._state.tally[DRAWN]:
            rng, sparse = self._uniforms.rng, float(self.sparse_directions)
            draw_directions(rng, self._state.directions, self.bandwidths, sparse)
            self._state.tally[DRAWN] = 1

    # ---------------------------------------------------------------- learning

    _run = staticmethod(ranker_run)
    _score_rows = staticmethod(ranker_score_rows)

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        model = (self._state, self._renewal, self._experts, self._plan, self._experts_plan)
        return (*model, rows, signs, costs, self._work, scores)

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        return self._state, self._experts, self._plan, rows, self._work, scores

    def _run_span(self, rows: Rows, arguments: tuple[Any, ...], start: int, stop: int) -> int:
        while start < stop:
            start = super()._run_span(rows, arguments, start, stop)
            self._do_what_is_due()
        return stop

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        self._prepare_for(self._one_row)
        score = super()._learn_one(sign, weight)
        self._do_what_is_due()
        return score

    def _do_what_is_due(self) -> None:
        """What the compiled loop leaves to linear algebra; in place, since calls may be bound to these arrays."""
        if self._state.tally[DUE]:
            self._solve()
        elif self._state.tally[WAITING] == _BLOCK:
            with one_blas_thread:
                self._add_block()
        if self._renewal.tally[LOOK_DUE]:
            with one_blas_thread:
                self._look_at_scale()

    def _end_fit(self) -> None:
        self.solve()

    def _add_block(self) -> None:
        n = int(self._state.tally[WAITING])
        if n:
            state = self._state
            for memory in self._moments_by_fade:
                memory.add_block(state.block[:n], state.block_signs[:n], state.block_weights[:n])
            state.tally[WAITING] = 0

    def _solve(self) -> None:
        """Bring the moments and then the weights of every variant up to date."""
        with one_blas_thread:
            self._solve_all()

    def _solve_all(self) -> None:
        tally = self._state.tally
        if tally[FIXED]:
            self._add_block()
        else:
            self._encode_first_rows()
        solved = False
        for m, memory in enumerate(self._moments_by_fade):
            for r, ridge in enumerate(self._ridges):
                solution = memory.ranker(ridge, self._matrix)
                if solution is not None:
                    variant = m * len(self._ridges) + r
                    self._state.weights[variant], self._state.offsets[variant] = solution
                    solved = True
        tally[SOLVED] += solved
        tally[SINCE] = tally[DUE] = 0

    def solve(self) -> Self:
        """Bring the weights up to date with every example so far, as `fit` does at its end."""
        with self._alone:
            self._check_started()
            if self._state.tally[SINCE]:
                self._solve()
        return self

    # ---------------------------------------------------------------- keeping, looking inside

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        arrays = named_arrays(state=self._state)
        for m, memory in enumerate(self._moments_by_fade):
            arrays |= {f"memory{m}.{name}": array for name, array in memory.arrays.items()}
        if self._renewal.spread.size:
            arrays |= named_arrays(renewal=self._renewal)
        return arrays | experts_arrays(self._experts)

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        state = refilled(arrays, "state", self._state)
        in_range("state.tally", state.tally, 0, 2**62)
        in_range("state.tally", state.tally[[DRAWN, FIXED, DUE]], 0, 1)
        in_range("state.tally", state.tally[WAITING], 0, _BLOCK - 1)
        in_range("state.tally", state.tally[KEPT], 0, int(self.warm_up) - 1)
        if not (state.scale[SPREAD] > 0.0).all():
            raise ModelFileError(
                "The array 'state.scale' of the model file must hold deviations > 0. Got others: the file is damaged."
            )
        self._restore_renewal(arrays)
        for m, memory in enumerate(self._moments_by_fade):
            for name, empty in memory.arrays.items():
                setattr(memory, name, taken(arrays, f"memory{m}.{name}", np.float64, empty.shape))
        self._state, self._experts = state, restored_experts(arrays, self._experts)
        self._unbind()

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        for memory in getattr(self, "_moments_by_fade", []):
            validation.make_writable(memory)

    @property
    def coef_(self) -> Floats:
        """w, (1, length of z): the weights of all cosines, all sines, and the standardised features (a copy)."""
        self._check_started()
        return (self._experts.standing[CHANCE] @ self._state.weights)[None]

    @property
    def intercept_(self) -> Floats:
        """What is added to w.z: minus the middle between the classes (a copy)."""
        self._check_started()
        return -(self._experts.standing[CHANCE] @ self._state.offsets)[None]

    @property
    def directions_(self) -> Floats:
        """The directions r_i, a column each (a copy)."""
        self._check_started()
        return self._state.directions.copy()

    @property
    def scale_(self) -> Floats:
        """The mean and the deviation by which each feature is standardised, (2, n_features) (a copy)."""
        self._check_started()
        return self._state.scale[[CENTRE, SPREAD]].copy()

    @property
    def typical_row_(self) -> Floats:
        """The row that others are explained against: the means of the features (a copy)."""
        self._check_started()
        return self._state.scale[CENTRE].copy()

    @property
    def farthest_(self) -> float:
        """How many deviations from its mean a feature counts at most."""
        return CLIP

    def standardised(self, X: Any) -> Floats:
        """Rows on the learner's own scale, as it encodes them: (x - mean) / deviation, at most 10 in size."""
        with self._alone:
            self._check_started()
            rows = validation.dense_rows(self._rows_of(X), self.n_features_in_)
            centre, spread = self._state.scale[CENTRE], self._state.scale[SPREAD]
        with np.errstate(over="ignore", invalid="ignore"):
            values = (rows - centre) / spread
        return np.where(np.isnan(values), 0.0, np.clip(values, -CLIP, CLIP))

    @property
    def linear_coef_(self) -> Floats:
        """What the linear part of the score counts for each standardised feature; 0 without such a part (a copy)."""
        n_features, n_waves = self.n_features_in_, 2 * self.directions_.shape[1]
        linear = self.coef_[0, n_waves:]
        return self._plan.linear * linear if linear.size else np.zeros(n_features)

    def linear_terms(self, X: Any) -> Floats:
        """For each row what each feature contributes to the linear part of the score, (n_samples, n_features)."""
        return self.standardised(X) * self.linear_coef_

    @property
    def variant_weights_(self) -> Floats:
        """p of every variant, by `fade` and `regularization`: 1 unless one of them is "auto" (a copy)."""
        self._check_started()
        return self._experts.standing[CHANCE].reshape(len(self._moments_by_fade), -1).copy()
