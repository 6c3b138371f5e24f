"""Randomness in compiled code: one stream of uniforms, fetched ahead.

A NumPy generator as an argument would cost more than a whole step, so the caller prefetches `rng.random(n)`, which is
the same stream as n single draws, and hands over the values with the position of the next one.
"""

from __future__ import annotations

from typing import NamedTuple

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled


class Draws(NamedTuple):
    """Uniforms in [0, 1) and, in `position[0]`, how many of them are used up."""

    uniforms: Floats
    position: Integers


@compiled
def draw(draws: Draws) -> float:
    """The next uniform of the stream."""
    position = draws.position[0]
    draws.position[0] = position + 1
    return draws.uniforms[position]


@compiled
def draw_index(draws: Draws, n: int) -> int:
    """A uniform index among n: floor(u n)."""
    return int(draw(draws) * n)
