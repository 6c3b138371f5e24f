"""One model of several: `merge`, and `empty_like` for models that are to be merged later."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from lopsided.estimators.base.merging import MergeError
from lopsided.protocol import Mergeable

Model = TypeVar("Model")


def merge(models: Iterable[Model], budget: Any = None) -> Model:
    """One model of several that learned different parts of a stream; the models stay as they are.

    Sums are added: of `FourierRanker`, histories of keys, scalers and metrics. Weights are averaged, each model
    counting by its share of the rows. Sets of vectors are united, weighted likewise, and cut down to the budget by the
    learner's own rule. `docs/merging.md` says which learner does what, and what it costs in accuracy.

    A model that has learned nothing changes nothing, and the order of the models makes no difference: both to the last
    bit. The merged model learns on, is saved and loaded like any other.

    Parameters
    ----------
    models : list of models
        One or more of the same class, with the same parameters (but for seeds and thresholds), labels and features:
        learners, `OnlineScaler`, `KeyedHistory`, `PrioritySample`, or metrics of `lopsided.metrics`. What has random
        directions must have the same ones: make the others by `empty_like`.
    budget : int or None, default=None
        The most support vectors of the merged model, where the learner has a `budget`, in the form of that parameter.
        None: its own.

    Examples
    --------
    >>> import lopsided as lp
    >>> from lopsided.datasets import four_clusters
    >>> stream = four_clusters(random_state=0)
    >>> first = lp.KOIL(gamma=20.0, random_state=0)
    >>> first = first.partial_fit(stream.X[::2], stream.y[::2])
    >>> second = lp.empty_like(first).partial_fit(stream.X[1::2], stream.y[1::2])
    >>> merged = lp.merge([first, second], budget=50)
    >>> merged.n_seen_ == len(stream.y), merged.n_support_
    (True, 100)
    """
    given = list(models)
    if not given:
        raise MergeError("The 'models' parameter of merge must hold at least one model. Got none.")
    for model in given:
        _check_can_merge("merge", model)
    first: Any = given[0]
    merged: Model = first.merged_with(given[1:], budget)
    return merged


def empty_like(model: Model) -> Model:
    """An empty model that learns another part of the stream, to be merged with `model` later.

    It has the same parameters, labels and features and, where the learner has such, the same random directions and
    scale. It draws other random numbers. A model that has not learned yet gives an unfitted copy.

    Parameters
    ----------
    model : model
        Anything that `merge` takes. It stays as it is.

    Examples
    --------
    >>> import lopsided as lp
    >>> from lopsided.datasets import four_clusters
    >>> stream = four_clusters(random_state=0)
    >>> model = lp.FourierRanker(random_state=0).partial_fit(stream.X[:500], stream.y[:500])
    >>> other = lp.empty_like(model).partial_fit(stream.X[500:], stream.y[500:])
    >>> bool((other.directions_ == model.directions_).all()), lp.merge([model, other]).n_seen_ == len(stream.y)
    (True, True)
    """
    _check_can_merge("empty_like", model)
    given: Any = model
    empty: Model = given.empty_like()
    return empty


def _check_can_merge(owner: str, model: Any) -> None:
    if not isinstance(model, Mergeable):
        raise MergeError(
            f"What {owner} takes must be a learner, a scaler, a history, a sample or a metric of lopsided. "
            f"Got {type(model).__name__}."
        )
