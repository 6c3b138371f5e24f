"""The pictures of docs/rare-events.md, from real runs: what the sample keeps, and who answers when.

python docs/make_rare_pictures.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import lopsided as lp
from lopsided.datasets import abrupt_drift, xor

matplotlib.use("svg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent / "pictures"
BLUE, RED, GREY, GOLD = "#4477aa", "#cc3311", "#999999", "#ddaa33"
matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "lopsided", "font.size": 9, "figure.facecolor": "white"}


def sample_kept() -> None:
    """A stream whose rare class sits in two opposite corners: all rows, and those that the trees are fitted to."""
    stream = xor(30_000, rare=0.01, random_state=3)
    learner = lp.RareEventClassifier(sample_size=1_000, random_state=0)
    learner.partial_fit(stream.X, stream.y)
    positives, negatives = learner.sampled_rows_
    X = stream.X[:, :2]
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharex=True, sharey=True)
    some = np.flatnonzero(stream.y == 0)[::20]
    for axis, common, title in ((axes[0], some, "the stream (1 of 20 negatives)"), (axes[1], negatives, "the sample")):
        axis.scatter(*X[common].T, s=4, color=GREY, label="negatives", rasterized=True)
        axis.set_title(f"{title}: {common.size:,} negatives")
    axes[0].scatter(*X[stream.y == 1].T, s=6, color=RED)
    axes[1].scatter(*X[positives].T, s=6, color=RED)
    figure.tight_layout()
    figure.savefig(HERE / "sample.svg", dpi=120, metadata={"Date": None})


def who_answers() -> None:
    """The shares of the four answers on a stream whose classes change places half-way."""
    stream = abrupt_drift(20_000, 10, rare=0.01, random_state=11)
    learner = lp.RareEventClassifier(random_state=0)
    rows, shares = [], []
    for start in range(0, stream.n_rows, 100):
        part = slice(start, start + 100)
        learner.partial_fit(stream.X[part], stream.y[part], classes=[0, 1])
        rows.append(start + 100)
        shares.append(learner.shares_of_parts_)
    figure, axis = plt.subplots(figsize=(8, 2.8))
    names = {"ranker": BLUE, "trees": GREY, "linear": GOLD, "short": RED}
    axis.stackplot(
        rows,
        *([own[name] for own in shares] for name in names),
        colors=list(names.values()),
        labels=["ranker", "trees", "linear part", "short memory"],
    )
    axis.axvline(stream.n_rows // 2, color="black", linewidth=1, linestyle=":")
    axis.text(stream.n_rows // 2, 1.02, "the classes change places", ha="center")
    axis.set(xlim=(0, stream.n_rows), ylim=(0, 1), xlabel="rows", ylabel="share of the answer")
    figure.legend(loc="outside right center")
    figure.tight_layout(rect=(0, 0, 0.84, 1))
    figure.savefig(HERE / "who-answers.svg", metadata={"Date": None})
    print(f"restarts: {learner.n_restarts_}")


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    sample_kept()
    who_answers()
