"""Tables in Python: without a schema, in every form that a table has, and rows that lack a key."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import lopsided as lp
from lopsided.encoding import infer_schema
from lopsided.estimators.default_learner import default_learner

N = 120


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    start = np.datetime64("2024-01-01", "us")
    return {
        "amount": [None if n % 9 == 4 else float(value) for n, value in enumerate(rng.normal(size=N))],
        "country": rng.choice(["NO", "SE", "XX"], N).tolist(),
        "when": (start + np.arange(N) * np.timedelta64(5, "h")).astype(object).tolist(),
        "new": (rng.random(N) > 0.5).tolist(),
    }


@pytest.fixture(scope="module")
def labels(columns):
    amounts, words = columns["amount"], columns["country"]
    return np.array([int(word == "XX" and (a or 0.0) > 0.0) for a, word in zip(amounts, words, strict=True)])


def in_every_form(columns):
    frame = pd.DataFrame(columns)
    yield columns
    yield frame
    yield frame.set_index(np.arange(7, 7 + N))
    yield pl.DataFrame(columns)
    yield pa.table(columns)
    yield [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def small(**more):
    return lp.TablePipeline(learner=lp.KOIL(budget=20, random_state=0), **more)


def test_the_first_rows_tell_what_the_columns_are_in_every_form(columns, labels):
    told = small(schema=infer_schema(columns)).fit(columns, labels)
    expected = told.decision_function(columns)
    for form in in_every_form(columns):
        model = small().fit(form, labels)
        np.testing.assert_array_equal(model.decision_function(form), expected)
        assert model.schema is None and model.schema_ == told.schema
    assert model.schema_notes_ == [
        "amount   number, missing values are noted",
        "country  category, hashed into 8 columns",
        "when     date as hour, weekday and day of month",
        "new      true or false",
    ]


def test_labels_and_rows_of_polars(columns, labels):
    frame = pl.DataFrame(columns)
    model = small().partial_fit(frame[:100], pl.Series(labels[:100]))
    assert model.score_one(frame.row(100, named=True)) == model.decision_function(frame[100:101])[0]
    feed = lp.open_feed(frame.with_columns(fraud=pl.Series(labels)), label="fraud")
    assert sum(rows.n_rows for rows in feed) == N


def test_what_was_found_is_saved_and_holds(columns, labels, tmp_path):
    model = small().partial_fit(columns, labels)
    model.save(tmp_path / "m")
    again = lp.load(tmp_path / "m")
    assert again.schema is None and again.schema_ == model.schema_
    np.testing.assert_array_equal(again.decision_function(columns), model.decision_function(columns))
    with pytest.raises(NotFittedError, match="has no schema yet: 'fit' and the other ways to learn find one"):
        _ = clone(model).schema_
    assert lp.encoding.TableEncoder(again.schema_).names == again.encoder_.names


def test_fit_finds_the_schema_anew_and_a_refused_batch_leaves_it(columns, labels):
    model = small().fit(columns, labels)
    known, scores = model.schema_, model.decision_function(columns)
    with pytest.raises(ValueError, match="Only binary classification"):
        model.fit({"other": np.arange(3.0)}, [0, 1, 2])
    assert model.schema_ is known
    np.testing.assert_array_equal(model.decision_function(columns), scores)
    assert [column.name for column in model.fit({"other": np.arange(N)}, labels).schema_.columns] == ["other"]
    assert model.set_params(schema=known).fit(columns, labels).schema_ is known


def test_a_single_first_row_leaves_room_for_what_it_does_not_show():
    model = small()
    model.learn_one({"amount": 3.0, "country": "NO", "shop": None}, 0)
    widths = {column.name: (column.kind, column.width) for column in model.schema_.columns}
    assert widths == {"amount": ("number", 0), "country": ("category", 64), "shop": ("category", 64)}
    model.learn_one({"amount": 3.0, "country": "SE", "shop": 17}, 1)
    assert model.score_one({"country": "SE", "shop": 17}) > model.score_one({"country": "NO"})


def test_find_schema_makes_single_rows_the_same_as_a_batch(columns, labels):
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    batch, loop = small().partial_fit(columns, labels), small().find_schema(columns)
    for row, label in zip(rows, labels.tolist(), strict=True):
        loop.learn_one(row, label)
    np.testing.assert_array_equal(loop.decision_function(columns), batch.decision_function(columns))


def test_arrays_of_numbers_and_of_objects():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), rng.permutation([0, 1] * 30)
    X[5, 1] = np.nan
    model = small().fit(X, y)
    assert model.encoder_.names == ["x0", "x1", "x2", "x1 is missing"]
    assert model.score_one(X[0]) == model.decision_function(X[:1])[0] == model.score_one(X[0].tolist())
    with pytest.raises(ValueError, match="X has 2 features, but TablePipeline is expecting 3 features as input"):
        model.predict(X[:, :2])
    mixed = np.array([[value, word] for value, word in zip(X[:, 0], ["a", "b"] * 30, strict=True)], dtype=object)
    assert [column.kind for column in small().fit(mixed, y).schema_.columns] == ["number", "category"]


def test_the_default_learner_is_one_for_all_and_a_file_remembers_which(columns, labels, tmp_path, monkeypatch):
    model = lp.TablePipeline().set_params(learner__random_state=0)
    assert str(model.learner) == str(default_learner(random_state=0))
    model = lp.TablePipeline().fit(columns, labels)
    assert str(model.learner_) == str(default_learner())
    model.save(tmp_path / "m")
    monkeypatch.setattr("lopsided.estimators.compose.plain_table.default_learner", lp.OPAUC)
    again = lp.load(tmp_path / "m")
    assert again.learner is None and str(again.learner_) == str(default_learner())
    assert again.score_one({"country": "XX"}) == model.score_one({"country": "XX"})


def test_a_key_that_is_not_there_is_missing(columns, labels):
    model = small().fit(columns, labels)
    full = {"amount": None, "country": "", "when": None, "new": True}
    assert model.score_one({"new": True}) == model.score_one(full)
    assert model.answer_one({"new": True}) == model.answer_one(full)
    assert model.decision_function([{"new": True}, {"new": False}])[0] == model.decision_function([full])[0]
    one, other = model.snapshot(), model.snapshot()
    assert one.learn_one({"new": True}, 1).to_bytes() == other.learn_one(full, 1).to_bytes()
    with pytest.raises(ValueError, match="The table must hold the column 'amount', got only sum"):
        model.score_one({"sum": 3.0})
    with pytest.raises(ValueError, match="The table must hold the column 'country', got only amount"):
        model.predict(pd.DataFrame({"amount": [1.0]}))


@pytest.mark.parametrize(
    ("column", "got"),
    [({"country": ["NO", "SE"]}, "'NO'"), ({"when": pd.to_datetime(["2024-01-01"] * 2)}, "a date"),
     ({"gap": [1.0, None]}, "nothing")],
)  # fmt: skip
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_mixed_frame_for_a_plain_learner_is_told_the_column_and_what_takes_it(frame, column, got):
    (name, values), y = next(iter(column.items())), [0, 1]
    mixed = frame({"amount": [1.0, 2.0], name: list(values)})
    sentence = (
        f"The column {name!r} of X must hold numbers, and no gaps, for KOIL. Got {got}; "
        "TablePipeline takes words, dates and missing values."
    )
    with pytest.raises(ValueError) as refused:
        lp.KOIL().fit(mixed, y)
    assert str(refused.value) == sentence
    lp.TablePipeline(learner=lp.KOIL()).fit(mixed, y)


def test_late_labels_of_a_table_without_a_schema(columns, labels):
    rows = pd.DataFrame(columns)
    late, expected = small(), small(schema=infer_schema(columns))
    scores = lp.late.LateLearner(late, delay=5).progressive_scores(rows, labels)
    np.testing.assert_array_equal(lp.late.LateLearner(expected, delay=5).progressive_scores(rows, labels), scores)
