"""Alert budgets as commands have them: out of options, over the portions of a feed, judged at the end."""

from __future__ import annotations

import math
from typing import Any

import click
import numpy as np

from lopsided.alerts import AlertBudget, AlertFigures, AlertReport, AlertShare, best_of_each_period, judged_alerts
from lopsided.cli.feed import Feed
from lopsided.cli.learners import parsed_value
from lopsided.constraints import ParameterError
from lopsided.estimators.base.answering import share_of
from lopsided.estimators.state.files import Attachment
from lopsided.feeds import Portion
from lopsided.plain_values import plain_value
from lopsided.streams.cells import NUMBER, TEXT

ATTACHED = "alerts"
_BUDGET = "budget:"
_MOST_SHOWN = 14  # periods
_ROW = "{:<16}  {:>8}  {:>9}  {:>6}  {:>9}  {:>6}"


def rule_and_budget(
    threshold: str | None,
    alerts: str | None = None,
    key: str | None = None,
    value: str | None = None,
    keys: tuple[str, ...] = (),
) -> tuple[str | float | None, AlertBudget | None]:
    """What --threshold is for a learner, and the budget that it or --alerts asks for."""
    is_budget = threshold is not None and threshold.startswith(_BUDGET)
    if alerts is not None and threshold is not None and not (is_budget and threshold == _BUDGET + alerts):
        raise ParameterError(
            f"The options --alerts and --threshold must not both be given, got {alerts!r} and {threshold!r}."
        )
    budget = None
    if alerts is not None:
        budget = AlertBudget.parse(alerts, key=key, what="The option --alerts")
    elif threshold is not None and is_budget:
        what = "The budget of --threshold"
        budget = AlertBudget.parse(threshold.removeprefix(_BUDGET), key=key, what=what)
    if key is not None and budget is None:
        raise ParameterError(f"The option --per must come with --alerts, such as 100/day, got {key!r} alone.")
    if value is not None and budget is None and not keys:
        raise ParameterError(
            f"The option --value must come with --alerts, such as 100/day, or --key, got {value!r} alone."
        )
    return (None if threshold is None or is_budget else parsed_value(threshold)), budget


def check_has_time(budget: AlertBudget, feed: Feed) -> None:
    """Days are of no use without times."""
    if feed.schema is None or feed.schema.time is None:
        raise ParameterError(
            f"An alert budget must know when rows happened, by a column that --time names, got {budget} without it."
        )


class Alerting:
    """A budget that decides on the rows of a feed, and what it has decided.

    The feed is told which columns it must hold besides those that are learned from.
    """

    def __init__(self, budget: AlertBudget, feed: Feed, value: str | None = None) -> None:
        check_has_time(budget, feed)
        self.budget, self.value = budget, value
        if budget.key is not None:
            feed.also_read(budget.key, TEXT)
        if value is not None:
            feed.also_read(value, NUMBER)
        self._kept: list[tuple[Any, ...]] = []
        self._is_first = True

    def decide(self, portion: Portion, scores: Any) -> Any:
        """Which rows are alerts, as they come."""
        if self._is_first and (portion.times < self.budget.clock).any():
            self.budget.start_over()  # a model that looks at older rows than it has learned
        self._is_first = False
        keys = None if self.budget.key is None else portion.column(self.budget.key)
        return self.budget.decide(portion.times, scores, keys)

    def keep(self, portion: Portion, scores: Any, flagged: Any) -> None:
        """Remember rows with labels, to be judged by `report`."""
        keys = None if self.budget.key is None else _as_list(portion.column(self.budget.key))
        values = np.zeros(portion.n_rows)
        if self.value is not None:
            values = portion.column(self.value)
            if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
                raise ParameterError(f"The column of --value must hold numbers, got others in {self.value!r}.")
        judged = ~np.isnan(portion.signs)
        columns = [part[judged] for part in (portion.times, scores, flagged, portion.signs > 0, values)]
        self._kept.append((*columns, None if keys is None else [keys[row] for row in np.flatnonzero(judged)]))

    def reports(self) -> tuple[AlertReport, AlertReport]:
        """What the alerts have caught, and what the best of each period would have."""
        times, scores, flagged, positive, values = (
            np.concatenate([part[place] for part in self._kept]) for place in range(5)
        )
        keys = None if self.budget.key is None else [key for part in self._kept for key in part[5]]
        period, worth = self.budget.period, values if self.value is not None else None
        best = best_of_each_period(times, scores, self.budget.limit, period, keys)
        return (
            judged_alerts(times, flagged, positive, period, keys=keys, values=worth),
            judged_alerts(times, best, positive, period, keys=keys, values=worth),
        )

    def note_late_rows(self, feed: Feed) -> None:
        """Rows that came after their period was over have no say."""
        if self.budget.n_late:
            feed.note(
                f"{self.budget.n_late:,} rows belong to a {self.budget.period.name} that was over when they came, "
                "and could not be alerts: sort the rows by time"
            )

    def attachment(self) -> Attachment:
        """All that its next decision depends on, for the file of a model."""
        return Attachment(self.budget.to_json(), self.budget.state())


