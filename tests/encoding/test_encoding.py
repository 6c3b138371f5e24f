"""Columns into numbers: kinds found in the first rows, hashing, dates, missing values, and the model around it."""

import datetime
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lopsided as lp
from lopsided.encoding import Column, Schema, SchemaError, TableEncoder, infer_schema


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["1", "2.5", "-3e4"], "number"),
        (["1", "", "3"], "number, missing values are noted"),
        ([1, None, 3.5], "number, missing values are noted"),
        (["1"] * 9 + ["x"], "number"),
        ([True, False, None], "true or false, missing values are noted"),
        (["2024-05-17", "2024-05-18"], "date as weekday and day of month (no hour: always midnight)"),
        (["2024-05-17T08:30:00Z", ""], "date as hour, weekday and day of month, missing values are noted"),
        ([datetime.date(2024, 5, 17)], "date as weekday and day of month (no hour: always midnight)"),
        (["red", "green", "blue"], "category, hashed into 8 columns"),
        ([f"w{n % 40}" for n in range(200)], "category, hashed into 64 columns"),
        (["the cat sat on the mat", "a dog ate the cat"], "words of a text, hashed into 256 columns"),
        (["", "NA"], "ignored: nothing in its first rows"),
        ([[1], [2]], "ignored: no single values"),
        ([f"user-{n}" for n in range(50)], "key (another value in every row), not learned from"),
    ],
)
def test_kinds_are_found_in_the_first_rows(values, words):
    other = [str(n) for n in range(len(values))]
    assert (
        str(infer_schema({"c": values, "n": other})).splitlines()[0 if "ignored" not in words else 1] == f"c  {words}"
    )


def test_columns_can_be_told():
    head = {"zip": ["123", "456"], "n": ["1", "2"], "who": ["a", "b"], "y": ["0", "1"], "t": ["5", "6"]}
    schema = infer_schema(head, label="y", id="who", time="t", ignore=["n"], kinds={"zip": "category"}, width=16)
    assert schema.columns == (Column("zip", "category", 16, known=("123", "456")),)
    assert schema.ignored == {"n": "as asked", "who": "the identifier", "t": "the time, which does not come back"}
    assert (schema.label, schema.id, schema.time) == ("y", "who", Column("t", "number"))
    assert Schema.from_json(schema.to_json()) == schema


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kinds": {"a": "colour"}}, "kind of column 'a' must be one of number, .*, ignore, got 'colour'"),
        ({"kinds": {"b": "number"}}, "columns must be among a, y, got 'b'"),
        ({"id": "b"}, "columns must be among a, y, got 'b'"),
        ({"time": "y"}, "time column 'y' must hold dates or numbers of seconds, got 'no'"),
        ({"ignore": ["a"], "label": "y"}, "must have at least one column to learn from"),
        ({"kinds": {"y": "category"}, "width": 12}, "width of column 'y' must be a power of two"),
    ],
)
def test_what_cannot_be_is_said(options, sentence):
    with pytest.raises(SchemaError, match=sentence):
        infer_schema({"a": ["1", "2"], "y": ["no", "yes"]}, **options)


def hashed_slowly(word, width):
    """Place and sign of a word, once more: FNV-1a with 64 bits, mixed as MurmurHash3 does."""
    code, mask = 0xCBF29CE484222325, (1 << 64) - 1
    for byte in word:
        code = (code ^ byte) * 0x100000001B3 & mask
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        code = (code ^ code >> 33) * factor & mask
    code ^= code >> 33
    return code % width, 1.0 if code >> 63 else -1.0


@given(st.lists(st.text(max_size=12), min_size=1, max_size=20), st.sampled_from([4, 64]))
def test_categories_and_words_are_hashed(texts, width):
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    schema = Schema((Column("c", "category", width), Column("t", "text", width)))
    array = pa.array(["padding", *texts]).slice(1)
    ours = TableEncoder(schema).matrix({"c": array, "t": array})
    theirs = np.zeros((len(texts), 2 * width))
    for row, text in zip(theirs, texts, strict=True):
        if text:
            place, sign = hashed_slowly(text.encode(), width)
            row[place] = sign
        lower = bytes(b + 32 if 65 <= b <= 90 else b for b in text.encode())
        word, words = b"", []
        for byte in [*lower, 32]:
            if byte >= 128 or chr(byte).isalnum():
                word += bytes([byte])
            elif word:
                words, word = [*words, word], b""
        for known in words:
            place, sign = hashed_slowly(known, width)
            row[width + place] += sign
        length = math.sqrt(sum(value * value for value in row[width:]))
        row[width:] /= length or 1.0
    np.testing.assert_allclose(ours, theirs, atol=1e-15)


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    amount = rng.normal(size=n)
    y = (rng.random(n) < 0.2).astype(int)
    rows = {
        "amount": np.where(rng.random(n) < 0.2, None, amount + 2 * y).tolist(),
        "country": np.where(rng.random(n) < 0.1, "", rng.choice(["NO", "SE", "DK"], n)).tolist(),
        "day": [str(np.datetime64("2024-01-01") + int(k)) for k in rng.integers(0, 300, n)],
    }
    return rows, y


def slow_features(rows):
    """What the learner sees, row by row: missing numbers by the mean so far, then scaled by what came before."""
    encoder = TableEncoder(infer_schema(rows))
    matrix = encoder.matrix(encoder.columns_of(rows))
    for j in range(encoder.n_numbers):
        seen = []
        for t in range(len(matrix)):
            if math.isnan(matrix[t, j]):
                matrix[t, j] = np.mean(seen) if seen else 0.0
            else:
                seen.append(matrix[t, j])
        raw = matrix[:, j].copy()
        for t in range(len(matrix)):
            spread = raw[:t].std() if t else 0.0
            matrix[t, j] = (raw[t] - raw[:t].mean()) / spread if spread > 0 else 0.0
    return matrix


