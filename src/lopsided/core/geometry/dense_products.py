"""Squared distances of dense rows by scalar products where these lose no digits that matter, else by differences.

||x||^2 + ||z||^2 - 2 x.z takes one instruction a feature where (x - z)^2 takes two, and the scalar products serve
polynomials as well. But it cancels: it is wrong by about the rounding of ||x||^2 + ||z||^2. For a Gaussian of which
gamma (||x||^2 + ||z||^2) is small that is nothing, and of points so far apart that the Gaussian is 0 nothing matters.
A pair of points decides, not the company in which it is measured: rows measured together have the bits of one alone.
"""

from __future__ import annotations

from lopsided.core.arithmetic.compiled import Floats, Integers, compiled, compiled_as_written
from lopsided.core.arithmetic.exponential import bits_of, exponential_of_moderate, float_in_order
from lopsided.core.geometry.dense_squares import dense_squares
from lopsided.core.geometry.kernels import SURELY_NORMAL, fill_gaussian

# gamma (||x||^2 + ||z||^2) up to which a similarity is right to about 1e-12.
_MOST = 4096.0
_FAR = 760.0  # gamma ||x - z||^2 from which on a Gaussian is 0, and a little more
_WRONG_BY = 1e-10  # of ||x||^2 + ||z||^2, more than rounding ever makes
_ROWS_WITH_CARE = 32  # after one that needed it


@compiled
def squares_from_products(
    values: Floats,
    x: Floats,
    start: int,
    stop: int,
    norms: Floats,
    norm: float,
    narrowest: float,
    widest: float,
    dots: Floats,
    squares: Floats,
    scratch: Floats,
) -> None:
    """Squared distances to the points start..stop-1, given scalar products, for Gaussians of these extreme gammas.

    `norms` and all after it are of these points alone; `scratch` is as long.
    """
    most, far = _MOST / narrowest - norm, _FAR / widest
    for i in range(squares.size):
        squares[i] = _square(norms[i], norm, dots[i])
    large = 0
    for i in range(norms.size):
        large += 0 if norms[i] <= most else 1
    if large == 0:
        return
    doubtful = 0
    for i in range(squares.size):
        doubtful += 1 if _is_doubtful(norms[i], norm, squares[i], most, far) else 0
    if doubtful == 0:
        return
    dense_squares(values, x, start, stop, scratch)
    for i in range(squares.size):
        if _is_doubtful(norms[i], norm, squares[i], most, far):
            squares[i] = scratch[i]


@compiled
def gaussians_from_products(
    values: Floats,
    x: Floats,
    start: int,
    stop: int,
    norms: Floats,
    norm: float,
    gamma: float,
    dots: Floats,
    row: Floats,
    squares: Floats,
    scratch: Floats,
    care: Integers,
) -> None:
    """row[i] = exp(-gamma ||x - z_i||^2) for the points start..stop-1, given scalar products.

    `norms` and all after it are of these points alone; `squares` and `scratch` are as long. Mostly one pass over them
    is enough. Where it was not, the next `care[0]` rows do without it: they have the same bits, made in more passes.
    """
    if care[0] == 0:
        if _fill_in_one_pass(norms, norm, gamma, dots, row):
            return
        care[0] = _ROWS_WITH_CARE
    care[0] -= 1
    if _all_far(norms, norm, _FAR / gamma, dots):  # a narrow kernel of a pool may know none of its vectors
        for i in range(row.size):
            row[i] = 0.0
        return
    squares_from_products(values, x, start, stop, norms, norm, gamma, gamma, dots, squares, scratch)
    fill_gaussian(gamma, squares, row)


@compiled
def _fill_in_one_pass(norms: Floats, norm: float, gamma: float, dots: Floats, row: Floats) -> bool:
    """Whether that was enough: no distance is doubtful, no exponential subnormal."""
    furthest = longest = 0
    for i in range(row.size):
        distance = gamma * _square(norms[i], norm, dots[i])
        # Bits of numbers that are not negative are in their order, and the largest is found by vector instructions.
        furthest = max(furthest, bits_of(distance))  # type: ignore[call-arg]
        longest = max(longest, bits_of(norms[i]))
        row[i] = exponential_of_moderate(-distance)
    return float_in_order(furthest) <= SURELY_NORMAL and float_in_order(longest) <= _MOST / gamma - norm


@compiled
def _all_far(norms: Floats, norm: float, far: float, dots: Floats) -> bool:
    """Whether all points are so far away that no rounding matters."""
    near = 0
    for i in range(norms.size):
        near += 0 if _square(norms[i], norm, dots[i]) - _WRONG_BY * (norms[i] + norm) > far else 1
    return near == 0


@compiled_as_written
def _square(of_point: float, of_row: float, product: float) -> float:
    return max(0.0, (of_point + of_row) - 2.0 * product)


@compiled_as_written
def _is_doubtful(of_point: float, of_row: float, square: float, most: float, far: float) -> bool:
    """Also where a norm is infinite."""
    return not of_point <= most and not square - _WRONG_BY * (of_point + of_row) > far
