"""Streams of concepts that are drawn at random: a hyperplane, bumps, a tree, words, clusters amid the other class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lopsided.datasets.concept_streams import Draw, Flags, Floats, concept_stream, flipped, one_hot
from lopsided.datasets.dataset import Dataset
from lopsided.datasets.synthetic import check_count

Places = npt.NDArray[np.int64]

_CENTROIDS = 50
_TREE_DEPTH, _FIRST_LEAF, _LEAF_SHARE = 5, 3, 0.15
_TREE_VALUES = 5  # of a category
_WORDS, _WORDS_A_TEXT, _POLARITY = 1000, 12.0, 1.0
_MIXER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 by the golden ratio: multiplied with it, numbers spread evenly


def hyperplane(
    n: int,
    rare: float = 0.01,
    concepts: Sequence[int] = (1,),
    at: Sequence[float] | None = None,
    width: float = 0.0,
    n_features: int = 10,
    n_moving: int = 2,
    magnitude: float = 0.0,
    noise: float = 0.05,
    *,
    random_state: int | None = 0,
) -> Dataset:
    """Numbers from 0 to 1 on either side of a hyperplane through the middle of the cube, which may rotate.

    When: to see a linear boundary, at rest or moving all the time. Weights are drawn from 0 to 1; positive is what
    weighs half of their sum or more. With a `magnitude` the first `n_moving` weights change by so much every row, in
    a direction that turns round at a tenth of the rows. `noise` turns labels round before rows are chosen by class.
    Concepts are any whole numbers, each with weights of its own; `at` and `width` as in `agrawal`.

    >>> hyperplane(2_000)
    Dataset('hyperplane', n_rows=2000, n_features=10, ratio=99)
    """
    check_count("n_features", "hyperplane", n_features, at_least=2)
    if not 0 <= n_moving <= n_features:
        raise ValueError(f"n_moving of hyperplane must be from 0 to n_features ({n_features}), got {n_moving!r}.")

    def make(_: int, chance: np.random.Generator) -> Draw:
        start = chance.random(n_features)
        turns = np.where(chance.random((n, n_moving)) < 0.1, -1.0, 1.0)
        path = np.zeros((n, n_features))
        path[:, :n_moving] = np.cumsum(magnitude * np.cumprod(turns, axis=0), axis=0)

        def draw(places: Places, rng: np.random.Generator) -> tuple[Floats, Flags]:
            X = rng.random((places.size, n_features))
            weights = start + path[places]
            above = np.einsum("ij,ij->i", X, weights) >= 0.5 * weights.sum(axis=1)
            return X, flipped(above, noise, rng)

        return draw

    reference = "Hulten, Spencer, Domingos, Mining Time-Changing Data Streams, 2001"
    names = [f"x{k}" for k in range(1, n_features + 1)]
    return concept_stream("hyperplane", make, names, n, rare, concepts, at, width, random_state, reference=reference)


def random_rbf(
    n: int,
    rare: float = 0.01,
    concepts: Sequence[int] = (1,),
    at: Sequence[float] | None = None,
    width: float = 0.0,
    n_features: int = 10,
    *,
    random_state: int | None = 0,
) -> Dataset:
    """Fifty bumps at random places, each with a class, a weight and a spread of its own.

    When: to see classes that are scattered about. A row is a bump, chosen by weight, and a step from its centre in a
    random direction, its length normal with the spread of the bump. Centres, weights and spreads are uniform from 0
    to 1. Concepts are any whole numbers, each with bumps of its own; `at` and `width` as in `agrawal`.

    >>> random_rbf(2_000)
    Dataset('random_rbf', n_rows=2000, n_features=10, ratio=99)
    """
    check_count("n_features", "random_rbf", n_features, at_least=1)

    def make(_: int, chance: np.random.Generator) -> Draw:
        centres = chance.random((_CENTROIDS, n_features))
        weights, spreads = chance.random(_CENTROIDS), chance.random(_CENTROIDS)
        classes = both_classes(chance.random(_CENTROIDS) < 0.5)

        def draw(places: Places, rng: np.random.Generator) -> tuple[Floats, Flags]:
            bump = rng.choice(_CENTROIDS, places.size, p=weights / weights.sum())
            direction = rng.uniform(-1.0, 1.0, (places.size, n_features))
            direction /= np.linalg.norm(direction, axis=1, keepdims=True)
            length = spreads[bump] * rng.standard_normal(places.size)
            return centres[bump] + direction * length[:, None], classes[bump]

        return draw

    reference = "Bifet, Holmes, Kirkby, Pfahringer, MOA: Massive Online Analysis, 2010"
    names = [f"x{k}" for k in range(1, n_features + 1)]
    return concept_stream("random_rbf", make, names, n, rare, concepts, at, width, random_state, reference=reference)


def random_tree(
    n: int,
    rare: float = 0.01,
    concepts: Sequence[int] = (1,),
    at: Sequence[float] | None = None,
    width: float = 0.0,
    n_numbers: int = 5,
    n_categories: int = 5,
    *,
    random_state: int | None = 0,
) -> Dataset:
    """Uniform numbers and categories of five values, labelled by a tree that was drawn at random.

    When: to see what trees are good at. The tree splits a number at a random place or a category by its values, is
    five deep, and from the third level on a node is a leaf with probability .15; leaves have random classes.
    Categories become a column for each value. Concepts are any whole numbers, each a tree of its own; `at` and
    `width` as in `agrawal`.

    >>> random_tree(2_000)
    Dataset('random_tree', n_rows=2000, n_features=30, ratio=99)
    """
    check_count("n_numbers", "random_tree", n_numbers, at_least=0)
    check_count("n_categories", "random_tree", n_categories, at_least=0 if n_numbers else 1)

    def make(_: int, chance: np.random.Generator) -> Draw:
        tree = _grown_tree(n_numbers, n_categories, chance)

        def draw(places: Places, rng: np.random.Generator) -> tuple[Floats, Flags]:
            numbers = rng.random((places.size, n_numbers))
            codes = rng.integers(0, _TREE_VALUES, (places.size, n_categories))
            coded = [one_hot(codes[:, k], _TREE_VALUES) for k in range(n_categories)]
            return np.column_stack([numbers, *coded]), tree.labels(numbers, codes)

        return draw

    reference = "Domingos, Hulten, Mining High-Speed Data Streams, 2000"
    names = [f"x{k}" for k in range(1, n_numbers + 1)]
    names += [f"c{k}={value}" for k in range(1, n_categories + 1) for value in range(_TREE_VALUES)]
    return concept_stream("random_tree", make, names, n, rare, concepts, at, width, random_state, reference=reference)


class _Tree:
    """Nodes in the order in which they were grown: an attribute, where it splits, the children, or a class."""

    def __init__(self) -> None:
        self.attribute: list[int] = []  # numbers first, then categories; -1 is a leaf
        self.place: list[float] = []
        self.children: list[list[int]] = []
        self.positive: list[bool] = []

    def add(self, attribute: int, place: float, positive: bool) -> int:
        self.attribute.append(attribute)
        self.place.append(place)
        self.children.append([])
        self.positive.append(positive)
        return len(self.attribute) - 1

    def labels(self, numbers: Floats, codes: npt.NDArray[np.int64]) -> Flags:
        """Which class the leaf of each row has."""
        found = np.zeros(numbers.shape[0], dtype=np.bool_)
        waiting: list[tuple[int, Places]] = [(0, np.arange(numbers.shape[0]))]
        while waiting:
            node, rows = waiting.pop()
            if self.attribute[node] < 0:
                found[rows] = self.positive[node]
                continue
            k = self.attribute[node] - numbers.shape[1]
            branch = codes[rows, k] if k >= 0 else (numbers[rows, self.attribute[node]] >= self.place[node]) * 1
            waiting += [(child, rows[branch == value]) for value, child in enumerate(self.children[node])]
        return found


def _grown_tree(n_numbers: int, n_categories: int, chance: np.random.Generator) -> _Tree:
    tree = _Tree()

    def grow(depth: int, low: Floats, high: Floats, left: frozenset[int]) -> int:
        is_leaf = depth >= _TREE_DEPTH or (depth >= _FIRST_LEAF and chance.random() < _LEAF_SHARE)
        usable = [*range(n_numbers), *sorted(left)]  # a category has been used up once a branch has split by it
        if is_leaf or not usable:
            return tree.add(-1, 0.0, bool(chance.random() < 0.5))
        attribute = int(chance.choice(usable))
        if attribute >= n_numbers:
            node = tree.add(attribute, 0.0, False)
            tree.children[node] = [grow(depth + 1, low, high, left - {attribute}) for _ in range(_TREE_VALUES)]
            return node
        place = float(chance.uniform(low[attribute], high[attribute]))
        node = tree.add(attribute, place, False)
        below, above = high.copy(), low.copy()
        below[attribute] = above[attribute] = place
        tree.children[node] = [grow(depth + 1, low, below, left), grow(depth + 1, above, high, left)]
        return node

    categories = frozenset(range(n_numbers, n_numbers + n_categories))
    grow(0, np.zeros(n_numbers), np.ones(n_numbers), categories)
    leaves = [node for node, attribute in enumerate(tree.attribute) if attribute < 0]
    for node, positive in zip(leaves, both_classes(np.array([tree.positive[k] for k in leaves])), strict=True):
        tree.positive[node] = bool(positive)
    return tree


def texts(
    n: int,
    rare: float = 0.01,
    concepts: Sequence[int] = (1,),
    at: Sequence[float] | None = None,
    width: float = 0.0,
    n_features: int = 100,
    *,
    random_state: int | None = 0,
) -> Dataset:
    """Short texts as counts of hashed words; some words are more frequent in texts of the rare class.

    When: to see many sparse columns, each of which says little. Of 1,000 words the k-th is used in proportion to 1/k;
    each has a polarity, normal with deviation 1, that makes it more frequent in one class and rarer in the other by
    exp(half of it). A text has 12 words on average, at least one; words are hashed into `n_features` columns.
    Concepts are any whole numbers, each with polarities of its own; `at` and `width` as in `agrawal`.

    >>> texts(2_000)
    Dataset('texts', n_rows=2000, n_features=100, ratio=99)
    """
    check_count("n_features", "texts", n_features, at_least=2)
    hashes = (np.arange(1, _WORDS + 1, dtype=np.uint64) * _MIXER) >> np.uint64(33)
    column = (hashes % np.uint64(n_features)).astype(np.int64)

    def make(_: int, chance: np.random.Generator) -> Draw:
        used = 1.0 / np.arange(1, _WORDS + 1)
        polarity = _POLARITY * chance.standard_normal(_WORDS)
        shares = used * np.exp(np.outer([-0.5, 0.5], polarity))
        ends = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)

        def draw(places: Places, rng: np.random.Generator) -> tuple[Floats, Flags]:
            positive = rng.random(places.size) < 0.5
            length = 1 + rng.poisson(_WORDS_A_TEXT - 1.0, places.size)
            text = np.repeat(np.arange(places.size), length)
            chances = rng.random(text.size)
            word = np.where(positive[text], np.searchsorted(ends[1], chances), np.searchsorted(ends[0], chances))
            cell = text * n_features + column[np.minimum(word, _WORDS - 1)]
            counts = np.bincount(cell, minlength=places.size * n_features)
            return counts.reshape(places.size, n_features).astype(np.float64), positive

        return draw

    names = [f"word{k}" for k in range(1, n_features + 1)]
    reference = "the text generator of MOA, with hashed words"
    return concept_stream("texts", make, names, n, rare, concepts, at, width, random_state, reference=reference)


def minority_clusters(
    n: int,
    rare: float = 0.01,
    concepts: Sequence[int] = (1,),
    at: Sequence[float] | None = None,
    width: float = 0.0,
    n_features: int = 5,
    n_clusters: int = 1,
    borderline: float = 0.0,
    outliers: float = 0.0,
    *,
    random_state: int | None = 0,
) -> Dataset:
    """Balls full of the rare class in a cube that is otherwise full of the other.

    When: to see what makes a rare class hard: several balls, rows at their border, rows on their own. Negatives are
    uniform in the cube from -1 to 1, outside of the balls. Of the positives the share `borderline` lies in the shell
    of half the radius around a ball, where negatives are too, the share `outliers` anywhere in the cube, the others
    uniformly inside. Concepts are any whole numbers, each with balls of its own; `at` and `width` as in `agrawal`.

    >>> minority_clusters(2_000, n_clusters=3, borderline=0.4)
    Dataset('minority_clusters', n_rows=2000, n_features=5, ratio=99)
    """
    check_count("n_features", "minority_clusters", n_features, at_least=1)
    check_count("n_clusters", "minority_clusters", n_clusters, at_least=1)
    if borderline < 0.0 or outliers < 0.0 or borderline + outliers > 1.0:
        got = f"{borderline!r} and {outliers!r}"
        raise ValueError(f"borderline and outliers of minority_clusters must be shares of at most 1 in sum, got {got}.")
    radius = 0.4 / np.sqrt(n_clusters)

    def make(_: int, chance: np.random.Generator) -> Draw:
        centres = chance.uniform(-1.0 + radius, 1.0 - radius, (n_clusters, n_features))

        def draw(places: Places, rng: np.random.Generator) -> tuple[Floats, Flags]:
            m = places.size
            positive = rng.random(m) < 0.5
            direction = rng.standard_normal((m, n_features))
            direction /= np.linalg.norm(direction, axis=1, keepdims=True)
            kind = rng.random(m)
            inner = rng.random(m) ** (1.0 / n_features)  # uniform in a ball
            shell = (1.0 + (1.5**n_features - 1.0) * rng.random(m)) ** (1.0 / n_features)
            length = radius * np.where(kind < borderline, shell, inner)
            inside = centres[rng.integers(0, n_clusters, m)] + direction * length[:, None]
            anywhere = rng.uniform(-1.0, 1.0, (m, n_features))
            while (crowded := np.flatnonzero(~positive & (_distance_to(centres, anywhere) < radius))).size:
                anywhere[crowded] = rng.uniform(-1.0, 1.0, (crowded.size, n_features))
            is_outlier = positive & (kind >= 1.0 - outliers)
            X = np.where((positive & ~is_outlier)[:, None], inside, anywhere)
            return X, positive

        return draw

    names = [f"x{k}" for k in range(1, n_features + 1)]
    reference = "Brzezinski, Minku, Pewinski, Stefanowski, Szumaczuk, The Impact of Data Difficulty Factors, 2021"
    return concept_stream(
        "minority_clusters", make, names, n, rare, concepts, at, width, random_state, reference=reference
    )


def _distance_to(centres: Floats, points: Floats) -> Floats:
    """From each point to the nearest of the centres."""
    return np.linalg.norm(points[:, None, :] - centres[None], axis=2).min(axis=1)


def both_classes(classes: Flags) -> Flags:
    """The same with the first turned round if all were equal."""
    classes = np.asarray(classes, dtype=np.bool_).copy()
    if classes.all() or not classes.any():
        classes[0] = not classes[0]
    return classes
