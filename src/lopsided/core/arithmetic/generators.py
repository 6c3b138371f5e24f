"""NumPy's default generator in compiled code, for as many streams as there are keys: four whole numbers each.

PCG64 (O'Neill 2014): a state of 128 bits is multiplied by a constant and increased by another; 64 bits are made of the
new one by an exclusive or and a rotation. `rng.random()` is the upper 53 of these, as a fraction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.core.arithmetic.compiled import Integers, compiled_as_written

GENERATOR_SIZE = 4  # whole numbers: upper and lower half of the state, then of the increment
_MULTIPLIER_HIGH, _MULTIPLIER_LOW = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)
_LOW_HALF, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_ROTATION, _BITS, _LAST_BIT = np.uint64(58), np.uint64(64), np.uint64(63)
_BEYOND_A_FLOAT = np.uint64(64 - 53)
_WORD = 2**64


def numbers_of_generator(state: dict[str, Any]) -> Integers:
    """What `bit_generator.state` of a PCG64 says, as four whole numbers."""
    halves = [part >> 64 for part in _parts(state)], [part % _WORD for part in _parts(state)]
    numbers = [halves[0][0], halves[1][0], halves[0][1], halves[1][1]]
    return np.array(numbers, dtype=np.uint64).view(np.int64)


def state_of_generator(numbers: Integers) -> dict[str, Any]:
    """The other way round."""
    high, low, step_high, step_low = (int(number) % _WORD for number in numbers)
    held = {"state": high * _WORD + low, "inc": step_high * _WORD + step_low}
    return {"bit_generator": "PCG64", "state": held, "has_uint32": 0, "uinteger": 0}


def _parts(state: dict[str, Any]) -> tuple[int, int]:
    return int(state["state"]["state"]), int(state["state"]["inc"])


@compiled_as_written
def _upper_half(left: Any, right: Any) -> Any:
    """The upper 64 bits of the product of two numbers of 64."""
    left_high, left_low = left >> _HALF, left & _LOW_HALF
    right_high, right_low = right >> _HALF, right & _LOW_HALF
    middle = left_high * right_low + ((left_low * right_low) >> _HALF)
    other = left_low * right_high + (middle & _LOW_HALF)
    return left_high * right_high + (middle >> _HALF) + (other >> _HALF)


@compiled_as_written
def next_uniform(generator: Integers) -> float:
    """`rng.random()` of a generator, which moves on."""
    high, low = np.uint64(generator[0]), np.uint64(generator[1])
    step_high, step_low = np.uint64(generator[2]), np.uint64(generator[3])
    new_high = _upper_half(low, _MULTIPLIER_LOW) + high * _MULTIPLIER_LOW + low * _MULTIPLIER_HIGH + step_high
    new_low = low * _MULTIPLIER_LOW + step_low
    if new_low < step_low:
        new_high += np.uint64(1)
    generator[0], generator[1] = np.int64(new_high), np.int64(new_low)
    mixed, turn = new_high ^ new_low, new_high >> _ROTATION
    turned = (mixed >> turn) | (mixed << ((_BITS - turn) & _LAST_BIT))
    return np.float64(turned >> _BEYOND_A_FLOAT) * 2.0**-53
