"""Where scores are cut: at the best F1 or geometric mean, or so that a share of them is above."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.core.arithmetic.compiled import Floats

Flags = npt.NDArray[np.bool_]

# A ranker that is no better than chance has its best F1 where everything is flagged: of use to nobody.
_MOST_FLAGGED_A_POSITIVE = 5.0
_FEWEST_OF_LATE = 512  # scores
_HARDLY_MORE = 1 + 1e-12  # sums of masses are not exact
_HARDLY_TIED = 0.02  # of the share that is asked for


class Cut(NamedTuple):
    """Scores above `at` are above the cut, and this part of those that are just that."""

    at: float
    part: float = 0.0


def cut_at_share(scores: Floats, share: float, mass: Floats | None = None) -> float:
    """The cut above which there is this share of the scores, or the share next to it; `mass` is what each counts.

    Scores that are the same are on the same side of a cut, so the share above it may be smaller or larger than asked.
    """
    mass = np.ones(scores.size) if mass is None else mass
    levels, flagged = _levels(scores, mass)
    asked = share * flagged[-1]
    fewer = int(np.searchsorted(flagged, asked * _HARDLY_MORE, side="right")) - 1
    missing = asked - (flagged[fewer] if fewer >= 0 else 0.0)
    is_more_nearer = fewer + 1 < flagged.size and flagged[fewer + 1] - asked < missing
    return _below(levels, fewer + is_more_nearer)


def split_at_share(scores: Floats, share: float) -> Cut:
    """The cut above which there is this share of the scores, through those that are the same if there are many."""
    levels, flagged = _levels(scores, np.ones(scores.size))
    asked = share * scores.size
    place = min(int(np.searchsorted(flagged, asked * _HARDLY_MORE, side="right")), flagged.size - 1)
    above = flagged[place - 1] if place else 0.0
    ties = flagged[place] - above
    if ties < 2 or ties <= _HARDLY_TIED * asked:
        return Cut(cut_at_share(scores, share))
    part = (asked - above) / ties
    # Without any of them the cut stays between the levels: rounding may put a score just beside its level.
    return Cut(float(levels[place]), float(part)) if part > _HARDLY_MORE - 1 else Cut(_below(levels, place - 1))


def split_at_recent_share(scores: Floats, share: float) -> Cut:
    """The same for scores from old to new, of which the older half is left out as long as it is clearly different."""
    while True:
        cut = split_at_share(scores, share)
        half = scores.size // 2
        if half < _FEWEST_OF_LATE:
            return cut
        flagged = (scores > cut.at) + cut.part * (scores == cut.at)
        above, moved = float(np.mean(flagged)), float(np.mean(flagged[half:]) - np.mean(flagged[:half]))
        # By four standard deviations of the difference of two shares.
        if moved * moved <= 16.0 * above * (1.0 - above) * 4.0 / scores.size:
            return cut
        scores = scores[half:]


def best_cut(scores: Floats, is_positive: Flags, mass: Floats, measure: str) -> float:
    """The cut with the best F1 ("f1"), or the best geometric mean of recall and specificity ("gmean").

    That of F1 never flags more than five times as many rows as are positive.
    """
    levels, caught, alarms = _levels(scores, mass * is_positive, mass * ~is_positive)
    positives, negatives = caught[-1], alarms[-1]
    if measure == "f1":
        values = 2 * caught / (positives + caught + alarms)
        values[caught + alarms > _MOST_FLAGGED_A_POSITIVE * positives * _HARDLY_MORE] = 0.0
    else:
        values = np.sqrt(caught / positives * (1 - alarms / negatives))
    best = int(np.argmax(values))
    return _below(levels, best if values[best] > 0 else -1)


def above_all(scores: Floats) -> float:
    """A cut that nothing like these scores exceeds."""
    return float(scores.max() + (scores.max() - scores.min()))


def _levels(scores: Floats, *masses: Floats) -> list[Floats]:
    """The different scores from the highest on, and what there is of each mass down to each of them."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    last_of_ties = np.append(ranked[:-1] != ranked[1:], True)
    return [ranked[last_of_ties], *(np.cumsum(mass[order])[last_of_ties] for mass in masses)]


def _below(levels: Floats, chosen: int) -> float:
    """The cut between a level and the next lower one; below 0 is above all of them."""
    if chosen < 0:
        return float(levels[0])
    if chosen + 1 == levels.size:
        return float(np.nextafter(levels[chosen], -np.inf))
    middle = 0.5 * levels[chosen] + 0.5 * levels[chosen + 1]
    return float(middle if middle < levels[chosen] else levels[chosen + 1])
