"""What `lopsided serve --demo` shows: a stream of card payments, replayed fast, whose labels come days late.

The days are those of the stream. It begins with the last two weeks, in a hurry: of these the labels that are known by
today come at once, as whoever begins with such a service has them. Then it goes on at a steady pace, and labels come
when the clock of the stream has reached them. Payments and labels take the way of any request but for the socket.
"""

from __future__ import annotations

import heapq
import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from lopsided.serve import entries as log
from lopsided.serve.house import House
from lopsided.serve.messages import ChallengerSettings, Decision, ModelSettings
from lopsided.serve.requests import Change, NewEvents
from lopsided.serve.requests import Request as Asked
from lopsided.serve.running import BusyError, RunningModel, UnavailableError
from lopsided.serve.web.door import JSON, events_of, labels_of_request

_LOG = logging.getLogger("lopsided.serve")

NAME = "payments"
PACE = 100.0  # payments a second: a day of the stream takes a third of a minute
RETENTION = 3600.0  # seconds: the replay may run for days, its log must not grow for so long
_SETTINGS = ModelSettings(
    labels=["honest", "fraud"],
    positive="fraud",
    keys=["card", "terminal"],
    time="time",
    value="amount",
    decision=Decision(alerts="20/day"),
    unlabelled="drop:30m",
)
_CHALLENGER = ChallengerSettings("fourierranker")
_CARDS, _TERMINALS, _DAYS = 1_000, 2_000, 120
_DAY = 86_400.0
_AHEAD = 14  # days before the present one
_HURRY, _BATCH = 2_500.0, 100  # payments a second while it hurries, and at a time
_MOST_BEHIND = 40  # entries that what answers may be behind, while it hurries
_PATIENCE = 0.3  # seconds, if it is
_TICK = 0.05
_SLOW = 20.0  # payments a second, while the learner is being compiled
_NEVER, _INVESTIGATED = 0.02, 0.8  # share of payments whose label never comes; of alerts that are looked at at once
_REFUND, _REPORTED = 7.0, 2.5  # days until a payment counts as honest; mean of days until a fraud is reported


class Replay:
    """Plays payments into a house of models, in a thread of its own, until it is stopped."""

    def __init__(self, house: House, *, pace: float = PACE, random_state: int = 0) -> None:
        self._house, self._pace = house, pace
        self._random_state, self._rng = random_state, np.random.default_rng(random_state)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="replay", daemon=True)
        self._labels: list[tuple[float, str, str]] = []  # moment, id, label: a heap
        self._present = 0.0  # the beginning of this day, up to which it hurries

    def start(self) -> None:
        """Begin; the models may still be opening."""
        self._thread.start()

    def stop(self) -> None:
        """End it."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)

    def _run(self) -> None:
        try:
            while not self._house.is_ready and not self._stopping.wait(_TICK):
                pass
            self._play()
        except Exception:
            if not self._stopping.is_set():
                _LOG.exception("The replay has stopped")

    def _play(self) -> None:
        if self._house.make(NAME, _SETTINGS):
            self._ask(Change(lambda _: log.Challenged(_CHALLENGER)))
        self._present = float(np.floor(self._house.now() / _DAY) * _DAY)
        payments = self._payments()
        while not self._stopping.is_set():
            model = self._house.model(NAME)
            is_compiling = model.schema is not None and model.view.champion is None
            is_late = not is_compiling and (model.recent.clock or 0.0) < self._present
            n = _BATCH if is_late else max(1, round((_SLOW if is_compiling else self._pace) * _TICK))
            began = time.monotonic()
            self._submit([next(payments) for _ in range(n)])
            tick = _BATCH / _HURRY if is_late else _TICK
            self._stopping.wait(max(0.0, tick - (time.monotonic() - began)))
            if is_late and model.written - model.view.position > _MOST_BEHIND:
                self._stopping.wait(_PATIENCE)

    def _payments(self) -> Iterator[tuple[dict[str, Any], bool]]:
        """Payments without end, and whether they are frauds; each season has cards and terminals of its own."""
        from lopsided.datasets import card_stream

        model, season = self._house.model(NAME), 0
        begin = max(self._present / _DAY - _AHEAD, np.floor((model.recent.clock or 0.0) / _DAY) + 1)
        prefix = f"{model.written:x}" if model.recent.clock else ""  # a replay that is continued has other ids
        while True:
            stream = card_stream(_CARDS, _TERMINALS, _DAYS, random_state=self._random_state + season)
            assert stream.columns is not None
            columns = zip(*(stream.columns[name] for name in ("time", "customer", "terminal", "amount")), strict=True)
            for row, (moment, card, terminal, amount) in enumerate(columns):
                event = {
                    "id": f"{prefix}{chr(ord('A') + season % 26)}{season // 26 or ''}-{row:06d}",
                    "time": float(begin * _DAY + moment),
                    "columns": {
                        "card": f"C{season}-{card:04d}",
                        "terminal": f"T{season}-{terminal:04d}",
                        "amount": float(amount),
                    },
                }
                yield event, bool(stream.y[row])
            begin, season = begin + _DAYS, season + 1

    # ---------------------------------------------------------------- what a client would do

    def _submit(self, payments: list[tuple[dict[str, Any], bool]]) -> None:
        """Ask for scores of payments, and hand in all labels that are known by then, or by the present day."""
        model = self._house.model(NAME)
        asked, _ = events_of(msgspec.json.encode([event for event, _ in payments]), JSON, model, self._house.now())
        self._ask(asked)
        self._plan_labels(asked, payments)
        moment, known = max(payments[-1][0]["time"], self._present), list[dict[str, Any]]()
        while self._labels and self._labels[0][0] <= moment:
            at, name, label = heapq.heappop(self._labels)
            known.append({"id": name, "label": label, "time": at})
        if known:
            self._ask(labels_of_request(msgspec.json.encode(known), JSON, model, moment)[0])

    def _plan_labels(self, asked: NewEvents, payments: list[tuple[dict[str, Any], bool]]) -> None:
        """When it will be known what payments are: alerts are looked at within a day, customers report in days."""
        for answer, (event, is_fraud) in zip(asked.answers, payments, strict=True):
            chance = self._rng.random()
            if chance < _NEVER:
                continue
            if answer.alert and chance < _INVESTIGATED:
                days = self._rng.uniform(0.2, 1.2)
            else:
                days = 0.5 + self._rng.exponential(_REPORTED) if is_fraud else _REFUND
            heapq.heappush(self._labels, (event["time"] + days * _DAY, event["id"], "fraud" if is_fraud else "honest"))

    def _ask(self, request: Asked) -> None:
        """Put a request in line and wait until it is on disk, or until the replay is stopped."""
        answered = threading.Event()
        request.done = answered.set
        while not self._stopping.is_set():
            try:
                self._model().submit(request)
                break
            except (BusyError, UnavailableError):  # a disk that is full now may not be so for ever
                self._stopping.wait(1.0)
        while not answered.wait(0.2) and not self._stopping.is_set():
            pass
        if request.error is not None:
            raise request.error

    def _model(self) -> RunningModel:
        return self._house.model(NAME)
