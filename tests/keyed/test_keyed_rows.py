"""Rows in every form that has a key in it: arrays, frames, mappings; words and numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lopsided as lp
from keyed.streams import stream, without_key

X, KEYS, Y, _ = stream(120)
NAMES = ["a", "card", "b", "c", "d", "e"]
WORDS = [f"card {key}" for key in KEYS]


def model(**options):
    return lp.KeyedLearner(lp.OCS(), **({"key": "card"} | options))


def frame(keys):
    return pd.DataFrame(without_key(X), columns=[name for name in NAMES if name != "card"]).assign(card=keys)[NAMES]


EXPECTED = model(key=1).progressive_scores(X, Y)


@pytest.mark.parametrize(
    "keys", [KEYS, KEYS.astype(float), KEYS.astype(str), WORDS], ids=["int", "float", "str", "word"]
)
def test_all_forms_of_a_table_are_the_same_rows(keys):
    table = frame(keys)
    forms = [table, pl.from_pandas(table), pa.Table.from_pandas(table), table.to_dict("list"), table.to_dict("records")]
    for form in forms:
        learner = model()
        np.testing.assert_array_equal(learner.progressive_scores(form, Y), EXPECTED)
        assert learner.feature_names_in_.tolist() == NAMES and learner.n_features_in_ == 6
        answers = learner.raw_scores(table)
        assert [learner.raw_score_one(row) for row in table.to_dict("records")] == answers.tolist()
    singles = model()
    for row, label in zip(table.to_dict("records"), Y.tolist(), strict=True):
        singles.learn_one(row, label)
    batch = model().partial_fit(table, Y)
    for name, array in batch._arrays().items():
        np.testing.assert_array_equal(singles._arrays()[name], array)


def test_arrays_may_hold_words():
    table = np.array(frame(WORDS), dtype=object)
    learner = model(key=1)
    np.testing.assert_array_equal(learner.progressive_scores(table, Y), EXPECTED)
    assert [learner.raw_score_one(row) for row in table] == learner.raw_scores(table).tolist()


def test_numbers_are_keys_however_they_are_written():
    learner = model().partial_fit(frame(KEYS), Y)
    np.testing.assert_array_equal(learner.raw_scores(frame(KEYS.astype(str))), learner.raw_scores(frame(KEYS)))
    plain = model(key=1).partial_fit(X, Y)
    np.testing.assert_array_equal(plain.raw_scores(X), learner.raw_scores(frame(KEYS)))
    fractions = X.copy()
    fractions[:, 1] += 0.5
    halves = model(key=1).partial_fit(fractions, Y)
    np.testing.assert_array_equal(halves.raw_scores(fractions), plain.raw_scores(X))


def test_a_missing_key_is_a_key_of_its_own():
    keys = [None if key == 0 else word for key, word in zip(KEYS, WORDS, strict=True)]
    np.testing.assert_array_equal(model().progressive_scores(frame(keys), Y), EXPECTED)


def test_a_scaler_is_shared_by_all_keys():
    options = {"scaler": lp.OnlineScaler(), "key": 1}
    scaled = lp.StreamPipeline(lp.OnlineScaler(), lp.OCS()).partial_fit(without_key(X), Y)
    keyed = model(**options).partial_fit(X, Y)
    np.testing.assert_array_equal(keyed.global_learner_.coef_, scaled.learner_.coef_)


@pytest.mark.parametrize(
    ("options", "rows", "sentence"),
    [
        ({"key": "shop"}, frame(KEYS), "must have the column 'shop' of its key. Got a, card"),
        ({"key": "card"}, X, "must have the column 'card' of its key. Got columns without names"),
        ({"key": 6}, X, "must have the key in column 6 and a feature besides. Got 6 feature"),
        ({"key": 0}, X[:, :1], "Got 1 feature"),
        ({"key": 1.5}, X, "'key' parameter of KeyedLearner must be the name or number of a column. Got 1.5"),
        ({"max_keys": 0}, frame(KEYS), "'max_keys' parameter .* an int >= 1. Got 0"),
        ({"prior": "mean"}, frame(KEYS), "'prior' parameter .* 'global' or None. Got 'mean'"),
        ({"learner": "OCS"}, frame(KEYS), "'learner' parameter .* must be an online learner"),
        ({"learner": lp.KeyedLearner()}, frame(KEYS), "must be one without keys"),
        ({"key": "card"}, frame(KEYS).assign(a="x"), "Column 'a' in row 0 .* must be a finite number"),
        ({"key": "card"}, frame(KEYS).assign(a=np.nan), "contains NaN"),
    ],
)
def test_what_cannot_be_is_refused(options, rows, sentence):
    learner = lp.KeyedLearner(lp.OCS()).set_params(**options)
    with pytest.raises(ValueError, match=sentence):
        learner.partial_fit(rows, Y)
    assert not hasattr(learner, "n_features_in_") and not learner.started_


def test_other_columns_are_refused_later():
    learner = model().partial_fit(frame(KEYS), Y)
    before = learner.to_bytes()
    for bad in (frame(KEYS)[NAMES[::-1]], frame(KEYS).drop(columns="a"), frame(KEYS).drop(columns="card")):
        with pytest.raises(ValueError, match="must be those of the first rows"):
            learner.partial_fit(bad, Y)
    with pytest.raises(ValueError, match="must have the features"):
        learner.learn_one({"card": "x"}, 1)
    assert learner.to_bytes() == before


@pytest.mark.parametrize("around", [lp.StreamPipeline, lp.SparsePipeline])
def test_nobody_scales_a_key(around):
    with pytest.raises(ValueError, match=r"must take rows on any scale\. Got KeyedLearner"):
        around(learner=model(key=1)).partial_fit(X, Y)


def test_late_labels_are_learned_and_scored_in_turn():
    one, other = (model(key=1, max_keys=3, spill="temporary").partial_fit(X[:40], Y[:40]) for _ in range(2))
    turns = np.where(np.arange(80) % 3, np.nan, np.where(Y[40:], 1.0, -1.0))
    scores, asked = np.zeros(80), np.isnan(turns)
    one.take_turns(X[40:], turns, scores, np.arange(80))
    expected = [other.raw_score_one(x) if ask else other.learn_one(x, label).n_seen_ for x, ask, label in
                zip(X[40:], asked, Y[40:].tolist(), strict=True)]  # fmt: skip
    np.testing.assert_array_equal(scores[asked], np.array(expected)[asked])
