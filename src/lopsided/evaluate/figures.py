"""What a learner has achieved on a stream: with all labels, and as it looks by those that were seen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Record:
    """What a learner has achieved on the first `n` examples of a stream.

    `positives` of them are of the rare class; `auroc` is nan while one class is missing, `average_precision` while
    there is no positive. `seconds` is the time spent scoring and learning, without reading or judging, and
    `examples_per_second` is n by it. `n_support` is None for a learner without support vectors.
    """

    n: int
    positives: int
    auroc: float
    average_precision: float
    f1: float
    seconds: float
    examples_per_second: float
    n_support: int | None


@dataclass(frozen=True)
class Estimates:
    """What can be said where only some labels were seen, each counting the inverse of its chance of being seen.

    `n` labels were seen, `positives` and `rows` are estimates of how many there are of all.
    """

    n: int
    rows: float
    positives: float
    auroc: float
    average_precision: float
    f1: float
