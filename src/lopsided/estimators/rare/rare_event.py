"""RareEventClassifier: a second-order ranker and boosted trees on a bounded sample, blended online."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lopsided.constraints import Constraint, choice, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.features.fourier_ranker import (
    DRAWN,
    DUE,
    WAITING,
    empty_ranker_scratch,
    empty_ranker_state,
)
from lopsided.core.geometry.points import Rows
from lopsided.core.measures.drift_gate import empty_gate
from lopsided.core.measures.log_odds import empty_lines
from lopsided.core.measures.mixture import MixturePlan, empty_mixture
from lopsided.core.rare.linear_part import empty_linear_part
from lopsided.core.rare.step import (
    BEAT_DUE,
    BLENDS,
    FIRST_LEANING,
    RESTART_DUE,
    RESTARTS,
    SCALE_DUE,
    SHORT,
    SHORT_DUE,
    SINCE_SHORT,
    YOUNG_DUE,
    YOUTH,
    RarePlan,
    RareScratch,
    RareState,
    rare_run,
)
from lopsided.core.sampling.priority import empty_sample
from lopsided.core.trees.forest import empty_forest
from lopsided.core.trees.sampled_forest import SampledForest
from lopsided.estimators.base import validation
from lopsided.estimators.base.blas import one_blas_thread
from lopsided.estimators.features.directions import draw_directions
from lopsided.estimators.rare.booster import DEFAULT_TREES, N_TREES, Booster
from lopsided.estimators.rare.memories import LongMemory, ShortMemory
from lopsided.estimators.rare.merging import AddsRareEvents
from lopsided.estimators.rare.state import rare_arrays, restored_state
from lopsided.estimators.rare.two_memories import LONG_RIDGES, PRIOR_OF_LINEAR, SHORT_RIDGES, YOUNG_TREES

_BLOCK, _WARM_UP = 256, 200
_BANDWIDTHS, _SPARSE_SHARE, _LINEAR = (0.25, 1.0), 0.5, 0.1
_OF_LONG = MixturePlan(base=50.0, per_positive=1.0, area=0.5, most=1000.0)
_OF_SHORT = MixturePlan(base=50.0, per_positive=1.0, area=0.5, most=50.0)
_OF_BLEND = MixturePlan(base=0.0, per_positive=1.25, area=0.25, most=150.0)
# What blends count before anything is known, in the order of BLENDS.
_OF_TWO, _WITH_LINEAR, _SHORT_ALONE = np.array([1.0, 1.0, 2.0, 2.0, 1.0, 0.5, 0.5]), 0.25, 0.5
_LEANING = np.full(len(BLENDS) - FIRST_LEANING, 0.5)
_RECENT = 4000  # rows of the sample that fades
_WIDEST = 2000  # features beyond which there are no trees
_PARTS = ("ranker", "short", "trees", "linear", "lean", "blend", "score")
_CELLS = 8_000_000  # numbers in the sample: from 400 features on it holds fewer rows


class RareEventClassifier(AddsRareEvents):
    """Learns to rank rare events with nothing to tune: a second-order ranker and boosted trees, blended online.

    The one to begin with. A ranker in random Fourier features (as `FourierRanker`) is good from the first positives
    on; boosted trees on a bounded sample of the stream (as `BoostedSample`) see thresholds and single columns, and
    take over where there are enough examples; a logistic regression follows streams that move fast. All are put on
    one scale, that of log-odds. Which counts how much is decided by the average precision, and a little by the AUROC,
    that each blend has achieved. Some blends lean: where the trees are sure of a positive, these count more. A second,
    short memory notices when the past no longer helps, answers in its place, and replaces it once that is sure; where
    only trees can see the change, young trees on the latest rows do. Features need no scaling, NaN is a missing value,
    memory is bounded.

    With f the ranker, g the trees, h the logistic regression, f_s the ranker with the short memory::

        l(s)  = (a s + c) / 8                  for each part, the log-odds that its score s stands for, by eight
        S     = mean of blends of l(f), l(tanh(g / 8)), l(h / 8) and l(f_s), by what each has achieved; of those that
                lean, the part 1 / (1 + exp(1 - 8 l(tanh(g / 8)))) is l(tanh(g / 8)) alone
        score = (1 - p) S + p l(f_s)           p by how much better f_s has ranked the latest positives

    The score is an eighth of the log-odds that a row is positive, less those of the stream as a whole. a and c follow
    the latest 30 positives, or a tenth of all rows. h / 8 counts 0.7 at the most in size, so that it is never sure
    alone; p is 0.7 at the most, and less after false alarms. f averages the solutions for four ridges (see
    `FourierRanker`) by (average precision + AUROC) / 2 so far; half of the directions see one to three features only.
    The sample holds `sample_size` rows, half per class: all positives while there is room, and negatives by priority
    sampling (`PrioritySample`), hard ones rather than easy ones, weighted so that sums over the stream stay right on
    average. 100 trees of 16 leaves are fitted to it after 50 rows and then whenever the rows have grown by 40 %, or by
    half the sample; they are grown a few at a time while rows go by, and answer when all are there. docs/rare-events.md
    explains it with pictures.

    Cost of one example, with P = n_components + n_features: that of `FourierRanker` twice (O(n_features n_components +
    P^2) and a share of O(P^3)), 100 ways down a tree, and a share of the fits; benchmarks/README.md has figures.
    Memory: 40 P^2 bytes, 8 n_features (sample_size + 4,000), and 1 MB. With more than 400 features the sample holds
    8,000,000 numbers; with more than 2,000 there are no trees.

    Parameters
    ----------
    sample_size : int >= 100, default=20_000
        Rows that the trees are fitted to, at the most.
    n_components : int >= 1, default=400
        Number of cosines and sines of the ranker; an odd number is rounded down, and 1 counts as 2.
    forget : {"auto", "never"}, default="auto"
        Whether a short memory watches for drift and takes over where it ranks better.
    threshold : float or {"zero", "f1", "gmean", "rate:SHARE"}, default="f1"
        The score above which `predict` answers with the positive label. "f1" and "gmean" maximise that measure over
        the latest progressive scores. "rate:0.01" flags that share of the stream, an alert budget. "zero" is 0,
        a row that is as likely to be positive as rows are on the whole.
    pos_label : label or None, default=None
        The positive label, the one of the rare class. None takes the larger of the two sorted labels. If it is the
        smaller one, scikit-learn's own scorers, which assume the larger, read the score reversed.
    shuffle : bool, default=False
        Whether `fit` shuffles the rows before its single pass. `partial_fit` keeps the order given.
    random_state : int or numpy.random.Generator or None, default=None
        Seed of the directions and of the sample. The same int gives the same model; None takes fresh entropy.

    Examples
    --------
    >>> from lopsided import RareEventClassifier
    >>> from lopsided.datasets import xor
    >>> from lopsided.metrics import auroc
    >>> stream = xor(4_000, rare=0.02)
    >>> learner = RareEventClassifier(random_state=0)
    >>> round(auroc(stream.y, learner.progressive_scores(stream.X, stream.y)), 2)
    0.96

    References
    ----------
    The ranker as in W. Gao, R. Jin, S. Zhu, Z.-H. Zhou, "One-Pass AUC Optimization", ICML 2013, and A. Rahimi, B.
    Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007; the sample as in N. Duffield, C. Lund, M.
    Thorup, "Priority sampling for estimation of arbitrary subset sums", JACM 2007; trees as in T. Chen, C. Guestrin,
    "XGBoost", KDD 2016; the logistic regression by steps as in J. Duchi, E. Hazan, Y. Singer, "Adaptive Subgradient
    Methods", JMLR 2011. Putting them together is of this package.
    """

    takes_missing = True
    _constraints: ClassVar[dict[str, Constraint]] = {
        "sample_size": whole(100),
        "n_components": whole(1),
        "forget": choice("auto", "never"),
    }

    def __init__(
        self,
        sample_size: int = 20_000,
        n_components: int = 400,
        forget: str = "auto",
        threshold: float | str = "f1",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.sample_size = sample_size
        self.n_components = n_components
        self.forget = forget
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    # ---------------------------------------------------------------- the empty model

    def _start(self, n_features: int) -> None:
        forgets, with_trees = self.forget == "auto", n_features <= _WIDEST
        n_long, n_short = len(LONG_RIDGES), len(SHORT_RIDGES) if forgets else 0
        n_directions, with_features = max(1, int(self.n_components) // 2), n_features <= self.n_components
        ranker = empty_ranker_state(n_features, n_directions, with_features, n_long + n_short, _BLOCK, _WARM_UP)
        width = n_features if with_trees else 0
        half = min(int(self.sample_size), _CELLS // n_features) // 2 if with_trees else 0
        recent = min(half, _RECENT // 2) if forgets else 0
        self._plan = RarePlan(
            linear=_LINEAR / np.sqrt(n_features),
            forgets=forgets,
            n_long=n_long,
            long=_OF_LONG,
            short=_OF_SHORT,
            blend=_OF_BLEND,
        )
        self._state = RareState(
            ranker=ranker,
            short_weights=np.zeros(_BLOCK),
            first_short_weights=np.zeros(_WARM_UP),
            long=empty_mixture(np.ones(n_long)),
            short=empty_mixture(np.ones(n_short)),
            blend=empty_mixture(
                np.concatenate(
                    [
                        _OF_TWO,
                        _WITH_LINEAR * _OF_TWO,
                        [PRIOR_OF_LINEAR, _SHORT_ALONE if forgets else 0.0],
                        _WITH_LINEAR * _OF_TWO,
                        _LEANING,
                    ]
                )
            ),
            lines=empty_lines(SHORT + 1),
            linear=empty_linear_part(n_features),
            gate=empty_gate(),
            trees=SampledForest(
                empty_sample(half, width),
                empty_sample(half, width),
                empty_forest(N_TREES if with_trees else 0, DEFAULT_TREES.n_leaves),
            ),
            recent_positives=empty_sample(recent, width),
            recent_negatives=empty_sample(recent, width),
            young=empty_forest(YOUNG_TREES if recent else 0, DEFAULT_TREES.n_leaves),
            spread=np.zeros((3, n_features)),
            tally=np.zeros(SINCE_SHORT + 1, dtype=np.int64),
        )
        length = ranker.weights.shape[1]
        self._long, self._short = LongMemory(length), ShortMemory(length if forgets else 0)
        self._booster = Booster(self._state.trees.forest, width, DEFAULT_TREES, 2 * half)
        self._young_booster = Booster(self._state.young, width, DEFAULT_TREES, 2 * recent)
        self._matrix = np.zeros((length, length))
        self._parts_out = np.zeros((0, len(_PARTS)))
        by_ridge = np.zeros(n_long), np.zeros(n_short)
        self._work = RareScratch(
            empty_ranker_scratch(ranker), np.zeros(width), np.zeros(n_features), *by_ridge, np.zeros(len(BLENDS))
        )

    def _prepare_for(self, rows: Rows) -> None:
        # Not earlier: `fit` may shuffle before, and a pool may hand over another generator.
        ranker = self._state.ranker
        if not ranker.tally[DRAWN]:
            draw_directions(self._uniforms.rng, ranker.directions, _BANDWIDTHS, _SPARSE_SHARE)
            ranker.tally[DRAWN] = 1

    # ---------------------------------------------------------------- learning

    _run = staticmethod(rare_run)
    _score_rows = staticmethod(rare_run)  # with labels that are NaN: a loop of its own would be compiled for as long

    @property
    def _draws_a_row(self) -> int:
        return 1

    def _run_arguments(
        self, rows: Rows, signs: Floats, costs: Floats, draws: Draws, scores: Floats, every_score: bool
    ) -> tuple[Any, ...]:
        return self._state, self._plan, rows, signs, costs, draws, self._work, scores, self._parts_out

    def _score_arguments(self, rows: Rows, scores: Floats) -> tuple[Any, ...]:
        return self._score_and_parts(rows, scores, np.zeros((0, len(_PARTS))))

    def _score_and_parts(self, rows: Rows, scores: Floats, parts: Floats) -> tuple[Any, ...]:
        """Arguments of `rare_run` with which rows are scored only, and what the parts say if there is room for it."""
        unknown, draws, n = np.full(scores.size, np.nan), self._uniforms.draws, scores.size
        return self._state, self._plan, rows, unknown, unknown, draws, self._work, scores, parts, 0, n

    def _run_span(self, rows: Rows, arguments: tuple[Any, ...], start: int, stop: int) -> int:
        while start < stop:
            start = super()._run_span(rows, arguments, start, stop)
            if self._do_what_is_due():
                # A restart draws too, so that the rows left may lack uniforms, or find them in another array.
                draws = self._uniforms.reserve(stop - start)
                arguments = tuple(draws if isinstance(given, Draws) else given for given in arguments)
        return stop

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        self._prepare_for(self._one_row)
        score = super()._learn_one(sign, weight)
        if self._do_what_is_due():
            self._unbind()
        return score

    def _do_what_is_due(self) -> bool:
        """What the compiled loop leaves to others; in place, since calls may be bound to these arrays.

        True after a restart: the uniforms may then be in another array.
        """
        tally, ranking = self._state.tally, self._state.ranker.tally
        restarts = int(tally[RESTARTS])
        is_ranking_due = ranking[DUE] or tally[SHORT_DUE] or ranking[WAITING] == _BLOCK
        if is_ranking_due or tally[RESTART_DUE] or tally[SCALE_DUE] or tally[YOUNG_DUE] or tally[BEAT_DUE]:
            with one_blas_thread:
                self._do_due_parts()
        return bool(tally[RESTARTS] > restarts)

    def _do_due_parts(self) -> None:
        tally, ranking = self._state.tally, self._state.ranker.tally
        if tally[SCALE_DUE]:
            self._look_at_scale()
        if tally[RESTART_DUE]:
            self._restart()
        if ranking[DUE]:
            self._solve()
        elif tally[SHORT_DUE]:
            self._solve_short()
        elif ranking[WAITING] == _BLOCK:
            self._add_block()
        if tally[YOUNG_DUE]:
            self._renew_young()
        if tally[BEAT_DUE]:
            tally[BEAT_DUE] = 0
            if self._work.x.size:
                self._booster.beat(self._state.trees, int(tally[YOUTH]))

    def _end_fit(self) -> None:
        with one_blas_thread:
            self._solve()

    # ---------------------------------------------------------------- keeping, looking inside

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return rare_arrays(self._state, self._long, self._short, self._booster)

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        self._state = restored_state(arrays, self._state, self._long, self._short)
        self._booster.forest, self._young_booster.forest = self._state.trees.forest, self._state.young
        self._booster.restore(arrays)
        self._unbind()

    def part_scores(self, X: Any) -> dict[str, Floats]:
        """What each part says to each row: "ranker" f, "short" f_s, "trees" tanh(g / 8), "linear" h / 8, the "blend" S.

        "lean" is by how much blends that lean move to the trees, because these are sure. And the "score":
        `part_weights_` and `leaning_weights_` say how it follows from the others.
        """
        with self._alone:
            self._check_started()
            rows = self._rows_of(X)
            parts = np.empty((validation.n_rows_of(rows), len(_PARTS)))
            rare_run(*self._score_and_parts(rows, np.empty(len(parts)), parts))
        return dict(zip(_PARTS, parts.T.copy(), strict=True))

    def progressive_parts(self, X: Any, y: Any, classes: Any = None) -> dict[str, Floats]:
        """`progressive_scores` of each part, named as by `part_scores`: test, then train."""
        with self._alone:
            X, signs, weights = self._next(X, y, classes, None)
            self._parts_out = np.empty((signs.size, len(_PARTS)))
            try:
                self._learn_checked(X, signs, weights, every_score=True)
                return dict(zip(_PARTS, self._parts_out.T.copy(), strict=True))
            finally:
                self._parts_out = np.zeros((0, len(_PARTS)))
                self._unbind()
