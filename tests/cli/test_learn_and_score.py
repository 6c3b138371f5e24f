"""`lopsided learn` and `lopsided score` on real files."""

import csv
import io
import json
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from sklearn.metrics import roc_auc_score

import lopsided as lp
from cli.payments import csv_text, payment_rows
from lopsided.cli import training
from lopsided.cli.feed import Feed
from lopsided.encoding import infer_schema


def learned(lopsided, *arguments):
    done = lopsided("learn", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def scored(lopsided, *arguments):
    done = lopsided("score", *arguments)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


KOIL = ("--learner", "koil", "--threshold", "zero")
OPTIONS = ("--label", "kind", "--id", "id", "--time", "when", "--set", "gamma=0.3", *KOIL)


def test_from_a_file_to_scores(installed, lopsided, payments, tmp_path):
    done = installed("learn", payments, *OPTIONS, "--output", "m.lopsided")
    assert done.returncode == 0, done.stderr
    said = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert list(said) == ["rows", "AUROC", "AUPRC", "speed", "model"]
    assert said["rows"].startswith("400, ") and float(said["AUROC"].split()[0]) > 0.8
    assert "  country  category, hashed into 8 columns" in done.stderr.splitlines()
    assert "  id       ignored: the identifier" in done.stderr.splitlines()
    rows = payment_rows(100, seed=1)
    for row in rows:
        del row["kind"]
    (tmp_path / "new.csv").write_text(csv_text(rows))
    result = scored(lopsided, "m.lopsided", "new.csv")
    assert [list(row)[:4] for row in result] == [list(rows[0])] * 100
    assert [row["id"] for row in result] == [f"t{t}" for t in range(100)]
    truth = [row["kind"] == "bad" for row in payment_rows(100, seed=1)]
    assert roc_auc_score(truth, [float(row["score"]) for row in result]) > 0.85
    assert all((float(row["score"]) > 0) == (row["predicted"] == "bad") for row in result)
    assert all(0 < float(row["probability"]) < 1 for row in result)


def test_the_saved_model_is_that_of_python(lopsided, payments, tmp_path):
    said = learned(lopsided, payments, *OPTIONS, "-o", "m.lopsided", "--seed", 3)
    rows = payment_rows(400)
    model = lp.load(tmp_path / "m.lopsided")
    twin = lp.TablePipeline(model.schema, learner=lp.KOIL(gamma=0.3, random_state=3, pos_label="bad"))
    y = np.array([row["kind"] for row in rows])
    scores = twin.progressive_scores(rows, y)
    np.testing.assert_array_equal(model.decision_function(rows), twin.decision_function(rows))
    assert said["auroc"] == pytest.approx(roc_auc_score(y == "bad", scores), abs=1e-3)  # kept in 1,000 bins
    assert (said["rows"], said["positives"], said["positive"]) == (400, sum(y == "bad"), "bad")
    assert (said["learner"], said["parameters"]["gamma"], said["scale"]) == ("KOIL", 0.3, "standard")


def test_a_model_goes_on_as_if_never_stopped(lopsided, payments, tmp_path):
    lines = payments.read_text().splitlines(keepends=True)
    (tmp_path / "1.csv").write_text("".join(lines[:201]))
    (tmp_path / "2.csv").write_text("".join([lines[0], *lines[201:]]))
    learned(lopsided, payments, *OPTIONS, "-o", "whole")
    learned(lopsided, "1.csv", *OPTIONS, "-o", "parts")
    learned(lopsided, "2.csv", "--resume", "parts", "-o", "both")
    learned(lopsided, "2.csv", "--resume", "parts")
    whole, both, parts = (lp.load(tmp_path / name) for name in ("whole", "both", "parts"))
    rows = payment_rows(50, seed=2)
    if str(whole.schema) == str(both.schema):
        np.testing.assert_array_equal(whole.decision_function(rows), both.decision_function(rows))
    np.testing.assert_array_equal(parts.decision_function(rows), both.decision_function(rows))
    assert parts._memory.counts.sum() == 400


@pytest.mark.parametrize("form", ["csv", "ndjson", "parquet", "arrow"])
def test_every_format_in_and_out(lopsided, payments, tmp_path, form):
    learned(lopsided, payments, *OPTIONS, "-o", "m")
    rows = [row | {"amount": float(row["amount"]) if row["amount"] else None} for row in payment_rows(40, seed=1)]
    table = pa.Table.from_pylist(rows)
    source = tmp_path / f"in.{form}"
    if form == "csv":
        source.write_text(csv_text(rows))
    elif form == "ndjson":
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pa.parquet.write_table(table, source) if form == "parquet" else pa.feather.write_feather(table, source)
    expected = lp.load(tmp_path / "m").decision_function(rows)
    for out in ("csv", "ndjson", "parquet", "arrow"):
        done = lopsided("score", "m", source.name, "-o", f"out.{out}")
        assert done.returncode == 0, done.stderr
        result = tmp_path / f"out.{out}"
        if out == "csv":
            read = pd_rows = list(csv.DictReader(io.StringIO(result.read_text())))
        elif out == "ndjson":
            read = [json.loads(line) for line in result.read_text().splitlines()]
        else:
            read = (pa.parquet.read_table(result) if out == "parquet" else pa.feather.read_table(result)).to_pylist()
        assert [row["id"] for row in read] == [row["id"] for row in rows]
        np.testing.assert_allclose([float(row["score"]) for row in read], expected, atol=1e-12)
        if out == "parquet":
            assert [row["amount"] for row in read] == [row["amount"] for row in rows]
    assert pd_rows
    only_id = lopsided("score", "m", source.name, "--keep", "id", "--json")
    assert list(json.loads(only_id.stdout.splitlines()[0])) == ["id", "score", "probability", "predicted"]
    assert json.loads(only_id.stderr.splitlines()[-1])["rows"] == 40
    assert (
        lopsided("score", "m", source.name, "--keep", "none").stdout.splitlines()[0].replace('"', "")
        == "score,probability,predicted"
    )


def test_csv_rows_come_back_byte_for_byte(lopsided, tmp_path):
    body = '1,"a, b",0\r\n" 2","two\nlines",1\n\n+3,x,0\n4,y,1\n'
    (tmp_path / "odd.csv").write_bytes(b'\xef\xbb\xbfn,"w, ord",y\n' + body.encode())
    learned(lopsided, "odd.csv", "--label", "y", "-o", "m")
    done = lopsided("score", "m", "odd.csv")
    lines = done.stdout.split("\n")
    assert lines[0] == 'n,"w, ord",y,score,probability,predicted'
    assert lines[1].startswith('1,"a, b",0,') and lines[2] == '" 2","two' and lines[3].startswith('lines",1,')
    assert lines[4].startswith("+3,x,0,") and lines[5].startswith("4,y,1,") and lines[6:] == [""]


def test_rows_are_not_written_below_a_header_that_is_not_theirs(lopsided, refused, tmp_path):
    (tmp_path / "1.csv").write_text("a,b,y\n" + "".join(f"{n},{n},{n % 2}\n" for n in range(9)))
    (tmp_path / "2.csv").write_text("b,a,y\n1,2,0\n")
    (tmp_path / "3.ndjson").write_text('{"a": 1, "b": 2}\n')
    learned(lopsided, "1.csv", "2.csv", "--label", "y", "-o", "m")  # columns are found by their names
    for other, got in (("2.csv", "another"), ("3.ndjson", "none")):
        done = lopsided("score", "m", "1.csv", other, "-o", "out.csv")
        assert done.returncode == 2 and done.stderr.endswith(f"as they came, got {got}; see --keep.\n")
        assert lopsided("score", "m", "1.csv", other, "--keep", "none").returncode == 0
    assert "must be NDJSON" in refused("score", "m", "3.ndjson", "1.csv", "-o", "out.ndjson")
    assert not any(tmp_path.glob("out*"))


def test_decimals_and_flags(lopsided, tmp_path):
    prices = pa.array([f"{n}.50" for n in range(60)]).cast(pa.decimal128(8, 2))
    pa.parquet.write_table(pa.table({"price": prices, "y": [n % 3 == 0 for n in range(60)]}), tmp_path / "a.parquet")
    said = learned(lopsided, "a.parquet", "--label", "y", "-o", "m")
    assert [column["kind"] for column in said["columns"]["columns"]] == ["number"]
    (tmp_path / "b.csv").write_text("a,y\n" + "".join(f"{n % 2 == 0},{n % 3}\n".lower() for n in range(60)))
    said = learned(lopsided, "b.csv", "--label", "y", "--positive", "1", "--kind", "a=flag", "-o", "m", "--force")
    assert (said["rows"], said["columns"]["columns"][0]["kind"]) == (60, "flag")


def test_frames_as_pandas_writes_them(lopsided, csv_file, tmp_path):
    header, *rows = csv_file.read_text().splitlines()
    (tmp_path / "frame.csv").write_text("\n".join(["," + header, *(f"{n},{row}" for n, row in enumerate(rows))]) + "\n")
    plain, framed = (learned(lopsided, file, "-o", "m", "--force") for file in (csv_file, "frame.csv"))
    assert framed["columns"] == plain["columns"] and framed["auroc"] == plain["auroc"]
    assert lopsided("score", "m", "frame.csv").stdout.startswith(",x1,x2,kind,score,probability,predicted\n0,")
    assert lopsided("score", "m", "frame.csv", "-o", "out.parquet").returncode == 0
    assert pyarrow.parquet.read_schema(tmp_path / "out.parquet").names[:2] == ["index", "x1"]


def test_libsvm_files(lopsided, libsvm_file, stream, tmp_path):
    said = learned(lopsided, libsvm_file, "-o", "m", *KOIL, "--set", "gamma=20")
    assert said["columns"] is None and said["features"] == 2
    result = scored(lopsided, "m", libsvm_file)
    assert roc_auc_score(stream.y, [float(row["score"]) for row in result]) > 0.9
    (tmp_path / "wide.svm").write_text("+1 1:0.5 7:3\n")
    done = lopsided("score", "m", "wide.svm")
    assert "note: indices beyond 2" in done.stderr


def test_standard_input(lopsided, payments, monkeypatch):
    for arguments in (("learn", "-", *OPTIONS, "-o", "m"), ("score", "m", "-")):
        with open(payments) as file:
            monkeypatch.setattr(sys, "stdin", file)
            done = lopsided(*arguments)
        assert done.returncode == 0, done.stderr
    assert done.stdout == lopsided("score", "m", "payments.csv").stdout


BROKEN = "a,b,y\n" + "".join(f"{n},{n},{n % 2}\n" for n in range(20)) + "1,2\nx,1,0\n1,1,\n\xff,1,1\n" + "5,5,1\n"


@pytest.fixture
def broken(tmp_path):
    (tmp_path / "broken.csv").write_bytes(BROKEN.encode("latin-1"))
    return "broken.csv"


def test_bad_rows_stop_by_default_and_nothing_is_saved(refused, broken, tmp_path):
    assert refused("learn", broken, "-o", "m").startswith("The row in line 22 of broken.csv must have 3 cells")
    assert not (tmp_path / "m").exists()


def test_what_was_learned_before_a_bad_row_is_saved_and_said(lopsided, payments, tmp_path):
    (tmp_path / "odd.csv").write_text(payments.read_text() + "x,y\n")
    done = lopsided("learn", payments, "odd.csv", *OPTIONS, "-o", "m")
    assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith("error: The row in line 402 of odd.csv")
    assert "what was learned from the 400 rows before is in m" in done.stderr
    assert lp.load(tmp_path / "m")._memory.counts.sum() == 400


def test_bad_rows_can_be_left_out(lopsided, broken):
    said = learned(lopsided, broken, "-o", "m", "--on-error", "skip")
    assert (said["rows"], said["bad_rows"]) == (22, 3)
    done = lopsided("learn", broken, "-o", "m", "--on-error", "skip", "--force")
    assert "left out: Column 'a' in line 23 of broken.csv must be a finite number, got 'x'." in done.stderr
    assert done.stdout.splitlines()[0].endswith(", 3 bad rows left out, 1 without a label")


def test_bad_rows_can_be_kept_apart(lopsided, broken, tmp_path):
    said = learned(lopsided, broken, "-o", "m", "--on-error", "quarantine", "--quarantine", "odd.ndjson")
    assert (said["bad_rows"], said["quarantine"]) == (3, "odd.ndjson")
    rows = [json.loads(line) for line in (tmp_path / "odd.ndjson").read_text().splitlines()]
    assert rows[1] == {
        "source": "broken.csv", "line": 23, "field": "column 'a'", "expected": "must be a finite number", "got": "'x'",
        "raw": "x,1,0",
    }  # fmt: skip
    assert [row["line"] for row in rows] == [22, 23, 25]
    assert lopsided("score", "m", broken, "--quarantine", "odd.ndjson", "-o", "s.csv").returncode == 0
    assert len((tmp_path / "odd.ndjson").read_text().splitlines()) == 3 + 3
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 23


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--label", "no"], "The label column of broken.csv must be one of the columns a, b, y, got 'no'."),
        (["--time", "no"], "The columns must be among a, b, y, got 'no'; see --time."),
        (["--kind", "a=colour"], "The kind of column 'a' must be one of"),
    ],
)
@pytest.mark.usefixtures("broken")
def test_what_is_asked_for_in_vain_is_said_before_a_broken_row(refused, options, sentence):
    assert refused("learn", "broken.csv", "-o", "m", *options).startswith(sentence)


