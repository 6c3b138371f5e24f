"""LIBSVM text: scikit-learn's numbers, and the sentences about what is wrong."""

import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import vstack
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from lopsided.streams import Sources, SparseStream, Spellings, StreamError
from lopsided.streams.blocks import Block
from lopsided.streams.libsvm import looks_like_libsvm, read_block
from lopsided.streams.parsing.decimals import POWERS, read_each

ANY = Spellings(positive=1, negative=None)


def written(tmp_path, text, name="data.libsvm"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def read(*paths, labels=ANY, **options):
    with SparseStream(Sources(list(paths)), **options) as stream:
        chunks = list(stream.chunks(labels))
        X = vstack([chunk.X for chunk in chunks]).toarray()
        return X, np.concatenate([chunk.signs for chunk in chunks]), [e for chunk in chunks for e in chunk.bad], stream


def test_rows_with_comments_queries_and_blank_lines(tmp_path):
    text = "# comment\n+1 qid:3 1:0.5 3:2e1 # more\n\n-1\n 1  2:-.5\r\n-1 1:7."
    X, signs, bad, stream = read(written(tmp_path, text))
    np.testing.assert_array_equal(X, [[0.5, 0, 20], [0, 0, 0], [0, -0.5, 0], [7, 0, 0]])
    assert signs.tolist() == [1, -1, 1, -1] and bad == []
    assert (stream.n_features, stream.first_index, stream.is_whole) == (3, 1, True)


def test_indices_may_count_from_0_if_they_do_so_at_once(tmp_path):
    X, *_ = read(written(tmp_path, "1 0:5 1:6\n-1 1:7\n"))
    np.testing.assert_array_equal(X, [[5, 6], [0, 7]])
    late = written(tmp_path, "1 1:5\n-1 2:7\n", "a.svm"), written(tmp_path, "1 0:5 1:3\n1 1:1\n", "b.svm")
    X, _, (error,), _ = read(*late)
    np.testing.assert_array_equal(X, [[5, 0], [0, 7], [1, 0]])
    assert str(error) == f"The row in line 1 of {late[1]} must count its indices from 1 as rows before it do, got 0."


def test_indices_beyond_the_first_block_are_left_out_and_counted(tmp_path):
    paths = written(tmp_path, "1 1:5 2:6\n", "a.svm"), written(tmp_path, "-1 1:7 5:1 9:1\n1 2:3\n", "b.svm")
    with SparseStream(Sources(paths)) as stream:
        first, second = stream.chunks(ANY)
    assert (first.n_beyond, second.n_beyond) == (0, 2)
    np.testing.assert_array_equal(second.X.toarray(), [[7, 0], [0, 3]])
    X, *_ = read(*paths, n_features=9)
    assert X.shape == (3, 9) and X[1, 8] == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x 1:2", "The label in line 2 of {} must be a finite number, got 'x'."),
        ("1:2", "The label in line 2 of {} must be a finite number, got '1:2'."),
        ("nan 1:2", "The label in line 2 of {} must be a finite number, got 'nan'."),
        ("1 1:x", "The value of index 1 in line 2 of {} must be a finite number, got 'x'."),
        ("1 1:inf", "The value of index 1 in line 2 of {} must be a finite number, got 'inf'."),
        ("1 1:1_0", "The value of index 1 in line 2 of {} must be a finite number, got '1_0'."),
        ("1 2:1 2:1", "The row in line 2 of {} must have strictly ascending indices, got 2 after 2."),
        ("1 a:1", "Pair 1 in line 2 of {} must be index:value with a whole number as index, got 'a:1'."),
        ("1 2:1 3:4:5", "Pair 2 in line 2 of {} must be index:value with a whole number as index, got '3:4:5'."),
        ("1 1:", "Pair 1 in line 2 of {} must be index:value with a whole number as index, got '1:'."),
        ("1 99999999999:1", "An index in line 2 of {} must be a whole number up to 2147483646, got '99999999999'."),
        (f"1 {'9' * 10_000}:1", "An index in line 2 of {} must be a whole number up to 2147483646"),
        ("1 1:\0", "The text in line 2 of {} must be text without NUL bytes, got one at byte 5 of the line."),
        (b"1 1:\xff", "The text in line 2 of {} must be UTF-8 text, got byte 0xff at byte 5 of the line."),
    ],
)
def test_a_wrong_row_is_named_and_the_others_are_kept(tmp_path, text, sentence):
    raw = text if isinstance(text, bytes) else text.encode()
    path = written(tmp_path, b"1 1:1\n" + raw + b"\n-1 2:3\n")
    X, _, (error,), _ = read(path)
    assert X.shape == (2, 2)
    assert str(error).startswith(sentence.format(path))
    assert error.line == 2 and error.raw is not None


