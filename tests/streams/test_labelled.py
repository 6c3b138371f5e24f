"""Labelled files of numbers as batches of arrays."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy.sparse import vstack

from lopsided.streams import StreamError, open_stream


@pytest.fixture
def write(tmp_path):
    def write_text(text, name="data.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write_text


def test_rows_come_as_arrays(write):
    stream = open_stream(write("a,b,label\n1,2.5,0\n-3,4e2,1\n5,6,0\n"))
    for _ in range(2):  # every loop reads anew
        (batch,) = stream
        np.testing.assert_array_equal(batch.X, [[1, 2.5], [-3, 400], [5, 6]])
        assert batch.y.tolist() == [0, 1, 0] and batch.y.dtype == np.int64
    assert (stream.feature_names, stream.n_features, stream.n_rows) == (["a", "b"], 2, 3)
    assert stream.label_counts == {1: 1, 0: 2} and stream.labels.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("header", "label", "column"),
    [
        ("a,label,class", None, "label"),
        ("y,a,Class", None, "Class"),
        ("a,b,fraud", None, "fraud"),
        ("a,label,b", "a", "a"),
    ],
)
def test_which_column_is_the_label(write, header, label, column):
    assert open_stream(write(f"{header}\n1,2,3\n"), label=label).label_column == column


@pytest.mark.parametrize(
    ("labels", "expected", "kind"),
    [
        (["0", "1", "+1"], [0, 1, 1], "i"),
        (["0.5", "1"], [0.5, 1.0], "f"),
        (["good", " bad "], ["good", "bad"], "U"),
        (["1", "many"], ["1", "many"], "U"),
    ],
)
def test_labels_keep_what_they_are(write, labels, expected, kind):
    stream = open_stream(write("a,label\n" + "".join(f"1,{label}\n" for label in labels)))
    (batch,) = stream
    assert batch.y.tolist() == expected and stream.labels.dtype.kind == kind


def test_other_formats(write, tmp_path):
    pa.parquet.write_table(pa.table({"a": [1.0, 2.0], "y": [0, 1]}), tmp_path / "a.parquet")
    (batch,) = open_stream(tmp_path / "a.parquet")
    assert batch.X.ravel().tolist() == [1, 2] and batch.y.tolist() == [0, 1]
    stream = open_stream(write("+1 0:1 4:2\n-1 2:3\n", "a.svm"))
    X = vstack([batch.X for batch in stream]).toarray()
    np.testing.assert_array_equal(X, [[1, 0, 0, 0, 2], [0, 0, 3, 0, 0]])
    assert stream.feature_names is None and stream.labels.tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,y\n1,0\nold,1\n", "Column 'a' in line 3 of {} must be a finite number, got 'old'."),
        ("a,y\n1,0\n,1\n", "Column 'a' of {} must be a finite number in every row, got nothing."),
        ("a,y\n1,\n", "Label column 'y' of {} must be a class name or a finite number, got nothing."),
        ("a,y\n", "The file {} must have at least one row of data, got none."),
    ],
)
def test_what_is_no_number_is_refused(write, text, sentence):
    path = write(text)
    with pytest.raises(StreamError) as caught:
        open_stream(path)
    assert str(caught.value) == sentence.format(path)
