"""HTML: a page that needs no other file and reads well on light and dark screens.

Every text goes through `escape`; only `figure` lets markup in, and that comes from `lopsided.report.figures`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby

from lopsided.report.contents import Grid
from lopsided.version import __version__

_STYLE = """
:root { color-scheme: light dark; }
:root { --text: #1d2127; --quiet: #5d6673; --page: #ffffff; --panel: #f5f6f8; --line: #d9dde3; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e7eb; --quiet: #9aa4b1; --page: #14171b; --panel: #1c2026; --line: #343a43; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.55 system-ui, -apple-system, "Segoe UI",
  Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 2.5rem 1.25rem 3rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .75rem; }
h2 { font-size: 1.25rem; margin: 2.75rem 0 .25rem; }
h3 { font-size: 1.05rem; margin: 2rem 0 .25rem; }
p { margin: .4rem 0; max-width: 48rem; }
.quiet, figcaption, footer { color: var(--quiet); }
.wide { overflow-x: auto; margin: 1.25rem 0; }
table { border-collapse: collapse; font-size: .95rem; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .9rem; text-align: left; white-space: nowrap; border-bottom: 1px solid var(--line); }
thead th { color: var(--quiet); font-weight: 600; border-bottom-width: 2px; }
th.number, td.number { text-align: right; }
tbody + tbody { border-top: 2px solid var(--line); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.25rem; margin: 1rem 0; font-size: .95rem; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 1.25rem 0; padding: 1rem; background: var(--panel); border-radius: .5rem; overflow-x: auto; }
figure svg { display: block; width: 100%; height: auto; min-width: 34rem; color: var(--text); }
figcaption { font-size: .9rem; margin-top: .6rem; max-width: 52rem; }
footer { margin-top: 3rem; font-size: .85rem; }
"""


def page(title: str, body: Iterable[str]) -> str:
    """The whole document."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{heading(title, level=1)}\n" + "\n".join(body) + f"\n<footer>Written by lopsided {escape(__version__)}."
        "</footer>\n</main>\n</body>\n</html>\n"
    )


def heading(text: str, level: int = 2) -> str:
    """A heading."""
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str, *, quiet: bool = False) -> str:
    """A paragraph; a quiet one steps back.

    >>> paragraph("a < b")
    '<p>a &lt; b</p>'
    """
    opening = '<p class="quiet">' if quiet else "<p>"
    return f"{opening}{escape(text)}</p>"


def table(grid: Grid) -> str:
    """A table; rows that begin alike are kept together."""

    def line(cells: Sequence[str], tag: str) -> str:
        classes = ['class="number"' if position >= grid.first_number else "" for position in range(len(cells))]
        marked = (
            f"<{tag} {kind}>{escape(cell)}</{tag}>" if kind else f"<{tag}>{escape(cell)}</{tag}>"
            for cell, kind in zip(cells, classes, strict=True)
        )
        return f"<tr>{''.join(marked)}</tr>"

    groups = (
        "<tbody>" + "".join(line(row, "td") for row in rows) + "</tbody>"
        for _, rows in groupby(grid.rows, key=lambda row: row[0])
    )
    head = f"<thead>{line(grid.headings, 'th')}</thead>"
    return f'<div class="wide"><table>{head}{"".join(groups)}</table></div>'


def facts(pairs: Mapping[str, str]) -> str:
    """Names and values, such as the parameters of a learner."""
    return (
        "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in pairs.items()) + "</dl>"
    )


def figure(svg: str, caption: str) -> str:
    """A drawing with what there is to see in it. `svg` is markup and is not escaped."""
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"
