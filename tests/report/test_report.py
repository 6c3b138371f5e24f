"""The page: well-formed, self-contained, escaped, with real drawings."""

import importlib
import re
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from lopsided import KOIL
from lopsided.datasets import four_clusters
from lopsided.evaluate import Evaluation
from lopsided.report import figures, page
from lopsided.report.contents import Grid, Report, Run, StreamResult
from lopsided.report.writing import ReportError, check_can_write, report_as_html, write_report

NASTY = "<script>alert('x')</script> & \"co\""
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Outline(HTMLParser):
    """Elements in order, texts, and whatever was opened and not closed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.open, self.attributes = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def result():
    stream = four_clusters(40, 160, random_state=2)
    runs = []
    for name, learner in (("KOIL", KOIL(gamma=20.0, random_state=0)), ("linear", SGDClassifier(random_state=0))):
        evaluation = Evaluation(learner, classes=[0, 1], every=20, threshold="f1")
        list(evaluation.run([(stream.X, stream.y)]))
        runs.append(Run(name, evaluation))
    return StreamResult(f"clusters {NASTY}", f"made up {NASTY}", runs, stream.X, stream.y)


@pytest.fixture(scope="module")
def html(result):
    table = Grid(["stream", "AUROC"], [[NASTY, "0.9"], [NASTY, "0.8"], ["other", "0.7"]])
    return report_as_html(Report(f"Title {NASTY}", [f"Seen {NASTY}"], table, [result], {f"what {NASTY}": NASTY}))


def test_the_page_is_well_formed_and_has_its_drawings(html):
    outline = Outline(html)
    assert outline.open == []
    assert outline.elements.count("svg") == outline.elements.count("figure") == 2
    assert outline.elements.count("h1") == outline.elements.count("table") == 1
    assert outline.elements.count("tbody") == 2  # rows of one stream stay together
    assert {"AUROC so far", "average precision so far", "KOIL, support vectors", "rare class"} <= set(outline.texts)


def test_all_text_is_escaped(html):
    outline = Outline(html)
    assert "script" not in outline.elements
    assert any(NASTY in text for text in outline.texts)


def test_the_page_needs_nothing_else(html):
    outline = Outline(html)
    assert not {"link", "script", "iframe", "img"} & set(outline.elements)
    for name, value in outline.attributes:
        if name in {"src", "href", "xlink:href"}:
            assert value.startswith(("#", "data:"))
    assert "@import" not in html
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", html))


def test_it_follows_light_and_dark(html):
    assert "prefers-color-scheme: dark" in html
    assert "currentColor" in html
    assert figures.INK not in html


def test_names_inside_of_drawings_are_unique(result):
    drawings = figures.progressive_curves(result), figures.decision_surfaces(result)
    names = [set(re.findall(r' id="([^"]+)"', drawing)) for drawing in drawings]
    assert not names[0] & names[1]
    for drawing, known in zip(drawings, names, strict=True):
        assert set(re.findall(r'(?:xlink:href="|url\()#([^")]+)', drawing)) <= known


def test_curves_are_those_of_the_records(result):
    drawing = ElementTree.fromstring(figures.progressive_curves(result))
    lines = [path for path in drawing.iter("{http://www.w3.org/2000/svg}path") if "#e8590c" in path.get("style", "")]
    heights = [float(y) for y in re.findall(r"[ML] [-\d.]+ ([-\d.]+)", lines[0].get("d"))]
    records = result.runs[0].evaluation.records
    auroc = [record.auroc for record in records if not np.isnan(record.auroc)]
    assert len(heights) == len(auroc) >= 8
    # On paper y grows downwards: heights are an affine picture of the areas.
    assert np.corrcoef(heights, auroc)[0, 1] == pytest.approx(-1.0, abs=1e-6)


def test_every_support_vector_is_marked_in_the_colour_of_its_class(result):
    drawing = figures.decision_surfaces(result)
    weights = result.runs[0].evaluation.learner.support_weights_
    for colour, marked in (("#e8590c", weights > 0), ("#3b8ed0", weights < 0)):
        # Only support vectors let something shine through, by exactly this much.
        assert (
            len(re.findall(rf"fill: var\(--colour-\d, {colour}\); fill-opacity: 0.75", drawing))
            == np.count_nonzero(marked)
            > 0
        )


def test_the_same_report_is_the_same_file(result):
    assert figures.decision_surfaces(result) == figures.decision_surfaces(result)


def test_a_stream_of_one_record_is_drawn_as_a_point(result):
    evaluation = Evaluation(KOIL(random_state=0))
    list(evaluation.run([(result.X, result.y)]))
    assert "<use" in figures.progressive_curves(StreamResult("short", "", [Run("KOIL", evaluation)]))


def test_a_table_knows_words_from_numbers():
    outline = page.table(Grid(["a", "b", "c"], [["x", "y", "1"]], first_number=2))
    assert outline.count('class="number"') == 2


def test_the_report_is_written(tmp_path, html, result):
    path = tmp_path / "report.html"
    check_can_write(path)
    write_report(path, Report("T", [], Grid(["a"], []), [result]))
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    check_can_write(path)


def test_where_no_report_can_be_written_is_said_before(tmp_path):
    with pytest.raises(ReportError, match="must be a file, got a directory"):
        check_can_write(tmp_path)
    with pytest.raises(ReportError, match="must lie in a directory that exists, got none called"):
        check_can_write(tmp_path / "no" / "report.html")


def test_without_matplotlib_the_way_to_get_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "lopsided.report.figures")
    with pytest.raises(ModuleNotFoundError) as caught:
        importlib.import_module("lopsided.report.figures")
    assert caught.value.name == "matplotlib"
    assert str(caught.value) == (
        'The figures of a report must be drawn by matplotlib, which `pip install "lopsided[report]"` brings, '
        "got no package matplotlib."
    )
