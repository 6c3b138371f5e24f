"""Streams whose classes are told apart by a short rule: goods on offer, SEA, sine, mixed, STAGGER."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from lopsided.datasets.concept_streams import Draw, Flags, Floats, concept_stream, flipped, one_hot
from lopsided.datasets.dataset import Dataset

Codes = npt.NDArray[np.int64]

_LEVELS = ["very low", "low", "normal", "high", "very high", "quite high", "enormous"]
ASSET_VALUES: dict[str, list[str]] = {
    "colour": ["black", "blue", "cyan", "brown", "red", "green", "yellow", "magenta"],
    "price": [*_LEVELS, "not for sale"],
    "payment": [str(days) for days in range(0, 241, 30)],
    "amount": [*_LEVELS, "not sure"],
    "delay": _LEVELS[:5],
}
# Every concept is an "or" of offers that interest the buyer.
ASSET_OFFERS: list[list[dict[str, str]]] = [
    [{"price": "normal", "amount": "high"}, {"colour": "brown", "price": "very low", "delay": "high"}],
    [{"price": "high", "amount": "very high", "delay": "high"}],
    [{"price": "very low", "payment": "0", "amount": "high"}, {"colour": "red", "price": "low", "payment": "30"}],
    [
        {"colour": "black", "payment": "90", "delay": "very low"},
        {"colour": "magenta", "price": "high", "delay": "very low"},
    ],
    [
        {"colour": "blue", "payment": "60", "amount": "low", "delay": "normal"},
        {"colour": "cyan", "amount": "low", "delay": "normal"},
    ],
]
SEA_LIMITS = (8.0, 9.0, 7.0, 9.5)
STAGGER_VALUES: dict[str, list[str]] = {
    "size": ["small", "medium", "large"],
    "colour": ["red", "green", "blue"],
    "shape": ["square", "circle", "triangle"],
}


def asset_negotiation(
    n: int,
    rare: float = 0.01,
    concepts: Sequence[int] = (1,),
    at: Sequence[float] | None = None,
    width: float = 0.0,
    noise: float = 0.0,
    *,
    random_state: int | None = 0,
) -> Dataset:
    """Goods on offer, described by five categories; the rare class are those that interest a buyer.

    When: to see a learner with categories only. Colour, price, payment, amount and delay have 8, 8, 9, 8 and 5
    values, a column each. Five published concepts, each one or two combinations of two to four values. `at` and
    `width` as in `agrawal`; `noise` turns labels round before rows are chosen by class.

    >>> asset_negotiation(2_000)
    Dataset('asset_negotiation', n_rows=2000, n_features=38, ratio=99)
    """

    def rule(number: int) -> Callable[[dict[str, Codes]], Flags]:
        def interests(goods: dict[str, Codes]) -> Flags:
            fits = [
                np.logical_and.reduce([goods[key] == ASSET_VALUES[key].index(value) for key, value in offer.items()])
                for offer in ASSET_OFFERS[number - 1]
            ]
            return np.logical_or.reduce(fits)

        return interests

    make = _categories(ASSET_VALUES, rule, noise)
    reference = "Enembreck, Avila, Scalabrin, Barthes, Learning Drifting Negotiations, 2007"
    names = _names(ASSET_VALUES)
    return concept_stream(
        "asset_negotiation", make, names, n, rare, concepts, at, width, random_state, reference=reference, most=5
    )


def stagger(
    n: int,
    rare: float = 0.01,
    concepts: Sequence[int] = (1,),
    at: Sequence[float] | None = None,
    width: float = 0.0,
    *,
    random_state: int | None = 0,
) -> Dataset:
    """The oldest stream with drift: size, colour and shape of an object, three values each.

    When: to see a change of concept with nothing else in the way. Positive is what is 1. small and red, 2. green or a
    circle, 3. medium or large. `at` and `width` as in `agrawal`.

    >>> stagger(2_000, concepts=(1, 2, 3))
    Dataset('stagger', n_rows=2000, n_features=9, ratio=99)
    """
    rules: list[Callable[[dict[str, Codes]], Flags]] = [
        lambda thing: (thing["size"] == 0) & (thing["colour"] == 0),
        lambda thing: (thing["colour"] == 1) | (thing["shape"] == 1),
        lambda thing: thing["size"] >= 1,
    ]
    make = _categories(STAGGER_VALUES, lambda number: rules[number - 1], 0.0)
    reference = "Schlimmer, Granger, Incremental Learning from Noisy Data, 1986"
    names = _names(STAGGER_VALUES)
    return concept_stream(
        "stagger", make, names, n, rare, concepts, at, width, random_state, reference=reference, most=3
    )


def sea(
    n: int,
    rare: float = 0.01,
    concepts: Sequence[int] = (1,),
    at: Sequence[float] | None = None,
    width: float = 0.0,
    noise: float = 0.1,
    *,
    random_state: int | None = 0,
) -> Dataset:
    """Three numbers from 0 to 10, of which the first two matter: positive if their sum exceeds a limit.

    When: to see a boundary that moves a little. The limits of the four concepts are 8, 9, 7 and 9.5; a tenth of the
    labels is turned round before rows are chosen by class, as published. `at` and `width` as in `agrawal`.

    >>> sea(2_000)
    Dataset('sea', n_rows=2000, n_features=3, ratio=99)
    """

    def above(number: int) -> Callable[[Floats], Flags]:
        return lambda X: X[:, 0] + X[:, 1] > SEA_LIMITS[number - 1]

    reference = "Street, Kim, A Streaming Ensemble Algorithm (SEA) for Large-Scale Classification, 2001"
    make = _numbers(3, 10.0, above, noise)
    names = ["x1", "x2", "x3"]
    return concept_stream("sea", make, names, n, rare, concepts, at, width, random_state, reference=reference, most=4)


def sine(
    n: int,
    rare: float = 0.01,
    concepts: Sequence[int] = (1,),
    at: Sequence[float] | None = None,
    width: float = 0.0,
    *,
    random_state: int | None = 0,
) -> Dataset:
    """Two numbers from 0 to 1 on either side of a curve.

    When: to see a bent boundary, and one that is turned round. Positive is what lies 1. below sin x, 2. not below it,
    3. below .5 + .3 sin(3 pi x), 4. not below it. No noise. `at` and `width` as in `agrawal`.

    >>> sine(2_000, concepts=(1, 2))
    Dataset('sine', n_rows=2000, n_features=2, ratio=99)
    """

    def side(number: int) -> Callable[[Floats], Flags]:
        def is_there(X: Floats) -> Flags:
            curve = np.sin(X[:, 0]) if number <= 2 else wave(X[:, 0])
            return (X[:, 1] < curve) == (number % 2 == 1)

        return is_there

    reference = "Gama, Medas, Castillo, Rodrigues, Learning with Drift Detection, 2004"
    make = _numbers(2, 1.0, side, 0.0)
    names = ["x1", "x2"]
    return concept_stream("sine", make, names, n, rare, concepts, at, width, random_state, reference=reference, most=4)


def mixed(
    n: int,
    rare: float = 0.01,
    concepts: Sequence[int] = (1,),
    at: Sequence[float] | None = None,
    width: float = 0.0,
    *,
    random_state: int | None = 0,
) -> Dataset:
    """Two flags and two numbers: positive if two of three conditions hold (1), or if not (2).

    When: to see a rule of "two of three". The conditions are the two flags, and that the second number lies below
    .5 + .3 sin(3 pi x) of the first. No noise. `at` and `width` as in `agrawal`.

    >>> mixed(2_000)
    Dataset('mixed', n_rows=2000, n_features=4, ratio=99)
    """

    def make(number: int, _: np.random.Generator) -> Draw:
        def draw(places: Codes, rng: np.random.Generator) -> tuple[Floats, Flags]:
            flags, numbers = rng.random((places.size, 2)) < 0.5, rng.random((places.size, 2))
            holds = flags.sum(axis=1) + (numbers[:, 1] < wave(numbers[:, 0]))
            return np.column_stack([flags, numbers]), (holds >= 2) == (number == 1)

        return draw

    reference = "Gama, Medas, Castillo, Rodrigues, Learning with Drift Detection, 2004"
    names = ["flag1", "flag2", "x1", "x2"]
    return concept_stream("mixed", make, names, n, rare, concepts, at, width, random_state, reference=reference, most=2)


def wave(x: Floats) -> Floats:
    """The curve that the second half of `sine` and `mixed` have in common."""
    return 0.5 + 0.3 * np.sin(3.0 * np.pi * x)


def _names(values: dict[str, list[str]]) -> list[str]:
    return [f"{key}={value}" for key, named in values.items() for value in named]


def _numbers(
    n_features: int, highest: float, rule: Callable[[int], Callable[[Floats], Flags]], noise: float
) -> Callable[[int, np.random.Generator], Draw]:
    """Uniform numbers from 0 on, labelled by the rule of a concept."""

    def make(number: int, _: np.random.Generator) -> Draw:
        is_positive = rule(number)

        def draw(places: Codes, rng: np.random.Generator) -> tuple[Floats, Flags]:
            X = highest * rng.random((places.size, n_features))
            return X, flipped(is_positive(X), noise, rng)

        return draw

    return make


def _categories(
    values: dict[str, list[str]], rule: Callable[[int], Callable[[dict[str, Codes]], Flags]], noise: float
) -> Callable[[int, np.random.Generator], Draw]:
    """Uniform categories, a column for each value, labelled by the rule of a concept."""

    def make(number: int, _: np.random.Generator) -> Draw:
        is_positive = rule(number)

        def draw(places: Codes, rng: np.random.Generator) -> tuple[Floats, Flags]:
            codes = {key: rng.integers(0, len(named), places.size) for key, named in values.items()}
            X = np.column_stack([one_hot(codes[key], len(named)) for key, named in values.items()])
            return X, flipped(is_positive(codes), noise, rng)

        return draw

    return make
