"""From the settings of a model to learners: checked when it is made, and the same whenever it is made again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
import numpy as np

from lopsided.alerts import AlertBudget
from lopsided.constraints import ParameterError
from lopsided.encoding import Schema
from lopsided.estimators.by_name import DEFAULT_THRESHOLD, learner_class, made_learner, set_threshold
from lopsided.labels import LabelMap, map_of_classes
from lopsided.late import Unlabelled
from lopsided.serve.messages import ChallengerSettings, Decision, ModelSettings

ID_MEMORY = 32 << 20
MOST_PARKED = 100_000
FIRST_EVENTS = 200  # so many tell what the columns are, if nobody said so
_OWN_PARAMETERS = {"pos_label", "random_state", "shuffle", "threshold", "learners"}


@dataclass(frozen=True)
class Limits:
    """What is kept of each model: events for so many `seconds`, at most so many `bytes` of data (None: any number).

    `id_memory` are bytes of memory by which ids are told that no event has. At most `parked` labels wait for events
    that have not come.
    """

    seconds: float | None = None
    bytes: int | None = None
    id_memory: int = ID_MEMORY
    parked: int = MOST_PARKED


def checked(settings: ModelSettings) -> ModelSettings:
    """The same settings, if a model can be made of them; a sentence says why not."""
    labels_of(settings)
    patience_of(settings)
    checked_decision(settings.decision)
    if settings.keys and settings.time is msgspec.UNSET:
        raise ParameterError("The setting 'keys' must come with 'time', the column that says when. Got no 'time'.")
    if settings.selective and not settings.exploration:
        raise ParameterError(
            "The setting 'exploration' must be above 0 where labels are selective, or nobody will ever know what the "
            "alerts miss. Got 0."
        )
    checked_learner(ChallengerSettings(settings.learner, settings.parameters))
    if settings.schema != "infer":
        built(settings, settings, Schema.from_json(settings.schema))
    return settings


def checked_learner(chosen: ChallengerSettings) -> ChallengerSettings:
    """The same learner, if there is one of this name with these parameters."""
    kind = learner_class(chosen.learner, asked_by="The setting 'learner'", online=True)
    taken = sorted(_OWN_PARAMETERS & chosen.parameters.keys())
    if taken:
        raise ParameterError(f"The setting 'parameters' must not hold {taken[0]!r}, which has a setting of its own.")
    try:
        made_learner(chosen.learner, chosen.parameters).check_parameters()
    except TypeError:
        names = ", ".join(sorted(set(kind().get_params(deep=False)) - _OWN_PARAMETERS))
        got = ", ".join(map(repr, chosen.parameters))
        raise ParameterError(f"The setting 'parameters' must be among {names}. Got {got}.") from None
    return chosen


def checked_decision(decision: Decision) -> Decision:
    """The same rule, if it is one."""
    has_threshold, has_alerts = decision.threshold is not msgspec.UNSET, decision.alerts is not msgspec.UNSET
    if has_threshold and has_alerts:
        raise ParameterError("The setting 'decision' must hold 'threshold' or 'alerts', not both.")
    if decision.per is not msgspec.UNSET and not has_alerts:
        raise ParameterError("The setting 'per' must come with 'alerts'. Got none.")
    budget_of(decision)
    made_learner("auto", {"threshold": threshold_rule_of(decision)}).check_parameters()
    return decision


def labels_of(settings: ModelSettings) -> LabelMap:
    """The two labels, and which one is positive: 1, True or the larger one, unless it is said."""
    positive = None if settings.positive is msgspec.UNSET else settings.positive
    return map_of_classes(settings.labels, positive)


def sign_of(labels: LabelMap, label: Any) -> int:
    """+1 or -1; a third label is refused with a sentence."""
    if isinstance(label, bool) or not isinstance(label, int | float | str):
        label = bool(label)
    sign = labels.sign_of.get(label)
    if sign is None:
        raise ParameterError(f"A label must be one of {labels.classes.tolist()}. Got {label!r}.")
    return int(sign)


def label_of(labels: LabelMap, sign: int) -> Any:
    """The label of a sign."""
    return labels.positive if sign > 0 else labels.negative


def patience_of(settings: ModelSettings) -> tuple[float, bool]:
    """Seconds after which an event without a label is given up, and whether it then counts as negative."""
    rule = Unlabelled.parse(settings.unlabelled, what="The setting 'unlabelled'")
    if rule.after is None or not rule.after.is_in_time:
        raise ParameterError(
            f"The setting 'unlabelled' must say after how long: negative:30d or drop:90d. Got {settings.unlabelled!r}."
        )
    return rule.after.seconds, rule.outcome == "negative"


def threshold_rule_of(decision: Decision) -> str | float:
    """The rule of the learner."""
    return DEFAULT_THRESHOLD if decision.threshold is msgspec.UNSET else decision.threshold


def budget_of(decision: Decision) -> AlertBudget | None:
    """The budget of alerts, if there is one."""
    if decision.alerts is msgspec.UNSET:
        return None
    key = None if decision.per is msgspec.UNSET else decision.per
    return AlertBudget.parse(decision.alerts, key=key, what="The setting 'alerts'")


def found_schema(settings: ModelSettings, rows: list[dict[str, Any]]) -> Schema:
    """What the first events show of the columns."""
    model = _pipeline(settings, None, made_learner("auto", {}))
    schema: Schema = model.find_schema(rows).schema_
    return schema


def built(settings: ModelSettings, chosen: ModelSettings | ChallengerSettings, schema: Schema) -> Any:
    """A model that has not begun: the learner behind an encoder and, if there are keys, their history."""
    labels = labels_of(settings)
    learner = made_learner(
        chosen.learner, dict(chosen.parameters), pos_label=labels.positive, random_state=settings.random_state
    )
    model = _pipeline(settings, schema, learner)
    set_threshold(model, threshold_rule_of(settings.decision))
    return model


def _pipeline(settings: ModelSettings, schema: Schema | None, learner: Any) -> Any:
    from lopsided import HistoryPipeline, KeyedHistory, TablePipeline

    if not settings.keys:
        return TablePipeline(schema, learner=learner)
    value = None if settings.value is msgspec.UNSET else settings.value
    history = KeyedHistory(keys=list(settings.keys), time=settings.time, value=value, pos_label=None)
    return HistoryPipeline(schema, history, learner=learner)


def moment_of(given: float | str) -> float:
    """Seconds since 1970 of a number or a date; a date without a zone is UTC."""
    if isinstance(given, str):
        try:
            moment = datetime.fromisoformat(given)
        except ValueError:
            raise ParameterError(
                f"A time must be seconds since 1970 or a date such as 2026-03-31T12:00:00. Got {given!r}."
            ) from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not abs(given) <= 1e11:  # neither NaN, nor infinity, nor an integer of a thousand digits
        raise ParameterError(f"A time must be seconds since 1970, below 1e11. Got {given!r}.")
    return float(given)


def day_of(moment: float) -> int:
    """The number of a day (UTC)."""
    return math.floor(moment / 86400.0)


def date_of(day: int) -> str:
    """A day as a date."""
    return str(np.datetime64(day, "D"))
