"""How labels come, as the options say: when, by which file, for which rows, and what becomes of rows without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lopsided.cli.feed import Feed, tell
from lopsided.constraints import ParameterError
from lopsided.feeds import BadRows, LabelFile, LabelsToCome, read_labels
from lopsided.feeds.label_files import LabelForm
from lopsided.late import Counts, Delay, LateLearner, SelectiveLabels, Unlabelled
from lopsided.streams import Spellings
from lopsided.streams.bookmarks import Bookmarks
from lopsided.streams.topics import is_topic

# Where labels stand in options that `Reading` does not know.
_NAMES = ("label_files", "label_time", "corrections", "labels_for", "explore", "weight_cap")


@dataclass(frozen=True)
class LateOptions:
    """What the options say of labels; `of` takes their values out of those of a command."""

    delay: Delay
    unlabelled: Unlabelled | None
    label_files: tuple[str, ...] = ()
    label_time: str | None = None
    corrections: str | None = None
    labels_for: str = "all"
    explore: float | None = None
    weight_cap: float | None = None
    goes_on_by_id: bool = False  # a model whose rows wait for labels by identifier, whether or not new ones are told

    @classmethod
    def of(
        cls,
        delay: Delay,
        unlabelled: Unlabelled | None,
        options: dict[str, Any],
        known: Mapping[str, Any] | None = None,
        *,
        goes_on_by_id: bool = False,
        can_follow: bool = False,
    ) -> LateOptions:
        """Checked against each other, before any file is looked at.

        `known` are the options of a model that goes on, which hold for whatever is not said again. `can_follow` says
        that the command takes labels of a topic as they come.
        """
        given = {name: options.pop(name) for name in _NAMES if name in options}
        for name, value in (known or {}).items():
            if name == "unlabelled" and unlabelled is None and value is not None:
                unlabelled = Unlabelled.parse(value)
            elif name in given and name != "label_files" and given[name] in (None, "all"):
                given[name] = value
        found = cls(delay, unlabelled, **given, goes_on_by_id=goes_on_by_id)
        said = dict(known or {}) | {name: value for name, value in options.items() if value is not None}
        found.check(said.get("id_column"), said.get("time_column"))
        if found.label_files and options.get("follow") and not (can_follow and all(map(is_topic, found.label_files))):
            rule = "must name topics if it comes with --follow" if can_follow else "must come without --follow"
            raise ParameterError(f"The option --labels {rule}: labels of files are read once. Got both.")
        if found.label_files and options.get("follow") and found.labels_for == "alerts":
            raise ParameterError(
                "The option --labels-for alerts must come without --follow and --labels: it replays what nobody looked "
                "at, and labels that come are those of what somebody did. Got all of them."
            )
        return found

    def check(self, id_column: str | None, time_column: str | None) -> None:
        """Refuse what makes no sense together."""
        if self.label_files and id_column is None:
            raise ParameterError(
                "The option --labels must come with --id, the column of identifiers in both files, got no --id."
            )
        for option, value in (("--label-time", self.label_time), ("--corrections", self.corrections)):
            if value is not None and not self.by_id:
                raise ParameterError(f"The option {option} must come with --labels, got {value!r} alone.")
        if self.label_time is not None and self.delay:
            raise ParameterError(
                "The options --label-time and --delay must not both be given: a label is known at its own time. "
                f"Got {self.label_time!r} and {self.delay}."
            )
        if self.label_time is not None and time_column is None:
            raise ParameterError(
                "The option --label-time must come with --time, which says when the rows came, "
                f"got {self.label_time!r} alone."
            )
        for option, number in (("--explore", self.explore), ("--weight-cap", self.weight_cap)):
            if number is not None and self.labels_for != "alerts":
                raise ParameterError(f"The option {option} must come with --labels-for alerts, got {number:g} alone.")

    @property
    def by_id(self) -> bool:
        """Whether labels stand in files of their own."""
        return bool(self.label_files) or self.goes_on_by_id

    @property
    def is_late(self) -> bool:
        """Whether rows wait for anything."""
        return bool(self.delay) or self.by_id or (self.unlabelled is not None and self.unlabelled.outcome != "skip")

    @property
    def rules(self) -> dict[str, Any]:
        """Parameters of a `LateLearner`. With labels by identifier rows wait for them; else a blank label is one."""
        return {
            "delay": self.delay,
            "unlabelled": self.unlabelled or Unlabelled("drop" if self.by_id else "skip"),
            "corrections": (self.corrections or "learn") if self.by_id else "ignore",
        }

    def read(
        self, options: Mapping[str, Any], spellings: Spellings | None = None, before: Mapping[str, Any] | None = None
    ) -> LabelFile | None:
        """The labels of the files, if labels come by identifier; says what was left out.

        A model that goes on knows their `spellings`; `before` is what it keeps of files read before.
        """
        if not self.by_id:
            return None
        if not self.label_files:
            assert spellings is not None and before is not None
            form = LabelForm.from_json(before, options["id_column"], spellings)
            return form.none(Bookmarks.from_json(before["bookmarks"]))
        with BadRows(options["on_error"], options.get("quarantine"), tell) as bad:
            found = read_labels(
                self.label_files,
                id=options["id_column"],
                label=options.get("label"),
                time=self.label_time,
                positive=options.get("positive"),
                spellings=spellings,
                before=before,
                follow=bool(options.get("follow")),
                idle=options.get("idle"),
                bad=bad,
            )
        tell_left_out(found)
        return found

    def to_come(self, options: Mapping[str, Any], told: LabelFile | None) -> LabelsToCome | None:
        """The labels of topics that are followed."""
        if told is None or not self.label_files or not options.get("follow"):
            return None
        return LabelsToCome(self.label_files, told, BadRows(options["on_error"], options.get("quarantine"), tell))

    def selection(self, seed: int, *, has_budget: bool) -> SelectiveLabels | None:
        """Whose labels are seen, if not all are."""
        if self.labels_for == "all":
            return None
        if not has_budget and not self.explore:
            raise ParameterError(
                "The option --labels-for alerts must come with --alerts or --explore: a threshold flags nothing before "
                "the first labels, and without alerts there are none. Got neither."
            )
        cap = {} if self.weight_cap is None else {"cap": self.weight_cap}
        chosen = SelectiveLabels(self.explore or 0.0, seed=seed, **cap)
        if chosen.explore and 1.0 / chosen.explore > chosen.cap:
            tell(
                f"note: labels of explored rows count {chosen.cap:g} when they are learned, not 1/{chosen.explore:g}; "
                "estimates count them in full; see --weight-cap"
            )
        elif not chosen.explore:
            tell("note: without --explore nothing is learned of rows that were no alerts, nor can it be estimated")
        return chosen


def check_times(late: LateOptions, feed: Feed) -> None:
    """A duration needs to know the time."""
    after = None if late.unlabelled is None else late.unlabelled.after
    for option, amount in (("--delay", late.delay), ("--unlabelled", after)):
        if amount is not None and amount.seconds and (feed.schema is None or feed.schema.time is None):
            raise ParameterError(
                f"The option {option} must be a number of rows unless --time names a column, got a duration."
            )


def tell_left_out(found: LabelFile) -> None:
    """Say how many labels could not be used."""
    if found.n_left_out:
        missing = "an identifier or a label" if found.form.timed is None else "an identifier, a label or a time"
        tell(f"note: {found.n_left_out:,} labels without {missing} were left out")


def tell_labels(late: LateLearner, told: LabelFile | None) -> None:
    """Let an engine know the labels of files."""
    if told is not None and told.ids:
        late.expect(told.ids, told.labels, told.times)


def counts_in_words(counts: Counts) -> str:
    """One line on what became of rows and labels."""
    parts = [f"{counts.learned:,} rows learned"]
    for number, words in (
        (counts.as_negatives, "of them as negative without a label"),
        (counts.waiting, "waiting"),
        (counts.duplicates, "labels repeated"),
        (counts.corrections, "corrected"),
        (counts.conflicts, "contradicted and ignored"),
        (counts.too_late, "too late"),
        (counts.expected, "for rows that have not come"),
    ):
        if number:
            parts.append(f"{number:,} {words}")
    return ", ".join(parts)
