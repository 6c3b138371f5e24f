"""Files for any model: which columns of a table a model reads, whether it was saved by a command or from Python.

A `TablePipeline` knows the columns of its files. Every other learner takes rows of numbers: a file must hold its
features by name or, if it has learned from an array without names, so many columns of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lopsided.encoding import Column, EncodedRows, Schema, TableEncoder
from lopsided.encoding.forms import by_column
from lopsided.encoding.inference import Guess, guess_of
from lopsided.encoding.schema import FLAG, KEY, NUMBER
from lopsided.estimators.compose.file_pipeline import SparsePipeline
from lopsided.estimators.compose.table_pipeline import TablePipeline
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
        return model.schema_
    guesses = {name: _guess(cells) for name, cells in head.items() if name != label}
    named = getattr(model, "feature_names_in_", None)
    if named is None:
        names = _columns_of_numbers(model, {name: guess.kind for name, guess in guesses.items()}, source)
    else:
        names = [str(name) for name in named]
    columns = [_column_of_numbers(name, guesses.get(name, Guess())) for name in names]
    read = set(names)
    return Schema(tuple(columns), label, ignored={name: _NOT_READ for name in guesses if name not in read})


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


def _guess(cells: Sequence[Any]) -> Guess:
    """What the first cells of a column show; no kind if nothing is there."""
    there = [cell for cell in cells if not is_missing(cell)]
    # A data frame of truth becomes words in a CSV file.
    if there and all(isinstance(cell, str) and cell.strip().lower() in _TRUTH for cell in there):
        return Guess(FLAG)
    guess = guess_of("", cells)
    # Whoever has learned from arrays has taken identifiers for numbers.
    is_digits = guess.kind == KEY and all(str(cell).strip().isdigit() for cell in there)
    return Guess(NUMBER) if is_digits else guess


def _column_of_numbers(name: str, guess: Guess) -> Column:
    if guess.kind == FLAG:
        return Column(name, FLAG, required=True)
    return Column(name, NUMBER, required=True, form=guess.form if guess.kind == NUMBER else None)


def _columns_of_numbers(model: Any, kinds: Mapping[str, str], source: str) -> list[str]:
    """As many columns of numbers as there are features, in the order of the file."""
    wanted = model.n_features_in_
    if not kinds:  # nothing to read, or no longer: whatever the columns are called
        return [f"x{number}" for number in range(wanted)]
    # A file without rows shows no kinds: whatever it holds may be numbers.
    found = [name for name, kind in kinds.items() if kind in (NUMBER, FLAG)] or [
        name for name, kind in kinds.items() if not kind
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
