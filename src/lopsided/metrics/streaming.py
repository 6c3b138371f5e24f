"""Figures of merit of a stream, kept up to date one example at a time in fixed memory.

`update` takes one label and one score, `update_many` arrays of them, and `value` answers at any time. Labels are 0/1,
-1/+1 or boolean. An area is nan while a class has not been seen; `error_bound` says how far it can be from the exact
area of the same scores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lopsided.constraints import Constraint, check_parameters, choice, flag, number, whole
from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.measures.confusion import (
    FALSE_NEGATIVES,
    FALSE_POSITIVES,
    LOSS,
    TRUE_NEGATIVES,
    TRUE_POSITIVES,
    WEIGHT,
    count_calls,
    f1_of,
)
from lopsided.core.measures.ranking import (
    KEPT,
    SETTLED,
    Ranking,
    RankingPlan,
    bins_of,
    empty_ranking,
    observe_many,
    precision_recall_area,
    ranked_rightly,
    take_back,
    tied_pairs,
)
from lopsided.core.measures.score_keys import CENTRED, LOG_LINEAR, SIGMOID
from lopsided.core.measures.window import empty_window, observe_in_window, window_area
from lopsided.metrics.exact import checked_pairs
from lopsided.metrics.merging import MergesCalls, MergesRankings, MergesWindows

KEYS = {"sigmoid": SIGMOID, "float": LOG_LINEAR, "centred": CENTRED}
KEPT_BEFORE_BINS = 256  # examples that the key "centred" sees before it places its bins; so long areas are exact
_AT_ONCE = 256  # single examples that wait to be counted together: compiled code is cheap, calling it is not
_FADE = Constraint(number(above=0, most=1).accepts, "a number > 0 and <= 1")


class StreamingMetric:
    """What all share: single examples are checked at once, and counted when enough have come or someone asks."""

    def __init__(self) -> None:
        self._labels: list[float] = []
        self._scores: list[float] = []

    def update(self, y: Any, score: float) -> None:
        """One more example: its label and the score it had."""
        label, value = self._checked(y, score, "update")
        self._labels.append(label)
        self._scores.append(value)
        if len(self._scores) >= _AT_ONCE:
            self._count_waiting()

    def _checked(self, y: Any, score: float, caller: str) -> tuple[float, float]:
        try:
            value = float(score)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if value != value:
            raise ValueError(f"The score of {type(self).__name__}.{caller} must be a number. Got {score!r}.")
        if y in (1, 0, -1):
            return 1.0 if y == 1 else -1.0, value
        raise ValueError(f"The label y of {type(self).__name__}.{caller} must be 0, 1, -1 or boolean. Got {y!r}.")

    def update_many(self, y: ArrayLike, scores: ArrayLike) -> None:
        """Many examples, in order."""
        positive, values = checked_pairs(y, scores, f"{type(self).__name__}.update_many")
        self._count_waiting()
        self._count(np.where(positive, 1.0, -1.0), np.ascontiguousarray(values))

    def _count_waiting(self) -> None:
        if self._scores:
            labels, scores = np.array(self._labels), np.array(self._scores)
            self._labels, self._scores = [], []
            self._count(labels, scores)

    def _count(self, labels: Floats, scores: Floats) -> None:
        raise NotImplementedError

    @property
    def value(self) -> float:
        """The figure of merit so far."""
        raise NotImplementedError

    @property
    def error_bound(self) -> float:
        """The most by which `value` can differ from the exact figure of the same scores: nothing, unless binned."""
        return 0.0

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.value:.6g}>"


class _BinnedArea(StreamingMetric, MergesRankings):
    def __init__(self, key: str, n_bins: int, fade: float, per_class: bool) -> None:
        super().__init__()
        self.key, self.n_bins, self.fade = key, n_bins, fade
        given = {"key": key, "n_bins": n_bins, "fade": fade}
        check_parameters(type(self).__name__, given, {"key": choice(*KEYS), "n_bins": whole(2), "fade": _FADE})
        self._plan = RankingPlan(KEYS[key], bins_of(KEYS[key], n_bins), float(fade), bool(per_class))
        self._ranking = empty_ranking(self._plan, KEPT_BEFORE_BINS)

    def _count(self, labels: Floats, scores: Floats) -> None:
        observe_many(self._ranking, self._plan, labels, scores)

    def revert(self, y: Any, score: float) -> None:
        """Take back one example that was counted, as if it had never come; not possible if examples fade."""
        label, value = self._checked(y, score, "revert")
        if self.fade < 1.0:
            raise ValueError(f"The 'fade' of a {type(self).__name__} to revert must be 1.0. Got {self.fade!r}.")
        self._count_waiting()
        if not take_back(self._ranking, self._plan, label, value):
            raise ValueError(
                f"What {type(self).__name__}.revert takes back must have been counted before. "
                f"Got the label {y!r} with the score {score!r}."
            )

    @property
    def is_exact(self) -> bool:
        """Whether all scores are still kept: `key="centred"` places its bins after 256 of them."""
        self._count_waiting()
        return bool(self._ranking.kept.shape[1]) and not self._ranking.tally[SETTLED]

    def state(self) -> dict[str, NDArray[Any]]:
        """All that has been counted, as small arrays: `restore` of an equal metric goes on from there."""
        self._count_waiting()
        bins, kept, levels, tally = self._ranking
        places = np.flatnonzero(bins).astype(np.int32)  # most bins are empty
        state: dict[str, NDArray[Any]] = {
            "places": places,
            "bins": bins.flat[places],
            "kept": kept[:, : int(tally[KEPT])].copy(),
            "levels": levels.copy(),
            "tally": tally.copy(),
        }
        return state if self._unsure is None else state | {"unsure": self._unsure.copy()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Become what `state` of an equal metric described."""
        ranking = empty_ranking(self._plan, KEPT_BEFORE_BINS)
        places, kept = np.asarray(arrays["places"]), np.asarray(arrays["kept"])
        if places.size and not 0 <= places.min() <= places.max() < ranking.bins.size:
            raise ValueError(f"The state of {type(self).__name__} must be that of an equal one. Got other bins.")
        ranking.bins.flat[places] = arrays["bins"]
        ranking.kept[:, : kept.shape[1]] = kept
        ranking.levels[:], ranking.tally[:] = arrays["levels"], arrays["tally"]
        self._labels.clear()
        self._scores.clear()
        self._ranking = ranking
        self._unsure = np.array(arrays["unsure"]) if "unsure" in arrays else None

    @property
    def n_kept(self) -> int:
        """How many scores are kept one by one."""
        self._count_waiting()
        return int(self._ranking.tally[KEPT])


