"""HTML: a page that needs no other file and reads well on light and dark screens.

Every text goes through `escape`; only `figure` lets markup in, and that comes from `lopsided.report.figures`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

from lopsided.report.contents import Grid
from lopsided.version import __version__

_STYLE = """
:root { color-scheme: light dark; }
:root { --text: #1d2127; --quiet: #5d6673; --page: #ffffff; --panel: #f5f6f8; --line: #d9dde3; }
:root { --colour-1: #d9500a; --colour-2: #2a7ec2; --colour-3: #26864a; --colour-4: #a04bb9; --colour-5: #9c7209; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e7eb; --quiet: #9aa4b1; --page: #14171b; --panel: #1c2026; --line: #343a43; }
  :root { --colour-1: #ff8f4a; --colour-2: #5fb0ee; --colour-3: #52c77c; --colour-4: #cf8ae2; --colour-5: #dcae3c; }
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
thead th { color: var(--quiet); font-weight: 600; border-bottom-width: 2px; white-space: normal; min-width: 4.5rem;
  vertical-align: bottom; }
th.number, td.number { text-align: right; }
tbody + tbody { border-top: 2px solid var(--line); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.25rem; margin: 1rem 0; font-size: .95rem; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 1.25rem 0; padding: 1rem; background: var(--panel); border-radius: .5rem; overflow-x: auto; }
figure > svg { display: block; width: 100%; height: auto; min-width: 34rem; color: var(--text); }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr)); gap: 1rem; }
.panels svg { display: block; width: 100%; height: auto; max-width: 31rem; color: var(--text); }
.keys { display: flex; flex-wrap: wrap; gap: .1rem 1.25rem; margin: 0 0 .75rem; padding: 0; list-style: none;
  font-size: .9rem; max-width: none; }
.keys i { display: inline-block; vertical-align: middle; width: 1.5rem; margin-right: .5rem;
  border-top: .2rem solid currentColor; }
.keys .band i { border-top-width: .75rem; opacity: .35; }
.keys .dashed i { border-top: 2px dashed; opacity: .6; }
.keys .dot i { width: .6rem; border-top: .6rem solid; border-radius: .3rem; }
.colour-0 i { color: var(--text); }
.colour-1 i { color: var(--colour-1); }
.colour-2 i { color: var(--colour-2); }
td.long { white-space: normal; min-width: 22rem; overflow-wrap: anywhere; }
figcaption { font-size: .9rem; margin-top: .6rem; max-width: 52rem; }
footer { margin-top: 3rem; font-size: .85rem; }
.verdict { border-left: .25rem solid var(--colour-1); padding-left: .9rem; margin: .9rem 0; }
@media (max-width: 40rem) {
  main { padding: 1.25rem .75rem 2rem; }
  figure { padding: .6rem; }
  th, td { padding: .35rem .5rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
  .stacked tr { display: flex; flex-wrap: wrap; border-bottom: 1px solid var(--line); }
  .stacked td, .stacked th { border-bottom: 0; min-width: 0; }
  .stacked td.long { flex-basis: 100%; }
  .stacked thead { display: none; }
}
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


def paragraph(text: str, *, quiet: bool = False, verdict: bool = False) -> str:
    """A paragraph; a quiet one steps back, a verdict stands out.

    >>> paragraph("a < b")
    '<p>a &lt; b</p>'
    """
    opening = '<p class="quiet">' if quiet else '<p class="verdict">' if verdict else "<p>"
    return f"{opening}{escape(text)}</p>"


def table(grid: Grid) -> str:
    """A table; rows that begin alike are kept together."""

    def line(cells: Sequence[str], tag: str) -> str:
        numbers = range(grid.first_number, len(cells) if grid.first_long is None else grid.first_long)
        classes = ['class="number"' if position in numbers else "" for position in range(len(cells))]
        if grid.first_long is not None and tag == "td":
            classes[grid.first_long :] = ['class="long"'] * (len(cells) - grid.first_long)
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
    kind = "" if grid.first_long is None else ' class="stacked"'
    return f'<div class="wide"><table{kind}>{head}{"".join(groups)}</table></div>'


def facts(pairs: Mapping[str, str]) -> str:
    """Names and values, such as the parameters of a learner."""
    return (
        "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in pairs.items()) + "</dl>"
    )


class Key(NamedTuple):
    """What a mark in a drawing means: its colour (0 is that of the text), its look and the words."""

    colour: int
    words: str
    look: str = "line"  # or band, dashed, dot


def figure(svg: str | Sequence[str], caption: str, keys: Sequence[Key] = ()) -> str:
    """A drawing, or panels beside each other, with what there is to see. `svg` is markup and is not escaped."""
    drawn = svg if isinstance(svg, str) else f'<div class="panels">{"".join(svg)}</div>'
    entries = "".join(f'<li class="{key.look} colour-{key.colour}"><i></i>{escape(key.words)}</li>' for key in keys)
    legend = f'<ul class="keys">{entries}</ul>' if keys else ""
    return f"<figure>{legend}{drawn}<figcaption>{escape(caption)}</figcaption></figure>"
