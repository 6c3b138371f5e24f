"""Imbalanced data to try things on: KEEL, the papers, scikit-learn, synthetic streams, and a folder of your own."""

from lopsided.datasets.catalogue import Available, available, how_to_get_more, load, set_names
from lopsided.datasets.dataset import Dataset
from lopsided.datasets.drifting import abrupt_drift, rotating_hyperplane, xor
from lopsided.datasets.folder import folder_sets, load_from_folder
from lopsided.datasets.keel import keel_available, load_keel
from lopsided.datasets.papers import load_paper_set, paper_sets
from lopsided.datasets.synthetic import four_clusters, overlapping
from lopsided.datasets.transactions import transactions

__all__ = [
    "Available",
    "Dataset",
    "abrupt_drift",
    "available",
    "folder_sets",
    "four_clusters",
    "how_to_get_more",
    "keel_available",
    "load",
    "load_from_folder",
    "load_keel",
    "load_paper_set",
    "overlapping",
    "paper_sets",
    "rotating_hyperplane",
    "set_names",
    "transactions",
    "xor",
]
