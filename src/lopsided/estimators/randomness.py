"""One stream of uniforms for each learner, fetched ahead for compiled code and saved with the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.core.compiled import Floats
from lopsided.core.draws import Draws

_AT_LEAST = 256  # uniforms fetched at a time, so that learning one example rarely has to fetch


class UniformStream:
    """`rng.random()`, one after the other, in the order in which the learner asks."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.draws = Draws(np.empty(0), np.zeros(1, dtype=np.int64))

    def reserve(self, n: int) -> Draws:
        """The stream, with at least n uniforms not yet used."""
        used = int(self.draws.position[0])
        unused = self.draws.uniforms.size - used
        if unused < n:
            fresh = self.rng.random(max(n - unused, _AT_LEAST))
            self.draws = Draws(np.concatenate([self.draws.uniforms[used:], fresh]), np.zeros(1, dtype=np.int64))
        return self.draws

    def unused(self) -> Floats:
        """The uniforms fetched and not yet used: with the generator's state, the whole future of the stream."""
        return self.draws.uniforms[int(self.draws.position[0]) :].copy()

    def restore(self, unused: Floats, state: dict[str, Any]) -> None:
        """Continue where `unused` and `generator_state` left off."""
        self.rng = np.random.Generator(_bit_generator(state))
        self.draws = Draws(np.ascontiguousarray(unused, dtype=np.float64), np.zeros(1, dtype=np.int64))


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """The state of a generator in a form that JSON can hold."""
    return _plain(dict(rng.bit_generator.state))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _bit_generator(state: dict[str, Any]) -> np.random.BitGenerator:
    known = {kind.__name__: kind for kind in (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox,
                                              np.random.SFC64)}  # fmt: skip
    bit_generator: Any = known[state["bit_generator"]]()
    bit_generator.state = state
    return bit_generator
