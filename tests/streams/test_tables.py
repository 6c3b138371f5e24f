"""Tables of every format: the same columns, the same rows, and a sentence for each row that is wrong."""

import csv
import gzip
import io
import json
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lopsided.streams import Expected, Sources, Spellings, StreamError, TableStream
from lopsided.streams.blocks import Block, cut_at_records
from lopsided.streams.cells import MISSING, parse_number

LABELS = Spellings(positive="bad", negative="good", blank="error")
EXPECTED = [
    Expected("amount", "number"),
    Expected("word", "text"),
    Expected("day", "date"),
    Expected("kind", "label", LABELS),
]
ROWS = [
    {"amount": 1.5, "word": "tea, green", "day": "2024-05-17", "kind": "good", "other": "x"},
    {"amount": None, "word": 'a "quoted" one', "day": None, "kind": "bad", "other": "x"},
    {"amount": -2e-3, "word": "two\nlines", "day": "2024-05-18T06:30:00", "kind": "good", "other": "x"},
    {"amount": 7.0, "word": "", "day": "2024-05-19", "kind": "good", "other": "x"},
]


def as_csv(rows=ROWS, delimiter=","):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def as_ndjson(rows=ROWS):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def files(tmp_path):
    """The same table in every form."""
    table = pa.Table.from_pylist(ROWS)
    for name, data in {
        "a.csv": as_csv(), "a.tsv": as_csv(delimiter="\t"), "a.txt": as_csv(delimiter=";"), "a.ndjson": as_ndjson(),
        "a.csv.gz": gzip.compress(as_csv()), "a.jsonl.gz": gzip.compress(as_ndjson()), "a": as_ndjson(),
    }.items():  # fmt: skip
        (tmp_path / name).write_bytes(data)
    with pa.CompressedOutputStream(str(tmp_path / "a.csv.zst"), "zstd") as packed:
        packed.write(as_csv())
    pa.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    pa.feather.write_feather(table, tmp_path / "a.arrow", compression="uncompressed")
    with pa.ipc.new_stream(tmp_path / "a.arrows", table.schema) as writer:
        writer.write_table(table)
    return tmp_path


def read(path, expected=EXPECTED, **options):
    """All columns of all chunks, and the bad rows."""
    columns, bad = {e.name: [] for e in expected}, []
    with TableStream(Sources([str(path)]), **options) as stream:
        for chunk in stream.chunks(expected):
            bad += chunk.bad
            for name in columns:
                if chunk.n_rows:
                    columns[name] += chunk.columns[name].tolist()
    return columns, bad


