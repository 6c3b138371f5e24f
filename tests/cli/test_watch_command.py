"""`lopsided watch`, and what `lopsided evaluate` says of drift."""

import csv
import io
import json

import numpy as np
import pytest


def write_rows(path, n=6_000, change=0.0, days=40, seed=0, begin="2024-01-01", country_gap=0.0):
    """Payments with a daily season; amounts change at two thirds."""
    rng = np.random.default_rng(seed)
    seconds = np.sort(rng.random(n)) * days * 86_400
    night = seconds % 86_400 < 6 * 3600
    amount = np.exp(rng.normal(3.0, 1.0, n) + 2.0 * night + change * (np.arange(n) >= 2 * n // 3))
    fraud = rng.random(n) < 1 / (1 + np.exp(5.0 - np.log(amount)))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["when", "amount", "country", "fraud"])
    moments = np.datetime64(begin, "s") + seconds.astype("timedelta64[s]")
    country = rng.choice(["NO", "SE"], n)
    writer.writerows(zip(moments.astype(str), np.round(amount, 2), country, fraud.astype(int), strict=True))
    path.write_text(text.getvalue())
    return path


@pytest.fixture
def model(tmp_path, lopsided):
    write_rows(tmp_path / "learned.csv")
    done = lopsided("learn", "learned.csv", "--label", "fraud", "--time", "when", "--learner", "ocs", "-o", "m.model")
    assert done.returncode == 0, done.stderr
    return "m.model"


def test_nothing_is_said_of_rows_that_stay_as_they_are(lopsided, model, tmp_path):
    write_rows(tmp_path / "new.csv", seed=1)
    done = lopsided("watch", model, "new.csv")
    assert (done.returncode, done.stdout) == (0, "")
    assert "watching 5 series by whole days" in done.stderr
    assert "6,000 rows, 0 alarms" in done.stderr


def test_drift_has_an_exit_code_a_line_and_json(lopsided, model, tmp_path):
    write_rows(tmp_path / "new.csv", change=1.0, seed=1)
    done = lopsided("watch", model, "new.csv")
    assert done.returncode == 3
    assert done.stdout.startswith("drift: amount above ")
    assert ", since row " in done.stdout and "(2024-01-2" in done.stdout
    done = lopsided("watch", model, "new.csv", "--json")
    *alarms, summary = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 3 and summary["drift"] and summary["alarms"] == alarms
    assert {"amount", "share of positives"} <= {alarm["series"] for alarm in alarms} <= set(summary["series"])
    assert 3_800 < alarms[0]["since_row"] < 4_400 and alarms[0]["before"] != alarms[0]["after"]


def test_a_state_goes_on_where_it_was(lopsided, model, tmp_path):
    rows = write_rows(tmp_path / "whole.csv", change=1.0, seed=1).read_text().splitlines()
    whole = lopsided("watch", model, "whole.csv", "--json")
    found = []
    for start in range(1, len(rows), 1_500):
        (tmp_path / "part.csv").write_text("\n".join([rows[0], *rows[start : start + 1_500]]) + "\n")
        done = lopsided("watch", model, "part.csv", "--state", "kept", "--json")
        found += done.stdout.splitlines()[:-1]
        assert done.returncode == (3 if len(done.stdout.splitlines()) > 1 else 0), done.stderr
    assert found == whole.stdout.splitlines()[:-1] != []


def test_a_reference_is_what_new_rows_are_compared_with(lopsided, model, tmp_path):
    write_rows(tmp_path / "new.csv", n=1_500, change=0.0, days=10, seed=2, begin="2024-02-10")
    alone = lopsided("watch", model, "new.csv")
    assert alone.returncode == 0
    assert "note: 16 whole days are needed before drift can be seen, got 9; see --reference, --state" in alone.stderr
    text = (tmp_path / "new.csv").read_text().replace("NO", "DK")
    (tmp_path / "new.csv").write_text(text)
    done = lopsided("watch", model, "new.csv", "--reference", "learned.csv")
    assert done.returncode == 3
    assert done.stdout.startswith("drift: country ")


def test_labels_are_watched_where_they_are_and_not_needed(lopsided, model, tmp_path):
    lines = write_rows(tmp_path / "new.csv", seed=1).read_text().splitlines()
    (tmp_path / "bare.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")
    names = [json.loads(lopsided("watch", model, name, "--json").stdout)["series"] for name in ("new.csv", "bare.csv")]
    assert names[0] == ["amount", "score", "country", "share of positives", "precision of alerts"]
    assert names[1] == ["amount", "score", "country"]


def test_what_cannot_be_watched_is_refused(refused, model, tmp_path, lopsided):
    (tmp_path / "other").write_text("no such thing")
    assert "must be the state of a drift alarm" in refused("watch", model, "learned.csv", "--state", "other", "--force")
    assert "--state must not be an existing file" in refused("watch", model, "learned.csv", "--state", __file__)
    assert "The 'period' of DriftAlarm must be" in refused("watch", model, "learned.csv", "--period", "fortnight")
    lopsided("watch", model, "learned.csv", "--state", "kept")
    sentence = refused("watch", model, "learned.csv", "--state", "kept", "--period", "rows")
    assert "must be of the same series by blocks of 256 rows" in sentence


def test_evaluate_tells_of_drift(lopsided, tmp_path):
    write_rows(tmp_path / "new.csv", change=1.0, seed=1)
    options = ("--label", "fraud", "--learner", "ocs")
    done = lopsided("evaluate", "new.csv", *options, "--time", "when", "--report", "r.html")
    assert "\ndrift: amount above " in done.stdout
    assert "drift of" in (tmp_path / "r.html").read_text()
    drift = json.loads(lopsided("evaluate", "new.csv", *options, "--json").stdout)["drift"]
    assert drift["found"] and drift["compared"] == "blocks of 256 rows"
    assert drift["alarms"][0]["series"] == "amount"
    write_rows(tmp_path / "short.csv", n=500)
    assert "drift" not in lopsided("evaluate", "short.csv", *options).stdout


def test_sparse_rows_are_watched_by_what_they_sum_to(lopsided, tmp_path):
    rng = np.random.default_rng(0)

    def write(name, entries):
        lines = []
        for t in range(8_000):
            n = 3 if t < 6_000 else entries
            lines.append(f"{1 if rng.random() < 0.2 else -1} " + " ".join(f"{k}:1" for k in range(1, n + 1)))
        (tmp_path / name).write_text("\n".join(lines) + "\n")

    write("same.svm", 3)
    write("more.svm", 5)
    assert lopsided("learn", "same.svm", "--learner", "ocs", "-o", "s.model", "--features", "5").returncode == 0
    assert lopsided("watch", "s.model", "same.svm").returncode == 0
    done = lopsided("watch", "s.model", "more.svm")
    assert done.returncode == 3 and "non-zeros of a row above 3" in done.stdout
