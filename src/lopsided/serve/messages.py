"""What requests and answers look like: types that msgspec checks, and that the OpenAPI document is made of."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

Id = Annotated[str, Meta(min_length=1, max_length=200, description="Your name of the event, unique in the model.")]
Moment = Annotated[
    float | str, Meta(description="Seconds since 1970, or a date such as 2026-03-31T12:00:00+00:00 (UTC if not said).")
]
Label = bool | int | float | str
Cell = bool | int | float | Annotated[str, Meta(max_length=10_000)] | None


class Event(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Something to be scored: columns by name. Without an id one is given, without a time it happens now."""

    columns: dict[str, Cell]
    id: Id | UnsetType = UNSET
    time: Moment | UnsetType = UNSET
    label: Annotated[Label, Meta(description="If it is known already: learned after scoring.")] | UnsetType = UNSET


class EventAnswer(Struct, omit_defaults=True):
    """What the model says of an event. `alert` asks for an investigation; so does `explore`, drawn at random."""

    id: str
    score: float
    probability: float | None
    decision: Label
    alert: bool
    version: Annotated[int, Meta(description="The entry of the log up to which the answering model had learned.")]
    sequence: Annotated[int, Meta(description="The entry of the log that holds the event.")]
    explore: bool = False
    duplicate: Annotated[bool, Meta(description="The id was known: this is what was answered then.")] = False


class EventAnswers(Struct):
    """Answers in the order of the events."""

    answers: list[EventAnswer]


class LabelGiven(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What an event turned out to be. `correct` says that an earlier label was wrong."""

    id: Id
    label: Label
    time: Moment | UnsetType = UNSET
    correct: bool = False


Outcome = Literal["learned", "corrected", "duplicate", "conflict", "parked", "too late", "not selected", "refused"]


class LabelOutcome(Struct):
    """What became of a label. One that was refused had no event, and too many others wait for theirs."""

    id: str
    outcome: Outcome
    sequence: int | None = None


class LabelOutcomes(Struct):
    """What became of each label, in order."""

    outcomes: list[LabelOutcome]


class Decision(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """When an event is an alert: by a threshold rule, or the best so many of each day."""

    threshold: (
        Annotated[float | str, Meta(description='"f1", "gmean", "rate:0.01", "zero", or a score.')] | UnsetType
    ) = UNSET
    alerts: Annotated[str, Meta(description='A budget such as "100/day" or "10/hour".')] | UnsetType = UNSET
    per: Annotated[str, Meta(description="A column: one alert a period for each of its values.")] | UnsetType = UNSET


class ModelSettings(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """How a model is made. Nothing is needed but the two labels, and they only if they are not 0 and 1."""

    learner: str = "auto"
    parameters: dict[str, Any] = {}
    labels: Annotated[list[Label], Meta(min_length=2, max_length=2)] = msgspec.field(default_factory=lambda: [0, 1])
    positive: Label | UnsetType = UNSET
    schema: Annotated[
        Literal["infer"] | dict[str, Any],
        Meta(description='"infer": found in the first events. Or a schema as JSON.'),
    ] = "infer"
    keys: Annotated[list[str], Meta(description="Columns that say who: their history becomes features.")] = []
    time: Annotated[str, Meta(description="The column that says when; needed with keys.")] | UnsetType = UNSET
    value: Annotated[str, Meta(description="The column of amounts, for the history and for money.")] | UnsetType = UNSET
    decision: Decision = msgspec.field(default_factory=Decision)
    unlabelled: Annotated[
        str, Meta(description='"negative:30d" learns what has no label by then as negative, "drop:90d" forgets it.')
    ] = "drop:90d"
    selective: Annotated[bool, Meta(description="Labels are known for alerts and explored events only.")] = False
    exploration: Annotated[
        float, Meta(ge=0, le=1, description="Share of the other events that are chosen at random to be labelled too.")
    ] = 0.0
    random_state: int = 0


class ChallengerSettings(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A learner that scores and learns everything and answers nothing."""

    learner: str = "auto"
    parameters: dict[str, Any] = {}


class VersionName(Struct, forbid_unknown_fields=True):
    """The name of a version of a model."""

    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]


class Done(Struct):
    """A change of a model, as an entry of its log."""

    model: str
    sequence: int


class Measures(Struct):
    """Quality over the latest labels, by the scores that were answered; intervals are 95 %."""

    labels: int
    positives: int
    auroc: float | None
    auroc_interval: list[float] | None
    average_precision: float | None
    average_precision_interval: list[float] | None
    alert_precision: float | None
    alert_precision_interval: list[float] | None
    share_known: Annotated[float | None, Meta(description="Labelled events in all that came, of the same stretch.")]