def test_labels_that_come_later(lopsided, payments):
    at_once, rows_later, days_later = (
        learned(lopsided, payments, *OPTIONS, "-o", "m", "--force", *more)
        for more in ((), ("--delay", 150), ("--delay", "7d"))
    )
    # The same rows are learned in the end, but judged by models that know less.
    assert at_once["auroc"] > rows_later["auroc"] and at_once["auroc"] > days_later["auroc"]
    assert at_once["n_support"] == rows_later["n_support"] == days_later["n_support"]


def test_checkpoints_and_ctrl_c(lopsided, payments, tmp_path, monkeypatch):
    saved = []
    save_model = training.save_model
    monkeypatch.setattr(training, "save_model", lambda *arguments: saved.append(1) or save_model(*arguments))
    (tmp_path / "again.csv").write_text(payments.read_text())
    learned(lopsided, payments, "again.csv", "payments.csv", *OPTIONS, "-o", "m", "--checkpoint", 500)
    assert len(saved) == 2  # after 800 rows, and at the end
    saved.clear()
    learned(lopsided, payments, *OPTIONS, "-o", "m", "--checkpoint", 100, "--force")
    assert len(saved) == 5  # within one block of a file too
    uninterrupted = Feed.ahead  # not the loop that another thread reads ahead by

    def interrupted(self):
        for position, portion in enumerate(uninterrupted(self)):
            if position == 1:
                signal.raise_signal(signal.SIGINT)
            yield portion

    monkeypatch.setattr(Feed, "ahead", interrupted)
    done = lopsided("learn", payments, "again.csv", *OPTIONS, "-o", "m", "--force")
    assert done.returncode == 130
    assert done.stderr.splitlines()[-1] == "interrupted after 400 rows; what was learned is in m"
    assert lp.load(tmp_path / "m")._memory.counts.sum() == 400


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["learn", "payments.csv"], "Missing option '--output'"),
        (["learn", "payments.csv", "-o", "no/where"], "must be a file in a directory that can be written to"),
        (
            ["learn", "payments.csv", "-o", "m", "--delay", "soon"],
            "must be a number of rows, or a duration such as 90s",
        ),
        (["learn", "payments.csv", "-o", "m", "--delay", "1d"], "unless --time names a column, got a duration"),
        (["learn", "payments.csv", "-o", "m", "--kind", "amount"], "must be written COL=KIND"),
        (
            ["learn", "payments.csv", "-o", "m", "--ignore", "colour"],
            "must be among id, amount, country, when, kind, got",
        ),
        (
            ["learn", "payments.csv", "-o", "m", "--delimiter", "ab"],
            "a line end, got 'ab'; see --delimiter.",
        ),
        (["learn", "payments.csv", "--resume", "people.csv"], "must be a model written by lopsided's save"),
        (["learn", "payments.csv", "--resume", "payments.csv"], "--resume must not be one of the files"),
        (["score", "python", "payments.csv"], "must be a finite number and must not be missing, got nothing"),
        (["score", "sparse", "payments.csv"], "must be LIBSVM as the model has learned from, got a table"),
        (["score", "saved", "people.csv"], "must hold the column 'amount', got only x1, x2, kind"),
        (["score", "saved", "payments.csv", "-o", "payments.csv"], "must not be one of the files that are read"),
        (
            ["score", "saved", "payments.csv", "--keep", "id"],
            "must know which column is the identifier",
        ),
        (
            ["score", "saved", "payments.csv", "--format", "parquet"],
            "for the format parquet, got standard output",
        ),
        (["learn", "payments.csv", "--resume", "saved", "--set", "C=1"], "--set must not be changed with --resume"),
    ],
)
@pytest.mark.usefixtures("payments", "csv_file")
def test_what_cannot_be_done_is_said(refused, tmp_path, arguments, sentence):
    rows = [{name: row[name] for name in ("amount", "country", "kind")} for row in payment_rows(20)]
    schema = infer_schema({name: [row[name] for row in rows] for name in rows[0]}, label="kind")
    models = {
        "python": lp.KOIL().partial_fit([[0.0], [1.0]], [0, 1]),
        "saved": lp.TablePipeline(schema).partial_fit(rows, [row["kind"] for row in rows]),
        "sparse": lp.SparsePipeline().partial_fit([[0.0], [1.0]], [0, 1]),
    }
    for name in set(models) & set(arguments):
        models[name].save(tmp_path / name)
    assert sentence in refused(*arguments)


def test_pipes_with_names_and_readers_who_leave(tmp_path, payments):
    """Process substitution hands over a pipe with a name; `head` closes its end early."""
    rows = [{"amount": row["amount"], "kind": row["kind"]} for row in payment_rows(20)]
    schema = infer_schema({"amount": [row["amount"] for row in rows]})
    lp.TablePipeline(schema).partial_fit(rows, [row["kind"] for row in rows]).save(tmp_path / "m")
    script = (
        f"{sys.executable} -m lopsided score m <(cat payments.csv) payments.csv 2> err | head -2 > out; "
        "echo ${PIPESTATUS[0]}"
    )
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, (tmp_path / "err").read_text()) == ("0\n", "RareEventClassifier from m, threshold f1\n")
    assert len((tmp_path / "out").read_text().splitlines()) == 2
