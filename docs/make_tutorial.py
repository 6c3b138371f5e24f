"""Run the commands of docs/tutorial.md and write what they print below them: `python docs/make_tutorial.py`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parent / "tutorial.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def answered(block: str, folder: str) -> str:
    """A block of commands (lines that begin with $) with their output."""
    lines: list[str] = []
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "110"}
    for command in (line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")):
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        lines += [f"$ {command}", *done.stdout.rstrip("\n").splitlines(), ""]
    return "```console\n" + "\n".join(lines).rstrip("\n") + "\n```"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "docs").symlink_to(PAGE.parent)
        PAGE.write_text(BLOCK.sub(lambda found: answered(found.group(1), folder), PAGE.read_text()))
