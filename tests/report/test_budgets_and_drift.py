"""Budgets of alerts in hindsight, the clock of a stream, and the verdict on drift, each against a slower way to it."""

import numpy as np
import pytest

from lopsided.report import budgets, drift
from lopsided.report.clock import DATES, ELAPSED, ROWS, Clock
from lopsided.report.contents import Detail

MARCH = np.datetime64("2024-03-01T00:00:00").astype(np.int64).astype(float)
DAY = 86400.0


def run(n=1200, days=6, share=0.1, seed=0, gap=1.5, times=True):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < share
    scores = np.round(rng.normal(size=n) + gap * positive, 1)  # with many ties
    moments = MARCH + np.sort(rng.random(n)) * days * DAY if times else None
    return Detail(scores, positive, scores > 1.5, 1.5, moments)


def test_the_axis_has_dates_or_the_time_since_the_start_or_rows():
    dates = Clock.of(MARCH + np.arange(40.0) * 3600)
    assert dates.kind == DATES and dates.label == ""
    assert dates.at(np.array([1, 25])).tolist() == np.array(["2024-03-01", "2024-03-02"], "datetime64[ms]").tolist()
    assert dates.in_words(14) == "2024-03-01 13:00"
    elapsed = Clock.of(np.arange(100.0) * 3600)
    assert (elapsed.kind, elapsed.label) == (ELAPSED, "days since the start")
    assert elapsed.at(np.array([49]))[0] == 2.0
    old = Clock.of(np.array([-86400.0, 0.0]), are_dates=True)
    assert old.in_words(1) == "1969-12-31 00:00"
    rows = Clock.of(None)
    assert (rows.kind, rows.label, rows.in_words(1200)) == (ROWS, "rows", "row 1,200")
    assert Clock.of(np.full(3, np.nan)).kind == ROWS


def test_times_that_go_back_or_miss_do_not_turn_the_axis_around():
    times = MARCH + np.arange(100.0)
    times[[0, 1, 50]] = np.nan
    times[60] = MARCH  # a straggler
    clock = Clock.of(times)
    places = clock.at(np.arange(1, 101))
    assert (np.diff(places) >= np.timedelta64(0)).all() and places[0] == places[2]
    muddled = Clock.of(times[::-1].copy())
    assert muddled.kind == ROWS and "not in the order of their times" in muddled.note


@pytest.mark.parametrize("alerts", [1, 7, 50, 500])
@pytest.mark.parametrize("times", [True, False])
def test_the_best_of_each_period_in_the_mean_over_ties(alerts, times):
    detail = run(n=1200, times=times)
    periods = budgets.periods_of(detail)
    assert periods.name == ("day" if times else "1,000 rows")
    found = budgets.best_of_each(detail, periods, alerts)
    assert found.positives.sum() == detail.positive.sum()
    for period in range(periods.full.size):
        rows = np.flatnonzero(periods.of_row == period)
        k = min(round(alerts * periods.full[period]), rows.size)
        border = np.sort(detail.scores[rows])[::-1][k - 1] if k else np.inf
        above, at = rows[detail.scores[rows] > border], rows[detail.scores[rows] == border]
        expected = detail.positive[above].sum()
        expected += (k - above.size) * detail.positive[at].mean() if k else 0.0
        assert found.flagged[period] == k
        assert found.caught[period] == pytest.approx(expected)


