"""How fast the command line goes through files, and in how much memory: `python benchmarks/command_line.py [rows]`."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from pages import write_measured

PAGE = Path(__file__).parent / "README.md"
FEATURES = 30
ONE_CORE = {"OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_NUM_THREADS": "1"}


def tables(rows: int):
    """The stream, in parts that fit into memory."""
    rng = np.random.default_rng(0)
    for start in range(0, rows, 50_000):
        n = min(50_000, rows - start)
        X, y = rng.standard_normal((n, FEATURES)), (rng.random(n) < 0.05).astype(np.int64)
        X[y == 1, :5] += 1.0
        # Six digits, as programs write them; %g of each would take longer than everything that is measured.
        columns = {f"f{j}": np.round(X[:, j], 6) for j in range(FEATURES)} | {"label": y}
        yield X, y, pa.table(columns)


def write_files(folder: Path, rows: int) -> dict[str, Path]:
    paths = {name: folder / f"data-{rows}.{name}" for name in ("csv", "parquet", "ndjson", "libsvm")}
    with open(paths["csv"], "wb") as text, open(paths["libsvm"], "w") as sparse, open(paths["ndjson"], "w") as objects:
        writer = None
        for number, (X, y, table) in enumerate(tables(rows)):
            writer = writer or pa.parquet.ParquetWriter(paths["parquet"], table.schema)
            writer.write_table(table)
            options = pa.csv.WriteOptions(include_header=number == 0)
            pa.csv.write_csv(table, text, options)
            if number < 4:  # 200,000 rows are enough for the two slow formats
                for row, label in zip(np.round(X, 6).tolist(), y.tolist(), strict=True):
                    sparse.write(f"{2 * label - 1} " + " ".join(f"{j}:{v:g}" for j, v in enumerate(row, 1)) + "\n")
                    pairs = ",".join(f'"f{j}":{value}' for j, value in enumerate(row))
                    objects.write(f'{{{pairs},"label":{label}}}\n')
        writer.close()
    return paths


def run(*arguments: str) -> tuple[float, float, float]:
    """Seconds on the clock and of the processor, and the peak of memory in MB, of one call of the command."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "lopsided", *arguments], env=os.environ | ONE_CORE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"lopsided {' '.join(arguments)} failed")
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def libsvm_speeds(path: Path) -> list[str]:
    from sklearn.datasets import load_svmlight_file

    from lopsided.streams import Sources, SparseStream, Spellings

    size = path.stat().st_size / 1e6

    def ours() -> None:
        with SparseStream(Sources([str(path)])) as stream:
            for _ in stream.chunks(Spellings(1, -1)):
                pass

    ours()  # loads its compiled code
    lines = []
    for name, read in (("lopsided", ours), ("scikit-learn", lambda: load_svmlight_file(str(path)))):
        seconds = []
        for _ in range(3):
            begin = time.process_time()
            read()
            seconds.append(time.process_time() - begin)
        lines.append(f"| {name} | {size / min(seconds):,.0f} |")
    return lines


def measure(rows: int) -> str:
    lines = [
        f"Measured on {platform.processor() or platform.machine()}, Python {platform.python_version()}, "
        f"pyarrow {pa.__version__}, by `python benchmarks/command_line.py {rows}`.",
        "",
        "| command | rows | MB | seconds | of the processor | rows a second | of the processor | peak MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        short, paths = write_files(folder, rows // 5), write_files(folder, rows)
        model = str(folder / "model")
        koil = ("--learner", "koil", "--force")
        run("learn", str(short["csv"]), *koil, "-o", model)  # compiles
        calls = [
            ("learn, CSV", rows // 5, ("learn", str(short["csv"]), *koil, "-o", model)),
            ("learn, CSV", rows, ("learn", str(paths["csv"]), *koil, "-o", model)),
            ("learn, Parquet", rows, ("learn", str(paths["parquet"]), *koil, "-o", model)),
            ("learn, NDJSON", min(rows, 200_000), ("learn", str(paths["ndjson"]), *koil, "-o", model)),
            ("learn, LIBSVM", min(rows, 200_000), ("learn", str(paths["libsvm"]), *koil, "-o", str(folder / "sparse"))),
            ("score, CSV to CSV", rows, ("score", model, str(paths["csv"]), "-o", str(folder / "out.csv"))),
        ]
        for what, n, call in calls:
            seconds, processor, peak = run(*call)
            size = Path(next(part for part in call if "/data-" in part)).stat().st_size / 1e6
            lines.append(
                f"| {what} | {n:,} | {size:,.0f} | {seconds:.1f} | {processor:.1f} | {n / seconds:,.0f} | "
                f"{n / processor:,.0f} | {peak:,.0f} |"
            )
            print(lines[-1], flush=True)
        lines += [
            "",
            "Reading LIBSVM text alone, MB a second of the processor, the fastest of three:",
            "",
            "| reader | MB/s |",
            "|---|---|",
        ]
        lines += libsvm_speeds(paths["libsvm"])
    return "\n".join(lines)


if __name__ == "__main__":
    text = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
    print(text)
    write_measured(PAGE, text, "command line")
