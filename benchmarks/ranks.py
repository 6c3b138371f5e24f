"""Who is better over many sets: mean ranks, Friedman, Nemenyi, and each rival against one by Wilcoxon and Holm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import wilcoxon

from lopsided.evaluate import compare_across_sets

Values = Mapping[str, Mapping[str, float]]  # set, method


@dataclass(frozen=True)
class Ranked:
    """Mean ranks (1 is best), what Friedman's and Nemenyi's tests say, and each method beside the reference."""

    mean_ranks: dict[str, float]
    friedman_p: float
    critical_difference: float
    won: dict[str, tuple[int, int, int]]  # sets on which the reference is better, as good, worse
    p: dict[str, float]  # Wilcoxon's, two-sided, corrected by Holm


def ranked(values: Values, reference: str) -> Ranked:
    """Compare methods over the sets; all of them must be there on every set."""
    found = compare_across_sets(values)
    names = [name for name in next(iter(values.values())) if name != reference]
    raw, won = {}, {}
    for name in names:
        less = np.array([own[reference] - own[name] for own in values.values()])
        raw[name] = float(wilcoxon(less).pvalue) if np.any(less != 0.0) else 1.0
        won[name] = (int((less > 0).sum()), int((less == 0).sum()), int((less < 0).sum()))
    return Ranked(dict(found.mean_ranks), found.friedman_p, found.critical_difference, won, holm(raw))


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """Holm's correction: the k-th smallest of n times n - k + 1, never below the one before, at most 1.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    corrected, least = {}, 0.0
    for k, name in enumerate(sorted(p, key=p.__getitem__)):
        least = max(least, min(1.0, p[name] * (len(p) - k)))
        corrected[name] = round(least, 10)
    return {name: corrected[name] for name in p}


def said(values: Mapping[str, float], order: Sequence[str]) -> list[str]:
    """P-values for a table."""
    return ["-" if name not in values else "<.001" if values[name] < 5e-4 else dotted(values[name]) for name in order]


def dotted(value: float) -> str:
    """Three decimals, without a zero before the point."""
    return f"{value:.3f}".replace("0.", ".", 1)
