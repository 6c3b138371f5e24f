"""Which rows are learned from and which are tested on: the folds of the papers, and random splits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lopsided.datasets import Dataset

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to learn from, in the order of the stream, and rows to test on; `number` counts from 1."""

    number: int
    train: Rows
    test: Rows


def fold_splits(dataset: Dataset, *, repetitions: int = 4, folds: int = 5, seed: int = 0) -> list[Split]:
    """Cross-validation repeated: each fold of each repetition is the test set once; the order of rows is kept.

    The published folds of the set are used if it has them, else random ones of equal size (not stratified, as the
    published ones are not).

    >>> from lopsided.datasets import four_clusters
    >>> splits = fold_splits(four_clusters(), repetitions=2)
    >>> len(splits), splits[0].train.size, splits[0].test.size
    (10, 800, 200)
    """
    labels = dataset.folds
    if labels is None:
        labels = _random_labellings(dataset.n_rows, repetitions, folds, seed)
    splits: list[Split] = []
    for repetition in range(min(repetitions, labels.shape[1])):
        for fold in range(1, folds + 1):
            is_test = labels[:, repetition] == fold
            splits.append(Split(len(splits) + 1, np.flatnonzero(~is_test), np.flatnonzero(is_test)))
    return splits


def inner_labellings(dataset: Dataset, split: Split, *, folds: int = 5, seed: int = 0) -> Rows:
    """Folds for tuning on the training rows of the first split, one column a labelling, numbers from 1.

    The published ones if the set has them (where a number was lost in the file, it goes by position), else one round
    robin and three random ones.
    """
    n = split.train.size
    round_robin = np.arange(n) % folds + 1
    if dataset.inner_folds is not None and dataset.inner_folds.shape[0] >= n:
        published = dataset.inner_folds[:n]
        return np.where(published == 0, round_robin[:, None], published)
    return np.column_stack([round_robin, _random_labellings(n, 3, folds, seed)])


def random_splits(n: int, runs: int, *, test: float = 0.2, seed: int = 0) -> Iterator[Split]:
    """A random order of all rows for each run: the first part to learn from, the rest to test on."""
    for run in range(runs):
        order = np.random.default_rng([seed, run]).permutation(n)
        cut = n - round(test * n)
        yield Split(run + 1, order[:cut], order[cut:])


def _random_labellings(n: int, repetitions: int, folds: int, seed: int) -> Rows:
    draw = np.random.default_rng(seed)
    round_robin = np.arange(n) % folds + 1
    return np.stack([draw.permutation(round_robin) for _ in range(repetitions)], axis=1)
