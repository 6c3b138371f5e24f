"""`lopsided evaluate` on real files: the numbers, the refusals, the ends."""

import json
import re
import signal
import sys

import numpy as np
import pytest
from numba import njit
from scipy.sparse import csr_array
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from cli.payments import payment_rows
from lopsided import KOIL, OILK, OnlineScaler, StreamPipeline
from lopsided.cli.compiling import compile_ahead
from lopsided.cli.feed import Feed
from lopsided.version import __version__

BY_KOIL = ("--learner", "koil")
BAD_CELL = "x,class\n" + "".join(f"{n},{n % 2}\n" for n in range(11)) + "old,1\n"


def evaluated(lopsided, *arguments):
    learner = () if "--learner" in arguments else ("--learner", "koil")
    done = lopsided("evaluate", *arguments, *learner, "--threshold", "zero", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assert_record_is(record, y, scores):
    """What the command said, against scikit-learn on the same progressive scores."""
    assert record["n"] == len(y)
    assert record["positives"] == np.sum(y)
    assert record["auroc"] == pytest.approx(roc_auc_score(y, scores), abs=1e-12)
    assert record["average_precision"] == pytest.approx(average_precision_score(y, scores), abs=1e-12)
    assert record["f1"] == pytest.approx(f1_score(y, scores > 0), abs=1e-12)
    assert record["examples_per_second"] == pytest.approx(record["n"] / record["seconds"])


def test_libsvm_gives_the_numbers_of_python(lopsided, libsvm_file, stream):
    said = evaluated(lopsided, libsvm_file, "--set", "gamma=20", "--set", "C=4", "--seed", 7)
    learner = KOIL(gamma=20, C=4, random_state=7)
    assert_record_is(said["record"], stream.y, learner.progressive_scores(csr_array(stream.X), 2 * stream.y - 1))
    assert said["record"]["n_support"] == learner.n_support_
    assert said["version"] == __version__
    assert (said["learner"], said["scale"], said["positive"]) == ("KOIL", "none", 1)
    assert said["labels"] == {"1": 60, "-1": 240}
    assert (said["parameters"]["C"], said["parameters"]["gamma"], said["parameters"]["random_state"]) == (4, 20, 7)
    assert said["interrupted"] is False


def test_a_table_is_scaled_and_its_rarer_label_looked_for(lopsided, csv_file, stream):
    said = evaluated(lopsided, csv_file, "--label", "kind")
    learner = StreamPipeline(OnlineScaler("standard"), KOIL(random_state=0))
    assert_record_is(said["record"], stream.y, learner.progressive_scores(stream.X, stream.y))
    assert (said["positive"], said["scale"], said["label_column"]) == ("fraud", "standard", "kind")


def test_the_other_label_can_be_looked_for(lopsided, csv_file, stream):
    said = evaluated(lopsided, csv_file, "--positive", "ok", "--scale", "none", "--learner", "oilk")
    learner = OILK(pos_label=1, random_state=0)  # the common one, on purpose
    assert_record_is(said["record"], 1 - stream.y, learner.progressive_scores(stream.X, 1 - stream.y))


@pytest.mark.parametrize("scale", ["minmax", "none"])
def test_scales_can_be_chosen(lopsided, csv_file, stream, scale):
    said = evaluated(lopsided, csv_file, "--scale", scale)
    learner = KOIL(random_state=0)
    if scale != "none":
        learner = StreamPipeline(OnlineScaler(scale), learner)
    assert_record_is(said["record"], stream.y, learner.progressive_scores(stream.X, stream.y))


def test_sparse_files_are_scaled_without_moving_their_zeros(lopsided, libsvm_file, stream):
    said = evaluated(lopsided, libsvm_file, "--scale", "standard")
    learner = StreamPipeline(OnlineScaler("standard", center=False), KOIL(random_state=0))
    assert_record_is(said["record"], stream.y, learner.progressive_scores(csr_array(stream.X), stream.y))


def test_two_files_are_one_stream(lopsided, csv_file, stream, tmp_path):
    lines = csv_file.read_text().splitlines()
    (tmp_path / "first.csv").write_text("\n".join(lines[:101]) + "\n")
    (tmp_path / "second.csv").write_text("\n".join([lines[0], *lines[101:]]) + "\n")
    whole = evaluated(lopsided, csv_file)["record"]
    parts = evaluated(lopsided, "first.csv", "second.csv")["record"]
    for name in ("n", "positives", "auroc", "average_precision", "f1", "n_support"):
        assert parts[name] == whole[name]


def test_a_pipe_gets_plain_lines(lopsided, csv_file):
    done = lopsided("evaluate", csv_file, "--label", "kind", "--learner", "koil")
    assert done.returncode == 0
    headings, numbers = (line.split() for line in done.stdout.splitlines())
    said = dict(zip(headings, numbers, strict=True))
    assert list(said) == ["learner", "examples", "positives", "AUROC", "AUPRC", "F1", "examples/s", "support"]
    assert (said["learner"], said["examples"], said["positives"]) == ("KOIL", "300", "60")
    assert "\x1b" not in done.stdout + done.stderr
    assert (
        done.stderr.splitlines()[0] == "KOIL on people.csv: 2 features, positive label fraud (against ok), threshold f1"
    )


class CompilesSomething:
    """A learner that needs two machine programs, which no cache holds."""

    double = staticmethod(njit(lambda number: 2 * number))

    def compile_ahead(self, n_features, *, sparse, classes):
        self.double(1)
        self.double(1.0)


def test_compilation_is_announced_once_and_only_if_there_is_any():
    announced = []
    for _ in range(2):
        compile_ahead(CompilesSomething(), np.array([0, 1]), n_features=1, announce=announced.append)
    assert announced == ["compiling for this machine, once ..."]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("bad.csv", BAD_CELL, "Column 'x' in line 13 of bad.csv must be a finite number, got 'old'."),
        ("bad.csv", "x,class\n1,0\n2\n", "The row in line 3 of bad.csv must have 2 cells as the header has, got 1."),
        ("bad.csv", "x,class\n1,0\n2,0\n", "must hold two different labels, got one label: 0 in 2 rows."),
        (
            "bad.csv",
            "x,class\n1,0\n2,1\n3,2\n",
            "must hold two different labels (or the positive label must be named), got 3 labels:",
        ),
        ("bad.csv", "x,class\n", "The file bad.csv must have at least one row of data, got none."),
        ("bad.csv", "", "The file bad.csv must have a header and rows of data, got nothing."),
        ("bad.svm", "+1 1:2\n-1 2:x\n", "line 2 of bad.svm"),
        ("bad.svm", "+1 1:2\n+1 2:3\n", "The label of bad.svm must hold two different labels, got one label: 1"),
        ("bad.csv.gz", "\x1f\x8bnot gzip", "bad.csv.gz"),
    ],
)
def test_broken_files_are_refused_in_a_sentence(refused, tmp_path, name, text, sentence):
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    assert sentence in refused("evaluate", name)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["no.csv"], "The file no.csv must be an existing, readable file"),
        (["."], "must be of the same format as"),
        ([], "Missing argument 'FILE...'"),
        (["people.csv", "--label", "sort"], "must be one of the columns x1, x2, kind, got 'sort'."),
        (["people.svm", "--label", "kind"], "must not be named"),
        (["people.csv", "--learner", "koll"], "The option --learner must be one of "),
        (
            ["people.csv", *BY_KOIL, "--set", "C=-1"],
            "The 'C' parameter of KOIL must be a finite number > 0. Got -1 instead.",
        ),
        (["people.csv", *BY_KOIL, "--set", "D=1"], "--set must name a parameter of KOIL (C, "),
        (["people.csv", *BY_KOIL, "--set", "C"], "must be written NAME=VALUE"),
        (["people.csv", "--positive", "no"], "must be fraud or ok, got 'no'."),
        (["people.csv", "--scale", "log"], "'log' is not one of 'standard', 'minmax', 'none'"),
        (["people.svm", "--scale", "minmax"], "must be standard or none"),
        (["people.csv", "--seed", "-1"], "--seed"),
        (["people.csv", "--report", "no/where.html"], "--report must be a file in a directory that can be written to"),
        (["people.csv", "people.svm"], "must be of the same format as people.csv (table), got a LIBSVM file."),
    ],
)
@pytest.mark.usefixtures("csv_file", "libsvm_file")
def test_wrong_arguments_are_refused_in_a_sentence(refused, arguments, sentence):
    assert sentence in refused("evaluate", *arguments)


