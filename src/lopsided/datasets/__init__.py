"""Imbalanced data to try things on: sets of the KEEL repository and two synthetic ones."""

from lopsided.datasets.dataset import Dataset
from lopsided.datasets.keel import keel_available, load_keel
from lopsided.datasets.synthetic import four_clusters, overlapping

__all__ = ["Dataset", "four_clusters", "keel_available", "load_keel", "overlapping"]
