"""Pages that are made of commands are those of the present commands."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_reference_of_commands_is_current():
    spec = importlib.util.spec_from_file_location("make_commands", DOCS / "make_commands.py")
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    assert (DOCS / "commands.md").read_text() == maker.page(), "run python docs/make_commands.py"


def test_the_tutorial_speaks_of_commands_that_exist():
    from lopsided.cli.main import COMMANDS

    lines = [line for line in (DOCS / "tutorial.md").read_text().splitlines() if line.startswith("$ lopsided ")]
    assert len(lines) > 8
    assert {line.split()[2] for line in lines} <= set(COMMANDS)
