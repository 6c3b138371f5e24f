"""How many published figures were met: to either side, by the published algorithm, with what was not run beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass

from lopsided.reproduce.comparison import Outcome, Verdict


@dataclass(frozen=True)
class Count:
    """Figures that were printed, and of these: run as published, met, missed to either side, run as ours."""

    printed: int = 0
    run: int = 0
    dated: int = 0  # run, and printed with a deviation
    near: int = 0  # within the tolerance
    within: int = 0  # within one published deviation
    either: int = 0  # one or the other
    alike: int = 0  # printed with a deviation, and no different by a t-test
    better: int = 0
    one_class: int = 0
    worse: int = 0
    ours: int = 0  # a variant of ours was run, whether or not the published algorithm was
    ours_alone: int = 0
    ours_near: int = 0  # within the tolerance, had the variant been counted

    def __add__(self, other: Count) -> Count:
        return Count(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    @property
    def not_run(self) -> int:
        """Printed, and not run by the published algorithm."""
        return self.printed - self.run


def count(results: Sequence[Outcome], tolerance: float = math.nan) -> Count:
    """Count outcomes; with a tolerance also how many figures a variant of ours meets."""
    return sum((_one(result, tolerance) for result in results), Count())


def _one(result: Outcome, tolerance: float) -> Count:
    run, verdict = result.verdict is not Verdict.NOT_RUN, result.verdict
    return Count(
        printed=1,
        run=int(run),
        dated=int(run and not math.isnan(result.cell.deviation)),
        near=int(result.near),
        within=int(result.within),
        either=int(result.near or result.within),
        alike=int(result.alike),
        better=int(verdict is Verdict.BETTER),
        one_class=int(verdict is Verdict.ONE_CLASS),
        worse=int(verdict is Verdict.WORSE),
        ours=int(result.ours.runs > 0),
        ours_alone=int(result.ours.runs > 0 and not run),
        ours_near=int(abs(result.ours.mean - result.cell.value) <= tolerance),
    )
