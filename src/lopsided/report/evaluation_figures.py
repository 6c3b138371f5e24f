"""Drawings of one run in detail, each panel a drawing of its own, so that a narrow page can stack them.

The style and the way to the page are those of `lopsided.report.figures`. What colours mean stands above the panels, in
the page: a legend inside of a drawing would cover something.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from lopsided.metrics.intervals import share_interval
from lopsided.report import measures
from lopsided.report.budgets import Budget, Periods, in_bars
from lopsided.report.clock import DATES
from lopsided.report.contents import Detail
from lopsided.report.figures import COLOURS, INK, as_markup, drawing_style, empty_figure

RARE, COMMON = COLOURS[0], COLOURS[1]
_WIDTH, _HEIGHT = 4.6, 2.9  # inches of a panel; the page stretches it
_BINS_OF_SCORES = 40
_BAND = 0.18
_FIRST_RECALL = 0.02  # precision before that is a matter of a few rows, and no reason for a long axis
_DASHED = (0, (4, 3))
_MOST_COLUMNS = 15
_LONGEST_NAME = 22

Draw = Callable[[Any], None]


def _panel(title: str, draw: Draw, height: float = _HEIGHT) -> str:
    with drawing_style():
        figure = empty_figure(_WIDTH, height)
        axes = figure.add_subplot()
        axes.grid(True)
        draw(axes)
        axes.set_title(title)
        return as_markup(figure, salt=title)


def _over_time(axes: Any, detail: Detail, x: Any) -> None:
    """The axis over the stream: dates where they are known."""
    axes.set_xlabel(detail.clock.label)
    if detail.clock.kind == DATES:
        locator: Any = AutoDateLocator(minticks=3, maxticks=6)  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    if len(x) > 1 and x[0] < x[-1]:
        axes.set_xlim(x[0], x[-1])


def over_the_stream(detail: Detail, windows: measures.Over) -> list[str]:
    """AUROC and average precision over all rows so far, and over windows with 95 % bands."""
    whole = measures.over_all_rows(detail)
    bands, share = windows.bands(), float(detail.positive.mean())

    def drawn(title: str, name: str, chance: float, lowest: float) -> str:
        def draw(axes: Any) -> None:
            low, high = bands[name]
            x = detail.clock.at(windows.n)
            _banded(axes, x, getattr(windows, name), low, high, COMMON)
            axes.plot(detail.clock.at(whole.n), getattr(whole, name), color=RARE, lw=1.8)
            axes.axhline(chance, color=INK, alpha=0.5, lw=0.9, ls=_DASHED)
            _over_time(axes, detail, detail.clock.at(np.array([1, detail.n])))
            highest = np.nanmax([*high, *getattr(windows, name), *getattr(whole, name), 2.0 * chance, 0.01])
            axes.set_ylim(np.nanmin([*low, lowest]), min(1.02, 1.1 * highest))

        return _panel(title, draw)

    return [
        drawn("AUROC", "auroc", 0.5, 0.5),
        drawn("average precision", "average_precision", share, 0.0),
    ]


def _banded(axes: Any, x: Any, values: Any, low: Any, high: Any, colour: str) -> None:
    axes.fill_between(x, low, high, color=colour, alpha=_BAND, lw=0)
    axes.plot(x, values, color=colour, lw=1.2, marker="o" if len(x) == 1 else None, ms=4)


def decisions_over_the_stream(detail: Detail, windows: measures.Over) -> list[str]:
    """Precision and recall as decided at the time, and how many positives the windows have."""
    bands = windows.bands()
    x = detail.clock.at(windows.n)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = {"recall": windows.hits / windows.positives, "precision": windows.hits / windows.called}

    def decided(axes: Any) -> None:
        for name, colour in (("recall", RARE), ("precision", COMMON)):
            _banded(axes, x, shares[name], *bands[name], colour)
        _over_time(axes, detail, detail.clock.at(np.array([1, detail.n])))
        axes.set_ylim(0, 1.02)

    def counted(axes: Any) -> None:
        axes.fill_between(x, 0.0, windows.positives, color=RARE, alpha=0.35, lw=0)
        axes.plot(x, windows.positives, color=RARE, lw=1.2, marker="o" if len(x) == 1 else None, ms=4)
        _over_time(axes, detail, detail.clock.at(np.array([1, detail.n])))
        axes.set_ylim(0, None)
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))

    return [_panel("decisions at the time", decided), _panel("positives per window", counted)]


def roc_and_precision(detail: Detail) -> list[str]:
    """The two curves over all places where the decision could lie."""
    false_alarms, recall, precision = measures.curves(detail)
    called, positives = detail.called, int(detail.positive.sum())
    hits, alarms = int((called & detail.positive).sum()), int((called & ~detail.positive).sum())

    def roc(axes: Any) -> None:
        axes.plot([0, *false_alarms], [0, *recall], color=RARE, lw=1.8)
        axes.plot([0, 1], [0, 1], color=INK, alpha=0.5, lw=0.9, ls=_DASHED)
        if called.any() and 0 < positives < detail.n:
            axes.plot(alarms / (detail.n - positives), hits / positives, marker="o", color=COMMON, ls="")
        axes.set(xlabel="false alarm rate", ylabel="recall", xlim=(0, 1), ylim=(0, 1.02))

    def tradeoff(axes: Any) -> None:
        share = float(detail.positive.mean())
        axes.plot(recall, precision, color=RARE, lw=1.8)
        axes.axhline(share, color=INK, alpha=0.5, lw=0.9, ls=_DASHED)
        reached = [0.01, 2.0 * share, *precision[recall >= _FIRST_RECALL]]
        if called.any() and positives:
            reached.append(hits / int(called.sum()))
            axes.plot(hits / positives, reached[-1], marker="o", color=COMMON, ls="")
        axes.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, min(1.02, 1.1 * max(reached))))

    return [_panel("ROC", roc), _panel("precision and recall", tradeoff)]


def score_histogram(detail: Detail) -> str:
    """Scores by class."""
    # Wide enough for both classes, however rare one is; what lies beyond is drawn at the edge.
    classes = [detail.scores[chosen] for chosen in (detail.positive, ~detail.positive) if chosen.any()]
    ranges = [np.quantile(scores, [0.005, 0.995]) for scores in classes]
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    edges = np.linspace(low, high if high > low else low + 1.0, _BINS_OF_SCORES + 1)

    def draw(axes: Any) -> None:
        for chosen, colour in ((~detail.positive, COMMON), (detail.positive, RARE)):
            if chosen.any():
                counts, _ = np.histogram(np.clip(detail.scores[chosen], edges[0], edges[-1]), edges)
                axes.stairs(counts / chosen.sum(), edges, color=colour, fill=True, alpha=0.45)
        axes.axvline(detail.threshold, color=INK, lw=1.0, ls=(0, (2, 2)))
        axes.set(xlabel="score", ylabel="share of the class")

    return _panel("scores by class", draw)


def _percent(value: float, _: Any = None) -> str:
    return f"{100 * value:.10g} %"


def calibration_on_log_axes(found: measures.Calibration) -> str:
    """Forecasts against what happened, both on logarithmic axes, with 95 % intervals."""
    low, high = share_interval(found.positives, found.rows)
    floor = found.floor
    forecast, share = np.maximum(found.forecast, floor), found.positives / found.rows

    def draw(axes: Any) -> None:
        axes.plot([floor, 1], [floor, 1], color=INK, alpha=0.5, lw=0.9, ls=_DASHED)
        axes.vlines(forecast, np.maximum(low, floor), high, color=RARE, lw=1.2, alpha=0.7)
        some = share > 0
        axes.plot(forecast[some], share[some], color=RARE, marker="o", ms=4, ls="")
        axes.plot(forecast[~some], np.full((~some).sum(), floor), color=RARE, marker="v", ms=5, ls="", clip_on=False)
        axes.set(xscale="log", yscale="log", xlabel="predicted probability", ylabel="observed share")
        axes.set(xlim=(floor, 1.0), ylim=(floor, 1.0))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(numticks=8))
            axis.set_major_formatter(FuncFormatter(_percent))
            axis.set_minor_formatter(NullFormatter())

    return _panel("calibration", draw)


def alerts_and_recall(detail: Detail) -> str:
    """How many rows must be looked at to catch how many of the rare ones."""
    found = measures.alerts(detail)

    def draw(axes: Any) -> None:
        axes.plot(found.rate, found.recall, color=RARE, lw=1.8)
        axes.plot(found.rate, found.precision, color=COMMON, lw=1.2)
        axes.set(xlabel=f"alerts {found.unit}", xscale="log", ylim=(0, 1.02))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())

    return _panel("one threshold", draw)


def caught_by_period(detail: Detail, periods: Periods, budget: Budget) -> str:
    """The positives of each period, and those among the best rows of it."""
    firsts, caught, positives = in_bars(budget.best, periods)
    together = int(firsts[1] - firsts[0]) if firsts.size > 1 else 1
    if periods.starts is None:
        x: Any = firsts * 1000.0
        width: Any = 800.0 * together
    else:
        begin = periods.starts[firsts]
        step = float(np.diff(begin).min()) if firsts.size > 1 else 1.0
        x = detail.clock.as_axis(begin)
        width = 0.8 * detail.clock.width(step)

    def draw(axes: Any) -> None:
        axes.bar(x, positives, width=width, align="edge", color=COMMON, alpha=0.45)
        axes.bar(x, caught, width=width, align="edge", color=RARE)
        _over_time(axes, detail, ())
        axes.set_ylim(0, None)
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))

    pieces = f"{together} {periods.name}s" if together > 1 else periods.name
    return _panel(f"the best {budget.alerts:,} of each {periods.name}, by {pieces}", draw)


def columns_that_matter(detail: Detail) -> str:
    """The loss of AUROC without each column, the largest on top."""
    assert detail.columns is not None
    shown = detail.columns.losses[:_MOST_COLUMNS]

    def draw(axes: Any) -> None:
        places = np.arange(len(shown))[::-1]
        axes.barh(places, [loss.loss for loss in shown], color=RARE, alpha=0.75, height=0.65)
        axes.hlines(
            places,
            [loss.loss - loss.spread for loss in shown],
            [loss.loss + loss.spread for loss in shown],
            color=INK,
            lw=1.0,
        )
        axes.set_yticks(places, [_short(loss.name) for loss in shown])
        axes.tick_params(axis="y", length=0)
        axes.grid(False, axis="y")
        axes.axvline(0.0, color=INK, lw=0.6)

    return _panel("loss of AUROC without the column", draw, height=1.1 + 0.24 * len(shown))


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 3] + "..."


def model_over_time(detail: Detail) -> list[str]:
    """The use of the budget or the weights of kernels, and the speed."""
    x = detail.clock.at(np.array([moment.n for moment in detail.moments]))
    marker = "o" if len(x) == 1 else None

    def made_of_weights(axes: Any) -> None:
        for values, colour in zip(
            np.array([moment.weights for moment in detail.moments]).T, cycle(COLOURS), strict=False
        ):
            axes.plot(x, values, lw=1.2, marker=marker, color=colour)
        _over_time(axes, detail, x)
        axes.set_ylim(0, None)

    def made_of_vectors(axes: Any) -> None:
        support = [np.nan if moment.n_support is None else moment.n_support for moment in detail.moments]
        axes.plot(x, support, color=RARE, lw=1.8, marker=marker)
        _over_time(axes, detail, x)
        axes.set_ylim(0, None)

    def speed(axes: Any) -> None:
        axes.plot(x, rates(detail)[1], color=COMMON, lw=1.4, marker=marker)
        _over_time(axes, detail, x)
        axes.set_ylim(0, None)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))

    panels = []
    if all(moment.weights is not None for moment in detail.moments):
        panels.append(_panel("weights of kernels or experts", made_of_weights))
    elif any(moment.n_support is not None for moment in detail.moments):
        panels.append(_panel("support vectors", made_of_vectors))
    return [*panels, _panel("rows scored and learned per second", speed)]


def rates(detail: Detail) -> tuple[Any, Any]:
    """Speed between two records, without reading and judging."""
    n = np.array([0, *(moment.n for moment in detail.moments)], dtype=np.float64)
    seconds = np.array([0.0, *(moment.seconds for moment in detail.moments)])
    with np.errstate(divide="ignore", invalid="ignore"):
        return n[1:], np.diff(n) / np.diff(seconds)
