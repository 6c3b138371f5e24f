"""Models that were saved by `lopsided learn`, which know the columns of the files they learned from."""

from __future__ import annotations

from typing import Any

from lopsided.constraints import ParameterError


def load_for_files(path: str) -> Any:
    """A model that can be fed with files."""
    return load_to_go_on(path)[0]


def load_to_go_on(path: str) -> tuple[Any, dict[str, Any]]:
    """The same, and what else its file holds: how far files have been read, which rows wait for their labels."""
    from lopsided.estimators.state.files import load_attached

    model, attached = load_attached(path)
    if not (hasattr(model, "schema") or hasattr(model, "first_index")):
        raise ParameterError(
            f"The model {path} must know the columns of its files, as those of `lopsided learn` do, "
            f"got a {type(model).__name__} saved from Python."
        )
    return model, attached