def test_a_report_is_written(lopsided, csv_file, tmp_path):
    done = lopsided("evaluate", csv_file, *BY_KOIL, "--report", "out.html")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "report: out.html"
    page = (tmp_path / "out.html").read_text()
    assert page.count("<svg") == 13
    assert "<h1>KOIL on people.csv</h1>" in page
    assert "alerts per 1,000 rows" in page
    assert "learning_rate=0.01" in page
    assert "fraud (60 rows), ok (240 rows); positive: fraud" in page


def test_a_report_knows_dates_names_and_cells(lopsided, payments, tmp_path):
    done = lopsided("evaluate", payments, "--label", "kind", "--id", "id", "--time", "when", "--report", "out.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out.html").read_text()
    assert ">2024-Jan</text>" in page and ">rows</text>" not in page
    assert "alerts per day" in page and "of each day would have caught" in page
    rows = re.findall(r'<td class="number">([\d,]+)</td><td class="number">(2024-[^<]*)</td>(.*?)</tr>', page)
    assert len(rows) == 30  # misses, catches, false alarms
    for number, time, rest in rows:
        place = int(number.replace(",", "")) - 1
        assert f'<td class="number">t{place}</td>' in rest
        assert time == str(np.datetime64("2024-01-01T00:00") + np.timedelta64(37 * place, "m")).replace("T", " ")
        original = payment_rows(400)[place]
        assert f"country={original['country']}" in rest
        amount = f"{float(original['amount']):.6g}" if original["amount"] else "missing"
        assert f"amount={amount}" in rest
        assert "kind=" not in rest and "id=" not in rest
    columns = page[page.index("<h3>Columns that matter") : page.index("<h3>Rows to look at")]
    assert set(re.findall(r">(amount|country|when)</text>", columns)) == {"amount", "country", "when"}


