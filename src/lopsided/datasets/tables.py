"""Tables of the user's as data sets: words, dates and gaps become numbers by the schema that their first rows show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lopsided.core.geometry.filling import fill_missing
from lopsided.datasets.dataset import Dataset
from lopsided.encoding import TableEncoder, infer_schema
from lopsided.streams import Sources, StreamError, TableStream, find_labels
from lopsided.streams.labelled import label_column
from lopsided.streams.labels import spelled


def load_table(paths: Sequence[Path], name: str, *, label: str | None = None, positive: str | None = None) -> Dataset:
    """A table with a label, as `lopsided learn` would read it; rows without a label are left out.

    A missing number is the mean of those before it, as in a `TablePipeline`. Of several files, read one after the
    other, the first tells what the columns are, and is what `n_train` counts.
    """
    first = str(paths[0])
    with TableStream(Sources([str(path) for path in paths])) as stream:
        if stream.head_problem is not None:
            raise stream.head_problem
        column = label_column(stream.columns, label, first)
        schema = infer_schema(stream.head, label=column)
        seen = [spelled(value) for value in stream.head[column] if value is not None]
        labels = find_labels(seen, positive, source=first, column=column, complete=stream.is_whole)
        encoder = TableEncoder(schema)
        rows, signs, n_first = [np.zeros((0, encoder.width))], [np.zeros(0)], 0
        for chunk in stream.chunks(encoder.expected(labels)):
            if chunk.bad:
                raise chunk.bad[0]
            rows.append(encoder.matrix(chunk.columns))
            signs.append(chunk.columns[column])
            n_first += int(np.count_nonzero(~np.isnan(signs[-1]))) if chunk.source == first else 0
    X, y = np.concatenate(rows), np.concatenate(signs)
    known = ~np.isnan(y)
    X, y = np.ascontiguousarray(X[known]), y[known]
    if np.unique(y).size != 2:
        raise StreamError(first, None, f"the label column {column!r}", "must hold two different labels", "one label")
    fill_missing(X, np.zeros(encoder.n_numbers, dtype=np.int64), np.zeros(encoder.n_numbers), np.ones(len(X)))
    other = "all others" if labels.negative is None else labels.negative
    words = f"label column {column}, positive label {labels.positive} (against {other})"
    blank = int(np.count_nonzero(~known))
    words += f", {blank:,} rows without a label left out" if blank else ""
    source = ", then ".join(map(str, paths))
    n_train = n_first if len(paths) > 1 else None
    return Dataset(name, X, (y > 0).astype(np.int64), encoder.names, source, words, n_train=n_train)
