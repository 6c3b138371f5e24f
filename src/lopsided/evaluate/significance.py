"""Is one learner better than another? Paired t-tests on one set, Wilcoxon and critical differences across sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

Floats = npt.NDArray[np.float64]


def paired_t_test(first: npt.ArrayLike, second: npt.ArrayLike, *, level: float = 0.05) -> int:
    """1 if the first is better, -1 if the second is, 0 if the runs do not tell (two-sided, paired by run).

    >>> paired_t_test([0.9, 0.91, 0.92, 0.9], [0.8, 0.82, 0.83, 0.81]), paired_t_test([0.9, 0.8], [0.8, 0.9])
    (1, 0)
    """
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    if difference.size < 2:
        return 0
    if np.ptp(difference) == 0.0:
        # Runs that all differ alike have no spread to test against; the sign is then plain.
        return int(np.sign(difference.mean()))
    p = float(stats.ttest_1samp(difference, 0.0).pvalue)
    return int(np.sign(difference.mean())) if p < level else 0


def wins_ties_losses(
    runs: Mapping[str, Mapping[str, npt.ArrayLike]], reference: str, *, level: float = 0.05
) -> dict[str, tuple[int, int, int]]:
    """For every other method: on how many sets the reference is better, no different, worse (set -> method -> runs)."""
    counts: dict[str, list[int]] = {}
    for methods in runs.values():
        if reference not in methods:
            continue
        for method, values in methods.items():
            if method != reference:
                outcome = paired_t_test(methods[reference], values, level=level)
                counts.setdefault(method, [0, 0, 0])[1 - outcome] += 1
    return {method: (won, tied, lost) for method, (won, tied, lost) in counts.items()}


@dataclass(frozen=True)
class Comparison:
    """Methods across sets: mean ranks (1 is best), the p-value of Friedman's test that all are alike, the difference of
    mean ranks that Nemenyi's test calls critical, and Wilcoxon's p-value of each method against the best.
    """

    mean_ranks: dict[str, float]
    friedman_p: float
    critical_difference: float
    wilcoxon_p: dict[str, float]


def compare_across_sets(means: Mapping[str, Mapping[str, float]], *, level: float = 0.05) -> Comparison:
    """Compare methods by their means on several sets (set -> method -> mean); sets that lack a method do not count.

    >>> means = {f"set {k}": {"a": 0.9 + 0.01 * k, "b": 0.8, "c": 0.7 - 0.01 * k} for k in range(6)}
    >>> comparison = compare_across_sets(means)
    >>> comparison.mean_ranks, round(comparison.friedman_p, 4), round(comparison.critical_difference, 2)
    ({'a': 1.0, 'b': 2.0, 'c': 3.0}, 0.0025, 1.35)
    """
    methods = list(dict.fromkeys(method for row in means.values() for method in row))
    table = np.array([[row[method] for method in methods] for row in means.values() if set(row) == set(methods)])
    n, k = table.shape if table.size else (0, len(methods))
    if n < 2 or k < 2:
        return Comparison(dict.fromkeys(methods, float("nan")), float("nan"), float("nan"), {})
    ranks = np.array([stats.rankdata(-row) for row in table])
    by_method = dict(zip(methods, ranks.mean(axis=0).tolist(), strict=True))
    friedman = float(stats.friedmanchisquare(*table.T).pvalue) if k > 2 else float("nan")
    q = float(stats.studentized_range.ppf(1.0 - level, k, np.inf)) / np.sqrt(2.0)
    best = min(by_method, key=by_method.__getitem__)
    return Comparison(
        dict(sorted(by_method.items(), key=lambda item: item[1])),
        friedman,
        float(q * np.sqrt(k * (k + 1) / (6.0 * n))),
        {m: _wilcoxon(table[:, methods.index(best)], table[:, j]) for j, m in enumerate(methods) if m != best},
    )


def _wilcoxon(first: Floats, second: Floats) -> float:
    difference = first - second
    return float(stats.wilcoxon(difference).pvalue) if np.any(difference != 0.0) else 1.0
