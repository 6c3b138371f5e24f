"""What hypothesis draws: streams of examples and parameters of KOIL.

Points come from a seed, so that they are ordinary numbers; a part of the streams repeats points or lies on a grid,
where similarities tie. Parameters are no round numbers, so that no margin is 1 exactly by design.
"""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from lopsided.kernels import Gaussian, Linear, Normalized, Polynomial, Sum

KERNELS = [
    Gaussian(gamma=0.7),
    Gaussian(gamma=9.0),
    Polynomial(degree=2, coef0=0.3),
    Linear(),
    Normalized(Polynomial(degree=3, coef0=1.0)),
    Sum([Gaussian(gamma=2.0), Linear()], weights=[0.6, 0.5]),
]


class Stream(NamedTuple):
    """Examples and their labels, -1 and +1."""

    X: np.ndarray
    y: np.ndarray


@st.composite
def streams(draw, least=1, most=80, kinds=("free", "repeated", "grid")):
    """Some examples, of either class; labels follow the first feature, mostly."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_features, kind = draw(st.integers(least, most)), draw(st.integers(1, 6)), draw(st.sampled_from(kinds))
    if kind == "grid":
        X = rng.integers(-2, 3, size=(n, n_features)) / 4.0
    elif kind == "repeated":
        X = 0.6 * rng.normal(size=(12, n_features))[rng.integers(12, size=n)]
    else:
        X = 0.6 * rng.normal(size=(n, n_features))
    noise = draw(st.sampled_from([0.05, 0.2, 0.5]))
    y = np.where((X[:, 0] > 0.3) != (rng.random(n) < noise), 1, -1)
    return Stream(X, y)


@st.composite
def parameters(draw, **fixed):
    """Parameters of KOIL under which no step diverges; `fixed` ones are kept."""
    loss = draw(st.sampled_from(["hinge", "squared_hinge"]))
    steep = loss == "squared_hinge"
    drawn = {
        "loss": loss,
        "C": draw(st.sampled_from([0.11, 0.37] if steep else [0.11, 0.37, 1.3, 4.1])),
        "learning_rate": draw(st.sampled_from([0.013, 0.071] if steep else [0.013, 0.071, 0.31, 0.93])),
        "budget": (draw(st.integers(1, 9)), draw(st.integers(1, 9))),
        "n_neighbors": draw(st.sampled_from([1, 2, "auto"] if steep else [1, 2, 5, "auto"])),
        "policy": draw(st.sampled_from(["reservoir", "fifo", "unbounded"])),
        "compensate": draw(st.booleans()),
        "neighbors": draw(st.sampled_from(["violators", "among_nearest"])),
        "schedule": draw(st.sampled_from(["constant", "invsqrt", "theory"])),
        "kernel": draw(st.sampled_from(KERNELS)),
        "random_state": draw(st.integers(0, 1000)),
    }
    return drawn | fixed
