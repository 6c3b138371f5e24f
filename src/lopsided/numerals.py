"""Numbers with what they count, for messages."""

from __future__ import annotations


def counted(n: int, what: str) -> str:
    """So many of something, in the plural unless it is one.

    >>> counted(1, "feature"), counted(1234, "feature")
    ('1 feature', '1,234 features')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"
