"""Streams of one concept after another, at any share of positives: the frame of the generators of the surveys.

A concept draws rows with labels as it likes. Which rows of the stream are positive is decided first, then each is drawn
until the concept gives it that label: so the share of positives is exact, and within a class rows are what the concept
makes them. Of several concepts each begins at its place, at once or gradually.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from lopsided.datasets.dataset import Dataset
from lopsided.datasets.synthetic import check_count, rare_labels

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
# Rows and their labels, one for each place in the stream (concepts may move with it).
Draw = Callable[[npt.NDArray[np.int64], np.random.Generator], tuple[Floats, Flags]]
# Of a concept that is one of a random family: its number, and a source of chance that belongs to it alone.
Make = Callable[[int, np.random.Generator], Draw]

_MOST_DRAWS = 200_000  # of one row, before it is said that a concept has no such rows


def concept_stream(
    name: str,
    make: Make,
    feature_names: list[str],
    n: int,
    rare: float,
    concepts: Sequence[int],
    at: Sequence[float] | None,
    width: float,
    random_state: int | None,
    *,
    reference: str,
    most: int | None = None,
) -> Dataset:
    """The stream of a generator: its concepts by number, `most` of them if there are only so many."""
    check_count("n", name, n, at_least=2)
    concepts = checked_concepts(name, concepts, most)
    begins = checked_places(name, at, len(concepts))
    if not 0.0 <= width <= 1.0:
        raise ValueError(f"width of {name} must be a share between 0 and 1, got {width!r}.")
    rng = np.random.default_rng(random_state)
    base = int(rng.integers(2**32))
    draws = [make(number, np.random.default_rng([base, number])) for number in concepts]
    y = rare_labels(name, n, rare, rng)
    which = concept_of_rows(n, begins, width, rng)
    X = np.empty((n, len(feature_names)))
    for k, draw in enumerate(draws):
        _fill(name, X, y == 1, np.flatnonzero(which == k), draw, rng)
    changes = f", concepts {', '.join(map(str, concepts))}" if len(concepts) > 1 else f", concept {concepts[0]}"
    return Dataset(name, X, y, feature_names, f"synthetic, after {reference}", f"{name}{changes}; features not scaled")


def concept_of_rows(n: int, begins: Sequence[float], width: float, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Which concept each row is of; around a change the new one comes with a probability that rises from 0 to 1."""
    which: npt.NDArray[np.int64] = np.zeros(n, dtype=np.int64)
    share = np.arange(n) / n
    for k, begin in enumerate(begins, start=1):
        is_new = share >= begin if width == 0.0 else rng.random(n) < (share - begin) / width + 0.5
        which[is_new] = k
    return which


def checked_concepts(name: str, concepts: Sequence[int], most: int | None) -> list[int]:
    """Numbers of concepts, at least one."""
    allowed = "whole numbers >= 1" if most is None else f"whole numbers from 1 to {most}"
    found = [concepts] if isinstance(concepts, int | np.integer) else list(concepts)
    for number in found:
        is_whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        if not is_whole or number < 1 or (most is not None and number > most):
            raise ValueError(f"concepts of {name} must be {allowed}, got {number!r}.")
    if not found:
        raise ValueError(f"concepts of {name} must be at least one, {allowed}, got none.")
    return [int(number) for number in found]


def checked_places(name: str, at: Sequence[float] | None, n_concepts: int) -> list[float]:
    """Where in the stream the second concept begins, the third, ...; evenly if nothing is said."""
    if at is None:
        return [k / n_concepts for k in range(1, n_concepts)]
    places = [at] if isinstance(at, float) else list(at)
    rising = all(0.0 < low < high < 1.0 for low, high in zip([1e-300, *places], [*places, 1.0 - 1e-16], strict=True))
    if len(places) != n_concepts - 1 or not (rising or not places):
        raise ValueError(
            f"at of {name} must be rising shares between 0 and 1, one less than there are concepts ({n_concepts}), "
            f"got {at!r}."
        )
    return [float(place) for place in places]


def _fill(
    name: str, X: Floats, positive: Flags, rows: npt.NDArray[np.int64], draw: Draw, rng: np.random.Generator
) -> None:
    """Draw each of these rows until it has the label that it is to have; what does not fit is drawn anew."""
    wanted = positive[rows]
    for label in (False, True):
        pending = rows[wanted == label]
        tries = 0
        while pending.size:
            # Some rows that are left, often: as if each were drawn many times, at the price of one call.
            repeats = max(1, min(4096 // pending.size, _MOST_DRAWS))
            places = np.repeat(pending, repeats)
            drawn, labels = draw(places, rng)
            fits = (labels == label).reshape(pending.size, repeats)
            found = fits.any(axis=1)
            chosen = np.arange(pending.size) * repeats + fits.argmax(axis=1)
            X[pending[found]] = drawn[chosen[found]]
            pending = pending[~found]
            tries += repeats
            if tries > _MOST_DRAWS:
                raise ValueError(f"A concept of {name} must have rows of both classes, got none in {tries} draws.")


def one_hot(codes: npt.NDArray[np.int64], n_values: int) -> Floats:
    """A column for each value of a category.

    >>> import numpy as np
    >>> one_hot(np.array([2, 0]), 3).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    return np.eye(n_values)[codes]


def flipped(labels: Flags, noise: float, rng: np.random.Generator) -> Flags:
    """Labels, each turned round with probability `noise`."""
    return labels if noise == 0.0 else labels ^ (rng.random(labels.size) < noise)
