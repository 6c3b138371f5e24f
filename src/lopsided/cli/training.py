"""A model on its way through a feed, and all that its file must hold to go on as if it had never stopped."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import click
import numpy as np

from lopsided.cli.alerting import ATTACHED as ALERTS
from lopsided.cli.alerting import Alerting
from lopsided.estimators.state.files import Attachment, save_model
from lopsided.feeds import Feed, Portion
from lopsided.late import Delay, LateLearner
from lopsided.metrics import AUPRC, AUROC

# The names of what is attached to a model.
FEED, LATE, MEASURES = "feed", "late", "measures"


class Training:
    """Learns portions, measures them, and saves the model with its place in the feed.

    The file holds the bookmarks of the sources, the rows that wait for their labels, and what the measures have
    counted: model and position are of one moment, because they are written together.

    Parameters
    ----------
    model, feed, delay : what learns, what from, and how much later labels are known.
    target : the file.
    options : what the model was built by, to be compared with what a later command says.
    attached : what the file of a model that goes on holds; {} for a new one.
    every_rows, every_seconds : when to save on the way.
    alerting : an alert budget that watches the rows, and is saved with the model for `lopsided score`.
    """

    def __init__(
        self,
        model: Any,
        feed: Feed,
        delay: Delay,
        *,
        target: str,
        options: Mapping[str, Any],
        attached: Mapping[str, Attachment],
        every_rows: int,
        every_seconds: float,
        alerting: Alerting | None = None,
    ) -> None:
        assert feed.labels is not None
        self.model, self.feed, self.target, self.options = model, feed, target, dict(options)
        self.late = LateLearner(model, delay=delay, unlabelled="skip", classes=feed.labels.classes)
        self.roc, self.precision_recall = AUROC(), AUPRC(interpolation="step")
        self.positives = 0
        self.alerting, self.n_alerts, self.n_hits = alerting, 0, 0
        self.n_measured = 0  # rows that the areas are about, those of earlier runs too
        self._every_rows, self._every_seconds = every_rows, every_seconds
        self._rows_unsaved, self._saved_at = 0, time.monotonic()
        self._learned: Portion | None = None  # the last one: rows that were only read are not in the model
        self._keeps_waiting = bool(delay) or LATE in attached
        if LATE in attached:
            self.late.restore(attached[LATE])
        if MEASURES in attached:
            self.n_measured = int(attached[MEASURES].description["rows"])
            for metric in (self.roc, self.precision_recall):
                metric.restore(attached[MEASURES].arrays)

    @property
    def n_waiting(self) -> int:
        """Rows whose labels are not known yet."""
        return self.late.counts.waiting

    def step(self, rows: Portion) -> int:
        """Score rows, and learn those whose label is known by then; returns how many came."""
        scores = self.late.progressive_scores(rows.X, rows.y, times=rows.times)
        judged = ~np.isnan(rows.signs)
        is_positive = rows.signs[judged] > 0
        self.roc.update_many(is_positive, scores[judged])
        self.precision_recall.update_many(is_positive, scores[judged])
        self.positives += int(is_positive.sum())
        if self.alerting is not None:
            flagged = self.alerting.decide(rows, scores)
            self.n_alerts += int(flagged.sum())
            self.n_hits += int((flagged[judged] & is_positive).sum())
        self.n_measured += is_positive.size
        self._rows_unsaved += scores.size
        self._learned = rows
        return scores.size

    def checkpoint(self) -> None:
        """Save if it is time to: after so many rows or seconds."""
        is_due = self._rows_unsaved >= self._every_rows or time.monotonic() - self._saved_at >= self._every_seconds
        if is_due and self._rows_unsaved:
            self.save()

    def save(self) -> bool:
        """Write the file; False if there is no model yet, because no label is known."""
        if not self.model.started_:
            return False
        save_model(self.model, self.target, self._attachments())
        self._rows_unsaved, self._saved_at = 0, time.monotonic()
        return True

    def finish(self) -> None:
        """The stream has ended: the labels of all rows that wait have come in at last."""
        self.late.finish()
        self._learned = None

    def _attachments(self) -> dict[str, Attachment]:
        attached = {
            FEED: _place_in(self.feed, self.options, self._learned),
            # Both areas count the same: they differ in what they make of it.
            MEASURES: Attachment({"rows": self.n_measured}, self.roc.state()),
        }
        if self.alerting is not None:
            attached[ALERTS] = self.alerting.attachment()
        if self._keeps_waiting:
            attached[LATE] = self.late.state()
        return attached


def save_with_place(model: Any, target: str, feed: Feed, learned: Portion | None) -> None:
    """Write a model that has learned a feed up to a portion, or all: whoever resumes it does not learn it again."""
    save_model(model, target, {FEED: _place_in(feed, {}, learned)})


def _place_in(feed: Feed, options: Mapping[str, Any], learned: Portion | None) -> Attachment:
    return Attachment({"bookmarks": feed.bookmarks(learned).to_json(), "options": dict(options)}, {})


def held_options(names: tuple[str, ...]) -> dict[str, Any]:
    """The options of the present command by which its model is built, as JSON has them."""
    values = click.get_current_context().params
    return {name: list(values[name]) if isinstance(values[name], tuple) else values[name] for name in names}
