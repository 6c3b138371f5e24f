"""What every learner answers, and what is known of it: scores, probabilities, decisions, labels, counts."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.geometry.points import Rows
from lopsided.core.measures.share_above import WINDOW
from lopsided.estimators.base import validation
from lopsided.estimators.base.cutting import Cut, split_at_recent_share
from lopsided.estimators.base.locking import Locked
from lopsided.estimators.base.recent_rows import RecentRows
from lopsided.estimators.base.score_memory import ScoreMemory
from lopsided.estimators.base.tie_breaking import draws_of
from lopsided.labels import LabelMap
from lopsided.protocol import Answer

_ROWS_BETWEEN_CUTS = 100
_AT_ZERO = Cut(0.0)


def share_of(rule: Any) -> float | None:
    """The share of alerts that a rule asks for; None if it asks for something else."""
    return float(rule.removeprefix("rate:")) if isinstance(rule, str) and rule.startswith("rate:") else None


class Answering(Locked):
    """The part of a learner that others ask: it needs `_score`, and what learning has left in labels and memory."""

    takes_missing: ClassVar[bool] = False  # NaN in a row is a value that is not known
    n_features_in_: int
    _labels: LabelMap
    _memory: ScoreMemory
    _recent: RecentRows
    _rate_cut: tuple[int, str, Cut] | None = None  # rows offered until then, the rule, and what was found

    @property
    def _started(self) -> bool:
        raise NotImplementedError

    def _score(self, rows: Rows) -> Floats:
        raise NotImplementedError

    def _check_started(self) -> None:
        raise NotImplementedError

    @property
    def _remembers_its_answers(self) -> bool:
        """Whether the score that learning finds of a row is what it would have been answered; not so for averages."""
        return True

    @property
    def _wants_answers(self) -> bool:
        """Whether a share of alerts is kept by answers that learning does not find on its way."""
        return not self._remembers_its_answers and self._memory.share is not None

    @property
    def _learns_by_heart(self) -> bool:
        """Whether rows that were learned are scored so much better than new ones that they say nothing about these.

        Then a share of alerts goes by the scores that rows had before, on a scale that does not change.
        """
        return False

    def _threshold_rule(self) -> str | float:
        raise NotImplementedError

    def raw_scores(self, X: Any) -> Floats:
        """Ranking scores of the current model, never shifted by `threshold_`: on the ruler of progressive scores."""
        with self._alone:
            self._check_started()
            return self._score(self._rows_of(X))

    def decision_function(self, X: Any) -> Floats:
        """Ranking scores of the current model: larger means more likely the rare class. Shifted by `threshold_`.

        Where a share of alerts ends among rows with one score, as those of voters, some of these are a bit above 0.
        """
        with self._alone:
            self._check_started()
            rows = self._rows_of(X)
            return self._shifted(self._score(rows), rows, self._cut())

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The rare class where `decision_function` is > 0, the other class elsewhere."""
        with self._alone:
            decisions = self.decision_function(X) > 0.0
            return self._labels.names(decisions)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the two `classes_`, calibrated online from progressive scores.

        Strictly increasing in the score; the probability 0.5 need not be where `predict` switches.
        """
        with self._alone:
            scores = self.raw_scores(X)
            positive = self._memory.probability(scores)
            columns = (1.0 - positive, positive)
            return np.stack(columns if self._labels.positive_index == 1 else columns[::-1], axis=1)

    def answer(self, X: Any) -> Answer:
        """Raw scores, probabilities of the rare class, decisions and the threshold, from one pass over the rows.

        >>> from lopsided import KOIL
        >>> learner = KOIL(random_state=0).partial_fit([[0.0], [1.0]], ["bad", "good"])
        >>> learner.answer([[0.9]]).decision.tolist()
        ['good']
        """
        with self._alone:
            self._check_started()
            rows, cut = self._rows_of(X), self._cut()
            scores = self._score(rows)
            decisions = self._labels.names(self._shifted(scores, rows, cut) > 0.0)
            return Answer(scores, self._memory.probability(scores), decisions, cut.at)

    @property
    def threshold_rule_(self) -> str | float:
        """How `threshold_` is found: "zero", "f1", "gmean", "rate:SHARE", or a number."""
        return self._threshold_rule()

    @property
    def threshold_(self) -> float:
        """Where `predict` switches on the scale of the raw scores, as `threshold` asks."""
        self._check_started()
        return self._cut().at

    def _cut(self) -> Cut:
        rule = self._threshold_rule()
        if not isinstance(rule, str):
            return Cut(float(rule))
        if rule == "zero":
            return Cut(0.0)
        with self._alone:
            return self._rate_cut_of(rule) if rule.startswith("rate:") else self._memory.cut(rule)

    def _rate_cut_of(self, rule: str, *, may_be_old: int = 0) -> Cut:
        """The cut above which the present model scores a share of the latest rows, found anew when it has changed.

        `may_be_old` is how many rows may have been learned since it was found.
        """
        offered, known = self._recent.offered, self._rate_cut
        if known is not None and known[1] == rule and known[0] <= offered <= known[0] + may_be_old:
            return known[2]
        if not self._goes_by_rows:
            return self._memory.cut(rule)
        found = split_at_recent_share(self._scores_of_late(), float(rule.removeprefix("rate:")))
        self._rate_cut = offered, rule, found
        return found

    def _shifted(self, scores: Floats, rows: Rows, cut: Cut) -> Floats:
        """By how much scores are above the cut; of those that are just there, a part is so by next to nothing."""
        shifted = scores - cut.at
        if cut.part:
            tied = scores == cut.at
            if tied.any():
                shifted[tied & (draws_of(rows, *cut) < cut.part)] = np.nextafter(cut.at, np.inf) - cut.at
        return shifted

    @property
    def _goes_by_rows(self) -> bool:
        """Whether the latest rows say how new ones are scored; else they are too wide, not in the file, or known."""
        return bool(len(self._recent.rows)) and not self._learns_by_heart

    def _scores_of_late(self) -> Floats:
        """What the present model makes of the latest rows, from old to new, as if they had not been learned."""
        recent = self._recent
        rows = validation.as_rows(recent.rows)
        scores = self._score(rows)
        if recent.offered == self.n_seen_:  # else rows have other numbers than those that were learned
            scores = self._as_if_new(scores, recent.numbers, rows, recent.signs)
        return np.asarray(scores[np.argsort(recent.numbers)])

    @property
    def recent_scores_(self) -> Floats:
        """Raw scores of the latest rows (at most 1,024) from old to new, to compare new ones with.

        If `threshold` was "rate:SHARE" on their way they are those of the current model, else those that rows had
        before they were learned. See `lopsided.alerts.AlertShare`.
        """
        with self._alone:
            self._check_started()
            latest = self._scores_of_late() if self._goes_by_rows else self._memory.latest_scores()
            return latest[-WINDOW:]

    def _as_if_new(self, scores: Floats, numbers: Integers, rows: Rows, signs: Floats) -> Floats:
        """Scores of rows that were learned, as they would be if these were new.

        `numbers` are counted from 1 over the rows learned; `signs` are their classes.
        """
        return np.asarray(scores - self._own_parts(numbers, rows, signs))

    def _own_parts(self, numbers: Integers, rows: Rows, signs: Floats) -> Floats | float:
        """How much of their present scores rows owe to having been learned themselves, which new rows have not.

        Little enough to be nothing for most learners.
        """
        return 0.0

    @property
    def has_rows_for_rate_(self) -> bool:
        """Whether there are rows by which a share of alerts is found: if `threshold` was "rate:SHARE" on their way."""
        return self._started and bool(len(self._recent.rows))

    def _cut_for_one(self) -> tuple[float, float]:
        """`threshold_` for single examples, in between which others are learned, and the part of ties above it.

        Scoring the latest rows for each of them would cost more than they do. So the cut that has followed the scores
        decides, unless that of the present model is known already.
        """
        rule = self._threshold_rule()
        if rule == "zero":
            return _AT_ZERO
        if not isinstance(rule, str) or (share := share_of(rule)) is None:
            return self.threshold_, 0.0
        known = self._rate_cut
        is_known = known is not None and known[:2] == (self._recent.offered, rule)
        if not is_known:
            cut = self._memory.next_cut(share)
            if cut is not None:
                return cut, 0.0
        return self._rate_cut_of(rule, may_be_old=_ROWS_BETWEEN_CUTS)

    @property
    def calibration_(self) -> tuple[float, float]:
        """Slope and offset of the curve 1 / (1 + exp(-(slope score + offset))) that makes probabilities of raw scores.

        Beyond a logit of 20 it is bent, so that no probability is 0 or 1.
        """
        with self._alone:
            self._check_started()
            return self._memory.calibration()

    def _rows_of(self, X: Any) -> Rows:
        """Rows to be scored, checked."""
        return validation.as_rows(validation.checked_features(self, X, first=False))

    # ---------------------------------------------------------------- what is known of it

    @property
    def started_(self) -> bool:
        """Whether it has begun to learn."""
        return self._started

    @property
    def labels_(self) -> LabelMap:
        """The two labels, and which one is rare."""
        self._check_started()
        return self._labels

    @property
    def positive_label_(self) -> Any:
        """The label of the rare class."""
        return self.labels_.positive

    @property
    def negative_label_(self) -> Any:
        """The label of the other class."""
        return self.labels_.negative

    @property
    def n_seen_(self) -> int:
        """How many rows have been learned."""
        return sum(self._memory.seen) if self._started else 0

    @property
    def n_positives_seen_(self) -> int:
        """How many of them are of the rare class."""
        return self._memory.seen[0] if self._started else 0

    @property
    def typical_row_(self) -> Floats:
        """The row that others are explained against: every feature at its mean where that is known, else at 0."""
        self._check_started()
        return np.zeros(self.n_features_in_)

    @property
    def score_memory_(self) -> ScoreMemory:
        """What is remembered of progressive scores, for thresholds and probabilities (a copy)."""
        with self._alone:
            self._check_started()
            return copy.deepcopy(self._memory)

    @property
    def final_learner(self) -> Any:
        """The learner that gives the scores: itself, or the one inside of a pipeline."""
        return self
