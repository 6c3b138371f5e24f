"""What looks like an identifier is a key: said, kept in the schema, and never scaled as a number."""

import numpy as np
import pytest

from lopsided.encoding import Column, Schema, SchemaError, SchemaWarning, TableEncoder, infer_schema

RNG = np.random.default_rng(0)
MANY = RNG.integers(10**9, 10**10, 200).tolist()


def found(name, values):
    head = {"x": RNG.normal(size=len(values)).tolist(), name: values}
    schema = infer_schema(head)
    return next((column for column in schema.columns if column.name == name), None)


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("card_id", MANY, "by its name"),
        ("cardId", list(range(1000, 1100)), "by its name"),
        ("account", [f"{n:010}" for n in range(5000, 5100)], "leading zeros"),
        ("code", ["02139", "94107", "10115"] * 30 + [f"{n}" for n in range(20000, 20100)], "leading zeros"),
        ("zip", [int(n) for n in RNG.integers(10000, 99999, 100)], "by its name"),
        ("phone", [f"555{n}" for n in range(1000, 1100)], "by its name"),
        ("account_number", [f"AT{n}" for n in range(90)], "by its name"),
        ("customer", MANY, "by its name"),
        ("reference", MANY, "10 digits, nearly all different"),
        ("nameOrig", [f"C{n}" for n in MANY], "another value in every row"),
        ("hash", [f"{n % 120:04x}z" for n in range(200)], "codes of one length, mostly different"),
        ("who", [f"anna {n % 190}" for n in range(200)], "nearly all different"),
        ("uuid", [f"{n}-a" for n in range(60)], "by its name"),
    ],
)
def test_keys(name, values, why):
    column = found(name, values)
    assert (column.kind, column.width, column.why) == ("key", 0, why)
    assert str(column) == f"key ({why}), not learned from"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("amount", RNG.normal(size=100).tolist()),
        ("account_balance", [f"{n}.00" for n in range(100)]),
        ("card_present", [0, 1] * 30),
        ("card", [1, 2, 3, 2] * 20),  # how many of them
        ("n_customers", list(range(100))),
        ("is_id", [1, 0, 1]),
        ("salary", [int(n) for n in RNG.integers(10000, 99999, 100)]),
        ("year", [2019, 2020, 2021] * 20),
        ("id_01", [-5.0, 0.0, 10.0] * 20),
        ("row", list(range(60))),
    ],
)
def test_numbers_that_are_no_keys(name, values):
    assert found(name, values).kind == "number"


def test_words_of_which_many_are_different_stay_categories():
    cities = ["".join(RNG.choice(list("aeiou"), 4 + n % 5)) for n in range(120)]
    assert found("city", cities + cities[:80]).kind == "category"


def test_few_keys_are_learned_as_categories():
    head = {"merchant": ["A1", "B7", "C3"] * 20, "zip": ["01234", "90210"] * 30, "x": RNG.normal(size=60).tolist()}
    schema = infer_schema(head)
    assert schema.keys == ("merchant", "zip")
    assert str(schema).splitlines()[:2] == [
        "merchant  key (by its name), hashed into 8 columns",
        "zip       key (leading zeros), hashed into 4 columns",
    ]
    same = Schema((Column("merchant", "category", 8), Column("zip", "category", 4), Column("x", "number")))
    ours, theirs = TableEncoder(schema), TableEncoder(same)
    np.testing.assert_array_equal(ours.matrix(ours.columns_of(head)), theirs.matrix(theirs.columns_of(head)))


def test_keys_that_are_not_learned_from_need_not_be_there():
    head = {"card_id": MANY, "amount": RNG.normal(size=200).tolist()}
    schema = infer_schema(head)
    assert (schema.keys, schema.times, [column.name for column in schema.learned_from]) == (
        ("card_id",),
        (),
        ["amount"],
    )
    encoder = TableEncoder(schema)
    assert encoder.names == ["amount"] and [expected.name for expected in encoder.expected()] == ["amount"]
    assert encoder.matrix(encoder.columns_of({"amount": [2.0]})).tolist() == [[2.0]]
    assert Schema.from_json(schema.to_json()) == schema
    with pytest.raises(
        SchemaError, match=r"at least one column to learn from, got none \(card_id: key \(by its name\)"
    ):
        infer_schema({"card_id": MANY})


