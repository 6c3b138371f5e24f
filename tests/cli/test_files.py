"""Several files as one stream."""

import numpy as np
import pytest

from lopsided.cli.files import JoinedStream
from lopsided.streams import StreamError


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_tables_are_read_one_after_the_other(tmp_path):
    a = written(tmp_path, "a.csv", "x,y\n1,0\n2,0\n")
    b = written(tmp_path, "b.csv", "x,y\n3,1\n")
    stream = JoinedStream([a, b])
    assert (stream.n_rows, stream.n_features, stream.is_sparse) == (3, 1, False)
    assert stream.label_counts == {1: 1, 0: 2}
    assert stream.classes.tolist() == [0, 1]
    batches = list(stream)
    np.testing.assert_array_equal(np.concatenate([batch.X for batch in batches]).ravel(), [1, 2, 3])
    np.testing.assert_array_equal(np.concatenate([batch.y for batch in batches]), [0, 0, 1])


def test_libsvm_files_get_the_width_of_the_widest(tmp_path):
    a = written(tmp_path, "a.svm", "+1 1:2\n-1 2:3\n")
    b = written(tmp_path, "b.svm", "-1 5:4\n")
    batches = list(JoinedStream([a, b]))
    assert [batch.X.shape for batch in batches] == [(2, 5), (1, 5)]
    np.testing.assert_array_equal(batches[0].X.toarray(), [[2, 0, 0, 0, 0], [0, 3, 0, 0, 0]])
    np.testing.assert_array_equal(batches[1].X.toarray(), [[0, 0, 0, 0, 4]])


def test_the_rarer_label_is_looked_for_and_of_equals_the_larger(tmp_path):
    rare_first = JoinedStream([written(tmp_path, "a.csv", "x,y\n1,bad\n2,good\n3,good\n")])
    assert rare_first.rarest() == "bad"
    equal = JoinedStream([written(tmp_path, "b.csv", "x,y\n1,0\n2,1\n")])
    assert equal.rarest() == 1


def test_a_label_is_found_by_its_spelling_or_its_value(tmp_path):
    numbers = JoinedStream([written(tmp_path, "a.svm", "+1 1:2\n-1 2:3\n")])
    assert [numbers.label_named(text) for text in ("1", "+1", "1.0", "-1")] == [1, 1, 1, -1]
    with pytest.raises(StreamError, match=r"positive label of a\.svm must be -1 or 1, got '2'"):
        numbers.label_named("2")


def test_numbers_and_words_as_labels_are_all_words(tmp_path):
    a = written(tmp_path, "a.csv", "x,y\n1,0\n2,0\n")
    b = written(tmp_path, "b.csv", "x,y\n3,odd\n")
    stream = JoinedStream([a, b])
    assert stream.classes.tolist() == ["0", "odd"]
    assert [batch.y.tolist() for batch in stream] == [["0", "0"], ["odd"]]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("1,0\n2,0\n", "The label column 'y' of a.csv must hold two different labels, got one label: 0 in 2 rows."),
        ("1,0\n2,1\n3,2\n4,2\n", "must hold two different labels, got 3 labels: 2 in 2 rows, "),
        ("".join(f"1,{label}\n" for label in range(9)), "got 9 labels: .* in 1 rows, \\.\\.\\."),
    ],
)
def test_two_labels_are_needed(tmp_path, rows, sentence):
    with pytest.raises(StreamError, match=sentence):
        JoinedStream([written(tmp_path, "a.csv", "x,y\n" + rows)])


def test_files_must_fit_each_other(tmp_path):
    table = written(tmp_path, "a.csv", "x,y\n1,0\n2,1\n")
    other = written(tmp_path, "b.csv", "z,y\n1,0\n2,1\n")
    sparse = written(tmp_path, "c.svm", "+1 1:2\n-1 2:3\n")
    with pytest.raises(
        StreamError, match=r"header of .*b.csv must name the columns of .*a.csv .*\(x, label y\), got z"
    ):
        JoinedStream([table, other])
    with pytest.raises(StreamError, match=r"c.svm must be of the same format as .*a.csv \(table\), got a LIBSVM file"):
        JoinedStream([table, sparse])
