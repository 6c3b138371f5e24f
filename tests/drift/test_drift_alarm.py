"""The drift alarm against a plain transcription, and what it promises."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from lopsided.constraints import ParameterError
from lopsided.drift import DriftAlarm
from oracles.drift import NaiveDriftAlarm

DAY = 86_400.0


def table(seed, n, change):
    """Two numbers, one with gaps and one of few values, and a share; all change at two thirds."""
    rng = np.random.default_rng(seed)
    late = np.arange(n) >= 2 * n // 3
    first = rng.normal(size=n) + change * late
    first[rng.random(n) < 0.02 + 0.3 * late * (change > 0)] = np.nan
    second = rng.poisson(0.4 + change * late).astype(float)
    third = np.where(rng.random(n) < 0.3, (rng.random(n) < 0.5 - 0.4 * change * late).astype(float), np.nan)
    return np.column_stack([first, second, third])


def columns(rows):
    return {"first": rows[:, 0], "second": rows[:, 1], "third": rows[:, 2]}


@pytest.mark.parametrize("trends", [False, True])
@pytest.mark.parametrize("change", [0.0, 0.25])
def test_equals_the_transcription_on_blocks_of_rows(trends, change):
    rows = table(1, 9_000, change)
    alarm = DriftAlarm(["first", "second"], shares=["third"], trends=trends, false_alarms=20.0)
    alarm.update_many(columns(rows))
    naive = NaiveDriftAlarm(2, 1, trends=trends, false_alarms=20.0)
    for row in rows:
        naive.update(row)
    compare(alarm, naive)
    assert bool(alarm.alarms) is (change > 0)


def test_equals_the_transcription_on_days():
    rng = np.random.default_rng(2)
    n, days = 12_000, 75
    times = np.sort(rng.random(n)) * days * DAY
    times[5_000] -= 3 * DAY  # a late row
    weekend = times // DAY % 7 >= 5
    rows = table(2, n, 0.4)
    rows[:, 0] += weekend
    keep = (times // DAY != 20) & (times // DAY != 41)  # days without rows
    rows, times = rows[keep], times[keep]
    for trends in (False, True):
        alarm = DriftAlarm(["first", "second"], shares=["third"], period="day", trends=trends, false_alarms=1.0)
        alarm.update_many(columns(rows), times)
        naive = NaiveDriftAlarm(2, 1, by_day=True, trends=trends, false_alarms=1.0)
        for row, time in zip(rows, times, strict=True):
            naive.update(row, time)
        compare(alarm, naive)
        assert alarm.alarms


def compare(alarm, naive):
    assert len(alarm.alarms) == len(naive.alarms)
    for found, (series, edge, row, since, before, after, p) in zip(alarm.alarms, naive.alarms, strict=True):
        assert found.series == ("first", "second", "third")[series]
        expected = "" if series == 2 else "missing" if np.isnan(edge) else f"above {edge:.6g}"
        assert (found.what, found.row, found.since_row) == (expected, row, since)
        assert np.allclose([found.before, found.after, found.p], [before, after, p], rtol=1e-6, atol=1e-300)


def test_pieces_and_a_saved_state_change_nothing():
    rng = np.random.default_rng(3)
    rows, times = table(3, 8_000, 0.5), np.sort(rng.random(8_000)) * 70 * DAY
    words = rng.choice(list("abcdefghijk"), 8_000)
    words[6_000:] = rng.choice(list("ab"), 2_000)
    for period in (None, "day"):
        whole = DriftAlarm(["first", "second"], ["word"], ["third"], period=period)
        whole.update_many(columns(rows) | {"word": words}, times)
        parts, cuts = DriftAlarm(["first", "second"], ["word"], ["third"], period=period), [0, 1, 700, 5_300, 8_000]
        for start, stop in pairwise(cuts):
            part = {name: values[start:stop] for name, values in (columns(rows) | {"word": words}).items()}
            parts.update_many(part, times[start:stop])
            parts = DriftAlarm.from_bytes(parts.to_bytes())
        assert whole.alarms == parts.alarms
        assert {alarm.series for alarm in whole.alarms} >= {"first", "word"}
        assert whole.to_bytes() == parts.to_bytes()


def test_hours_and_weekends_are_no_drift_and_a_change_among_them_is():
    rng = np.random.default_rng(4)
    n = 30_000
    times = np.sort(rng.random(n)) * 120 * DAY
    hour, weekend = times % DAY / 3600, times // DAY % 7 >= 5
    amount = rng.normal(size=n) + 3 * (hour < 7) + weekend
    score = np.where(times < 100 * DAY, amount, amount + 0.8)
    alarm = DriftAlarm(["amount", "score"], period="day")
    alarm.update_many({"amount": amount, "score": score}, times)
    assert [found.series for found in alarm.alarms] == ["score"]
    assert 100 * DAY <= alarm.alarms[0].time <= 104 * DAY
    assert alarm.alarms[0].since_time >= 98 * DAY


def test_what_has_changed_is_named():
    rng = np.random.default_rng(5)
    late = np.arange(20_000) >= 12_000
    country = np.where(rng.random(20_000) < np.where(late, 0.5, 0.2), "DE", "FR")
    gaps = np.where(rng.random(20_000) < 0.3 * late, np.nan, 1.0)
    alarm = DriftAlarm(["gaps"], ["country"], ["right"])
    for start in range(0, 20_000, 250):
        part = slice(start, start + 250)
        outcome = np.full(250, np.nan)
        alarm.update_many({"gaps": gaps[part], "country": country[part], "right": outcome})
        alarm.note("right", rng.random(50) < (0.9 if start < 12_000 else 0.3))
    found = {one.series: one for one in alarm.alarms}
    assert found["gaps"].what == "missing" and found["gaps"].before < 0.01
    assert found["country"].what in ("'DE'", "'FR'")
    assert found["right"].what == "" and found["right"].after < 0.5 < found["right"].before
    assert str(found["right"]).startswith("right: 9")


def test_words_of_arrow_are_those_of_lists():
    words = ["b", None, "a", "", *"ccdefghij", "a"]
    codes = [DriftAlarm(["x"], ["word"]) for _ in range(3)]
    given = [words, pa.array(words), pa.chunked_array([words[:3], words[3:]])]
    for alarm, column in zip(codes, given, strict=True):
        alarm.update_many({"x": np.zeros(len(words)), "word": column})
    assert codes[0].codes == codes[1].codes == codes[2].codes == [{word: k for k, word in enumerate("bacdefg")}]
    assert codes[0].to_bytes() == codes[1].to_bytes() == codes[2].to_bytes()


def test_few_false_alarms_on_streams_that_do_not_change():
    rng = np.random.default_rng(6)
    rows = {f"normal {k}": rng.normal(size=60_000) for k in range(4)} | {"cauchy": rng.standard_cauchy(60_000)}
    rows["rare"] = (rng.random(60_000) < 0.001).astype(float)
    rows["constant"] = np.ones(60_000)
    alarm = DriftAlarm([name for name in rows if name != "rare"], shares=["rare"])
    assert alarm.update_many(rows) == []


def test_bad_input_is_refused_with_a_sentence():
    with pytest.raises(ParameterError, match="one or more different names"):
        DriftAlarm()
    with pytest.raises(ParameterError, match="must be a number > 0"):
        DriftAlarm(["a"], false_alarms=0)
    with pytest.raises(ParameterError, match="got none for"):
        DriftAlarm(["a"]).update_many({"b": [1.0]})
    with pytest.raises(ParameterError, match="must be given for every row"):
        DriftAlarm(["a"], period="day").update_many({"a": [1.0]})
    with pytest.raises(ParameterError, match="one of"):
        DriftAlarm(["a"]).note("a", [1.0])
    with pytest.raises(ParameterError, match="must be the state of a drift alarm"):
        DriftAlarm.from_bytes(b"no such thing")
