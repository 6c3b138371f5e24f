"""`learn --resume` after whatever has happened: every row is learned once, and the model is the same bit for bit."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lopsided as lp
from cli.processes import forked
from lopsided.estimators.state.files import load_attached

ROWS = 60_000
OPTIONS = ("--learner", "koil", "--set", "gamma=0.5", "--set", "budget=60", "--checkpoint", "4096")
TABLE = ("--label", "y", "--time", "when")


def numbers(n_rows, first=0):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(first + n_rows, 3))
    y = (X[:, 0] * X[:, 1] > 1.2).astype(int)
    return X[first:].round(4), y[first:], np.arange(first, first + n_rows)


def csv_text(n_rows, first=0):
    X, y, when = numbers(n_rows, first)
    return "".join(f"{a!r},{b!r},{c!r},{w},{label}\n" for (a, b, c), w, label in zip(X.tolist(), when, y, strict=True))


def write(folder, kind, n_rows=ROWS):
    X, y, when = numbers(n_rows)
    path = folder / f"data.{kind}"
    text = ("a,b,c,when,y\n" + csv_text(n_rows)).encode()
    if kind == "csv":
        path.write_bytes(text)
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(text, compresslevel=1))
    elif kind == "parquet":
        columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "when": when, "y": y}
        pq.write_table(pa.table(columns), path, row_group_size=8192)
    else:
        rows = [f"{2 * label - 1:+d} 1:{a!r} 2:{b!r} 3:{c!r}\n" for (a, b, c), label in zip(X.tolist(), y, strict=True)]
        path.write_text("".join(rows))
    return path


def interrupted(folder, number, *arguments, stdin=None, model="m"):
    """Run a command as a process of its own, send it a signal after its first checkpoint, and return how it ended."""
    process = forked(folder, *arguments, stdin=stdin)
    deadline = time.monotonic() + 100
    while not (folder / model).exists() and process.is_alive() and time.monotonic() < deadline:
        time.sleep(0.002)
    os.kill(process.pid, number)
    process.join(100)
    words = (folder / "said").read_text()
    assert process.exitcode in (128 + number, -number), words
    return process.exitcode, words


def bits(path):
    return lp.load(path).to_bytes()


def seen(path):
    return lp.load(path).n_seen_


CASES = {
    "csv": ("csv", signal.SIGINT, (*TABLE, *OPTIONS)),
    "csv with a delay in time": ("csv", signal.SIGTERM, (*TABLE, *OPTIONS, "--delay", "500s")),
    "gzip": ("csv.gz", signal.SIGKILL, (*TABLE, *OPTIONS)),
    "libsvm with a delay in rows": ("svm", signal.SIGINT, (*OPTIONS[:-1], "512", "--delay", 300)),
    "libsvm": ("svm", signal.SIGKILL, OPTIONS),
    "parquet": ("parquet", signal.SIGTERM, (*TABLE, *OPTIONS)),
    "parquet with a delay": ("parquet", signal.SIGKILL, (*TABLE, *OPTIONS, "--delay", 300)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_signal_loses_nothing_and_repeats_nothing(lopsided, tmp_path, name):
    kind, number, options = CASES[name]
    waits = "--delay" in options
    n_rows = 8000 if waits and kind == "svm" else ROWS  # sparse rows are learned one by one where labels come late
    path = write(tmp_path, kind, n_rows)
    code, words = interrupted(tmp_path, number, "learn", path.name, *options, "-o", "m")
    assert code == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[number]
    if number != signal.SIGKILL:
        assert "rows; what was learned is in m" in words
        assert ("rows wait for their labels" in words) == waits
    learned = seen(tmp_path / "m")
    assert 0 < learned < n_rows
    if waits:
        assert load_attached(tmp_path / "m")[1]["late"].description["store"]["rows"] >= 300
    done = lopsided("learn", path.name, *options, "-o", "m", "--resume", "m", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    whole = json.loads(lopsided("learn", path.name, *options, "-o", "whole", "--json").stdout)
    assert bits(tmp_path / "m") == bits(tmp_path / "whole")
    assert said["rows"] < whole["rows"] == said["rows_in_all"] == said["rows_measured"] == n_rows
    assert (said["auroc"], said["average_precision"]) == (whole["auroc"], whole["average_precision"])
    again = lopsided("learn", path.name, "--resume", "m")
    assert (again.returncode, again.stdout) == (0, "nothing new to learn; m is as it was\n")
    assert bits(tmp_path / "m") == bits(tmp_path / "whole")


def test_standard_input(lopsided, tmp_path, monkeypatch):
    path = write(tmp_path, "csv")
    arguments = ("learn", "-", *TABLE, *OPTIONS, "-o", "m")
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["sh", "-c", f"cat {path} > {tmp_path / 'pipe'}"], stderr=subprocess.DEVNULL):
        interrupted(tmp_path, signal.SIGINT, *arguments, stdin=tmp_path / "pipe")
    before = seen(tmp_path / "m")
    with path.open() as file, monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", file)
        done = lopsided(*arguments, "--resume", "m")
    assert done.returncode == 0, done.stderr
    assert f"note: standard input continues after the {before:,} rows that were read before" in done.stderr
    assert lopsided("learn", path.name, *TABLE, *OPTIONS, "-o", "whole").returncode == 0
    assert seen(tmp_path / "m") == ROWS
    assert np.array_equal(
        lp.load(tmp_path / "m").learner_.support_weights_, lp.load(tmp_path / "whole").learner_.support_weights_
    )


@pytest.mark.parametrize("delay", [(), ("--delay", 50)])
def test_a_bad_row_is_mended_and_the_rest_is_learned(lopsided, tmp_path, delay):
    for day in range(3):
        (tmp_path / f"{day}.csv").write_text("a,b,c,when,y\n" + csv_text(300, 300 * day))
    good = (tmp_path / "1.csv").read_text()
    (tmp_path / "1.csv").write_text(good.replace(",450,", ",450,oops,"))
    files = ("0.csv", "1.csv", "2.csv")
    done = lopsided("learn", *files, *TABLE, *delay, "-o", "m")
    assert done.returncode == 2
    assert "what was learned from the 300 rows before is in m" in done.stderr
    (tmp_path / "1.csv").write_text(good)
    done = lopsided("learn", *files, *TABLE, *delay, "-o", "m", "--resume", "m")
    assert done.returncode == 0, done.stderr
    assert lopsided("learn", *files, *TABLE, *delay, "-o", "whole").returncode == 0
    assert bits(tmp_path / "m") == bits(tmp_path / "whole") and seen(tmp_path / "m") == 900


def test_a_file_that_grew_and_one_that_is_new(lopsided, tmp_path):
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    (inbox / "0.csv").write_text("a,b,c,when,y\n" + csv_text(300))
    assert lopsided("learn", "inbox", *TABLE, "-o", "m").returncode == 0
    with (inbox / "0.csv").open("a") as file:
        file.write(csv_text(200, 300))
    (inbox / "1.csv").write_text("a,b,c,when,y\n" + csv_text(100, 500))
    done = lopsided("learn", "inbox", "--resume", "m", "--json")
    assert json.loads(done.stdout)["rows"] == 300
    assert lopsided("learn", "inbox", *TABLE, "-o", "whole").returncode == 0
    assert bits(tmp_path / "m") == bits(tmp_path / "whole")


def test_a_file_that_changed_is_refused_unless_it_is_read_from_its_start(lopsided, refused, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b,c,when,y\n" + csv_text(300))
    assert lopsided("learn", path, *TABLE, "-o", "m").returncode == 0
    before = (tmp_path / "m").read_bytes()
    path.write_text("a,b,c,when,y\n" + csv_text(300, 100))
    sentence = refused("learn", path, "--resume", "m")
    assert "must begin with what was learned from it before" in sentence and sentence.endswith("; see --from-start.")
    assert (tmp_path / "m").read_bytes() == before
    done = lopsided("learn", path, "--resume", "m", "--from-start", "--json")
    assert json.loads(done.stdout)["rows_in_all"] == 600
    assert lopsided("learn", path, "--resume", "m").stdout.startswith("nothing new to learn")


def test_what_the_model_was_built_by_may_be_said_again_and_not_otherwise(lopsided, refused, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b,c,when,y\n" + csv_text(300))
    call = ("learn", path, *TABLE, "--learner", "koil", "--set", "gamma=0.5", "-o", "m")
    assert lopsided(*call).returncode == 0
    assert lopsided(*call, "--resume", "m").returncode == 0
    sentence = refused(*call[:-4], "--set", "gamma=2", "-o", "m", "--resume", "m")
    assert sentence.startswith("The option --set must not be changed with --resume, whose model has it, which was [")


def test_waiting_rows_are_learned_at_the_natural_end_only(lopsided, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b,c,when,y\n" + csv_text(300))
    done = lopsided("learn", path, *TABLE, "--delay", 100, "-o", "m", "--json")
    said = json.loads(done.stdout)
    assert (said["rows_in_all"], said["waiting"]) == (300, 0)


def test_a_model_that_does_not_say_what_it_has_learned(lopsided, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b,c,when,y\n" + csv_text(300))
    assert lopsided("learn", path, *TABLE, "-o", "m").returncode == 0
    lp.load(tmp_path / "m").save(tmp_path / "bare")
    done = lopsided("learn", path, "--resume", "bare", "--json")
    assert "bare does not say which rows it has learned" in done.stderr
    assert json.loads(done.stdout)["rows_in_all"] == 600


def test_checkpoints_by_time(lopsided, tmp_path, monkeypatch):
    from lopsided.cli import training

    saved = []
    save_model = training.save_model
    monkeypatch.setattr(training, "save_model", lambda *arguments: saved.append(1) or save_model(*arguments))
    path = tmp_path / "data.csv"
    path.write_text("a,b,c,when,y\n" + csv_text(5000))
    assert lopsided("learn", path, *TABLE, "-o", "m", "--checkpoint-seconds", 0).returncode == 0
    assert len(saved) == 5 + 1  # after every slice, and at the end
    assert os.path.getsize(tmp_path / "m") < len(bits(tmp_path / "m")) + 30_000  # what is attached is small