NAMES = [
    "a.csv",
    "a.tsv",
    "a.txt",
    "a.ndjson",
    "a.csv.gz",
    "a.jsonl.gz",
    "a",
    "a.csv.zst",
    "a.parquet",
    "a.arrow",
    "a.arrows",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_format_gives_the_same_columns(files, name):
    columns, bad = read(files / name)
    assert bad == []
    np.testing.assert_array_equal(columns["amount"], [1.5, np.nan, -2e-3, 7.0])
    assert columns["word"] == [row["word"] for row in ROWS]
    assert columns["kind"] == [-1, 1, -1, -1]
    days = np.array(columns["day"], dtype="datetime64[us]")
    np.testing.assert_array_equal(
        days, np.array(["2024-05-17", "NaT", "2024-05-18T06:30", "2024-05-19"], dtype="M8[us]")
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_head_is_shown_and_read_again(files, name):
    with TableStream(Sources([str(files / name)])) as stream:
        assert set(stream.columns) == {"amount", "word", "day", "kind", "other"}
        assert stream.head["word"] == [row["word"] for row in ROWS] and stream.is_whole
        assert sum(chunk.n_rows for chunk in stream.chunks(EXPECTED)) == len(ROWS)


WRONG = [
    ("amount", "much", "Column 'amount' in {} {} of {} must be a finite number, got 'much'."),
    ("amount", "inf", "Column 'amount' in {} {} of {} must be a finite number, got 'inf'."),
    ("amount", "1_000", "Column 'amount' in {} {} of {} must be a finite number, got '1_000'."),
    ("day", "May", "Column 'day' in {} {} of {} must be a date such as 2024-05-17 or 2024-05-17T08:30:00, got 'May'."),
    ("kind", "ugly", "Label column 'kind' in {} {} of {} must be bad or good, got 'ugly'."),
    ("kind", "", "Label column 'kind' in {} {} of {} must be bad or good, got nothing."),
]


@pytest.mark.parametrize(("column", "value", "sentence"), WRONG)
@pytest.mark.parametrize("form", ["csv", "ndjson", "parquet"])
def test_a_wrong_cell_is_named_and_the_other_rows_are_kept(tmp_path, form, column, value, sentence):
    rows = [dict(row, word="w", amount="1") for row in ROWS]
    rows[2] = rows[2] | {column: value}
    path = tmp_path / f"b.{form}"
    if form == "parquet":
        pa.parquet.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_bytes(as_csv(rows) if form == "csv" else as_ndjson(rows))
    columns, (error,) = read(path)
    assert columns["kind"] == [-1, 1, -1]
    unit, place = {"csv": ("line", 4), "ndjson": ("line", 3), "parquet": ("row", 3)}[form]
    assert str(error) == sentence.format(unit, place, path)
    assert (error.line, error.source) == (place, str(path))
    assert form == "parquet" or "w" in error.raw


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        (b"a,y\n1,0\n1\n", 3, "The row in line 3 of {} must have 2 cells as the header has, got 1."),
        (b"a,y\n\n\n1,0,3\n", 4, "The row in line 4 of {} must have 2 cells as the header has, got 3."),
        (
            b"a,y\n1,0\n\x00,1\n",
            3,
            "The text in line 3 of {} must be text without NUL bytes, got one at byte 1 of the row.",
        ),
        (b"a,y\n\xff1,0\n", 2, "The text in line 2 of {} must be UTF-8 text, got byte 0xff at byte 1 of the row."),
        (b'a,y\n"b\nc",1\nd,0\n', 2, "Column 'a' in line 2 of {} must be a finite number, got 'b\\nc'."),
    ],
)
def test_broken_rows_of_a_csv(tmp_path, text, line, sentence):
    path = tmp_path / "b.csv"
    path.write_bytes(text)
    _, bad = read(path, [Expected("a", "number"), Expected("y", "label", Spellings(1, 0))])
    assert (bad[0].line, str(bad[0])) == (line, sentence.format(path))


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("b.csv", b"", "The file {} must have a header and rows of data, got nothing."),
        ("b.csv", b"1,2\n3,4\n", "The header in line 1 of {} must name the columns, got the numbers '1,2'."),
        (
            "b.csv",
            b",a,,y\n",
            "Header cell 3 in line 1 of {} must name a column (give it a name, or take the column out), got nothing.",
        ),
        ("b.csv", b"a,a,y\n", "The header in line 1 of {} must name each column once, got 'a' twice."),
        (
            "b.csv",
            b"alone\n1\n",
            "The header in line 1 of {} must name at least two columns, separated by ',', got 'alone'.",
        ),
        ("b.csv", b"\xff,y\n", "The header in line 1 of {} must be UTF-8 text, got byte 0xff at byte 1 of the line."),
        ("b.csv", b"a,b\n", "The file {} must hold the column 'y', got only a, b."),
        ("b.ndjson", b"", "The file {} must have one JSON object a line, got nothing."),
        ("b.ndjson", b"[1]\n", "The row in line 1 of {} must be one JSON object, got '[1]'."),
        (
            "b.json",
            b'[{"a": 1}]',
            "The file {} must hold one JSON object a line, as `jq -c '.[]'` makes of an array, got",
        ),
        ("b", b'\xef\xbb\xbf \n[\n  {"a": 1}\n]', "The file {} must hold one JSON object a line, as `jq -c '.[]'`"),
        ("b.parquet", b"PAR1 and no more", "The file {} must be a whole Parquet or Arrow file"),
        ("b.arrow", b"ARROW1\0\0 and no more", "The file {} must be a whole Parquet or Arrow file"),
        ("b.csv.gz", gzip.compress(b"a,y\n1,0\n", mtime=0)[:-9], "The file {} must be readable to the end"),
        ("no.csv", None, "The file {} must be an existing, readable file"),
    ],
)
def test_broken_files(tmp_path, name, text, sentence):
    path = tmp_path / name
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(StreamError) as caught:
        read(path, [Expected("y", "text")])
    assert str(caught.value).startswith(sentence.format(path))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_later_files_may_order_their_columns_otherwise_and_have_new_ones(tmp_path):
    (tmp_path / "1.csv").write_text("a,y\n1,0\n")
    (tmp_path / "2.csv").write_text("new,y,a\nx,1,2\n")
    (tmp_path / "3.csv").write_text("new,y\nx,1\n")
    expected = [Expected("a", "number"), Expected("y", "label", Spellings(1, 0))]
    with TableStream(Sources([str(tmp_path)])) as stream:
        chunks = stream.chunks(expected)
        first, second = next(chunks), next(chunks)
        assert (first.columns["a"].tolist(), second.columns["a"].tolist()) == ([1.0], [2.0])
        assert (list(first.new_columns), list(second.new_columns)) == ([], ["new"])
        with pytest.raises(StreamError, match=r"3.csv must hold the column 'a', got only new, y"):
            next(chunks)


