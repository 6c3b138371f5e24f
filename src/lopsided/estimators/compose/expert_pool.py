"""A pool of learners of any kind, measured online, that answers with the best of them or with all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from lopsided.constraints import Constraint, ParameterError, choice, nothing, number, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.geometry.points import Rows
from lopsided.core.measures.panel import (
    BEST,
    SAMPLE,
    WEIGHTED,
    Panel,
    PanelPlan,
    add_moments,
    empty_moments,
    panel_run,
    panel_score_rows,
)
from lopsided.estimators.base import validation
from lopsided.estimators.base.classifier import COMMON_CONSTRAINTS
from lopsided.estimators.base.merging import MergeError
from lopsided.estimators.base.online import OnlineClassifier
from lopsided.estimators.compose.merging_parts import with_budget
from lopsided.estimators.compose.pipeline import StreamPipeline
from lopsided.estimators.compose.pool_views import PoolViews
from lopsided.estimators.compose.scaler import OnlineScaler
from lopsided.estimators.features.fourier_ranker import FourierRanker
from lopsided.estimators.kernel.koil import KOIL
from lopsided.estimators.kernel.spa import SPA
from lopsided.estimators.linear.rankers import OAM, OPAUC
from lopsided.estimators.state.arrays import in_range, taken
from lopsided.estimators.state.experts import (
    MEASURING,
    added_experts,
    empty_experts,
    experts_arrays,
    experts_plan,
    restored_experts,
)

_COMBINE = {"best": BEST, "sample": SAMPLE, "weighted": WEIGHTED}
_WORTH_THREADS = 256  # rows in a batch from which members learn in threads
_REFRESH_OF_AUPRC = 20  # its cost is that of a kernel row, so not at every example


class ExpertPool(PoolViews):
    """Keeps several learners, measures each online, and answers with the best or with a weighted average.

    For whoever does not know which learner or which parameters suit a stream: put those in question into a pool. Every
    member learns from every example; what each would have scored is measured by AUROC, AUPRC or F1 so far. Members may
    be any learners of this package, of different kinds, pipelines included; `ExpertPool.default()` is ready-made.

    With s_i the score of member i, M_i its measure so far and p_i ~ exp(sharpness M_i)::

        "weighted":  sum_i p_i (s_i - mean_i) / deviation_i,   by the running moments of its scores
        "best":      the score of the member with the largest p_i
        "sample":    while learning, the score of a member drawn by p; afterwards the best  (the rule of OMCSL)

    Memory is bounded if that of the members is. Cost of one example: that of the members, and O(members log bins);
    batches run the members in threads.

    Parameters
    ----------
    learners : list of learners
        The members. Those whose random_state is None get seeds from the pool's.
    measure : {"auroc", "auprc", "f1"}, default="auroc"
        The measure, kept online for each member, by which members are weighted; "f1" is that of score > 0.
    sharpness : float >= 0 or infinity or "positives", default=20.0
        How much a better measure counts: 20 serves where areas differ by hundredths, 0 counts all alike, infinity
        leaves only the best. "positives" is the number of positives so far, faded by `fade`: nobody is preferred
        before there is evidence, and little differences count once there is much; made for "auprc", whose differences
        mean little while positives are few. For combine="sample" take 1000, the default of `OMCSL`: a draw should
        not fall on a bad member.
    combine : {"weighted", "best", "sample"}, default="weighted"
        How the members answer: by a weighted average of their standardised scores, by the best member alone, or by
        a member drawn for each example while learning.
    fade : float > 0 and <= 1, default=1.0
        Weight of the past at each new example, in measures and moments. 1 keeps everything, less follows drift.
    refresh : int >= 1 or "auto", default="auto"
        The measures are computed again after so many examples. "auto" is 1, and 20 for "auprc".
    n_jobs : int >= 1 or None, default=None
        Threads for batches. None takes one for each core.
    threshold : float or {"auto", "zero", "f1", "gmean", "rate:SHARE"}, default="auto"
        The score above which `predict` answers with the positive label. "auto" is "f1" for combine="weighted",
        whose 0 is an average score, and "zero" otherwise. "zero" is 0. "f1" and "gmean" maximise that measure over
        the latest progressive scores. "rate:0.01" flags that share of the stream, an alert budget.
    pos_label : label or None, default=None
        The positive label, the one of the rare class. None takes the larger of the two sorted labels. If it is the
        smaller one, scikit-learn's own scorers, which assume the larger, read the score reversed.
    shuffle : bool, default=False
        Whether `fit` shuffles the rows before its single pass. `partial_fit` keeps the order given.
    random_state : int or numpy.random.Generator or None, default=None
        Seed of the draws of combine="sample" and of the members' seeds. The same int gives the same model; None
        takes fresh entropy.

    Attributes
    ----------
    members_ : list of learners
        The members as they are now, each as if it had learned alone.
    expert_weights_ : array of shape (n_members,)
        The weight p of each member.
    expert_measures_ : dict of arrays
        What each member has achieved, by measure.
    best_ : learner
        The member with the largest weight.

    Examples
    --------
    >>> from lopsided import KOIL, SPA, ExpertPool
    >>> from lopsided.datasets import four_clusters
    >>> from lopsided.metrics import auroc
    >>> stream = four_clusters(random_state=0)
    >>> pool = ExpertPool([KOIL(gamma=g) for g in (0.2, 2.0, 20.0)] + [SPA(gamma=20.0)], random_state=0)
    >>> round(auroc(stream.y, pool.progressive_scores(stream.X, stream.y)), 3)
    0.95
    >>> pool.best_
    KOIL(gamma=20.0)

    References
    ----------
    Measuring and drawing as in Y. Yan, T. Yang, Y. Yang, J. Chen, AAAI 2017 (`OMCSL`), there for linear columns.
    """

    _constraints: ClassVar[dict[str, Constraint]] = MEASURING | {
        "learners": Constraint(lambda value: isinstance(value, list | tuple) and len(value) > 0, "a list of learners"),
        "sharpness": MEASURING["sharpness"] | choice("positives"),
        "combine": choice(*_COMBINE),
        "fade": Constraint(number(above=0, most=1).accepts, "a number > 0 and <= 1"),
        "refresh": choice("auto") | whole(1),
        "n_jobs": nothing() | whole(1),
        "threshold": choice("auto") | COMMON_CONSTRAINTS["threshold"],
    }

    def __init__(
        self,
        learners: Any,
        measure: str = "auroc",
        sharpness: float | str = 20.0,
        combine: str = "weighted",
        fade: float = 1.0,
        refresh: int | str = "auto",
        n_jobs: int | None = None,
        threshold: float | str = "auto",
        pos_label: Any = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.learners = learners
        self.measure = measure
        self.sharpness = sharpness
        self.combine = combine
        self.fade = fade
        self.refresh = refresh
        self.n_jobs = n_jobs
        self.threshold = threshold
        self.pos_label = pos_label
        self.shuffle = shuffle
        self.random_state = random_state

    @classmethod
    def default(cls, *, sparse: bool = False, **parameters: Any) -> Self:
        """A pool for streams of which nothing is known: eight learners of four kinds with spread-out parameters.

        Three `FourierRanker`s of different bandwidths, three `KOIL`s, an `SPA` within 200 vectors and a linear `OPAUC`,
        all on features that are scaled as they come. `docs/evidence/fourier.md` has what it achieves and costs.

        Where features leave the range they had by far, the `OPAUC` may diverge, with a warning; its weight then falls.

        `sparse` makes it take CSR rows: by scales that leave zeros where they are, and with `OAM` instead of `OPAUC`.
        Other parameters are those of the pool.

        >>> from lopsided import ExpertPool
        >>> from lopsided.datasets import xor
        >>> from lopsided.metrics import auroc
        >>> stream = xor(4_000, rare=0.02)
        >>> pool = ExpertPool.default(random_state=0)
        >>> round(auroc(stream.y, pool.progressive_scores(stream.X, stream.y)), 2)
        0.95
        """

        def scaled(learner: Any, kind: str = "minmax") -> StreamPipeline:
            return StreamPipeline(OnlineScaler(center=False) if sparse else OnlineScaler(kind), learner)

        bandwidths = (0.05, 0.25), (0.25, 1.0), (1.0, 4.0)
        return cls(
            [FourierRanker(bandwidths=pair, regularization="auto", focus=6.0) for pair in bandwidths]
            + [scaled(KOIL(C=10.0, gamma="auto"), "standard")]
            + [scaled(KOIL(C=10.0, gamma=gamma)) for gamma in (1.0, 10.0)]
            + [scaled(SPA(gamma=4.0, sampling_scale=2.0, budget=200))]
            # OPAUC is stable while its step is below 2 / |x|^2; a value far outside of the range known so far makes
            # |x|^2 large, so a small step. Sparse features may be too many for covariances.
            + [scaled(OAM(C=0.001) if sparse else OPAUC(learning_rate=0.001))],
            **parameters,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for learner in self.learners:
            if not isinstance(learner, OnlineClassifier):
                raise ParameterError(
                    f"The 'learners' parameter of ExpertPool must hold learners of lopsided. Got {learner!r}."
                )
            learner._check_parameters()

    def _check_features(self, X: Any) -> None:
        for learner in self.learners:
            learner._check_features(X)

    def _start(self, n_features: int) -> None:
        refresh = self.refresh
        if isinstance(refresh, str):
            refresh = _REFRESH_OF_AUPRC if self.measure == "auprc" else 1
        measuring = experts_plan(self.measure, self.sharpness, refresh=refresh, fade=self.fade)
        self._plan = PanelPlan(_COMBINE[self.combine], measuring)
        n = len(self.learners)
        self._panel = Panel(empty_experts(measuring, n), empty_moments(n), np.zeros(1, dtype=np.int64))
        self.members_ = [clone(learner) for learner in self.learners]
        for member, seed in zip(self.members_, self._seeds(n), strict=True):
            member.n_features_in_ = n_features
            member._begin(self._labels)
            if member.random_state is None and seed is not None:
                member._uniforms.rng = np.random.default_rng(seed)
        self._use_lock(self._alone)
        self._measure_every_row()

    def _measure_every_row(self) -> None:
        """A member that leaves examples unscored cannot be measured by them."""
        for member in self.members_:
            member._score_every_row()

    def _seeds(self, n: int) -> list[Any]:
        """Seeds for members without one of their own; taking them does not move the pool's own stream."""
        if self.random_state is None:
            return [None] * n
        own = getattr(self._uniforms.rng.bit_generator, "seed_seq", None)
        return [None] * n if own is None else list(np.random.SeedSequence(own.entropy).spawn(n))

    def _kept_numbers(self) -> npt.NDArray[np.int64] | None:
        found = [numbers for member in self.members_ if (numbers := member._kept_numbers()) is not None]
        return np.concatenate(found) if found else None

    @property
    def _remembers_its_answers(self) -> bool:
        return bool(self.combine != "sample")

    def _leave_rows_to_another(self) -> None:
        for member in self.members_:
            member._leave_rows_to_another()

    def _set_labels(self, labels: Any) -> None:
        super()._set_labels(labels)
        for member in getattr(self, "members_", []):
            member._set_labels(labels)

    # ---------------------------------------------------------------- learning and scoring

    def _for_all(self, work: Callable[[Any], Floats], n_rows: int) -> Floats:
        """The scores of all members, a column each; in threads if there is enough to do."""
        columns: Iterable[Floats]
        if n_rows < _WORTH_THREADS:
            columns = map(work, self.members_)
        else:
            with ThreadPoolExecutor(min(self.n_jobs or os.cpu_count() or 1, len(self.members_))) as threads:
                columns = list(threads.map(work, self.members_))
        return np.ascontiguousarray(np.stack(list(columns), axis=1))

    def _learn(self, rows: Rows, signs: Floats, weights: Floats, *, every_score: bool) -> Floats:
        if self._answers is not None:
            return self._learn_with_answers(rows, signs, weights, every_score=every_score)

        def learn(member: Any) -> Floats:
            scores: Floats = member._learn(rows, signs, weights, every_score=True)
            member._memory.remember(signs, scores)
            return scores

        return self._combine_and_note(signs, self._for_all(learn, signs.size))

    def _combine_and_note(self, signs: Floats, given: Floats) -> Floats:
        scores = np.empty(signs.size)
        draws = self._uniforms.reserve(signs.size if self._plan.combine == SAMPLE else 0)
        panel_run(self._panel, self._plan, signs, given, draws, scores)
        return scores

    def _score(self, rows: Rows) -> Floats:
        n_rows = validation.n_rows_of(rows)
        scores = np.empty(n_rows)
        panel_score_rows(self._panel, self._plan, self._for_all(lambda member: member._score(rows), n_rows), scores)
        return scores

    def _learn_one(self, sign: float, weight: float = 1.0) -> float:
        given = np.empty((1, len(self.members_)))
        for i, member in enumerate(self.members_):
            member._one_x[:] = self._one_x
            given[0, i] = member._learn_one(sign, weight)
            member._memory.remember_one(sign, given[0, i])
        return float(self._combine_and_note(np.array([sign]), given)[0])

    def _score_one(self) -> float:
        given = np.empty((1, len(self.members_)))
        for i, member in enumerate(self.members_):
            member._one_x[:] = self._one_x
            given[0, i] = member._score_one()
        score = np.empty(1)
        panel_score_rows(self._panel, self._plan, given, score)
        return score.item()

    def _threshold_rule(self) -> str | float:
        if self.threshold == "auto":
            return "f1" if self.combine == "weighted" else "zero"
        return self.threshold

    def _end_fit(self) -> None:
        for member in self.members_:
            member._end_fit()

    # ---------------------------------------------------------------- merging

    def _set_budget(self, budget: Any) -> None:
        self._budgets = [budget if with_budget(learner, budget) is not None else None for learner in self.learners]
        if not any(own is not None for own in self._budgets):
            raise MergeError(f"The 'budget' parameter of merge must be None where no member has one. Got {budget!r}.")
        self.learners = [with_budget(learner, budget) or learner for learner in self.learners]
        self._begun_with |= {"learners": clone(self.learners)}

    def _take_after(self, original: Any) -> None:
        self._restore_parts([member.empty_like() for member in original.members_])

    def _merge(self, models: list[Any], shares: Floats) -> None:
        budgets = self.__dict__.pop("_budgets", [None] * len(self.members_))
        together = zip(*(model.members_ for model in models), strict=True)
        members = [members[0]._merged(list(members), own) for members, own in zip(together, budgets, strict=True)]
        panels = [model._panel for model in models]
        experts = added_experts([panel.experts for panel in panels], self._plan.experts)
        moments = panels[0].moments.copy()
        for panel in panels[1:]:
            add_moments(moments, panel.moments)
        self._panel = Panel(experts, moments, np.sum([panel.tally for panel in panels], axis=0))
        self._restore_parts(members)

    # ---------------------------------------------------------------- keeping

    def _parts(self) -> list[Any]:
        return self.members_

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return experts_arrays(self._panel.experts) | {"moments": self._panel.moments, "seen": self._panel.tally}

    def _restore(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        seen = taken(arrays, "seen", np.int64, (1,))
        in_range("seen", seen, 0, 2**62)
        moments = taken(arrays, "moments", np.float64, self._panel.moments.shape)
        self._panel = Panel(restored_experts(arrays, self._panel.experts), moments, seen)

    def _restore_parts(self, parts: list[Any]) -> None:
        self.members_ = parts
        self._use_lock(self._alone)
        self._measure_every_row()

    def _use_lock(self, lock: Any) -> None:
        super()._use_lock(lock)
        for member in getattr(self, "members_", []):
            member._use_lock(lock)

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self._use_lock(self._alone)

    @property
    def n_diverged_(self) -> int:
        """How many steps of members were left out because they would have made them infinite."""
        return sum(member.n_diverged_ for member in self.members_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        members = self.learners if isinstance(self.learners, list | tuple) else []
        tags.input_tags.sparse = all(member.__sklearn_tags__().input_tags.sparse for member in members)
        return tags
