"""Payments with late labels."""

import numpy as np
import pytest

from lopsided.datasets import transactions


def test_frauds_are_as_rare_as_asked_and_come_in_bursts():
    stream = transactions(20_000, 0.01, random_state=1)
    frauds = np.flatnonzero(stream.y)
    assert frauds.size == 200
    # Were they spread evenly, a twentieth of the gaps would be below 5 rows.
    assert np.mean(np.diff(frauds) < 40) > 0.5
    assert np.array_equal(transactions(500, random_state=3).X, transactions(500, random_state=3).X)


def test_labels_come_late_and_those_of_frauds_at_odd_times():
    stream = transactions(20_000)
    assert (stream.delays[stream.y == 0] == 6000).all()
    late = stream.delays[stream.y == 1]
    assert late.min() >= 1 and 2500 < np.median(late) < 6000


def test_the_manner_of_fraud_changes_half_way():
    stream = transactions(20_000)
    amount, half = stream.X[:, 0], stream.n_rows // 2
    fraud = stream.y == 1
    early, late = fraud & (np.arange(20_000) < half), fraud & (np.arange(20_000) >= half)
    assert amount[early].mean() > amount[~fraud].mean() + 0.5 > amount[late].mean() + 0.5


@pytest.mark.parametrize(("n", "rare", "word"), [(5, 0.1, "n of"), (True, 0.1, "n of"), (100, 0.7, "rare of")])
def test_nonsense_is_refused(n, rare, word):
    with pytest.raises(ValueError, match=word):
        transactions(n, rare)
