"""LIBSVM text: what is read, what is refused and with which sentence."""

import gzip
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse, vstack
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from lopsided.streams import Batch, StreamError, lines, open_stream


@pytest.fixture
def write(tmp_path):
    def write_text(text, name="data.libsvm"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_text


def everything(stream):
    batches = list(stream)
    return vstack([batch.X for batch in batches]).toarray(), np.concatenate([batch.y for batch in batches])


def test_rows_come_as_sparse_batches(write):
    stream = open_stream(write("+1 1:0.5 3:-2\n-1 2:1e3\n"))
    (batch,) = list(stream)
    assert isinstance(batch, Batch) and issparse(batch.X) and isinstance(batch.X, csr_array)
    assert batch.X.dtype == np.float64 and batch.X.has_canonical_format
    np.testing.assert_array_equal(batch.X.toarray(), [[0.5, 0, -2], [0, 1000, 0]])
    assert batch.y.tolist() == [1, -1] and batch.y.dtype == np.int64
    assert (stream.n_rows, stream.n_features, stream.feature_names, stream.label_column) == (2, 3, None, None)
    assert stream.labels.tolist() == [-1, 1] and stream.label_counts == {1: 1, -1: 1}


def test_comments_queries_and_blank_lines_are_skipped(write):
    text = "# made by hand\n\n1 qid:7 1:2 # a note: 9:9\n   \n0   2:3\t4:5  \r\n1\n"
    stream = open_stream(write(text))
    X, y = everything(stream)
    np.testing.assert_array_equal(X, [[2, 0, 0, 0], [0, 3, 0, 5], [0, 0, 0, 0]])
    assert y.tolist() == [1, 0, 1]


def test_an_index_zero_anywhere_makes_the_file_zero_based(write):
    one_based = open_stream(write("1 1:1\n0 2:1\n"))
    zero_based = open_stream(write("1 1:1\n0 0:5 2:1\n"))
    assert (one_based.n_features, zero_based.n_features) == (2, 3)
    np.testing.assert_array_equal(everything(zero_based)[0], [[0, 1, 0], [5, 0, 1]])


def test_labels_have_one_kind_in_all_batches(write):
    fractional_late = open_stream(write("1 1:1\n2 1:1\n1.5 1:1\n"), batch_size=1)
    assert [batch.y.dtype.kind for batch in fractional_late] == ["f", "f", "f"]
    spelled_variously = open_stream(write("+1 1:1\n1.0 1:1\n-1 1:1\n"))
    assert spelled_variously.labels.tolist() == [-1, 1]
    assert spelled_variously.label_counts == {-1: 1, 1: 2}


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        (
            "1 1:1\n1 2:3 2:4\n",
            2,
            "The row in line 2 of {} must have strictly ascending indices, got 2 after 2.",
        ),
        ("1 3:1 2:1\n", 1, "The row in line 1 of {} must have strictly ascending indices, got 2 after 3."),
        ("1 1:nan\n", 1, "The value of index 1 in line 1 of {} must be a finite number, got 'nan'."),
        ("1 1:1\n\n1 4:inf\n", 3, "The value of index 4 in line 3 of {} must be a finite number, got 'inf'."),
        ("1 1:1e999\n", 1, "The value of index 1 in line 1 of {} must be a finite number, got '1e999'."),
        ("1 1:2_0\n", 1, "The value of index 1 in line 1 of {} must be a finite number, got '2_0'."),
        ("1 1:abc\n", 1, "The value of index 1 in line 1 of {} must be a finite number, got 'abc'."),
        ("yes 1:1\n", 1, "The label in line 1 of {} must be a finite number, got 'yes'."),
        ("nan 1:1\n", 1, "The label in line 1 of {} must be a finite number, got 'nan'."),
        ("1:1 2:1\n", 1, "The label in line 1 of {} must be a finite number, got '1:1'."),
        ("1 2\n", 1, "Pair 1 in line 1 of {} must be index:value with a whole number as index, got '2'."),
        (
            "1 1:2 3:4:5\n",
            1,
            "Pair 2 in line 1 of {} must be index:value with a whole number as index, got '3:4:5'.",
        ),
        (
            "1 -1:2\n",
            1,
            "Pair 1 in line 1 of {} must be index:value with a whole number as index, got '-1:2'.",
        ),
        ("1 1:\n", 1, "Pair 1 in line 1 of {} must be index:value with a whole number as index, got '1:'."),
        (
            "1 99999999999:1\n",
            1,
            "An index in line 1 of {} must be a whole number up to 2147483646, got '99999999999'.",
        ),
        ("1\n0\n", None, "The file {} must hold at least one index:value pair, got none."),
        ("# nothing\n", None, "The file {} must hold at least one index:value pair, got none."),
    ],
)
def test_a_malformed_line_is_refused_before_anything_is_read(write, text, line, sentence):
    path = write(text)
    with pytest.raises(StreamError) as caught:
        open_stream(path)
    assert str(caught.value) == sentence.format(path)
    assert caught.value.source == str(path) and caught.value.line == line


