"""The card stream has the habits and frauds that it promises, and its features know no label too early."""

import numpy as np
import pytest

from lopsided.datasets import CARD_FEATURES, card_features, card_stream
from lopsided.datasets.cards import DAY
from lopsided.metrics import auroc

STREAM = card_stream(200, 400, 60, random_state=3)
RAW = STREAM.columns


def test_rows_in_order_of_time_with_all_their_columns():
    assert STREAM.X.shape == (STREAM.y.size, 15) and STREAM.feature_names == CARD_FEATURES
    assert np.isfinite(STREAM.X).all() and (np.diff(STREAM.times) >= 0).all()
    assert STREAM.times.min() >= 0 and STREAM.times.max() < 60 * DAY
    assert all(values.size == STREAM.y.size for values in RAW.values())
    assert np.array_equal(RAW["time"], STREAM.times)
    assert np.array_equal(RAW["hour"], STREAM.times % DAY // 3600) and set(RAW["weekday"]) == set(range(7))
    assert np.array_equal(STREAM.y == 1, RAW["scenario"] > 0)


def test_about_eight_in_a_thousand_are_frauds_of_three_kinds():
    long = card_stream(1_000, 2_000, 120)
    assert 0.006 < long.y.mean() < 0.010
    assert set(long.columns["scenario"]) == {0, 1, 2, 3}
    assert abs(long.n_rows / (1_000 * 2 * 120) - 0.97) < 0.05


def test_customers_have_habits_and_go_to_terminals_near_them():
    honest = RAW["scenario"] == 0
    customers, amounts = RAW["customer"][honest], RAW["amount"][honest]
    means = np.array([amounts[customers == k].mean() for k in range(200) if (customers == k).sum() > 30])
    spreads = np.array([amounts[customers == k].std() for k in range(200) if (customers == k).sum() > 30])
    assert 4 < means.min() < 20 and 85 < means.max() < 110
    assert np.median(spreads / means) == pytest.approx(0.47, abs=0.05)
    hours = RAW["hour"]
    assert ((hours >= 7) & (hours < 17)).mean() > 0.55 and (hours < 7).mean() > 0.1
    reached = [np.unique(RAW["terminal"][RAW["customer"] == k]).size for k in range(200)]
    assert 20 < max(reached) < 160  # of 400, because the others are too far away


def test_amounts_over_the_limit_are_frauds():
    assert (RAW["scenario"][RAW["amount"] > 220] > 0).all()
    assert (RAW["amount"][RAW["scenario"] == 1] > 220).all()


def test_terminals_are_compromised_for_four_weeks():
    day = STREAM.times // DAY
    for terminal in np.unique(RAW["terminal"][RAW["scenario"] == 2]):
        there = RAW["terminal"] == terminal
        days = day[there & (RAW["scenario"] == 2)]
        last = days.min() + 27 if days.max() - days.min() < 28 else days.max()
        during = there & (day >= days.min()) & (day <= min(last, days.max()))
        assert (STREAM.y[during] == 1).all()  # every payment there


def test_misused_cards_pay_five_times_the_usual_for_two_weeks():
    is_misuse = RAW["scenario"] == 3
    assert is_misuse.sum() > 30
    for customer in np.unique(RAW["customer"][is_misuse]):
        own = RAW["customer"] == customer
        usual = RAW["amount"][own & (RAW["scenario"] == 0)].mean()
        misused = RAW["amount"][own & is_misuse]
        assert misused.size < 3 or 2.5 < misused.mean() / usual < 8.0
    days = STREAM.times[is_misuse] // DAY
    by_card = [days[RAW["customer"][is_misuse] == k] for k in np.unique(RAW["customer"][is_misuse])]
    assert np.median([np.ptp(found) for found in by_card]) <= 14


def by_hand(t, times, customer, terminal, amount, fraud, delay):
    """The features of row t once more, by going through all rows."""
    now, earlier = times[t], np.arange(times.size) <= t
    found = [amount[t], float(now // DAY % 7 >= 5), float(now % DAY < 7 * 3600)]
    for window in (1, 7, 30):
        own = earlier & (customer == customer[t]) & (times >= now - window * DAY)
        found += [own.sum(), amount[own].mean()]
    for window in (1, 7, 30):
        since, until = now - (delay + window) * DAY, now - delay * DAY
        known = (terminal == terminal[t]) & (times >= since) & (times < until)
        found += [known.sum(), fraud[known].mean() if known.any() else 0.0]
    return found


@pytest.mark.parametrize("delay", [7.0, 0.0, 2.5])
def test_features_are_what_their_names_say(delay):
    rng = np.random.default_rng(0)
    n = 600
    times = np.sort(rng.uniform(0, 50 * DAY, n))
    times[100:103] = times[100]  # at the same moment
    customer, terminal = rng.integers(0, 5, n), rng.integers(0, 4, n)
    customer[100:103] = 2
    amount, fraud = rng.uniform(1, 50, n), rng.random(n) < 0.3
    X = card_features(times, customer, terminal, amount, fraud, label_delay=delay)
    expected = [by_hand(t, times, customer, terminal, amount, fraud, delay) for t in range(n)]
    assert np.allclose(X, expected, rtol=0, atol=1e-9)


def test_no_feature_knows_its_own_label_or_one_that_had_not_come_yet():
    parts = (RAW["time"], RAW["customer"], RAW["terminal"], RAW["amount"])
    for t in (9_000, 15_000, 21_000):
        known = STREAM.times < STREAM.times[t] - 7 * DAY
        turned = np.where(known, STREAM.y == 1, STREAM.y == 0)
        assert np.array_equal(card_features(*parts, turned)[t], STREAM.X[t])
        # A known label at the same terminal is seen, the last that came included.
        same = np.flatnonzero(known & (RAW["terminal"] == RAW["terminal"][t]))
        turned = STREAM.y == 1
        turned[same[-1]] ^= True
        assert not np.array_equal(card_features(*parts, turned)[t], STREAM.X[t])


def test_rows_cannot_know_what_comes_after_them():
    cut = STREAM.y.size // 2
    first = [RAW[name][:cut] for name in ("time", "customer", "terminal", "amount")]
    assert np.allclose(card_features(*first, STREAM.y[:cut] == 1), STREAM.X[:cut], rtol=0, atol=1e-9)


def test_delays_are_the_rows_that_come_before_a_label():
    late = np.flatnonzero(STREAM.times + 7 * DAY < STREAM.times[-1])
    after = late + STREAM.delays[late]
    assert (STREAM.times[after] <= STREAM.times[late] + 7 * DAY).all()
    assert (STREAM.times[after + 1] > STREAM.times[late] + 7 * DAY).all()


def test_the_features_tell_frauds_apart():
    later = STREAM.times > 37 * DAY
    risk = STREAM.X[:, CARD_FEATURES.index("terminal_risk_7d")] + STREAM.X[:, 0] / 1000
    assert auroc(STREAM.y[later], risk[later]) > 0.75


def test_streams_repeat_themselves_by_seed_only():
    assert np.array_equal(card_stream(20, 20, 10).X, card_stream(20, 20, 10).X)
    assert card_stream(20, 20, 10, random_state=1).n_rows != card_stream(20, 20, 10, random_state=2).n_rows


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_customers": 0}, "n_customers of card_stream must be a whole number >= 1, got 0"),
        ({"n_terminals": 1.5}, "n_terminals of card_stream must be a whole number >= 1, got 1.5"),
        ({"days": 0}, "days of card_stream must be a whole number >= 1, got 0"),
        ({"label_delay": -1.0}, "label_delay of card_stream must be a number of days >= 0, got -1.0"),
    ],
)
def test_impossible_streams_are_refused_with_a_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        card_stream(**options)
