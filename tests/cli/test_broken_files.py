"""Files broken in every way that can be thought of: always a sentence and an exit code, never a traceback."""

import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

N = 60
ROWS = [{"a": n * 1.5, "b": f"w{n % 5}", "y": n % 3 == 0} for n in range(N)]


def csv_text(rows=ROWS):
    return "a,b,y\n" + "".join(f"{row['a']},{row['b']},{int(row['y'])}\n" for row in rows)


def whole(form):
    """A good file of a format."""
    if form == "csv":
        return csv_text().encode()
    if form == "ndjson":
        return "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    if form == "libsvm":
        return "".join(f"{int(row['y'])} 1:{row['a']} 3:1\n" for row in ROWS).encode()
    sink, table = io.BytesIO(), pa.Table.from_pylist(ROWS)
    pa.parquet.write_table(table, sink) if form == "parquet" else pa.feather.write_feather(table, sink)
    return sink.getvalue()


def scrambled(data, seed):
    """Some bytes replaced, removed or doubled."""
    rng = np.random.default_rng(seed)
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 12))):
        place = int(rng.integers(0, len(data)))
        how = rng.integers(0, 4)
        if how == 0:
            data[place] = int(rng.integers(0, 256))
        elif how == 1:
            del data[place : place + int(rng.integers(1, 9))]
        elif how == 2:
            data[place:place] = data[place : place + 30]
        else:
            data[place:place] = bytes([int(rng.choice([0, 10, 13, 34, 44, 123, 255]))])
        data = data or bytearray(b" ")
    return bytes(data)


def assert_polite(done):
    assert done.returncode in (0, 2), done.stderr
    assert "Traceback" not in done.stderr
    if done.returncode == 2:
        last = done.stderr.rstrip("\n").splitlines()[-1]
        assert last.startswith("error: ") and last.endswith(".") and len(last) < 700


@pytest.mark.parametrize("form", ["csv", "ndjson", "libsvm", "parquet", "arrow"])
def test_scrambled_files(lopsided, tmp_path, form):
    good = whole(form)
    path = tmp_path / f"data.{form}"
    path.write_bytes(good)
    assert lopsided("learn", path, "--label", "y", "-o", "m").returncode == (2 if form == "libsvm" else 0)
    label = () if form == "libsvm" else ("--label", "y")
    refused = 0
    for seed in range(12):
        path.write_bytes(scrambled(good, seed))
        for policy in ("stop", "skip"):
            done = lopsided("learn", path, *label, "-o", "m", "--on-error", policy)
            assert_polite(done)
            refused += done.returncode == 2
    assert refused > 2


ODD = {
    "empty.csv": b"",
    "blank.csv": b"\n\n\n",
    "only-header.csv": b"a,b,y\n",
    "one-column.csv": b"a\n1\n2\n",
    "nul.csv": b"a,b,y\n1,x,0\n\x00\x00,x,1\n" * 3,
    "wrong-delimiter.csv": csv_text().replace(",", "^").encode(),
    "ragged.csv": b"a,b,y\n1,x,0\n2,x\n3,x,1,9\n4\n",
    "latin.csv": csv_text().replace("w1", "caf\xe9").encode("latin-1"),
    "utf16.csv": csv_text().encode("utf-16"),
    "mixed.csv": csv_text().encode() + "1,na\xefve,0\n".encode("latin-1") + "2,na\xefve,1\n".encode(),
    "long-line.csv": csv_text().encode() + b"1," + b"x" * 10_000_000 + b",0\n2,y,1\n",
    "long-number.csv": csv_text().encode() + b"1" * 10_000_000 + b",x,0\n",
    "open-quote.csv": csv_text().encode() + b'1,"x,0\n' + csv_text().encode(),
    "quotes.csv": b'a,b,y\n"""","\n\n",1\n1,"",0\n',
    "carriage-returns.csv": csv_text().replace("\n", "\r").encode(),
    "windows.csv": csv_text().replace("\n", "\r\n").encode(),
    "no-end.csv": csv_text().rstrip("\n").encode(),
    "twice.csv": b"a,a,y\n1,2,0\n",
    "cut.csv.gz": gzip.compress(csv_text().encode(), mtime=0)[:-20],
    "noise.csv.gz": b"\x1f\x8b" + bytes(range(256)),
    "noise.csv.zst": b"\x28\xb5\x2f\xfd" + bytes(range(256)),
    "noise.csv": bytes(range(256)) * 20,
    "noise.parquet": b"PAR1" + bytes(range(256)),
    "noise.arrow": b"ARROW1\0\0" + bytes(range(256)),
    "noise.arrows": b"\xff\xff\xff\xff" + bytes(range(256)),
    "noise": bytes(range(255, 0, -1)) * 20,
    "deep.ndjson": b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n",
    "array.ndjson": b"[" + b",".join(json.dumps(row).encode() for row in ROWS) + b"]",
    "pretty.ndjson": json.dumps(ROWS, indent=2).encode(),
    "types.ndjson": b'{"a": 1, "y": 0}\n{"a": "x", "y": 1}\n{"a": [1], "y": 0}\n{"a": {"b": 2}, "y": 1}\n',
    "huge-number.ndjson": b'{"a": 1e999, "y": 0}\n{"a": 2, "y": 1}\n',
    "huge-index.libsvm": b"1 99999999999999999999:1\n0 1:1\n",
    "no-pairs.libsvm": b"1\n0\n1\n",
    "table.libsvm": csv_text().encode(),
    "libsvm.csv": whole("libsvm"),
}


