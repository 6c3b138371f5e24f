"""The support vectors of several models as one set: equal ones become one, and some leave where there are too many.

The score of the united set is the average of the models' scores, by their shares of the rows, as long as nobody leaves.
Who leaves is up to the learner's own rule. What becomes of the weight too, but where the rule is to drop it, as may be
done with one vector and not with most of them, it goes to the most similar vector that stays: the repair of KOIL.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lopsided.core.arithmetic.compiled import Floats, Integers
from lopsided.core.pointwise.budget import LEAST_DAMAGE, OLDEST, Budget


class Kept(NamedTuple):
    """Vectors with their weights, from old to new.

    `moments` are b of an average (see `core/pointwise/expansion.py`), `ages` the share of the stream that has come
    since, `masses` how many rows of the stream each stands for, `numbers` which row it is, 0 where nobody knows.
    """

    vectors: Any
    weights: Floats
    moments: Floats
    signs: Floats
    ages: Floats
    masses: Floats
    numbers: Integers

    def chosen(self, which: npt.NDArray[Any]) -> Kept:
        """Some of them, in this order."""
        return Kept(*(part[which] for part in self))

    @property
    def size(self) -> int:
        """How many there are."""
        return self.weights.size


def kept(
    vectors: Any, weights: Floats, signs: Floats, numbers: Integers, *, moments: Floats | None = None, seen: Any = 1.0
) -> Kept:
    """The vectors of one model, which are ordered from old to new; `seen` are the rows that they stand for together."""
    n = weights.size
    ages = (n - np.arange(n) - 0.5) / max(n, 1)
    masses = np.broadcast_to(np.asarray(seen, dtype=np.float64) / max(n, 1), n)
    return Kept(vectors, weights, np.zeros(n) if moments is None else moments, signs, ages, masses, numbers)


def joined(parts: list[Kept]) -> Kept:
    """One behind the other."""
    found = [part.vectors for part in parts]
    vectors: Any = sp.csr_array(sp.vstack(found)) if any(map(sp.issparse, found)) else np.concatenate(found)
    return Kept(vectors, *(np.concatenate(arrays) for arrays in zip(*(part[1:] for part in parts), strict=True)))


def united(parts: list[Kept], shares: Floats) -> Kept:
    """The vectors of all models, from old to new, each model's weights times its share.

    Only the rows of the first model keep their numbers: those of the others are numbers of other streams.
    """
    weighted = [part._replace(weights=share * part.weights) for part, share in zip(parts, shares, strict=True)]
    weighted = weighted[:1] + [part._replace(numbers=np.zeros_like(part.numbers)) for part in weighted[1:]]
    both = joined(weighted)
    # Stable: equal ages stay in the order of the models.
    return _without_repeats(both.chosen(np.argsort(-both.ages, kind="stable")))


def _without_repeats(both: Kept) -> Kept:
    """Equal vectors of the same class become one, which has the weight of all and the age of the youngest."""
    places: dict[Any, list[int]] = {}
    for t, key in enumerate(_keys(both)):
        places.setdefault(key, []).append(t)
    if len(places) == both.size:
        return both
    youngest = np.array(sorted(copies[-1] for copies in places.values()))
    repeats = {copies[-1]: copies for copies in places.values() if len(copies) > 1}
    weights, moments, masses = both.weights.copy(), both.moments.copy(), both.masses.copy()
    numbers = both.numbers.copy()
    for last, copies in repeats.items():
        weights[last], moments[last] = both.weights[copies].sum(), both.moments[copies].sum()
        masses[last], numbers[last] = both.masses[copies].sum(), both.numbers[copies].max()
    return both._replace(weights=weights, moments=moments, masses=masses, numbers=numbers).chosen(youngest)


def without(both: Kept, known: Kept) -> Kept:
    """Those that are not among others, which are known already."""
    there = set(_keys(known))
    return both.chosen(np.array([t for t, key in enumerate(_keys(both)) if key not in there], dtype=np.int64))


def _keys(both: Kept) -> list[Any]:
    signs = both.signs.tolist()
    if not sp.issparse(both.vectors):
        rows = both.vectors + 0.0  # a negative zero is a zero
        return [(sign, row.tobytes()) for sign, row in zip(signs, rows, strict=True)]
    return [(*vector_key(both.vectors, t), sign) for t, sign in enumerate(signs)]


def vector_key(vectors: Any, t: int) -> tuple[bytes, ...]:
    """What equal vectors have in common."""
    if not sp.issparse(vectors):
        return ((vectors[t] + 0.0).tobytes(),)
    entries = slice(vectors.indptr[t], vectors.indptr[t + 1])
    return vectors.indices[entries].tobytes(), vectors.data[entries].tobytes()


# -------------------------------------------------------------------- who stays


def cut_down(both: Kept, budget: Budget, most: int, uniforms: Floats) -> tuple[Kept, int]:
    """Those that stay, at most so many (0: all), by who leaves a full expansion; then those that leave.

    The number is how many stay. Where the one that does least damage leaves, that is seen when they are put in.
    """
    if not most or both.size <= most or budget.eviction == LEAST_DAMAGE:
        return both, both.size
    if budget.eviction == OLDEST:
        stays = np.arange(both.size) >= both.size - most
    else:
        stays = _some_of_each_class(both.signs, most, uniforms)
    return staying_first(both, stays), most


def staying_first(both: Kept, stays: npt.NDArray[np.bool_]) -> Kept:
    """Those that stay, then those that leave, each in their order."""
    return both.chosen(np.argsort(~stays, kind="stable"))


def _some_of_each_class(signs: Floats, most: int, uniforms: Floats) -> npt.NDArray[np.bool_]:
    """Uniform ones of each class, as many as its share."""
    positives = int(np.count_nonzero(signs > 0.0))
    room = int(np.clip(round(most * positives / signs.size), min(1, positives), most))
    room = max(room, most - (signs.size - positives))
    stays = np.zeros(signs.size, dtype=np.bool_)
    for own, size in ((signs > 0.0, room), (signs < 0.0, most - room)):
        members = np.flatnonzero(own)
        stays[members[np.argsort(uniforms[members], kind="stable")[:size]]] = True
    return stays


def sampled_by_mass(masses: Floats, most: int, uniforms: Floats) -> npt.NDArray[np.bool_]:
    """So many of them, each as likely to stay as the rows that it stands for are many (Efraimidis, Spirakis 2006)."""
    keys = np.log(np.maximum(uniforms, 1e-300)) / masses
    stays = np.zeros(masses.size, dtype=np.bool_)
    stays[np.argsort(-keys, kind="stable")[:most]] = True
    return stays
