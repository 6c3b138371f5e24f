"""What the library calls an argument, and what a command calls the option for it."""

from __future__ import annotations

import click

# Where a command's parameter is not called as the argument of `open_feed`.
_PARAMETERS = {"format": "file_format", "id": "id_column", "time": "time_column", "header": "no_header"}


def option_called(argument: str, command: click.Command) -> str | None:
    """The option of a command for an argument of the library, such as --positive; None if it has none."""
    name = _PARAMETERS.get(argument, argument)
    return next((parameter.opts[0] for parameter in command.params if parameter.name == name), None)
