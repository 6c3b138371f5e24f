"""One run from close: every number of the report against a slower way to it."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, precision_recall_curve, roc_auc_score, roc_curve

from lopsided import KOIL, MultiKernelKOIL
from lopsided.datasets import four_clusters
from lopsided.evaluate import Evaluation, History, Moment
from lopsided.report import evaluation_figures, measures
from lopsided.report.contents import Detail, Grid, Report, Run, StreamResult
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


def test_alerts_a_day_and_per_thousand_rows():
    found = measures.alerts(detail())
    order = np.argsort(-detail().scores, kind="stable")
    hits = detail().positive[order][: int(50 * 0.9)].sum()
    assert found.unit == "per 1,000 rows"
    recall, precision = found.at(50)
    assert (recall, precision) == (hits / detail().positive.sum(), hits / 45)
    assert found.at(1001) is None
    rows = measures.alert_table(found)
    assert rows[-1] == ("1,000", "100.0%", f"{detail().positive.mean():.1%}")
    assert ("50", f"{recall:.1%}", f"{precision:.1%}") in rows
    ten_days = measures.alerts(detail(times=np.linspace(0, 864_000, 900)))
    assert ten_days.unit == "per day"
    assert ten_days.at(10)[0] == detail().positive[order][:100].sum() / detail().positive.sum()
    sentence = measures.alert_sentence(ten_days)
    assert sentence.startswith("Review ") and " per day and catch " in sentence
    rate, caught = int(sentence.split()[1]), int(sentence.split()[-4].rstrip("%"))
    assert caught >= 80 and round(100 * ten_days.at(rate)[0]) == caught


def test_rows_of_the_same_score_are_caught_in_no_particular_order():
    """The rare rows come first in the stream, but nothing in their scores says so."""
    alike = Detail(np.zeros(1000), np.arange(1000) < 10, np.zeros(1000, dtype=bool), 0.0)
    recall, precision = measures.alerts(alike).at(10)
    assert (recall, precision) == (pytest.approx(0.01), pytest.approx(0.01))
    assert (
        measures.alert_sentence(measures.alerts(alike))
        == "Review 1,000 alerts per 1,000 rows and catch 100% of the positives."
    )
    rng, known = np.random.default_rng(0), detail()
    draws = []
    for _ in range(400):
        mixed = rng.permutation(known.n)
        order = mixed[np.argsort(-known.scores[mixed], kind="stable")]
        draws.append(known.positive[order][:45].sum() / known.positive.sum())
    assert measures.alerts(known).at(50)[0] == pytest.approx(np.mean(draws), abs=0.002)


def test_calibration_is_judged_on_rows_that_it_was_not_fitted_on():
    forecast, share, size = measures.calibration(detail(20_000))
    assert size.sum() == 10_000
    np.testing.assert_allclose(forecast, share, atol=0.06)
    turned = detail(20_000)
    turned.positive[10_000:] = ~turned.positive[10_000:]  # the second half is another world
    assert np.abs(np.subtract(*measures.calibration(turned)[:2])).max() > 0.3
    assert measures.calibration(detail(60)) is None


@pytest.mark.parametrize("learner", [KOIL(gamma=20.0, random_state=0), MultiKernelKOIL(random_state=0)])
def test_the_page_has_every_part(learner):
    stream = four_clusters(60, 240, random_state=3)
    history = History(Evaluation(learner))
    for start in range(0, 300, 100):
        history.step(stream.X[start : start + 100], stream.y[start : start + 100], np.arange(100.0) + start)
        history.note()
    close = Detail.of(history)
    assert close.n == 300 and close.times[-1] == 299 and [moment.n for moment in close.moments] == [100, 200, 300]
    assert (close.moments[0].weights is None) == isinstance(learner, KOIL)
    result = StreamResult("s", "", [Run("it", history.evaluation)], detail=close)
    html = report_as_html(Report("T", [], Grid(["a"], []), [result]))
    assert html.count("<svg") == 5
    for words in ("Over the stream", "Where to decide", "Scores", "The model", "alerts per day", "calibration", "ROC"):
        assert words in html
    assert html.count("<table") == 5


def test_a_run_of_one_class_is_drawn_too():
    alone = Detail(np.zeros(30), np.zeros(30, dtype=bool), np.zeros(30, dtype=bool), 0.0)
    for draw in ("over_the_stream", "roc_and_precision", "scores_and_calibration", "alerts_and_recall"):
        assert getattr(evaluation_figures, draw)(alone).startswith("<svg")
