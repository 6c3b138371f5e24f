"""The report in a real browser: `pytest -m browser` on a machine with Debian's chromium.

It is no part of `make test`, which needs nothing but Python and make.
"""

import re
import subprocess

import numpy as np
import pytest

from lopsided.cli.main import run
from lopsided.datasets import four_clusters

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--window-size=1100,4200", "--enable-logging=stderr"]
SCHEMES = {"light": "1", "dark": "0"}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    stream = four_clusters(150, 600, random_state=3)
    rows = [f"{a!r},{b!r},{'fraud' if y else 'ok'}" for (a, b), y in zip(stream.X.tolist(), stream.y, strict=True)]
    (folder / "rows.csv").write_text("\n".join(["a,b,kind", *rows]) + "\n")
    arguments = ["evaluate", folder / "rows.csv", "--label", "kind", "--report", folder / "report.html"]
    assert run(list(map(str, arguments))) == 0
    return folder / "report.html"


def chromium(report, scheme, *options):
    profile = report.parent / f"profile-{scheme}"
    command = ["chromium", *FLAGS, f"--user-data-dir={profile}"]
    command += [f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", *options, report.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=90)


@pytest.mark.browser
@pytest.mark.parametrize("scheme", SCHEMES)
def test_it_is_drawn_in_light_and_dark_and_asks_for_nothing_else(report, scheme):
    from matplotlib.image import imread

    picture = report.parent / f"{scheme}.png"
    done = chromium(report, scheme, f"--screenshot={picture}")
    assert done.returncode == 0
    assert not re.search(r"CONSOLE|net::ERR", done.stderr)  # no script fails, nothing is fetched
    pixels = imread(picture)[..., :3].mean(axis=2)
    background = float(np.median(pixels[:, :5]))
    assert background > 0.9 if scheme == "light" else background < 0.2
    ink = np.abs(pixels - background) > 0.3
    assert 0.005 < ink.mean() < 0.5  # something stands on it
    assert ink[:2000].any(axis=1).mean() > 0.3


@pytest.mark.browser
def test_the_page_that_the_browser_builds_has_all_parts(report):
    page = chromium(report, "light", "--dump-dom").stdout
    assert page.count("<svg") >= 4 and page.count("<table") >= 4
    for heading in ("Over the stream", "Where to decide", "Scores", "The model"):
        assert heading in page
    assert "http://" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
