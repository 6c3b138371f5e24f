"""No command replaces a model, or a file that is not its own kind of output, unless it is forced to."""

import json

import pytest

import lopsided as lp
from cli.payments import csv_text, payment_rows
from lopsided.cli.main import COMMANDS
from lopsided.encoding import infer_schema

COLUMNS = ("amount", "country", "kind")
LEARN = ("--label", "kind", "--ignore", "id", "--ignore", "when", "--learner", "opauc")


@pytest.fixture
def place(tmp_path):
    """Rows, a model of them, the same model under many names, and a file of somebody else's."""
    rows = [{name: row[name] for name in COLUMNS} for row in payment_rows(60)]
    schema = infer_schema({name: [row[name] for row in rows] for name in COLUMNS}, label="kind")
    model = lp.TablePipeline(schema, learner=lp.OPAUC(pos_label="bad")).partial_fit(rows, [row["kind"] for row in rows])
    for name in ("m", "other", "m.csv", "m.html", "m.onnx", "m.ndjson"):
        model.save(tmp_path / name)
    (tmp_path / "payments.csv").write_text(csv_text(payment_rows(60)))
    for name in ("thesis.txt", "thesis.html", "thesis.csv", "thesis.onnx", "thesis.ndjson"):
        (tmp_path / name).write_text("<!DOCTYPE html>\n<p>years of work</p>\n")
    return tmp_path


CALLS = {
    "learn": (["learn", "payments.csv", *LEARN, "-o"], "m", "thesis.txt"),
    "learn on": (["learn", "payments.csv", "--resume", "other", "-o"], "m", "thesis.txt"),
    "learn --quarantine": (["learn", "payments.csv", *LEARN, "-o", "new", "--quarantine"], "m", "thesis.ndjson"),
    "tune": (["tune", "payments.csv", *LEARN[:-2], "--candidates", 2, "-o"], "m", "thesis.txt"),
    "evaluate --report": (["evaluate", "payments.csv", *LEARN, "--report"], "m.html", "thesis.html"),
    "evaluate --quarantine": (["evaluate", "payments.csv", *LEARN, "--quarantine"], "m", "thesis.txt"),
    "score": (["score", "m", "payments.csv", "-o"], "m.csv", "thesis.csv"),
    "score --quarantine": (["score", "m", "payments.csv", "-o", "s.csv", "--quarantine"], "other", "thesis.txt"),
    "explain": (["explain", "m", "payments.csv", "--row", 1, "--quarantine"], "other", "thesis.txt"),
    "export": (["export", "m", "-o"], "m.onnx", "thesis.onnx"),
    "demo": (["demo", "--report"], "m.html", "thesis.html"),
}


@pytest.mark.parametrize("name", CALLS)
def test_neither_a_model_nor_a_foreign_file_is_replaced(refused, place, name):
    call, model, foreign = CALLS[name]
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    option = call[-1].replace("-o", "--output")
    option = option if option.startswith("--o") else f"--{call[-1].lstrip('-')}"
    sentence = refused(*call, model)
    assert sentence.startswith(f"The option {option} must not be a model that exists, unless --force")
    assert ("--resume" in sentence) == (call[0] in ("learn", "tune") and option == "--output")
    sentence = refused(*call, foreign)
    assert sentence.startswith(f"The option {option} must not be an existing file other than ")
    assert sentence.endswith(f"unless --force replaces it, got '{foreign}'.")
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


@pytest.mark.parametrize("name", [name for name in CALLS if name != "demo"])
def test_its_own_kind_is_replaced_and_force_replaces_all(lopsided, place, name):
    call, model, foreign = CALLS[name]
    new = {"evaluate --report": "r.html", "score": "s.csv", "export": "n.onnx"}.get(name)
    for target in [new, new] if new else []:
        done = lopsided(*call, target)
        assert done.returncode == 0, done.stderr
    if "quarantine" in name or name == "explain":
        (place / "q").write_text('{"source": "a.csv", "line": 3, "field": null, "expected": "x", "got": "y"}\n')
        assert lopsided(*call, "q").returncode == 0
    options = ["--force"]
    assert lopsided(*call, foreign, *options).returncode == 0
    assert lopsided(*call, model, *options).returncode == 0


