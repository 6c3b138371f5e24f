"""The report in a real browser: `pytest -m browser` on a machine with Debian's chromium.

It is no part of `make test`, which needs nothing but Python and make.
"""

import html
import json
import re
import subprocess

import numpy as np
import pytest

from lopsided.cli.main import run
from lopsided.datasets import four_clusters

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--hide-scrollbars", "--enable-logging=stderr"]
WIDE = "--window-size=1100,4200"
SCHEMES = {"light": "1", "dark": "0"}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    stream = four_clusters(150, 600, random_state=3)
    hours = np.datetime64("2024-03-01T00:00") + np.arange(750).astype("timedelta64[h]")
    rows = [
        f"{when},{a!r},{b!r},{'fraud' if y else 'ok'}"
        for when, (a, b), y in zip(hours, stream.X.tolist(), stream.y, strict=True)
    ]
    (folder / "rows.csv").write_text("\n".join(["when,a,b,kind", *rows]) + "\n")
    arguments = ["evaluate", folder / "rows.csv", "--label", "kind", "--time", "when", "--learner", "koil"]
    arguments += ["--report", folder / "report.html"]
    assert run(list(map(str, arguments))) == 0
    return folder / "report.html"


def chromium(report, scheme, *options):
    profile = report.parent / f"profile-{scheme}"
    command = ["chromium", *FLAGS, WIDE, f"--user-data-dir={profile}"]
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
    assert page.count("<svg") >= 13 and page.count("<table") >= 9
    for heading in ("Over the stream", "Where to decide", "Scores", "Columns that matter", "Worst misses", "The model"):
        assert heading in page
    assert re.search(r">2024-(Mar|Apr)<", page)
    assert "http://" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)


# Asks the page about itself: does it scroll sideways, are drawings as wide as their panels and their texts inside?
QUESTIONS = """
<script>
const frame = document.querySelector("iframe");
frame.onload = () => {
  const page = frame.contentDocument, inside = (a, b) => a.left >= b.left - 2 && a.right <= b.right + 2
    && a.top >= b.top - 2 && a.bottom <= b.bottom + 2;
  const drawings = [...page.querySelectorAll(".panels svg")];
  const texts = drawings.flatMap(svg => [...svg.querySelectorAll("text")].map(text => [text, svg]));
  const tops = drawings.map(svg => Math.round(svg.getBoundingClientRect().top));
  document.title = JSON.stringify({
    sideways: page.documentElement.scrollWidth - page.documentElement.clientWidth,
    drawings: drawings.length,
    rows: new Set(tops).size,
    beyond: texts.filter(([t, svg]) => !inside(t.getBoundingClientRect(), svg.getBoundingClientRect()))
      .map(([t]) => t.textContent),
    smallest: Math.min(...texts.map(([t]) => t.getBoundingClientRect().height)),
    stroke: getComputedStyle(page.querySelector(".panels svg path[style*='--colour-1']")).stroke,
  });
};
</script>
"""


def answers(report, scheme, width):
    asking = report.parent / f"asking-{width}.html"
    asking.write_text(f'<iframe src="report.html" style="width:{width}px;height:9000px;border:0"></iframe>{QUESTIONS}')
    done = chromium(asking, scheme, "--allow-file-access-from-files", "--virtual-time-budget=5000", "--dump-dom")
    return json.loads(html.unescape(re.search(r"<title>(.*?)</title>", done.stdout).group(1)))


@pytest.mark.browser
def test_a_phone_shows_panels_below_each_other_and_nothing_is_cut_off(report):
    wide, narrow = answers(report, "light", 1060), answers(report, "light", 390)
    for seen in (wide, narrow):
        assert seen["sideways"] == 0 and seen["beyond"] == [] and seen["drawings"] == 13
    assert narrow["rows"] == 13 > wide["rows"]
    assert narrow["smallest"] > 8.0  # pixels


@pytest.mark.browser
def test_colours_are_others_in_the_dark(report):
    assert answers(report, "light", 1060)["stroke"] != answers(report, "dark", 1060)["stroke"]
