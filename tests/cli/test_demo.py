"""`lopsided demo`: the fraud desk on a small stream, from raw columns to daily alerts."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from lopsided.cli import demo_days
from lopsided.cli.fraud_desk import BOOSTED, BOOSTED_TOO, DELAY_DAYS, OPENS, OURS, RULE, FraudDesk, payments


@pytest.fixture
def small(monkeypatch):
    """A stream of three weeks that takes a second."""
    monkeypatch.setattr(demo_days, "payments", lambda: payments(30, 20))


@pytest.fixture(scope="module")
def contest():
    found = FraudDesk(payments(30, 20), limit=5)
    list(found.run())
    return found


@pytest.mark.usefixtures("small")
def test_the_demo_end_to_end(lopsided, tmp_path):
    done = lopsided("demo", "--report", "seen.html")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    weeks = [line for line in lines if line.startswith("2026-01-")]
    assert [line.split()[0] for line in weeks] == ["2026-01-19", "2026-01-24"]
    table = [line.split("  ")[0] for line in lines[lines.index(weeks[-1]) + 3 :]]
    assert table[:4] == [OURS, BOOSTED, BOOSTED_TOO, RULE]
    assert lines[-1].endswith("seen.html")
    assert "<h2>card payments</h2>" in (tmp_path / "seen.html").read_text()


@pytest.mark.usefixtures("small")
def test_without_lightgbm_and_matplotlib_the_others_go_on_and_json_says_all(lopsided, tmp_path, monkeypatch):
    def missing(*_, **__):
        raise ModuleNotFoundError("Get it.", name="it")

    monkeypatch.setattr("lopsided.competitors.competitor", missing)
    monkeypatch.setattr("lopsided.report.writing.check_can_write", missing)
    done = lopsided("demo", "--json")
    assert done.returncode == 0, done.stderr
    assert "Continuing without LightGBM. Get it." in done.stderr
    assert "No report is written. Get it." in done.stderr
    facts = json.loads(done.stdout)
    assert [desk["name"] for desk in facts["desks"]] == [OURS, RULE]
    assert facts["report"] is None
    for desk in facts["desks"]:
        assert len(desk["days"]) == 20 - OPENS
        assert sum(day["caught"] for day in desk["days"]) == desk["caught"]
    assert not (tmp_path / "lopsided-report.html").exists()


@pytest.mark.usefixtures("small")
def test_interrupted_it_prints_what_it_has(lopsided, monkeypatch):
    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(FraudDesk, "run", interrupt)
    done = lopsided("demo")
    assert done.returncode == 130
    assert done.stderr.endswith("interrupted\n")


def test_everybody_keeps_to_the_budget_and_money_is_that_of_frauds(contest):
    stream = contest.stream
    judged = slice(stream.days[OPENS].start, None)
    for desk in contest.desks:
        assert all(day.alerts <= 5 for day in desk.figures)
        total = desk.total()
        assert total.value == pytest.approx(stream.columns["amount"][judged][stream.fraud[judged]].sum())
        assert 0 <= total.caught_value <= total.value
        assert sum(one.hits for one in (desk.total(4), *desk.figures[:-4])) == total.hits
    above = stream.columns["amount"][judged] > contest.desks[-1].picker.above
    assert contest.desks[-1].total().alerts <= above.sum()


def test_a_label_is_not_known_before_its_time(contest):
    """Other labels in the last week change nothing: nobody has seen them."""
    stream = contest.stream
    fraud = stream.fraud.copy()
    late = slice(stream.days[-DELAY_DAYS].start, None)
    fraud[late] = ~fraud[late]
    other = FraudDesk(stream._replace(fraud=fraud), limit=5)
    list(other.run())
    for desk, again in zip(contest.desks, other.desks, strict=True):
        assert np.array_equal(np.concatenate(desk.scored), np.concatenate(again.scored)), desk.picker.name


def test_the_table_of_days_holds_the_latest(contest):
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(demo_days._days(contest))
    text = console.export_text()
    assert "01-24" in text
    assert f"{20 - OPENS} days" in text
    assert len([line for line in text.splitlines() if line.startswith("01-")]) == 20 - OPENS