@pytest.mark.parametrize("out", ["s.csv", "s.tsv", "s.ndjson", "s.parquet", "s.arrow"])
def test_former_scores_are_known_in_every_format(lopsided, place, out):
    for keep in ("all", "none", "all"):
        done = lopsided("score", "m", "payments.csv", "-o", out, "--keep", keep)
        assert done.returncode == 0, done.stderr


def test_a_table_is_not_taken_for_scores(refused, lopsided, place):
    (place / "sales.csv").write_text("day,score\n1,2\n")
    assert "other than scored rows" in refused("score", "m", "payments.csv", "-o", "sales.csv")
    (place / "empty.csv").touch()
    assert lopsided("score", "m", "payments.csv", "-o", "empty.csv").returncode == 0


@pytest.mark.parametrize(
    ("call", "one", "other"),
    [
        (["learn", "payments.csv", *LEARN, "-o", "new", "--quarantine", "./new"], "--output", "--quarantine"),
        (["tune", "payments.csv", "-o", "new", "--quarantine", "new"], "--output", "--quarantine"),
        (["evaluate", "payments.csv", *LEARN, "--report", "a.html", "--quarantine", "a.html"], "--report", "--quar"),
        (["score", "m", "payments.csv", "-o", "new.csv", "--quarantine", "new.csv"], "--output", "--quarantine"),
    ],
)
@pytest.mark.usefixtures("place")
def test_two_outputs_are_two_files(refused, call, one, other):
    sentence = refused(*call, "--force")
    assert sentence.startswith(f"The options {one} and {other}") and "must name different files" in sentence


@pytest.mark.parametrize(
    "call",
    [
        ["learn", "payments.csv", *LEARN, "-o", "payments.csv"],
        ["score", "m", "payments.csv", "-o", "payments.csv"],
        ["score", "m", "payments.csv", "-o", "m"],
        ["export", "m", "-o", "m"],
    ],
)
@pytest.mark.usefixtures("place")
def test_force_does_not_reach_what_is_read(refused, call):
    assert "must not be one of the files that are read" in refused(*call, "--force")


def test_pages_are_replaced_in_the_folder_of_a_former_run_only(refused, tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "compare.md").write_text("my own comparison")
    (folder / "koil-3.2.md").write_text("my own table")
    sentence = refused("compare", "opauc", "--on", "yeast4", "--rows", 50, "--output", folder)
    assert "must name a folder without a file compare.md" in sentence and "--force" in sentence
    assert "without a file koil-3.2.md" in refused("reproduce", "koil-3.2", "--output", folder)


def test_a_comparison_goes_on_in_its_folder(lopsided, tmp_path):
    call = ("compare", "opauc", "--on", "breast_cancer", "--rows", 80, "--runs", 1, "--output", tmp_path / "pages")
    for _ in range(2):
        done = lopsided(*call)
        assert done.returncode == 0, done.stderr
    (tmp_path / "pages" / "compare.jsonl").unlink()
    assert lopsided(*call).returncode == 2
    assert lopsided(*call, "--force").returncode == 0


def test_every_command_that_writes_can_be_forced():
    import importlib

    for entry in COMMANDS.values():
        options = {p.name for p in getattr(importlib.import_module(entry.module), entry.function).params}
        assert ("force" in options) == bool(options & {"output", "report", "quarantine"}), entry


def test_pipes_and_devices_are_written_into(lopsided, place):
    assert lopsided("score", "m", "payments.csv", "-o", "/dev/null").returncode == 0
    done = lopsided("evaluate", "payments.csv", *LEARN, "--json")
    assert json.loads(done.stdout)["rows"] == 60
