"""The generator in compiled code is NumPy's, bit for bit."""

import numpy as np
import pytest

from lopsided.core.arithmetic.generators import next_uniform, numbers_of_generator, state_of_generator


@pytest.mark.parametrize("seed", range(5))
def test_uniforms_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    generator = numbers_of_generator(rng.bit_generator.state)
    assert state_of_generator(generator) == rng.bit_generator.state
    found = [next_uniform(generator) for _ in range(1_000)]
    assert found == rng.random(1_000).tolist()
    assert state_of_generator(generator) == rng.bit_generator.state


def test_halves_that_carry():
    """States whose lower half is all ones, where every carry counts."""
    rng = np.random.default_rng(0)
    state = rng.bit_generator.state
    state["state"] = {"state": 2**128 - 1, "inc": 2**128 - 1}
    rng.bit_generator.state = state
    generator = numbers_of_generator(state)
    assert [next_uniform(generator) for _ in range(100)] == rng.random(100).tolist()
