"""Dates: points on circles, which come back; never a moment, which does not, unless somebody asks for it."""

import math

import numpy as np
import pytest

import lopsided as lp
from lopsided.encoding import Column, Schema, SchemaError, TableEncoder, infer_schema


def encoded(schema, **columns):
    encoder = TableEncoder(schema)
    return dict(zip(encoder.names, encoder.matrix(encoder.columns_of(columns)).T.tolist(), strict=True))


def test_dates_are_points_on_circles():
    schema = Schema((Column("d", "date", may_miss=True, has_hours=True),))
    moments = np.array(["1970-01-01T06:00", "2024-05-20T00:00", "NaT"], dtype="M8[us]")  # Thursday, Monday
    encoder = TableEncoder(schema)
    assert encoder.n_numbers == 0
    assert encoder.names == [
        "d is missing", "d hour sine", "d hour cosine", "d weekday sine", "d weekday cosine",
        "d day of month sine", "d day of month cosine",
    ]  # fmt: skip
    thursday, twentieth = 2 * math.pi * 3 / 7, 2 * math.pi * 19 / 31
    np.testing.assert_allclose(
        encoder.matrix({"d": moments}),
        [
            [0, 1, 0, math.sin(thursday), math.cos(thursday), 0, 1],
            [0, 0, 1, 0, 1, math.sin(twentieth), math.cos(twentieth)],
            [1, 0, 0, 0, 0, 0, 0],
        ],
        atol=1e-12,
    )


def test_a_year_later_is_the_same_place():
    """The year that is scored has been seen by nobody, so that nothing may depend on it."""
    rows = {"when": [str(np.datetime64("2024-01-01T00:00") + 60 * 7 * t) for t in range(300)]}
    encoder = TableEncoder(infer_schema(rows))
    later = {"when": [str(np.datetime64("2052-01-01T00:00") + 60 * 7 * t) for t in range(300)]}  # the same calendar
    before, after = (encoder.matrix(encoder.columns_of(table)) for table in (rows, later))
    np.testing.assert_allclose(before, after, atol=1e-9)


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (range(0, 70, 7), "date as day of month (no hour: always midnight; no weekday: always the same)"),
        ([0, 31, 60, 91, 121], "date as weekday (no hour: always midnight; no day of month: always the same)"),
        ([0, 7, 14], "date as weekday and day of month (no hour: always midnight)"),  # too few to tell
    ],
)
def test_circles_that_cannot_vary_are_left_out_and_said(days, words):
    rows = {"d": [str(np.datetime64("2024-01-01") + day) for day in days]}
    assert str(infer_schema(rows)) == f"d  {words}"


def test_age_is_there_on_request():
    rows = {"d": ["2024-01-03T12:00", "2024-01-01T06:00", None]}
    schema = infer_schema(rows, kinds={"d": "age"})
    assert str(schema) == "d  date as days since 2024-01-01, hour, weekday and day of month, missing values are noted"
    assert Schema.from_json(schema.to_json()) == schema
    assert encoded(schema, **rows)["d in days"] == [2.5, 0.25, pytest.approx(math.nan, nan_ok=True)]
    result = np.zeros(TableEncoder(schema).width)
    TableEncoder(schema).row({"d": rows["d"][0]}, result)
    assert result[0] == 2.5
    with pytest.raises(SchemaError, match=r"parts of column 'd' must be among age, hour, .*, got minute"):
        Column("d", "date", parts=("minute",))


def test_schemas_of_older_files_still_mean_days_since_1970():
    old = {"name": "d", "kind": "date", "width": 0, "may_miss": True, "has_hours": True, "known": []}
    schema = Schema.from_json({"columns": [old], "label": None, "id": None, "time": None, "ignored": {}})
    assert str(schema.columns[0]).startswith("date as days since 1970-01-01, weekday and hour")
    found = encoded(schema, d=["1970-01-02T06:00", None])
    assert list(found) == [
        "d in days", "d is missing", "d weekday sine", "d weekday cosine", "d hour sine", "d hour cosine",
    ]  # fmt: skip
    assert found["d in days"][0] == 1.25 and math.isnan(found["d in days"][1])
    assert found["d hour sine"][0] == 1.0
    assert Schema.from_json(schema.to_json()) == schema


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("timestamp", [1.7e9 + 3600 * n for n in range(9)], "date written seconds since 1970 as hour, weekday"),
        ("ts", [str(1_700_000_000_000 + n) for n in range(9)], "date written milliseconds since 1970 as hour"),
        ("booking_date", ["20240131", "20240201"], "date written yyyymmdd as weekday and day of month"),
        ("TransactionDT", list(range(86_400, 86_500)), "ignored: only grows, as a clock does"),
        ("response_time", [0.3, 0.1] * 40, "number"),
        ("amount", [1.7e9 + n for n in range(9)], "number"),
    ],
)
def test_numbers_that_say_when(name, values, words):
    schema = infer_schema({"x": [0.5] * len(values), name: values})
    assert str(schema).splitlines()[1].split(maxsplit=1)[1].startswith(words)


def test_a_time_column_of_numbers_is_no_feature():
    rows = {"amount": [1.5, 2.5, 0.5], "t": [5.0, 6.0, 7.0]}
    schema = infer_schema(rows, time="t")
    assert [column.name for column in schema.columns] == ["amount"] and schema.times == ("t",)
    assert [column.name for column in infer_schema(rows, time="t", kinds={"t": "number"}).columns] == ["amount", "t"]
    epoch = infer_schema({"amount": [1.5, 2.5], "t": ["1700000000", "1700003600"]}, time="t")
    assert epoch.time == epoch.columns[1] and epoch.time.parts == ("hour", "weekday", "day of month")
    assert encoded(epoch, amount=[1.0], t=["1700000000"])["t hour sine"][0] == pytest.approx(
        math.sin(2 * math.pi * (22 + 13 / 60 + 20 / 3600) / 24)
    )


def test_what_is_told_of_a_support_vector():
    rows = {"d": ["2024-05-20T08:30", "2024-05-21T00:00", None]}
    encoder = TableEncoder(infer_schema(rows))
    matrix = encoder.matrix(encoder.columns_of(rows))
    assert [encoder.in_words(row)["d"] for row in matrix] == ["Monday day 20 08:30", "Tuesday day 21 00:00", None]


def test_scores_of_a_later_year_stay_as_good():
    """Night payments are bad, in every year."""
    rng = np.random.default_rng(0)

    def year(first):
        moments = np.datetime64(first) + rng.integers(0, 365 * 24 * 60, 1500)
        bad = (moments.astype("M8[m]").astype(int) % 1440 < 120).astype(int)
        return {"amount": rng.normal(size=1500).tolist(), "when": [str(moment) for moment in moments]}, bad

    rows, y = year("2023-01-01T00:00")
    later, truth = year("2024-01-01T00:00")

    def precision(**options):
        model = lp.TablePipeline(infer_schema(rows, **options), learner=lp.KOIL(C=10, random_state=0))
        return lp.metrics.average_precision(truth, model.partial_fit(rows, y).decision_function(later))

    assert precision() > 0.5
    assert precision(kinds={"when": "age"}) < 0.4  # days that nobody has seen
