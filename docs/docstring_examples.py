"""Doctests in docstrings without a heading of their own, for the site: they are examples, not Markdown quotations."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

HEADED = re.compile(r"^Examples\n-+$", re.MULTILINE)
FIRST = re.compile(r"^>>> ", re.MULTILINE)


def with_heading(text: str) -> str:
    """The docstring with a heading before its first doctest, if there is none; `::` before a block as a colon."""
    text = re.sub(r"::$", ":", text, flags=re.MULTILINE)
    if HEADED.search(text) or not FIRST.search(text):
        return text
    return FIRST.sub("Examples\n--------\n>>> ", text, count=1)


class DocstringExamples(Extension):
    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = with_heading(obj.docstring.value)
