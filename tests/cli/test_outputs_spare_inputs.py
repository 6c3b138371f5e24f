"""Nothing that is read is written over, and nothing that was written down is lost."""

import json
import os

import pytest

import lopsided as lp
from cli.payments import csv_text, payment_rows
from lopsided.encoding import infer_schema

COLUMNS = ("amount", "country", "kind")
ONE_OF_THEM = "must not be one of the files that are read, got"


@pytest.fixture
def model(tmp_path):
    """A small model of the payments, under two names of which the second looks like an export."""
    rows = [{name: row[name] for name in COLUMNS} for row in payment_rows(40)]
    schema = infer_schema({name: [row[name] for row in rows] for name in COLUMNS}, label="kind")
    model = lp.TablePipeline(schema, learner=lp.OPAUC(pos_label="bad")).partial_fit(rows, [row["kind"] for row in rows])
    for name in ("m", "m.onnx"):
        model.save(tmp_path / name)
    return tmp_path / "m"


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["learn", "payments.csv", "-o", "payments.csv"], "--output"),
        (["learn", "payments.csv", "-o", "same.csv"], "--output"),
        (["learn", "payments.csv", "-o", "new", "--quarantine", "payments.csv"], "--quarantine"),
        (["learn", "payments.csv", "--resume", "m", "--quarantine", "m"], "--quarantine"),
        (["learn", "bad-rows.ndjson", "-o", "new", "--on-error", "quarantine"], "--quarantine"),
        (["tune", "payments.csv", "-o", "payments.csv"], "--output"),
        (["evaluate", "payments.csv", "--report", "./payments.csv"], "--report"),
        (["score", "m", "payments.csv", "--quarantine", "payments.csv"], "--quarantine"),
        (["score", "m", "payments.csv", "--quarantine", "m"], "--quarantine"),
        (["explain", "m", "payments.csv", "--row", 1, "--quarantine", "payments.csv"], "--quarantine"),
        (["export", "m", "-o", "m"], "--output"),
        (["export", "m.onnx"], "--output"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
@pytest.mark.usefixtures("payments", "model")
def test_an_output_is_none_of_the_inputs(refused, tmp_path, arguments, option):
    os.link(tmp_path / "payments.csv", tmp_path / "same.csv")
    (tmp_path / "bad-rows.ndjson").write_text('{"a": 1, "y": 0}\n{"a": 2, "y": 1}\n')
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert f"The option {option} {ONE_OF_THEM}" in refused(*arguments)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_directory_that_is_read_is_no_place_to_write(lopsided, refused, payments, tmp_path):
    (tmp_path / "inbox").mkdir()
    payments.rename(tmp_path / "inbox" / "1.csv")
    options = ("--label", "kind", "--learner", "opauc")
    for output in (("-o", "inbox/1.csv"), ("-o", "inbox/m"), ("-o", "m", "--quarantine", "inbox/bad.ndjson")):
        assert "must not lie in a directory that is read, got 'inbox/" in refused("learn", "inbox", *options, *output)
    assert lopsided("learn", "inbox", *options, "-o", "m").returncode == 0


def test_a_model_goes_on_in_its_own_file(lopsided, payments, model):
    assert lopsided("learn", payments, "--resume", "m", "-o", "m").returncode == 0
    assert lopsided("learn", payments, "--resume", "m", "--from-start").returncode == 0
    assert lp.load(model).n_seen_ == 840


@pytest.mark.usefixtures("model")
def test_a_quarantine_keeps_what_earlier_runs_wrote(lopsided, payments, tmp_path):
    (tmp_path / "broken.csv").write_text(csv_text(payment_rows(5)) + "x\n")
    quarantine = tmp_path / "bad.ndjson"
    arguments = ("--quarantine", quarantine, "-o", "scored.csv")
    assert lopsided("score", "m", payments, *arguments).returncode == 0
    assert not quarantine.exists()  # no bad row, no file
    for file in ("broken.csv", payments, "broken.csv"):
        assert lopsided("score", "m", file, *arguments).returncode == 0
    assert [json.loads(line)["line"] for line in quarantine.read_text().splitlines()] == [7, 7]


def test_where_no_quarantine_can_be_is_said_before_the_work(refused, payments, tmp_path):
    for place in ("no/bad.ndjson", tmp_path):
        sentence = refused("learn", payments, "-o", "m", "--quarantine", place)
        assert "--quarantine must be a file in a directory that can be written to" in sentence
