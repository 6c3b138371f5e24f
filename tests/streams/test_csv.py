"""CSV and TSV tables: header, label column, cells, and the sentences about what is wrong."""

import csv
import gzip
import io
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lopsided.streams import StreamError, open_stream


@pytest.fixture
def write(tmp_path):
    def write_text(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_text


def refusal(path, **options):
    with pytest.raises(StreamError) as caught:
        open_stream(path, **options)
    return caught.value


def test_rows_come_as_dense_batches(write):
    stream = open_stream(write("a,b,label\n1,2.5,0\n-3,4e2,1\n5,6,0\n"), batch_size=2)
    first, second = list(stream)
    assert first.X.dtype == np.float64 and first.X.flags.c_contiguous and first.X.shape == (2, 2)
    np.testing.assert_array_equal(np.vstack([first.X, second.X]), [[1, 2.5], [-3, 400], [5, 6]])
    assert first.y.tolist() == [0, 1] and second.y.tolist() == [0] and first.y.dtype == np.int64
    assert stream.feature_names == ["a", "b"] and stream.n_features == 2 and stream.n_rows == 3
    assert stream.label_counts == {1: 1, 0: 2} and next(iter(stream.label_counts)) == 1
    assert repr(stream) == f"FileStream({stream.source!r}, n_rows=3, n_features=2)"


@pytest.mark.parametrize(
    ("header", "label", "column"),
    [
        ("a,label,class", None, "label"),
        ("y,a,Class", None, "Class"),
        ("Y,a,TARGET", None, "TARGET"),
        ("a,Y,b", None, "Y"),
        ("a,b,fraud", None, "fraud"),
        ("a,label,b", "a", "a"),
        (" a , class ,b", None, "class"),
    ],
)
def test_which_column_is_the_label(write, header, label, column):
    stream = open_stream(write(f"{header}\n1,2,3\n"), label=label)
    assert stream.label_column == column and column not in stream.feature_names
    position = [name.strip() for name in header.split(",")].index(column)
    (batch,) = list(stream)
    assert batch.y.tolist() == [position + 1]
    assert batch.X.tolist() == [[value for value in (1.0, 2.0, 3.0) if value != position + 1]]


@pytest.mark.parametrize(
    ("labels", "expected", "kind"),
    [
        (["0", "1", "+1"], [0, 1, 1], "i"),
        (["1.0", "-1"], [1, -1], "i"),
        (["0.5", "1"], [0.5, 1.0], "f"),
        (["good", " bad "], ["good", "bad"], "U"),
        (["1", "many"], ["1", "many"], "U"),
        (["True", "False"], ["True", "False"], "U"),
        (["9007199254740993", "9007199254740992"], ["9007199254740993", "9007199254740992"], "U"),
        (["1_0", "2"], ["1_0", "2"], "U"),
    ],
)
def test_labels_keep_what_they_are(write, labels, expected, kind):
    stream = open_stream(write("a,label\n" + "".join(f"1,{label}\n" for label in labels)), batch_size=1)
    batches = list(stream)
    assert [batch.y[0].item() for batch in batches] == expected
    assert {batch.y.dtype for batch in batches} == {stream.labels.dtype} and stream.labels.dtype.kind == kind
    assert stream.labels.tolist() == sorted(set(expected))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("data.tsv", "a\tb,c\ty\n1\t2\t0\n"),
        ("data.csv", "a;b,c;y\n1;2;0\n"),
        ("data.txt", "a\tb,c\ty\n1\t2\t0\n"),
        ("data.csv", '"a","b,c","y"\n"1","2",0\n'),
        ("data.csv", '\ufeffa,"b,c",y\r\n1,2,0\r\n\r\n'),
        ("data", '\n\na,"b,c",y\n\n 1 , 2 ,0\n  \n'),
    ],
)
def test_dialects(write, name, text):
    stream = open_stream(write(text, name))
    assert stream.feature_names == ["a", "b,c"] and stream.n_rows == 1
    (batch,) = list(stream)
    assert batch.X.tolist() == [[1.0, 2.0]] and batch.y.tolist() == [0]


