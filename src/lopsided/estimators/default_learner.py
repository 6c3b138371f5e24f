"""The learner for whoever names none. This is the one place to change it."""

from __future__ import annotations

from typing import Any


def default_learner(**parameters: Any) -> Any:
    """A new instance of it; `parameters` such as `random_state` are those of every learner.

    >>> default_learner(random_state=0).random_state
    0
    """
    # Imported when it is asked for, because it brings compiled code with it.
    from lopsided.estimators.rare.rare_event import RareEventClassifier

    return RareEventClassifier(**parameters)
