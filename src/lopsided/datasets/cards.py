"""A simulated stream of card payments with three kinds of fraud, raw and as features that know no label too early."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.datasets.dataset import Dataset
from lopsided.datasets.synthetic import check_count

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Ids = npt.NDArray[np.int64]

DAY = 86_400.0
_WINDOWS = (1, 7, 30)  # days
_SQUARE = 100.0  # side of the country
_NEAR = 78.5  # terminals that a customer can reach, on average
_MOST_AMOUNT = 220.0
_TERMINALS_A_DAY, _TERMINAL_DAYS = 2e-4, 28  # share of terminals that are compromised on a day, and for how long
_CUSTOMERS_A_DAY, _CUSTOMER_DAYS = 6e-4, 14
_MISUSED_SHARE, _MISUSED_TIMES = 1.0 / 3.0, 5.0  # of a misused card: how many payments, how many times the amount

CARD_FEATURES = [
    "amount",
    "weekend",
    "night",
    *(f"customer_{what}_{days}d" for days in _WINDOWS for what in ("count", "mean_amount")),
    *(f"terminal_{what}_{days}d" for days in _WINDOWS for what in ("count", "risk")),
]


class _Customers(NamedTuple):
    """What they spend at a time, how often a day, and the terminals they go to (as ranges of `near`)."""

    mean_amount: Floats
    payments_a_day: Floats
    first_near: Ids
    n_near: Ids
    near: Ids


def card_stream(
    n_customers: int = 500,
    n_terminals: int = 1_000,
    days: int = 90,
    *,
    label_delay: float = 7.0,
    random_state: int | None = 0,
) -> Dataset:
    """Payments of customers at terminals near them, of which a little under one in a hundred is a fraud.

    When: to see a learner on a stream as a bank has it: keys, habits, frauds that come in waves and are known days
    later. It follows the public description of such simulators (Le Borgne, Siblini, Lebichot, Bontempi, Reproducible
    Machine Learning for Credit Card Fraud Detection, 2022). A customer has a place, a mean amount from 5 to 100 with
    half of it as deviation, and up to 4 payments a day, around noon, at terminals within reach. Frauds are: every
    amount over 220; every payment at a terminal in the 28 days after it was compromised; a third of the payments, at
    five times their amount, of a customer in the 14 days after the card details were stolen. 5,000 customers, 10,000
    terminals and 183 days, as published, make 1.7 million rows; 2 terminals and 3 customers a day fall victim then,
    and in proportion otherwise.

    `X` holds 15 features as people make them by hand: the amount, weekend, night (before seven); of the customer,
    over 1, 7 and 30 days up to this payment, the count and the mean amount; of the terminal, over 1, 7 and 30 days
    that ended `label_delay` days ago, the count and the share of frauds among them. `columns` holds what they are
    made of: time, customer, terminal, amount, hour, weekday (0 is Monday), scenario (0 honest, else the kind of
    fraud). `times` are seconds from the start, `delays` how many rows later a label is known.

    >>> stream = card_stream()
    >>> stream
    Dataset('card_stream', n_rows=84742, n_features=15, ratio=134.4)
    >>> list(stream.columns)
    ['time', 'customer', 'terminal', 'amount', 'hour', 'weekday', 'scenario']
    """
    check_count("n_customers", "card_stream", n_customers, at_least=1)
    check_count("n_terminals", "card_stream", n_terminals, at_least=1)
    check_count("days", "card_stream", days, at_least=1)
    if not 0.0 <= label_delay < np.inf:
        raise ValueError(f"label_delay of card_stream must be a number of days >= 0, got {label_delay!r}.")
    rng = np.random.default_rng(random_state)
    customers = _drawn_customers(n_customers, n_terminals, rng)
    times, customer, terminal, amount = _payments(customers, days, rng)
    day = (times // DAY).astype(np.int64)
    scenario = np.where(amount > _MOST_AMOUNT, 1, 0)
    scenario[_struck(n_terminals, days, _TERMINALS_A_DAY, _TERMINAL_DAYS, rng)[terminal, day]] = 2
    at_risk = _struck(n_customers, days, _CUSTOMERS_A_DAY, _CUSTOMER_DAYS, rng)[customer, day]
    misused = at_risk & (rng.random(times.size) < _MISUSED_SHARE)
    scenario[misused] = 3
    amount = np.where(misused, _MISUSED_TIMES * amount, amount)
    wait = label_delay * DAY
    return Dataset(
        name="card_stream",
        X=card_features(times, customer, terminal, amount, scenario > 0, label_delay=label_delay),
        y=(scenario > 0).astype(np.int64),
        feature_names=list(CARD_FEATURES),
        source="synthetic, after Le Borgne, Siblini, Lebichot, Bontempi, 2022",
        description=f"payments of {n_customers} customers at {n_terminals} terminals, labels {label_delay:g} days late",
        delays=np.searchsorted(times, times + wait, side="right") - np.arange(times.size) - 1,
        times=times,
        columns={
            "time": times,
            "customer": customer,
            "terminal": terminal,
            "amount": amount,
            "hour": _hour(times),
            "weekday": day % 7,
            "scenario": scenario,
        },
    )


def card_features(
    times: Floats, customer: Ids, terminal: Ids, amount: Floats, fraud: Flags, *, label_delay: float = 7.0
) -> Floats:
    """The 15 features of `card_stream` for payments in order of time.

    Of a row's own label and of labels that were not known at its moment nothing is used: a label counts for rows that
    come more than `label_delay` days after it.

    >>> import numpy as np
    >>> day = 86_400.0
    >>> times, one = np.array([0.0, 0.5, 8.1]) * day, np.zeros(3, dtype=np.int64)
    >>> X = card_features(times, one, one, np.array([10.0, 20.0, 30.0]), np.array([True, False, False]))
    >>> [(name, round(float(value), 2)) for name, value in zip(CARD_FEATURES, X[2]) if "terminal" in name]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('terminal_count_1d', 1.0), ('terminal_risk_1d', 0.0), ('terminal_count_7d', 2.0), ('terminal_risk_7d', 0.5),
     ('terminal_count_30d', 2.0), ('terminal_risk_30d', 0.5)]
    """
    columns: list[Any] = [amount, (times // DAY) % 7 >= 5, _hour(times) < 7]
    past = _Past(customer, times, amount)
    for window in _WINDOWS:
        count, total = past.sums(past.own_place + 1, times - window * DAY)
        columns += [count, total / count]
    past = _Past(terminal, times, fraud.astype(np.float64))
    known = past.places_before(times - label_delay * DAY)
    for window in _WINDOWS:
        count, frauds = past.sums(known, times - (label_delay + window) * DAY)
        columns += [count, frauds / np.maximum(count, 1.0)]
    return np.column_stack(columns).astype(np.float64)


class _Past:
    """Rows ordered by key, then by time, with running sums of a value: sums over stretches of a key's past."""

    def __init__(self, keys: Ids, times: Floats, values: Floats) -> None:
        order = np.lexsort((times, keys))  # stable: of rows at the same moment the earlier one comes first
        self._keys, self._order = keys, order
        # Keys far apart, so that a window that begins before the stream does not reach the rows of another key.
        self._apart = float(times.max(initial=0.0)) + 1_000.0 * DAY
        self._moments = (keys * self._apart + times)[order]
        self._sums = np.concatenate([[0.0], np.cumsum(values[order])])
        self.own_place = np.empty(order.size, dtype=np.int64)
        self.own_place[order] = np.arange(order.size)

    def places_before(self, moments: Floats) -> Ids:
        """Where, among all rows, those of a row's own key end that came before a moment."""
        asked = self._keys * self._apart + np.maximum(moments, -999.0 * DAY)
        places = np.empty(asked.size, dtype=np.int64)
        # Asked in the order of what is searched, which is many times faster than as the rows came.
        places[self._order] = np.searchsorted(self._moments, asked[self._order], side="left")
        return places

    def sums(self, stop: Ids, since: Floats) -> tuple[Floats, Floats]:
        """How many rows of a row's own key lie between a moment and a place, and the sum of their values."""
        start = np.minimum(self.places_before(since), stop)
        return (stop - start).astype(np.float64), self._sums[stop] - self._sums[start]


