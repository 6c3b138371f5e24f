"""Models that were saved: by `lopsided learn`, or from Python by `save`."""

from __future__ import annotations

from typing import Any

from lopsided.constraints import ParameterError


def load_for_files(path: str) -> Any:
    """A model that can be fed with files: by the columns that it knows, or else by rows of numbers."""
    return load_to_go_on(path)[0]


def load_to_go_on(path: str) -> tuple[Any, dict[str, Any]]:
    """The same, and what else its file holds: how far files have been read, which rows wait for their labels."""
    from lopsided.estimators.state.files import load_attached

    model, attached = load_attached(path)
    if not hasattr(model, "final_learner"):
        raise ParameterError(f"The model {path} must be a learner, which gives scores, got {type(model).__name__}.")
    return model, attached
