"""Synthetic imbalanced sets of any size: one that no linear ranker can solve, one for speed measurements."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lopsided.datasets.dataset import Dataset, scale_to_unit_interval

# The rare class sits at the origin with one cluster of the other class on each side, all round. A spread of
# 0.3 of the distance makes neighbouring clusters touch: the best possible AUC is 0.97, not 1.
_CLUSTER_CENTRES = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
_CLUSTER_SPREAD = 0.3

# Distance between the means of the two classes of `overlapping`, in standard deviations. No ranker can exceed
# an AUC of 0.955; an online Gaussian kernel ranker with 100 + 100 support vectors reaches .75 to .9 for 2 to
# 50 features, and more than 9 of 10 of its steps find violated pairs: the costly path is the one measured.


def four_clusters(n_positive: int = 200, n_negative: int = 800, *, random_state: int | None = 0) -> Dataset:
    """The rare class in the middle of four clusters of the other class, in two dimensions.

    When: to see what a kernel is for. No line has the rare class on one side, so a linear ranker stays near
    an AUC of 0.5. The geometry is that of the synthetic sets in Hu's thesis "Kernelized Online Imbalanced
    Learning" (2015), where 200 positives meet 800 negatives, and 100 meet 1,000, 5,000 and 10,000.

    The negatives are shared evenly among the clusters, both features are scaled to [0, 1] over the set
    and the rows are shuffled. `random_state=None` draws anew each time.

    >>> four_clusters()
    Dataset('four_clusters', n_rows=1000, n_features=2, ratio=4)
    >>> four_clusters(100, 10_000).ratio
    100.0
    """
    check_count("n_positive", "four_clusters", n_positive, at_least=1)
    check_count("n_negative", "four_clusters", n_negative, at_least=1)
    rng = np.random.default_rng(random_state)
    centres = np.vstack([np.zeros((n_positive, 2)), _CLUSTER_CENTRES[np.arange(n_negative) % 4]])
    X = centres + _CLUSTER_SPREAD * rng.standard_normal(centres.shape)
    y = np.repeat(np.array([1, 0], dtype=np.int64), [n_positive, n_negative])
    order = rng.permutation(y.size)
    return Dataset(
        name="four_clusters",
        X=np.ascontiguousarray(scale_to_unit_interval(X)[order]),
        y=y[order],
        feature_names=["x1", "x2"],
        source="synthetic, after J. Hu, Kernelized Online Imbalanced Learning, 2015",
        description="a Gaussian rare class amid four Gaussian clusters, features scaled to [0, 1]",
    )


def overlapping(
    n: int, n_features: int, rare: float = 0.05, *, distance: float = 2.4, random_state: int | None = 0
) -> Dataset:
    """Two overlapping Gaussian classes in any dimension.

    When: to measure speed. The classes never separate, so a learner keeps finding wrongly ranked pairs and
    each step costs what a step costs; on separable data a learner soon has nothing to do.

    Negatives are standard normal; positives have the same spread around a mean that is `distance` away, as far in every
    feature. Whoever knows that ranks by the sum of the features; nobody can do better. Exactly `round(rare * n)` rows
    are positive, at least one. Features are not scaled.

    >>> overlapping(1000, 20)
    Dataset('overlapping', n_rows=1000, n_features=20, ratio=19)
    """
    check_count("n", "overlapping", n, at_least=2)
    check_count("n_features", "overlapping", n_features, at_least=1)
    rng = np.random.default_rng(random_state)
    y = rare_labels("overlapping", n, rare, rng)
    X = rng.standard_normal((n, n_features))
    X[y == 1] += distance / np.sqrt(n_features)
    return Dataset(
        name="overlapping",
        X=X,
        y=y,
        feature_names=[f"x{position}" for position in range(1, n_features + 1)],
        source="synthetic",
        description=f"two Gaussian classes with unit spread, their means {distance} apart",
    )


def rare_labels(owner: str, n: int, rare: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Exactly `round(rare * n)` ones at random places, at least one and not all."""
    check_share("rare", owner, rare)
    y: NDArray[np.int64] = np.zeros(n, dtype=np.int64)
    y[rng.permutation(n)[: min(max(round(rare * n), 1), n - 1)]] = 1
    return y


def check_share(parameter: str, owner: str, value: float) -> None:
    """Refuse what is no share of a whole."""
    if not 0.0 < value < 1.0:
        raise ValueError(f"{parameter} of {owner} must be a share between 0 and 1, both excluded, got {value!r}.")


def check_count(parameter: str, owner: str, value: int, *, at_least: int) -> None:
    """Refuse what is no number of rows or features."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise ValueError(f"{parameter} of {owner} must be a whole number >= {at_least}, got {value!r}.")