def test_a_report_of_sparse_rows_numbers_them(lopsided, libsvm_file, tmp_path):
    assert lopsided("evaluate", libsvm_file, "--report", "out.html").returncode == 0
    page = (tmp_path / "out.html").read_text()
    assert "alerts per 1,000 rows" in page and ">rows</text>" in page
    assert re.search(r'<td class="long">x\d=', page)


def test_a_report_without_matplotlib_is_refused_before_learning(refused, csv_file, tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "lopsided.report.figures", raising=False)
    monkeypatch.delattr("lopsided.report.figures", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(Feed, "__iter__", lambda _: pytest.fail("it has begun to learn"))
    sentence = refused("evaluate", csv_file, "--report", "out.html")
    assert 'pip install "lopsided[report]"' in sentence
    assert not (tmp_path / "out.html").exists()


def test_broken_files_are_refused_by_the_installed_command_too(refused_when_installed, tmp_path):
    (tmp_path / "bad.csv").write_text(BAD_CELL)
    assert refused_when_installed("evaluate", "bad.csv").startswith("Column 'x' in line 13 of bad.csv must be")


@pytest.fixture
def ctrl_c_after_a_file(monkeypatch):
    """The user presses Ctrl-C when the first of two files has been learned."""
    uninterrupted = Feed.ahead  # not the loop that another thread reads ahead by

    def interrupted(self):
        for position, batch in enumerate(uninterrupted(self)):
            if position == 1:
                signal.raise_signal(signal.SIGINT)
            yield batch

    monkeypatch.setattr(Feed, "ahead", interrupted)


@pytest.mark.usefixtures("ctrl_c_after_a_file")
def test_interrupted_it_shows_what_it_has(lopsided, csv_file, stream):
    done = lopsided("evaluate", csv_file, csv_file, *BY_KOIL, "--threshold", "zero", "--scale", "none", "--json")
    assert done.returncode == 130
    assert done.stderr.splitlines()[-1] == "interrupted after 300 rows"
    said = json.loads(done.stdout)
    assert said["interrupted"] is True
    assert_record_is(said["record"], stream.y, KOIL(random_state=0).progressive_scores(stream.X, stream.y))

    done = lopsided("evaluate", csv_file, csv_file, *BY_KOIL, "--report", "so-far.html")
    assert done.returncode == 130
    assert done.stdout.splitlines()[1].split()[:3] == ["KOIL", "300", "60"]


def test_interrupted_before_the_first_row_it_has_nothing_to_show(lopsided, csv_file, monkeypatch):
    monkeypatch.setattr(Feed, "__iter__", lambda _: signal.raise_signal(signal.SIGINT))
    done = lopsided("evaluate", csv_file)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.splitlines()[-1] == "interrupted"
