"""Text of any encoding as UTF-8, on the way from a file to those who read it."""

from __future__ import annotations

import codecs
from typing import Any

_WITHOUT_WORK = {"utf-8", "utf-8-sig", "ascii"}  # what is read as UTF-8 is read like this anyway
UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
UTF_16 = "utf-16"


def known_encoding(name: str) -> str | None:
    """The usual name of an encoding of text; None if there is none such.

    >>> known_encoding("Latin1"), known_encoding("UTF16"), known_encoding("base64"), known_encoding("klingon")
    ('iso8859-1', 'utf-16', None, None)
    """
    try:
        "".encode(name)
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        return None


def needs_work(encoding: str | None) -> bool:
    """Whether text of this encoding has to be changed to be UTF-8."""
    return encoding is not None and codecs.lookup(encoding).name not in _WITHOUT_WORK


class Transcoded:
    """Bytes of an encoding, read as those of UTF-8.

    A character whose bytes have come only in part waits for the rest; at the end of what is not followed that is an
    error, as are bytes that are none of this encoding: UnicodeDecodeError. `closes` says to close the file with it.
    """

    def __init__(self, file: Any, encoding: str, *, is_followed: bool, closes: bool) -> None:
        self._file, self._is_followed, self._closes = file, is_followed, closes
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._left = b""

    def read(self, size: int) -> bytes:
        """Up to so many bytes; none at all only at the end, as it is now."""
        while not self._left:
            data = self._file.read(size)
            text = self._decoder.decode(data or b"", final=not data and not self._is_followed)
            self._left = text.encode("utf-8", "replace")
            if not data:
                break
        taken, self._left = self._left[:size], self._left[size:]
        return taken

    def close(self) -> None:
        """Close what is read, if that is to be done."""
        if self._closes:
            self._file.close()
