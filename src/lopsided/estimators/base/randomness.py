"""One stream of uniforms for each learner, fetched ahead for compiled code and saved with the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.core.arithmetic.compiled import Floats
from lopsided.core.arithmetic.draws import Draws

_GO_BACK = ("PCG64", "PCG64DXSM")
_FETCHED = 1024  # uniforms kept ready, so that learning one example rarely has to fetch


class UniformStream:
    """`rng.random()`, one after the other, in the order in which the learner asks.

    The buffer stays where it is while it is large enough: calls may be bound to it.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.draws = _nothing_fetched()

    def reserve(self, n: int) -> Draws:
        """The stream, with at least n uniforms not yet used."""
        unused = self.unused()
        if unused.size < n:
            if n > self.draws.uniforms.size:
                self.draws = Draws(np.empty(n), self.draws.position)
            self.draws.uniforms[: unused.size] = unused
            self.draws.uniforms[unused.size :] = self.rng.random(self.draws.uniforms.size - unused.size)
            self.draws.position[0] = 0
        return self.draws

    def unused(self) -> Floats:
        """The uniforms fetched and not yet used: with the generator's state, the whole future of the stream."""
        return self.draws.uniforms[int(self.draws.position[0]) :].copy()

    def future(self) -> tuple[Floats, dict[str, Any]]:
        """Uniforms, and the state of the generator after them: what the stream will give, whatever was fetched so far.

        Generators that can go back are taken back to the first uniform not yet used. So a model that was stopped and
        one that was not are the same file, although one of them has fetched more.
        """
        unused, state = self.unused(), generator_state(self.rng)
        if unused.size == 0 or state["bit_generator"] not in _GO_BACK or state.get("has_uint32"):
            return unused, state
        earlier: Any = _bit_generator(state)
        earlier.advance(-unused.size)
        return unused[:0], generator_state(np.random.Generator(earlier))

    def restore(self, unused: Floats, state: dict[str, Any]) -> None:
        """Continue where `unused` and `generator_state` left off."""
        self.rng = np.random.Generator(_bit_generator(state))
        self.draws = _nothing_fetched(max(_FETCHED, unused.size))
        self.draws.position[0] -= unused.size
        self.draws.uniforms[self.draws.position[0] :] = unused


def _nothing_fetched(size: int = _FETCHED) -> Draws:
    """A buffer of which everything is used up."""
    return Draws(np.zeros(size), np.array([size], dtype=np.int64))


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
