"""From options to a model: a learner behind what its files need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lopsided.cli.feed import Feed
from lopsided.cli.learners import learner_class, parsed_settings
from lopsided.constraints import ParameterError


def built_learner(name: str, settings: Sequence[str], pos_label: Any, seed: int) -> Any:
    """A learner with these parameters."""
    kind = learner_class(name)
    return kind(**parsed_settings(kind, settings), pos_label=pos_label, random_state=seed)


def built_model(learner: Any, scale: str | None, feed: Feed) -> Any:
    """The learner behind encoder and scaler, as the files ask for."""
    from lopsided import OnlineScaler, SparsePipeline, TablePipeline

    if feed.is_sparse:
        if scale == "minmax":
            raise ParameterError(
                f"The option --scale for the LIBSVM file {feed.name} must be standard or none, because minmax would "
                "turn its zeros into other numbers, got 'minmax'."
            )
        scaler = OnlineScaler(center=False) if scale == "standard" else "none"
        return SparsePipeline(feed.first_index, scaler, learner)
    scaler = "none" if scale == "none" else OnlineScaler(kind=scale or "standard")
    return TablePipeline(feed.schema, scaler, learner)


def scale_in_words(model: Any) -> str:
    """What --scale was."""
    return model.scaler if isinstance(model.scaler, str) else model._given_scaler().kind


def as_json(value: Any) -> Any:
    """A value as JSON has it: no nan, and objects such as kernels by their spelling."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, tuple | list):
        return [as_json(part) for part in value]
    if isinstance(value, dict):
        return {str(name): as_json(part) for name, part in value.items()}
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def parameters_of(learner: Any) -> dict[str, Any]:
    """The parameters of a learner for JSON."""
    return {name: as_json(value) for name, value in learner.get_params(deep=False).items()}