def test_an_index_of_ten_thousand_digits_is_refused(write):
    with pytest.raises(StreamError, match="whole number up to"):
        open_stream(write(f"1 {'9' * 10_000}:1\n"))


def test_the_first_of_two_faults_is_reported(write):
    with pytest.raises(StreamError) as caught:
        open_stream(write("1 1:1\n1 2:1 1:1\n1 colonless\n"))
    assert caught.value.line == 2


def test_ascending_is_judged_within_rows_only(write):
    # Rows without pairs share their ends with the row before, at the start, in between and at the end.
    stream = open_stream(write("1\n1\n1 5:1 6:1\n1\n1 1:1\n1 3:1\n1\n"))
    X, _ = everything(stream)
    assert X.shape == (7, 6) and X.sum() == 4


def test_gzip_is_read_and_its_damage_is_refused(write):
    text = "".join(f"{i % 2} 1:{i} 2:{i * i}\n" for i in range(3000)).encode()
    packed = gzip.compress(text)
    stream = open_stream(write(packed, "data.libsvm.gz"), batch_size=1000)
    plain = open_stream(write(text, "plain.libsvm"))
    np.testing.assert_array_equal(everything(stream)[0], everything(plain)[0])
    assert stream.bytes_total == stream.bytes_read == len(packed)
    with pytest.raises(StreamError, match="must be readable to the end of the file"):
        open_stream(write(packed[: len(packed) // 2], "cut.libsvm.gz"))


def test_progress_grows_from_loop_to_loop_and_restarts(write):
    path = write("".join(f"{i % 2} 1:{i}\n" for i in range(5000)))
    stream = open_stream(path, batch_size=500)
    assert stream.bytes_read == 0 and stream.bytes_total == path.stat().st_size
    for _ in range(2):
        seen = []
        for batch in stream:
            assert batch.X.shape == (500, 1)
            seen.append(stream.bytes_read)
        assert seen == sorted(set(seen)) and len(seen) == 10 and seen[0] < stream.bytes_total == seen[-1]


def test_an_abandoned_loop_closes_its_file(write, monkeypatch):
    stream = open_stream(write("1 1:1\n0 1:2\n1 1:3\n"), batch_size=1)
    opened = []

    class Watched(lines.TextLines):
        def __init__(self, path):
            super().__init__(path)
            opened.append(self)

    monkeypatch.setattr("lopsided.streams.files.TextLines", Watched)
    for _ in stream:
        break
    iterator = iter(stream)
    next(iterator)
    assert not opened[1].closed
    iterator.close()
    assert [watched.closed for watched in opened] == [True, True]


def test_a_file_that_changes_after_the_scan_is_refused(write):
    path = write("1 1:1\n0 2:2\n")
    stream = open_stream(path)
    path.write_text("1 1:1\n7 2:2\n")
    with pytest.raises(StreamError, match="must not change while it is read, got the new label '7'"):
        list(stream)
    path.write_text("1 1:1\n0 9:2\n")
    with pytest.raises(StreamError, match="got an index outside of the 2 features"):
        list(stream)


@pytest.mark.parametrize("name", ["a.libsvm", "a.svm", "a.svmlight", "a.t", "a.txt", "a", "A.SVM", "a.dat"])
def test_suffix_or_content_tell_the_format(write, name):
    assert open_stream(write("# comment\n1\n-1 3:0.5\n", name)).n_features == 3


def test_naming_a_label_column_is_refused(write):
    path = write("1 1:1\n")
    with pytest.raises(StreamError) as caught:
        open_stream(path, label="class")
    assert str(caught.value) == (
        f"The label column of {path} must not be named: it is the first entry of every row of a LIBSVM file, "
        "got 'class'."
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.tuples(st.integers(1, 30), st.integers(1, 8)),
    batch_size=st.integers(1, 40),
    zero_based=st.booleans(),
)
def test_agrees_with_scikit_learn(write, seed, shape, batch_size, zero_based):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random(shape) < 0.4, rng.standard_normal(shape) * 10.0 ** rng.integers(-9, 9, shape), 0)
    X[0, 0], X[-1, -1] = 1.0, 1.0  # so that the first and the last index occur
    y = rng.integers(-1, 3, shape[0])
    buffer = io.BytesIO()
    dump_svmlight_file(X, y, buffer, zero_based=zero_based)
    stream = open_stream(write(buffer.getvalue()), batch_size=batch_size)
    theirs, their_labels = load_svmlight_file(io.BytesIO(buffer.getvalue()), zero_based=zero_based)
    ours, labels = everything(stream)
    np.testing.assert_array_equal(ours, theirs.toarray())
    np.testing.assert_array_equal(labels, their_labels)
    assert all(batch.X.shape[0] <= batch_size for batch in stream)
