"""Synthetic streams whose rare class is hard to find or moves while one looks: exclusive or, rotation, drift."""

from __future__ import annotations

import numpy as np

from lopsided.datasets.dataset import Dataset
from lopsided.datasets.synthetic import check_count, check_share, rare_labels

# Spread of the four clusters of `xor` around the corners of a square of side 2: no ranker can exceed an AUC of 0.97.
_CORNER_SPREAD = 0.6
# Distance between the means of the two classes of the streams that drift; no ranker can exceed an AUC of 0.955.
_CLASS_DISTANCE = 2.4


def xor(n: int, rare: float = 0.01, *, random_state: int | None = 0) -> Dataset:
    """Exclusive or in two dimensions: the rare class on two opposite corners of a square, the other on the others.

    When: to see whether a learner is more than linear where positives are few. No line and no single centre will do:
    both classes have the same mean. The best possible AUC is 0.97.

    Exactly `round(rare * n)` rows are positive, at least one; features are not scaled.

    >>> xor(2_000)
    Dataset('xor', n_rows=2000, n_features=2, ratio=99)
    """
    check_count("n", "xor", n, at_least=2)
    rng = np.random.default_rng(random_state)
    y = rare_labels("xor", n, rare, rng)
    first = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    corners = np.column_stack([first, np.where(y == 1, -first, first)])
    return Dataset(
        name="xor",
        X=corners + _CORNER_SPREAD * rng.standard_normal((n, 2)),
        y=y,
        feature_names=["x1", "x2"],
        source="synthetic",
        description=f"Gaussian clusters of spread {_CORNER_SPREAD} on the corners of a square of side 2",
    )


def rotating_hyperplane(
    n: int, n_features: int = 10, rare: float = 0.01, turns: float = 0.5, *, random_state: int | None = 0
) -> Dataset:
    """Two Gaussian classes whose best separating hyperplane rotates all the time.

    When: to see how a learner follows a change that never stops. Negatives are standard normal; positives have the same
    spread around a mean 2.4 away, in a direction that turns in the plane of the first two features, `turns` full turns
    in the whole stream. At any time no ranker can exceed an AUC of 0.955; one that never forgets has learned an average
    of directions.

    >>> rotating_hyperplane(2_000)
    Dataset('rotating_hyperplane', n_rows=2000, n_features=10, ratio=99)
    """
    check_count("n", "rotating_hyperplane", n, at_least=2)
    check_count("n_features", "rotating_hyperplane", n_features, at_least=2)
    if not np.isfinite(turns):
        raise ValueError(f"turns of rotating_hyperplane must be a finite number, got {turns!r}.")
    rng = np.random.default_rng(random_state)
    y = rare_labels("rotating_hyperplane", n, rare, rng)
    angles = 2.0 * np.pi * turns * np.arange(n) / n
    X = rng.standard_normal((n, n_features))
    X[:, :2] += y[:, None] * _CLASS_DISTANCE * np.column_stack([np.cos(angles), np.sin(angles)])
    return Dataset(
        name="rotating_hyperplane",
        X=X,
        y=y,
        feature_names=[f"x{position}" for position in range(1, n_features + 1)],
        source="synthetic",
        description=f"two Gaussian classes {_CLASS_DISTANCE} apart in a direction that makes {turns:g} turns",
    )


def abrupt_drift(
    n: int,
    n_features: int = 10,
    rare: float = 0.01,
    at: float = 0.5,
    width: float = 0.0,
    kind: str = "places",
    *,
    random_state: int | None = 0,
) -> Dataset:
    """Two Gaussian classes that change places at one moment, or that other features tell apart from then on.

    When: to see how fast a learner recovers. Both classes have unit spread, their means are 2.4 apart. With kind
    "places" they differ in every feature, and after the share `at` of the stream each has the mean of the other: what
    was learned is wrong. With "features" only positives move: they differ in the first half of the features, later in
    the second half, and what was learned is useless. With a `width` the change is gradual: within that share of the
    stream around `at` an example is of the new kind with a probability that rises from 0 to 1. No ranker can exceed an
    AUC of 0.955 before and after; one that does not notice falls to 0.045, or 0.5.

    >>> abrupt_drift(2_000)
    Dataset('abrupt_drift', n_rows=2000, n_features=10, ratio=99)
    """
    check_count("n", "abrupt_drift", n, at_least=2)
    check_count("n_features", "abrupt_drift", n_features, at_least=2)
    check_share("at", "abrupt_drift", at)
    if not 0.0 <= width <= 1.0:
        raise ValueError(f"width of abrupt_drift must be a share between 0 and 1, got {width!r}.")
    if kind not in ("places", "features"):
        raise ValueError(f"kind of abrupt_drift must be 'places' or 'features', got {kind!r}.")
    rng = np.random.default_rng(random_state)
    y = rare_labels("abrupt_drift", n, rare, rng)
    progress = (np.arange(n) / n - at) / width + 0.5 if width > 0.0 else np.where(np.arange(n) >= at * n, 1.0, 0.0)
    is_new = rng.random(n) < progress
    X = rng.standard_normal((n, n_features))
    if kind == "places":
        side = np.where((y == 1) != is_new, 0.5, -0.5)
        X += (_CLASS_DISTANCE / np.sqrt(n_features)) * side[:, None]
    else:
        half = n_features // 2
        X[:, :half] += (_CLASS_DISTANCE / np.sqrt(half)) * (y * ~is_new)[:, None]
        X[:, half:] += (_CLASS_DISTANCE / np.sqrt(n_features - half)) * (y * is_new)[:, None]
    return Dataset(
        name="abrupt_drift",
        X=X,
        y=y,
        feature_names=[f"x{position}" for position in range(1, n_features + 1)],
        source="synthetic",
        description=f"two Gaussian classes {_CLASS_DISTANCE} apart that change {kind} after {at:g} of the stream",
    )
