"""What the service answers to: one table, of which the routes and the OpenAPI document are both made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lopsided.serve import messages as said
from lopsided.serve.web import changes, inference, questions, submissions
from lopsided.serve.web.door import ARROW, JSON, NDJSON

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Route:
    """A path, what comes in, what goes out, and the right that it takes (None: any token; "nobody": none)."""

    method: str
    path: str
    handler: Handler
    summary: str
    right: str | None = None
    takes: Any = None
    kinds: tuple[str, ...] = (JSON,)
    gives: Any = None
    statuses: dict[int, str] = field(default_factory=lambda: {200: "Done."})
    queries: dict[str, str] = field(default_factory=dict)
    has_key: bool = False  # whether an Idempotency-Key makes it safe to repeat


NOBODY = "nobody"
_MODEL = "/models/{name}"
_LABELS = {
    200: "Learned, or known already.",
    202: "No event has this id yet: the label waits for it.",
    409: "Another label has been learned.",
}

# They are looked through in order: what is asked most stands first.
ROUTES = (
    Route("POST", f"{_MODEL}/events", submissions.events, "Score one event or many; they wait for their labels.",
          "score", takes=said.Event | list[said.Event], kinds=(JSON, NDJSON, ARROW),
          gives=(said.EventAnswer, said.EventAnswers), statuses={200: "Scored, and on disk."}, has_key=True),
    Route("POST", f"{_MODEL}/labels", submissions.labels, "What one event or many turned out to be, by id.", "label",
          takes=said.LabelGiven | list[said.LabelGiven], kinds=(JSON, NDJSON),
          gives=(said.LabelOutcome, said.LabelOutcomes), statuses=_LABELS, has_key=True),
    Route("GET", "/healthz", questions.healthy, "Whether the process answers.", NOBODY),
    Route("GET", "/readyz", questions.ready, "Whether all models are open and can write.", NOBODY,
          statuses={200: "Ready.", 503: "Not yet, or a model cannot write."}),
    Route("GET", "/metrics", questions.metrics, "Counters and times for Prometheus."),
    Route("GET", "/models", questions.models, "All models.", gives=said.Models),
    Route("PUT", _MODEL, changes.make, "Make a model; once more with the same settings changes nothing.", "admin",
          takes=said.ModelSettings, gives=said.Done,
          statuses={200: "It was there.", 201: "Made.", 409: "It was made with other settings."}),
    Route("GET", _MODEL, questions.state, "What a model is and how it is doing.", gives=said.ModelState),
    Route("GET", f"{_MODEL}/events/{{id}}", questions.event, "An event by its id, and the reasons for its score.",
          gives=said.EventState),
    Route("GET", f"{_MODEL}/waiting", questions.waiting, "Events that wait for their labels.", gives=said.Waiting,
          queries={"limit": "How many of the oldest."}),
    Route("GET", f"{_MODEL}/alerts", questions.alerts, "Alerts of a day.", gives=said.Alerts,
          queries={"day": "A date (UTC), such as 2026-03-31; else that of the latest events.", "limit": "At most."}),
    Route("GET", f"{_MODEL}/history", questions.history, "How the measures went since the service started.",
          gives=said.History),
    Route("GET", f"{_MODEL}/scores", questions.scores, "How the latest scores lie, by class.", gives=said.Scores),
    Route("GET", f"{_MODEL}/days", questions.days, "The latest days: events, mean score, alerts and their outcomes.",
          gives=said.Days, queries={"limit": "How many days at most; 60 are the most."}),
    Route("GET", f"{_MODEL}/stream", questions.stream, "The state of the model every second (server-sent events)."),
    Route("PUT", f"{_MODEL}/decision", changes.decide, "Another rule for alerts, from now on.", "admin",
          takes=said.Decision, gives=said.Done),
    Route("PUT", f"{_MODEL}/challenger", changes.challenge, "A learner that watches and answers nothing.", "admin",
          takes=said.ChallengerSettings, gives=said.Done),
    Route("DELETE", f"{_MODEL}/challenger", changes.dismiss, "Let the challenger go.", "admin", gives=said.Done),
    Route("POST", f"{_MODEL}/promote", changes.promote, "Let the challenger answer from now on.", "admin",
          gives=said.Done),
    Route("POST", f"{_MODEL}/versions", changes.keep_version, "Give the champion as it is a name.", "admin",
          takes=said.VersionName, gives=said.Done),
    Route("POST", f"{_MODEL}/rollback", changes.roll_back, "Make the champion what it was at a version.", "admin",
          takes=said.VersionName, gives=said.Done),
    Route("GET", "/v2", inference.server, "Open Inference Protocol: the server.", gives=dict[str, Any]),
    Route("GET", "/v2/health/live", questions.healthy, "Open Inference Protocol: alive.", NOBODY),
    Route("GET", "/v2/health/ready", questions.ready, "Open Inference Protocol: ready.", NOBODY,
          statuses={200: "Ready.", 503: "Not yet."}),
    Route("GET", f"/v2{_MODEL}", inference.metadata, "Open Inference Protocol: inputs and outputs of a model.",
          gives=dict[str, Any]),
    Route("GET", f"/v2{_MODEL}/ready", inference.ready, "Open Inference Protocol: whether a model is ready."),
    Route("POST", f"/v2{_MODEL}/infer", inference.infer,
          "Open Inference Protocol: score rows. Nothing is written and nothing waits for a label.", "score",
          takes=inference.InferenceRequest, gives=dict[str, Any]),
)  # fmt: skip
