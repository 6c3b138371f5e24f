"""The command that compares KOIL with its published figures runs from files to a page, on sets made here."""

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "evidence_koil.py"
N_ROWS = 60


def make_rows() -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(1)
    y = np.where(np.arange(N_ROWS) % 3 == 0, 1, -1)
    return draw.normal(size=(N_ROWS, 3)) + 1.5 * y[:, None], y


def make_folds(n_rows: int) -> np.ndarray:
    draw = np.random.default_rng(2)
    return np.stack([draw.permutation(np.arange(n_rows) % 5 + 1) for _ in range(4)], axis=1)


def write_libsvm(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    rows = zip(y, X, strict=True)
    lines = (f"{label:+d} " + " ".join(f"{i}:{value:.17g}" for i, value in enumerate(row, 1)) for label, row in rows)
    path.write_text("\n".join(lines) + "\n")


def write_published(path: Path, folds: np.ndarray) -> None:
    path.write_text("".join("".join(f"{fold}\t" for fold in row) + "\n" for row in folds))


def run(monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *options])
    monkeypatch.syspath_prepend(SCRIPT.parent)
    runpy.run_path(str(SCRIPT), run_name="__main__")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    X, y = make_rows()
    outer, inner = make_folds(N_ROWS), make_folds(5 * N_ROWS)
    inner[7] = 0  # lost
    np.savez(tmp_path / "packed.npz", X=X, y=y, idx_cv=outer, idx_asso=inner)
    write_libsvm(tmp_path / "text", X, y)
    write_published(tmp_path / "text_IdxCv", outer)
    write_published(tmp_path / "text_IdxAsso", inner)
    damaged = bytearray((tmp_path / "text_IdxAsso").read_bytes())
    damaged[7 * 9 : 8 * 9] = bytes(9)  # as in a published file: NUL bytes instead of a line
    (tmp_path / "text_IdxAsso").write_bytes(damaged)
    write_libsvm(tmp_path / "bare.svm", X, y)
    return tmp_path


def test_from_files_to_page(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = folder / "koil.md"
    page.write_text("# KOIL\n\n<!-- measured: begin -->\n<!-- measured: end -->\n")
    options = ("--sets", "packed,text,bare", "--runs", "2", "--grid", "small", "--jobs", "1")
    run(monkeypatch, "--data", str(folder), *options, "--markdown", str(page))
    written = page.read_text(encoding="utf-8")
    assert capsys.readouterr().out.strip() in written
    assert str(folder) not in written
    rows = re.findall(r"^\| (\w+) \| (RS\+\+|FIFO\+\+) \|.*\*\*(\d\.\d+)\*\* ± (\d\.\d+) \|.*$", written, re.M)
    assert [row[:2] for row in rows] == [(s, p) for s in ("packed", "text", "bare") for p in ("RS++", "FIFO++")]
    assert all(0.85 < float(mean) <= 1 and float(spread) < 0.2 for *_, mean, spread in rows)
    assert [row[2:] for row in rows[:2]] == [row[2:] for row in rows[2:4]]  # one set, two formats
    assert "bare: no published folds" in written
    assert "packed: no published folds" not in written


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match=r"must be one of those there \(none\), got 'nothing'"):
        run(monkeypatch, "--data", str(tmp_path), "--sets", "nothing")