def test_what_is_told_holds():
    head = {"card_id": MANY, "x": RNG.integers(0, 500, 200).tolist()}
    assert infer_schema(head, kinds={"card_id": "number"}).keys == ()
    assert infer_schema(head, kinds={"card_id": "category", "x": "key"}).keys == ("x",)


def test_times_are_the_time_and_other_dates():
    head = {"born": ["1970-05-01"], "when": ["2024-01-01"], "x": [0.5]}
    assert infer_schema(head, time="when").times == ("when", "born")


def test_a_category_that_is_mostly_numbers_warns():
    head = {"age": ["31", "45", "27", "unknown"] * 20}
    sentence = (
        "column 'age' is taken as a category, although 75% of its first values are numbers such as '31', "
        "because of others such as 'unknown'; leave these cells empty "
    )
    with pytest.warns(SchemaWarning, match=sentence):
        assert infer_schema(head).columns[0].kind == "category"
    infer_schema({"age": ["31", "45", "27", "n/a"] * 20})  # which is missing


def test_forms_are_said_and_kept():
    head = {
        "a": ["$5,256.00", "$3", ""], "b": ["31/03/2024", "01/04/2024", "02/04/2024"], "c": ["12 %", "7 %", "8 %"],
        "d": [1.5, "(3.00)", "2,000"],
    }  # fmt: skip
    schema = infer_schema(head)
    assert str(schema).splitlines() == [
        "a  number written $1,234.50, missing values are noted",
        "b  date written day/month/year as weekday and day of month (no hour: always midnight)",
        "c  number written 1,234.50 %",
        "d  number written 1,234.50, (1.00) for -1",
    ]
    assert Schema.from_json(schema.to_json()) == schema
    encoder = TableEncoder(schema)
    matrix = encoder.matrix(encoder.columns_of(head))
    np.testing.assert_array_equal(matrix[:, :3], [[5256, 12, 1.5], [3, 7, -3], [np.nan, 8, 2000]])
    row = np.zeros(encoder.width)
    encoder.row({name: cells[1] for name, cells in head.items()}, row)
    np.testing.assert_array_equal(row, matrix[1])
    with pytest.raises(
        ValueError, match=r"Column 'a' in row 1 of the table must be a number written like \$1,234.50, got '€5'"
    ):
        encoder.columns_of({name: [cells[0], "€5" if name == "a" else cells[0]] for name, cells in head.items()})
    with pytest.raises(
        ValueError, match="Column 'b' of the row must be a date written as day/month/year, got '2024-01-01'"
    ):
        encoder.row({name: cells[0] for name, cells in head.items()} | {"b": "2024-01-01"}, row)


def test_forms_that_the_first_rows_do_not_tell_can_be_told():
    head = {"n": ["5,256", "1,234"], "d": ["01/02/2024", "02/02/2024"]}
    with pytest.warns(SchemaWarning) as told:
        infer_schema(head)
    assert [str(warning.message).partition(";")[0] for warning in told] == [
        "the first rows of column 'n' do not tell thousands from decimals: '5,256' is taken as 5256",
        "the first rows of column 'd' do not tell days from months ('01/02/2024'): taken as day/month/year",
    ]
    schema = infer_schema(head, kinds={"n": "number:comma", "d": "date:mdy"})
    assert [str(column.form) for column in schema.columns] == ["1.234,50", "month/day/year"]
    typed = infer_schema({"n": ["5", "6"]}, kinds={"n": "number:comma"})
    assert str(typed.columns[0].form) == "1.234,50"
