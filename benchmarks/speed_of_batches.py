"""Tables of `make bench`: linear learners, a pool, and rows of many features. Imported by speed.py."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

import lopsided as lp
from lopsided.datasets import overlapping
from lopsided.estimators.kernel import dense_blocks
from lopsided.metrics import auroc


def pass_microseconds(
    learner: Any,
    X: Any,
    y: np.ndarray,
    repetitions: int = 5,
    scores: bool = False,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """Per example of a whole pass from an empty model, fastest of several, of the processor or of another clock."""
    clone(learner).partial_fit(X[:300], y[:300], classes=[-1, 1])  # compiles
    seconds = []
    for _ in range(repetitions):
        model = clone(learner)
        work: Callable[..., Any] = model.progressive_scores if scores else model.partial_fit
        began = clock()
        work(X, y, classes=[-1, 1])
        seconds.append(clock() - began)
    return min(seconds) / y.size * 1e6


def web_like(rows: int) -> tuple[Any, np.ndarray]:
    """A stream of the shape of w8a: 300 binary features, 11.7 ones a row, 3.5 % positive."""
    rng = np.random.default_rng(0)
    X = sp.random(rows, 300, density=11.7 / 300, format="csr", random_state=0, data_rvs=np.ones)
    signal = X @ rng.standard_normal(300) + rng.standard_normal(rows)
    return X, np.where(signal > np.quantile(signal, 0.965), 1, -1)


def linear_table() -> str:
    X, y = web_like(60_000)
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((30_000, 54))
    labels = np.where(dense[:, 0] + rng.standard_normal(30_000) > 2.0, 1, -1)
    sparse_rows = {
        "OMCSL, f1": lp.OMCSL(fit_intercept=True, random_state=0),
        "OMCSL, auroc": lp.OMCSL(measure="auroc", fit_intercept=True, random_state=0),
        "OMCSL, auprc, refresh 50": lp.OMCSL(measure="auprc", refresh=50, fit_intercept=True, random_state=0),
        "OnlinePerceptron": lp.OnlinePerceptron(),
        "OCS": lp.OCS(),
        "OFO": lp.OFO(),
        "ResamplingBagging, 15 members": lp.ResamplingBagging(random_state=0),
        "OAM, 100 + 100": lp.OAM(C=0.001, random_state=0),
    }
    dense_rows = {
        "OPAUC": lp.OPAUC(learning_rate=0.001),
        "OPAUC, rank 50": lp.OPAUC(learning_rate=0.001, rank=50, random_state=0),
        "OMCSL, auroc": lp.OMCSL(measure="auroc", random_state=0),
        "FOGD, 400 components": lp.FOGD(gamma="auto", random_state=0),
        "NOGD, 100 vectors, rank 50": lp.NOGD(gamma="auto"),
        "FourierRanker, 400 components": lp.FourierRanker(random_state=0),
    }
    lines = ["| learner | rows | microseconds an example |", "|---|---|---|"]
    for name, learner in sparse_rows.items():
        lines.append(f"| {name} | sparse, 300 features, 11.7 ones | {pass_microseconds(learner, X, y):.2f} |")
    for name, learner in dense_rows.items():
        lines.append(f"| {name} | dense, 54 features | {pass_microseconds(learner, dense, labels):.2f} |")
    return "\n".join(lines)


def dense_table() -> str:
    """A matrix product a block against the loops, for dense rows of many features."""
    lines = [
        "RBP with 1,350 vectors: loops row by row, and a matrix product for every 64 rows (from 64 features on).",
        "",
        "| features | loops | blocks | times faster |",
        "|---|---|---|---|",
    ]
    fewest = dense_blocks._FEWEST_FEATURES
    for features in (20, 64, 123, 300):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((6_000, features))
        y = np.where(X[:, 0] * X[:, 1] > 0.3, 1, -1)
        learner = lp.RBP(gamma=1.0 / features, budget=1350, random_state=0)
        times = []
        for threshold in (10**9, 2):
            dense_blocks._FEWEST_FEATURES = threshold
            times.append(pass_microseconds(learner, X, y, 3, scores=True))
        lines.append(f"| {features} | {times[0]:.2f} | {times[1]:.2f} | {times[0] / times[1]:.2f} |")
    dense_blocks._FEWEST_FEATURES = fewest
    return "\n".join(lines)


def pool_table() -> str:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8_000, 20))
    y = np.where(X[:, 0] + rng.standard_normal(8_000) > 2.2, 1, -1)
    members = [lp.KOIL(gamma=gamma, C=C) for gamma in (0.01, 0.05, 0.25, 1.0) for C in (0.1, 1.0, 10.0)]
    alone = sum(pass_microseconds(member, X, y, 3, scores=True, clock=time.perf_counter) for member in members)
    lines = [
        "12 KOILs, 20 features, batches of 8,000 rows.",
        "",
        "| how | microseconds an example | of the members alone |",
        "|---|---|---|",
        f"| the members, one after the other | {alone:.1f} | 1.00 |",
    ]
    for jobs in (1, 2):
        cost = pass_microseconds(lp.ExpertPool(members, n_jobs=jobs, random_state=0), X, y, 3, clock=time.perf_counter)
        lines.append(f"| ExpertPool, n_jobs={jobs} | {cost:.1f} | {cost / alone:.2f} |")
    return "\n".join(lines)


def window_table() -> str:
    """The AUROC of the latest rows, kept up to date row by row."""
    rng = np.random.default_rng(0)
    y = (rng.random(100_000) < 0.05).astype(int)
    scores = rng.standard_normal(100_000) + y
    lines = ["| what | microseconds a row |", "|---|---|"]
    for size in (1_000, 10_000):
        seconds = []
        for _ in range(5):
            metric = lp.metrics.WindowedAUROC(size)
            metric.update_many(y, scores)
            began = time.process_time()
            metric.update_many(y, scores)
            seconds.append(time.process_time() - began)
        lines.append(f"| WindowedAUROC({size:,}) | {min(seconds) / y.size * 1e6:.2f} |")
    return "\n".join(lines)


def precision_table() -> str:
    """KOIL with its vectors in double and in single precision, in turns, and what each makes of the stream."""
    lines = [
        "100 + 100 vectors, k = 10, an overlapping stream with 5 % positives, batch, in turns.",
        "",
        "| features | float64, us | float32, us | times faster | AUC, float64 | AUC, float32 |",
        "|---|---|---|---|---|---|",
    ]
    for features in (8, 20, 60, 300):
        stream = overlapping(12_000, features, random_state=0)
        settings = {"gamma": 1.0 / features, "budget": 100, "n_neighbors": 10, "random_state": 0}
        models = [lp.KOIL(dtype=dtype, **settings) for dtype in ("float64", "float32")]
        areas = [auroc(stream.y, model.progressive_scores(stream.X, stream.y)) for model in models]
        seconds: list[list[float]] = [[], []]
        for _ in range(7):
            for model, times in zip(models, seconds, strict=True):
                began = time.process_time()
                model.partial_fit(stream.X, stream.y)
                times.append(time.process_time() - began)
        double, single = (min(times) / stream.y.size * 1e6 for times in seconds)
        cost = f"{double:.2f} | {single:.2f} | {double / single:.2f}"
        lines.append(f"| {features} | {cost} | {areas[0]:.4f} | {areas[1]:.4f} |")
    return "\n".join(lines)


def bayes_table() -> str:
    """The Bayesian rankers: a step with full buffers, and a sweep."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, size=(700, 10))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(700) > 0.0, 1, -1)
    lines = ["100 + 100 vectors, 18 kernels, 10 features, BLAS as it is.", "", "| what | milliseconds |", "|---|---|"]
    for name, learner in {
        "OB2RMK, published, an example": lp.OB2RMK("published", warm_up=60, max_sweeps=30),
        "OB2RMK, default, an example": lp.OB2RMK(warm_up=60, max_sweeps=30),
    }.items():
        learner.partial_fit(X[:400], y[:400])
        seconds = []
        for start in (400, 500, 600):
            began = time.process_time()
            learner.partial_fit(X[start : start + 100], y[start : start + 100])
            seconds.append((time.process_time() - began) / 100)
        lines.append(f"| {name} | {min(seconds) * 1e3:.2f} |")
    began = time.process_time()
    for x in X[:300]:
        learner.score_one(x)
    lines.append(f"| OB2RMK, score_one | {(time.process_time() - began) / 300 * 1e3:.3f} |")
    lp.B2RMK(max_sweeps=2, tol=0.0).fit(X[:600], y[:600])
    times = []
    for sweeps in (2, 12):
        began = time.process_time()
        lp.B2RMK(max_sweeps=sweeps, tol=0.0).fit(X[:600], y[:600])
        times.append(time.process_time() - began)
    lines.append(f"| B2RMK, a sweep over 600 examples | {(times[1] - times[0]) / 10 * 1e3:.1f} |")
    return "\n".join(lines)
