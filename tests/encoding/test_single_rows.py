"""One row at a time: the same numbers, the same model and the same refusals as a table of one row."""

import pickle

import numpy as np
import pytest

import lopsided as lp
from lopsided.encoding import EncodedRows, TableEncoder, infer_schema


def table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    gaps = rng.random((6, n)) < 0.15
    moments = np.datetime64("2024-01-01T00:00") + rng.integers(0, 500_000, n)
    columns = {
        "amount": rng.normal(size=n).tolist(),
        "count": rng.integers(0, 9, n).tolist(),
        "is new": rng.choice(["true", "false", "1"], n).tolist(),
        "when": [str(moment) for moment in moments],
        "country": rng.choice(["NO", "SE", "DK", "Ø"], n).tolist(),
        "note": rng.choice(["two words", "Word, again: word", "...", "naïve"], n).tolist(),
    }
    return {
        name: [None if gap else cell for cell, gap in zip(cells, missing, strict=True)]
        for (name, cells), missing in zip(columns.items(), gaps, strict=True)
    }


def schema_of(rows):
    kinds = {"is new": "flag", "country": "category", "note": "text"}
    return infer_schema(rows, kinds=kinds)


def row_of(rows, t):
    return {name: cells[t] for name, cells in rows.items()}


ROWS = table()
LABELS = (np.arange(120) % 5 == 0).astype(int)


def fresh(**options):
    return lp.TablePipeline(schema_of(ROWS), learner=lp.KOIL(random_state=0), **options)


def test_a_row_is_encoded_as_a_table_is():
    encoder = TableEncoder(schema_of(ROWS))
    assert {column.kind for column in encoder.schema.columns} == {"number", "flag", "date", "category", "text"}
    expected = encoder.matrix(encoder.columns_of(ROWS))
    result = np.full(encoder.width, 7.0)  # what was there before does not matter
    for t in range(120):
        encoder.row(row_of(ROWS, t), result)
        np.testing.assert_array_equal(result, expected[t])


def test_a_row_of_nothing_but_numbers_is_encoded_and_refused_as_a_table_is():
    rng = np.random.default_rng(0)
    rows = dict(zip("abc", rng.normal(size=(3, 40)).tolist(), strict=True))
    for gap in (False, True):
        with_gap = rows | ({"b": [None, *rows["b"][1:]]} if gap else {})
        encoder = TableEncoder(infer_schema(with_gap))
        expected, result = encoder.matrix(encoder.columns_of(with_gap)), np.full(encoder.width, 7.0)
        for t in range(40):
            row = row_of(with_gap, t)
            for given in (row, row | {"another": "x"}, {name: row[name] for name in "cab"}):
                encoder.row(given, result)
                np.testing.assert_array_equal(result, expected[t])
        encoder.row({"a": 1e150, "b": 1, "c": -1e150}, result)
        assert result[:3].tolist() == [1e150, 1.0, -1e150]
        for wrong in (1e151, -1e151, float("inf"), "much"):
            with pytest.raises(ValueError, match=r"[Cc]olumn 'b'"):
                encoder.row({"a": 0.0, "b": wrong, "c": 0.0}, result)
        with pytest.raises(ValueError, match="must hold the column"):
            encoder.row({"else": 1.0}, result)


def test_rows_as_mappings_are_encoded_as_a_table_is():
    encoder = TableEncoder(schema_of(ROWS))
    rows = [{name: cell for name, cell in row_of(ROWS, t).items() if cell is not None} for t in range(120)]
    expected = encoder.matrix(encoder.columns_of(ROWS))
    np.testing.assert_array_equal(encoder.from_mappings(rows), expected)
    np.testing.assert_array_equal(encoder.from_mappings(rows[:1]), expected[:1])
    as_words = [row | {"amount": str(row.get("amount", ""))} for row in rows]
    np.testing.assert_array_equal(encoder.from_mappings(as_words), expected)
    for wrong in ({"amount": "much"}, {"amount": 1e200}, {"amount": 10**400}, {"when": "someday"}):
        with pytest.raises(ValueError, match=r"Column '(amount|when)'"):
            encoder.from_mappings([rows[0], rows[1] | wrong])
    with pytest.raises(ValueError, match="must hold the column"):
        encoder.from_mappings([rows[0], {"else": 1.0}])


@pytest.mark.parametrize("options", [{}, {"scaler": "none"}, {"scaler": lp.OnlineScaler("minmax")}])
def test_single_rows_make_the_same_model_as_a_table(options):
    whole, single = fresh(**options), fresh(**options)
    whole.partial_fit(ROWS, LABELS)
    for t in range(120):
        single.learn_one(row_of(ROWS, t), LABELS[t])
        if t == 60:
            single = pickle.loads(pickle.dumps(single))
    other = table(seed=1)
    expected = whole.decision_function(other)
    np.testing.assert_array_equal(single.decision_function(other), expected)
    np.testing.assert_array_equal([single.score_one(row_of(other, t)) for t in range(120)], expected)
    assert single.threshold_ == whole.threshold_
    np.testing.assert_array_equal(single.predict_proba(other), whole.predict_proba(other))


def test_rows_that_are_encoded_already():
    model = fresh().partial_fit(ROWS, LABELS)
    matrix = model.encoder_.matrix(model.encoder_.columns_of(ROWS))
    expected = model.decision_function(ROWS)
    assert model.score_one(matrix[3]) == model.score_one(matrix.view(EncodedRows)[3]) == expected[3]
    with pytest.raises(ValueError, match="must be a finite number, got inf"):
        model.score_one(np.full(matrix.shape[1], np.inf))
    with pytest.raises(ValueError, match=r"An encoded row must have \d+ features, got shape"):
        model.score_one(matrix[3, :-1])
    first = fresh().learn_one(matrix[0], 0).learn_one(matrix[1], np.array(1))
    assert first.n_support_ == 2


def test_a_model_that_has_begun_keeps_its_scale():
    model = fresh().partial_fit(ROWS, LABELS)
    before = model.decision_function(ROWS)
    model.set_params(scaler="none")
    np.testing.assert_array_equal(model.decision_function(ROWS), before)
    assert model.score_one(row_of(ROWS, 5)) == before[5]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"amount": "much"}, "Column 'amount' of the row must be a finite number, got 'much'"),
        ({"amount": float("inf")}, "Column 'amount' of the row must be a finite number, got 'inf'"),
        ({"amount": 1e200}, "Column 'amount' of the row must be a number below 1e.150 in size, got '1e.200'"),
        ({"when": "soon"}, "Column 'when' of the row must be a date such as .*, got 'soon'"),
        ({"is new": "perhaps"}, "Column 'is new' of the row must be true, false or a finite number, got 'perhaps'"),
        ({"note": [1]}, "Column 'note' of the row must be a text"),
    ],
)
def test_a_bad_row_is_refused_and_changes_nothing(change, sentence):
    model = fresh().partial_fit(ROWS, LABELS)
    before = model.decision_function(ROWS)
    for call in (lambda row: model.learn_one(row, 1), model.score_one):
        with pytest.raises(ValueError, match=sentence):
            call(row_of(ROWS, 0) | change)
    np.testing.assert_array_equal(model.decision_function(ROWS), before)


def test_what_is_no_row_is_refused():
    model = fresh().partial_fit(ROWS, LABELS)
    with pytest.raises(ValueError, match=r"The table must hold the column '.*', got only sum"):
        model.score_one({"sum": 1.0})
    with pytest.raises(ValueError, match="A row must be a mapping of columns to values, got list"):
        model.score_one([1.0, 2.0])
