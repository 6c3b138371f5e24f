"""One run from close: every number of the report against a slower way to it."""

import re

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, precision_recall_curve, roc_auc_score, roc_curve

from lopsided import KOIL, MultiKernelKOIL
from lopsided.datasets import four_clusters
from lopsided.evaluate import Evaluation, History, KeptRows, Moment
from lopsided.report import evaluation_figures, measures
from lopsided.report.contents import Detail, Grid, Report, Run, StreamResult
from lopsided.report.sections import in_detail
from lopsided.report.writing import report_as_html


def detail(n=900, seed=0, times=None):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.2
    scores = np.round(rng.normal(size=n) + 1.5 * positive, 2)  # with ties
    moments = [Moment(n // 2, 0.5, 40, None), Moment(n, 0.9, 80, None)]
    return Detail(scores, positive, scores > 1.0, 1.0, times, moments)


def test_figures_over_windows_and_all_rows():
    found = detail()
    whole, windows = measures.over_all_rows(found), measures.over_windows(found)
    assert whole.n[-1] == windows.n[-1] == 900 and measures.window_of(found) == 100
    for over, first in ((whole, lambda end: 0), (windows, lambda end: end - 100)):
        for q in (0, len(over.n) // 2, -1):
            end = int(over.n[q])
            rows = slice(first(end), end)
            y, s = found.positive[rows], found.scores[rows]
            assert over.auroc[q] == pytest.approx(roc_auc_score(y, s))
            assert over.average_precision[q] == pytest.approx(average_precision_score(y, s))
            assert over.f1[q] == pytest.approx(f1_score(y, s > 1.0))


def test_curves_are_those_of_scikit_learn():
    found = detail()
    false_alarms, recall, precision = measures.curves(found)
    theirs = roc_curve(found.positive, found.scores, drop_intermediate=False)
    np.testing.assert_allclose(false_alarms, theirs[0][1:])
    np.testing.assert_allclose(recall, theirs[1][1:])
    np.testing.assert_allclose(precision, precision_recall_curve(found.positive, found.scores)[0][:-1][::-1])


def test_bands_lie_around_what_they_belong_to():
    windows = measures.over_windows(detail())
    bands = windows.bands()
    for name in ("auroc", "average_precision"):
        low, high = bands[name]
        values = getattr(windows, name)
        assert (low < values).all() and (values < high).all() and (high - low < 0.6).all()
    assert np.isnan(measures.over_all_rows(detail()).precision_low).all()
    for name, of in (("precision", windows.called), ("recall", windows.positives)):
        low, high = bands[name]
        assert (low <= windows.hits / of).all() and (windows.hits / of <= high).all()
    rows = slice(int(windows.n[3]) - 100, int(windows.n[3]))
    assert windows.positives[3] == detail().positive[rows].sum()
    assert windows.hits[3] == (detail().positive & detail().called)[rows].sum()


def test_windows_are_wider_where_positives_are_few():
    few = Detail(np.zeros(9000), np.arange(9000) % 300 == 0, np.zeros(9000, dtype=bool), 0.0)
    assert measures.window_of(few) == 3000
    none = Detail(np.zeros(9000), np.zeros(9000, dtype=bool), np.zeros(9000, dtype=bool), 0.0)
    assert measures.window_of(none) == 3000


def test_alerts_a_day_and_per_thousand_rows():
    found = measures.alerts(detail())
    order = np.argsort(-detail().scores, kind="stable")
    hits = detail().positive[order][: int(50 * 0.9)].sum()
    assert found.unit == "per 1,000 rows"
    assert np.interp(50.0, found.rate, found.recall) == pytest.approx(hits / detail().positive.sum(), abs=0.01)
    assert np.interp(50.0, found.rate, found.precision) == pytest.approx(hits / 45, abs=0.02)
    assert found.rate[-1] == 1000.0 and found.recall[-1] == 1.0
    ten_days = measures.alerts(detail(times=np.linspace(0, 864_000, 900)))
    assert ten_days.unit == "per day"
    caught = detail().positive[order][:100].sum() / detail().positive.sum()
    assert np.interp(10.0, ten_days.rate, ten_days.recall) == pytest.approx(caught, abs=0.01)


def test_rows_of_the_same_score_are_caught_in_no_particular_order():
    """The rare rows come first in the stream, but nothing in their scores says so."""
    alike = measures.alerts(Detail(np.zeros(1000), np.arange(1000) < 10, np.zeros(1000, dtype=bool), 0.0))
    np.testing.assert_allclose(alike.recall, alike.rate / 1000.0)
    np.testing.assert_allclose(alike.precision, 0.01)
    rng, known = np.random.default_rng(0), detail()
    draws = []
    for _ in range(400):
        mixed = rng.permutation(known.n)
        order = mixed[np.argsort(-known.scores[mixed], kind="stable")]
        draws.append(known.positive[order][:45].sum() / known.positive.sum())
    found = measures.alerts(known)
    assert np.interp(50.0, found.rate, found.recall) == pytest.approx(np.mean(draws), abs=0.003)


def test_calibration_is_judged_on_rows_that_it_was_not_fitted_on():
    forecast, positives, rows = measures.calibration(detail(20_000))
    assert rows.sum() == 10_000 and rows.size == 20 and np.ptp(rows) <= 1
    np.testing.assert_allclose(forecast, positives / rows, atol=0.08)
    turned = detail(20_000)
    turned.positive[10_000:] = ~turned.positive[10_000:]  # the second half is another world
    forecast, positives, rows = measures.calibration(turned)
    assert np.abs(forecast - positives / rows).max() > 0.3
    assert measures.calibration(detail(60)) is None


def test_rates_of_a_tenth_of_a_percent_can_be_read_off_the_calibration():
    """Both axes are logarithmic, and a group without positives has its interval and a mark at the edge."""
    rng = np.random.default_rng(0)
    positive = rng.random(60_000) < 0.002
    scores = rng.normal(size=60_000) + 3.0 * positive
    found = measures.calibration(Detail(scores, positive, scores > 3, 3.0))
    assert found.floor <= 1e-4 and (found.positives == 0).any()
    drawing = evaluation_figures.calibration_on_log_axes(found)
    texts = re.findall(r">([^<>]+ %)</text>", drawing)
    assert {"0.01 %", "0.1 %", "1 %", "10 %", "100 %"} <= set(texts)


@pytest.mark.parametrize("learner", [KOIL(gamma=20.0, random_state=0), MultiKernelKOIL(random_state=0)])
def test_the_page_has_every_part(learner):
    stream = four_clusters(60, 240, random_state=3)
    history = History(Evaluation(learner), KeptRows())
    for start in range(0, 300, 100):
        times = 1.7e9 + 3600.0 * (np.arange(100.0) + start)
        history.step(stream.X[start : start + 100], stream.y[start : start + 100], times)
        history.note()
    close = Detail.of(history)
    assert close.n == 300 and close.times[-1] == 1.7e9 + 3600.0 * 299
    assert [moment.n for moment in close.moments] == [100, 200, 300]
    assert (close.moments[0].weights is None) == isinstance(learner, KOIL)
    result = StreamResult("s", "", [Run("it", history.evaluation)], detail=close)
    html = report_as_html(Report("T", [], Grid(["a"], []), [result]))
    assert html.count("<svg") == 13
    headings = re.findall(r"<h[34]>([^<:]*)", html)
    assert headings == [
        "Over the stream",
        "Where to decide",
        "Scores",
        "Columns that matter",
        "Rows to look at",
        "Worst misses",
        "Best catches",
        "Worst false alarms",
        "The model",
    ]
    for words in ("alerts per day", "calibration", "ROC", "positives per window", "AUROC was 0.", "x0=", "2023-11-"):
        assert words in html
    assert html.count("<table") == 9
    names = re.findall(r' id="([^"]+)"', html)
    assert len(names) == len(set(names))


def panels_of(found):
    windows = measures.over_windows(found)
    drawn = evaluation_figures.over_the_stream, evaluation_figures.decisions_over_the_stream
    return [panel for draw in drawn for panel in draw(found, windows)]


def test_axes_over_the_stream_show_dates_or_rows():
    dated = detail(times=1.7e9 + np.arange(900) * 3600.0)
    for panel in panels_of(dated):
        assert "2023-Dec" in panel and ">rows<" not in panel
    for panel in panels_of(detail()):
        assert ">rows<" in panel and "2023" not in panel
    for panel in panels_of(detail(times=np.arange(900) * 3600.0)):
        assert ">days since the start<" in panel


def test_nothing_is_covered_by_a_legend():
    """What colours mean stands in the page, beside the drawings."""
    html = "".join(in_detail(detail(times=1.7e9 + np.arange(900) * 3600.0)))
    assert "legend" not in html
    assert html.count('<ul class="keys">') == 5
    for colour in re.findall(r": (#[0-9a-f]{6})", html):
        raise AssertionError(f"{colour} is no variable of the page, which dark screens could change")
    assert "currentColor" in html and "var(--colour-1, #" in html


def test_a_run_of_one_class_is_drawn_too():
    for positive in (np.zeros(30, dtype=bool), np.ones(30, dtype=bool)):
        alone = Detail(np.zeros(30), positive, np.zeros(30, dtype=bool), 0.0)
        assert "".join(in_detail(alone)).count("<svg") >= 8


def test_long_streams_make_small_pages():
    rng = np.random.default_rng(0)
    positive = rng.random(200_000) < 0.01
    scores = rng.normal(size=200_000) + positive
    long = Detail(scores, positive, scores > 2, 2.0, 1.7e9 + np.arange(200_000) * 600.0)
    assert len("".join(in_detail(long))) < 400_000
