"""The compiled history against one that keeps every row and makes every sum anew."""

import numpy as np
import pytest

from history.streams import events, part
from lopsided import KeyedHistory
from lopsided.constraints import seconds_in
from oracles.history import NaiveHistory

N = 300
OPTIONS = [
    {"n_keys": 1, "half_lives": ["1d"], "value": None},
    {"n_keys": 1, "half_lives": ["1h", "1d", "7d", "30d"], "value": "amount"},
    {"n_keys": 2, "half_lives": ["90s", "2w"], "value": None},
    {"n_keys": 3, "half_lives": ["15m", "1d"], "value": "amount"},
]


def disagreement(options, lateness, n=N, values=3, broken=False):
    """The largest difference of any feature; labels arrive `lateness` rows after theirs, out of order, or at once."""
    n_keys, value = options["n_keys"], options["value"]
    table, y = events(n, n_keys, values=values)
    keys = [f"k{k}" for k in range(n_keys)]
    history = KeyedHistory(keys=keys, time="when", value=value, half_lives=options["half_lives"], slots=8192)
    naive = NaiveHistory(n_keys, [seconds_in(h) for h in options["half_lives"]], value is not None)
    found, expected, waiting = [], [], []
    delays = np.random.default_rng(1).integers(lateness, 2 * lateness + 1, n) if lateness else np.zeros(n, dtype=int)
    for t in range(n):
        row = part(table, slice(t, t + 1))
        codes = tuple(row[key][0] for key in keys)
        amount = row["amount"][0] if value else None
        time = None if row["when"][0] is None else round(row["when"][0] * 1e6)
        for _, s, token, naive_token in [entry for entry in waiting if entry[0] <= t]:
            history.learn_labels(token, y[s : s + 1])
            naive.learn(naive_token, 1 - y[s] if broken and s == 100 else y[s])
        waiting = [entry for entry in waiting if entry[0] > t]
        expected.append(naive.read(codes, time, amount))
        naive_token = naive.note(codes, time, amount)
        if lateness:
            features, token = history.observe(row)
            waiting.append((t + delays[t], t, token, naive_token))
        else:
            features = history.progressive_features(row, [y[t]])
            naive.learn(naive_token, y[t])
        found.append(features[0])
    assert history.n_late_rows_ == naive.late > 0 and history.n_evicted_ == history.n_evicted_pairs_ == 0
    assert history.n_keys_ == len(naive.past)
    return np.abs(np.array(found) - np.array(expected)).max()


@pytest.mark.parametrize("lateness", [0, 30])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_feature_is_the_naive_one(options, lateness):
    assert disagreement(options, lateness) < 1e-9


def test_over_thousands_of_rows():
    assert disagreement(OPTIONS[3], 50, n=2000, values=80) < 1e-9


def test_the_comparison_sees_a_single_label_that_is_learned_otherwise():
    assert disagreement(OPTIONS[0], 30, n=200, broken=True) > 1e-3


def test_names_are_as_many_as_features():
    for options in OPTIONS:
        table, _ = events(3, options["n_keys"])
        keys = [f"k{k}" for k in range(options["n_keys"])]
        history = KeyedHistory(keys=keys, time="when", value=options["value"], half_lives=options["half_lives"])
        names = history.get_feature_names_out()
        assert history.fit_transform(table).shape == (3, len(names)) and len(set(names)) == len(names)
