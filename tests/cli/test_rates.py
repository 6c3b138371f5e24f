"""A share of alerts on the command line: kept on rows as they come, also where their scores have moved."""

import csv
import datetime as dt
import io
import json

import numpy as np
import pytest

import lopsided as lp
from lopsided.alerts import AlertShare

N_PAST, N_NEW = 2000, 3000


@pytest.fixture(scope="module")
def lines():
    """Payments of six weeks with a date, by which the days to be scored differ from those that were learned."""
    rng = np.random.default_rng(0)
    n = N_PAST + N_NEW
    days, bad = np.sort(rng.uniform(0, 45, n)), rng.random(n) < 0.03
    amounts, x = np.exp(rng.normal(3.0 + bad, 1.0)), rng.normal(1.5 * bad, 1.0)
    when = [(dt.datetime(2024, 1, 1) + dt.timedelta(days=float(day))).strftime("%Y-%m-%d %H:%M:%S") for day in days]
    return [f"{when[t]},{amounts[t]:.2f},{x[t]:.4f},{int(bad[t])}\n" for t in range(n)]


@pytest.fixture
def files(tmp_path, lines):
    for name, part in {
        "past": lines[:N_PAST], "first": lines[:900], "rest": lines[900:N_PAST], "new": lines[N_PAST:],
        "new1": lines[N_PAST : N_PAST + 1], "new2": lines[N_PAST + 1 :],
    }.items():  # fmt: skip
        (tmp_path / f"{name}.csv").write_text("when,amount,x,fraud\n" + "".join(part))


def learned(lopsided, learner, rule, *more, source="past.csv", output="m"):
    said = ("--label", "fraud", "--learner", learner, "--threshold", rule)
    done = lopsided("learn", source, *said, *more, "--output", output)
    assert done.returncode == 0, done.stderr


def alerts_of(done):
    """Which rows are alerts, and all scores."""
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    return np.array([row["predicted"] == "1" for row in rows]), np.array([float(row["score"]) for row in rows])


@pytest.mark.parametrize("learner", ["opauc", "onlineperceptron", "resamplingbagging"])
def test_a_share_is_kept_where_a_date_has_moved_the_scores(lopsided, files, learner):
    """By a threshold OnlinePerceptron flagged most of these rows, and ResamplingBagging, which votes, none."""
    learned(lopsided, learner, "rate:0.05")
    flagged, scores = alerts_of(lopsided("score", "m", "new.csv"))
    assert flagged.size == N_NEW and flagged.mean() == pytest.approx(0.05, rel=0.1)
    model = lp.load("m")
    assert np.mean(scores > model.threshold_) != pytest.approx(0.05, rel=0.5)
    expected = AlertShare(0.05, model.recent_scores_).decide(scores)
    assert np.array_equal(flagged, expected)
    only = lopsided("score", "m", "new.csv", "--alerts-only", "--json")
    assert json.loads(only.stderr.splitlines()[-1])["alerts"] == flagged.sum()


def test_in_pieces_and_followed_rows_are_decided_on_alike(lopsided, files):
    learned(lopsided, "opauc", "rate:0.05")
    whole = lopsided("score", "m", "new.csv").stdout
    assert lopsided("score", "m", "new1.csv", "new2.csv").stdout == whole
    followed = lopsided("score", "m", "new.csv", "--follow", "--idle", "0.2")
    assert followed.stdout == whole, followed.stderr


def test_a_model_that_was_resumed_decides_as_one_that_never_stopped(lopsided, files):
    learned(lopsided, "ofo", "rate:0.05", output="whole")
    learned(lopsided, "ofo", "rate:0.05", source="first.csv")
    assert lopsided("learn", "rest.csv", "--resume", "m").returncode == 0
    assert lopsided("score", "m", "new.csv").stdout == lopsided("score", "whole", "new.csv").stdout


def test_a_share_can_be_asked_of_a_model_that_has_learned_by_another_rule(lopsided, files):
    learned(lopsided, "opauc", "f1")
    flagged, _ = alerts_of(lopsided("score", "m", "new.csv", "--threshold", "rate:0.05"))
    assert flagged.mean() == pytest.approx(0.05, rel=0.1)


@pytest.mark.parametrize("more", [(), ("--delay", "300"), ("--labels-for", "alerts", "--explore", "0.1")])
def test_an_evaluation_keeps_the_share_as_rows_come(lopsided, files, more):
    said = ("--label", "fraud", "--learner", "onlineperceptron", "--threshold", "rate:0.05", *more)
    done = lopsided("evaluate", "new.csv", *said, "--output", "out.csv")
    assert done.returncode == 0, done.stderr
    with open("out.csv") as file:
        flagged = np.array([row["predicted"] == "1" for row in csv.DictReader(file)])
    assert flagged[400:].mean() == pytest.approx(0.05, rel=0.1)


def test_labels_of_a_share_are_learned_and_a_resumed_model_goes_on_with_it(lopsided, files):
    only = ("--labels-for", "alerts", "--explore", "0.05", "--json")
    said = ("--label", "fraud", "--learner", "opauc", "--threshold", "rate:0.05")
    whole = json.loads(lopsided("learn", "past.csv", *said, *only, "--output", "whole").stdout)
    assert whole["labels_seen"] == pytest.approx(0.05 * N_PAST + 0.05 * 0.95 * N_PAST, rel=0.15)
    assert lopsided("learn", "first.csv", *said, *only, "--output", "m").returncode == 0
    assert lopsided("learn", "rest.csv", "--resume", "m").returncode == 0
    assert lopsided("score", "m", "new.csv").stdout == lopsided("score", "whole", "new.csv").stdout


def test_a_watch_takes_the_same_rows_for_alerts(lopsided, files):
    learned(lopsided, "onlineperceptron", "rate:0.05")
    done = lopsided("watch", "m", "new.csv", "--json")
    assert done.returncode in (0, 3), done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["rows"] == N_NEW


def test_an_explanation_says_by_what_it_decides(lopsided, files):
    """A row that `score` flags may be below the threshold of the model."""
    for rule, is_said in (("rate:0.05", True), ("f1", False)):
        learned(lopsided, "opauc", rule, output=rule[:2])
        done = lopsided("explain", rule[:2], "new.csv", "--row", "3")
        assert done.returncode == 0, done.stderr
        assert ("`lopsided score` keeps its rate by the rows before each row" in done.stderr) == is_said


def test_a_file_that_was_cut_off_inside_of_quotes_is_told_so(lopsided, tmp_path):
    (tmp_path / "cut.csv").write_text('amount,fraud\n"$1,200.00",1\n"$7.00",0\n"$1,2')
    done = lopsided("evaluate", "cut.csv", "--label", "fraud")
    assert done.returncode == 2
    assert (
        "line 4 of cut.csv must close every quote that it opens, got one that is still open at the end" in done.stderr
    )