def _hour(times: Floats) -> Ids:
    return ((times % DAY) // 3600.0).astype(np.int64)


def _drawn_customers(n: int, n_terminals: int, rng: np.random.Generator) -> _Customers:
    from scipy.spatial import cKDTree  # takes longer to import than the stream to make

    tree = cKDTree(rng.uniform(0.0, _SQUARE, (n_terminals, 2)))
    places = rng.uniform(0.0, _SQUARE, (n, 2))
    reach = _SQUARE * np.sqrt(_NEAR / (np.pi * n_terminals))
    lists = tree.query_ball_point(places, reach, return_sorted=True)
    nearest = tree.query(places)[1]
    lists = [found or [int(nearest[k])] for k, found in enumerate(lists)]
    n_near = np.array([len(found) for found in lists], dtype=np.int64)
    return _Customers(
        mean_amount=rng.uniform(5.0, 100.0, n),
        payments_a_day=rng.uniform(0.0, 4.0, n),
        first_near=np.cumsum(n_near) - n_near,
        n_near=n_near,
        near=np.concatenate([np.asarray(found, dtype=np.int64) for found in lists]),
    )


def _payments(who: _Customers, days: int, rng: np.random.Generator) -> tuple[Floats, Ids, Ids, Floats]:
    """Times, customers, terminals and amounts of all payments, in order of time."""
    counts = rng.poisson(who.payments_a_day[:, None], (who.payments_a_day.size, days)).ravel()
    customer = np.repeat(np.repeat(np.arange(who.payments_a_day.size), days), counts)
    day = np.repeat(np.tile(np.arange(days), who.payments_a_day.size), counts)
    of_day = rng.normal(DAY / 2.0, 20_000.0, customer.size)
    awake = (of_day > 0.0) & (of_day < DAY)
    customer, times = customer[awake], (day * DAY + of_day)[awake]
    order = np.argsort(times, kind="stable")
    customer, times = customer[order], times[order]
    mean = who.mean_amount[customer]
    drawn = rng.normal(mean, mean / 2.0)
    amount = np.round(np.where(drawn < 0.0, rng.uniform(0.0, 2.0 * mean), drawn), 2).astype(np.float64)
    choice = (rng.random(customer.size) * who.n_near[customer]).astype(np.int64)
    return times, customer, who.near[who.first_near[customer] + choice], amount


def _struck(n: int, days: int, share: float, length: int, rng: np.random.Generator) -> Flags:
    """Of each of n, on each day: whether it has fallen victim in the last `length` days, this one included."""
    table = np.zeros((n, days), dtype=np.bool_)
    for day in range(days):
        victims = int((day + 1) * share * n) - int(day * share * n)  # a fraction of one a day is one now and then
        table[rng.choice(n, victims, replace=False), day : day + length] = True
    return table
