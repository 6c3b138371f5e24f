"""A feed that goes on: every row once, whatever the format, wherever it stopped."""

import gzip
import json
import sys
import types

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import lopsided as lp
from lopsided.encoding import infer_schema
from lopsided.feeds import open_feed
from lopsided.streams import StreamError
from lopsided.streams.bookmarks import Bookmarks

ROWS = 5000
FORMATS = ("csv", "csv.gz", "quoted.csv", "ndjson", "ndjson.zst", "svm", "svm.gz", "parquet", "arrow", "arrows")


def frame(n_rows, first=0):
    numbers = np.arange(first, first + n_rows, dtype=np.float64)
    return pd.DataFrame({"a": numbers, "b": numbers % 7, "y": (numbers % 5 == 0).astype(int)})


def text_of(kind, table, header=True):
    if kind == "svm":
        return "".join(f"{2 * int(r.y) - 1:+d} 1:{r.a!r} 2:{r.b!r}\n" for r in table.itertuples())
    if kind == "ndjson":
        return table.to_json(orient="records", lines=True)
    if kind == "quoted":
        rows = "".join(f'{r.a!r},"{r.b!r}",{r.y}\n\n' for r in table.itertuples())
        return ("a,b,y\n" if header else "") + rows
    return table.to_csv(index=False, header=header)


def write(folder, name, table):
    path = folder / f"data.{name}"
    kind = name.partition(".")[0]
    if kind == "parquet":
        pq.write_table(pa.Table.from_pandas(table), path, row_group_size=1024)
    elif kind == "arrow":
        pa.feather.write_feather(table, path, compression="uncompressed", chunksize=700)
    elif kind == "arrows":
        whole = pa.Table.from_pandas(table)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, whole.schema) as writer:
            writer.write_table(whole, max_chunksize=700)
    else:
        data = text_of(kind, table).encode()
        if name.endswith("gz"):
            data = gzip.compress(data)
        if name.endswith("zst"):
            data = pa.Codec("zstd").compress(data, asbytes=True)
        path.write_bytes(data)
    return path


@pytest.fixture
def table_model():
    table = frame(50)
    schema = infer_schema(table.to_dict("list"), label="y")
    return lp.TablePipeline(schema, learner=lp.OPAUC(pos_label=1)).partial_fit(table[["a", "b"]], table["y"])


@pytest.fixture
def sparse_model():
    X = np.array([[1.0, 2.0], [2.0, 1.0]])
    return lp.SparsePipeline(1, learner=lp.OPAUC(pos_label=1)).partial_fit(X, [-1, 1])


@pytest.fixture
def model_for(table_model, sparse_model):
    return lambda name: sparse_model if name.startswith("svm") else table_model


def numbers(rows):
    first = rows.X[:, [0]].toarray() if hasattr(rows.X, "toarray") else rows.X[:, [0]]
    return first.ravel().tolist()


def taken(source, model, bookmarks=None, slices=None, size=100, **arguments):
    """The numbers of the rows of the first slices, and the bookmarks behind them, as a file keeps them."""
    found = []
    arguments = {"tell": lambda *_: None} | arguments
    with open_feed(source, model=model, bookmarks=bookmarks, **arguments) as feed:
        if slices != 0:
            for count, rows in enumerate(feed.slices(size), start=1):
                found += numbers(rows)
                if count == slices:
                    break
        return found, Bookmarks.from_json(json.loads(json.dumps(feed.bookmarks().to_json())))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("slices", [1, 23, 49, None])
def test_rows_come_once(tmp_path, model_for, name, slices):
    path, model = write(tmp_path, name, frame(ROWS)), model_for(name)
    before, marks = taken(path, model, slices=slices)
    after, marks = taken(path, model, marks)
    assert before + after == list(range(ROWS))
    assert taken(path, model, marks)[0] == []
    assert taken(path, model, marks, from_start=True)[0] == list(range(ROWS))


