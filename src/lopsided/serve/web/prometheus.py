"""Counters and times for Prometheus: seconds, with the bucket bounds that OpenTelemetry recommends for HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from lopsided.serve.running import RunningModel

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)

_COUNTERS = {
    "events": ("Events that were scored.", lambda model: model.sequencer.n_events),
    "alerts": ("Events that were alerts.", lambda model: model.sequencer.n_alerts),
    "labels_learned": ("Labels that were learned.", lambda model: model.summary.learned),
    "labels_refused": (
        "Labels without an event for which there was no room to wait.",
        lambda model: model.sequencer.judge.n_refused,
    ),
    "expired": ("Events that no label came for.", lambda model: model.summary.expired),
}
_GAUGES = {
    "labels_parked": ("Labels whose event has not come.", lambda model: model.sequencer.judge.n_parked),
    "log_sequence": ("The latest entry of the log.", lambda model: model.written),
    "learned_sequence": ("The entry up to which has been learned.", lambda model: model.summary.position),
    "auroc": ("Area under the ROC curve over the latest labels.", lambda model: model.summary.champion.measures.auroc),
    "average_precision": (
        "Average precision over the latest labels.",
        lambda model: model.summary.champion.measures.average_precision,
    ),
    "write_seconds": ("How long the latest group took to be on disk.", lambda model: model.latency),
}


class Times:
    """How long requests take, by route."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Histogram(
            "http_server_request_duration_seconds",
            "How long requests took.",
            ("method", "route", "status"),
            buckets=_BOUNDS,
            registry=self.registry,
        )
        self._known: dict[tuple[str, str, int], Histogram] = {}

    def took(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request took so long."""
        own = self._known.get((method, route, status))
        if own is None:
            own = self._known[method, route, status] = self.requests.labels(method, route, str(status))
        own.observe(seconds)


class _Models:
    """What models count, as Prometheus collects it."""

    def __init__(self, models: Sequence[RunningModel]) -> None:
        self._models = models

    def collect(self) -> Iterator[Any]:
        """One family for each number."""
        tables: tuple[tuple[Any, dict[str, Any]], ...] = (CounterMetricFamily, _COUNTERS), (GaugeMetricFamily, _GAUGES)
        for kind, table in tables:
            for name, (words, number_of) in table.items():
                family = kind(f"lopsided_{name}", words, labels=["model"])
                for model in self._models:
                    value = number_of(model)
                    if value is not None:
                        family.add_metric([model.name], value)
                yield family


def exposition(times: Times, models: Sequence[RunningModel]) -> tuple[bytes, str]:
    """Everything as text, and its type."""
    own = CollectorRegistry()
    own.register(_Models(models))
    return generate_latest(times.registry) + generate_latest(own), CONTENT_TYPE_LATEST
