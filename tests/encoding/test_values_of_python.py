"""Values as Python programs have them: NumPy's numbers, decimals, pandas' gaps; and the door that none goes around."""

import datetime
import decimal
import fractions

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import lopsided as lp
from lopsided.encoding import infer_schema
from lopsided.streams import Sources, Spellings, TableStream
from lopsided.streams.cells import WrongCellError, date_of, flag_of, number_of, sign_of, text_of


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        (np.int64(3), 3.0),
        (np.uint8(3), 3.0),
        (np.float32(1.5), 1.5),
        (np.bool_(True), 1.0),
        (decimal.Decimal("2.50"), 2.5),
        (fractions.Fraction(1, 4), 0.25),
        (pd.NA, np.nan),
        (pd.NaT, np.nan),
        (np.float32("nan"), np.nan),
        (decimal.Decimal("NaN"), np.nan),
    ],
)
def test_numbers_of_every_kind(cell, number):
    np.testing.assert_equal(number_of(cell), number)


@pytest.mark.parametrize(
    "cell", [np.float32("inf"), decimal.Decimal("1e400"), decimal.Decimal("sNaN"), 10**400, 1j, np.timedelta64(1, "s")]
)
def test_what_is_no_number(cell):
    with pytest.raises(WrongCellError):
        number_of(cell)


def test_other_kinds_of_cells():
    assert [text_of(cell) for cell in (np.float32(3), np.str_("a"), np.int8(7), pd.NA, np.nan, pd.NaT)] == [
        "3", "a", "7", "", "", "",
    ]  # fmt: skip
    assert text_of(datetime.time(8, 30)) == "08:30:00" and text_of(decimal.Decimal("2.50")) == "2.50"
    assert date_of(np.datetime64("2024-05-17T08", "ns")) == np.datetime64("2024-05-17T08", "us")
    assert np.isnat(date_of(pd.NaT)) and np.isnat(date_of(pd.NA))
    assert [flag_of(cell) for cell in (" TRUE", "False", np.bool_(False), "1", 0)] == [1, 0, 0, 1, 0]
    labels = Spellings(positive=1, negative=None)
    assert sign_of(np.float32(1), labels) == 1 and sign_of(np.int64(0), labels) == -1
    assert np.isnan(sign_of(pd.NA, labels)) and sign_of(pd.NA, Spellings(1, None, "negative")) == -1
    with pytest.raises(WrongCellError):
        sign_of(pd.NA, Spellings(1, None, "error"))


def frame(n=60):
    """A column of each kind, with gaps, in the types of pandas that have a gap of their own."""
    rng = np.random.default_rng(0)
    gap = rng.random((4, n)) < 0.2
    return pd.DataFrame({
        "n": pd.array(rng.integers(0, 99, n), dtype="Int64").take(np.where(gap[0], -1, np.arange(n)), allow_fill=True),
        "flag": pd.array(np.where(gap[1], None, rng.random(n) < 0.5), dtype="boolean"),
        "word": pd.array(np.where(gap[2], None, rng.choice(["a", "b"], n)), dtype="string"),
        "day": pd.to_datetime(np.where(gap[3], None, np.arange(n).astype("M8[D]")).astype("M8[ns]")),
    })  # fmt: skip


def test_data_frames_with_gaps_are_what_lists_with_gaps_are():
    table = frame()
    plain = {name: [None if pd.isna(value) else value for value in table[name].tolist()] for name in table}
    schema = infer_schema(table)
    assert [column.kind for column in schema.columns] == ["number", "flag", "category", "date"]
    assert schema == infer_schema(plain)
    y = np.arange(60) % 3 == 0
    model = lp.TablePipeline(schema, learner=lp.KOIL(random_state=0)).partial_fit(plain, y)
    expected = model.decision_function(plain)
    arrays = {name: table[name].to_numpy() for name in table}
    for same in (table, pa.Table.from_pandas(table), arrays):
        np.testing.assert_array_equal(model.decision_function(same), expected)
    one = {name: table[name].iloc[7] for name in table}
    assert model.score_one(one) == expected[7]


def test_arrays_are_numbers_and_no_identifiers():
    schema = infer_schema({"n": np.arange(60), "f": np.arange(60, dtype=np.float32), "b": np.arange(60) > 5})
    assert [column.kind for column in schema.columns] == ["number", "number", "flag"]


def test_values_that_are_no_single_ones_are_ignored_in_whatever_form():
    head = {"n": [1, 2], "array": [np.zeros(2), np.ones(2)], "bytes": [b"a", b"b"], "dict": [{}, {}]}
    assert set(infer_schema(head).ignored) == {"array", "bytes", "dict"}
    assert infer_schema(head, kinds={"bytes": "category"}).columns[1].known == ()


