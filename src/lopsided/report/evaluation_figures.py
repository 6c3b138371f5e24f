"""Drawings of one run in detail; the style and the way to the page are those of `lopsided.report.figures`."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.report import measures
from lopsided.report.contents import Detail
from lopsided.report.figures import _COMMON as COMMON
from lopsided.report.figures import _INK as INK
from lopsided.report.figures import _RARE as RARE
from lopsided.report.figures import _WIDTH as WIDTH
from lopsided.report.figures import as_markup, drawing_style, empty_figure

_BINS_OF_SCORES = 40


def _drawn(salt: str, height: float, columns: int, draw: Any) -> str:
    with drawing_style():
        figure = empty_figure(WIDTH, height)
        axes = figure.subplots(1, columns)
        draw(np.atleast_1d(axes))
        for one in np.atleast_1d(axes):
            one.grid(True)
        return as_markup(figure, salt=salt)


def over_the_stream(detail: Detail) -> str:
    """AUROC, average precision and F1 over all rows so far, and over windows."""
    whole, windows = measures.over_all_rows(detail), measures.over_windows(detail)

    def draw(axes: Any) -> None:
        panels = (("AUROC", "auroc"), ("average precision", "average_precision"), ("F1", "f1"))
        for one, (title, name) in zip(axes, panels, strict=True):
            one.plot(windows.n, getattr(windows, name), color=COMMON, lw=1.0, label="window")
            one.plot(whole.n, getattr(whole, name), color=RARE, lw=1.8, label="all rows so far")
            one.set(title=title, xlabel="rows", xlim=(0, detail.n), ylim=(0, 1.02))
        axes[0].legend(loc="lower right")

    return _drawn("over the stream", 3.2, 3, draw)


def roc_and_precision(detail: Detail) -> str:
    """The two curves over all places where the decision could lie."""
    false_alarms, recall, precision = measures.curves(detail)
    called = detail.called
    hits = int((called & detail.positive).sum())

    def draw(axes: Any) -> None:
        roc, pr = axes
        roc.plot([0, *false_alarms], [0, *recall], color=RARE, lw=1.8)
        roc.plot([0, 1], [0, 1], color=INK, alpha=0.5, lw=0.9, ls=(0, (4, 3)))
        roc.set(title="ROC", xlabel="false alarm rate", ylabel="recall", xlim=(0, 1), ylim=(0, 1.02))
        pr.plot(recall, precision, color=RARE, lw=1.8)
        pr.axhline(float(detail.positive.mean()), color=INK, alpha=0.5, lw=0.9, ls=(0, (4, 3)))
        pr.set(title="precision and recall", xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02))
        if called.any() and detail.positive.any():
            point = hits / int(detail.positive.sum()), hits / int(called.sum())
            pr.plot(*point, marker="o", color=COMMON, ls="", label="as decided at the time")
            pr.legend(loc="upper right")

    return _drawn("roc and precision", 3.6, 2, draw)


def scores_and_calibration(detail: Detail) -> str:
    """Scores by class, and forecasts against what happened."""
    # Wide enough for both classes, however rare one is; what lies beyond is drawn at the edge.
    classes = [detail.scores[chosen] for chosen in (detail.positive, ~detail.positive) if chosen.any()]
    ranges = [np.quantile(scores, [0.005, 0.995]) for scores in classes]
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    edges = np.linspace(low, high if high > low else low + 1.0, _BINS_OF_SCORES + 1)
    found = measures.calibration(detail)

    def draw(axes: Any) -> None:
        histogram, reliability = axes
        for chosen, colour, name in ((~detail.positive, COMMON, "other"), (detail.positive, RARE, "rare")):
            if chosen.any():
                counts, _ = np.histogram(np.clip(detail.scores[chosen], edges[0], edges[-1]), edges)
                histogram.stairs(counts / chosen.sum(), edges, color=colour, fill=True, alpha=0.45, label=name)
        histogram.axvline(detail.threshold, color=INK, lw=1.0, ls=(0, (2, 2)), label="decision at the end")
        histogram.set(title="scores by class", xlabel="score", ylabel="share of the class")
        histogram.legend(loc="upper left")
        reliability.plot([0, 1], [0, 1], color=INK, alpha=0.5, lw=0.9, ls=(0, (4, 3)))
        if found is not None:
            reliability.plot(found[0], found[1], color=RARE, marker="o", lw=1.4)
            top = float(max(found[0].max(), found[1].max(), 1e-3)) * 1.05
            reliability.set(xlim=(0, top), ylim=(0, top))
        reliability.set(title="calibration", xlabel="predicted probability", ylabel="observed share of positives")

    return _drawn("scores and calibration", 3.6, 2, draw)


def alerts_and_recall(detail: Detail) -> str:
    """How many rows must be looked at to catch how many of the rare ones."""
    found = measures.alerts(detail)

    def draw(axes: Any) -> None:
        (one,) = axes
        one.plot(found.rate, found.recall, color=RARE, lw=1.8, label="recall: share of positives caught")
        one.plot(
            found.rate, found.precision, color=COMMON, lw=1.2, label="precision: share of alerts that are positive"
        )
        one.set(title=f"alerts {found.unit}", xlabel=f"alerts {found.unit}", xscale="log", ylim=(0, 1.02))
        one.legend(loc="upper center")

    return _drawn("alerts", 3.2, 1, draw)


def model_over_time(detail: Detail) -> str:
    """The use of the budget or the weights of kernels, and the speed."""

    def draw(axes: Any) -> None:
        made_of, speed = axes
        weights = [moment.weights for moment in detail.moments]
        n = [moment.n for moment in detail.moments]
        if all(weight is not None for weight in weights):
            for values in np.array(weights).T:
                made_of.plot(n, values, lw=1.2, marker="o" if len(n) == 1 else None)
            made_of.set(title="weights of kernels or experts", xlabel="rows", ylim=(0, None))
        elif all(moment.n_support is None for moment in detail.moments):
            made_of.text(0.5, 0.5, "this learner keeps no examples", ha="center", transform=made_of.transAxes)
            made_of.set(title="support vectors", xticks=[], yticks=[])
        else:
            support = [np.nan if moment.n_support is None else moment.n_support for moment in detail.moments]
            made_of.plot(n, support, color=RARE, lw=1.8, marker="o" if len(n) == 1 else None)
            made_of.set(title="support vectors", xlabel="rows", ylim=(0, None))
        at, rows_a_second = rates(detail)
        speed.plot(at, rows_a_second, color=COMMON, lw=1.4, marker="o" if len(at) == 1 else None)
        speed.set(title="rows scored and learned per second", xlabel="rows", ylim=(0, None))

    return _drawn("model over time", 3.0, 2, draw)


def rates(detail: Detail) -> tuple[Any, Any]:
    """Speed between two records, without reading and judging."""
    n = np.array([0, *(moment.n for moment in detail.moments)], dtype=np.float64)
    seconds = np.array([0.0, *(moment.seconds for moment in detail.moments)])
    with np.errstate(divide="ignore", invalid="ignore"):
        return n[1:], np.diff(n) / np.diff(seconds)
