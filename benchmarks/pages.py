"""Pages with a measured part, which the command that measured it writes between two marks."""

from __future__ import annotations

from pathlib import Path

MARKS = "<!-- measured: begin -->", "<!-- measured: end -->"


def write_measured(page: Path, text: str) -> None:
    """Replace what stands between the marks."""
    content = page.read_text()
    before, after = content.split(MARKS[0])[0], content.split(MARKS[1])[1]
    page.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}")
