"""What commands print, letter by letter; `LOPSIDED_WRITE_GOLDEN=1 pytest tests/cli/test_golden.py` writes it anew.

Speeds and sizes are masked, and numbers are cut to five digits, since the last ones are the processor's own business.
"""

import os
import re
from pathlib import Path

import pytest

from cli.payments import csv_text, payment_rows

GOLDEN = Path(__file__).parent / "golden"
LEARN = ("learn", "payments.csv", "--label", "kind", "--id", "id", "--time", "when", "--learner", "koil")
LEARN = (*LEARN, "--set", "gamma=0.3")

CALLS = {
    "learn": [(*LEARN, "-o", "m")],
    "learn-with-bad-rows": [(*LEARN[:1], "broken.csv", *LEARN[2:], "-o", "m", "--on-error", "skip")],
    "learn-stopped": [(*LEARN[:1], "broken.csv", *LEARN[2:], "-o", "m")],
    "score": [(*LEARN, "-o", "m"), ("score", "m", "few.csv")],
    "score-ndjson": [(*LEARN, "-o", "m"), ("score", "m", "few.csv", "--format", "ndjson", "--keep", "id")],
    "evaluate": [
        (
            "evaluate",
            "payments.csv",
            "--label",
            "kind",
            "--ignore",
            "id",
            "--kind",
            "when=ignore",
            "--delay",
            "20",
            "--learner",
            "koil",
        )
    ],
    "inspect": [(*LEARN, "-o", "m"), ("inspect", "m", "--top", "2")],
    "inspect-linear": [(*LEARN[:-4], "--learner", "opauc", "-o", "m"), ("inspect", "m", "--top", "3")],
    "explain": [(*LEARN, "-o", "m"), ("explain", "m", "few.csv", "--row", "2", "--top", "2")],
    "tune": [
        (
            "tune",
            "payments.csv",
            "--label",
            "kind",
            "--id",
            "id",
            "--ignore",
            "when",
            "--candidates",
            "4",
            "--learner",
            "koil",
            "--learner",
            "opauc",
        )
    ],
    "export": [(*LEARN, "-o", "m"), ("export", "m", "-o", "m.onnx")],
}


def masked(text):
    text = re.sub(r"[\d,]+ (rows per second|kB)", r"# \1", text)
    text = re.sub(r"scores within [\d.e-]+", "scores within #", text)
    if "examples/s" in text:  # the column before the last one
        text = re.sub(r"\s+[\d,]+(\s+\d+)$", r"  #\1", text.rstrip("\n"), flags=re.MULTILINE) + "\n"
    return re.sub(r"(\d+\.\d{4})\d+", r"\1", text)


@pytest.mark.parametrize("name", CALLS)
def test_what_is_printed(lopsided, tmp_path, name):
    rows = payment_rows(400)
    (tmp_path / "payments.csv").write_text(csv_text(rows))
    (tmp_path / "few.csv").write_text(csv_text(rows[:3]))
    (tmp_path / "broken.csv").write_text(csv_text(rows[:200]) + "t,much,NO,2024-03-01,ok\nt,1,NO,soon,ok\nt,1\n")
    *before, call = CALLS[name]
    for needed in before:
        done = lopsided(*needed)
        assert done.returncode == 0, done.stderr
    done = lopsided(*call)
    printed = masked(f"$ lopsided {' '.join(call)}\n{done.stdout}--- exit code {done.returncode}\n{done.stderr}")
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("LOPSIDED_WRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(printed)
    assert printed == path.read_text()
