"""Models that were saved: by `lopsided learn`, or from Python by `save`."""

from __future__ import annotations

from typing import Any

from lopsided.constraints import ParameterError


def load_for_files(path: str) -> Any:
    """A model that can be fed with files: by the columns that it knows, or else by rows of numbers."""
    from lopsided import load

    model = load(path)
    if not hasattr(model, "final_learner"):
        raise ParameterError(f"The model {path} must be a learner, which gives scores, got {type(model).__name__}.")
    return model
