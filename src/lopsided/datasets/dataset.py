"""What every loader returns: features, a rare class against the rest, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)  # arrays have no single truth value, so == between two sets has no answer
class Dataset:
    """Examples in the order in which they are to be learned.

    `X` is float64, one example a row, an array or a CSR matrix; `y` is 1 for the class that matters and 0 for the
    other; `source` says where the examples come from and `description` what was done to them.

    Some sets have more to say: `folds` (n x repetitions) the published fold of each row, `inner_folds` the published
    labellings for tuning, `n_train` how many of the rows, the first, were published as the training file, `delays`
    how many rows later the label of each row becomes known, `times` the seconds at which rows came, `columns` what
    they were made of, by name.

    >>> import numpy as np
    >>> toy = Dataset("toy", np.zeros((4, 1)), np.array([0, 1, 0, 0]), ["x1"], "typed in", "four zeros")
    >>> toy
    Dataset('toy', n_rows=4, n_features=1, ratio=3)
    """

    name: str
    X: Any
    y: NDArray[np.int64]
    feature_names: list[str]
    source: str
    description: str
    folds: NDArray[np.int64] | None = None
    inner_folds: NDArray[np.int64] | None = None
    n_train: int | None = None
    delays: NDArray[np.int64] | None = None
    times: NDArray[np.float64] | None = None
    columns: dict[str, NDArray[Any]] | None = None

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def ratio(self) -> float:
        """Negatives per positive; infinite without positives."""
        positives = int(np.count_nonzero(self.y == 1))
        return (self.n_rows - positives) / positives if positives else float("inf")

    def __repr__(self) -> str:
        # The generated one would print the arrays.
        shape = f"n_rows={self.n_rows}, n_features={self.n_features}"
        return f"Dataset({self.name!r}, {shape}, ratio={self.ratio:.4g})"


def scale_to_unit_interval(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every column moved and stretched to [0, 1]; a constant column becomes 0.

    >>> import numpy as np
    >>> scale_to_unit_interval(np.array([[1.0, 7.0], [3.0, 7.0], [2.0, 7.0]])).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]]
    """
    lowest = X.min(axis=0)
    width = X.max(axis=0) - lowest
    return np.ascontiguousarray((X - lowest) / np.where(width > 0, width, 1.0))
