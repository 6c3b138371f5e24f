"""Alerts on the command line: budgets, the best rows, only the alerts; and what is taken if nothing is said."""

import csv
import io
import json

import numpy as np
import pyarrow.parquet
import pytest

from lopsided.alerts import AlertBudget, best_of_each_period, judged_alerts
from lopsided.cli.learners import learner_class, made_learner

N_DAYS, PER_DAY = 5, 120


@pytest.fixture(scope="module")
def rows():
    """Five days of payments by 40 cards, one in 15 bad."""
    rng = np.random.default_rng(0)
    n = N_DAYS * PER_DAY
    times = np.sort(rng.uniform(0, N_DAYS * 86400, n)).astype(int)
    bad = rng.random(n) < 1 / 15
    return [
        {
            "when": str(np.datetime64("2024-01-01T00:00:00") + np.timedelta64(int(times[t]), "s")),
            "card": f"c{rng.integers(40)}",
            "amount": round(float(rng.exponential(50)), 2),
            "x": round(float(rng.normal() + 2 * bad[t]), 4),
            "z": round(float(rng.normal() + bad[t]), 4),
            "fraud": int(bad[t]),
        }
        for t in range(n)
    ]


@pytest.fixture
def payments_file(tmp_path, rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    (tmp_path / "pay.csv").write_text(text.getvalue())
    return "pay.csv"


SAID = ("--label", "fraud", "--time", "when", "--ignore", "when", "--ignore", "card", "--learner", "opauc")


def seconds_of(rows):
    return np.array([row["when"] for row in rows], dtype="datetime64[s]").astype(np.float64)


def read(path):
    return list(csv.DictReader(io.StringIO(path.read_text())))


def test_an_evaluation_says_what_so_many_alerts_a_day_would_have_caught(lopsided, payments_file, rows, tmp_path):
    budget = ("--alerts", "10/day", "--value", "amount", "--per", "card")
    done = lopsided("evaluate", payments_file, *SAID, *budget, "--output", "out.csv", "--json")
    assert done.returncode == 0, done.stderr
    assert "alerts within 10/day" in done.stderr
    facts = json.loads(done.stdout)
    written = read(tmp_path / "out.csv")
    scores = np.array([float(row["score"]) for row in written])
    times, positive = seconds_of(rows), np.array([row["fraud"] == 1 for row in rows])
    cards, amounts = [row["card"] for row in rows], [row["amount"] for row in rows]
    flagged = AlertBudget(10, key="card").decide(times, scores, cards)
    assert [row["predicted"] == "1" for row in written] == flagged.tolist()
    expected = judged_alerts(times, flagged, positive, keys=cards, values=amounts)
    assert facts["record"]["alert_precision"] == pytest.approx(expected.overall.precision)
    assert facts["record"]["alert_recall"] == pytest.approx(expected.overall.recall)
    assert facts["alerts"]["caught_value"] == pytest.approx(expected.overall.caught_value)
    best = judged_alerts(times, best_of_each_period(times, scores, 10, keys=cards), positive, keys=cards).overall
    assert facts["alerts"]["hindsight"]["precision"] == pytest.approx(best.precision)
    assert [day["period"] for day in facts["alerts"]["periods"]] == [f"2024-01-0{day}" for day in range(1, 6)]
    assert all(day["alerts"] <= 10 for day in facts["alerts"]["periods"])

    as_a_rule = lopsided("evaluate", payments_file, *SAID, "--threshold", "budget:10/day", "--per", "card")
    lines = as_a_rule.stdout.splitlines()
    assert lines[3] == "alerts within 10/day, at most one for each card, decided as rows came:"
    assert [line.split()[0] for line in lines[4:]] == ["day", *(f"2024-01-0{day}" for day in range(1, 6)), "all", "in"]


def test_scores_and_decisions_of_an_evaluation_are_those_of_its_record(lopsided, payments_file, rows, tmp_path):
    done = lopsided("evaluate", payments_file, *SAID, "--output", "out.csv", "--json")
    record = json.loads(done.stdout)["record"]
    written = read(tmp_path / "out.csv")
    assert [row["when"] for row in written] == [row["when"] for row in rows]
    called = np.array([row["predicted"] == "1" for row in written])
    positive = np.array([row["fraud"] == 1 for row in rows])
    assert record["f1"] == pytest.approx(2 * (called & positive).sum() / (called.sum() + positive.sum()))
    probabilities = np.array([float(row["probability"]) for row in written])
    assert probabilities[300:].mean() == pytest.approx(1 / 15, abs=0.04)
    again = lopsided("evaluate", payments_file, *SAID, "--output", "out.csv", "--json")
    assert again.returncode == 0, again.stderr  # scored rows may be replaced by scored rows


@pytest.fixture
def model(lopsided, payments_file):
    assert lopsided("learn", payments_file, *SAID, "-o", "m").returncode == 0
    return "m"


def test_a_budget_is_saved_with_the_model_and_gone_on_with(lopsided, payments_file, rows, tmp_path):
    lines = (tmp_path / payments_file).read_text().splitlines(keepends=True)
    (tmp_path / "first.csv").write_text("".join(lines[:301]))
    (tmp_path / "rest.csv").write_text("".join([lines[0], *lines[301:]]))
    said = (*SAID, "--alerts", "10/day", "--per", "card")
    whole = json.loads(lopsided("learn", payments_file, *said, "-o", "whole", "--json").stdout)
    assert whole["alerts"]["budget"] == "10/day" and 30 < whole["alerts"]["alerts"] <= 50
    assert lopsided("learn", "first.csv", *said, "-o", "m").returncode == 0
    more = json.loads(lopsided("learn", "rest.csv", "--resume", "m", "--json").stdout)
    first = AlertBudget(10, key="card").limit * 3
    assert more["alerts"]["alerts"] <= whole["alerts"]["alerts"] <= more["alerts"]["alerts"] + first

    done = lopsided("score", "whole", payments_file, "--alerts-only", "-o", "alerts.csv")
    assert done.returncode == 0, done.stderr
    assert "OPAUC from whole, alerts within 10/day" in done.stderr
    alerts = read(tmp_path / "alerts.csv")
    assert all(row["predicted"] == "1" for row in alerts)
    days = [row["when"][:10] for row in alerts]
    assert 40 <= len(alerts) <= 50 and all(days.count(day) <= 10 for day in days)
    assert len({(row["when"][:10], row["card"]) for row in alerts}) == len(alerts)


def test_only_alerts_by_the_threshold_of_the_model_or_another(lopsided, model, payments_file, rows, tmp_path):
    assert lopsided("score", model, payments_file, "-o", "all.csv").returncode == 0
    everything = read(tmp_path / "all.csv")
    alerts = [row for row in everything if row["predicted"] == "1"]
    assert 0 < len(alerts) < len(everything) == len(rows)
    for suffix in ("csv", "ndjson", "parquet"):
        done = lopsided("score", model, payments_file, "--alerts-only", "-o", f"alerts.{suffix}")
        assert f"600 rows scored, {len(alerts)} written into alerts.{suffix}" in done.stderr
    assert read(tmp_path / "alerts.csv") == alerts
    from_arrow = pyarrow.parquet.read_table(tmp_path / "alerts.parquet").to_pylist()
    assert [row["when"] for row in from_arrow] == [row["when"] for row in alerts]
    done = lopsided("score", model, payments_file, "--threshold", "rate:0.1", "--alerts-only", "--json")
    assert json.loads(done.stderr.splitlines()[-1])["alerts"] == len(done.stdout.splitlines())
    assert len(done.stdout.splitlines()) == pytest.approx(60, abs=6)


@pytest.mark.parametrize("out", ["csv", "ndjson", "parquet"])
def test_the_best_rows_of_all_and_of_each_day(lopsided, model, payments_file, rows, tmp_path, out):
    lopsided("score", model, payments_file, "-o", "all.csv")
    everything = read(tmp_path / "all.csv")
    scores = np.array([float(row["score"]) for row in everything])

    def when(*options):
        done = lopsided("score", model, payments_file, *options, "-o", f"top.{out}")
        assert done.returncode == 0, done.stderr
        if out == "parquet":
            return [row["when"] for row in pyarrow.parquet.read_table(tmp_path / "top.parquet").to_pylist()]
        text = (tmp_path / f"top.{out}").read_text()
        return [
            row["when"]
            for row in (csv.DictReader(io.StringIO(text)) if out == "csv" else map(json.loads, text.splitlines()))
        ]

    ranked = np.argsort(-scores, kind="stable")
    assert when("--top", 7, "--sort", "score") == [rows[row]["when"] for row in ranked[:7]]
    assert when("--top", 7) == [rows[row]["when"] for row in np.sort(ranked[:7])]
    of_days = best_of_each_period(seconds_of(rows), scores, 3)
    assert when("--top", 3, "--per", "day") == [row["when"] for row, best in zip(rows, of_days, strict=True) if best]
    if out == "csv":
        assert when("--sort", "score") == [rows[row]["when"] for row in ranked]


def test_what_is_let_go_on_the_way_is_not_among_the_best(lopsided, model, rows, tmp_path):
    """Files enough that rows are let go again and again."""
    names = []
    for part in range(30):
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[20 * (part % 5) : 20 * (part % 5) + 100])
        (tmp_path / f"{part:02}.csv").write_text(text.getvalue())
        names.append(f"{part:02}.csv")
    lopsided("score", model, *names, "-o", "all.csv")
    scores = sorted((float(row["score"]) for row in read(tmp_path / "all.csv")), reverse=True)
    assert lopsided("score", model, *names, "--top", 5, "--sort", "score", "-o", "top.csv").returncode == 0
    assert [float(row["score"]) for row in read(tmp_path / "top.csv")] == scores[:5]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("evaluate", "pay.csv", "--alerts", "10/day"), "must know when rows happened, by a column that --time names"),
        (("learn", "pay.csv", "-o", "n", "--threshold", "budget:5/day"), "must know when rows happened"),
        (("evaluate", "pay.csv", "--alerts", "10"), "The option --alerts must be written N/PERIOD, such as 50/day"),
        (("evaluate", "pay.csv", "--threshold", "budget:x"), "The budget of --threshold must be written N/PERIOD"),
        (("evaluate", "pay.csv", "--per", "card"), "The option --per must come with --alerts"),
        (("evaluate", "pay.csv", "--alerts", "9/day", "--threshold", "f1"), "must not both be given"),
        (
            ("evaluate", "pay.csv", "--time", "when", "--alerts", "9/day", "--per", "cart"),
            "must hold the column 'cart'",
        ),
        (("evaluate", "pay.csv", "--threshold", "best"), "The 'threshold' parameter of RareEventClassifier must be"),
        (("evaluate", "pay.csv", "--threshold", "f1", "--set", "threshold=zero"), "must not both be given"),
        (("evaluate", "pay.csv", "--learner", "b2rmk"), "must be one that learns row by row"),
        (("score", "m", "pay.csv", "--top", "5", "--per", "card"), "The option --per with --top must be minute, hour"),
        (("score", "m", "pay.csv", "--top", "5", "--follow"), "The option --top must come without --follow"),
        (("score", "m", "pay.csv", "--threshold", "best"), "The 'threshold' parameter of OPAUC must be"),
    ],
)
@pytest.mark.usefixtures("model")
def test_what_is_missing_is_said(refused, arguments, sentence):
    assert sentence in refused(*arguments)


