"""`learn --engine`: shards that are merged, stopped and resumed; with Ray the same is tested by `make ray`."""

import json
import signal

import pytest
from sklearn.base import clone

import lopsided as lp
from cli.conftest import refusal_of
from cli.test_resume import TABLE, bits, csv_text, interrupted, seen, write
from lopsided.distributed import ShardedLearner
from lopsided.estimators.state.files import load_attached

LEARNER = ("--learner", "koil", "--set", "gamma=0.5", "--set", "budget=20")
ENGINE = ("--engine", "local", "--shards", 3, "--merge-every", 2_000)
OPTIONS = (*TABLE, *LEARNER, *ENGINE, "--checkpoint", 1_000)
N_ROWS = 9_000


@pytest.mark.parametrize("kind", ["csv", "svm"])
def test_the_command_learns_as_the_class_does(lopsided, tmp_path, kind):
    path = write(tmp_path, kind, N_ROWS)
    options = OPTIONS[len(TABLE) * (kind == "svm") :]
    said = json.loads(lopsided("learn", path, *options, "-o", "m", "--json").stdout)
    lopsided("learn", path, *options[: -len(ENGINE) - 2], "-o", "one")
    assert (said["rows"], said["rows_in_all"], said["rows_measured"]) == (N_ROWS, N_ROWS, N_ROWS)
    one = lp.load(tmp_path / "one")
    # The same model, unfitted, and the same rows in other portions.
    with lp.open_feed(path, model=one) as feed, ShardedLearner(clone(one), shards=3, merge_every=2_000) as learner:
        for portion in feed:
            learner.learn(portion.X, portion.y)
        assert learner.merge().to_bytes() == bits(tmp_path / "m")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_signal_loses_nothing_and_repeats_nothing(lopsided, tmp_path, number):
    path = write(tmp_path, "csv", 20_000)
    options = (*OPTIONS, "--merge-every", 150)  # so that it takes long enough to be interrupted
    interrupted(tmp_path, number, "learn", path.name, *options, "-o", "m")
    assert 0 < seen(tmp_path / "m") < 20_000
    said = json.loads(lopsided("learn", path.name, *options, "--resume", "m", "--json").stdout)
    whole = json.loads(lopsided("learn", path.name, *options, "-o", "whole", "--json").stdout)
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    assert said["rows_in_all"] == said["rows_measured"] == 20_000
    assert said["auroc"] == whole["auroc"]
    again = lopsided("learn", path.name, *options, "--resume", "m")
    assert again.stdout == "nothing new to learn; m is as it was\n"


def test_a_file_that_has_grown_is_gone_on_with(lopsided, tmp_path):
    path = write(tmp_path, "csv", 5_500)
    assert lopsided("learn", path, *OPTIONS, "-o", "m").returncode == 0
    with path.open("a") as file:
        file.write(csv_text(N_ROWS - 5_500, first=5_500))
    assert lopsided("learn", path, *OPTIONS, "--resume", "m").returncode == 0
    assert lopsided("learn", path, *OPTIONS, "-o", "whole").returncode == 0
    assert bits(tmp_path / "m") == bits(tmp_path / "whole")


def test_without_an_engine_the_merged_model_goes_on_alone(lopsided, tmp_path):
    path = write(tmp_path, "csv", 3_000)
    lopsided("learn", path, *OPTIONS, "-o", "m")
    assert "shards" in load_attached(tmp_path / "m")[1]
    with path.open("a") as file:
        file.write(csv_text(500, first=3_000))
    assert lopsided("learn", path, "--resume", "m").returncode == 0
    assert seen(tmp_path / "m") == 3_500 and "shards" not in load_attached(tmp_path / "m")[1]


def test_other_shards_than_those_of_the_file_are_refused(lopsided, tmp_path):
    path = write(tmp_path, "csv", 3_000)
    lopsided("learn", path, *OPTIONS, "-o", "m")
    done = lopsided("learn", path, "--engine", "local", "--shards", 4, "--resume", "m")
    assert "must be the 3 of the state. Got 4" in refusal_of(done)


def test_what_needs_one_model_is_refused(lopsided, tmp_path):
    path = write(tmp_path, "csv", 100)
    done = lopsided("learn", path, *OPTIONS, "--delay", 10, "-o", "m")
    assert "The option --delay must come without --engine" in refusal_of(done)