class AUROC(_BinnedArea):
    """Area under the ROC curve of a stream: the share of positive-negative pairs ranked rightly, a tie counting half.

    Scores of any size and location: the first 256 are kept and the area is exact; then bins are placed around their
    median, 64 for every doubling of the distance from it, and never move again. `error_bound` is half the share of
    pairs that are tied in a bin. Cost of one example: O(log bins). Memory: four numbers a bin, 94 kB.

    If the location of the scores moves by far more than their spread, bins get coarse there (the bound says so);
    `WindowedAUROC` does not mind.

    Parameters
    ----------
    key : {"centred", "sigmoid", "float"}, default="centred"
        How a score finds its bin: around the median of the first scores; by n_bins even steps of 1/(1 + exp(-score)),
        good for log-odds only; or log-linear around 0.
    n_bins : int >= 2, default=1000
        Number of bins. Only for key="sigmoid".
    fade : float > 0 and <= 1, default=1.0
        Weight of the past at each new example. 1 keeps everything; 1 - 2/w forgets about as a window of w does.
    per_class : bool, default=False
        Whether only the class that arrives fades, which keeps rare positives.

    Examples
    --------
    >>> metric = AUROC()
    >>> metric.update_many([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> metric.value, metric.error_bound
    (0.75, 0.0)
    """

    def __init__(self, key: str = "centred", n_bins: int = 1000, fade: float = 1.0, per_class: bool = False) -> None:
        check_parameters("AUROC", {"per_class": per_class}, {"per_class": flag()})
        super().__init__(key, n_bins, fade, per_class)
        self.per_class = per_class

    @property
    def value(self) -> float:
        self._count_waiting()
        return float(ranked_rightly(self._ranking))

    @property
    def error_bound(self) -> float:
        self._count_waiting()
        return float(self._bound(lambda ranking: (ranked_rightly(ranking), tied_pairs(ranking))))


class AUPRC(_BinnedArea):
    """Area under the precision-recall curve of a stream, which looks at the top of the ranking as a reviewer does.

    It has the bins of `AUROC`; there is no fading per class, because it would change how rare the positives are.
    `error_bound` lets the examples of every bin come in their worst and their best order. Cost of one example:
    O(log bins); of `value`: O(bins).

    Parameters
    ----------
    key : {"centred", "sigmoid", "float"}, default="centred"
        How a score finds its bin: around the median of the first scores; by n_bins even steps of 1/(1 + exp(-score)),
        good for log-odds only; or log-linear around 0.
    n_bins : int >= 2, default=1000
        Number of bins. Only for key="sigmoid".
    fade : float > 0 and <= 1, default=1.0
        Weight of the past at each new example. 1 keeps everything; 1 - 2/w forgets about as a window of w does.
    interpolation : {"trapezoid", "step"}, default="trapezoid"
        "trapezoid" joins the points of the curve by straight lines, "step" is average precision, which never promises
        more than a threshold can give.

    Examples
    --------
    >>> metric = AUPRC(interpolation="step")
    >>> metric.update_many([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(metric.value, 4)
    0.8333
    """

    def __init__(
        self, key: str = "centred", n_bins: int = 1000, fade: float = 1.0, interpolation: str = "trapezoid"
    ) -> None:
        check_parameters("AUPRC", {"interpolation": interpolation}, {"interpolation": choice("trapezoid", "step")})
        super().__init__(key, n_bins, fade, per_class=False)
        self.interpolation = interpolation

    def _area(self, ranking: Ranking) -> tuple[float, float]:
        return precision_recall_area(ranking, self.interpolation == "trapezoid")

    @property
    def value(self) -> float:
        self._count_waiting()
        return float(self._area(self._ranking)[0])

    @property
    def error_bound(self) -> float:
        self._count_waiting()
        return float(self._bound(self._area))


