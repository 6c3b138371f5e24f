"""The installed command as a user calls it, and small files to call it on."""

import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from cli.payments import csv_text, payment_rows
from lopsided.cli.main import run
from lopsided.datasets import four_clusters


class Finished(NamedTuple):
    """What a call of the command left behind."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def installed(tmp_path):
    """Run `lopsided ARGUMENTS` as a process of its own in an empty directory."""

    def call(*arguments, **environment):
        return subprocess.run(
            [sys.executable, "-m", "lopsided", *map(str, arguments)],
            cwd=tmp_path,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return call


@pytest.fixture
def lopsided(tmp_path, monkeypatch, capsys):
    """The same inside of this process, which saves the seconds that importing Numba takes."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        capsys.readouterr()
        returncode = run(list(map(str, arguments)))
        return Finished(returncode, *capsys.readouterr())

    return call


def refusal_of(done):
    """The sentence with which a call was refused."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    last_line = done.stderr.rstrip("\n").splitlines()[-1]
    assert last_line.startswith("error: ")
    return last_line.removeprefix("error: ")


@pytest.fixture
def refused(lopsided):
    """Run `lopsided ARGUMENTS`, expect it to be refused, and return the sentence."""
    return lambda *arguments: refusal_of(lopsided(*arguments))


@pytest.fixture
def refused_when_installed(installed):
    """The same as a process of its own."""
    return lambda *arguments, **environment: refusal_of(installed(*arguments, **environment))


@pytest.fixture(scope="session")
def stream():
    return four_clusters(60, 240, random_state=3)


@pytest.fixture
def csv_file(tmp_path, stream):
    """A table with words as labels, of which the rare one is the smaller in the alphabet."""
    path = tmp_path / "people.csv"
    rows = [
        f"{x!r},{z!r},{'fraud' if label else 'ok'}" for (x, z), label in zip(stream.X.tolist(), stream.y, strict=True)
    ]
    path.write_text("\n".join(["x1,x2,kind", *rows]) + "\n")
    return path


@pytest.fixture
def libsvm_file(tmp_path, stream):
    path = tmp_path / "people.svm"
    path.write_text(libsvm_text(stream.X, stream.y))
    return path


def libsvm_text(X, y):
    """Rows with labels -1 and +1, zeros left out."""
    lines = []
    for row, label in zip(np.asarray(X).tolist(), y, strict=True):
        pairs = " ".join(f"{index}:{value!r}" for index, value in enumerate(row, start=1) if value)
        lines.append(f"{2 * int(label) - 1:+d} {pairs}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def payments(tmp_path):
    """Words, dates, missing numbers: 400 rows, 15 % of them bad."""
    path = tmp_path / "payments.csv"
    path.write_text(csv_text(payment_rows(400)))
    return path
