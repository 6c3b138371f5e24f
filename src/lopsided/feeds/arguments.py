"""The error for what was asked of a feed, as opposed to what stands in its files."""

from __future__ import annotations

from lopsided.constraints import ParameterError


class ArgumentError(ParameterError):
    """An argument of `open_feed` or `open_writer` has a value that it must not have; `argument` is its name."""

    def __init__(self, sentence: str, argument: str) -> None:
        super().__init__(sentence, argument)
        self.argument = argument

    def __str__(self) -> str:
        return str(self.args[0])