def test_the_model_sees_filled_and_scaled_numbers():
    rows, y = table(300)
    model = lp.TablePipeline(infer_schema(rows), learner=lp.KOIL(gamma=0.3, random_state=0))
    scores = model.progressive_scores(rows, y)
    expected = lp.KOIL(gamma=0.3, random_state=0).progressive_scores(slow_features(rows), y)
    np.testing.assert_allclose(scores, expected, atol=1e-9)
    assert lp.metrics.auroc(y, scores) > 0.7


def slices(rows, start, stop):
    return {name: values[start:stop] for name, values in rows.items()}


@pytest.mark.parametrize("scaler", [None, "none", lp.OnlineScaler("minmax")])
def test_batches_rows_and_a_stop_in_between_make_no_difference(tmp_path, scaler):
    rows, y = table(60)
    schema = infer_schema(rows)

    def fresh():
        return lp.TablePipeline(schema, scaler, lp.KOIL(random_state=0))

    whole = fresh().partial_fit(rows, y, classes=[0, 1])
    parts = fresh().partial_fit(slices(rows, 0, 25), y[:25], classes=[0, 1])
    parts.save(tmp_path / "m")
    parts = lp.load(tmp_path / "m")
    assert str(parts.schema) == str(schema)
    for t in range(25, 60):
        parts.learn_one({name: values[t] for name, values in rows.items()}, y[t])
    other, _ = table(40, seed=1)
    np.testing.assert_array_equal(whole.decision_function(other), parts.decision_function(other))
    one = {name: values[7] for name, values in other.items()}
    assert whole.score_one(one) == whole.decision_function(other)[7]
    frame = pd.DataFrame(other)
    np.testing.assert_array_equal(whole.decision_function(frame), whole.decision_function(other))
    np.testing.assert_array_equal(whole.decision_function(pa.table(other)), whole.decision_function(other))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"amount": ["1", "much"]}, "Column 'amount' in row 1 of the table must be a finite number, got 'much'"),
        ({"day": None}, "table must hold the column 'day', got only amount, country"),
    ],
)
def test_a_bad_table_changes_nothing(change, sentence):
    rows, y = table(50)
    model = lp.TablePipeline(infer_schema(rows), learner=lp.KOIL(random_state=0)).partial_fit(rows, y)
    before = model.decision_function(rows)
    bad = {name: change.get(name, ["", ""]) for name in rows}
    bad = {name: values for name, values in bad.items() if values is not None}
    with pytest.raises(ValueError, match=sentence):
        model.partial_fit(bad, [0, 1])
    np.testing.assert_array_equal(model.decision_function(rows), before)


def test_parameters_are_checked():
    for model, sentence in [
        (lp.TablePipeline("amount"), "'schema' parameter of TablePipeline must be a Schema, or None"),
        (lp.TablePipeline(Schema((Column("a", "number"),)), "log"), "must be an OnlineScaler or 'none'"),
        (lp.SparsePipeline(2), "'first_index' parameter of SparsePipeline must be 0 or 1"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            model.partial_fit(np.zeros((1, 1)), [0])


def test_sparse_rows_with_and_without_scales(tmp_path):
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    X = csr_array(np.where(rng.random((80, 5)) < 0.4, rng.normal(size=(80, 5)), 0))
    y = np.tile([0, 0, 0, 1], 20)
    scaled = lp.OnlineScaler(center=False)
    for scaler, same in (
        ("none", lp.OILK(random_state=0)),
        (scaled, lp.StreamPipeline(scaled, lp.OILK(random_state=0))),
    ):
        model = lp.SparsePipeline(0, scaler, lp.OILK(random_state=0))
        np.testing.assert_array_equal(model.progressive_scores(X, y), same.progressive_scores(X, y))
        model.save(tmp_path / "m")
        again = lp.load(tmp_path / "m")
        assert again.first_index == 0
        x = X.toarray()[3]
        assert again.learn_one(x, 1).score_one(x) == pytest.approx(same.learn_one(x, 1).score_one(x), abs=1e-12)


@pytest.mark.parametrize("missing", ["", "NaN", None, math.nan])
def test_a_required_number_must_not_be_missing(missing):
    schema = Schema((Column("a", "number", required=True), Column("b", "number")))
    assert Schema.from_json(schema.to_json()) == schema
    encoder = TableEncoder(schema)
    assert np.isnan(encoder.matrix(encoder.columns_of({"a": [1.0], "b": [missing]}))[0, 1])
    with pytest.raises(ValueError, match="Column 'a' in row 1 of the table must be a finite number and must not"):
        encoder.columns_of({"a": [1.0, missing], "b": [1.0, 2.0]})
    with pytest.raises(ValueError, match="Column 'a' of the row must be a finite number and must not be missing, got "):
        encoder.row({"a": missing, "b": 1.0}, np.zeros(2))
    with pytest.raises(SchemaError, match="The feature 'a' in row 0 of the encoded rows must be a finite"):
        encoder.checked_rows(np.array([[np.nan, np.nan]]))


def test_schemas_without_required_columns_are_written_as_before():
    assert set(infer_schema({"a": [1.0]}).to_json()["columns"][0]) == {
        "name", "kind", "width", "may_miss", "has_hours", "known",
    }  # fmt: skip
