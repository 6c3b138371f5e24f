"""The built wheel, installed alone in an empty environment: what a user gets who has neither this folder nor extras."""

import csv
import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "lopsided"
# Nothing of this environment: neither its packages nor its settings.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_", "PYTEST"))}


def run(*command, cwd):
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=CLEAN, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def needed_by(package: Distribution) -> dict[str, Distribution]:
    """What a package says that it needs, and what that needs in turn, without extras, each in a version it allows."""
    found: dict[str, Distribution] = {}
    waiting = [package]
    while waiting:
        for requirement in map(Requirement, waiting.pop().requires or []):
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
                continue
            other = distribution(requirement.name)
            assert requirement.specifier.contains(other.version, prereleases=True), (str(requirement), other.version)
            if other.name not in found:
                found[other.name] = other
                waiting.append(other)
    return found


def bring_what_is_compiled(installed: Path) -> None:
    """The disk cache of this folder, for the same sources; it knows them by their times. Saves half a minute."""
    for ours in SOURCES.rglob("*.py"):
        copy = installed / ours.relative_to(SOURCES)
        assert copy.read_bytes() == ours.read_bytes(), f"{copy} is not what stands here"
        shutil.copystat(ours, copy)
    for compiled in SOURCES.rglob("*.nb[ci]"):
        target = installed / compiled.relative_to(SOURCES)
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(compiled, target)


def link(package: Distribution, packages: Path) -> None:
    """Show an installed package in another environment, as if it had been unpacked there too."""
    for name in sorted({file.parts[0] for file in package.files or []} - {"..", "__pycache__"}):
        if not (packages / name).exists():
            (packages / name).symlink_to(package.locate_file(name))


@pytest.fixture(scope="module")
def lopsided(tmp_path_factory):
    """The command of an environment that holds the wheel and what its metadata ask for, but nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "empty", cwd=folder)
    python = folder / "empty" / "bin" / "python"
    run(*pip, "--python", python, "install", "--no-deps", wheel, cwd=folder)
    (packages,) = (folder / "empty").glob("lib/python*/site-packages")
    (installed,) = distributions(path=[str(packages)])
    needed = needed_by(installed)
    assert {"numba", "scikit-learn"} <= set(needed) and not {"matplotlib", "pytest", "lopsided"} & set(needed)
    for package in needed.values():
        link(package, packages)
    bring_what_is_compiled(packages / "lopsided")
    return lambda *arguments: run(python.with_name("lopsided"), *arguments, cwd=folder)


@pytest.mark.long
def test_the_wheel_alone_runs_the_demo_and_learns_scores_and_explains(lopsided, tmp_path):
    assert "KOIL" in lopsided("demo", "--kernels")
    payments, model, scored = tmp_path / "payments.csv", tmp_path / "model", tmp_path / "scored.csv"
    with payments.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["amount", "country", "fraud"])
        for i in range(300):
            rows.writerow([10 * (i % 7) + 90 * (i % 10 == 0), ["NO", "SE", "XX"][i % 3], int(i % 10 == 0)])
    lopsided("learn", payments, "--label", "fraud", "--output", model)
    lopsided("score", model, payments, "--output", scored)
    with scored.open() as file:
        scores = [float(row["score"]) for row in csv.DictReader(file)]
    assert len(scores) == 300
    explained = json.loads(lopsided("explain", model, payments, "--row", 1, "--json"))
    assert explained["score"] == pytest.approx(scores[0])
