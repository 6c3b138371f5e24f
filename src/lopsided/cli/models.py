"""From options to a model: a learner behind what its files need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lopsided.cli.feed import Feed
from lopsided.cli.learners import AUTO, DEFAULT_THRESHOLD, learner_class, made_learner, parsed_settings
from lopsided.constraints import ParameterError
from lopsided.estimators.by_name import set_threshold as set_threshold
from lopsided.plain_values import parameters_of
from lopsided.plain_values import plain_value as as_json

__all__ = [
    "as_json", "built_model", "chosen_learner", "model_for", "parameters_of", "scale_in_words",
    "set_threshold",
]  # fmt: skip

# What a KeyedLearner has when nobody chooses.
_FOR_KEYS = {"variant": 2, "loss": "logistic", "learning_rate": 0.003, "fit_intercept": "true"}
_HAS_MODELS = "its values have a model each"


def built_learner(
    name: str,
    settings: Sequence[str],
    pos_label: Any,
    seed: int,
    threshold: str | float | None = None,
    *,
    sparse: bool = False,
) -> Any:
    """A learner with these parameters; its threshold is what --threshold or --set says, else f1."""
    parameters = parsed_settings(learner_class(name), settings)
    if threshold is not None and "threshold" in parameters:
        raise ParameterError(
            "The options --threshold and --set threshold=... must not both be given, "
            f"got {threshold!r} and {parameters['threshold']!r}."
        )
    rule = {"threshold": DEFAULT_THRESHOLD if threshold is None else threshold}
    return made_learner(name, rule | parameters, sparse=sparse, pos_label=pos_label, random_state=seed)


def chosen_learner(
    name: str, settings: Sequence[str], model_per: str | None, *common: Any, sparse: bool = False
) -> Any:
    """A learner with these parameters, or with `model_per` one of them for each value of a column.

    Models of values that were not seen for long go to disk, so that none is lost.
    """
    from lopsided import KeyedLearner

    if model_per is None:
        return built_learner(name, settings, *common, sparse=sparse)
    if name == AUTO:
        name, given = "ocs", {text.partition("=")[0].strip() for text in settings}
        settings = [*(f"{one}={value}" for one, value in _FOR_KEYS.items() if one not in given), *settings]
    return KeyedLearner(built_learner(name, settings, *common), key=model_per, spill="temporary")


def built_model(learner: Any, scale: str | None, feed: Feed, keys: Sequence[str] = (), value: str | None = None) -> Any:
    """The learner behind encoder, history and scaler, as the files and the options ask for."""
    from lopsided import KeyedLearner, OnlineScaler, SparsePipeline, TablePipeline

    if isinstance(learner, KeyedLearner) and feed.schema is None:
        raise ParameterError("The option --model-per must name a column of a table, got LIBSVM files.")
    if keys and (feed.schema is None or feed.schema.time is None):
        got = "LIBSVM files." if feed.schema is None else "no --time."
        raise ParameterError(f"The option --key must come with --time, both of them columns of a table, got {got}")
    if feed.is_sparse:
        if scale == "minmax":
            raise ParameterError(
                f"The option --scale for the LIBSVM file {feed.name} must be standard or none, because minmax would "
                "turn its zeros into other numbers, got 'minmax'."
            )
        scaler = OnlineScaler(center=False) if scale == "standard" else "none"
        return SparsePipeline(feed.first_index, scaler, learner)
    scaler = "none" if scale == "none" else OnlineScaler(kind=scale or "standard")
    has_models = isinstance(learner, KeyedLearner)
    if not keys and not has_models:
        return TablePipeline(feed.schema, scaler, learner)
    assert feed.schema is not None
    if keys:
        feed.schema = replace(feed.schema, history_keys=tuple(keys), value=value)
    if has_models:
        feed.schema = replace(feed.schema, ignored={**feed.schema.ignored, learner.key: _HAS_MODELS})
    model = TablePipeline(feed.schema, scaler, learner)
    model.check_parameters()
    feed.encoder, feed.n_features = model.encoder_, model.encoder_.width
    return model


def model_for(
    feed: Feed,
    learner: str,
    settings: Sequence[str],
    scale: str | None,
    seed: int,
    rule: str | float | None,
    keys: Sequence[str],
    value: str | None,
    model_per: str | None = None,
) -> Any:
    """What the options ask for, for the rows of a feed."""
    assert feed.labels is not None
    common = feed.labels.pos_label, seed, rule
    ranker = chosen_learner(learner, settings, model_per, *common, sparse=feed.is_sparse)
    return built_model(ranker, scale, feed, keys, value if keys else None)


def scale_in_words(model: Any) -> str:
    """What --scale was: a model that does not scale is "none"."""
    return str(getattr(model, "scale_kind", "none"))