def test_a_given_delimiter_wins(write):
    assert open_stream(write("a|b|y\n1|2|0\n"), delimiter="|").feature_names == ["a", "b"]


NUMBER = "must be a finite number"


@pytest.mark.parametrize(
    ("text", "line", "field", "sentence"),
    [
        ("age,y\n1,0\nold,1\n", 3, "column 'age'", f"Column 'age' in line 3 of {{}} {NUMBER}, got 'old'."),
        ("age,y\n1,0\n,1\n", 3, "column 'age'", f"Column 'age' in line 3 of {{}} {NUMBER}, got nothing."),
        ("age,y\n\n\nNaN,1\n", 4, "column 'age'", f"Column 'age' in line 4 of {{}} {NUMBER}, got 'NaN'."),
        ("age,y\n-inf,1\n", 2, "column 'age'", f"Column 'age' in line 2 of {{}} {NUMBER}, got '-inf'."),
        ("age,y\n1_000,1\n", 2, "column 'age'", f"Column 'age' in line 2 of {{}} {NUMBER}, got '1_000'."),
        ("age,y\n1,0\n1\n", 3, None, "The row in line 3 of {} must have 2 cells as the header has, got 1."),
        ("age,y\n1,0,3\n", 2, None, "The row in line 2 of {} must have 2 cells as the header has, got 3."),
        (
            "age,y\n1,\n",
            2,
            "label column 'y'",
            "Label column 'y' in line 2 of {} must be a class name or a finite number, got nothing.",
        ),
        (
            "age,y\n1,nan\n",
            2,
            "label column 'y'",
            "Label column 'y' in line 2 of {} must be a class name or a finite number, got 'nan'.",
        ),
        (
            "1,2\n3,4\n",
            1,
            "the header",
            "The header in line 1 of {} must name the columns, got the numbers '1,2'.",
        ),
        (
            "a,,y\n1,2,3\n",
            1,
            "header cell 2",
            "Header cell 2 in line 1 of {} must name a column, got nothing.",
        ),
        (
            "a,a,y\n1,2,3\n",
            1,
            "the header",
            "The header in line 1 of {} must name each column once, got 'a' twice.",
        ),
        (
            "alone\n1\n",
            1,
            "the header",
            "The header in line 1 of {} must name at least two columns, separated by ',', got 'alone'.",
        ),
        ("a,y\n", None, None, "The file {} must have at least one row of data, got none."),
        ("", None, None, "The file {} must have a header and rows of data, got nothing."),
        (
            'a,y\n1,0\n"2,1\n',
            3,
            None,
            'The row in line 3 of {} must be well-formed CSV, got "unexpected end of data".',
        ),
        (
            b"a,y\n1,0\n2,\x00\n",
            3,
            "the text",
            "The text in line 3 of {} must be text without NUL bytes, got one at byte 3 of the line.",
        ),
        (
            b"a,y\n1,caf\xe9\n",
            2,
            "the text",
            "The text in line 2 of {} must be UTF-8 text, got byte 0xe9 at byte 6 of the line.",
        ),
    ],
)
def test_what_is_refused_and_how(write, text, line, field, sentence):
    path = write(text)
    error = refusal(path)
    assert str(error) == sentence.format(path)
    assert (error.source, error.line, error.field) == (str(path), line, field)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.one_of(st.binary(max_size=80), st.text('a,y;\t\r\n"01.:_-+e# ', max_size=80).map(str.encode)),
    start=st.sampled_from([b"", b"a,y\n1,0\n", b"1 1:2\n", b"\x1f\x8b"]),
    name=st.sampled_from(["data", "data.csv", "data.svm", "data.tsv"]),
)
def test_whatever_the_bytes_they_are_a_stream_or_a_stream_error(write, content, start, name):
    path = write(start + content, name)
    try:
        stream = open_stream(path, batch_size=2)
    except StreamError as error:
        assert str(error).endswith(".") and ", got " in str(error)
    else:
        assert sum(batch.X.shape[0] for batch in stream) == stream.n_rows > 0


