"""A history at its door: forms of input, room for keys, clocks, warnings, files, bad input."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import lopsided as lp
from history.streams import events, part
from lopsided import HistoryWarning, KeyedHistory
from lopsided.estimators.state.arrays import ModelFileError
from oracles.history import code_of

TABLE = {
    "card": ["7", "8", "7", "", "7"],
    "when": [0, 60, 120, 180, 3600],
    "amount": [1.0, 5.0, 2.0, 3.0, 90.0],
}
Y = [0, 1, 0, 0, 1]


def history(**options):
    return KeyedHistory(**({"keys": ["card"], "time": "when", "value": "amount", "slots": 64} | options))


def feature(one, features, name):
    return features[:, list(one.get_feature_names_out()).index(name)]


@pytest.fixture(scope="module")
def expected():
    return history().progressive_features(TABLE, Y)


# ---- forms of input ----


def forms():
    numbers = {"card": [7, 8, 7, None, 7], "when": TABLE["when"], "amount": TABLE["amount"]}
    dates = np.array(TABLE["when"], dtype="datetime64[s]")
    stamps = [str(date) for date in dates]
    return {
        "a frame of words": pd.DataFrame(TABLE),
        "a frame of numbers with gaps": pd.DataFrame(numbers),
        "a frame of categories": pd.DataFrame(TABLE).astype({"card": "category"}),
        "a frame of dates": pd.DataFrame(TABLE | {"when": dates}),
        "dates with a zone": pd.DataFrame(TABLE | {"when": pd.to_datetime(dates).tz_localize("UTC")}),
        "dates as words": TABLE | {"when": stamps},
        "numbers as words": TABLE
        | {"when": [str(time) for time in TABLE["when"]], "amount": ["1", "5", "2", "3", "90"]},
        "arrow": pa.table(TABLE),
        "arrow of numbers": pa.table(numbers),
        "a list of mappings": pd.DataFrame(numbers).to_dict("records"),
        "words that stand for nothing": TABLE | {"card": ["7", "8", "7", "NA", "7"]},
        "mixed cells": TABLE | {"card": [7, "8", 7.0, None, np.int64(7)]},
        "structured": np.array(list(zip(*TABLE.values(), strict=True)), dtype="U5,i8,f8").astype(
            [("card", "U5"), ("when", "i8"), ("amount", "f8")]
        ),
    }


@pytest.mark.parametrize("form", forms())
def test_all_forms_of_a_table_are_one(form, expected):
    assert np.array_equal(history().progressive_features(forms()[form], Y), expected)


@pytest.mark.parametrize("as_list", [False, True])
def test_arrays_have_columns_by_number(as_list, expected):
    X = np.array([[7, 8, 7, np.nan, 7], TABLE["when"], TABLE["amount"]], dtype=np.float64).T
    one = KeyedHistory(keys=[0], time=1, value=2, slots=64)
    assert np.array_equal(one.progressive_features(X.tolist() if as_list else X, Y), expected)
    assert one.n_features_in_ == 3


def test_keys_are_hashed_alike_everywhere_and_apart_by_column():
    from lopsided.encoding.key_columns import key_codes

    codes = key_codes(["ann", "bob", 7, None, "é"], 0)
    assert codes.tolist() == key_codes(["ann", "bob", "7", "", "é"], 0).tolist()
    assert codes.tolist() == [code_of(text, 0) for text in ("ann", "bob", "7", "", "é")]
    assert len({*codes.tolist(), *key_codes(["ann", "bob", 7, None, "é"], 1).tolist()}) == 10
    assert np.array_equal(codes.astype(np.float64).astype(np.uint64), codes)


def test_labels_may_be_words_and_missing_ones_come_later(expected):
    one = history(pos_label="bad")
    names = ["good", "bad", "good", "good", "bad"]
    assert np.array_equal(one.progressive_features(TABLE, names), expected)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        one.partial_fit(TABLE, ["good", "bad", "good", "ugly", "bad"])
    late = history()
    late.progressive_features(TABLE, [0, None, 0, 0, 1])
    late.learn_labels(part(TABLE, slice(1, 2)), [1])
    assert np.array_equal(late.transform(TABLE), history().partial_fit(TABLE, Y).transform(TABLE))


def test_fit_forgets_and_fit_transform_reads_before_it_remembers(expected):
    one = history().fit(TABLE, Y)
    assert np.array_equal(one.fit_transform(TABLE, Y), expected)
    assert one.n_seen_ == 5 and not np.array_equal(one.transform(TABLE), expected)
    assert np.array_equal(clone(one).set_output(transform="pandas").fit_transform(TABLE, Y).to_numpy(), expected)


# ---- room, clocks, labels that are late ----


def test_a_full_set_forgets_who_was_not_seen_for_longest_and_says_so_once():
    one = history(slots=8, value=None)
    one.partial_fit({"card": list("abcdefgh"), "when": range(8)})
    one.partial_fit({"card": ["a"], "when": [8]})
    with pytest.warns(HistoryWarning, match=r"has 8: 1 key\(s\) were forgotten"):
        one.partial_fit({"card": ["i"], "when": [9]})
    since = feature(one, one.transform({"card": list("abci"), "when": [10] * 4}), "card.since")
    assert np.allclose(np.expm1(since), [2.0, 90 * 86400, 8.0, 1.0])
    one.partial_fit({"card": ["j"], "when": [11]})
    assert one.n_evicted_ == 2 and one.n_keys_ == 8


def test_a_late_label_for_a_forgotten_key_pushes_nobody_out():
    one = history(slots=8, value=None)
    tokens = one.observe({"card": list("abcdefgh"), "when": range(8)}).tokens
    with pytest.warns(HistoryWarning):
        one.partial_fit({"card": ["i"], "when": [9]})
    before = one.transform({"card": list("bcdefghi"), "when": [10] * 8})
    one.learn_labels(tokens[:1], [1])
    after = one.transform({"card": list("bcdefghi"), "when": [10] * 8})
    assert one.n_lost_labels_ == 1 and one.n_keys_ == 8 and one.n_evicted_ == 1
    assert np.array_equal(feature(one, before, "card.since"), feature(one, after, "card.since"))
    one.learn_labels(tokens[1:2], [1])
    assert feature(one, one.transform({"card": ["b"], "when": [10]}), "card.risk_1h")[0] > np.log(2.0)


def test_late_rows_and_rows_without_a_time_happen_at_the_latest_time():
    rows = {"card": list("abaaa"), "when": [100, 500, 200, None, 500], "amount": [1.0] * 5}
    one, other = history(), history()
    found = one.progressive_features(rows)
    told = other.progressive_features(rows | {"when": [100, 500, 500, 500, 500]})
    assert np.array_equal(found[:, :-4], told[:, :-4])  # the hour is the row's own
    assert one.n_late_rows_ == 1 and other.n_late_rows_ == 0


def test_labels_decay_on_the_clock_of_labels_and_not_with_their_delay():
    one = history(value=None, half_lives=["1h"])
    tokens = one.observe({"card": ["a", "b"], "when": [0, 30 * 86400]}).tokens
    one.learn_labels(tokens[:1], [1])
    risk = feature(one, one.transform({"card": ["a"], "when": [30 * 86400]}), "card.risk_1h")[0]
    assert risk == pytest.approx(np.log((1 + 2 * 1.5 / 51) / 3 / (1.5 / 51)))


def test_a_key_that_is_missing_where_the_label_is_positive_is_flagged():
    n = 60
    rows = {"card": [None if t % 3 == 0 else f"c{t}" for t in range(n)], "when": range(n), "amount": [1.0] * n}
    one = history(slots=1024)
    with pytest.warns(HistoryWarning, match="The key 'card' should be known before .* 20 of 20 rows without it"):
        features = one.progressive_features(rows, [int(t % 3 == 0) for t in range(n)])
    assert feature(one, features, "card is missing").tolist() == [float(t % 3 == 0) for t in range(n)]
    assert one.missing_keys_ == {"card": (20, 20)}
    one.partial_fit(rows, [int(t % 3 == 0) for t in range(n)])  # said once


def test_nothing_is_infinite_however_large_or_alike_the_amounts_are():
    rows = {"card": list("ababab"), "when": range(6), "amount": [1e150, -1e150, 0.0, 1e-300, 1e150, 1e150]}
    one = history()
    assert np.isfinite(one.progressive_features(rows, [*Y, 0])).all()
    assert lp.from_bytes(one.to_bytes()).n_seen_ == 6
    alike = history().progressive_features(rows | {"amount": [5.0] * 6})
    assert feature(one, alike, "card.z_1h").tolist() == [0.0] * 6


# ---- files ----


def test_a_file_holds_what_is_used_and_the_labels(tmp_path):
    one = KeyedHistory(["card"], "when", "amount", pos_label="bad").partial_fit(TABLE, ["good", "bad", *["good"] * 3])
    one.save(tmp_path / "history")
    assert (tmp_path / "history").stat().st_size < 5000
    loaded = lp.load(tmp_path / "history")
    assert str(loaded) == str(one) and loaded.to_bytes() == one.to_bytes()
    loaded.learn_labels(TABLE, ["good"] * 5)
    assert loaded.partial_fit(TABLE).n_seen_ == 10


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("slots", lambda slots: slots[::-1].copy()),
        ("slots", lambda slots: slots + 64),
        ("keys", lambda keys: keys + np.uint64(1)),
        ("tally", lambda tally: -tally),
        ("sums", lambda sums: sums[:, :1].copy()),
    ],
)
def test_a_damaged_file_is_refused(name, change):
    one = history().partial_fit(TABLE, Y)
    arrays = {key: np.array(array) for key, array in one._arrays().items()}
    arrays[f"history.{name}"] = change(arrays[f"history.{name}"])
    with pytest.raises(ModelFileError, match="damaged"):
        clone(one)._restore(arrays)


def test_only_histories_with_the_same_parameters_can_be_added():
    one = history().partial_fit(TABLE, Y)
    with pytest.raises(ValueError, match="must have the same parameters"):
        one.absorb(history(slots=128).partial_fit(TABLE, Y))
    with pytest.raises(ValueError, match=r"must be a KeyedHistory. Got int"):
        one.absorb(7)


# ---- bad input changes nothing ----


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"keys": []}, "'keys' parameter of KeyedHistory must be a list of names"),
        ({"keys": ["card", "card"]}, "each once"),
        ({"keys": "card"}, r"Got 'card' instead"),
        ({"time": None}, "'time' parameter of KeyedHistory must be the name or the number of a column"),
        ({"half_lives": ["soon"]}, "'half_lives' parameter .* durations such as"),
        ({"half_lives": ["0h"]}, "'half_lives' parameter"),
        ({"slots": 100}, "a power of two from 8"),
    ],
)
def test_wrong_parameters_get_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        history(**options).fit(TABLE)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"amount": [1.0, "much", 1.0, 1.0, 1.0]}, r"Column 'amount' in row 1 of the table must be a finite number"),
        ({"amount": [1.0] * 4}, "must be equally long. Got lengths"),
        ({"when": ["2024-01-01", "soon", "", "", ""]}, "Column 'when' in row 1 of the table must be a date"),
        ({"when": [1.7e12] * 5}, "Time column 'when' in row 0 of the table must be a date or seconds below"),
        ({"card": [["a"], "b", "c", "d", "e"]}, "Column 'card' in row 0 of the table must be a word or a number"),
    ],
)
def test_a_bad_table_gets_a_sentence_and_changes_nothing(change, sentence):
    one = history().partial_fit(TABLE, Y)
    before = one.to_bytes()
    with pytest.raises(ValueError, match=sentence):
        one.partial_fit(TABLE | change, Y)
    assert one.to_bytes() == before


def test_other_bad_input_gets_a_sentence():
    one = history()
    with pytest.raises(NotFittedError):
        one.transform(TABLE)
    with pytest.raises(ValueError, match="first row of a history must have a time in column 'when'"):
        one.fit(TABLE | {"when": [None, 1, 2, 3, 4]})
    with pytest.raises(ValueError, match="must hold the column 'card', got only when, amount"):
        one.fit({"when": [0], "amount": [1.0]})
    with pytest.raises(ValueError, match="A table must be a data frame"):
        one.fit("rows.csv")
    tokens = one.observe(TABLE).tokens
    with pytest.raises(ValueError, match=r"must be rows of 2 codes. Got shape \(5, 1\)"):
        one.learn_labels(tokens[:, :1], Y)
    with pytest.raises(ValueError, match=r"must all be there. Got none in row 1"):
        one.learn_labels(tokens, [0, None, 0, 0, 1])
    with pytest.raises(ValueError, match="as many as the rows"):
        one.learn_labels(tokens, [0])


def test_no_rows_are_fine():
    one = history().partial_fit(part(TABLE, slice(0, 0)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert one.transform(part(TABLE, slice(0, 0))).shape == (0, len(one.get_feature_names_out()))
    assert one.observe(events(10, 1)[0] | {"card": ["a"] * 10}).tokens.shape == (10, 2)


def test_a_single_row_is_the_row_of_a_table(expected):
    rows = pd.DataFrame(TABLE | {"card": ["7", 8, 7.0, None, "7"]}).astype({"card": object}).to_dict("records")
    for change in ({}, {"when": "1970-01-01T00:00:00"}):
        one = history()
        found = [one.progressive_features([row | change], [y]) for row, y in zip(rows, Y, strict=True)]
        many = history().progressive_features([row | change for row in rows], Y)
        assert np.array_equal(np.concatenate(found), many)
        assert change or np.array_equal(many, expected)
