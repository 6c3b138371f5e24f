"""The sections of a report on one run: what is drawn, the words around it, and the tables behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lopsided.drift import Alarm
from lopsided.evaluate import KeptRow
from lopsided.report import budgets, drift, measures, page
from lopsided.report import evaluation_figures as figures
from lopsided.report.contents import Detail, Grid
from lopsided.report.page import Key

_ROWS_OF_A_TABLE = 8
_MOST_CELLS = 40
_AREAS = (
    "AUROC is the share of pairs of a positive and a negative row that are ranked rightly, average precision the "
    "precision among the rows ranked first, averaged over all positives."
)


def in_detail(detail: Detail) -> list[str]:
    """All sections, those that an answer may hang on first."""
    judged, periods = drift.verdict(detail), budgets.periods_of(detail)
    found = budgets.budgets_of(detail, periods)
    return [
        *_in_short(detail, judged, budgets.sentence(budgets.typical_budget(found), periods)),
        *_over_the_stream(detail, judged),
        *_where_to_decide(detail, periods, found),
        *_scores(detail),
        *_columns(detail),
        *_rows_to_look_at(detail),
        *_model(detail),
    ]


def _in_short(detail: Detail, judged: drift.Verdict, on_alerts: str) -> list[str]:
    said = [on_alerts, judged.sentence]
    if detail.columns is not None:
        names = [loss.name for loss in detail.columns.losses if loss.loss > 2.0 * loss.spread + 0.001][:3]
        said += [f"What the final model ranks by most: {', '.join(names)}."] if names else []
    return [page.paragraph(sentence, verdict=True) for sentence in said]


def _over_the_stream(detail: Detail, judged: drift.Verdict) -> list[str]:
    windows, width = measures.over_windows(detail), measures.window_of(detail)
    parts = [page.heading("Over the stream", level=3)]
    if detail.clock.note:
        parts.append(page.paragraph(detail.clock.note, quiet=True))
    return [
        *parts,
        page.table(_thirds(detail, judged.thirds)),
        *_alarms(detail, judged.alarms),
        page.figure(
            figures.over_the_stream(detail, windows),
            f"Each row is scored by the model that has not seen it, and then learned. A window is {width:,} rows, and "
            "ends where it is drawn; it shows drift that all rows together average away. Bands are 95 % intervals: for "
            "AUROC Newcombe's (from Hanley and McNeil's variance), for average precision a bootstrap of the positives, "
            f"five at least. {_AREAS}",
            [
                Key(1, "all rows so far"),
                Key(2, "window"),
                Key(2, "its 95 % interval", "band"),
                Key(0, "chance", "dashed"),
            ],
        ),
        page.figure(
            figures.decisions_over_the_stream(detail, windows),
            "The decisions as they were made, over the same windows; bands are Wilson's 95 % intervals of a share. How "
            "many positives the windows have is what all of these figures hang on.",
            [Key(1, "recall, and positives"), Key(2, "precision")],
        ),
        page.table(_windows(detail, windows)),
    ]


def _where_to_decide(detail: Detail, periods: budgets.Periods, found: list[budgets.Budget]) -> list[str]:
    name = periods.name
    typical = budgets.typical_budget(found)
    panels = [figures.alerts_and_recall(detail)]
    keys = [Key(1, "recall"), Key(2, "precision")]
    caption = "Recall and precision if one threshold for the whole stream, chosen in hindsight, flags this many rows "
    caption += f"per {name} on average."
    if typical is not None:
        panels.append(figures.caught_by_period(detail, periods, typical))
        keys = [Key(1, "recall, and positives caught"), Key(2, "precision, and all positives")]
        caption += f" Bars: the positives of each {name}, and how many are among its {typical.alerts:,} highest scores."
    parts = [
        page.heading("Where to decide", level=3),
        page.figure(panels, caption, keys),
    ]
    if found:
        parts += [
            page.table(_budgets(found, periods, int(detail.positive.sum()))),
            page.paragraph(
                f"To flag so many rows per {name} on average, flag scores above the threshold. The best of each {name} "
                "are what a team would have seen that reviews the highest scores of each and nothing else. All in "
                "hindsight, with Wilson's 95 % intervals; scores of a model that goes on learning move, so that a "
                "threshold should follow them.",
                quiet=True,
            ),
        ]
    return [
        *parts,
        page.figure(
            figures.roc_and_precision(detail),
            "Recall against false alarms, and precision against recall.",
            [Key(1, "all thresholds"), Key(2, "as decided at the time", "dot"), Key(0, "chance", "dashed")],
        ),
    ]


def _scores(detail: Detail) -> list[str]:
    reliability = measures.calibration(detail)
    panels = [figures.score_histogram(detail)]
    caption = "Scores by class: what lies beyond the edges is drawn at them. "
    keys = [Key(1, "positive"), Key(2, "negative"), Key(0, "decision at the end, and as predicted", "dashed")]
    if reliability is None:
        caption = "Scores by class: what lies beyond the edges is drawn at them. There are too few positives to judge "
        caption += "probabilities."
    else:
        panels.append(figures.calibration_on_log_axes(reliability))
        caption += "Calibration: a curve from scores to probabilities, fitted on the first half of the stream, against "
        caption += f"what happened in the second, in {reliability.rows.size} groups of equal size, with Wilson's "
        caption += (
            "95 % intervals. A triangle is a group without a positive; what is below the axis is drawn at its edge."
        )
    parts = [page.heading("Scores", level=3), page.figure(panels, caption, keys)]
    return parts if reliability is None else [*parts, page.table(_groups(reliability))]


def _columns(detail: Detail) -> list[str]:
    found = detail.columns
    if found is None or not found.losses:
        return []
    words = (
        f"How much the AUROC of the final model falls when a column holds the values of other rows, drawn at random: "
        f"the mean of {found.repeats} draws, and a line as wide as they differ. Measured on the latest "
        f"{found.n_positives:,} positive and {found.n_negatives:,} negative rows, which the model has learned, where "
        f"its AUROC is {found.auroc:.3f}. Columns that say the same share what they are worth: each alone may look "
        "idle."
    )
    if len(found.losses) < found.n_columns:
        words += f" Only the {len(found.losses)} of {found.n_columns:,} columns that are filled most are measured."
    return [
        page.heading("Columns that matter", level=3),
        page.figure([figures.columns_that_matter(detail)], words),
    ]


def _rows_to_look_at(detail: Detail) -> list[str]:
    kept = detail.kept
    if kept is None or not (kept.misses or kept.false_alarms):
        return []
    ranked = {} if detail.columns is None else {loss.name: q for q, loss in enumerate(detail.columns.losses)}
    parts = [
        page.heading("Rows to look at", level=3),
        page.paragraph(
            "Scores are those given before the row was learned. Rows are counted from 1, bad ones left out; columns "
            "that matter most come first.",
            quiet=True,
        ),
    ]
    for title, rows in (
        ("Worst misses: positives with the lowest scores", kept.misses),
        ("Best catches: positives with the highest scores", kept.catches),
        ("Worst false alarms: negatives with the highest scores", kept.false_alarms),
    ):
        parts += [page.heading(title, level=4), page.table(_kept(detail, rows, ranked))] if rows else []
    return parts


def _model(detail: Detail) -> list[str]:
    if not detail.moments:
        return []
    return [
        page.heading("The model", level=3),
        page.figure(figures.model_over_time(detail), "What the model was made of, and how fast it worked."),
        page.table(_moments(detail)),
    ]


def _thinned(size: int) -> list[int]:
    """Some places of many, the last included."""
    step = max(1, -(-size // _ROWS_OF_A_TABLE))
    return sorted({*range(step - 1, size, step), size - 1})


def _alarms(detail: Detail, alarms: Sequence[Alarm]) -> list[str]:
    """What drifted, in the order in which it was noticed."""
    if not alarms:
        return []
    rows = [
        [
            f"{alarm.series} {alarm.what}".rstrip(),
            detail.clock.in_words(min(alarm.since_row + 1, detail.n)),
            detail.clock.in_words(min(alarm.row, detail.n)),
            f"{100 * alarm.before:.1f} %",
            f"{100 * alarm.after:.1f} %",
        ]
        for alarm in sorted(alarms, key=lambda alarm: alarm.row)[:_ROWS_OF_A_TABLE]
    ]
    return [page.table(Grid(["drift of", "since", "noticed", "before", "then"], rows, first_number=3))]


def _thirds(detail: Detail, thirds: Sequence[drift.Third]) -> Grid:
    rows = [
        (
            name,
            detail.clock.in_words(third.stop),
            f"{third.stop - third.start:,}",
            f"{third.positives:,}",
            drift.share_row(third),
            _figure(third.auroc),
            _figure(third.average_precision),
            f"{third.median:.3g}",
        )
        for name, third in zip(("first", "middle", "last"), thirds, strict=True)
    ]
    headings = ["third", "until", "rows", "positives", "share of positives", "AUROC", "average precision"]
    return Grid([*headings, "median score"], rows, first_number=2)


def _windows(detail: Detail, windows: measures.Over) -> Grid:
    bands = windows.bands()
    rows = [
        (
            detail.clock.in_words(windows.n[q]),
            f"{windows.positives[q]:,.0f}",
            _with_interval(windows.auroc[q], bands["auroc"], q),
            _with_interval(windows.average_precision[q], bands["average_precision"], q),
            _figure(windows.f1[q]),
        )
        for q in _thinned(len(windows.n))
    ]
    return Grid(["window up to", "positives", "AUROC", "average precision", "F1"], rows)


def _budgets(found: Sequence[budgets.Budget], periods: budgets.Periods, positives: int) -> Grid:
    rows = []
    for budget in found:
        best = budget.best
        flagged, caught = float(best.flagged.sum()), float(best.caught.sum())
        rows.append(
            (
                f"{budget.alerts:,}",
                f"{budget.threshold:.5g}",
                budgets.share_in_words(budget.caught, budget.flagged),
                budgets.share_in_words(budget.caught, positives),
                f"{caught:,.0f} of {flagged:,.0f}",
                budgets.share_in_words(caught, flagged),
                budgets.share_in_words(caught, float(best.positives.sum())),
            )
        )
    best_of = f"best of each {periods.name}"
    return Grid(
        [
            f"alerts per {periods.name}",
            "threshold",
            "precision",
            "recall",
            f"{best_of}: positives of alerts",
            f"{best_of}: precision",
            f"{best_of}: recall",
        ],
        rows,
        first_number=0,
    )


def _groups(found: measures.Calibration) -> Grid:
    rows = [
        (f"{100 * forecast:.3g} %", budgets.share_in_words(positives, n), f"{positives:,.0f}", f"{n:,.0f}")
        for forecast, positives, n in zip(*found, strict=True)
    ]
    return Grid(["predicted", "observed", "positives", "rows"], rows, first_number=0)


def _kept(detail: Detail, rows: Sequence[KeptRow], ranked: Mapping[str, int]) -> Grid:
    has_time, has_id = any(row.time is not None for row in rows), any(row.id is not None for row in rows)
    headings = ["row", *["time"] * has_time, *["id"] * has_id, "score", "columns"]
    cells = [
        [
            f"{row.number:,}",
            *[detail.clock.moment_in_words(row.time)] * has_time,
            *["-" if row.id is None else str(row.id)] * has_id,
            f"{row.score:.4g}",
            _in_words(row.cells, ranked),
        ]
        for row in rows
    ]
    return Grid(headings, cells, first_number=0, first_long=len(headings) - 1)


def _in_words(cells: Mapping[str, Any], ranked: Mapping[str, int]) -> str:
    """The columns of a row, those that matter first."""
    names = sorted(cells, key=lambda name: ranked.get(name, len(ranked)))
    words = [f"{name}={_cell(cells[name])}" for name in names[:_MOST_CELLS]]
    return ", ".join([*words, *["..."] * (len(names) > _MOST_CELLS)])


def _cell(value: Any) -> str:
    if value is None:
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _moments(detail: Detail) -> Grid:
    at, rates = figures.rates(detail)
    rows = []
    for q in _thinned(len(detail.moments)):
        moment = detail.moments[q]
        support = "-" if moment.n_support is None else f"{moment.n_support:,}"
        weights = "-" if moment.weights is None else ", ".join(f"{weight:.2f}" for weight in moment.weights)
        rows.append((f"{at[q]:,.0f}", support, weights, f"{rates[q]:,.0f}"))
    return Grid(["rows", "support vectors", "weights", "rows per second"], rows, first_number=0)


def _with_interval(value: float, band: tuple[Any, Any], place: int) -> str:
    if np.isnan(value) or np.isnan(band[0][place]):
        return _figure(value)
    return f"{value:.3f} ({band[0][place]:.2f} to {band[1][place]:.2f})"


def _figure(value: float) -> str:
    return "-" if value != value else f"{value:.3f}"
