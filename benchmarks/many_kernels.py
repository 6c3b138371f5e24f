"""Sixteen kernels against one, in pairs: the point of Table 4.1 of KOIL's thesis, by the test that its author used.

    python benchmarks/many_kernels.py --data DIR [--sets sonar,glass] [--write]

The parameters are those that koil-3.3 and koil-4.1 were made again with (docs/evidence/tables); each is run once more
on the authors' twenty splits, so that runs can be compared in pairs, and the mean must be the one in the table. What
was run stands in a log and is not run again. DIR is as for `lopsided reproduce`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from lopsided.evaluate import RunLog, fold_splits, paired_t_test
from lopsided.reproduce.protocols import tested
from lopsided.reproduce.registry import table_named
from lopsided.reproduce.table import LITERAL
from pages import write_measured
from ranks import dotted

TABLES = Path(__file__).parent.parent / "docs" / "evidence" / "tables"
LOG, PAGE = TABLES / "many-kernels.jsonl", TABLES.parent / "many-kernels.md"
ONE, MANY = "koil-3.3", "koil-4.1"
SETS = (
    "sonar",
    "australian",
    "heart",
    "ionosphere",
    "diabetes",
    "glass",
    "german",
    "svmguide2",
    "segment",
    "vowel",
)
VARIANTS = ("KOIL_RS++", "KOIL_FIFO++", "KOIL2_RS++", "KOIL2_FIFO++")
Cell = dict[str, Any]


def cells_of(table: str) -> dict[tuple[str, str], Cell]:
    """The cells of a table that was made again, by set and method."""
    made = json.loads((TABLES / f"{table}.json").read_text())
    return {(cell["data"], cell["method"]): cell for cell in made["cells"]}


def contestants(variant: str) -> list[tuple[str, str, bool]]:
    """One kernel, sixteen as published, sixteen as ours: the table, the method in it, whether it is ours."""
    many = variant.replace("_", "_MKL_")
    return [(ONE, variant, False), (MANY, many + LITERAL, False), (MANY, many, True)]


def parsed(text: str) -> dict[str, Any]:
    """Parameters as a table shows them; its numbers are powers of two, shortened.

    >>> parsed("C = 0.0009766, combine = raw")
    {'C': 0.0009765625, 'combine': 'raw'}
    """
    pairs = [part.split(" = ") for part in text.split(", ")]
    return {name: value if value.isalpha() else 2.0 ** round(np.log2(float(value))) for name, value in pairs}


def run(set_name: str, table: str, method: str, is_ours: bool, data: str) -> list[dict[str, Any]]:
    """All splits of one cell by the parameters of the table; the mean has to be that of the table."""
    of_table = table_named(table)
    cell = cells_of(table)[set_name, method.removesuffix(LITERAL)]
    parameters = parsed(cell["ours_parameters" if is_ours else "parameters"])
    dataset, make = of_table.load(set_name, data), of_table.methods(set_name)[method].make
    entries = []
    for split in fold_splits(dataset)[: of_table.runs]:
        learner = make(**parameters, random_state=split.number)
        entries.append(tested(of_table, set_name, method, learner, split, dataset, parameters))
    mean, expected = np.mean([entry["measures"]["AUC"] for entry in entries]), cell["ours" if is_ours else "here"]
    if abs(mean - expected) > 1e-9:
        raise AssertionError(f"{table} {set_name} {method}: {mean} here, {expected} in the table")
    return entries


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
        for table, method, _ in others:
            record = [0, 0, 0]
            for set_name in SETS:
                many, single = areas(log, set_name, table, method), areas(log, set_name, one[0], one[1])
                record[1 - paired_t_test(many, single)] += 1
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
            single = areas(log, set_name, one[0], one[1])
            parts = [dotted(float(np.mean(single)))]
            for table, method, _ in others:
                many = areas(log, set_name, table, method)
                parts.append(dotted(float(np.mean(many))) + ("*" if paired_t_test(many, single) else ""))
            cells.append(" / ".join(parts))
        lines.append(f"| {set_name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def fill(log: RunLog, sets: Iterable[str], data: str) -> None:
    """Run what is not in the log."""
    for set_name in sets:
        for table, method, is_ours in (one for variant in VARIANTS for one in contestants(variant)):
            if not log.has(table, set_name, method, runs=20):
                entries = run(set_name, table, method, is_ours, data)
                kept = [{key: entry[key] for key in ("table", "set", "method", "run")} for entry in entries]
                values = [round(entry["measures"]["AUC"], 6) for entry in entries]
                log.add([one | {"measures": {"AUC": value}} for one, value in zip(kept, values, strict=True)])
                print(f"{set_name}, {table}, {method}: as in the table", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="the sets; without it nothing is run")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--write", action="store_true", help="make the page from the log")
    arguments = parser.parse_args()
    log = RunLog(LOG)
    if arguments.data:
        with threadpool_limits(1):
            fill(log, arguments.sets.split(","), arguments.data)
    if arguments.write:
        write_measured(PAGE, page(log))


if __name__ == "__main__":
    main()
