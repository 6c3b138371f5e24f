"""What a shell is offered for the values of options: names of learners and of data sets."""

from __future__ import annotations

import click


def complete_learner(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Learners whose name begins like this."""
    from lopsided.cli.learners import learner_names

    return [name for name in learner_names() if name.startswith(incomplete.lower())]


def complete_sets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Data sets whose name begins like what follows the last comma, those of --data too."""
    from lopsided.datasets import set_names

    before, comma, begun = incomplete.rpartition(",")
    try:
        names = set_names(data=context.params.get("data"))
    except ValueError:  # a folder that is not there will be told when the command runs
        names = set_names()
    return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]