@pytest.mark.parametrize("name", [name for name in FORMATS if not name.startswith(("parquet", "arrow"))])
def test_a_file_that_grew_is_continued(tmp_path, model_for, name):
    kind, model = name.partition(".")[0], model_for(name)
    path = write(tmp_path, name, frame(300))
    before, marks = taken(path, model, slices=2)
    more = text_of(kind, frame(200, first=300), header=False).encode()
    if name.endswith("gz"):
        more = gzip.compress(more)
    elif name.endswith("zst"):
        more = pa.Codec("zstd").compress(more, asbytes=True)
    with path.open("ab") as file:
        file.write(more)
    after, marks = taken(path, model, marks)
    assert before + after == list(range(500))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("n_rows", [40, 3000])
def test_a_file_that_changed_is_refused(tmp_path, model_for, name, n_rows):
    path, model = write(tmp_path, name, frame(ROWS)), model_for(name)
    _, marks = taken(path, model, slices=45)
    other = frame(ROWS)
    other.loc[:n_rows, "a"] += 1
    write(tmp_path, name, other)
    with pytest.raises(StreamError, match="must begin with what was learned from it before") as caught:
        taken(path, model, marks)
    assert caught.value.argument == "from_start"
    write(tmp_path, name, frame(60))
    with pytest.raises(StreamError, match="must begin with what was learned"):
        taken(path, model, marks)


def test_rows_behind_the_bookmark_may_change(tmp_path, table_model):
    path = write(tmp_path, "csv", frame(500))
    before, marks = taken(path, table_model, slices=2)
    path.write_text(path.read_text().replace("\n450.0,2.0,1\n", "\n450,2,1\n"))
    assert before + taken(path, table_model, marks)[0] == list(range(500))


def test_blocks_are_cut_as_if_nothing_had_happened(tmp_path, table_model):
    """Several blocks of 4 MB: the slices after a bookmark are those of a run that was not interrupted."""
    rows = "".join(f"{n}.{'0' * (n % 40)},{n % 7},{int(n % 5 == 0)}\n" for n in range(330_000))
    path = tmp_path / "large.csv"
    path.write_text("a,b,y\n" + rows)
    assert path.stat().st_size > 9e6
    with open_feed(path, model=table_model) as feed:
        whole = [numbers(part) for part in feed.slices(1024)]
    for slices in (3, 140, 141, 200):
        _, marks = taken(path, table_model, slices=slices, size=1024)
        with open_feed(path, model=table_model, bookmarks=marks, tell=lambda *_: None) as feed:
            rest = [numbers(part) for part in feed.slices(1024)]
        assert rest == whole[slices:]


def test_a_part_of_a_slice_knows_its_place(tmp_path, table_model):
    path = write(tmp_path, "csv", frame(400))
    with open_feed(path, model=table_model) as feed:
        for rows in feed.slices(100):
            part = rows.part(10, 90).part(0, 50)
            marks = feed.bookmarks(part)
            assert taken(path, table_model, marks)[0] == list(range(int(numbers(part)[-1]) + 1, 400))


def test_bad_rows_are_dealt_with_once(tmp_path, table_model):
    path, quarantine = tmp_path / "bad.csv", tmp_path / "q.ndjson"
    lines = [f"{n},1,{n % 2}" if n % 10 else "x,1,0" for n in range(400)]
    path.write_text("a,b,y\n" + "\n".join(lines) + "\n")
    arguments = {"on_error": "quarantine", "quarantine": quarantine, "tell": lambda *_: None}
    found, marks = taken(path, table_model, slices=1, **arguments)
    for _ in range(10):
        more, marks = taken(path, table_model, marks, slices=1, size=30, **arguments)
        found += more
    found += taken(path, table_model, marks, **arguments)[0]
    assert found == [n for n in range(400) if n % 10]
    assert [json.loads(line)["line"] for line in quarantine.read_text().splitlines()] == list(range(2, 402, 10))


def test_a_bad_row_is_mended_and_the_rest_is_learned(tmp_path, table_model):
    first, second = write(tmp_path, "csv", frame(300)), tmp_path / "second.csv"
    second.write_text("a,b,y\n300,1,0\nx,1,0\n302,1,1\n")
    found = []
    with pytest.raises(StreamError), open_feed([first, second], model=table_model) as feed:
        for rows in feed:
            found += numbers(rows)
    assert len(found) == 300
    second.write_text(second.read_text().replace("x", "301"))
    assert taken([first, second], table_model, feed.bookmarks())[0] == [300, 301, 302]


