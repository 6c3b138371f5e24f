"""Which columns a model ranks by: how much worse it does when one of them is replaced by those of other rows.

The measure asks nothing of the model but scores, so that all learners can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from lopsided.inspection import feature_names
from lopsided.metrics import auroc

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_SCORED_ROWS = 150_000  # in all: a second for most learners
_MOST_COLUMNS = 100
_MOST_REPEATS = 5
_FEWEST_ROWS = 400


class ColumnLoss(NamedTuple):
    """How much AUROC a column carries, on average over the repeats, and how much the repeats differ."""

    name: str
    loss: float
    spread: float


class ColumnLosses(NamedTuple):
    """The AUROC of a model on a sample, and the loss without each column, the largest first.

    `n_columns` is how many columns there are; only those that are filled most often are measured if they are many.
    """

    auroc: float
    losses: list[ColumnLoss]
    n_positives: int
    n_negatives: int
    n_columns: int
    repeats: int


def column_losses(
    model: Any,
    X: Any,
    positive: Flags,
    columns: Mapping[str, Sequence[int]] | None = None,
    *,
    share: float = 0.5,
    random_state: int = 0,
) -> ColumnLosses:
    """The loss of AUROC when a column holds the values of rows drawn at random, for every column.

    Parameters
    ----------
    model : learner
        One that has learned, or anything with `raw_scores` or `decision_function`.
    X : array or CSR matrix of shape (n_samples, n_features)
        Rows of both classes.
    positive : vector of shape (n_samples,)
        Which of them are positive.
    columns : mapping, optional
        Column -> places in `X` that are made of it; they are replaced together. Default: those of the model's table.
    share : float, default=0.5
        The share of positives in the stream, by which rows are drawn whose values replace others.
    random_state : int, default=0
        The seed of these draws.

    Examples
    --------
    >>> from lopsided import KOIL
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = (X[:, 1] > 1.0).astype(int)
    >>> found = column_losses(KOIL(random_state=0).fit(X, y), X, y == 1)
    >>> [loss.name for loss in found.losses], found.losses[0].loss > 0.2
    (['x1', 'x0'], True)
    """
    columns = columns_of_model(model) if columns is None else columns
    n_columns = len(columns)
    if n_columns > _MOST_COLUMNS:
        columns = _most_filled(X, columns)
    rows = max(_FEWEST_ROWS, _SCORED_ROWS // max(len(columns), 1))
    if X.shape[0] > rows:
        # The latest of each class stand last.
        positives, negatives = np.flatnonzero(positive), np.flatnonzero(~positive)
        kept = max(1, min(positives.size, rows // 2))
        chosen = np.concatenate([positives[-kept:], negatives[-(rows - kept) :]])
        X, positive = X[chosen], positive[chosen]
    repeats = int(np.clip(_SCORED_ROWS // max(len(columns) * X.shape[0], 1), 1, _MOST_REPEATS))
    rng = np.random.default_rng(random_state)
    n_positives = int(positive.sum())
    weights = np.where(positive, share / n_positives, (1.0 - share) / (positive.size - n_positives))
    base = auroc(positive, _scores(model, X))
    losses = []
    for name, places in columns.items():
        without = []
        for _ in range(repeats):
            donors = rng.choice(positive.size, size=positive.size, p=weights / weights.sum())
            without.append(base - auroc(positive, _scores(model, _replaced(X, list(places), donors))))
        losses.append(ColumnLoss(name, float(np.mean(without)), float(np.std(without))))
    losses.sort(key=lambda loss: -loss.loss)
    return ColumnLosses(base, losses, n_positives, positive.size - n_positives, n_columns, repeats)


def columns_of_model(model: Any) -> dict[str, list[int]]:
    """The columns of the table that a model reads, and which of its numbers are made of each."""
    encoder = getattr(model, "encoder_", None)
    if encoder is not None:
        places: dict[str, list[int]] = encoder.places()
        return places
    return {name: [place] for place, name in enumerate(feature_names(model))}


def _scores(model: Any, X: Any) -> Floats:
    scores = model.raw_scores(X) if hasattr(model, "raw_scores") else model.decision_function(X)
    return np.asarray(scores, dtype=np.float64)


def _replaced(X: Any, places: list[int], donors: npt.NDArray[np.int64]) -> Any:
    """The rows with some numbers of other rows."""
    if not issparse(X):
        changed = X.copy()
        changed[:, places] = X[donors[:, None], places]
        return changed
    old, new = X.tocoo(), X[:, places][donors].tocoo()
    stays = ~np.isin(old.col, places)
    rows = np.concatenate([old.row[stays], new.row])
    columns = np.concatenate([old.col[stays], np.asarray(places)[new.col]])
    return type(X)((np.concatenate([old.data[stays], new.data]), (rows, columns)), shape=X.shape)


def _most_filled(X: Any, columns: Mapping[str, Sequence[int]]) -> dict[str, Sequence[int]]:
    filled = np.asarray((X != 0).sum(axis=0)).ravel()
    ranked = sorted(columns, key=lambda name: -max(filled[place] for place in columns[name]))[:_MOST_COLUMNS]
    return {name: columns[name] for name in columns if name in set(ranked)}
