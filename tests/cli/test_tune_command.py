"""`lopsided tune`, and commands to which labels come late."""

import json

import numpy as np
import pytest

import lopsided as lp
from cli.payments import csv_text, payment_rows
from lopsided.cli.tune import DEFAULT_LEARNERS, in_words
from lopsided.evaluate import delayed_scores
from lopsided.evaluate.candidates import default_kinds
from lopsided.late import LateLearner
from lopsided.metrics import auroc


def said(lopsided, *arguments):
    done = lopsided(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_tune_finds_what_is_good_and_saves_it(lopsided, tmp_path):
    (tmp_path / "payments.csv").write_text(csv_text(payment_rows(1200)))
    options = (
        "payments.csv",
        "--label",
        "kind",
        "--id",
        "id",
        "--ignore",
        "when",
        "--learner",
        "koil",
        "--learner",
        "ocs",
    )
    facts = said(lopsided, "tune", *options, "--candidates", 7, "-o", "best")
    found = facts["candidates"]
    assert len(found) == 7 and {entry["learner"] for entry in found} == {"koil", "ocs"}
    # The worse half was dropped after 1,000 rows.
    assert sorted(entry["rows"] for entry in found) == [1000] * 3 + [1200] * 4
    survivors = [entry["auroc"] for entry in found if entry["rows"] == 1200]
    assert survivors == sorted(survivors, reverse=True) and survivors[0] > 0.85
    assert facts["options"].startswith(f"--learner {found[0]['learner']}")
    # The saved model is the one that learns alone with these settings.
    settings = [part for name, value in found[0]["settings"].items() for part in ("--set", f"{name}={value}")]
    alone = lopsided("learn", *options[:7], "--learner", found[0]["learner"], *settings, "-o", "alone", "--json")
    assert json.loads(alone.stdout)["auroc"] == pytest.approx(found[0]["auroc"], abs=1e-9)
    rows = payment_rows(30, seed=5)
    best, same = lp.load(tmp_path / "best"), lp.load(tmp_path / "alone")
    np.testing.assert_array_equal(best.decision_function(rows), same.decision_function(rows))
    in_threads = said(lopsided, "tune", *options, "--candidates", 7, "--jobs", 2)
    assert in_threads["candidates"] == found


def test_its_words_and_its_default_learners():
    assert in_words({"C": 0.5, "budget": (5, 6), "policy": "fifo"}) == "--set C=0.5 --set budget=5,6 --set policy=fifo"
    assert tuple(default_kinds()) == DEFAULT_LEARNERS


@pytest.fixture
def timed_file(tmp_path):
    """Rows of a plane with the minute of each."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(600, 2)).round(6), (rng.random(600) < 0.2).astype(int)
    X[y == 1] += 1.5
    minutes = np.cumsum(rng.integers(0, 3, 600))
    lines = [f"{a!r},{b!r},{60 * m},{label}" for (a, b), m, label in zip(X.tolist(), minutes, y, strict=True)]
    (tmp_path / "timed.csv").write_text("\n".join(["a,b,when,label", *lines]) + "\n")
    return "timed.csv", X, y, 60.0 * minutes


@pytest.mark.parametrize("command", ["evaluate", "learn", "tune"])
def test_a_delay_of_rows_is_that_of_python(lopsided, timed_file, command):
    path, X, y, _ = timed_file
    more = {"learn": ["-o", "m"], "tune": ["--candidates", 1, "--set", "gamma=1.0"], "evaluate": []}[command]
    facts = said(lopsided, command, path, "--learner", "koil", "--ignore", "when", "--delay", 40, *more)
    model = lp.StreamPipeline(lp.OnlineScaler(), lp.KOIL(random_state=0))
    expected = auroc(y, delayed_scores(model, X, y, 40))
    found = {"evaluate": lambda: facts["record"], "learn": lambda: facts, "tune": lambda: facts["candidates"][0]}
    assert found[command]()["auroc"] == pytest.approx(expected, abs=2e-3 if command != "evaluate" else 1e-12)


def test_a_delay_in_time_is_that_of_python(lopsided, timed_file):
    path, X, y, times = timed_file
    facts = said(lopsided, "evaluate", path, "--learner", "koil", "--time", "when", "--delay", "25m")
    model = lp.StreamPipeline(lp.OnlineScaler(), lp.KOIL(random_state=0))
    scores = LateLearner(model, delay="1500s", classes=[0, 1]).progressive_scores(X, y, times=times)
    assert facts["record"]["auroc"] == pytest.approx(auroc(y, scores), abs=1e-12)


@pytest.mark.parametrize("command", ["evaluate", "tune"])
def test_a_duration_without_a_time_is_refused(refused, timed_file, command):
    sentence = "The option --delay must be a number of rows unless --time names a column, got a duration."
    assert sentence in refused(command, timed_file[0], "--delay", "7d")
    assert "such as 90s, 15m, 12h, 7d, 2w or 2 weeks, got 'soon'" in refused(command, timed_file[0], "--delay", "soon")


def test_a_tuned_model_knows_which_rows_it_has_learned(lopsided, payments):
    tuned = ("tune", payments, "--label", "kind", "--learner", "koil", "--candidates", 2, "-o", "m")
    assert lopsided(*tuned).returncode == 0
    again = lopsided("learn", payments, "--resume", "m", "--json")
    assert again.returncode == 0
    assert json.loads(again.stdout)["rows"] == 0