def test_several_files_a_directory_and_one_named_twice(tmp_path, table_model):
    for day in range(3):
        frame(100, first=100 * day).to_csv(tmp_path / f"{day}.csv", index=False)
    before, marks = taken(tmp_path, table_model, slices=3, size=50)
    frame(100, first=300).to_csv(tmp_path / "3.csv", index=False)
    after, marks = taken(tmp_path, table_model, marks)
    assert before + after == list(range(400))
    assert taken(str(tmp_path / "*.csv"), table_model, marks)[0] == []
    path = tmp_path / "0.csv"
    before, marks = taken([path, path], table_model, slices=3, size=50)
    after, marks = taken([path, path], table_model, marks)
    assert before + after == [*range(100)] * 2
    assert taken([path, path, path], table_model, marks)[0] == list(range(100))


@pytest.mark.parametrize("n_slices", [1, 30])
def test_standard_input_that_comes_again_is_passed(tmp_path, table_model, monkeypatch, n_slices):
    path = write(tmp_path, "csv", frame(ROWS))
    other = write(tmp_path, "quoted.csv", frame(100, first=7000))

    def pipe(file, *arguments, **more):
        with open(file, "rb", buffering=0) as opened:
            monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=opened))
            return taken("-", table_model, *arguments, **more)

    before, marks = pipe(path, slices=n_slices)
    after, marks = pipe(path, marks)
    assert before + after == list(range(ROWS))
    assert pipe(other, marks)[0] == list(range(7000, 7100))  # another one: all of it is new
    write(tmp_path, "csv", frame(ROWS - 1))
    with pytest.raises(StreamError, match="must begin with what was learned from it before"):
        pipe(path, marks)


@pytest.mark.parametrize("slices", [1, 7, 12])
def test_a_topic_goes_on_at_its_offsets(kafka, table_model, slices):
    url = kafka.topic()
    kafka.send(url, [{"a": n, "b": 1, "y": n % 2} for n in range(200)], partition=None)
    before, marks = taken(url, table_model, slices=slices, size=15)
    after, marks = taken(f"{url}?from=latest", table_model, marks)  # the same topic, however it is read
    assert before + after == list(range(200))
    kafka.send(url, [{"a": 200, "b": 1, "y": 0}])
    assert taken(url, table_model, marks)[0] == [200]
    (mark,) = marks.to_json()
    older = Bookmarks.from_json([mark | {"source": f"{url}?from=earliest"}])
    assert taken(url, table_model, older)[0] == [200]


def test_a_bad_message_is_named_by_its_place(kafka, table_model):
    url, told = kafka.topic(), []
    good = {"a": 1, "b": 1, "y": 0}
    kafka.send(url, [good, good, good | {"a": "x"}])
    kafka.send(url, [good, b"{", None, good | {"y": 7}, good], partition=2, first=10)
    with pytest.raises(StreamError, match=rf"^Column 'a' in message 2 of partition 0 of {url} must be a finite number"):
        taken(url, table_model)
    taken(url, table_model, on_error="skip", tell=lambda line, _: told.append(line))
    assert [line.partition(" must")[0] for line in told] == [
        f"left out: Column 'a' in message 2 of partition 0 of {url}",
        f"left out: The row in message 1 of partition 2 of {url}",
        f"left out: Label column 'y' in message 3 of partition 2 of {url}",
    ]
    _, marks = taken(url, table_model, slices=1, size=3, on_error="skip")
    kafka.send(url, [good | {"b": "x"}], partition=2, first=20)
    with pytest.raises(StreamError, match="Column 'b' in message 5 of partition 2"):
        taken(url, table_model, marks)


def test_a_topic_of_no_rows_at_all_is_refused_by_its_message(kafka):
    url = kafka.send(kafka.topic(), [b"1,2,3"], partition=3)
    with pytest.raises(StreamError, match=rf"^The row in message 0 of partition 3 of {url} must be one JSON object"):
        open_feed(url)


def test_going_on_needs_a_model(tmp_path, table_model):
    path = write(tmp_path, "csv", frame(300))
    _, marks = taken(path, table_model, slices=1)
    with pytest.raises(ValueError, match="A feed that continues must have a model"):
        open_feed(path, bookmarks=marks)