def columns_of(path, text):
    path.write_text(text)
    with TableStream(Sources([str(path)])) as stream:
        assert list(stream.head) == stream.columns
        return stream.columns


def test_the_index_that_pandas_writes_is_no_column_unless_it_tells_something(tmp_path):
    path = tmp_path / "frame.csv"
    assert columns_of(path, ",a,y\n0,5,0\n1,6,1\n") == ["a", "y"]
    assert columns_of(path, '"",a,y\n17,5,0\n3,6,1\n4,7,x\n') == ["a", "y"]  # R, or rows in another order
    columns, bad = read(path, [Expected("a", "number"), Expected("y", "label", Spellings(1, 0))])
    assert columns["a"] == [5.0, 6.0] and [error.line for error in bad] == [4]
    assert columns_of(path, ",a,y\n2024-05-17,5,0\n2024-05-18,6,1\n") == ["index", "a", "y"]
    assert columns_of(path, ",a,index\nx,5,0\nz,6,1\n") == ["index2", "a", "index"]
    # What a model has learned from is read, whatever the first rows of a later file hold.
    columns_of(path, ",a,y\n3,5,0\n")
    assert read(path, [Expected("index", "number")])[0]["index"] == [3.0]


def test_a_header_in_brackets_is_no_json(tmp_path):
    assert columns_of(tmp_path / "table", "[a],[y]\n1,0\n") == ["[a]", "[y]"]


class Pieces:
    """A source that hands out so many bytes at a time."""

    name = "pieces"
    may_wait = False
    offset = 0

    def __init__(self, data, size):
        self.data, self.size = data, size

    def read(self, _):
        piece, self.data = self.data[: self.size], self.data[self.size :]
        return piece


CELLS = st.text(st.sampled_from('a,"\n 1;'), max_size=6)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=3), min_size=1, max_size=12), st.integers(1, 40), st.booleans())
def test_blocks_end_where_records_do(rows, size, last_line_ends):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    data = text.getvalue().encode()
    data = data if last_line_ends else data[:-1]
    blocks = list(cut_at_records(Pieces(data, size), ","))
    assert b"".join(block.data for block in blocks) == data
    read_again = [row for block in blocks for row in csv.reader(io.StringIO(block.data.decode(), newline=""))]
    assert read_again == rows
    lines, offset = 1, 0
    for block in blocks:
        assert block == Block("pieces", lines, block.data, offset)
        lines, offset = lines + block.data.count(b"\n"), offset + len(block.data)