def test_days_begin_at_midnight_and_rows_without_a_time_are_of_none():
    detail = run()
    detail.times[5] = np.nan
    periods = budgets.periods_of(detail)
    assert periods.of_row[5] == -1 and periods.of_row.max() == 5
    known = np.arange(1200) != 5
    assert (periods.of_row[known] == (detail.times[known] - MARCH) // DAY).all()
    assert periods.starts.tolist() == (MARCH + DAY * np.arange(6)).tolist()
    assert periods.rate_units == pytest.approx(6, abs=0.05)


def test_short_and_thin_streams_have_other_periods():
    assert budgets.periods_of(run(days=0.4)).name == "hour"
    assert budgets.periods_of(run(n=400, days=100)).name == "week"
    assert budgets.periods_of(run(n=30, days=300)).name == "1,000 rows"


def test_a_threshold_flags_what_it_says():
    detail = run(n=6000)
    periods = budgets.periods_of(detail)
    found = budgets.budgets_of(detail, periods)
    assert [budget.alerts for budget in found] == [50, 100, 200, 500]
    for budget in found:
        called = detail.scores > budget.threshold
        assert called.sum() == budget.flagged <= budget.alerts * periods.rate_units
        assert (called & detail.positive).sum() == budget.caught
        assert np.min(np.abs(detail.scores - budget.threshold)) > 0.01  # between two scores, on neither
    one = Detail(np.zeros(50), np.arange(50) < 5, np.zeros(50, dtype=bool), 0.0)
    (budget, *_) = budgets.budgets_of(one, budgets.periods_of(one))
    assert budget.flagged == 0 == (one.scores > budget.threshold).sum()


def test_a_sentence_tells_the_fewest_that_catch_half():
    detail = run(n=6000)
    periods = budgets.periods_of(detail)
    typical = budgets.typical_budget(budgets.budgets_of(detail, periods))
    caught = typical.best.caught.sum() / detail.positive.sum()
    assert 0.5 <= caught < 0.9
    sentence = budgets.sentence(typical, periods)
    assert sentence.startswith(f"A review of the {typical.alerts} highest scores of each day would have caught ")
    assert f"positives: {100 * caught:.0f} % (" in sentence
    assert budgets.sentence(None, periods) == "There are too few rows to judge alerts."


def joined(*parts):
    whole = [np.concatenate(pieces) for pieces in zip(*((d.scores, d.positive, d.called) for d in parts), strict=True)]
    return Detail(*whole, 1.5)


def test_no_drift_is_said_of_a_stream_that_stays_the_same():
    said = drift.verdict(run(n=6000))
    assert said.sentence.startswith("No drift was found: AUROC was 0.8")
    assert [third.stop for third in said.thirds] == [2000, 4000, 6000]


@pytest.mark.parametrize(
    ("last", "opening"),
    [
        ({"gap": 0.3}, "Drift that hurts: the ranking got worse: AUROC was 0.8"),
        ({"gap": 4.0}, "The ranking got better, as it does while a model learns: AUROC was 0.8"),
        ({"share": 0.3}, "The stream changed, but the ranking held: "),
    ],
)
def test_drift_is_told_with_its_evidence(last, opening):
    found = drift.verdict(joined(run(n=6000), run(n=3000, seed=2, **last)))
    assert found.sentence.startswith(opening)
    assert "95 % interval" in found.sentence
    of_positives = [alarm for alarm in found.alarms if alarm.series == "share of positives"]
    assert bool(of_positives) is ("share" in last)
    if of_positives:
        assert f"share of positives: {100 * of_positives[0].before:.1f} % before, " in found.sentence
        assert 5700 < of_positives[0].since_row < 6500


def test_scores_that_move_without_harm_are_told_apart():
    second = run(n=2000, seed=1)
    moved = Detail(second.scores + 2.0, second.positive, second.called, 1.5)
    assert drift.verdict(joined(run(n=4000), moved)).sentence.startswith("The scores changed, but the ranking held: ")
    unwatched = joined(run(n=600), run(n=600, seed=1))
    assert "an alarm on the way needs 16 blocks of 256 rows, which there are not" in drift.verdict(unwatched).sentence


def test_few_positives_allow_no_verdict():
    few = Detail(np.zeros(300), np.arange(300) < 4, np.zeros(300, dtype=bool), 0.0)
    assert drift.verdict(few).sentence.startswith("Whether the ranking drifts cannot be judged: the first")
