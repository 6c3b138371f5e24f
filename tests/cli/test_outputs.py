"""Where scored rows go: by suffix, never over what is read, and into links and pipes without replacing them."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pyarrow.feather
import pyarrow.parquet
import pytest

import lopsided as lp

posix = pytest.mark.skipif(os.name != "posix", reason="neither links nor pipes elsewhere")


@pytest.fixture
def saved(lopsided, tmp_path):
    rows = "".join(f"{k % 7},{k % 3},{'true' if k % 5 == 0 else 'false'}\n" for k in range(60))
    (tmp_path / "data.csv").write_text("a,b,late\n" + rows)
    assert lopsided("learn", "data.csv", "--label", "late", "--positive", "TRUE", "-o", "m").returncode == 0
    return "m"


def test_the_format_follows_the_suffix(lopsided, saved, tmp_path):
    for name in ("s.pq", "s.ipc", "s.tsv", "s.jsonl"):
        assert lopsided("score", saved, "data.csv", "-o", name).returncode == 0
    assert pyarrow.parquet.read_table(tmp_path / "s.pq").column_names == [
        "a", "b", "late", "score", "probability", "predicted",
    ]  # fmt: skip
    assert pyarrow.feather.read_table(tmp_path / "s.ipc").num_rows == 60
    assert (tmp_path / "s.tsv").read_text().splitlines()[0].split("\t")[:3] == ["a", "b", "late"]
    assert {json.loads(line)["predicted"] for line in (tmp_path / "s.jsonl").read_text().splitlines()} == {True, False}
    assert lopsided("score", saved, "s.tsv", "-o", "t.csv").returncode == 2  # columns called score are there already
    (tmp_path / "u.tsv").write_text((tmp_path / "data.csv").read_text().replace(",", "\t"))
    assert lopsided("score", saved, "u.tsv", "-o", "u.csv").returncode == 0
    assert (tmp_path / "u.csv").read_text().startswith("a,b,late,score,")


@pytest.mark.parametrize("name", ["s.xlsx", "s.csv.gz", "s.json"])
def test_a_suffix_that_says_nothing_is_refused(refused, saved, name):
    assert "must end in .csv, .tsv" in refused("score", saved, "data.csv", "-o", name)


def test_neither_the_rows_nor_the_model_are_overwritten(refused, saved, tmp_path):
    before = (tmp_path / saved).read_bytes()
    assert "must not be one of the files that are read" in refused("score", saved, "data.csv", "-o", saved)
    assert (tmp_path / saved).read_bytes() == before


@posix
def test_a_link_stays_a_link_and_a_pipe_a_pipe(lopsided, saved, tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "target.csv")
    assert lopsided("score", saved, "data.csv", "-o", "link.csv").returncode == 0
    assert (tmp_path / "link.csv").is_symlink() and len((tmp_path / "target.csv").read_text().splitlines()) == 61
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as reader:
        content = reader.submit((tmp_path / "pipe").read_bytes)
        assert lopsided("score", saved, "data.csv", "-o", "pipe").returncode == 0
        assert content.result(timeout=60) == (tmp_path / "target.csv").read_bytes()
    assert (tmp_path / "pipe").is_fifo()


def test_truth_is_one_label_in_every_format_and_case(lopsided, saved, tmp_path):
    table = pyarrow.table({"a": [1, 2, 3, 4], "b": [0, 1, 2, 0], "late": [True, False, False, True]})
    pyarrow.parquet.write_table(table, tmp_path / "more.parquet")
    (tmp_path / "more.csv").write_text("a,b,late\n1,2,TRUE\n2,0,False\n")
    (tmp_path / "more.ndjson").write_text('{"a":1,"b":2,"late":true}\n{"a":2,"b":2,"late":false}\n')
    for name, rows in (("more.parquet", 4), ("more.csv", 2), ("more.ndjson", 2)):
        done = lopsided("learn", name, "--resume", saved, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["rows"] == rows
    assert lp.load(tmp_path / saved).classes_.tolist() == ["false", "true"]


def test_a_number_without_a_finite_square_is_a_bad_row(lopsided, refused, tmp_path):
    rows = "".join(f"{k % 7},{k % 3},{int(k % 5 == 0)}\n" for k in range(60))
    (tmp_path / "huge.csv").write_text("a,b,late\n" + rows + "1e308,0,1\n")
    assert "in line 62 of huge.csv must be a number below 1e+150 in size, got '1e308'" in refused(
        "evaluate", "huge.csv", "--label", "late"
    )
    assert lopsided("evaluate", "huge.csv", "--label", "late", "--on-error", "skip").returncode == 0
