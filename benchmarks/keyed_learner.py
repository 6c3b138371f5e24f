"""What one model for each key costs: `python benchmarks/keyed_learner.py`.

What it is worth: benchmarks/evidence_keyed.py. CPU time, the least of several runs, side by side with the same learner
without keys on the same numbers, the key being one more of them. Rows have 20 features. `resident` is what the process
grew by.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import lopsided as lp
from pages import write_measured

PAGE = Path(__file__).parents[1] / "docs" / "keyed-learner.md"
D = 20
LINEAR = lp.OCS(variant=2, loss="logistic", learning_rate=0.003, fit_intercept=True)
STACKED = [
    lp.OPAUC(learning_rate=0.001),
    lp.OMCSL(random_state=0),
    lp.FOGD(n_components=100, gamma="auto", random_state=0),
]

TOLD: list[str] = []


def say(text: str) -> None:
    """Print it, and keep it for the page."""
    print(text, flush=True)
    TOLD.append(text)


def seconds(work: Callable[[], Any], runs: int = 1) -> float:
    times = []
    for _ in range(runs):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def rows(n: int, n_keys: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Keys in no order, then the features."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, n_keys, n).astype(float), rng.standard_normal((n, D))])
    return X, (X[:, 1] + rng.standard_normal(n) > 2.5).astype(int)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def learning(counts: list[int], n: int) -> None:
    say(f"{n:,} rows of {D} features and a key, {LINEAR}\n".replace("\n         ", ""))
    say("| keys | without keys, us a row | keyed, no prior | ratio | keyed, prior | ratio | scoring, keyed / not |")
    say("|---|---|---|---|---|---|---|")
    for n_keys in counts:
        X, y = rows(n, n_keys)
        plain = clone(LINEAR).partial_fit(X, y)
        models = {prior: lp.KeyedLearner(LINEAR, max_keys=n_keys, prior=prior) for prior in (None, "global")}
        for model in models.values():
            model.partial_fit(X, y)  # all keys are born
        spent: dict[Any, float] = {}
        for _ in range(5):  # side by side, for the machine may be busy at times
            for name, model in (("plain", plain), *models.items()):
                spent[name] = min(spent.get(name, np.inf), seconds(partial(model.partial_fit, X, y)))
        asked = [seconds(partial(model.raw_scores, X), 3) / n * 1e6 for model in (models["global"], plain)]
        us = {name: each / n * 1e6 for name, each in spent.items()}
        say(
            f"| {n_keys:,} | {us['plain']:.3f} | {us[None]:.3f} | {us[None] / us['plain']:.2f} | {us['global']:.3f} | "
            f"{us['global'] / us['plain']:.2f} | {asked[0]:.3f} / {asked[1]:.3f} |",
        )


def several_arrays(n_keys: int, n: int) -> None:
    """The stacked learners that are more than one vector of weights."""
    say(f"\n{n:,} rows of {D} features and one of {n_keys:,} keys:\n")
    head = ("", "bytes a key", "birth and first row, us", "without keys, us a row", "keyed, no prior", "ratio")
    say("| " + " | ".join((*head, "keyed, prior", "ratio")) + " |")
    say("|---|---|---|---|---|---|---|---|")
    X, y = rows(n, n_keys)
    X[:n_keys, 0] = np.arange(n_keys)
    features = np.ascontiguousarray(X[:, 1:])  # large numbers as a feature would make OPAUC diverge
    for learner in STACKED:
        plain = clone(learner).partial_fit(features[:100], y[:100], classes=[0, 1])
        models = {prior: lp.KeyedLearner(learner, max_keys=n_keys, prior=prior) for prior in (None, "global")}
        for model in models.values():
            model.partial_fit(X[:1], y[:1], classes=[0, 1])
            birth = seconds(partial(model.partial_fit, X[1:n_keys], y[1:n_keys])) / n_keys * 1e6
        held = models[None]._room.models.nbytes / models[None].n_keys_
        spent: dict[Any, float] = {}
        for _ in range(3):  # side by side
            for name, model in (("plain", plain), *models.items()):
                given = features if name == "plain" else X
                spent[name] = min(spent.get(name, np.inf), seconds(partial(model.partial_fit, given, y)))
        us = {name: each / n * 1e6 for name, each in spent.items()}
        say(
            f"| {' '.join(str(learner).split())} | {held:,.0f} | {birth:.1f} | {us['plain']:.2f} | {us[None]:.2f} | "
            f"{us[None] / us['plain']:.2f} | {us['global']:.2f} | {us['global'] / us['plain']:.2f} |"
        )


def births(n_keys: int) -> None:
    X, y = rows(n_keys, 1)
    X[:, 0] = np.arange(n_keys)
    lp.KeyedLearner(LINEAR).partial_fit(X[:100], y[:100], classes=[0, 1])
    before = resident()
    model = lp.KeyedLearner(LINEAR, max_keys=n_keys)
    birth = seconds(lambda: model.partial_fit(X, y, classes=[0, 1])) / n_keys * 1e6
    say(f"\n{model.n_keys_:,} keys, one row each: {birth:.2f} us for a birth and its row,")
    say(f"{model.nbytes_ / n_keys:.0f} bytes a key held, {(resident() - before) / n_keys:.0f} resident.")
    one = lp.KeyedLearner(LINEAR, max_keys=n_keys).partial_fit(X[:2], [0, 1])
    singles = X[2:5_002]
    each = seconds(lambda: [one.learn_one(x, 0) for x in singles]) / len(singles) * 1e6
    again = seconds(lambda: [one.learn_one(x, 0) for x in singles]) / len(singles) * 1e6
    plain = clone(LINEAR).partial_fit(X[:2], [0, 1])
    without = seconds(lambda: [plain.learn_one(x, 0) for x in singles]) / len(singles) * 1e6
    say(f"learn_one: {each:.0f} us for a new key, {again:.0f} for a known one, {without:.0f} without keys.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        saving = seconds(lambda: model.save(path))
        loading = seconds(lambda: lp.load(path))
        say(f"Saving {saving:.1f} s, loading {loading:.1f} s, file {path.stat().st_size / n_keys:.0f} bytes a key.")


def spilling(n_keys: int, max_keys: int, n: int) -> None:
    X, y = rows(n, n_keys)
    model = lp.KeyedLearner(LINEAR, max_keys=max_keys, spill="temporary")
    X[:n_keys, 0] = np.arange(n_keys)
    filling = seconds(lambda: model.partial_fit(X[:n_keys], y[:n_keys], classes=[0, 1])) / n_keys * 1e6
    held, cold = model.nbytes_, model.n_cold_keys_
    back = seconds(lambda: model.partial_fit(X[n_keys:], y[n_keys:])) / (n - n_keys) * 1e6
    say(
        f"\n{n_keys:,} keys of which {max_keys:,} fit into memory ({held / 1e6:.0f} MB), {cold:,} on disk:\n"
        f"{filling:.1f} us for a birth that sends another key to disk, {back:.1f} us for a row of a key in no order, "
        f"of which {1 - max_keys / n_keys:.0%} come back from disk and send another one there."
    )


def objects(n: int = 40) -> None:
    X, y = rows(100, 1)
    say("\n| one object a key | bytes held | birth and first row, us |")
    say("|---|---|---|")
    for learner in (lp.OnlinePerceptron(), LINEAR, lp.KOIL(budget=10), lp.KOIL()):
        clone(learner).partial_fit(X, y)
        kept: list[Any] = []
        birth = seconds(lambda: kept.extend(clone(learner).partial_fit(X[:2], [0, 1]) for _ in range(n))) / n * 1e6  # noqa: B023
        held = len(kept[0].to_bytes())
        name = " ".join(str(learner).split())
        say(f"| {name} | {held:,} | {birth:,.0f} |")
        keyed = lp.KeyedLearner(learner, max_keys=1000).partial_fit(np.insert(X[:2], 0, 0, axis=1), [0, 1])
        many = np.insert(X[:n], 0, np.arange(n) + 1, axis=1)
        birth = seconds(lambda: keyed.partial_fit(many, y[:n])) / n * 1e6  # noqa: B023
        say(f"| the same in a KeyedLearner | {keyed._room.models.nbytes / keyed.n_keys_:,.0f} | {birth:,.0f} |")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--keys", type=int, default=1_000_000)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--write", action="store_true", help=f"write what is measured into {PAGE.name}")
    chosen = options.parse_args()
    learning([1_000, 100_000, chosen.keys], chosen.rows)
    several_arrays(chosen.keys // 100, chosen.rows // 10)
    births(chosen.keys)
    spilling(chosen.keys, chosen.keys // 10, chosen.keys + chosen.keys // 5)
    objects()
    if chosen.write:
        write_measured(PAGE, "\n".join(TOLD))