@given(
    st.lists(
        st.sampled_from(["1", "-2.5", " 3 ", "+4", "1e3", *MISSING, "x", '"5"', "1_0", "inf", "0x1", "nAn", "nan(1)"]),
        min_size=1,
        max_size=30,
    )
)
def test_a_block_at_once_and_cell_by_cell_agree(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("csv") / "b.csv"
    path.write_text("a,y\n" + "".join(f"{cell},{n}\n" for n, cell in enumerate(cells)))
    columns, bad = read(path, [Expected("a", "number"), Expected("y", "text")])
    good = {str(n): np.nan if cell in MISSING else parse_number(cell.strip('"')) for n, cell in enumerate(cells)}
    good = {n: value for n, value in good.items() if value is not None}
    assert columns["y"] == list(good)
    np.testing.assert_array_equal(columns["a"], list(good.values()))
    assert [error.line - 2 for error in bad] == [n for n in range(len(cells)) if str(n) not in good]


@pytest.mark.parametrize("more", ["", "x,0\n"])
def test_not_a_number_is_missing_whether_or_not_another_row_is_bad(tmp_path, more):
    (tmp_path / "b.csv").write_text("a,y\n1,0\nNAN,1\n" + more)
    columns, bad = read(tmp_path / "b.csv", [Expected("a", "number"), Expected("y", "text")])
    np.testing.assert_array_equal(columns["a"], [1, np.nan])
    assert len(bad) == bool(more)


@pytest.mark.parametrize("more", [[], ["maybe"]])
@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_flags_are_words_or_numbers(tmp_path, form, more):
    rows = [{"a": value, "b": 1} for value in ["true", "FALSE", "True", "0", "1", None, *more]]
    (tmp_path / f"b.{form}").write_bytes(as_csv(rows) if form == "csv" else as_ndjson(rows))
    columns, bad = read(tmp_path / f"b.{form}", [Expected("a", "flag")])
    np.testing.assert_array_equal(columns["a"], [1, 0, 1, 0, 1, np.nan])
    assert [error.rule for error in bad] == ["must be true, false or a finite number" for _ in more]


@pytest.mark.parametrize("blank", ["", "\n \n"])
def test_two_objects_on_a_line_are_refused_with_its_number(tmp_path, blank):
    path = tmp_path / "b.ndjson"
    path.write_text(f'{{"a": 1}}\n{blank}{{"a": 2}} {{"a": 3}}\n{{"a": 4}}\n')
    columns, (error,) = read(path, [Expected("a", "number")])
    assert columns["a"] == [1, 4]
    line = 4 if blank else 2
    assert (
        str(error)
        == f'The row in line {line} of {path} must be one JSON object, got "Extra data: line 1 column 10 (char 9)".'
    )


def test_a_byte_order_mark_is_no_part_of_the_first_object(tmp_path):
    for name in ("b.ndjson", "b"):  # by its suffix, and by its first bytes
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + as_ndjson())
        with TableStream(Sources([str(tmp_path / name)])) as stream:
            (chunk,) = stream.chunks(EXPECTED)
        assert [json.loads(record) for record in chunk.records()] == chunk.table().to_pylist() == ROWS


def test_objects_become_a_table_of_all_their_keys(tmp_path):
    rows = [{"a": 1, "b": 2}, {"b": 2.5, "note": "x"}, {"a": 3, "note": 7, "more": [1]}]
    (tmp_path / "b.ndjson").write_bytes(as_ndjson(rows))
    with TableStream(Sources([str(tmp_path / "b.ndjson")])) as stream:
        (chunk,) = stream.chunks([Expected("a", "number")])
    assert chunk.table().to_pydict() == {
        "a": [1, None, 3], "b": [2.0, 2.5, None], "note": [None, "x", "7"], "more": [None, None, [1]],
    }  # fmt: skip


def test_what_is_no_text_is_spelled_as_in_the_first_rows(tmp_path):
    """Here and there the same word, or the hashed one is not the known one."""
    table = pa.table({"a": [True, False], "b": pa.array(["2.50", "1.00"]).cast(pa.decimal128(5, 2)), "c": [3, 4]})
    pa.parquet.write_table(table, tmp_path / "b.parquet")
    columns, _ = read(tmp_path / "b.parquet", [Expected(name, "text") for name in "abc"])
    assert columns == {"a": ["True", "False"], "b": ["2.50", "1.00"], "c": ["3", "4"]}


def test_an_endless_record_is_left_out_and_the_rest_is_read(monkeypatch):
    monkeypatch.setattr("lopsided.streams.blocks.LONGEST_RECORD", 50)
    data = b'a,y\n1,2\n"open,3\n' + b"4,5\n" * 30
    error = next(part for part in cut_at_records(Pieces(data, 20), ",") if isinstance(part, StreamError))
    assert (error.line, error.rule) == (3, "must close every quote that it opens")
    kept = b"".join(part.data for part in cut_at_records(Pieces(data, 20), ",") if isinstance(part, Block))
    assert kept == b"a,y\n1,2\n" + b"4,5\n" * 30
    endless = b"a,y\n" + b"x" * 500 + b"\n1,2\n"
    parts = list(cut_at_records(Pieces(endless, 20), ","))
    assert [str(part) for part in parts if isinstance(part, StreamError)] == [
        "The row in line 2 of pieces must be shorter than 0 MB, got a longer one."
    ]
    assert b"".join(part.data for part in parts if isinstance(part, Block)) == b"a,y\n1,2\n"


def test_a_quote_that_is_never_closed_costs_its_line_only(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text('a,y\n1,0\n"2,1\n3,0\n4,1')
    columns, bad = read(path, [Expected("a", "number"), Expected("y", "text")])
    assert columns["a"] == [1, 3, 4]
    assert [error.line for error in bad] == [3]
    assert (bad[0].rule, bad[0].got) == ("must close every quote that it opens", "one that is still open 2 lines later")
