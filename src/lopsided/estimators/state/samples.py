"""Priority samples between memory and files, and what their rows count."""

from __future__ import annotations

import numpy as np

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.sampling.priority import GROWTH, KEPT, Sample, fill_counts
from lopsided.estimators.state.arrays import ModelFileError, in_range


def counts_of(sample: Sample) -> Floats:
    """How many rows of the stream each kept row stands for."""
    counts = np.empty(int(sample.tally[KEPT]))
    fill_counts(sample, counts)
    return counts


def check_sample(name: str, sample: Sample) -> None:
    """Refuse a sample whose heap leads outside of it, or whose numbers cannot be."""
    size = sample.heap.size
    in_range(f"{name}.tally", sample.tally, 0, (size, 2**62))
    kept = int(sample.tally[KEPT])
    slots = np.sort(sample.heap[:kept])
    if not (np.array_equal(slots, np.arange(kept)) and (sample.importances[:kept] > 0.0).all()) or not (
        sample.levels[GROWTH] > 0.0
    ):
        raise ModelFileError(
            f"The arrays '{name}' of the model file must hold every kept row once, with importances > 0. "
            "Got others: the file is damaged."
        )
