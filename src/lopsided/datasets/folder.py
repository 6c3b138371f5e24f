"""Sets in a folder of the user's, or one file: npz, LIBSVM or tables, one set a file, or KOIL's published files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from lopsided.datasets.dataset import Dataset
from lopsided.datasets.tables import load_table
from lopsided.streams import Sources, open_stream
from lopsided.streams.labels import positive_of, spelled
from lopsided.streams.tables import LIBSVM, format_of

_SUFFIXES = (".npz", ".libsvm", ".svm", ".svmlight", ".csv", ".tsv", ".ndjson", ".parquet", ".arrow")
# As in github.com/zengjichuan/KOIL, folder dataset: NAME is LIBSVM text, with its folds beside it.
_FOLDS, _INNER_FOLDS = "_IdxCv", "_IdxAsso"
_NEEDED = "X and y, or data, indices, indptr, shape and y"


def folder_sets(folder: str | Path) -> dict[str, Path]:
    """Name and file of every set in a folder, sorted by name; of two files with one name the npz counts.

    A file instead of a folder is the only set there.
    """
    folder = Path(folder)
    if folder.is_file():
        return {folder.stem: folder}
    if not folder.is_dir():
        raise ValueError(f"The folder of data sets must be an existing folder or a file, got {str(folder)!r}.")
    found: dict[str, Path] = {}
    for folds in folder.glob(f"*{_FOLDS}"):
        if (rows := folds.with_name(folds.name.removesuffix(_FOLDS))).is_file():
            found[rows.name] = rows
    for suffix in reversed(_SUFFIXES):
        for path in folder.glob(f"*{suffix}"):
            if suffix != ".npz" or _is_set(path):
                found[path.stem] = path
    return dict(sorted(found.items()))


def load_from_folder(
    folder: str | Path, name: str, *, label: str | None = None, positive: str | None = None
) -> Dataset:
    """One set of a folder, or of a file; `label` and `positive` say which they are where that is not what is found.

    An npz file holds `X` (rows x features) or the parts of a CSR matrix (`data`, `indices`, `indptr`, `shape`), and `y`
    with two labels; 1 of 0 and 1 or -1 and 1, else the rarer one is the class that matters, here as in all files. It
    may hold `idx_cv` and `idx_asso` (folds for
    testing and for tuning, numbers from 1) and `n_train`. Of other files the label is as `lopsided evaluate` finds it.
    Folds may also lie beside the file as text, NAME_IdxCv and NAME_IdxAsso, as the authors of KOIL published theirs.
    `NAME+test` is NAME followed by NAME_test, with `n_train` between them.
    """
    sets = folder_sets(folder)
    if name.endswith("+test") and {name[:-5], f"{name[:-5]}_test"} <= set(sets):
        parts = [sets[name[:-5]], sets[f"{name[:-5]}_test"]]
        if all(map(_is_table, parts)):
            return load_table(parts, name[:-5], label=label, positive=positive)
        return _joined(*(load_from_folder(folder, part.stem, positive=positive) for part in parts))
    if name not in sets:
        known = ", ".join(sets) or "none"
        raise ValueError(f"The name of a set in {folder} must be one of those there ({known}), got {name!r}.")
    path = sets[name]
    if _is_table(path):
        return load_table([path], name, label=label, positive=positive)
    return _from_npz(path, name, positive) if path.suffix == ".npz" else _from_libsvm(path, name, positive)


def _is_table(path: Path) -> bool:
    if path.suffix == ".npz":
        return False
    with Sources([str(path)]).open(str(path)) as source:
        return format_of(source, str(path)) != LIBSVM


def _joined(train: Dataset, test: Dataset) -> Dataset:
    X = np.vstack([train.X, test.X]) if isinstance(train.X, np.ndarray) else csr_array(vstack([train.X, test.X]))
    y, source = np.concatenate([train.y, test.y]), f"{train.source}, then {test.source}"
    return Dataset(train.name, X, y, train.feature_names, source, train.description, n_train=train.n_rows)


def _is_set(path: Path) -> bool:
    with np.load(path) as arrays:
        return "y" in arrays.files and ("X" in arrays.files or "indptr" in arrays.files)


def _from_npz(path: Path, name: str, positive: str | None) -> Dataset:
    with np.load(path) as file:  # never pickle: numpy refuses objects unless asked
        parts = {key: file[key] for key in file.files}
    X: Any
    if "X" in parts:
        X = np.ascontiguousarray(parts["X"], dtype=np.float64)
    elif {"data", "indices", "indptr", "shape"} <= set(parts):
        content = parts["data"].astype(np.float64), parts["indices"].astype(np.int32), parts["indptr"].astype(np.int32)
        X = csr_array(content, shape=tuple(parts["shape"].tolist()))
    else:
        raise ValueError(f"The file {path} must hold {_NEEDED}, got {', '.join(sorted(parts))}.")
    y, words = _signs(path, parts["y"], positive)
    return Dataset(
        name=name,
        X=X,
        y=y,
        feature_names=[f"x{position}" for position in range(1, X.shape[1] + 1)],
        source=str(path),
        description=f"as it is in the file, {words}",
        folds=_integers(parts.get("idx_cv")),
        inner_folds=_integers(parts.get("idx_asso")),
        n_train=int(parts["n_train"]) if "n_train" in parts else None,
    )


def _from_libsvm(path: Path, name: str, positive: str | None) -> Dataset:
    batches = list(open_stream(path))
    X: Any = csr_array(vstack([batch.X for batch in batches]))
    names = [f"x{position}" for position in range(1, X.shape[1] + 1)]
    y, words = _signs(path, np.concatenate([batch.y for batch in batches]), positive)
    folds, inner = _digits(path.with_name(f"{name}{_FOLDS}")), _digits(path.with_name(f"{name}{_INNER_FOLDS}"))
    if folds is not None:
        X = X.toarray()
    return Dataset(name, X, y, names, str(path), f"as it is in the file, {words}", folds=folds, inner_folds=inner)


def _digits(path: Path) -> NDArray[np.int64] | None:
    """Rows of four one-digit numbers; where a published file has NUL bytes the number is lost, and is 0 here."""
    if not path.is_file():
        return None
    text = path.read_bytes()
    if b"\0" not in text:
        return np.array(text.split(), dtype=np.int64).reshape(-1, 4)
    by_position = np.frombuffer(text, dtype=np.uint8).reshape(-1, 9)[:, :8:2].astype(np.int64)
    return np.where(by_position == 0, 0, by_position - ord("0"))


def _signs(path: Path, y: NDArray[Any], named: str | None) -> tuple[NDArray[np.int64], str]:
    """1 for the positive label and 0 for the other, and which these are."""
    labels, counts = np.unique(y, return_counts=True)
    if labels.size != 2:
        raise ValueError(f"The labels in {path} must be two, got {labels[:5].tolist()}.")
    positive = positive_of(dict(zip(labels.tolist(), counts.tolist(), strict=True)))
    if named is not None:
        positive = next((label for label in labels.tolist() if spelled(label) == spelled(named)), None)
        if positive is None:
            raise ValueError(f"The positive label of {path} must be one of {labels.tolist()}, got {named!r}.")
    negative = next(label for label in labels.tolist() if label != positive)
    return (y == positive).astype(np.int64), f"positive label {positive} (against {negative})"


def _integers(array: NDArray[Any] | None) -> NDArray[np.int64] | None:
    return None if array is None else array.astype(np.int64)
