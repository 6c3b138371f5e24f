"""Sixteen kernels against one, in pairs: the point of Table 4.1 of KOIL's thesis, by the test that its author used.

    python benchmarks/many_kernels.py --write

The runs are those of koil-3.3 and koil-4.1 as they were made again, from the logs beside these tables
(docs/evidence/tables): both learn the same twenty splits of a set, so that their runs can be compared in pairs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from lopsided.evaluate import RunLog, paired_t_test
from lopsided.reproduce.registry import table_named
from lopsided.reproduce.table import LITERAL
from pages import write_measured
from ranks import dotted

TABLES = Path(__file__).parent.parent / "docs" / "evidence" / "tables"
PAGE = TABLES.parent / "many-kernels.md"
ONE, MANY = "koil-3.3", "koil-4.1"
SETS = tuple(table_named(MANY).sets)
VARIANTS = ("KOIL_RS++", "KOIL_FIFO++", "KOIL2_RS++", "KOIL2_FIFO++")


def logged() -> RunLog:
    """The runs of both tables."""
    log = RunLog()
    for table in (ONE, MANY):
        log.add(RunLog(TABLES / f"{table}.jsonl").entries)
    return log


def contestants(variant: str) -> list[tuple[str, str]]:
    """One kernel, sixteen as published, sixteen as ours: the table, and the method in it."""
    many = variant.replace("_", "_MKL_")
    return [(ONE, variant), (MANY, many + LITERAL), (MANY, many)]


def areas(log: RunLog, set_name: str, table: str, method: str) -> list[float]:
    """Test areas of the splits, in their order."""
    return [entry["measures"]["AUC"] for entry in log.of(table, set_name, method)]


def page(log: RunLog) -> str:
    """For each variant: sets on which sixteen kernels are better, no different, worse than one; then the means."""
    heads = "| | published algorithm: better / no different / worse | ours: better / no different / worse |"
    lines = [heads, "|---|---|---|"]
    for variant in VARIANTS:
        one, *others = contestants(variant)
        counts = []
        for many in others:
            record = [0, 0, 0]
            for set_name in SETS:
                record[1 - paired_t_test(areas(log, set_name, *many), areas(log, set_name, *one))] += 1
            counts.append("/".join(map(str, record)))
        lines.append(f"| {variant.replace('_', '_MKL_')} against {variant} | {' | '.join(counts)} |")
    lines += [
        "",
        "Mean AUC of one kernel / of sixteen as published / of sixteen as ours; a star marks a difference from",
    ]
    lines += ["one kernel that is significant (paired t-test over the twenty splits, 95 %)."]
    lines += ["", f"| | {' | '.join(VARIANTS)} |", "|---" * (len(VARIANTS) + 1) + "|"]
    for set_name in SETS:
        cells = []
        for variant in VARIANTS:
            one, *others = contestants(variant)
            single = areas(log, set_name, *one)
            parts = [dotted(float(np.mean(single)))]
            for many in others:
                values = areas(log, set_name, *many)
                parts.append(dotted(float(np.mean(values))) + ("*" if paired_t_test(values, single) else ""))
            cells.append(" / ".join(parts))
        lines.append(f"| {set_name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="make the page")
    text = page(logged())
    if parser.parse_args().write:
        write_measured(PAGE, text)
    print(text)


if __name__ == "__main__":
    main()
