"""A model at work: four threads around its log.

One answers and judges (`Sequencer`), one writes groups of entries and then tells who asked, one learns what has been
written (`Fold`), publishes copies to answer by, and saves snapshots, one keeps the files of event ids few. The first
never waits for the others.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from lopsided.serve.clock import Clock
from lopsided.serve.configuration import Limits
from lopsided.serve.deciding import compile_share
from lopsided.serve.drifting import DriftWatch
from lopsided.serve.folding import Fold
from lopsided.serve.messages import ModelSettings
from lopsided.serve.opening import first_settings, log_path, recovered
from lopsided.serve.recent import Recent
from lopsided.serve.requests import NewEvents, NewLabels, Request, Tick
from lopsided.serve.scoring import Scorer, View
from lopsided.serve.sequencing import Sequencer
from lopsided.serve.storage.disk import Disk
from lopsided.serve.storage.ids import EventIds
from lopsided.serve.storage.log import Group, LogReader, LogWriter, StorageError
from lopsided.serve.storage.versions import Versions
from lopsided.serve.watched import Watched, read_watched, write_watched
from lopsided.serve.watching import Past, Summary, is_outdated, summary_of

_LOG = logging.getLogger("lopsided.serve")

_MOST_PENDING = 100_000  # events and labels that are being answered
_TICK, _SHORT_TICK = 1.0, 0.1  # seconds between looks at what has expired; while much is being forgotten
_LONGEST_GROUP = 4096  # requests
_GATHERING = 0.0025  # seconds in which requests gather, where more than one at a time comes: a group costs as one does
_LEAST_BETWEEN_COPIES, _MOST_BETWEEN_COPIES = 0.25, 2.0  # seconds
_BETWEEN_SNAPSHOTS = 30.0
_BETWEEN_FILES = 0.5  # seconds between looks at what ids are to be written
_MANY_LEARNED = 20_000  # rows since the last snapshot


_NO_LIMITS = Limits()


class BusyError(Exception):
    """More is asked than can be answered soon."""

    def __str__(self) -> str:
        return f"At most {_MOST_PENDING:,} events and labels may wait for an answer. Try again in a second."


class UnavailableError(Exception):
    """The model cannot write what it would acknowledge."""


class RunningModel:
    """A model that answers. Requests go in by `submit`; their `done` is called when they have been written."""

    def __init__(self, name: str, folder: Path, disk: Disk, clock: Clock, limits: Limits = _NO_LIMITS) -> None:
        self.name, self._folder, self._disk, self._clock, self.limits = name, folder, disk, clock, limits
        with ExitStack() as undone:
            self._open(log_path(folder), undone)
            undone.pop_all()
        self.failure: Exception | None = None
        self.written = self._sequencer.sequence
        self.size = 0  # bytes of the data, when that was looked at last
        self._inbox: SimpleQueue[Request | None] = SimpleQueue()
        self._outbox: SimpleQueue[tuple[Group, Sequence[Request]] | None] = SimpleQueue()
        self._pending, self._counting = 0, threading.Lock()
        self._news, self._ended = threading.Event(), threading.Event()
        self._stopping = False
        self._is_busy = False
        self._is_settled = False
        self._is_closed = False
        self.shown: tuple[float, bytes] | None = None  # when, and what those who watch were told
        self._next_view: View | None = None
        self._saved_at, self._saved_learned = self._fold.position, self._fold.n_learned
        self._last_save = time.monotonic()
        self.latency = 0.0
        watched = read_watched(folder, disk)
        self.recent, self.past = Recent(self.reader, watched), Past(points=watched.points, step=watched.step)
        self.drift = DriftWatch(folder, disk)
        self.summary: Summary = summary_of(self._fold, self._sequencer)
        self._publish()
        jobs = [("answers", self._sequence), ("writes", self._write), ("learns", self._learn), ("tidies", self._tidy)]
        self._threads = [threading.Thread(target=job, name=f"{name} {what}", daemon=True) for what, job in jobs]
        for thread in self._threads:
            thread.start()

    def _open(self, path: Path, undone: ExitStack) -> None:
        """What has been written, and what follows from it; if that fails, the connections are given back."""
        self._writer = LogWriter(path, self._disk)
        undone.callback(self._writer.close)
        self._readers = []
        for _ in range(3):
            self._readers.append(LogReader(path, self._disk))
            undone.callback(self._readers[-1].close)
        self.reader = self._readers[2]  # for whoever asks questions
        self.asking = threading.Lock()
        self.made_with = first_settings(self.reader)
        compile_share()
        self._fold = recovered(self._folder, self._disk, self._readers[0])
        self._ids = EventIds.opened(self._folder / "ids", self._disk, self._readers[1], self.limits.id_memory)
        self.forgotten = int(self.reader.fact("forgotten") or 0)
        self._sequencer = Sequencer(self._fold, self._readers[1], self._ids, self.limits.parked)
        self.versions = Versions(self._folder, self._disk)

    # ---------------------------------------------------------------- for those who ask

    @property
    def settings(self) -> ModelSettings:
        """As they are now."""
        return self._sequencer.settings

    @property
    def labels(self) -> Any:
        """The two labels."""
        return self._sequencer.labels

    @property
    def schema(self) -> Any:
        """What the columns are; None until it is found."""
        return self._sequencer.schema

    @property
    def view(self) -> View:
        """What answers at the moment."""
        return self._next_view or self._sequencer.view

    @property
    def sequencer(self) -> Sequencer:
        """Counts that only ever grow may be read of it by anybody."""
        return self._sequencer

    def submit(self, request: Request) -> None:
        """Put a request in line."""
        if self.failure is not None:
            raise UnavailableError(f"The model {self.name!r} must be able to write. Got: {self.failure}")
        size = _size(request)
        with self._counting:
            if self._pending + size > _MOST_PENDING and self._pending:
                raise BusyError
            self._pending += size
        request.began = time.perf_counter()
        self._inbox.put(request)

    def ask(self, request: Request) -> None:
        """The same, and wait for the answer; an error is raised."""
        answered = threading.Event()
        request.done = answered.set
        self.submit(request)
        answered.wait()
        if request.error is not None:
            raise request.error

    def close(self, *, save: bool = True) -> None:
        """Answer what is in line, learn what has been written, save, and let go."""
        self._inbox.put(None)
        self._threads[0].join()
        self._threads[1].join()
        self._stopping = True
        self._news.set()
        self._threads[2].join()
        self._ended.set()
        self._threads[3].join()
        if save and self.failure is None:
            while self._fold.catch_up():
                pass
            self._save()
        with self.asking:
            self._is_closed = True
            for reader in self._readers:
                reader.close()
        self._writer.close()

    def check_open(self) -> None:
        """Refuse questions to a model that has been closed, perhaps to be opened again."""
        if self._is_closed:
            raise UnavailableError(f"The model {self.name!r} must be open. Got one that is being opened again.")

    # ---------------------------------------------------------------- answering

    def _sequence(self) -> None:
        """The first thread: requests into groups."""
        while self._answer_group():
            pass

    def _answer_group(self) -> bool:
        """Answer all that is in line; whether there can be more."""
        requests, is_last = self._drained()
        view = self._next_view
        if view is not None:
            self._next_view = None
            self._sequencer.publish(view)
        self._sequencer.written(self.written)
        try:
            if self.failure is not None:  # others may still be in line: nobody must wait for ever
                raise UnavailableError(str(self.failure))
            group = self._sequencer.process(requests, self._clock())
        except Exception as error:
            if self.failure is None:
                _LOG.exception("A group of requests could not be answered")
            self._fail(error, requests)
        else:
            self._outbox.put((group, requests))
        if is_last:
            self._outbox.put(None)
        return not is_last

    def _drained(self) -> tuple[list[Request], bool]:
        """All requests in line, at least one; and whether they are the last."""
        requests: list[Request] = []
        item = self._inbox.get()
        if self._is_busy:
            time.sleep(_GATHERING)
        while item is not None:
            requests.append(item)
            if self._inbox.empty() or len(requests) >= _LONGEST_GROUP:
                self._is_busy = len(requests) > 1
                return requests, False
            item = self._inbox.get()
        return requests, True

    # ---------------------------------------------------------------- writing

    def _write(self) -> None:
        """The second thread: groups to disk, several at once if they have piled up, then tell."""
        while self._write_groups():
            pass

    def _write_groups(self) -> bool:
        """Write all groups that are there, at least one, and tell who asked; whether there can be more."""
        first = self._outbox.get()
        if first is None:
            return False
        group, requests, ended = first[0], list(first[1]), False
        while not ended and not self._outbox.empty():
            more = self._outbox.get()
            if more is None:
                ended = True
            else:
                group.take_in(more[0])
                requests += more[1]
        try:
            if self.failure is not None:  # what is behind a gap must not be written
                raise StorageError(str(self.failure))
            if group.is_something:
                began = time.perf_counter()
                self._writer.append(group)
                self.latency = time.perf_counter() - began
        except StorageError as error:
            self._fail(error, requests)
        else:
            if group.entries:
                self.written = group.entries[-1][0]
            if group.forget is not None:
                self.forgotten = group.forget[1]
            self.recent.note(group, requests)
            self._tell(requests)
            self._news.set()
        return not ended

    def _tell(self, requests: Sequence[Request]) -> None:
        with self._counting:
            self._pending -= sum(map(_size, requests))
        for request in requests:
            if request.done is not None:
                request.done()

    def _fail(self, error: Exception, requests: Sequence[Request]) -> None:
        """Nothing more is acknowledged: the model must be opened again, from what has been written."""
        self.failure = self.failure or error
        for request in requests:
            request.error = UnavailableError(f"The model {self.name!r} must be able to write. Got: {error}")
        self._tell(requests)

    # ---------------------------------------------------------------- learning

    def _learn(self) -> None:
        """The third thread: what has been written into the models, and copies of them for the first."""
        copied, ticked, pause = time.monotonic(), time.monotonic(), _LEAST_BETWEEN_COPIES
        is_new = False
        while not self._stopping and self.failure is None:
            try:
                applied = self._fold.catch_up(limit=32)
                is_new = is_new or applied > 0
                now = time.monotonic()
                if is_new and now - copied > pause:
                    are_copies = self._publish()
                    # While a model is copied, answers take longer: a hundredth of the time, unless it is very large.
                    copied, is_new = time.monotonic(), False
                    longest = 100.0 * (copied - now) if are_copies else 0.0
                    pause = min(max(_LEAST_BETWEEN_COPIES, longest), _MOST_BETWEEN_COPIES)
                if now - ticked > (_SHORT_TICK if self._sequencer.aging.is_forgetting else _TICK):
                    ticked = now
                    self._keep_house()
                if not applied and is_outdated(self.summary, self._fold):
                    self._sum_up()
                if not applied:
                    self._news.wait(0.05 if is_new else 0.2)
                    self._news.clear()
            except Exception as error:
                _LOG.exception("Learning has stopped")
                self.failure = self.failure or error

    def _publish(self) -> bool:
        """Copies of the models for the thread that answers; False if one had to be compiled, which comes once."""
        fold = self._fold
        lines = (fold.champion, fold.challenger)
        scorers = [None if line is None else Scorer(_copy_of(line.model, fold)) for line in lines]
        self._next_view = View(fold.position, *scorers)
        if not self._is_settled and any(line is not None and line.started for line in lines):
            # All that compiling has left behind will live as long as the process: looking through it for cycles, again
            # and again, would stop the answers for a tenth of a second each time.
            self._is_settled = True
            gc.unfreeze()  # or a model that was closed since would stay for ever
            gc.collect()
            gc.freeze()
        self._sum_up()
        return all(line is None or line.started for line in lines)

    def _sum_up(self) -> None:
        self.summary = summary_of(self._fold, self._sequencer, before=self.summary)
        self.past.add(self.summary, self.recent.clock)

    def _keep_house(self) -> None:
        """A snapshot now and then, and what is too old or too much is given up."""
        is_due = time.monotonic() - self._last_save > _BETWEEN_SNAPSHOTS
        has_many = self._fold.n_learned - self._saved_learned > _MANY_LEARNED
        if (is_due or has_many) and self._fold.position > self._saved_at:
            self._save()
        forgotten, saved = self.forgotten, self.versions.oldest_position
        self.size = self._readers[0].size + self._ids.size
        excess = 0 if self.limits.bytes is None else max(0, self.size - self.limits.bytes)
        self._inbox.put(Tick(retention=self.limits.seconds, excess=excess, forgotten=forgotten, saved=saved))
        if self._fold.schema is not None:
            self.drift.take(self._fold.schema, self.recent.drained(), self.recent.clock)

    def _save(self) -> None:
        content = self._fold.to_bytes()
        self._last_save = time.monotonic()
        if content is not None:
            try:
                self.versions.save(self._fold.position, content)
            except OSError as error:  # the log has all of it: nothing is lost, and there will be another one
                _LOG.warning("A snapshot of model %s cannot be written: %s", self.name, error)
            else:
                self._saved_at, self._saved_learned = self._fold.position, self._fold.n_learned
                self.drift.save()
                write_watched(self._folder, self._disk, Watched(self.past.points, self.past.step, *self.recent.days()))

    # ---------------------------------------------------------------- ids

    def _tidy(self) -> None:
        """The fourth thread: ids into files, and many files into few."""
        while not self._ended.wait(_BETWEEN_FILES):
            while self.failure is None and not self._ended.is_set() and self._tidy_ids():
                pass

    def _tidy_ids(self) -> bool:
        """One file; whether there may be more to do."""
        try:
            return self._ids.tidy(self._written_so_far, self.forgotten)
        except InterruptedError:  # the end: they are read from the log again
            return False
        except OSError as error:  # they stay in memory, and are in the log in any case
            _LOG.warning("Ids of model %s cannot be written to a file: %s", self.name, error)
            return False

    def _written_so_far(self) -> int:
        """Asked between the pieces of a large file, which is given up at the end."""
        if self._ended.is_set():
            raise InterruptedError
        return self.written


def _size(request: Request) -> int:
    if isinstance(request, NewEvents):
        return len(request.raw)
    return len(request.ids) if isinstance(request, NewLabels) else 1


def _copy_of(model: Any, fold: Fold) -> Any:
    """A copy that nobody else touches; what has not begun is compiled beforehand, so that nobody waits for it later."""
    if not model.started_:
        from sklearn.base import clone

        clone(model).compile_ahead(classes=fold.labels.classes)
    return model.snapshot()  # also of what has not begun: it may have a history
