"""Bytes from files that grow, from directories, and from pipes."""

import gzip
import os
import subprocess
import sys
import threading
import time

import pytest

from lopsided.streams import Expected, Sources, Spellings, StreamError, TableStream, find_labels
from lopsided.streams.blocks import cut_at_lines

EXPECTED = [Expected("a", "number"), Expected("y", "label", Spellings(1, 0))]


def numbers(stream):
    return [value for chunk in stream.chunks(EXPECTED) for value in chunk.columns["a"].tolist()]


def later(action, seconds=0.3):
    def run():
        time.sleep(seconds)
        action()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_a_growing_file_is_followed_and_half_a_line_is_waited_for(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,y\n1,0\n2,")

    def grow():
        with open(path, "a") as file:
            file.write("1\n3,0\n")

    thread = later(grow)
    with TableStream(Sources([str(path)], follow=True, idle=2.5)) as stream:
        assert not stream.is_whole
        assert numbers(stream) == [1, 2, 3]
    thread.join()


def test_new_files_of_a_directory_are_followed(tmp_path):
    (tmp_path / "1.csv").write_text("a,y\n1,0\n")
    (tmp_path / ".hidden").write_text("no")
    thread = later(lambda: (tmp_path / "2.csv").write_text("a,y\n2,1\n"))
    with TableStream(Sources([str(tmp_path)], follow=True, idle=2.5)) as stream:
        assert numbers(stream) == [1, 2]
    thread.join()


def test_an_empty_directory_is_refused(tmp_path):
    with pytest.raises(StreamError, match="must hold files, got an empty directory"):
        TableStream(Sources([str(tmp_path)]))


def test_what_has_been_read_is_known(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "1,0\n" * 300_000)
    sources = Sources([str(path), str(path)])
    seen = []
    with TableStream(sources) as stream:
        for _ in stream.chunks(EXPECTED):
            seen.append(stream.bytes_read)
    assert seen == sorted(seen) and seen[-1] == sources.total == 2 * path.stat().st_size


def test_standard_input_that_is_packed():
    text = b"a,y\n" + b"".join(b"%d,0\n" % n for n in range(20_000))
    program = (
        "from lopsided.streams import *; e=[Expected('a','number')];"
        "s=TableStream(Sources(['-']));print(s.name, sum(c.columns['a'].sum() for c in s.chunks(e)))"
    )
    done = subprocess.run([sys.executable, "-c", program], input=gzip.compress(text), capture_output=True, check=True)
    assert done.stdout.decode().split() == ["standard", "input", str(sum(range(20_000)) / 1)]


def test_a_slow_pipe_is_not_waited_for(monkeypatch):
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as pipe, os.fdopen(writing, "wb", buffering=0) as end:
        monkeypatch.setattr("lopsided.streams.byte_source.sys.stdin", type("In", (), {"buffer": pipe}))
        end.write(b"one\ntw")
        source = Sources(["-"]).open("-")
        blocks = cut_at_lines(source)
        assert next(blocks).data == b"one\n"
        end.write(b"o\n")
        block = next(blocks)
        assert (block.data, block.first_line) == (b"two\n", 2)


@pytest.mark.parametrize(
    ("seen", "positive", "complete", "expected"),
    [
        (["bad", "good", "good"], None, True, ("bad", "good")),
        (["0", "1"], None, True, (1, 0)),
        (["+1", "-1", "1.0", "-1"], None, True, (1, -1)),
        (["0", "0"], None, False, (1, 0)),
        (["-1"], None, False, (1, -1)),
        (["1", "1"], None, False, (1, None)),
        (["a", "b", "c"], "b", True, ("b", None)),
        (["a", "a"], "b", False, ("b", "a")),
        (["1", "many"], None, True, ("many", "1")),
    ],
)
def test_labels_are_found_in_the_first_rows(seen, positive, complete, expected):
    labels = find_labels(seen, positive, source="f", column="y", complete=complete)
    assert (labels.positive, labels.negative) == expected


@pytest.mark.parametrize(
    ("seen", "positive", "complete", "sentence"),
    [
        (["0", "0"], None, True, "must hold two different labels, got one label: 0 in 2 rows"),
        (
            ["ok"] * 3,
            None,
            False,
            r"in its first rows \(or the positive label must be named\), got one label: 'ok' in 3",
        ),
        ([str(n) for n in range(9)], None, True, r"got 9 labels: .* in 1 rows, \.\.\."),
        (["a", "b"], "c", True, "positive label of f must be a or b, got 'c'"),
        ([], None, True, "got none"),
        (["a"], "nan", False, "must be a class name or a finite number"),
    ],
)
def test_labels_that_are_not_two(seen, positive, complete, sentence):
    with pytest.raises(StreamError, match=sentence):
        find_labels(seen, positive, source="f", column="y", complete=complete)
