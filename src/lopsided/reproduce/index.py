"""The index of all tables made again: how many figures are reproduced, and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lopsided.reproduce.comparison import Verdict
from lopsided.reproduce.registry import tables

MARKS = "<!-- measured: begin -->", "<!-- measured: end -->"


def write_index(folder: Path) -> str:
    """Count what the JSON files of a folder say; written into its README.md, between the marks if it has them."""
    summaries = []
    for name in tables():
        path = folder / f"{name}.json"
        if path.exists():
            summaries.append(json.loads(path.read_text(encoding="utf-8")))
    if not summaries:
        raise ValueError(f"The folder {folder} must hold tables made by `lopsided reproduce`, got none.")
    text = "\n".join([*_lines(summaries), "", *_worst(summaries)])
    page = folder / "README.md"
    content = page.read_text(encoding="utf-8") if page.exists() else f"# Tables made again\n\n{MARKS[0]}\n{MARKS[1]}\n"
    if MARKS[0] not in content or MARKS[1] not in content:
        raise ValueError(f"The page {page} must hold the marks {MARKS[0]} and {MARKS[1]}, got none.")
    before, after = content.split(MARKS[0])[0], content.split(MARKS[1])[1]
    page.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}", encoding="utf-8")
    return text


def _lines(summaries: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| table | figures run | within one standard deviation | within the tolerance | better | worse | not run "
        "| near or better |",
        "|---|---|---|---|---|---|---|---|",
    ]
    totals = dict.fromkeys(Verdict, 0)
    reached = 0
    for summary in summaries:
        if not summary["cells"]:
            continue
        counts = {verdict: summary["counts"][verdict.value] for verdict in Verdict}
        for verdict in Verdict:
            totals[verdict] += counts[verdict]
        reached += summary["reached"]
        name = summary["table"]
        lines.append(_row(f"[{name}]({name}.md): {summary['title']}", counts, summary["reached"]))
    lines.append(_row("**all**", totals, reached))
    pictures = [f"[{one['table']}]({one['table']}.md)" for one in summaries if not one["cells"]]
    return lines + (["", f"Figures drawn again: {', '.join(pictures)}."] if pictures else [])


def _row(name: str, counts: dict[Verdict, int], reached: int) -> str:
    run = sum(counts.values()) - counts[Verdict.NOT_RUN]
    cells = [str(counts[verdict]) for verdict in Verdict]
    share = f"{reached} ({100 * reached / run:.0f} %)" if run else "-"
    return f"| {name} | {run} | {' | '.join(cells)} | {share} |"


def _worst(summaries: list[dict[str, Any]]) -> list[str]:
    """Every figure that is worse than published by more than the tolerance, by how much."""
    lines = ["What does not reproduce, by table (set and method, published → here):", ""]
    for summary in summaries:
        missed = [cell for cell in summary["cells"] if cell["verdict"] != Verdict.NOT_RUN.value and not cell["reaches"]]
        if missed:
            texts = [
                f"{cell['data']} {cell['method']} {cell['value']:g} → {cell['here']:.4g}"
                for cell in sorted(missed, key=lambda cell: -abs(cell["difference"]))
            ]
            lines.append(f"- **{summary['table']}** ({len(missed)}): {'; '.join(texts)}.")
    return lines
