"""Options from lopsided.toml, or another file of --config."""

import json

import pytest


def said(lopsided, *arguments):
    done = lopsided(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_options_come_from_a_file(lopsided, refused, payments, tmp_path):
    (tmp_path / "lopsided.toml").write_text(
        'label = "kind"\nid = "id"\nlearner = "koil"\nset = {gamma = 0.3}\n'
        '[learn]\noutput = "m"\nseed = 4\nignore = ["when"]\n'
    )
    facts = said(lopsided, "learn", "payments.csv")
    assert facts["parameters"]["gamma"] == 0.3 and facts["parameters"]["random_state"] == 4
    assert facts["columns"]["ignored"] == {"id": "the identifier", "when": "as asked"}
    assert said(lopsided, "learn", "payments.csv", "--seed", 5, "--force")["parameters"]["random_state"] == 5
    assert said(lopsided, "learn", "payments.csv", "--resume", "m")["parameters"]["random_state"] == 5
    assert said(lopsided, "evaluate", "payments.csv")["label_column"] == "kind"
    (tmp_path / "other.toml").write_text("[evaluate]\nsede = 4\n")
    assert "must hold alerts, blank, corrections, delay, " in refused(
        "evaluate", "payments.csv", "--config", "other.toml"
    )
    (tmp_path / "other.toml").write_text("[evaluate\n")
    assert "other.toml of --config must be TOML" in refused("evaluate", "payments.csv", "--config", "other.toml")
    assert "must be readable" in refused("evaluate", "payments.csv", "--config", "no.toml")


def test_one_value_for_what_may_be_repeated_and_tables_of_names(lopsided, payments, tmp_path):
    (tmp_path / "lopsided.toml").write_text(
        'label = "kind"\nignore = "id"\nlearner = "koil"\nset = "C=7"\nkind = {when = "ignore", amount = "category"}\n'
        '[learn]\noutput = "m"\n[tune]\nlearner = "ocs"\ncandidates = 2\nset = {}\n'
    )
    facts = said(lopsided, "learn", payments)
    assert facts["parameters"]["C"] == 7
    assert facts["columns"]["ignored"] == {"id": "as asked", "when": "as asked"}
    assert [column["kind"] for column in facts["columns"]["columns"]] == ["category", "category"]
    assert {entry["learner"] for entry in said(lopsided, "tune", payments)["candidates"]} == {"ocs"}


def test_the_id_of_a_file_is_a_column_to_explain_too(lopsided, payments, tmp_path):
    (tmp_path / "lopsided.toml").write_text('id = "id"\nlabel = "kind"\n')
    assert lopsided("learn", payments, "--learner", "ocs", "-o", "m").returncode == 0
    by_row = lopsided("explain", "m", payments, "--row", 5)
    assert by_row.returncode == 0, by_row.stderr
    assert lopsided("explain", "m", payments, "--id", "t4").stdout == by_row.stdout


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            'lable = "kind"',
            "The entry lable of lopsided.toml must be a long option of a command, got none such (near: l",
        ),
        ("[lern]", "The table lern of lopsided.toml must be named after one of the commands evaluate, explain, "),
        ("[lern]", "got none such (near: learn"),
        ("[compare]", "The table compare of lopsided.toml must be named after one of the commands evaluate, explain, "),
        ("learn = 3", "The entry learn of lopsided.toml must be a table of options, got 3"),
        (
            'config = "other.toml"',
            "The entry config of lopsided.toml must be a long option of a command, got none such",
        ),
        ("[evaluate]\nsede = 4", "got sede (near: seed)"),
        ("seed = {a = 1}", "The entry seed of lopsided.toml must be a value, got a table"),
        ('label = ["a", "b"]', "The entry label of lopsided.toml must be one value, got ['a', 'b']"),
    ],
)
def test_names_that_nothing_has_are_refused(refused, payments, tmp_path, text, sentence):
    (tmp_path / "lopsided.toml").write_text(text + "\n")
    assert sentence in refused("evaluate", payments)
