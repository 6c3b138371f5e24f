"""Values as JSON has them."""

from __future__ import annotations

import math
from typing import Any


def plain_value(value: Any) -> Any:
    """A value as JSON has it: no nan, arrays as lists, and objects such as kernels and learners by their spelling.

    >>> import numpy as np
    >>> from lopsided.kernels import Gaussian
    >>> plain_value({"weights": np.array([0.5, np.nan]), "kernel": Gaussian(gamma=2.0), "budget": (50, 100)})
    {'weights': [0.5, None], 'kernel': 'Gaussian(gamma=2.0)', 'budget': [50, 100]}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, tuple | list):
        return [plain_value(part) for part in value]
    if isinstance(value, dict):
        return {str(name): plain_value(part) for name, part in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return " ".join(repr(value).split())  # scikit-learn breaks the lines of learners that are made of learners


def parameters_of(learner: Any) -> dict[str, Any]:
    """The parameters of a learner as plain values.

    >>> from lopsided import KernelPA
    >>> parameters_of(KernelPA(C=2))["C"]
    2
    """
    return {name: plain_value(value) for name, value in learner.get_params(deep=False).items()}
