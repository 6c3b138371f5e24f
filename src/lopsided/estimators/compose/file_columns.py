"""Files for any model: which columns of a table a model reads, whether it was saved by a command or from Python.

A `TablePipeline` knows the columns of its files. Every other learner takes rows of numbers: a file must hold its
features by name or, if it has learned from an array without names, so many columns of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lopsided.encoding import Column, EncodedRows, Schema, SchemaError, TableEncoder, infer_schema
from lopsided.encoding.forms import by_column
from lopsided.encoding.schema import FLAG, NUMBER
from lopsided.estimators.compose.table_pipeline import SparsePipeline, TablePipeline
from lopsided.streams import StreamError
from lopsided.streams.cells import is_missing
from lopsided.streams.errors import shown_columns
from lopsided.streams.labelled import USUAL_LABEL_NAMES

_TRUTH = {"true", "false"}
_NOT_READ = "no feature of the model"


def reads_tables(model: Any) -> bool:
    """Whether a model can be fed with tables: all but those that have learned from LIBSVM files."""
    return not isinstance(model, SparsePipeline)


def reads_sparse_files(model: Any) -> bool:
    """Whether a model can be fed with LIBSVM files: features by number, most of them 0.

    >>> from lopsided import KOIL, OnlineScaler, StreamPipeline
    >>> reads_sparse_files(KOIL()), reads_sparse_files(StreamPipeline(OnlineScaler(), KOIL()))
    (True, False)
    """
    if knows_its_columns(model):
        return False
    return isinstance(model, SparsePipeline) or bool(model.__sklearn_tags__().input_tags.sparse)


def knows_its_columns(model: Any) -> bool:
    """Whether a model can name the columns that it reads: those of a table, or of a data frame."""
    return isinstance(model, TablePipeline) or getattr(model, "feature_names_in_", None) is not None


def schema_for(model: Any, head: Mapping[str, Sequence[Any]], source: str, *, label: str | None = None) -> Schema:
    """What a model reads of a table that begins with these rows; StreamError if it cannot be fed with them.

    Parameters
    ----------
    model : any learner that has learned.
    head : the first rows of the table by column.
    source : what the table is called, for errors.
    label : the column that is the label, if rows are to be learned from; a `TablePipeline` knows it.

    A model that has learned from a data frame reads its columns by name. One that has learned from an array reads all
    columns of numbers, in their order, if they are as many as its features; a label, which must be called label, class,
    target or y, may stand beside them. No number may be missing, since such a model has nothing to fill gaps with.

    >>> from lopsided import KOIL
    >>> model = KOIL().partial_fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    >>> print(schema_for(model, {"x": ["1", "2"], "who": ["ann", "bob"], "z": ["3", "4"], "y": ["0", "1"]}, "new.csv"))
    x    number
    z    number
    who  ignored: no feature of the model
    y    ignored: no feature of the model
    >>> schema_for(model, {"x": ["1", "2"], "who": ["ann", "bob"]}, "new.csv")
    Traceback (most recent call last):
    lopsided.streams.errors.StreamError: The file new.csv must hold 2 columns of numbers, one a feature of the KOIL, \
and beside them at most a label called label, class, target or y, got 1: x.
    """
    if isinstance(model, TablePipeline):
        assert model.schema is not None
        return model.schema
    kinds = {name: _kind(cells) for name, cells in head.items() if name != label}
    named = getattr(model, "feature_names_in_", None)
    names = _columns_of_numbers(model, kinds, source) if named is None else [str(name) for name in named]
    columns = [Column(name, FLAG if kinds.get(name) == FLAG else NUMBER, required=True) for name in names]
    read = set(names)
    return Schema(tuple(columns), label, ignored={name: _NOT_READ for name in kinds if name not in read})


def encoded_rows(model: Any, rows: Any, source: str = "the rows") -> EncodedRows:
    """Rows of a table (a data frame, a mapping of columns, a list of mappings) as the numbers that a model takes.

    >>> from lopsided import KOIL
    >>> model = KOIL().partial_fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    >>> encoded_rows(model, [{"x": 1.5, "z": 2}])
    EncodedRows([[1.5, 2. ]])
    """
    if isinstance(model, TablePipeline):
        return encoded if isinstance(encoded := model.encoded(rows), EncodedRows) else encoded.view(EncodedRows)
    encoder = TableEncoder(schema_for(model, by_column(rows), source))
    return encoder.rows(encoder.columns_of(rows))


def _kind(cells: Sequence[Any]) -> str | None:
    """What the first cells of a column show; None if nothing is there."""
    there = [cell for cell in cells if not is_missing(cell)]
    # A data frame of truth becomes words in a CSV file.
    if there and all(isinstance(cell, str) and cell.strip().lower() in _TRUTH for cell in there):
        return FLAG
    try:
        return infer_schema({"cells": cells}).columns[0].kind
    except SchemaError:
        return None


def _columns_of_numbers(model: Any, kinds: Mapping[str, str | None], source: str) -> list[str]:
    """As many columns of numbers as there are features, in the order of the file."""
    wanted = model.n_features_in_
    if not kinds:  # nothing to read, or no longer: whatever the columns are called
        return [f"x{number}" for number in range(wanted)]
    # A file without rows shows no kinds: whatever it holds may be numbers.
    found = [name for name, kind in kinds.items() if kind in (NUMBER, FLAG)] or [
        name for name, kind in kinds.items() if kind is None
    ]
    if len(found) == wanted:
        return found
    features = [name for name in found if name.lower() not in USUAL_LABEL_NAMES]
    if len(found) == wanted + 1 == len(features) + 1:
        return features
    *first, last = USUAL_LABEL_NAMES
    rule = (
        f"must hold {wanted:,} columns of numbers, one a feature of the {type(model).__name__}, "
        f"and beside them at most a label called {', '.join(first)} or {last}"
    )
    got = f"{len(found):,}: {shown_columns(found)}" if found else "none"
    raise StreamError(source, None, None, rule, got)