def test_a_model_that_knows_no_time_is_told_it(lopsided, refused, payments_file, tmp_path):
    said = [part for part in SAID if part not in ("--time",)]
    said.remove("when")  # the column of --time
    assert lopsided("learn", payments_file, *said, "-o", "n").returncode == 0
    assert "must know when rows happened" in refused("score", "n", payments_file, "--top", 2, "--per", "day")
    done = lopsided("score", "n", payments_file, "--top", 2, "--per", "day", "--time", "when")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1 + 2 * N_DAYS
    done = lopsided("score", "n", payments_file, "--threshold", "budget:4/day", "--time", "when", "--alerts-only")
    assert 14 <= len(done.stdout.splitlines()) <= 21


def test_rows_out_of_order_are_noted(lopsided, rows, tmp_path, payments_file):
    lines = (tmp_path / payments_file).read_text().splitlines(keepends=True)
    (tmp_path / "mixed.csv").write_text("".join([lines[0], *lines[200:], *lines[1:200]]))
    done = lopsided("evaluate", "mixed.csv", *SAID, "--alerts", "10/day")
    assert "rows belong to a day that was over when they came, and could not be alerts: sort the rows" in done.stderr


def test_followed_rows_are_there_at_once(lopsided, model, payments_file, tmp_path, monkeypatch):
    from lopsided.feeds.text_writers import CsvAsItCame

    seen, append = [], CsvAsItCame._append

    def noted(self, *rows):
        append(self, *rows)
        self._file.flush = lambda flush=self._file.flush: (
            flush(),
            seen.append(len((tmp_path / "out.csv").read_text())),
        )

    monkeypatch.setattr(CsvAsItCame, "_append", noted)
    done = lopsided("score", model, payments_file, "--follow", "--idle", 0.1, "-o", "out.csv")
    assert done.returncode == 0, done.stderr
    assert seen[0] > 1000 and len(read(tmp_path / "out.csv")) == N_DAYS * PER_DAY


