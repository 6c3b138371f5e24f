"""Tables of the user's as data sets: words, dates and gaps become numbers by the schema that their first rows show."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lopsided.core.geometry.filling import fill_missing
from lopsided.datasets.dataset import Dataset
from lopsided.encoding import TableEncoder, infer_schema
from lopsided.streams import Sources, StreamError, TableStream, find_labels
from lopsided.streams.labelled import label_column
from lopsided.streams.labels import spelled


def load_table(path: Path, name: str) -> Dataset:
    """A table with a label, as `lopsided learn` would read it; rows without a label are left out.

    A missing number is the mean of those before it, as in a `TablePipeline`.
    """
    with TableStream(Sources([str(path)])) as stream:
        if stream.head_problem is not None:
            raise stream.head_problem
        label = label_column(stream.columns, None, stream.name)
        schema = infer_schema(stream.head, label=label)
        seen = [spelled(value) for value in stream.head[label] if value is not None]
        labels = find_labels(seen, None, source=stream.name, column=label, complete=stream.is_whole)
        encoder = TableEncoder(schema)
        rows, signs = [np.zeros((0, encoder.width))], [np.zeros(0)]
        for chunk in stream.chunks(encoder.expected(labels)):
            if chunk.bad:
                raise chunk.bad[0]
            rows.append(encoder.matrix(chunk.columns))
            signs.append(chunk.columns[label])
    X, y = np.concatenate(rows), np.concatenate(signs)
    known = ~np.isnan(y)
    X, y = np.ascontiguousarray(X[known]), y[known]
    if np.unique(y).size != 2:
        raise StreamError(str(path), None, f"the label column {label!r}", "must hold two different labels", "one label")
    fill_missing(X, np.zeros(encoder.n_numbers, dtype=np.int64), np.zeros(encoder.n_numbers), True)
    other = "all others" if labels.negative is None else labels.negative
    words = f"encoded by its first rows, positive label {labels.positive} (against {other})"
    blank = int(np.count_nonzero(~known))
    words += f", {blank:,} rows without a label left out" if blank else ""
    return Dataset(name, X, (y > 0).astype(np.int64), encoder.names, str(path), words)
