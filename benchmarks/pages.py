"""Pages with a measured part, which the command that measured it writes between two marks."""

from __future__ import annotations

from pathlib import Path

MARKS = "<!-- measured: begin -->", "<!-- measured: end -->"


def write_measured(page: Path, text: str, name: str | None = None) -> None:
    """Replace what stands between the marks; a page with several measured parts has marks with a name."""
    begin, end = (mark if name is None else mark.replace("measured", f"measured {name}") for mark in MARKS)
    content = page.read_text()
    before, after = content.split(begin)[0], content.split(end)[1]
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}")