def test_what_is_taken_if_nothing_is_said(lopsided, payments_file):
    done = lopsided("evaluate", payments_file, "--label", "fraud", "--json")
    facts = json.loads(done.stdout)
    assert (facts["learner"], facts["threshold"]) == ("RareEventClassifier", "f1")
    assert done.stderr.startswith("RareEventClassifier on pay.csv: ") and "threshold f1" in done.stderr.splitlines()[0]


def test_a_pool_is_there_by_its_name():
    pool = made_learner("expertpool", {"threshold": "gmean"}, random_state=0)
    assert type(pool) is learner_class("expertpool") and len(pool.learners) == 8
    assert (pool.threshold, pool.random_state) == ("gmean", 0)
    auto = made_learner("auto", {"n_components": 100})
    assert (type(auto).__name__, auto.n_components) == ("RareEventClassifier", 100)


def test_a_learner_of_whole_sets_is_fitted_once(lopsided, refused, payments_file, rows, tmp_path, monkeypatch):
    said = ("--label", "fraud", "--ignore", "when", "--ignore", "card", "--learner", "b2rmk", "--set", "max_sweeps=3")
    lines = (tmp_path / payments_file).read_text().splitlines(keepends=True)
    (tmp_path / "few.csv").write_text("".join(lines[:101]))
    monkeypatch.setattr("lopsided.cli.batch_training._SOON_FITTED", 99)
    done = lopsided("learn", "few.csv", *said, "-o", "batch", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 100
    assert "note: B2RMK fits 100 rows at once, in time that grows with their cube: this may take long" in done.stderr
    done = lopsided("score", "batch", payments_file)
    assert done.returncode == 0, done.stderr
    scores = np.array([float(row["score"]) for row in csv.DictReader(io.StringIO(done.stdout))])
    positive = np.array([row["fraud"] == 1 for row in rows])
    assert scores[positive].mean() > scores[~positive].mean()
    assert "must learn row by row, got a B2RMK" in refused("learn", payments_file, "--resume", "batch")
    assert "The option --delay must come with a learner" in refused(
        "learn", "few.csv", *said, "-o", "n", "--delay", "5"
    )
    monkeypatch.setattr("lopsided.cli.batch_training.MOST_ROWS", 500)
    assert "which learns from a whole set, must have at most 500 rows" in refused(
        "learn", payments_file, *said, "-o", "n"
    )
    assert not (tmp_path / "n").exists()
