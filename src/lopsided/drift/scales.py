"""Blocks of a stream added up to longer stretches, and the test of the latest stretch against those before.

Level 0 holds single blocks, level l stretches of 2**l of them, of each level the latest `KEPT`. A stretch is compared
with earlier stretches of the same length, by how much these differ among themselves. So whatever comes and goes within
a stretch, or from one to the next, such as the hours of a day in stretches of days, is no change; only what exceeds it.
Days are also compared by weekday.

For a cell (say, values above some edge) let c_b of n_b values of stretch b be in it, and z_b be 1 in the latest
stretches and 0 before. The shares c_b / n_b are fitted, weighted by n_b, by a constant for each phase of the cycle
(weekday; one constant without a cycle) and a step beta z_b. With r and z less their means in each phase,

    beta = sum n z r / sum n z^2,    phi = max((sum n r^2 - beta sum n z r) / dof, p (1 - p)),
    t = beta / sqrt(phi / sum n z^2),    dof = stretches - phases - 1,

and t is held against Student's law. Without a cycle beta is the difference of two shares. A cell is left out
unless the latest stretches have 20 values in it more or fewer than expected, of which each counts p (1 - p) / phi.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from lopsided.core.arithmetic.compiled import Floats, Integers

KEPT = 64  # stretches of each level
FEWEST_BEFORE = 14  # stretches that the latest are compared with; two weeks of days
SHORT_CUTS = (1, 2)  # latest stretches that are compared with those before
LONG_CUTS = (4, 8, 16, 32)
_LEAST_SURPLUS = 20.0  # values more or fewer than expected


class Stretch(NamedTuple):
    """What was counted from block `begin` on, which began with this row at this time.

    By series and cell: how many values are in it, of how many.
    `phase` is where in its cycle it began, such as on which weekday.
    """

    begin: int
    phase: int
    row: int
    time: float
    cells: Floats
    totals: Floats


class Finding(NamedTuple):
    """The clearest change of one series: in which cell, since which row and time, from which share to which."""

    series: int
    cell: int
    row: int
    time: float
    before: float
    after: float
    p: float


class Scales:
    """All levels, and what the stretches that end with the latest block show."""

    def __init__(self, n_series: int, *, long_from: int, cycle: int = 1) -> None:
        self.long_from = long_from  # the series from this one on have long cuts too
        self.cycle = cycle  # blocks, after which they are alike again
        self.cuts_of_all = len(SHORT_CUTS) * n_series + len(LONG_CUTS) * (n_series - long_from)
        self.levels: list[list[Stretch]] = []
        self.n_blocks = 0

    def add(self, block: Stretch, starts: Integers, limit: float) -> list[Finding]:
        """Add a block, and test all stretches that it completes; series s counts from block `starts[s]` on only.

        `limit` is how unlikely a change must be by chance to be one.
        """
        stretch, level = block, 0
        self.n_blocks += 1
        found: dict[int, Finding] = {}
        while True:
            if level == len(self.levels):
                self.levels.append([])
            kept = self.levels[level]
            kept.append(stretch)
            del kept[:-KEPT]
            if len(kept) > FEWEST_BEFORE:
                self._test(kept, self.cycle if 1 << level < self.cycle else 1, starts, limit, found)
            if self.n_blocks % (2 << level):
                return [found[series] for series in sorted(found)]
            first, second = kept[-2:]
            stretch = first._replace(cells=first.cells + second.cells, totals=first.totals + second.totals)
            level += 1

    def _test(self, kept: list[Stretch], cycle: int, starts: Integers, limit: float, found: dict[int, Finding]) -> None:
        begins = np.array([stretch.begin for stretch in kept])
        totals = np.stack([stretch.totals for stretch in kept])
        counts = (begins[:, None, None] >= starts[:, None]) & (totals > 0)
        totals = np.where(counts, totals, 0.0)
        cells = np.where(counts, np.stack([stretch.cells for stretch in kept]), 0.0)
        in_cycle = np.array([stretch.phase % cycle for stretch in kept])
        phases = np.unique(in_cycle)[:, None] == in_cycle
        N_of, C_of = _sums(phases, totals), _sums(phases, cells)
        n_phases = (N_of > 0).sum(axis=0)
        at_least_one = np.where(N_of > 0, N_of, 1.0)
        squares = (cells * cells / np.where(totals > 0, totals, 1.0)).sum(axis=0)
        squares -= (C_of * C_of / at_least_one).sum(axis=0)
        C, N, B = C_of.sum(axis=0), N_of.sum(axis=0), counts.sum(axis=0)
        share = C / np.maximum(N, 1.0)
        dof = np.maximum(B - n_phases - 1, 1)
        for cut in SHORT_CUTS + LONG_CUTS:
            fewest = max(cut, FEWEST_BEFORE)
            fits = (B - counts[-cut:].sum(axis=0) >= fewest) & counts[-cut:].all(axis=0)
            if cut in LONG_CUTS:
                fits[: self.long_from] = False
            if len(kept) < cut + fewest or not fits.any():
                continue
            N1_of = _sums(phases[:, -cut:], totals[-cut:])
            C1, N1 = cells[-cut:].sum(axis=0), totals[-cut:].sum(axis=0)
            zz = N1 - (N1_of * N1_of / at_least_one).sum(axis=0)
            zr = C1 - (N1_of * C_of / at_least_one).sum(axis=0)
            binomial = share * (1.0 - share)
            beta = np.divide(zr, zz, out=np.zeros_like(zr), where=zz > 0)
            phi = np.maximum((squares - beta * zr) / dof, binomial)
            # Few values are not near a normal law; those that come in clusters, which phi shows, count as fewer.
            surplus = N1 * np.abs(beta) * binomial
            testable = (surplus >= _LEAST_SURPLUS * phi) & (binomial > 0) & (zz > 0) & fits
            t = np.zeros_like(beta)
            np.divide(beta * np.sqrt(np.maximum(zz, 0.0)), np.sqrt(phi), out=t, where=testable)
            p = np.where(testable, 2.0 * stdtr(dof, -np.abs(t)), 1.0)
            for series in np.flatnonzero((p < limit).any(axis=1)).tolist():
                cell = int(np.argmin(p[series]))
                if series not in found or p[series, cell] < found[series].p:
                    after = C1[series, cell] / N1[series, cell]
                    before = min(max(after - beta[series, cell], 0.0), 1.0)
                    first = kept[-cut]
                    values = float(before), float(after), float(p[series, cell])
                    found[series] = Finding(series, cell, first.row, first.time, *values)


def _sums(phases: npt.NDArray[np.bool_], values: Floats) -> Floats:
    """Sums over the stretches of each phase."""
    return np.tensordot(phases.astype(np.float64), values, axes=1)
