"""Bad rows of a file in which one row is wanted by its number."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from lopsided.feeds.bad_rows import BadRows, Tell
from lopsided.streams import StreamError
from lopsided.streams.row_lines import line_of_row
from lopsided.streams.tables import LIBSVM


class PassedRows(BadRows):
    """Bad rows on the way to the one that is wanted: they do not stop the way, but count as rows."""

    def __init__(self, on_error: str, quarantine: str | None, tell: Tell) -> None:
        super().__init__(on_error, quarantine, tell)
        self.errors: list[StreamError] = []

    def take(self, errors: Sequence[StreamError]) -> None:
        """Remember them, and do with them as is asked."""
        self.errors += errors
        if not self.stops:
            super().take(errors)

    def before(self, row: int, path: str, stream: Any) -> int:
        """How many of them stand before a row, which must not be one of them."""
        if not self.errors:
            return 0
        if not os.path.isfile(path):  # a pipe is gone, so its rows cannot be counted again
            raise self.errors[0]
        line = row
        if self.errors[0].unit == "line":
            line = line_of_row(
                path,
                row,
                getattr(stream, "format", LIBSVM),
                getattr(stream, "delimiter", ","),
                has_header=getattr(stream, "has_header", True),
                encoding=stream.sources.encoding,
            )
        for error in self.errors:
            if error.line == line:
                raise error
        return sum((error.line or 0) < line for error in self.errors)