def learned():
    rows = {"amount": [1.0, 2.0, None, 7.0] * 10, "word": ["a", "b", "", "c"] * 10}
    return lp.TablePipeline(infer_schema(rows), learner=lp.KOIL(random_state=0)).partial_fit(rows, [0, 0, 0, 1] * 10)


WORDS = np.array(["a", "b"])


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ({"amount": np.array([1, np.inf]), "word": WORDS}, "Column 'amount' in row 1 of the table must be a finite"),
        ({"amount": pa.array([1, np.inf]), "word": WORDS}, "Column 'amount' in row 1 of the table must be a finite"),
        ({"amount": WORDS, "word": WORDS}, "Column 'amount' in row 0 of the table must be a finite number, got 'a'"),
        ({"amount": np.zeros(3), "word": WORDS}, "must be equally long, got 3 of 'amount', 2 of 'word'"),
        ({"amount": np.zeros(2)}, "table must hold the column 'word', got only amount"),
        (lambda width: np.full((2, width), np.inf), "'amount' in row 0 of the encoded rows must be a finite number"),
        (lambda width: np.full((2, width), np.nan), "'amount is missing' in row 0 of the encoded rows must be"),
        (lambda width: np.full((2, width), "a"), "Encoded rows must be numbers, got an array of <U1"),
    ],
)
def test_no_way_around_the_checks(bad, sentence):
    model = learned()
    bad = bad(model.n_features_in_) if callable(bad) else bad
    good = {"amount": np.array([1.0, 7.0]), "word": WORDS}
    before = model.decision_function(good)
    for call in (lambda: model.partial_fit(bad, [0, 1]), lambda: model.decision_function(bad)):
        with pytest.raises(ValueError, match=sentence):
            call()
    np.testing.assert_array_equal(model.decision_function(good), before)
    np.testing.assert_array_equal(model.decision_function({"amount": [1.0, 7.0], "word": ["a", "b"]}), before)


def test_chunks_of_a_stream_and_encoded_rows_go_in_as_they_are(tmp_path):
    (tmp_path / "a.csv").write_text("amount,word\n1,a\n,b\n7,c\n")
    model = learned()
    with TableStream(Sources([str(tmp_path / "a.csv")])) as stream:
        (chunk,) = stream.chunks(model.encoder_.expected())
    assert model.encoder_.columns_of(chunk.columns) is chunk.columns
    expected = model.decision_function({"amount": [1, None, 7], "word": ["a", "b", "c"]})
    np.testing.assert_array_equal(model.decision_function(chunk.columns), expected)
    np.testing.assert_array_equal(model.decision_function(model.encoder_.matrix(chunk.columns)), expected)


def test_a_row_of_a_data_frame_and_columns_with_numbers_for_names_are_taken():
    frame = pd.DataFrame(np.arange(40.0).reshape(20, 2) % 7)
    model = lp.TablePipeline(infer_schema({str(name): frame[name].tolist() for name in frame}))
    model.partial_fit(frame, np.arange(20) % 4 == 0)
    expected = model.decision_function(frame)[3]
    assert model.score_one(frame.iloc[3]) == model.score_one({0: frame.loc[3, 0], "1": frame.loc[3, 1]}) == expected


def test_a_schema_is_found_in_every_form_of_a_table():
    rows = {"amount": [1.0, 2.5, None, 4.0], "word": ["a", "b", "a", "c"], "day": ["2024-05-17"] * 4}
    schema = infer_schema(rows)
    assert [column.kind for column in schema.columns] == ["number", "category", "date"]
    listed = [{name: cells[k] for name, cells in rows.items()} for k in range(4)]
    for table in (listed, pd.DataFrame(rows), pa.table(rows)):
        assert infer_schema(table) == schema
    with pytest.raises(ValueError, match=r"A table must be a data frame, an arrow table, .*, got int"):
        infer_schema(7)


def test_columns_with_numbers_for_names_can_be_told():
    frame = pd.DataFrame({0: [1.0, 2.0, 3.0], 1: ["a", "b", "a"], 2: [0, 1, 0]})
    schema = infer_schema(frame, label=2, kinds={1: "text"})
    assert [(column.name, column.kind) for column in schema.columns] == [("0", "number"), ("1", "text")]
    assert schema.label == "2"
    with pytest.raises(ValueError, match=r"The columns must be among 0, 1, 2, got '3'\."):
        infer_schema(frame, ignore=[3])
