"""What `lopsided score` writes: every value under its heading, in every format, whole or not at all."""

import csv
import io
import json
import signal

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import lopsided as lp
from lopsided.encoding import infer_schema

HEAD = {"a": [1.0, 2.0, 3.0, 9.0] * 5, "b": [0.0, 1.0] * 10, "name": [f"n{k}" for k in range(20)]}


@pytest.fixture
def model(tmp_path):
    """A model `m` of the numbers a and b, with names as identifiers."""
    schema = infer_schema(HEAD, id="name")
    lp.TablePipeline(schema, learner=lp.KOIL(random_state=0)).partial_fit(HEAD, [0, 0, 0, 1] * 5).save(tmp_path / "m")
    return lp.load(tmp_path / "m")


@pytest.fixture
def write(tmp_path):
    """Write rows or an arrow table to a file, by its suffix."""

    def of(name, rows):
        table = pa.Table.from_pylist(rows) if isinstance(rows, list) else rows
        if name.endswith(".parquet"):
            pa.parquet.write_table(table, tmp_path / name)
        elif name.endswith(".arrow"):
            pa.feather.write_feather(table, tmp_path / name)
        else:
            (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return name

    return of


def rows_of(path):
    """The rows of an output, without the new columns; cells of a CSV as numbers where they are."""
    if path.suffix == ".csv":
        read = [
            {name: _cell(text) for name, text in row.items()} for row in csv.DictReader(io.StringIO(path.read_text()))
        ]
    elif path.suffix == ".ndjson":
        read = [json.loads(line) for line in path.read_text().splitlines()]
    else:
        read = (pa.parquet if path.suffix == ".parquet" else pa.feather).read_table(path).to_pylist()
    assert all(isinstance(row["score"], float) for row in read)
    return [
        {name: value for name, value in row.items() if name not in ("score", "probability", "predicted")}
        for row in read
    ]


def _cell(text):
    try:
        return float(text)
    except ValueError:
        return text or None


OUTPUTS = ("csv", "ndjson", "parquet", "arrow")


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("out", OUTPUTS)
def test_values_stand_under_their_headings_in_whatever_order_they_come(lopsided, tmp_path, write, out):
    first = write("1.parquet", [{"a": 1, "b": 2, "name": "x"}, {"a": 3, "b": 4, "name": "y"}])
    second = write("2.parquet", [{"b": 5.5, "name": "z", "a": 6.5}])
    done = lopsided("score", "m", first, second, "-o", f"out.{out}")
    assert done.returncode == 0, done.stderr
    assert rows_of(tmp_path / f"out.{out}") == [
        {"a": 1, "b": 2, "name": "x"}, {"a": 3, "b": 4, "name": "y"}, {"a": 6.5, "b": 5.5, "name": "z"},
    ]  # fmt: skip


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("out", ["csv", "parquet", "arrow"])
def test_all_keys_of_objects_are_kept(lopsided, tmp_path, write, out):
    rows = [{"a": 1, "b": 2}, {"b": 2.5, "a": 1, "note": "late"}, {"a": 3, "b": 1, "note": 7}]
    assert lopsided("score", "m", write("in.ndjson", rows), "-o", f"out.{out}").returncode == 0
    seven = 7 if out == "csv" else "7"
    assert rows_of(tmp_path / f"out.{out}") == [
        {"a": 1, "b": 2, "note": None}, {"a": 1, "b": 2.5, "note": "late"}, {"a": 3, "b": 1, "note": seven},
    ]  # fmt: skip


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("out", ["csv", "parquet", "arrow"])
def test_columns_that_come_too_late_are_noted_and_those_that_go_are_empty(lopsided, tmp_path, write, out):
    files = write("1.ndjson", [{"a": 1, "b": 2, "gone": None}]), write("2.ndjson", [{"b": 3, "a": 4, "new": 5}])
    done = lopsided("score", "m", *files, "-o", f"out.{out}")
    assert done.returncode == 0, done.stderr
    assert "note: columns that the first rows do not have, left out of the output: new" in done.stderr.splitlines()
    assert rows_of(tmp_path / f"out.{out}") == [{"a": 1, "b": 2, "gone": None}, {"a": 4, "b": 3, "gone": None}]


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("out", ["parquet", "arrow"])
def test_a_file_keeps_its_types_and_categories_may_differ(lopsided, tmp_path, write, out):
    names = pa.array(["x", "y"]).dictionary_encode()
    first = write("1.parquet", pa.table({"a": [1, 2], "b": pa.array([1, 2], pa.int8()), "name": names}))
    second = write("2.arrow", pa.table({"a": [1], "b": [2**60], "name": pa.array(["z"]).dictionary_encode()}))
    assert lopsided("score", "m", first, "-o", f"out.{out}").returncode == 0
    read = (pa.parquet if out == "parquet" else pa.feather).read_table
    assert read(tmp_path / f"out.{out}").schema.types[:3] == [pa.int64(), pa.int8(), pa.string()]
    done = lopsided("score", "m", second, first, "-o", f"out.{out}")
    assert done.returncode == 0, done.stderr
    assert rows_of(tmp_path / f"out.{out}") == [
        {"a": 1, "b": 2**60, "name": "z"}, {"a": 1, "b": 1, "name": "x"}, {"a": 2, "b": 2, "name": "y"},
    ]  # fmt: skip


@pytest.mark.usefixtures("model")
def test_what_cannot_be_written_is_said_and_the_old_file_stays(refused, tmp_path, write):
    (tmp_path / "out.parquet").write_text("old")
    first = write("1.parquet", [{"a": 1, "b": 2, "when": 3}])
    for more, sentence in (
        (
            {"when": "soon"},
            "Column 'when' of 2.parquet must fit the type int64 of the rows before it, got",
        ),
        (
            {"score": 1},
            "The file 2.parquet must not have columns called score, probability, predicted already, got score",
        ),
    ):
        second = write("2.parquet", [{"a": 1, "b": 2} | more])
        assert refused("score", "m", first, second, "-o", "out.parquet", "--force").startswith(sentence)
    assert refused("score", "m", first, "--keep", "id").startswith(
        "The file 1.parquet must hold the column 'name', which is to be kept, got only a, b, when; see --keep."
    )
    assert (tmp_path / "out.parquet").read_text() == "old" and not list(tmp_path.glob("*.part"))


@pytest.mark.usefixtures("model")
def test_a_second_ctrl_c_leaves_the_old_file(lopsided, tmp_path, write, monkeypatch):
    source = write("in.parquet", [{"a": 1, "b": 2}])
    uninterrupted = lp.TablePipeline.answer

    def impatient(self, X):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        return uninterrupted(self, X)

    for out in OUTPUTS:
        (tmp_path / f"out.{out}").write_text("old")
        with monkeypatch.context() as patched:
            patched.setattr(lp.TablePipeline, "answer", impatient)
            assert lopsided("score", "m", source, "-o", f"out.{out}", "--force").returncode == 130
        assert (tmp_path / f"out.{out}").read_text() == "old" and not list(tmp_path.glob("*.part"))


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("out", OUTPUTS)
def test_the_first_ctrl_c_gives_a_whole_file(lopsided, tmp_path, write, monkeypatch, out):
    files = write("1.parquet", [{"a": 1, "b": 2}]), write("2.parquet", [{"a": 3, "b": 4}])
    uninterrupted = lp.TablePipeline.answer

    def interrupted(self, X):
        signal.raise_signal(signal.SIGINT)
        return uninterrupted(self, X)

    monkeypatch.setattr(lp.TablePipeline, "answer", interrupted)
    assert lopsided("score", "m", *files, "-o", f"out.{out}").returncode == 130
    assert rows_of(tmp_path / f"out.{out}") == [{"a": 1, "b": 2}]


@pytest.mark.usefixtures("model")
def test_a_byte_order_mark_is_not_written_into_an_object(lopsided, tmp_path):
    (tmp_path / "in.ndjson").write_bytes(b'\xef\xbb\xbf{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n')
    done = lopsided("score", "m", "in.ndjson", "--format", "ndjson")
    assert [json.loads(line)["a"] for line in done.stdout.splitlines()] == [1, 3]


@pytest.mark.usefixtures("model")
def test_two_objects_on_a_line_are_refused(refused, write, tmp_path):
    (tmp_path / "in.ndjson").write_text('{"a": 1, "b": 2}\n{"a": 3, "b": 4} {"a": 5, "b": 6}\n')
    sentence = refused("score", "m", "in.ndjson", "--format", "ndjson")
    assert sentence.startswith("The row in line 2 of in.ndjson must be one JSON object, got ")


@pytest.mark.usefixtures("model")
def test_lists_and_objects_are_json_in_a_csv(lopsided, tmp_path, write):
    source = write("in.ndjson", [{"a": 1, "b": 2, "c": [1, 2], "d": {"e": "f"}}, {"a": 1, "b": 2}])
    assert lopsided("score", "m", source, "-o", "out.csv").returncode == 0
    first, second = rows_of(tmp_path / "out.csv")
    assert (first["c"], first["d"]) == ("[1, 2]", '{"e": "f"}') and (second["c"], second["d"]) == (None, None)