class LineState(Struct):
    """One learner: the champion, which answers, or the challenger, which only watches."""

    learner: str
    rows: int
    positives: int
    measures: Measures


class LabelDelay(Struct):
    """How long after their events labels came, in seconds, over the latest labels that somebody gave."""

    labels: int
    median: float
    p90: Annotated[float, Meta(description="Nine of ten labels came within this time.")]


class Pace(Struct):
    """How much came in the last ten seconds, and how long the latest answers took, in seconds."""

    events_per_second: float
    labels_per_second: float
    answer_median: float | None
    answer_p99: float | None
    write: Annotated[float, Meta(description="How long the latest group took to be on disk.")]


class DriftFound(Struct):
    """A change of the stream, in words, and since when (seconds since 1970)."""

    what: str
    since: float


class DriftState(Struct):
    """An alarm over columns and scores that compares whole days: it can tell when it has seen enough of them."""

    series: list[str]
    days: int
    days_needed: int
    found: Annotated[list[DriftFound], Meta(description="The latest changes, the oldest first.")]


class Storage(Struct):
    """The data of a model: its log with everything that is looked up there, and the files of event ids."""

    bytes: int
    limit: Annotated[int | None, Meta(description="How many bytes they should have at most; null: any number.")]
    removed: Annotated[int, Meta(description="Events that are no longer kept, for their age or for the limit.")]


class Version(Struct):
    """A version that can be gone back to."""

    name: str
    sequence: int


class ModelState(Struct):
    """What a model is and how it is doing."""

    name: str
    sequence: Annotated[int, Meta(description="The latest entry of the log.")]
    learned: Annotated[int, Meta(description="The entry up to which has been learned.")]
    published: Annotated[int, Meta(description="The entry up to which the answering copy had learned.")]
    settings: ModelSettings
    negative: Label
    positive: Label
    schema: list[str] | None
    clock: Annotated[float | None, Meta(description="The time of the latest events, in seconds since 1970.")]
    day: Annotated[str | None, Meta(description="The day of the latest events (UTC).")]
    status: Annotated[Literal["waiting", "compiling", "live"], Meta(description="What the champion is doing.")]
    events: int
    alerts: int
    waiting: int
    labels: int
    parked: Annotated[int, Meta(description="Labels that wait for events that have not come.")]
    expired: int
    threshold: float | None
    delay: LabelDelay | None
    pace: Pace
    drift: DriftState | None
    storage: Storage
    champion: LineState
    challenger: LineState | None
    versions: list[Version]
    notes: list[str]
    refused: Annotated[int, Meta(description="Labels that found no room to wait, since the service was started.")] = 0


class Models(Struct):
    """All models."""

    models: list[str]


Band = Annotated[list[float] | None, Meta(description="A measure and the ends of its 95 % interval.")]


class PastMeasures(Struct):
    """The measures of one learner at a moment; a list is a value, or a value and its interval."""

    auroc: Band
    average_precision: Band
    alert_precision: Band


class PastPoint(Struct):
    """How the learners were doing at a moment of the stream."""

    clock: Annotated[float, Meta(description="The time of the latest events then, in seconds since 1970.")]
    labels: int
    champion: PastMeasures
    challenger: PastMeasures | None


class History(Struct):
    """How the measures went, also before the service was started anew: at most 300 points, the oldest first."""

    points: list[PastPoint]


class Scores(Struct):
    """How many of the latest events got which scores, by what they turned out to be; the ends hold all beyond."""

    edges: list[float]
    positive: list[int]
    negative: list[int]
    unknown: Annotated[list[int], Meta(description="Of the latest events, those without a label.")]
    threshold: float | None


class Day(Struct):
    """A day of the stream (UTC). What is not known, because the service was killed that day, is null."""

    day: str
    events: int | None
    mean_score: float | None
    alerts: int
    labelled_alerts: int
    positive_alerts: int


class Days(Struct):
    """The latest days, the oldest first."""

    days: list[Day]


class Alert(Struct):
    """An event that was to be looked at, and what it turned out to be."""

    id: str
    time: float
    score: float
    probability: float | None
    explore: bool
    columns: dict[str, Any]
    label: Label | None
    value: float | None = None


class Alerts(Struct):
    """Alerts of a day (UTC), the latest first."""

    day: str
    alerts: list[Alert]


class Waiting(Struct):
    """Events that wait for their labels, the oldest first."""

    waiting: int
    oldest: list[EventAnswer]


class Reason(Struct):
    """A part of a score."""

    what: str
    amount: float


class EventState(Struct):
    """An event by its id: what came, what was answered, what is known since."""

    answer: EventAnswer
    time: float
    columns: dict[str, Any]
    label: Label | None
    reasons: list[Reason]


class Problem(Struct):
    """Why a request was refused, in a sentence."""

    error: str
