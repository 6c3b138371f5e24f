"""The examples that a model keeps, shown as the rows that they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.estimators.compose.file_pipeline import SparsePipeline
from lopsided.estimators.compose.table_pipeline import TablePipeline
from lopsided.inspection.anatomy import columns_of, feature_names

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """A row that a model has learned and keeps.

    `columns` is what it was; `number` counts from 1 over the rows learned, `id` is what its identifier column said
    (None: not known). `as_it_came` is False where nobody kept the row, as in files of older versions, but only its
    vector, on the scale of its moment: then `columns` is what that would be on the present scale, and may never have
    been so.
    """

    columns: dict[str, Any]
    number: int | None = None
    id: Any = None
    as_it_came: bool = True


def example_of(models: Sequence[Any], vector: Floats, number: int, names: list[str] | None = None) -> Example:
    """The example whose vector a learner keeps.

    Parameters
    ----------
    models : the model, and what is inside of it down to the learner that keeps the vector: a member of a pool.
    vector : as the learner keeps it.
    number : of its row, as `support_numbers_` says; 0 if nobody knows.
    names : what the features are called, if otherwise than `feature_names` says.
    """
    known = int(number) or None
    for model in models:
        row = model.remembered_row(known) if known and hasattr(model, "remembered_row") else None
        if row is not None:
            return _as_it_came(models[0], row, known, names)
    if not any(hasattr(model, "unscaled") for model in models):  # nobody has changed it on its way
        return _as_it_came(models[0], vector, known, names)
    for model in reversed(models[1:]):
        vector = model.unscaled(vector[None])[0] if hasattr(model, "unscaled") else vector
    return Example(columns_of(models[0], vector, names), known, as_it_came=False)


def _as_it_came(model: Any, row: Any, number: int | None, names: list[str] | None) -> Example:
    if isinstance(row, Mapping):
        columns, schema = dict(row), getattr(model, "schema", None)
        return Example(columns, number, None if schema is None else columns.pop(schema.id, None))
    names = feature_names(model) if names is None else names
    shown = np.flatnonzero(row) if isinstance(model, SparsePipeline) else range(len(row))
    return Example({names[place]: float(row[place]) for place in shown}, number)


def shown_row(model: Any, row: Any, names: list[str]) -> dict[str, Any]:
    """The columns of a row to be scored, as far as they are known."""
    if isinstance(model, TablePipeline):
        if getattr(row, "cells", None) is not None:
            shown = {*model.encoder_.places(), *model.schema_.history_keys}
            return {name: cell for name, cell in row.cells.row(0).items() if name in shown}
        return model.encoder_.in_words(np.asarray(row)[0])
    if hasattr(row, "indices"):
        return {names[place]: float(value) for place, value in zip(row.indices, row.data, strict=True)}
    return dict(zip(names, np.asarray(row)[0].tolist(), strict=True))


def columns_in_words(columns: Mapping[str, Any], most: int = 8) -> str:
    """Columns on one line; of a hashed column the words that are hashed so, or their places.

    >>> columns_in_words({"amount": 1234567.25, "country": ["NO", "SE"], "age": None})
    'amount=1234567.25, country=NO or SE, age=missing'
    """
    words = [f"{name}={cell_in_words(value)}" for name, value in columns.items()]
    return ", ".join(words[:most] + (["..."] if len(words) > most else []))


def cell_in_words(value: Any) -> str:
    """One cell: all digits of a number, for a rounded one never existed."""
    if isinstance(value, list):
        return " or ".join(value) or "nothing"
    if value is None or value != value:
        return "missing" if value is None else "?"
    return f"{value:.15g}" if isinstance(value, float) else str(value)
