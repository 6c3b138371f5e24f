"""What the README promises runs as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_the_ten_lines_of_python_print_what_they_say(tmp_path):
    program = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    output = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    area, flags = output.stdout.splitlines()
    assert f"# {area[:6]}" in program
    assert flags.startswith("[")
    assert os.listdir(tmp_path) == ["model.lopsided"]


def test_its_links_lead_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (Path(__file__).parents[1] / target).exists(), target
