"""Scores of several makes on one scale: the log-odds of a positive, by a line for each that is fitted online.

A score s is worth (a s + c) / 8. The line (a, c) is that of a logistic regression of the labels on the scores that were
given before labels were known, with the log-odds of the stream as a whole as an offset: 0 is a row like any other. It
fades as `MEMORY` positives go by, or a tenth of all rows if that takes longer, and is held to its start, a = 8 and
c = 0, by a ridge: while little is known, scores stay as they are. So a part that is weak now says little, whatever its
scores look like, and scores of different times can be compared.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lopsided.core.arithmetic.compiled import Floats, compiled
from lopsided.core.measures.score_keys import sigmoid

EIGHT = 8.0
MEMORY, _PARTS = 30.0, 10.0  # positives, and one part in so many of all rows
SLOPE, LEVEL = range(2)
_RIDGE_OF_SLOPE, _RIDGE_OF_LEVEL = 3.0, 10.0
_LARGEST_FADE = 0.01  # a row takes away no more than this


class Lines(NamedTuple):
    """By part: slope and level; and the sums of p (1 - p) times s^2, s and 1 that stand behind them."""

    lines: Floats
    sums: Floats


def empty_lines(n_parts: int) -> Lines:
    """Every score stands for itself."""
    lines = Lines(np.zeros((n_parts, 2)), np.zeros((n_parts, 3)))
    forget_lines(lines)
    return lines


def forget_lines(lines: Lines) -> None:
    """Back to the start, in place."""
    lines.lines[:] = EIGHT, 0.0
    lines.sums[:] = _RIDGE_OF_SLOPE, 0.0, _RIDGE_OF_LEVEL


@compiled
def worth(lines: Lines, part: int, score: float) -> float:
    """The log-odds that a score of this part stands for, less those of the stream, by eight."""
    return (lines.lines[part, SLOPE] * score + lines.lines[part, LEVEL]) / EIGHT


@compiled
def fade_of_lines(rate: float, rows: int) -> float:
    """What a row takes away from those before it, given the share of positives and how many rows count at all."""
    return min(rate / MEMORY, _PARTS / (rows + 1.0), _LARGEST_FADE)


@compiled
def fit_line(lines: Lines, part: int, score: float, y: float, weight: float, base: float, fade: float) -> None:
    """One Newton step for a row whose label is now known.

    `base` are the log-odds of the stream, `fade` is what the row takes away from those before it.
    """
    line, sums = lines.lines[part], lines.sums[part]
    chance = sigmoid(base + line[SLOPE] * score + line[LEVEL])
    error = weight * (chance - (1.0 if y > 0.0 else 0.0))
    doubt = weight * chance * (1.0 - chance)
    of_slope, of_level = fade * _RIDGE_OF_SLOPE, fade * _RIDGE_OF_LEVEL
    squares = (1.0 - fade) * sums[0] + doubt * score * score + of_slope
    crossed = (1.0 - fade) * sums[1] + doubt * score
    total = (1.0 - fade) * sums[2] + doubt + of_level
    determinant = squares * total - crossed * crossed
    if not 0.0 < determinant < math.inf:  # a weight beyond all numbers
        return
    for_slope = error * score + of_slope * (line[SLOPE] - EIGHT)
    for_level = error + of_level * line[LEVEL]
    sums[0], sums[1], sums[2] = squares, crossed, total
    line[SLOPE] = max(0.0, line[SLOPE] - (total * for_slope - crossed * for_level) / determinant)
    line[LEVEL] -= (squares * for_level - crossed * for_slope) / determinant


def add_lines(lines: Lines, other: Lines) -> None:
    """Take in the lines of other rows: the line that both kinds of rows speak for, with what each was held by once."""
    start = empty_lines(1)
    for part in range(len(lines.lines)):
        held = _matrix(start.sums[0])
        mine, theirs = _matrix(lines.sums[part]), _matrix(other.sums[part])
        speak = mine @ lines.lines[part] + theirs @ other.lines[part] - held @ start.lines[0]
        together = mine + theirs - held
        line = np.linalg.solve(together, speak)
        if np.isfinite(line).all() and line[SLOPE] >= 0.0 and np.linalg.det(together) > 0.0:
            lines.lines[part], lines.sums[part] = line, (together[0, 0], together[0, 1], together[1, 1])


def _matrix(sums: Floats) -> Floats:
    return np.array([[sums[0], sums[1]], [sums[1], sums[2]]])
