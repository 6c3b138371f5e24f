"""Pages that are made of commands are those of the present commands; Python in pages runs; links lead somewhere."""

import doctest
import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INCLUDED = re.compile(r'--8<-- "([^"]+)"\n')
SECTION = re.compile(r"^<!-- section: (\S+): (.+) -->$", re.MULTILINE)


def blocks(page: str, language: str) -> list[str]:
    return [content for name, content in BLOCK.findall((DOCS / page).read_text()) if name == language]


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


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


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "pycon")])
def test_its_python_prints_what_stands_there(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Blocks of a page go on where the one before stopped.
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks(page, "pycon")), {}, page, page, 0)
    assert examples.examples
    result = doctest.DocTestRunner().run(examples, out=sys.stderr.write)
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES)
def test_python_is_a_doctest_or_an_example_that_exists(page):
    for content in blocks(page, "python"):
        included = INCLUDED.fullmatch(content)
        assert included and (ROOT / included[1]).is_file(), content


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_it_exist(page):
    from lopsided.cli.main import COMMANDS

    text = (DOCS / page).read_text()
    assert set(re.findall(r"(?:^|`|\| )lopsided ([a-z-]+)\b", text, re.MULTILINE)) <= set(COMMANDS)


@pytest.mark.parametrize("page", PAGES)
def test_sections_that_it_takes_from_other_files_exist(page):
    for file, heading in SECTION.findall((DOCS / page).read_text()):
        assert f"\n## {heading}\n" in (ROOT / file).read_text()


@pytest.mark.parametrize("page", PAGES)
def test_its_links_lead_somewhere(page):
    text = (DOCS / page).read_text()
    for target, anchor in re.findall(r"\]\((?![a-z]+:)([^)#]*)(?:#([^)]*))?\)", BLOCK.sub("", text)):
        if target.startswith("reference/"):
            continue  # made from the package when the site is built, which checks them
        assert (DOCS / target).exists(), target
        if anchor:
            assert anchor in anchors((DOCS / (target or page)).read_text()), anchor
