"""Imbalanced data to try things on: KEEL, the papers, scikit-learn, synthetic streams, and a folder of your own."""

from lopsided.datasets.agrawal import agrawal
from lopsided.datasets.cards import CARD_FEATURES, card_features, card_stream
from lopsided.datasets.catalogue import Available, available, how_to_get_more, load, set_names
from lopsided.datasets.dataset import Dataset
from lopsided.datasets.drifting import abrupt_drift, rotating_hyperplane, xor
from lopsided.datasets.folder import folder_sets, load_from_folder
from lopsided.datasets.keel import keel_available, load_keel
from lopsided.datasets.papers import load_paper_set, paper_sets
from lopsided.datasets.random_worlds import hyperplane, minority_clusters, random_rbf, random_tree, texts
from lopsided.datasets.rule_streams import asset_negotiation, mixed, sea, sine, stagger
from lopsided.datasets.synthetic import four_clusters, overlapping
from lopsided.datasets.transactions import transactions

__all__ = [
    "CARD_FEATURES",
    "Available",
    "Dataset",
    "abrupt_drift",
    "agrawal",
    "asset_negotiation",
    "available",
    "card_features",
    "card_stream",
    "folder_sets",
    "four_clusters",
    "how_to_get_more",
    "hyperplane",
    "keel_available",
    "load",
    "load_from_folder",
    "load_keel",
    "load_paper_set",
    "minority_clusters",
    "mixed",
    "overlapping",
    "paper_sets",
    "random_rbf",
    "random_tree",
    "rotating_hyperplane",
    "sea",
    "set_names",
    "sine",
    "stagger",
    "texts",
    "transactions",
    "xor",
]
