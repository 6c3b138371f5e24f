"""Numbers and dates as people write them: forms are found in the first rows, and read alike at once and one by one."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lopsided.streams.date_forms import DateForm, find_date_form
from lopsided.streams.number_forms import NumberForm, find_number_form


@pytest.mark.parametrize(
    ("texts", "words", "numbers"),
    [
        (["5,256.00", "12", "1.5"], "1,234.50", [5256, 12, 1.5]),
        (["5.256,00", "3"], "1.234,50", [5256, 3]),
        (["0,125", "0,5"], "1.234,50", [0.125, 0.5]),
        (["$52.56", "$5,256.00", "-$3", "$-3"], "$1,234.50", [52.56, 5256, -3, -3]),
        (["12 %", "3.5%"], "1,234.50 %", [12, 3.5]),
        (["(3.00)", "5,200.00", "($ 7)"], "$1,234.50, (1.00) for -1", [-3, 5200, -7]),
        (["1 234,50 €", "1\u00a0234\u202f567 €"], "1 234,50 €", [1234.5, 1234567]),
        (["1'234.50"], "1'234.50", [1234.5]),
        (["USD 5.00", "5"], "1,234.50 USD", [5, 5]),
        (["$5", "$6", "7 €"], "$1,234.50 (also €)", [5, 6, 7]),
        (["\u22123.5 kr", "+1e3 kr"], "1,234.50 kr", [-3.5, 1000]),
    ],
)
def test_forms_of_numbers(texts, words, numbers):
    found = find_number_form(texts)
    assert (str(found.form), found.share, found.ambiguous) == (words, 1.0, None)
    assert [found.form.read(text) for text in texts] == numbers
    assert found.form.at_once(pa.array([*texts, None])).to_pylist() == [*numbers, None]


def test_thousands_that_may_be_decimals():
    found = find_number_form(["5,256", "1,234"])
    assert found.ambiguous == "5,256" and found.form.read("5,256") == 5256
    assert find_number_form(["5,256", "1,234"], ",").form.read("5,256") == 5.256
    assert find_number_form(["5,256", "1,5"]).form.read("5,256") == 5.256  # the other one tells
    assert find_number_form(["red", "12 monkeys"]) is None and find_number_form([""]) is None


@pytest.mark.parametrize(
    "text", ["", "1,2,3", "12,34.5", "$5", "5 5", "0,125", "--5", "(5", "5)", "()", "1.2.3", "inf", "x"]
)
def test_what_is_no_number_of_a_form(text):
    form = NumberForm(parentheses=True)
    assert form.read(text) is None and form.at_once(pa.array(["1", text])) is None


amounts = st.builds(
    lambda sign, whole, fraction, group: (f"{whole:,}".replace(",", group), f"{fraction:02}", sign),
    st.sampled_from(["", "-", "("]), st.integers(0, 10**9), st.integers(0, 99), st.sampled_from([",", ""]),
)  # fmt: skip


@given(st.lists(amounts, min_size=1, max_size=20), st.sampled_from([(".", ","), (",", "."), (",", " "), (".", "'")]))
def test_at_once_is_cell_by_cell(parts, convention):
    decimal, group = convention
    form = NumberForm(decimal, group, ("€",), parentheses=True)
    texts, expected = [], []
    for whole, fraction, sign in parts:
        number = f"{whole.replace(',', group)}{decimal}{fraction} €"
        texts.append(f"({number})" if sign == "(" else sign + number)
        value = float(f"{whole.replace(',', '')}.{fraction}")
        expected.append(-value if sign else value)
    assert [form.read(text) for text in texts] == expected
    assert form.at_once(pa.array(texts)).to_pylist() == expected


@pytest.mark.parametrize(
    ("texts", "order", "first"),
    [
        (["31/03/2024", "01/04/2024"], "dmy", "2024-03-31T00:00"),
        (["03/31/2024 02:15 PM", "12/01/2024 12:00 am"], "mdy", "2024-03-31T14:15"),
        (["2012/01/01", "2012/1/2 7:05"], "ymd", "2012-01-01T00:00"),
        (["31.03.2024 14:15:16.25"], "dmy", "2024-03-31T14:15:16.250"),
    ],
)
def test_forms_of_dates(texts, order, first):
    found = find_date_form(texts)
    assert (found.form.order, found.share, found.ambiguous) == (order, 1.0, None)
    at_once = found.form.at_once(pa.array([*texts, None]))
    assert at_once[0] == np.datetime64(first) and np.isnat(at_once[-1])
    assert at_once[:-1].astype(datetime.datetime).tolist() == [found.form.read(text) for text in texts]


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["01/02/2024", "02/02/2024", "05/02/2024"], "dmy"),  # four days, rather than four months
        (["01/02/2024", "01/03/2024"], "mdy"),
        (["01/12/2024", "02/01/2025"], "dmy"),  # otherwise time would run backwards
        (["01/02/2024"], "dmy"),
    ],
)
def test_days_and_months_that_may_be_either(texts, order):
    found = find_date_form(texts)
    assert found.form.order == order and found.ambiguous == texts[0]


@pytest.mark.parametrize(
    "text", ["30/02/2024", "01/13/2024", "1/2/24", "01/02/2024 25:00", "01/02/2024 13:00 PM", "soon"]
)
def test_what_is_no_date_of_a_form(text):
    form = DateForm("dmy", "/")
    assert form.read(text) is None and form.at_once(pa.array(["01/01/2024", text])) is None


def test_dates_that_are_numbers():
    assert DateForm("seconds").of_number(1.7e9) == np.datetime64("2023-11-14T22:13:20")
    assert DateForm("yyyymmdd").of_number(20240229.0) == np.datetime64("2024-02-29")
    for form, number in (("yyyymmdd", 20240230.0), ("yyyymmdd", 12.0), ("yyyymmdd", 20240201.5), ("seconds", 1.7e12)):
        assert DateForm(form).of_number(number) is None
