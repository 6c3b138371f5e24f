"""Alerts within a budget: as many as allowed, nearly the best, decided as rows come."""

import numpy as np
import pytest

from lopsided.alerts import AlertBudget, Period, best_of_each_period, judged_alerts
from lopsided.constraints import ParameterError

DAY = 86400.0


def payments(n_days=12, per_day=2000, seed=0):
    """Days with busy hours, quiet weekends, one positive in a hundred, scores that tell them apart rather well."""
    rng = np.random.default_rng(seed)
    times, volumes = [], []
    for day in range(n_days):
        volume = int(per_day * (0.6 if day % 7 in (2, 3) else 1.0) * rng.uniform(0.9, 1.1))
        hours = np.clip(rng.normal(15, 3.5, volume), 0.01, 23.99)
        times.append(np.sort(day * DAY + hours * 3600))
        volumes.append(volume)
    times = np.concatenate(times)
    positive = rng.random(times.size) < 0.01
    scores = rng.standard_normal(times.size) + 2.5 * positive
    return times, scores, positive


def per_day(times, flagged):
    return np.bincount((times // DAY).astype(int), weights=flagged).astype(int)


def test_a_normal_day_spends_nearly_all_and_never_more():
    times, scores, _ = payments()
    alerts = per_day(times, AlertBudget(20, per="day").decide(times, scores))
    assert alerts.max() <= 20
    assert alerts[1:].min() >= 18


def test_precision_and_recall_come_close_to_those_of_hindsight():
    times, scores, positive = payments(n_days=20)
    online = judged_alerts(times, AlertBudget(20).decide(times, scores), positive).overall
    best = judged_alerts(times, best_of_each_period(times, scores, 20), positive).overall
    assert best.alerts == 400
    assert online.precision > 0.93 * best.precision
    assert online.recall > 0.9 * best.recall


def test_the_threshold_follows_scores_whose_ruler_changes():
    times, scores, _ = payments()
    drifting = scores * (1 + times / DAY) + times / DAY
    alerts = per_day(times, AlertBudget(20).decide(times, drifting))
    assert alerts.max() <= 20
    assert alerts[1:].min() >= 15


def test_hours_are_learned():
    """All rows of a day come in its first hour: on the second day nothing is saved for an evening without any."""
    rng = np.random.default_rng(1)
    times = np.concatenate([day * DAY + np.sort(rng.uniform(0, 3600, 1000)) for day in range(3)])
    alerts = per_day(times, AlertBudget(10).decide(times, rng.standard_normal(3000)))
    assert alerts[0] < 5
    assert alerts[1:].min() >= 9


def test_a_stream_that_begins_in_the_afternoon_does_not_teach_that_mornings_are_quiet():
    rng = np.random.default_rng(2)
    times = np.sort(rng.uniform(0.7 * DAY, 4 * DAY, 8000))
    flagged = AlertBudget(20).decide(times, rng.standard_normal(8000))
    second = flagged[(times >= DAY) & (times < 2 * DAY)]
    assert second[: second.size // 2].sum() == pytest.approx(10, abs=6)
    assert per_day(times, flagged)[1:].min() >= 18


def test_decisions_do_not_look_ahead_and_come_in_any_pieces():
    times, scores, _ = payments(n_days=4)
    whole = AlertBudget(20).decide(times, scores)
    changed = scores.copy()
    changed[5000:] = 0.0
    assert np.array_equal(AlertBudget(20).decide(times, changed)[:5000], whole[:5000])
    budget = AlertBudget(20)
    pieces = [budget.decide(times[k : k + 700], scores[k : k + 700]) for k in range(0, times.size, 700)]
    assert np.array_equal(np.concatenate(pieces), whole)
    single = AlertBudget(20)
    assert [single.decide_one(t, s) for t, s in zip(times, scores, strict=True)] == whole.tolist()


def test_it_goes_on_where_it_was():
    times, scores, _ = payments(n_days=4)
    keys = np.arange(times.size) % 97
    whole = AlertBudget(20, key="card").decide(times, scores, keys)
    for cut in (0, 3100):
        budget = AlertBudget(20, key="card")
        first = budget.decide(times[:cut], scores[:cut], keys[:cut])
        again = AlertBudget.restored(budget.to_json(), budget.state())
        rest = again.decide(times[cut:], scores[cut:], keys[cut:])
        assert np.array_equal(np.concatenate([first, rest]), whole)
    with pytest.raises(ParameterError, match="must be what its 'state' gave, got arrays"):
        AlertBudget.restored({"limit": 1, "per": "day", "key": None}, {})


def test_a_key_gets_one_alert_a_day():
    times, scores, positive = payments(n_days=5)
    keys = np.char.add("card", (np.arange(times.size) % 40).astype(str))
    flagged = AlertBudget(20, key="card").decide(times, scores, keys)
    days = (times // DAY).astype(int)
    for day in range(5):
        alerted = keys[flagged & (days == day)]
        assert len(set(alerted)) == alerted.size <= 20
    assert per_day(times, flagged)[1:].min() >= 18
    report = judged_alerts(times, flagged, positive, keys=keys)
    cases = {(day, key) for day, key, is_positive in zip(days, keys, positive, strict=True) if is_positive}
    alerts = {(day, key) for day, key, is_alert in zip(days, keys, flagged, strict=True) if is_alert}
    assert (report.overall.cases, report.overall.hits) == (len(cases), len(cases & alerts))
    best = best_of_each_period(times, scores, 20, keys=keys)
    assert per_day(times, best).tolist() == [20] * 5
    assert all(len(set(keys[best & (days == day)])) == 20 for day in range(5))


def test_equal_scores_are_spread_over_the_day():
    times = np.arange(0, 2 * DAY, 60.0)
    flagged = AlertBudget(24).decide(times, np.zeros(times.size))
    assert per_day(times, flagged).tolist() == [24, 24]
    second = np.flatnonzero(flagged)[24:] - 1440
    assert np.abs(second - np.linspace(30, 1410, 24)).max() < 90


def test_a_budget_for_more_than_there_is_takes_all_it_can():
    times = np.arange(0, 3 * DAY, 3600.0)
    alerts = per_day(times, AlertBudget(100).decide(times, np.random.default_rng(0).random(times.size)))
    assert alerts[1:].tolist() == [24, 24]


def test_rows_of_a_day_that_is_over_are_counted_and_rows_without_a_time_are_of_now():
    budget = AlertBudget(5, per="hour")
    assert not budget.decide([7300.0, 10.0, np.nan], [0.0, 9.0, 1.0])[1]
    assert budget.n_late == 1
    assert budget.state()["counts"][3] == 2  # rows of this hour


@pytest.mark.parametrize(
    ("text", "limit", "seconds"),
    [
        ("50/day", 50, DAY),
        ("10/hour", 10, 3600),
        ("100/week", 100, 7 * DAY),
        ("20/8h", 20, 8 * 3600),
        ("1/2d", 1, 2 * DAY),
    ],
)
def test_budgets_are_read_as_users_write_them(text, limit, seconds):
    budget = AlertBudget.parse(text)
    assert (budget.limit, budget.period.seconds, str(budget)) == (limit, seconds, text)


@pytest.mark.parametrize("text", ["50", "0/day", "-1/day", "x/day", "50/month", "5/0h", "5/day/2", ""])
def test_other_budgets_are_refused(text):
    with pytest.raises(ParameterError, match=r"An alert budget must be written N/PERIOD, such as 50/day.*got "):
        AlertBudget.parse(text)


@pytest.mark.parametrize("limit", [0, 2.5, True, "5"])
def test_other_limits_are_refused(limit):
    with pytest.raises(ParameterError, match="must be a whole number from 1 on, got"):
        AlertBudget(limit)


def test_wrong_rows_are_refused_and_change_nothing():
    budget = AlertBudget(5, key="card")
    for arguments, sentence in (
        (([0.0], [1.0]), "by 'card' must get a key for each row, got none"),
        (([0.0, 1.0], [1.0], ["a"]), "as many times as scores"),
        (([0.0], [np.nan], ["a"]), "must be finite"),
    ):
        with pytest.raises(ParameterError, match=sentence):
            budget.decide(*arguments)
    assert budget.state()["latest"].size == 0


def test_weeks_begin_on_monday_and_days_at_midnight():
    week = Period.parse("week")
    monday = float(np.datetime64("2024-01-01", "s").astype(int))
    assert week.number_of(monday) == week.number_of(monday - 1) + 1
    assert week.label(week.number_of(monday + 5 * DAY)) == "2024-01-01"
    assert Period.parse("hour").label(Period.parse("hour").number_of(monday + 3700)) == "2024-01-01T01:00"


def test_alerts_are_judged_by_day_and_by_value():
    times = np.array([0.0, 10.0, np.nan, DAY, DAY + 1])
    flagged, positive = np.array([1, 1, 0, 0, 1], bool), np.array([1, 0, 1, 1, 1], bool)
    report = judged_alerts(times, flagged, positive, values=[10.0, 1.0, np.nan, 30.0, 20.0])
    assert [(day.name, day.rows, day.cases, day.alerts, day.hits) for day in report.periods] == [
        ("1970-01-01", 3, 2, 2, 1), ("1970-01-02", 2, 2, 1, 1),
    ]  # fmt: skip
    assert (report.overall.precision, report.overall.recall) == (2 / 3, 0.5)
    assert (report.overall.value, report.overall.caught_value, report.overall.caught_share) == (60.0, 30.0, 0.5)
    assert np.isnan(judged_alerts(times, flagged, positive).overall.value)


def test_with_keys_what_follows_an_alert_is_caught():
    times, keys = np.arange(5.0), ["a", "a", "a", None, None]
    flagged, positive = np.array([0, 1, 0, 0, 1], bool), np.array([1, 0, 1, 1, 1], bool)
    overall = judged_alerts(times, flagged, positive, keys=keys, values=np.full(5, 10.0)).overall
    assert (overall.cases, overall.alerts, overall.hits) == (3, 2, 2)
    assert (overall.value, overall.caught_value) == (40.0, 20.0)