def _as_list(column: Any) -> list[Any]:
    values: list[Any] = column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
    return values


def restored_budget(attached: dict[str, Attachment]) -> AlertBudget | None:
    """The budget that the file of a model holds."""
    kept = attached.get(ATTACHED)
    return None if kept is None else AlertBudget.restored(kept.description, kept.arrays)


def share_to_keep(model: Any) -> AlertShare | None:
    """What decides on rows as they come if the rule of a model is a share of alerts; None if it is another."""
    share = share_of(model.threshold_rule_)
    if share is None:
        return None
    return AlertShare(share, model.recent_scores_ if model.started_ else None)


def figures_as_json(budget: AlertBudget, online: AlertReport, best: AlertReport) -> dict[str, Any]:
    """The figures of an evaluation, for its JSON."""
    return {
        "budget": str(budget),
        "per": budget.key,
        **_as_json(online.overall),
        "hindsight": _as_json(best.overall),
        "periods": [{"period": figures.name, **_as_json(figures)} for figures in online.periods],
    }


def _as_json(figures: AlertFigures) -> dict[str, Any]:
    named = {
        "rows": figures.rows,
        "cases": figures.cases,
        "alerts": figures.alerts,
        "hits": figures.hits,
        "precision": figures.precision,
        "recall": figures.recall,
        "value": figures.value,
        "caught_value": figures.caught_value,
    }
    return {name: plain_value(value) for name, value in named.items()}


def print_alerts(budget: AlertBudget, online: AlertReport, best: AlertReport) -> None:
    """What the alerts have caught, each period a line, and in all."""
    has_values = not math.isnan(online.overall.value)
    whose = f", at most one for each {budget.key}" if budget.key is not None else ""
    click.echo(f"\nalerts within {budget}{whose}, decided as rows came:")
    heading = _ROW.format(budget.period.name, "rows", "positives", "alerts", "precision", "recall")
    click.echo(heading + ("  caught value" if has_values else ""))
    left_out = len(online.periods) - _MOST_SHOWN
    if left_out > 0:
        click.echo(f"... {left_out:,} before")
    for figures in [*online.periods[-_MOST_SHOWN:], online.overall]:
        click.echo(_line(figures, figures.name, has_values))
    click.echo(_line(best.overall, "in hindsight", has_values))


def _line(figures: AlertFigures, name: str, has_values: bool) -> str:
    from lopsided.cli.display import score

    counts = (f"{count:,}" for count in (figures.rows, figures.cases, figures.alerts))
    line = _ROW.format(name, *counts, score(figures.precision), score(figures.recall))
    return line + (f"  {figures.caught_value:,.0f} of {figures.value:,.0f}" if has_values else "")
