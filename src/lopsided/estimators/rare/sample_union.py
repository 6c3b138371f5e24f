"""The sample of two streams from the samples of each: the largest priorities of both."""

from __future__ import annotations

import numpy as np

from lopsided.core.sampling.priority import GROWTH, KEPT, SEEN, TAU, Sample, shrink


def merge_samples(mine: Sample, theirs: Sample, unknown: int | None = None) -> None:
    """Let a sample be that of both streams, both as of now, in place; the other one stays as it is.

    The largest priorities of both stay, and the largest that was turned away by either, or now, is remembered: what
    comes out does not depend on who took in whom. `unknown` is the number that rows of the other get, if not their own.
    """
    if theirs.tally[KEPT] == 0 and theirs.levels[TAU] == 0.0:  # nothing was ever offered to it, or all has faded
        mine.tally[SEEN] += theirs.tally[SEEN]
        return
    if mine.levels[GROWTH] != 1.0:
        shrink(mine, 1.0 / mine.levels[GROWTH])
    factor = 1.0 / theirs.levels[GROWTH]
    here, there = int(mine.tally[KEPT]), int(theirs.tally[KEPT])
    priorities = np.concatenate([mine.priorities[:here], factor * theirs.priorities[:there]])
    tau = max(float(mine.levels[TAU]), factor * float(theirs.levels[TAU]))
    order = np.argsort(priorities, kind="stable")
    order = order[priorities[order] > tau]
    size = mine.heap.size
    if order.size > size:
        n_dropped = order.size - size
        tau, order = float(priorities[order[n_dropped - 1]]), order[n_dropped:]
    numbers = theirs.numbers[:there] if unknown is None else np.full(there, unknown)
    n = order.size
    both = (
        (mine.rows, mine.rows[:here], theirs.rows[:there]),
        (mine.masses, mine.masses[:here], factor * theirs.masses[:there]),
        (mine.importances, mine.importances[:here], theirs.importances[:there]),
        (mine.numbers, mine.numbers[:here], numbers),
    )
    for target, own, others in both:
        target[:n] = np.concatenate([own, others])[order]
    mine.priorities[:n] = priorities[order]
    mine.heap[:n] = np.arange(n)  # in ascending order they are a heap
    mine.levels[TAU] = tau
    mine.tally[KEPT] = n
    mine.tally[SEEN] += theirs.tally[SEEN]
