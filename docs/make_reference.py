"""The pages of the site that nobody writes by hand, and the links between all of them: a hook of mkdocs (`make docs`).

- `reference/`: one page for each learner in the package's own list, one for each public module. A new learner, or one
  whose module moved, needs no edit here.
- `contributing.md`, `changes.md`, `benchmarks.md`: files of the repository outside of docs/, as they are.
- A line `<!-- section: FILE: HEADING -->` becomes that section of that file, so that it is written once.

Links are written as the repository needs them and are turned into links of the site.
"""

from __future__ import annotations

import functools
import importlib
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# Files outside of docs/, and where they stand on the site.
ELSEWHERE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "benchmarks/README.md": "benchmarks.md",
}
# What a browser would load from elsewhere.
REMOTE = re.compile(
    r'<(?:script|img|link|iframe|source)\b[^>]*\b(?:src|href)="?(?:https?:)?//|url\(["\']?(?:https?:)?//|@import'
)
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
SECTION = re.compile(r"^<!-- section: (?P<file>\S+): (?P<heading>.+) -->$", re.MULTILINE)
# Names in plain code that have a page: not inside of links, headings or blocks of code.
CODE = re.compile(r"<(?P<tag>a|pre|h\d)\b.*?</(?P=tag)>|<code>(?P<name>\w+)</code>", re.DOTALL)


# ---------------------------------------------------------------- pages


@functools.cache
def learners() -> dict[str, str]:
    """The learners in the order of the package, each with the first sentence about it."""
    package = importlib.import_module("lopsided")
    names = importlib.import_module("lopsided.estimators.registry").names()
    return {name: first_sentence(getattr(package, name).__doc__) for name in names}


def functions() -> list[str]:
    """What the package offers beside learners."""
    package = importlib.import_module("lopsided")
    return [name for name in package.__all__ if name not in learners() and not name.startswith("__")]


@functools.cache
def modules() -> list[str]:
    """The public modules: those that the package lists."""
    package = importlib.import_module("lopsided")
    return sorted(set(dir(package)) - set(package.__all__))


def first_sentence(text: str | None) -> str:
    return " ".join((text or "").strip().split("\n\n")[0].split())


def reference_pages() -> dict[str, str]:
    """The pages of the reference by their path on the site."""
    found = {"reference/index.md": _overview()}
    package = importlib.import_module("lopsided")
    for name in [*learners(), *functions()]:
        # Where it is defined: the package itself fetches its names only when they are used.
        found[f"reference/{name}.md"] = f"::: {getattr(package, name).__module__}.{name}\n"
    for name in modules():
        found[f"reference/{name}.md"] = _module_page(name)
    return found


def _overview() -> str:
    lines = [
        "# API reference",
        "",
        "Everything here can be imported from `lopsided` or from the module that is named. Learners are scikit-learn",
        "classifiers; each page lists every parameter of the constructor and every method.",
        "",
        "## Learners",
        "",
        "| learner | what it does |",
        "|---|---|",
        *(f"| [`{name}`]({name}.md) | {sentence} |" for name, sentence in learners().items()),
        "",
        "## Functions and warnings",
        "",
        "| name | what it does |",
        "|---|---|",
    ]
    package = importlib.import_module("lopsided")
    lines += [f"| [`{name}`]({name}.md) | {first_sentence(getattr(package, name).__doc__)} |" for name in functions()]
    lines += ["", "## Modules", "", "| module | what is in it |", "|---|---|"]
    for name in modules():
        module = importlib.import_module(f"lopsided.{name}")
        lines.append(f"| [`lopsided.{name}`]({name}.md) | {first_sentence(module.__doc__)} |")
    return "\n".join(lines) + "\n"


def _module_page(name: str) -> str:
    """A module's own words, then each of its public names."""
    module = importlib.import_module(f"lopsided.{name}")
    head = ["members: false", "show_root_full_path: true"]
    public = getattr(module, "__all__", None)
    if public is None:  # a small module: all that it defines
        head = ["show_root_full_path: true"]
    lines = [f"::: lopsided.{name}", "    options:", *(f"      {option}" for option in head), ""]
    for member in public or ():
        lines += [f"::: lopsided.{name}.{member}", "    options:", "      heading_level: 2", ""]
    return "\n".join(lines)