class WindowedAUROC(StreamingMetric, MergesWindows):
    """Area under the ROC curve of the last `window` examples, exactly.

    Cost of one example: binary searches and a move of memory, 0.2 us for a window of 1,000 and 0.4 for one of 10,000
    (`make bench`). Memory: 32 bytes an example of the window.

    Parameters
    ----------
    window : int >= 1
        How many of the latest examples count.

    Examples
    --------
    >>> metric = WindowedAUROC(3)
    >>> metric.update_many([1, 1, 0, 1], [-5.0, 0.8, 0.35, 0.4])
    >>> metric.value
    1.0
    """

    def __init__(self, window: int) -> None:
        super().__init__()
        check_parameters("WindowedAUROC", {"window": window}, {"window": whole(1)})
        self.window = window
        self._window = empty_window(int(window))

    def _count(self, labels: Floats, scores: Floats) -> None:
        observe_in_window(self._window, labels, scores)

    @property
    def value(self) -> float:
        self._count_waiting()
        return float(window_area(self._window))


class Confusion(StreamingMetric, MergesCalls):
    """Right and wrong calls of a stream, a score > 0 calling the positive class, and the ratios made of them.

    `f1` (also `value`), `sensitivity`, `specificity`, `precision`, `gmean`, `balanced_accuracy`, `accuracy`,
    `log_loss`. An empty ratio is 0.

    Parameters
    ----------
    fade : float > 0 and <= 1, default=1.0
        Weight of the past at each new example. 1 keeps everything.

    Examples
    --------
    >>> metric = Confusion()
    >>> metric.update_many([0, 1, 1, 0], [-0.2, 0.3, -0.1, 0.6])
    >>> metric.f1, metric.gmean
    (0.5, 0.5)
    """

    def __init__(self, fade: float = 1.0) -> None:
        super().__init__()
        check_parameters("Confusion", {"fade": fade}, {"fade": _FADE})
        self.fade = fade
        self._counts = np.zeros(6)

    def _count(self, labels: Floats, scores: Floats) -> None:
        count_calls(self._counts, float(self.fade), labels, scores)

    def _now(self) -> NDArray[np.float64]:
        self._count_waiting()
        return self._counts

    @property
    def tp(self) -> float:
        """True positives."""
        return float(self._now()[TRUE_POSITIVES])

    @property
    def fp(self) -> float:
        """False positives."""
        return float(self._now()[FALSE_POSITIVES])

    @property
    def fn(self) -> float:
        """False negatives."""
        return float(self._now()[FALSE_NEGATIVES])

    @property
    def tn(self) -> float:
        """True negatives."""
        return float(self._now()[TRUE_NEGATIVES])

    @property
    def f1(self) -> float:
        """2 tp / (2 tp + fp + fn)."""
        return float(f1_of(self._now()))

    @property
    def precision(self) -> float:
        """tp / (tp + fp)."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def sensitivity(self) -> float:
        """tp / (tp + fn), also called recall."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> float:
        """tn / (tn + fp)."""
        return _ratio(self.tn, self.tn + self.fp)

    @property
    def gmean(self) -> float:
        """The square root of sensitivity times specificity."""
        return math.sqrt(self.sensitivity * self.specificity)

    @property
    def balanced_accuracy(self) -> float:
        """The mean of sensitivity and specificity."""
        return 0.5 * (self.sensitivity + self.specificity)

    @property
    def accuracy(self) -> float:
        """(tp + tn) / all."""
        return _ratio(self.tp + self.tn, self.tp + self.tn + self.fp + self.fn)

    @property
    def log_loss(self) -> float:
        """The mean of log(1 + exp(-y score))."""
        return _ratio(float(self._now()[LOSS]), float(self._counts[WEIGHT]))

    @property
    def value(self) -> float:
        return self.f1


def _ratio(part: float, whole_of_it: float) -> float:
    return part / whole_of_it if whole_of_it > 0.0 else 0.0
