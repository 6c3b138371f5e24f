"""`lopsided warm-up`."""

import json

from lopsided.cli.compiling import counted_compilations


def test_what_was_compiled_is_not_compiled_again(lopsided, tmp_path):
    first = json.loads(lopsided("warm-up", "koil", "opauc", "--json").stdout)
    assert [step["what"] for step in first["steps"]] == ["reading and measuring", "KOIL", "OPAUC"]
    done = lopsided("warm-up", "koil", "opauc")
    assert done.returncode == 0, done.stderr
    assert [line.split()[-6:-2] for line in done.stdout.splitlines()[:3]] == [["nothing", "left", "to", "compile,"]] * 3
    assert done.stdout.splitlines()[3].startswith("machine code is kept in ")


def test_afterwards_learning_and_scoring_compile_nothing(lopsided, payments):
    assert lopsided("warm-up", "koil").returncode == 0
    with counted_compilations() as compilations:
        options = ("--label", "kind", "--id", "id", "--learner", "koil")
        assert lopsided("learn", payments, *options, "-o", "m").returncode == 0
        assert lopsided("score", "m", payments).returncode == 0
    assert compilations.count == 0


def test_names_are_checked(refused):
    assert "--learner must be one of" in refused("warm-up", "knn")
    assert "must be given without names of learners, got koil too" in refused("warm-up", "koil", "--all")
