"""Tuned once, on the first split, or anew on each: what the authors' protocol of choosing parameters is worth.

    lopsided reproduce koil-3.3 --tune each --data DIR --sets ... --methods ... --output LOGS
    lopsided reproduce b2rmk-2 --tune each --data DIR --sets ... --methods ... --output LOGS
    python benchmarks/tuning_protocols.py [--logs LOGS] [--write]

The first split's test rows are training rows of the others, so parameters that are chosen once have seen most test rows
of the other nineteen runs. With --logs the runs of LOGS go into the log docs/evidence/tables/tuned-each.jsonl; with
--write the page docs/evidence/tuning.md is made from it, beside the tables of the same methods tuned once.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.evaluate import RunLog
from pages import write_measured
from ranks import dotted

TABLES = Path(__file__).parent.parent / "docs" / "evidence" / "tables"
LOG, PAGE = TABLES / "tuned-each.jsonl", TABLES.parent / "tuning.md"
NAMES = ("koil-3.3", "b2rmk-2")


def gathered(folder: Path) -> RunLog:
    """What the page needs of the logs of `--tune each`, in the log of the repository, which keeps its other cells."""
    new = []
    for name in NAMES:
        for entry in RunLog(folder / f"{name}.each.jsonl").entries:
            kept = {key: entry[key] for key in ("table", "set", "method", "run", "parameters")}
            new.append(kept | {"measures": {"AUC": round(entry["measures"]["AUC"], 6)}})
    again = {_cell(entry) for entry in new}
    earlier = [entry for entry in RunLog(LOG).entries if _cell(entry) not in again]
    LOG.unlink(missing_ok=True)
    log = RunLog(LOG)
    log.add(earlier + new)
    return log


def _cell(entry: dict[str, Any]) -> tuple[str, str, str]:
    return entry["table"], entry["set"], entry["method"]


def page(log: RunLog) -> str:
    """A table for each paper: published, tuned once, tuned on each split, the difference, other choices."""
    parts = []
    for name in NAMES:
        made = json.loads((TABLES / f"{name}.json").read_text())
        lines = [
            f"### {name}",
            "",
            "| set | method | published | tuned once | tuned on each split | difference | other parameters on |",
            "|---|---|---|---|---|---|---|",
        ]
        differences = []
        for cell in made["cells"]:
            runs = log.of(name, cell["data"], cell["method"])
            if not runs or cell["here"] is None:
                continue
            values = [run["measures"]["AUC"] for run in runs]
            less = float(np.mean(values)) - cell["here"]
            differences.append(less)
            others = sum(run["parameters"] != runs[0]["parameters"] for run in runs)
            spread = f"{dotted(float(np.mean(values)))} ± {dotted(float(np.std(values, ddof=1)))}"
            lines.append(
                f"| {cell['data']} | {cell['method']} | {dotted(cell['value'])} ± {dotted(cell['deviation'])} "
                f"| {dotted(cell['here'])} ± {dotted(cell['here_deviation'])} | {spread} | {less:+.3f} "
                f"| {others} of {len(runs)} splits |"
            )
        if differences:
            lines += ["", f"Mean difference of {len(differences)} cells: {np.mean(differences):+.4f}."]
            parts.append("\n".join(lines))
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=Path, help="the output folder of `lopsided reproduce --tune each`")
    parser.add_argument("--write", action="store_true", help="make the page from the log")
    arguments = parser.parse_args()
    log = gathered(arguments.logs) if arguments.logs else RunLog(LOG)
    if arguments.write:
        write_measured(PAGE, page(log))


if __name__ == "__main__":
    main()
