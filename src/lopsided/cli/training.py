"""A model on its way through a feed, and all that its file must hold to go on as if it had never stopped."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import click
import numpy as np

from lopsided.alerts import AlertShare
from lopsided.cli.alerting import ATTACHED as ALERTS
from lopsided.cli.alerting import Alerting, share_to_keep
from lopsided.cli.late_labels import LateOptions, tell_labels, tell_left_out
from lopsided.estimators.state.files import Attachment, save_model
from lopsided.feeds import Feed, LabelFile, LabelsToCome, Portion
from lopsided.late import LateLearner, SelectiveLabels, Unlabelled
from lopsided.metrics import AUPRC, AUROC

# The names of what is attached to a model.
FEED, LATE, MEASURES, LABELS, SELECTION, SHARE = "feed", "late", "measures", "labels", "selection", "share"


class Training:
    """Learns portions, measures them, and saves the model with its place in the feed.

    The file holds the bookmarks of the sources, the rows that wait for their labels, and what the measures have
    counted: model and position are of one moment, because they are written together.

    Parameters
    ----------
    model, feed, late : what learns, what from, and how labels come.
    told : labels of files of their own.
    selection : whose labels are seen, if not all are.
    target : the file.
    options : what the model was built by, to be compared with what a later command says.
    attached : what the file of a model that goes on holds; {} for a new one.
    every_rows, every_seconds : when to save on the way.
    alerting : an alert budget that watches the rows, and is saved with the model for `lopsided score`.
    to_come : labels of topics that are followed.
    """

    def __init__(
        self,
        model: Any,
        feed: Feed,
        late: LateOptions,
        told: LabelFile | None,
        selection: SelectiveLabels | None,
        *,
        target: str,
        options: Mapping[str, Any],
        attached: Mapping[str, Attachment],
        every_rows: int,
        every_seconds: float,
        alerting: Alerting | None = None,
        to_come: LabelsToCome | None = None,
    ) -> None:
        assert feed.labels is not None
        self.model, self.feed, self.target, self.options = model, feed, target, dict(options)
        by_threshold = selection is not None and alerting is None
        self._keeping = share_to_keep(model) if by_threshold else None  # which then looks at no threshold
        by_threshold &= self._keeping is None
        self.late = LateLearner(model, classes=feed.labels.classes, keep_thresholds=by_threshold, **late.rules)
        self.told, self.selection = told, selection
        self._to_come, self.n_heard = to_come, 0
        # Rows that may yet be learned wait on in the file.
        self._waits_on = late.by_id or (late.unlabelled is not None and late.unlabelled.after is not None)
        self.roc, self.precision_recall = AUROC(), AUPRC(interpolation="step")
        self.positives = 0
        self.alerting, self.n_alerts, self.n_hits = alerting, 0, 0
        self.n_measured = 0  # rows that the areas are about, those of earlier runs too
        self._every_rows, self._every_seconds = every_rows, every_seconds
        self._rows_unsaved, self._saved_at = 0, time.monotonic()
        self._learned: Portion | None = None  # the last one: rows that were only read are not in the model
        self._keeps_waiting = late.is_late or LATE in attached
        if LATE in attached:
            self.late.restore(attached[LATE])
        if selection is not None and SELECTION in attached:
            selection.restore(attached[SELECTION].description)
        if self._keeping is not None and SHARE in attached:
            self._keeping = AlertShare.restored(attached[SHARE].arrays)
        if MEASURES in attached:
            self.n_measured = int(attached[MEASURES].description["rows"])
            for metric in (self.roc, self.precision_recall):
                metric.restore(attached[MEASURES].arrays)
        if told is not None:
            self._take(told)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing but memory is held."""

    @property
    def n_waiting(self) -> int:
        """Rows whose labels are not known yet."""
        return self.late.counts.waiting

    def hear(self) -> None:
        """Learn from the labels that have come by now, and save if it is time to."""
        found = None if self._to_come is None else self._to_come.take()
        if found is None:
            return
        tell_left_out(found)
        self._take(found)
        self.told = found
        self.n_heard += len(found.ids)
        self._rows_unsaved += len(found.ids)
        self.checkpoint()

    def _take(self, told: LabelFile) -> None:
        """Labels become known: rows that wait for them are judged by the scores that they got when they came."""
        waiting = self.late.scores_in_waiting(told.ids)
        there = ~np.isnan(waiting)
        self._measure(told.signs[there] > 0, waiting[there])
        tell_labels(self.late, told)

    def step(self, rows: Portion) -> int:
        """Score rows, and learn those whose label is known by then; returns how many came."""
        self.hear()
        keys = None
        if self.told is not None:
            keys = rows.ids(str(self.feed.schema.id))  # type: ignore[union-attr]
            rows = replace(rows, y=self.late.told(keys))
        y, flags = rows.y if keys is None else None, []

        def choose(part: slice, scores: Any, thresholds: Any) -> Any:
            assert self.selection is not None
            flags.append(self._alerts(rows, part, scores, thresholds))
            return self.selection.for_learning(self.selection.choose(flags[-1]))

        chooses = None if self.selection is None else choose
        scores = self.late.progressive_scores(rows.X, y, times=rows.times, keys=keys, choose=chooses)
        judged = ~np.isnan(rows.signs)
        is_positive = rows.signs[judged] > 0
        self._measure(is_positive, scores[judged])
        if self.alerting is not None:
            flagged = np.concatenate(flags) if flags else self.alerting.decide(rows, scores)
            self.n_alerts += int(flagged.sum())
            self.n_hits += int((flagged[judged] & is_positive).sum())
        self._rows_unsaved += scores.size
        self._learned = rows
        return scores.size

    def _measure(self, is_positive: Any, scores: Any) -> None:
        self.roc.update_many(is_positive, scores)
        self.precision_recall.update_many(is_positive, scores)
        self.positives += int(is_positive.sum())
        self.n_measured += is_positive.size

    def _alerts(self, rows: Portion, part: slice, scores: Any, thresholds: Any) -> Any:
        if self.alerting is not None:
            return self.alerting.decide(rows.part(part.start, part.stop), scores)
        return scores > thresholds if self._keeping is None else self._keeping.decide(scores)

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
        self.feed.confirm(self._learned)
        self._rows_unsaved, self._saved_at = 0, time.monotonic()
        return True

    def finish(self) -> None:
        """The stream has ended: the labels of all rows that wait have come in at last, where there are any."""
        self.hear()
        self.late.learn_known() if self._waits_on else self.late.finish()
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
        if self.told is not None:
            attached[LABELS] = Attachment(self.told.to_json(), {})
        if self.selection is not None:
            attached[SELECTION] = Attachment(self.selection.state(), {})
        if self._keeping is not None:
            attached[SHARE] = Attachment({}, self._keeping.state())
        return attached


def save_with_place(model: Any, target: str, feed: Feed, learned: Portion | None) -> None:
    """Write a model that has learned a feed up to a portion, or all: whoever resumes it does not learn it again."""
    save_model(model, target, {FEED: _place_in(feed, {}, learned)})


def _place_in(feed: Feed, options: Mapping[str, Any], learned: Portion | None) -> Attachment:
    return Attachment({"bookmarks": feed.bookmarks(learned).to_json(), "options": dict(options)}, {})


def held_options(names: tuple[str, ...]) -> dict[str, Any]:
    """The options of the present command by which its model is built, as JSON has them."""
    values = click.get_current_context().params
    return {name: _plain(values[name]) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Unlabelled) else value
