"""The site builds, strictly and from what is installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.long
def test_the_site_builds_without_a_warning(tmp_path):
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "true"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr + built.stdout
    assert (tmp_path / "index.html").exists() and len(list(tmp_path.rglob("*.html"))) > 50
