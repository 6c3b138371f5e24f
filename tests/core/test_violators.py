"""Which candidates are chosen, against sorting them; and the whole numbers that stand for floats in their order."""

import math

import numpy as np
import pytest

from lopsided.core.arithmetic.aligned import aligned_zeros
from lopsided.core.arithmetic.exponential import float_in_order, order_of
from lopsided.core.pairwise.violators import _choose, empty_chosen

SLOTS = 40


def few_values(rng, n):
    return rng.integers(-2, 3, n) / 3.0


def of_all_sizes(rng, n):
    return rng.normal(size=n) * 10.0 ** rng.uniform(-320.0, 150.0, n)


@pytest.mark.parametrize("k", [1, 3, 10, SLOTS])
@pytest.mark.parametrize("values", [few_values, of_all_sizes, lambda rng, n: rng.random(n)])
def test_the_largest_are_chosen_and_of_equals_the_first(k, values):
    rng, chosen = np.random.default_rng(0), empty_chosen(k, SLOTS)
    for _ in range(300):
        candidates = chosen.candidates[: rng.integers(1, SLOTS + 1)]
        candidates[:] = values(rng, candidates.size)
        candidates[rng.random(candidates.size) < 0.3] = -math.inf
        n = _choose(chosen, candidates, 5, k)
        largest = [i for i in np.argsort(-candidates, kind="stable") if candidates[i] > -math.inf][:k]
        assert chosen.slots[:n].tolist() == sorted(5 + i for i in largest)


def test_floats_and_their_order():
    floats = [-math.inf, -1e300, -1.0, -5e-324, 0.0, 5e-324, 1.0, math.nextafter(1.0, 2.0), 1e300, math.inf]
    orders = [order_of(x) for x in floats]
    assert orders == sorted(orders)
    assert order_of(floats[7]) == order_of(1.0) + 1
    assert [float_in_order(order) for order in orders] == floats


@pytest.mark.parametrize("shape", [(1,), (7, 3), (200, 200), (0, 8)])
def test_aligned_arrays_are_zeros_that_begin_at_a_line(shape):
    made = aligned_zeros(*shape)
    assert made.shape == shape
    assert made.flags.c_contiguous
    assert made.flags.writeable
    assert not made.any()
    assert made.size == 0 or made.ctypes.data % 64 == 0