def test_a_third_label_is_named_with_its_line(tmp_path):
    path = written(tmp_path, "# a\n1 1:1\n\n3 1:2\n-1 1:3\n")
    X, _, (error,), _ = read(path, labels=Spellings(1, -1))
    assert X.ravel().tolist() == [1, 3]
    assert str(error) == f"The label in line 4 of {path} must be -1 or 1, got '3'."


class Watched(bytes):
    """Bytes that note how many of them were gone through for line ends."""

    looked_at = 0

    def count(self, what, start=0, end=None):
        end = len(self) if end is None else end
        self.looked_at += end - start
        return super().count(what, start, end)

    def split(self, *arguments):
        self.looked_at += len(self)
        return super().split(*arguments)


def test_lines_are_counted_once_a_block():
    exact = b"3 1:0.123456789012345678901234567\n"  # more digits than compiled code reads
    data = Watched((exact + b"\n" + b"x 1:1\n") * 200)
    rows = read_block(Block("s", 5, data))
    assert [error.line for error in rows.bad] == list(range(7, 605, 3))
    assert [rows.line_of(row) for row in range(200)] == [(5 + 3 * row, exact.decode()[:-1]) for row in range(200)]
    assert data.looked_at <= 3 * len(data)


@pytest.mark.parametrize("text", ["", "# nothing\n", "1\n0\n"])
def test_nothing_to_learn_from(tmp_path, text):
    with pytest.raises(StreamError, match="must hold at least one index:value pair, got none"):
        read(written(tmp_path, text))


def test_gzip(tmp_path):
    text = "".join(f"{i % 2} 1:{i} 2:{i * i}\n" for i in range(3000)).encode()
    X, *_ = read(written(tmp_path, gzip.compress(text), "a.libsvm.gz"))
    assert X.shape == (3000, 2) and X[2999, 1] == 2999**2


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("# c\n1\n-1 3:0.5\n", True),
        ("1 qid:3 4:5\n", True),
        ("a,b\n1,2\n", False),
        ("1\n2\n", False),
        ("a:b,c\n", False),
    ],
)
def test_what_looks_like_it(text, answer):
    assert looks_like_libsvm(text.encode()) is answer


@given(st.integers(0, 2**32 - 1), st.tuples(st.integers(1, 30), st.integers(1, 8)), st.booleans())
def test_agrees_with_scikit_learn(seed, shape, zero_based):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random(shape) < 0.4, rng.standard_normal(shape) * 10.0 ** rng.integers(-9, 9, shape), 0)
    X[0, 0], X[-1, -1] = 1.0, 1.0  # so that the first and the last index occur
    buffer = io.BytesIO()
    dump_svmlight_file(X, rng.integers(-1, 3, shape[0]), buffer, zero_based=zero_based)
    rows = read_block(Block("b", 1, buffer.getvalue()))
    ours, left_out = rows.matrix(shape[1], 0 if zero_based else 1)
    theirs, labels = load_svmlight_file(io.BytesIO(buffer.getvalue()), zero_based=zero_based)
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
    np.testing.assert_array_equal(rows.labels, labels)
    assert left_out == 0 and rows.bad == []


def numbers_of_all_kinds(rng, count):
    for _ in range(count):
        yield repr(float(rng.standard_normal() * 10.0 ** rng.integers(-300, 300)))
        yield f"{rng.standard_normal():.6g}"
        yield f"{rng.integers(0, 2**62)}e{rng.integers(-340, 300)}"
        yield f"{2 * int(rng.integers(2**53, 2**54)) + 1}"  # halfway between two numbers
        yield f"{2 * int(rng.integers(2**51, 2**52)) + 1}.5"
        yield f"-{rng.integers(0, 10**6)}E+{rng.integers(0, 9)}"
    yield from [
        "0",
        "-0",
        "0.0",
        ".5",
        "5.",
        "1e400",
        "1e-400",
        "4.9e-324",
        "1" * 40,
        "0" * 30 + "7",
        "0.30000000000000004",
    ]


def test_decimals_are_read_as_python_reads_them_or_not_at_all():
    texts = list(numbers_of_all_kinds(np.random.default_rng(0), 3000))
    data = " ".join(texts).encode()
    starts = np.cumsum([0] + [len(text) + 1 for text in texts[:-1]])
    bits, stops = np.zeros(len(texts), dtype=np.uint64), np.zeros(len(texts), dtype=np.int64)
    read_each(np.frombuffer(data, dtype=np.uint8), starts, POWERS, bits, stops)
    decided = stops >= 0
    assert decided.mean() > 0.9
    assert (stops[decided] == (starts + [len(text) for text in texts])[decided]).all()
    exact = np.array([float(text) for text in texts])
    np.testing.assert_array_equal(bits[decided], exact.view(np.uint64)[decided])
    for text in ("e5", "-", ".", "1e", "x", "+-1", ""):
        read_each(np.frombuffer(text.encode() + b" ", dtype=np.uint8), starts[:1], POWERS, bits, stops)
        assert stops[0] == -1