@pytest.mark.parametrize("name", sorted(ODD))
def test_odd_files(lopsided, tmp_path, name):
    (tmp_path / name).write_bytes(ODD[name])
    for policy in ("stop", "skip"):
        assert_polite(lopsided("evaluate", name, "--on-error", policy))


FINE = {"windows.csv", "no-end.csv"}


@pytest.mark.parametrize("name", sorted(FINE))
def test_odd_files_that_are_fine(lopsided, tmp_path, name):
    (tmp_path / name).write_bytes(ODD[name])
    done = lopsided("evaluate", name, "--json")
    assert json.loads(done.stdout)["rows"] == N


def test_rows_around_a_long_line_are_learned(lopsided, tmp_path):
    (tmp_path / "long.csv").write_bytes(ODD["long-line.csv"])
    done = lopsided("evaluate", "long.csv", "--json")
    assert json.loads(done.stdout)["rows"] == N + 2


WITH_SOME_GOOD = {
    "open-quote.csv": ODD["open-quote.csv"],
    "mixed.csv": ODD["mixed.csv"],
    "ragged.csv": csv_text().encode() + ODD["ragged.csv"].removeprefix(b"a,b,y\n"),
    "nul.csv": csv_text().encode() + ODD["nul.csv"].replace(b"a,b,y\n", b""),
    "types.ndjson": whole("ndjson") + b'{"a": "x", "y": true}\n{"a": [1], "y": false}\nnull\n{"a": 1}\n',
}


@pytest.mark.parametrize("name", sorted(WITH_SOME_GOOD))
def test_what_is_good_in_a_bad_file_is_learned(lopsided, tmp_path, name):
    (tmp_path / name).write_bytes(WITH_SOME_GOOD[name])
    done = lopsided("evaluate", name, "--label", "y", "--json", "--quarantine", "bad.ndjson")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    written = [json.loads(line) for line in (tmp_path / "bad.ndjson").read_text().splitlines()]
    assert said["bad_rows"] == len(written) > 0 and said["rows"] >= N
    assert all(row["expected"].startswith("must ") and row["got"] for row in written)


@pytest.mark.slow
def test_two_gigabytes_in_flat_memory(tmp_path):
    """Run it with `pytest -m slow tests/cli/test_broken_files.py`; it takes some minutes."""
    import os
    import subprocess
    import sys

    block = "".join(f"{n % 997 / 7:.6f},{n % 31},{n % 13},{int(n % 50 == 0)}\n" for n in range(100_000)).encode()
    path = tmp_path / "large.csv"
    with open(path, "wb") as file:
        file.write(b"a,b,c,y\n")
        while file.tell() < 2 << 30:
            file.write(block)
    arguments = [sys.executable, "-m", "lopsided", "learn", str(path), "--learner", "ocs", "-o", str(tmp_path / "m")]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    path.unlink()
    assert status == 0
    assert usage.ru_maxrss < 450 * 1024
