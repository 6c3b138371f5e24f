"""Models of OPAUC as one: moments add up, and tell where the weights of all rows would have gone."""

from __future__ import annotations

import numpy as np

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.linear.opauc import SEEN, Moments, OpaucPlan


def add_classes(moments: Moments, other: Moments) -> None:
    """Counts, means and scatter matrices (or sketches) of two sets of rows as of one."""
    for own in range(2):
        n, more = int(moments.tally[SEEN + own]), int(other.tally[SEEN + own])
        if not more:
            continue
        apart = other.means[own] - moments.means[own]
        moments.means[own] = other.means[own] if not n else moments.means[own] + apart * (more / (n + more))
        if moments.scatter.shape[1]:
            moments.scatter[own] += other.scatter[own] + np.multiply.outer(apart, apart) * (n * (more / (n + more)))
        moments.sketch[own] += other.sketch[own]
        moments.sketch_sum[own] += other.sketch_sum[own]
    moments.tally[:] += other.tally


def go_on(moments: Moments, plan: OpaucPlan, n_steps: float) -> None:
    """The weights after so many more steps, each by the mean gradient of all rows that the moments know.

    For rows of either class that mean is A w - b, with b the difference of the two means of classes and
    A = lambda I + S+ + S- + b b'. Small steps of size eta along it come to exp(-eta n A) w + (I - exp(-eta n A)) w*,
    where A w* = b: at most as far as the best weights, however many steps there are. A sketch has no matrix A at hand,
    and stays where it is.
    """
    seen = moments.tally[SEEN : SEEN + 2]
    if not moments.scatter.shape[1] or not seen.all() or n_steps <= 0.0:
        return
    b = moments.means[0] - moments.means[1]
    curvature = moments.scatter[0] / seen[0] + moments.scatter[1] / seen[1] + np.multiply.outer(b, b)
    bends, axes = np.linalg.eigh(curvature)
    bends = np.maximum(bends, 0.0) + plan.regularization
    time = plan.rate * n_steps
    still = np.exp(-time * bends)
    gone: Floats = np.where(bends > 0.0, -np.expm1(-time * bends) / np.where(bends > 0.0, bends, 1.0), time)
    moments.weights[: b.size] = axes @ (still * (axes.T @ moments.weights[: b.size]) + gone * (axes.T @ b))
