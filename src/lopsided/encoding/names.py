"""What the name of a column says about it: whether it is called after somebody or something, or after a time."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# What names one thing only; and what a row may also count (three cards, two devices).
_IDENTIFIERS = frozenset({
    "id", "ids", "uuid", "guid", "uid", "iban", "bic", "swift", "acct", "pan", "username", "login", "zip",
    "zipcode", "postcode", "postalcode", "plz", "phone", "telephone", "tel", "mobile", "msisdn", "imei", "imsi",
    "ssn", "passport", "email", "ip", "vin", "isbn", "ean", "sku",
})  # fmt: skip
_ENTITIES = frozenset({
    "account", "card", "cc", "customer", "cust", "client", "merchant", "user", "device", "terminal", "session",
    "payer", "payee", "sender", "recipient", "beneficiary", "holder",
})  # fmt: skip
_NUMBERING = frozenset({"number", "no", "nr", "num", "code", "hash", "ref", "key", "token"})
_NUMBERED = _IDENTIFIERS | _ENTITIES | {"postal", "invoice", "order", "transaction", "trans", "contract", "policy"}
_TIMES = frozenset({
    "time", "timestamp", "ts", "date", "datetime", "dt", "epoch", "unix", "created", "updated", "when",
    "moment", "clock", "step", "tick", "ticks", "seconds", "millis", "elapsed",
})  # fmt: skip
_AMOUNTS = frozenset({"amount", "amt", "price", "value", "total", "sum", "cost", "paid", "payment"})
_DAYS = frozenset({"date", "day", "dt", "when", "time", "created", "updated", "ymd"})


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case, without numbers behind them.

    >>> words_of("cardHolder_ID"), words_of("TransactionDT"), words_of("card1"), words_of("x 17")
    (['card', 'holder', 'id'], ['transaction', 'dt'], ['card'], ['x'])
    """
    words = [word.lower() for word in _WORD.findall(name)]
    while len(words) > 1 and words[-1].isdigit() and words[-2] != "id":
        words.pop()
    return words


def is_of_an_identifier(name: str) -> bool:
    """Whether a column is called after what names one thing only: card_id, account number, zip, phone, iban."""
    words = words_of(name)
    if not words:
        return False
    return words[-1] in _IDENTIFIERS or (len(words) > 1 and words[-1] in _NUMBERING and words[-2] in _NUMBERED)


def is_of_an_entity(name: str) -> bool:
    """Whether a column is called after whom or what rows are about: customer, merchant, card; it may be a count too."""
    words = words_of(name)
    return bool(words) and words[-1] in _ENTITIES


def is_of_a_time(name: str) -> bool:
    """Whether a column is called after a time.

    >>> is_of_a_time("created_at"), is_of_a_time("TransactionDT"), is_of_a_time("amount")
    (True, True, False)
    """
    return not _TIMES.isdisjoint(words_of(name))


def is_of_a_day(name: str) -> bool:
    """Whether a column is called after a date."""
    return not _DAYS.isdisjoint(words_of(name))


def is_of_an_amount(name: str) -> bool:
    """Whether a column is called after money.

    >>> is_of_an_amount("amount_usd"), is_of_an_amount("TransactionAmt"), is_of_an_amount("age")
    (True, True, False)
    """
    return not _AMOUNTS.isdisjoint(words_of(name))
