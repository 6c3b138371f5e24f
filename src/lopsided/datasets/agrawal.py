"""The loan applicants of Agrawal, Imielinski and Swami: nine attributes, ten rules for who belongs to a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lopsided.datasets.concept_streams import Draw, Flags, Floats, concept_stream, one_hot
from lopsided.datasets.dataset import Dataset

_LEVELS, _CARS, _ZIPS = 5, 20, 9
AGRAWAL_NAMES = [
    "salary",
    "commission",
    "age",
    *(f"elevel={k}" for k in range(_LEVELS)),
    *(f"car={k}" for k in range(1, _CARS + 1)),
    *(f"zipcode={k}" for k in range(_ZIPS)),
    "hvalue",
    "hyears",
    "loan",
]


class Applicants(NamedTuple):
    """The nine attributes of some people, as they are before anything is perturbed."""

    salary: Floats
    commission: Floats
    age: Floats
    elevel: npt.NDArray[np.int64]
    car: npt.NDArray[np.int64]
    zipcode: npt.NDArray[np.int64]
    hvalue: Floats
    hyears: Floats
    loan: Floats


def agrawal(
    n: int,
    rare: float = 0.01,
    concepts: Sequence[int] = (1,),
    at: Sequence[float] | None = None,
    width: float = 0.0,
    perturbation: float = 0.05,
    *,
    random_state: int | None = 0,
) -> Dataset:
    """People who ask for a loan, in group A or B by one of ten published rules; B is the rare class.

    When: to see whether a learner finds conditions on two or three of many columns, as trees do, and notices when
    others take their place. Attributes are those of the paper; education, car and region become a column for each
    value, 40 in all. `concepts` are numbers of rules, 1 to 10; each but the first begins at its share `at` of the
    stream (evenly if nothing is said), gradually over the share `width`. After the group is settled, numbers move by
    up to `perturbation` of their range, as published.

    >>> agrawal(2_000)
    Dataset('agrawal', n_rows=2000, n_features=40, ratio=99)
    >>> agrawal(4_000, rare=0.05, concepts=(1, 2, 3), at=(0.25, 0.5), width=0.1).description
    'agrawal, concepts 1, 2, 3; features not scaled'
    """
    if not 0.0 <= perturbation <= 1.0:
        raise ValueError(f"perturbation of agrawal must be a share between 0 and 1, got {perturbation!r}.")

    def make(number: int, _: np.random.Generator) -> Draw:
        in_group_a = AGRAWAL_RULES[number - 1]

        def draw(places: npt.NDArray[np.int64], rng: np.random.Generator) -> tuple[Floats, Flags]:
            people = drawn_applicants(places.size, rng)
            return _columns(_perturbed(people, perturbation, rng)), ~in_group_a(people)

        return draw

    reference = "Agrawal, Imielinski, Swami, Database Mining: A Performance Perspective, 1993"
    return concept_stream(
        "agrawal", make, AGRAWAL_NAMES, n, rare, concepts, at, width, random_state, reference=reference, most=10
    )


def drawn_applicants(n: int, rng: np.random.Generator) -> Applicants:
    """People as the paper describes them: only low salaries come with a commission; houses cost by region."""
    salary = rng.uniform(20_000.0, 150_000.0, n)
    zipcode = rng.integers(0, _ZIPS, n)
    return Applicants(
        salary=salary,
        commission=np.where(salary >= 75_000.0, 0.0, rng.uniform(10_000.0, 75_000.0, n)),
        age=rng.integers(20, 81, n).astype(np.float64),
        elevel=rng.integers(0, _LEVELS, n),
        car=rng.integers(1, _CARS + 1, n),
        zipcode=zipcode,
        hvalue=(_ZIPS - zipcode) * 100_000.0 * rng.uniform(0.5, 1.5, n),
        hyears=rng.integers(1, 31, n).astype(np.float64),
        loan=rng.uniform(0.0, 500_000.0, n),
    )


def _perturbed(people: Applicants, share: float, rng: np.random.Generator) -> Applicants:
    if share == 0.0:
        return people

    def moved(values: Floats, low: Any, high: Any) -> Floats:
        step = share * (high - low) * rng.uniform(-1.0, 1.0, values.size)
        return np.clip(values + step, low, high)

    house = (_ZIPS - people.zipcode) * 100_000.0
    return people._replace(
        salary=moved(people.salary, 20_000.0, 150_000.0),
        commission=np.where(people.commission > 0.0, moved(people.commission, 10_000.0, 75_000.0), 0.0),
        age=np.round(moved(people.age, 20.0, 80.0)),
        hvalue=moved(people.hvalue, 0.5 * house, 1.5 * house),
        hyears=np.round(moved(people.hyears, 1.0, 30.0)),
        loan=moved(people.loan, 0.0, 500_000.0),
    )


def _columns(people: Applicants) -> Floats:
    return np.column_stack(
        [
            people.salary,
            people.commission,
            people.age,
            one_hot(people.elevel, _LEVELS),
            one_hot(people.car - 1, _CARS),
            one_hot(people.zipcode, _ZIPS),
            people.hvalue,
            people.hyears,
            people.loan,
        ]
    )


def _within(values: Floats, thousands: tuple[float, float]) -> Flags:
    return (values >= 1000.0 * thousands[0]) & (values <= 1000.0 * thousands[1])


def _by_age(people: Applicants, young: Flags, middle: Flags, old: Flags) -> Flags:
    return np.where(people.age < 40, young, np.where(people.age < 60, middle, old))


def _rule_1(p: Applicants) -> Flags:
    return (p.age < 40) | (p.age >= 60)


def _rule_2(p: Applicants) -> Flags:
    return _by_age(p, _within(p.salary, (50, 100)), _within(p.salary, (75, 125)), _within(p.salary, (25, 75)))


def _rule_3(p: Applicants) -> Flags:
    return _by_age(p, p.elevel <= 1, (p.elevel >= 1) & (p.elevel <= 3), p.elevel >= 2)


def _rule_4(p: Applicants) -> Flags:
    low, mid, high = (_within(p.salary, span) for span in ((25, 75), (50, 100), (75, 125)))
    middle = np.where((p.elevel >= 1) & (p.elevel <= 3), mid, high)
    return _by_age(p, np.where(p.elevel <= 1, low, mid), middle, np.where(p.elevel >= 2, mid, low))


def _rule_5(p: Applicants) -> Flags:
    small, mid, large = (_within(p.loan, span) for span in ((100, 300), (200, 400), (300, 500)))
    young = np.where(_within(p.salary, (50, 100)), small, mid)
    middle = np.where(_within(p.salary, (75, 125)), mid, large)
    return _by_age(p, young, middle, np.where(_within(p.salary, (25, 75)), large, small))


def _rule_6(p: Applicants) -> Flags:
    income = p.salary + p.commission
    return _by_age(p, _within(income, (50, 100)), _within(income, (75, 125)), _within(income, (25, 75)))


def _two_thirds(p: Applicants) -> Floats:
    return 2.0 / 3.0 * (p.salary + p.commission)


def _rule_7(p: Applicants) -> Flags:
    return _two_thirds(p) - p.loan / 5.0 - 20_000.0 > 0.0


def _rule_8(p: Applicants) -> Flags:
    return _two_thirds(p) - 5_000.0 * p.elevel - 20_000.0 > 0.0


def _rule_9(p: Applicants) -> Flags:
    return _two_thirds(p) - 5_000.0 * p.elevel - p.loan / 5.0 - 10_000.0 > 0.0


def _rule_10(p: Applicants) -> Flags:
    equity = p.hvalue * np.maximum(p.hyears - 20.0, 0.0) / 10.0
    return _two_thirds(p) - 5_000.0 * p.elevel + equity / 5.0 - 10_000.0 > 0.0


AGRAWAL_RULES: list[Callable[[Applicants], Flags]] = [
    _rule_1,
    _rule_2,
    _rule_3,
    _rule_4,
    _rule_5,
    _rule_6,
    _rule_7,
    _rule_8,
    _rule_9,
    _rule_10,
]
