"""Imbalanced data to try things on: sets of the KEEL repository and synthetic ones."""

from lopsided.datasets.dataset import Dataset
from lopsided.datasets.drifting import abrupt_drift, rotating_hyperplane, xor
from lopsided.datasets.keel import keel_available, load_keel
from lopsided.datasets.synthetic import four_clusters, overlapping

__all__ = [
    "Dataset",
    "abrupt_drift",
    "four_clusters",
    "keel_available",
    "load_keel",
    "overlapping",
    "rotating_hyperplane",
    "xor",
]