def test_a_quoted_cell_over_several_lines_counts_as_an_editor_does(write):
    stream = open_stream(write('a,y\n1,"two\nlines"\n2,one\n'))
    assert stream.labels.tolist() == ["one", "two\nlines"]
    assert refusal(write('a,y\n1,"two\nlines"\nbad,one\n')).line == 4
    assert refusal(write('a,y\n1,one\nbad,"two\nlines"\n')).line == 3


def test_a_bad_cell_far_down_is_found_before_a_ragged_row_below_it(write):
    good = "".join(f"{i},{i % 2}\n" for i in range(10_000))
    error = refusal(write(f"a,y\n{good}x,1\n5\n"))
    assert (error.line, error.field) == (10_002, "column 'a'")


def test_a_long_cell_is_cut_in_the_message(write):
    assert len(str(refusal(write(f"a,y\n{'x' * 5000},1\n")))) < 250 + len(str(write("")))


def test_an_unknown_label_column_is_refused_with_the_known_ones(write):
    path = write("a,b,y\n1,2,3\n")
    assert str(refusal(path, label="fraud")) == (
        f"The label column in line 1 of {path} must be one of the columns a, b, y, got 'fraud'."
    )
    wide = write(",".join(f"c{i}" for i in range(1000)) + "\n")
    assert "c19, ..., got 'fraud'" in str(refusal(wide, label="fraud"))


def test_a_missing_file_and_a_folder_are_refused_with_a_sentence(tmp_path):
    missing = tmp_path / "missing.csv"
    assert str(refusal(missing)) == (
        f'The file {missing} must be an existing, readable file, got "No such file or directory".'
    )
    assert str(refusal(tmp_path)).startswith(f"The file {tmp_path} must be an existing, readable file, got ")
    assert refusal("nul\0name").line is None


@pytest.mark.parametrize("batch_size", [0, -1, 2.5, True])
def test_a_bad_batch_size_is_refused(write, batch_size):
    with pytest.raises(ValueError, match="batch_size of open_stream must be a positive whole number, got"):
        open_stream(write("a,y\n1,0\n"), batch_size=batch_size)


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n"])
def test_a_bad_delimiter_is_refused(write, delimiter):
    with pytest.raises(ValueError, match="delimiter of open_stream must be one character"):
        open_stream(write("a,y\n1,0\n"), delimiter=delimiter)


def test_gzip_by_content_whatever_the_name(write):
    packed = gzip.compress(b"a,y\n1,0\n2,1\n")
    for name in ("data.csv.gz", "data.csv", "data.gz"):
        stream = open_stream(write(packed, name))
        assert [batch.X.tolist() for batch in stream] == [[[1.0], [2.0]]]
        assert stream.bytes_read == stream.bytes_total == len(packed)


def test_the_stream_can_be_read_again(write):
    stream = open_stream(write("a,y\n1,0\n2,1\n3,0\n"), batch_size=2)
    once, twice = list(stream), list(stream)
    assert [batch.X.tolist() for batch in once] == [batch.X.tolist() for batch in twice]


def test_the_error_survives_a_process_boundary(write):
    error = refusal(write("a,y\nx,0\n"))
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) and (copy.line, copy.field) == (2, "column 'a'")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False),
            st.floats(-1e9, 1e9),
            st.sampled_from(["rare", "common", 'with "quotes"', "a,b", "two\nlines", "ärgerlich"]),
        ),
        min_size=1,
        max_size=30,
    ),
    batch_size=st.integers(1, 40),
    delimiter=st.sampled_from([",", "\t", ";"]),
)
def test_what_the_csv_module_writes_is_read_back_exactly(write, rows, batch_size, delimiter):
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter)
    writer.writerow(["first", "second", "class"])
    writer.writerows((repr(a), repr(b), label) for a, b, label in rows)
    stream = open_stream(write(buffer.getvalue()), batch_size=batch_size)
    batches = list(stream)
    np.testing.assert_array_equal(np.vstack([b.X for b in batches]), [[a, b] for a, b, _ in rows])
    assert [label for b in batches for label in b.y.tolist()] == [label for *_, label in rows]
    assert sum(stream.label_counts.values()) == stream.n_rows == len(rows)
