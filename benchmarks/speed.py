"""How fast: microseconds per example, next to the arithmetic floor of this machine and to what else one might use.

    python benchmarks/speed.py                                # prints the tables
    python benchmarks/speed.py --write benchmarks/README.md   # and puts them into that page, as `make bench` does

Everything is measured in one run, on one core, in time of the processor, and compared as a ratio: the seconds of two
machines cannot be compared.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

import lopsided as lp
from lopsided.datasets import overlapping
from lopsided.encoding import infer_schema
from lopsided.metrics import auroc
from pages import write_measured
from speed_of_batches import (
    bayes_table,
    dense_table,
    linear_table,
    pass_microseconds,
    pool_table,
    precision_table,
    window_table,
)

HERE = Path(__file__).parent
FEATURES = (8, 20, 60)
BUDGET, NEIGHBOURS = 100, 10
WARM, ROWS, SINGLE = 5_000, 20_000, 3_000
REPETITIONS = 7


def fastest(work: Callable[[], None], repetitions: int = REPETITIONS) -> float:
    """Seconds of the processor in the fastest repetition: what the machine can do when nothing else disturbs it."""
    times = []
    for _ in range(repetitions):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def floor_of(features: int, program: Path | None, *more: int) -> float:
    """Microseconds of the irreducible arithmetic (floor.c); NaN without a C compiler."""
    if program is None:
        return float("nan")
    arguments = map(str, (features, BUDGET, NEIGHBOURS, *more))
    output = subprocess.run([program, *arguments], capture_output=True, check=True)
    return float(output.stdout) / 1000


def compiled_floor(folder: str) -> Path | None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    program = Path(folder) / "floor"
    flags = ["-O3", "-march=native", "-ffast-math", "-mprefer-vector-width=512"]
    subprocess.run([compiler, *flags, str(HERE / "floor.c"), "-o", str(program), "-lm"], check=True)
    return program


def batch_microseconds(learner: lp.KOIL, stream: lp.datasets.Dataset) -> float:
    learner.partial_fit(stream.X[:WARM], stream.y[:WARM])
    X, y = stream.X[WARM:], stream.y[WARM:]
    return fastest(lambda: learner.partial_fit(X, y)) / len(y) * 1e6


def single_microseconds(call: Callable[[int], object], count: int = SINGLE) -> float:
    """Per call, over different examples."""

    def loop() -> None:
        for i in range(count):
            call(i)

    return fastest(loop, 5) / count * 1e6


def koil_table() -> str:
    with tempfile.TemporaryDirectory() as folder:
        return _koil_table(compiled_floor(folder))


def _koil_table(program: Path | None) -> str:
    lines = [
        f"{BUDGET} + {BUDGET} vectors, k = {NEIGHBOURS}, an overlapping stream with 5 % positives.",
        "",
        "| features | floor | KOIL, batch | times the floor | fifo, batch | times the floor | learn_one | score_one | "
        "decision_function |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for features in FEATURES:
        stream = overlapping(WARM + ROWS, features, random_state=0)
        settings = {"gamma": 1.0 / features, "budget": BUDGET, "n_neighbors": NEIGHBOURS, "random_state": 0}
        floors, reservoir, fifo = [], [], []
        for _ in range(3):  # side by side, so that a busy moment hits all of them
            floors.append(floor_of(features, program))
            reservoir.append(batch_microseconds(lp.KOIL(**settings), stream))
            fifo.append(batch_microseconds(lp.KOIL(policy="fifo", **settings), stream))
        model = lp.KOIL(**settings).partial_fit(stream.X[:WARM], stream.y[:WARM])
        X, y = stream.X, stream.y.tolist()
        one = single_microseconds(lambda i, model=model, X=X, y=y: model.learn_one(X[i], y[i]))
        score = single_microseconds(lambda i, model=model, X=X: model.score_one(X[i]))
        many = fastest(lambda model=model, X=X: model.decision_function(X)) / len(X) * 1e6
        floor, batch, first = min(floors), min(reservoir), min(fifo)
        lines.append(
            f"| {features} | {floor:.2f} | {batch:.2f} | {batch / floor:.2f} | {first:.2f} | {first / floor:.2f} | "
            f"{one:.1f} | {score:.1f} | {many:.2f} |"
        )
    return "\n".join(lines)


def family_table() -> str:
    stream = overlapping(WARM + 5_000, 20, random_state=0)
    settings = {"budget": BUDGET, "n_neighbors": NEIGHBOURS, "random_state": 0}
    one = batch_microseconds(lp.KOIL(gamma=0.05, **settings), stream)
    rows = {
        "KOIL, one kernel": one,
        "MultiKernelKOIL, 16 kernels, reservoir": batch_microseconds(lp.MultiKernelKOIL(**settings), stream),
        "MultiKernelKOIL, 16 kernels, fifo": batch_microseconds(lp.MultiKernelKOIL(policy="fifo", **settings), stream),
        "MultiKernelKOIL, 16 kernels, every kernel at every step": batch_microseconds(
            lp.MultiKernelKOIL(weight_rate=0.0, **settings), stream
        ),
        "OILK, 200 vectors": batch_microseconds(lp.OILK(gamma=0.05, budget=200, random_state=0), stream),
    }
    with tempfile.TemporaryDirectory() as folder:
        program, pool = compiled_floor(folder), lp.MultiKernelKOIL(**settings).partial_fit(stream.X, stream.y)
        # A kernel learns from a row with the probability w / max w.
        for learning in (round(1.0 / pool.kernel_weights_.max()), 16):
            name = f"the floor of 16 kernels with vectors of their own, of which {learning} learn from a row"
            rows[name] = min(floor_of(20, program, 5_000, 16, learning) for _ in range(3))
    lines = ["| learner | microseconds | times KOIL |", "|---|---|---|"]
    lines += [f"| {name} | {value:.2f} | {value / one:.2f} |" for name, value in rows.items()]
    return "\n".join(lines)


def single_table() -> str:
    stream = overlapping(WARM, 10, random_state=0)
    numbers = [dict(zip("abcdefghij", row, strict=True)) for row in stream.X.tolist()]
    countries, days = ("NO", "SE", "DK", "FI"), np.datetime64("2024-01-01") + np.arange(WARM) % 300
    mixed = [
        row | {"country": countries[i % 4], "day": str(days[i]), "c": None if i % 9 == 0 else row["c"]}
        for i, row in enumerate(numbers)
    ]
    koil = lp.KOIL(gamma=0.1, random_state=0)
    cases: dict[str, tuple[Any, Any]] = {
        "an array of 10 numbers, KOIL": (koil, stream.X),
        "the same, StreamPipeline, which scales": (lp.StreamPipeline(lp.OnlineScaler(), koil), stream.X),
        "a mapping of 10 numbers, TablePipeline": (
            lp.TablePipeline(infer_schema(numbers[:500]), learner=koil),
            numbers,
        ),
        "the same with a gap, a category and a date": (
            lp.TablePipeline(infer_schema(mixed[:500]), learner=koil),
            mixed,
        ),
    }
    lines = ["| one row | learn_one | score_one |", "|---|---|---|"]
    y = stream.y.tolist()
    for name, (model, rows) in cases.items():
        model = clone(model).partial_fit(rows[:1000], y[:1000])
        one = single_microseconds(lambda i, model=model, rows=rows: model.learn_one(rows[i], y[i]))
        score = single_microseconds(lambda i, model=model, rows=rows: model.score_one(rows[i]))
        lines.append(f"| {name} | {one:.1f} | {score:.1f} |")
    return "\n".join(lines)


def adult_like(rows: int, seed: int = 0) -> tuple[sp.csr_matrix, np.ndarray]:
    """A stream of the shape of a9a: 123 binary features, 14 ones a row, a quarter positive, labels noisy."""
    rng = np.random.default_rng(seed)
    popularity = rng.dirichlet(np.full(123, 0.5))
    features = np.sort(np.argpartition(-np.log(popularity) + rng.gumbel(size=(rows, 123)), 14, axis=1)[:, :14], axis=1)
    X = sp.csr_matrix((np.ones(14 * rows), features.ravel(), np.arange(0, 14 * rows + 1, 14)), shape=(rows, 123))
    signal = X @ rng.standard_normal(123) + rng.standard_normal(rows)
    return X, np.where(signal > np.quantile(signal, 0.75), 1, -1)


def bounded_table() -> str:
    """A whole pass over sparse rows, from empty to full."""
    X, y = adult_like(48_842)
    learners = {
        "SPA, sampling_scale 20": lp.SPA(gamma=0.4, random_state=0),
        "OSKL, sparsity 10": lp.OSKL(gamma=0.4, random_state=0),
        "RBP": lp.RBP(budget=1350, gamma=0.4, random_state=0),
        "Forgetron": lp.Forgetron(budget=1350, gamma=0.4, random_state=0),
        "BOGD": lp.BOGD(budget=1350, gamma=0.4, random_state=0),
        "BPA-S": lp.BPAS(budget=1350, C=0.5, gamma=0.4, random_state=0),
        "Projectron": lp.Projectron(budget=1350, gamma=0.4, random_state=0),
        "KOIL, 100 + 100": lp.KOIL(gamma=0.4, random_state=0),
        "BOMKC, 16 kernels": lp.BOMKC(random_state=0),
    }
    lines = [
        "48,842 rows of 123 binary features with 14 ones each (the shape of a9a), CSR, one pass from an empty model.",
        "",
        "| learner | vectors at the end | microseconds an example |",
        "|---|---|---|",
    ]
    for name, learner in learners.items():
        repetitions = 1 if "16" in name or "Projectron" in name else 3
        cost = pass_microseconds(learner, X, y, repetitions)
        lines.append(f"| {name} | {clone(learner).partial_fit(X, y).n_support_} | {cost:.2f} |")
        if isinstance(learner, lp.SPA):
            cost = pass_microseconds(learner, X, y, repetitions, scores=True)
            lines.append(f"| the same, reporting every score | | {cost:.2f} |")
    return "\n".join(lines)


def others_table() -> str:
    """One example at a time, test then train, and what it buys: the AUC over the stream."""
    stream = overlapping(SINGLE, 20, random_state=0)
    X, y = stream.X, stream.y.tolist()
    results: dict[str, tuple[float, float]] = {}

    def progressive(name: str, score: Callable[[int], float], learn: Callable[[int], object]) -> None:
        scores = np.zeros(SINGLE)
        began = time.perf_counter()
        for i in range(SINGLE):
            scores[i] = score(i)
            learn(i)
        results[name] = ((time.perf_counter() - began) / SINGLE * 1e6, auroc(stream.y, scores))

    koil = lp.KOIL(gamma=0.05, random_state=0).partial_fit(X[:1], y[:1])
    koil.learn_one(X[0], y[0])
    koil.score_one(X[0])
    progressive(
        "lopsided KOIL (score_one, learn_one)", lambda i: koil.score_one(X[i]), lambda i: koil.learn_one(X[i], y[i])
    )

    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import SGDClassifier

    weights = {0: 1.0, 1: 19.0}
    sgd = SGDClassifier(loss="log_loss", class_weight=weights, random_state=0).partial_fit(X[:1], y[:1], classes=[0, 1])
    progressive(
        "scikit-learn SGDClassifier",
        lambda i: sgd.decision_function(X[i : i + 1])[0],
        lambda i: sgd.partial_fit(X[i : i + 1], y[i : i + 1]),
    )
    sampler = RBFSampler(gamma=0.05, n_components=200, random_state=0).fit(X[:1])
    kernel_sgd = SGDClassifier(loss="log_loss", class_weight=weights, random_state=0)
    kernel_sgd.partial_fit(sampler.transform(X[:1]), y[:1], classes=[0, 1])
    progressive(
        "scikit-learn RBFSampler + SGDClassifier",
        lambda i: kernel_sgd.decision_function(sampler.transform(X[i : i + 1]))[0],
        lambda i: kernel_sgd.partial_fit(sampler.transform(X[i : i + 1]), y[i : i + 1]),
    )
    try:
        from river import forest, linear_model, tree
    except ModuleNotFoundError:
        print("River is not installed (pip install river): its rows are left out", file=sys.stderr)
    else:
        rows = [dict(enumerate(x)) for x in X.tolist()]
        for name, model in (
            ("River LogisticRegression", linear_model.LogisticRegression()),
            ("River HoeffdingTreeClassifier", tree.HoeffdingTreeClassifier()),
            ("River ARFClassifier", forest.ARFClassifier(n_models=10, seed=0)),
        ):
            progressive(
                name,
                lambda i, model=model: model.predict_proba_one(rows[i]).get(True, 0.0),
                lambda i, model=model: model.learn_one(rows[i], bool(y[i])),
            )
    base = results["lopsided KOIL (score_one, learn_one)"][0]
    lines = ["| score, then learn, one example | microseconds | times KOIL | progressive AUC |", "|---|---|---|---|"]
    lines += [f"| {name} | {us:.1f} | {us / base:.1f} | {area:.3f} |" for name, (us, area) in results.items()]
    return "\n".join(lines)


def start_table() -> str:
    def run(*command: str) -> float:
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        return time.perf_counter() - began

    def inside(program: str) -> float:
        outputs = [subprocess.run([sys.executable, "-c", program], check=True, capture_output=True) for _ in range(5)]
        return statistics.median(float(output.stdout) for output in outputs)

    clock = "import time; began = time.perf_counter()\n"
    tell = "\nprint(time.perf_counter() - began)"
    after_imports = "import numba, sklearn.base, sklearn.utils.validation, numpy as np\n" + clock
    learn = "import lopsided\nlopsided.KOIL(random_state=0).learn_one(np.zeros(20), 1)"
    command = str(Path(sys.executable).parent / "lopsided")
    run(command, "--help")
    cold_cache = os.environ | {"NUMBA_CACHE_DIR": tempfile.mkdtemp()}
    first = subprocess.run(
        [sys.executable, "-c", after_imports + learn + tell], check=True, capture_output=True, env=cold_cache
    )
    rows = {
        "`import lopsided`": inside(clock + "import lopsided" + tell),
        "`lopsided --help`": statistics.median(run(command, "--help") for _ in range(5)),
        "first example learned, numba and scikit-learn imported before, disk cache filled": inside(
            after_imports + learn + tell
        ),
        "the same on the first use ever (compilation)": float(first.stdout),
    }
    return "\n".join(
        ["| what | seconds |", "|---|---|", *(f"| {name} | {value:.2f} |" for name, value in rows.items())]
    )


def machine() -> str:
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
        model = found.group(1) if found else model
    import numba

    return f"{model}, Python {platform.python_version()}, numpy {np.__version__}, numba {numba.__version__}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="a page to put the tables into, between its marks")
    arguments = parser.parse_args()
    parts = [
        f"Measured on {machine()}, lopsided {lp.__version__}, one core, load "
        f"{os.getloadavg()[0]:.1f} before it, by `make bench`."
    ]
    for title, table in (
        ("Microseconds per example", koil_table),
        ("The family, 20 features, batch", family_table),
        ("Vectors in single precision", precision_table),
        ("One row at a time", single_table),
        ("Bounded classifiers on sparse rows", bounded_table),
        ("Dense rows of many features", dense_table),
        ("Linear learners", linear_table),
        ("Bayesian rankers", bayes_table),
        ("A measure over a window", window_table),
        ("A pool in threads (the only table with two cores)", pool_table),
        ("Next to other libraries, 20 features, one example at a time", others_table),
        ("Getting started", start_table),
    ):
        print(f"\n### {title}\n", flush=True)
        text = table()
        print(text, flush=True)
        parts += [f"### {title}", text]
    if arguments.write:
        write_measured(arguments.write, "\n\n".join(parts))


if __name__ == "__main__":
    main()