@functools.cache
def pages() -> dict[str, str]:
    """All generated pages; links in them are still those of the file that they come from."""
    copied = {site: (ROOT / path).read_text() for path, site in ELSEWHERE.items() if path != "README.md"}
    return reference_pages() | copied


# ---------------------------------------------------------------- links and sections


def source_of(site_path: str) -> str:
    """The file of the repository that a page of the site is made of."""
    return next((path for path, site in ELSEWHERE.items() if site == site_path), f"docs/{site_path}")


def site_link(target: str, source: str, page: str) -> str:
    """A link as the file `source` of the repository has it, as the page `page` of the site needs it."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    site = ELSEWHERE.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
    return target if site is None else posixpath.relpath(site, posixpath.dirname(page) or ".")


def relinked(text: str, source: str, page: str) -> str:
    return LINK.sub(lambda link: site_link(link[1], source, page) + (link[2] or ""), text)


def section(file: str, heading: str) -> str:
    """What stands below a heading of a file, up to the next heading of the same level."""
    found = re.search(
        rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", (ROOT / file).read_text(), re.DOTALL | re.MULTILINE
    )
    if found is None:
        raise ValueError(f"The file {file} must have a section '{heading}', which a page of the site includes.")
    return found[1].strip()


def with_sections(text: str, page: str) -> str:
    """The page with the sections of other files in their places, their links turned."""
    return SECTION.sub(lambda mark: relinked(section(mark["file"], mark["heading"]), mark["file"], page), text)


# ---------------------------------------------------------------- what mkdocs calls


def on_config(config: Any) -> Any:
    """Fill in the parts of the navigation that follow the package and the folder of evidence."""
    names = list(learners())
    reference = [
        "reference/index.md",
        {"Learners": [{name: f"reference/{name}.md"} for name in names]},
        {"Functions": [{name: f"reference/{name}.md"} for name in functions()]},
        {"Modules": [{f"lopsided.{name}": f"reference/{name}.md"} for name in modules()]},
    ]
    tables = sorted(path.stem for path in (DOCS / "evidence/tables").glob("*.md") if path.stem != "README")
    evidence = [
        {"All tables, counted": "evidence/tables/README.md"},
        *({_title(path): f"evidence/{path.name}"} for path in sorted((DOCS / "evidence").glob("*.md"))),
        {"Benchmarks": "benchmarks.md"},
        {"Published tables, made again": [{name: f"evidence/tables/{name}.md"} for name in tables]},
    ]
    parts = {"reference/": reference, "evidence/": evidence}
    config.nav = [
        {title: parts.get(value, value) if isinstance(value, str) else value}
        for entry in config.nav
        for title, value in entry.items()
    ]
    return config


def _title(path: Path) -> str:
    return path.read_text().splitlines()[0].removeprefix("# ")


def on_files(files: Any, config: Any) -> Any:
    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    path = page.file.src_uri
    source = source_of(path) if path != "index.md" else "docs/index.md"
    if path.startswith("reference/"):
        return markdown
    return with_sections(relinked(markdown, source, path), path)


def on_post_build(config: Any) -> None:
    """The site must not fetch anything."""
    for path in Path(config.site_dir).rglob("*"):
        if path.suffix in (".html", ".css") and (found := REMOTE.search(path.read_text())):
            raise ValueError(f"A page must load nothing from elsewhere, {path} has {found[0]!r}.")


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Names of learners lead to their pages."""
    folder = posixpath.dirname(page.file.src_uri) or "."

    def linked(found: re.Match[str]) -> str:
        name = found["name"]
        target = f"reference/{name}.md"
        if name is None or name not in learners() or target == page.file.src_uri:
            return found[0]
        return f'<a href="{posixpath.relpath(target[:-3] + ".html", folder)}">{found[0]}</a>'

    return CODE.sub(linked, html)
