"""Kafka topics, `kafka://host:port/topic`: read as a source of lines, and written to.

The only file that imports a Kafka client, confluent-kafka, which the extra `lopsided[kafka]` brings. Reading begins
with the oldest message that the topic still holds; with `?from=latest` with those that come from now on.

Messages come in the order of their timestamps as far as their order within each partition allows, of equal ones that of
the lower partition first: a function of what the topic holds, and not of how fast its brokers answer. A topic that is
followed is read so up to where it ended when it was opened, and from there on as messages come.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from lopsided.streams.bookmarks import changed
from lopsided.streams.errors import StreamError
from lopsided.streams.topics import BLOCK_BYTES, BLOCK_MESSAGES, Address, Message, TopicSource

_ANSWER_SECONDS = 10.0  # for which a broker may keep a question waiting
_SILENT_SECONDS = 30.0  # after which messages that are there, and do not come, are given up
_SETTLING_SECONDS = 120.0  # the same for a group: one that has lost a member takes 45 seconds to notice
_POLL_SECONDS = 0.05
_TURN_SECONDS = 5.0  # for which partitions of a topic that is followed are waited for
_PASSING = ("_TRANSPORT", "_ALL_BROKERS_DOWN", "_TIMED_OUT", "_RESOLVE")  # troubles that the client works on
_AHEAD = 2  # blocks that are kept of a partition while others are waited for


class KafkaSource(TopicSource):
    """One topic, or the share of it that a group of consumers gives this one.

    Parameters
    ----------
    url : see `Address`.
    waiting : asked at the end whether to look again; None: read to where the topic ended when it was opened.
    offsets : where each partition goes on, as kept in the file of a model.
    leaving : called when partitions are about to be given to others of the group: what was read must be made safe.
    """

    def __init__(
        self,
        url: str,
        waiting: Callable[[], bool] | None = None,
        offsets: Mapping[str, int] | None = None,
        leaving: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(url, waiting, offsets)
        self._address, self._client = Address.parse(url), _client("read")
        self._leaving = leaving
        self._goes_on = bool(offsets)
        self._queues: dict[int, deque[Any]] = {}  # messages of each partition that have not had their turn
        self._bytes: dict[int, int] = {}
        self._ends: dict[int, int] = {}  # where partitions ended when they were opened
        self._at_end: set[int] = set()
        self._paused: set[int] = set()
        self._ready: list[Any] = []  # in order
        self._is_assigned = self._is_closed = False
        self._trouble: Any = None  # what the client said last that might pass
        settings = {
            "group.id": self._address.group or "lopsided",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 100,
        }
        self._consumer: Any = _made(self._client, "Consumer", self._address, settings, self._note_trouble)
        try:
            numbers = self._partitions()
            if self._address.group is None:
                self._assign(numbers)
            else:
                self._consumer.subscribe([self._address.topic], on_assign=self._assigned, on_revoke=self._revoked)
        except BaseException as error:
            problem = self._unanswered(error) if isinstance(error, self._client.KafkaException) else error
            self._consumer.close()
            raise problem from None

    # ---------------------------------------------------------------- partitions

    def _partitions(self) -> list[int]:
        """The numbers of those that are to be read; the topic must be there."""
        topic = self._address.topic
        found = self._consumer.list_topics(topic, timeout=_ANSWER_SECONDS).topics[topic]
        if found.error is not None or not found.partitions:
            got = "none of that name" if found.error is None else f'"{found.error.str()}"'
            raise StreamError(self.name, None, None, "must be a topic that its broker has", got)
        wanted = self._address.partitions
        if wanted is None:
            return sorted(found.partitions)
        for number in wanted:
            if number not in found.partitions:
                rule = f"must be read by partitions that it has, 0 to {max(found.partitions)}"
                raise StreamError(self.name, None, None, rule, str(number))
        return list(wanted)

    def _assign(self, numbers: list[int], committed: Mapping[int, int] | None = None) -> None:
        """Begin each partition where it was left; one that is new, with its first message."""
        places = []
        for number in numbers:
            place = self._client.TopicPartition(self._address.topic, number)
            low, high = self._consumer.get_watermark_offsets(place, timeout=_ANSWER_SECONDS)
            own = self._offsets.get(str(number))
            known = [at for at in (own, (committed or {}).get(number)) if at is not None]
            begins_anew = not known and self._address.start == "latest" and not self._goes_on
            start = max(known, default=high if begins_anew else low)
            if own is not None and own > high:
                raise changed(self.name, f"{high:,} messages in partition {number}, of which {own:,} had been read")
            self.n_lost += max(0, low - start)
            place.offset = self._offsets[str(number)] = max(low, start)
            places.append(place)
            self._queues[number], self._bytes[number], self._ends[number] = deque(), 0, high
            if place.offset >= high:
                self._at_end.add(number)
        self._consumer.assign(places)
        self._is_assigned = True

    def _assigned(self, consumer: Any, places: list[Any]) -> None:
        """The group has given partitions to this consumer.

        Each goes on at the position of its own file, or where the group has got to if that is later. The group is told
        of positions only after a file has been saved, so that what lies before them is in the file of some consumer.
        """
        kept = consumer.committed(places, timeout=_ANSWER_SECONDS) if places else []
        self._assign(
            [place.partition for place in places],
            {place.partition: place.offset for place in kept if place.offset >= 0},
        )

    def _revoked(self, consumer: Any, places: list[Any]) -> None:
        """The group takes partitions back: what was read of them is made safe before others go on with them."""
        if self._leaving is not None:
            self._leaving()
        gone = {place.partition for place in places}
        for number in gone:
            for known in (self._queues, self._bytes, self._ends):
                known.pop(number, None)
        self._at_end -= gone
        self._paused -= gone
        self._ready = [message for message in self._ready if message.partition() not in gone]
        self._is_assigned = bool(self._queues)

    def commit(self, offsets: Mapping[str, int]) -> None:
        """Tell the group, if there is one, how far its partitions have been read."""
        named = self._client.TopicPartition
        topic = self._address.topic
        places = [named(topic, int(n), at) for n, at in offsets.items() if int(n) in self._queues]
        if self._address.group is None or not places:
            return
        try:
            self._consumer.commit(offsets=places, asynchronous=False)
        except self._client.KafkaException as error:
            self._note_trouble(error.args[0])  # the file of the model has them; the group learns them next time

    def close(self) -> None:
        """Leave the broker; what is to be kept has been saved."""
        self._leaving = None
        if not self._is_closed:
            self._is_closed = True
            self._consumer.close()

    # ---------------------------------------------------------------- messages

    def _messages(self) -> list[Message]:
        heard = time.monotonic()
        turn_ends = heard + _TURN_SECONDS
        while True:
            now = time.monotonic()
            if self._fetched():
                heard = now
            is_late = self._waiting is not None and now >= turn_ends
            self._take_turns(wait_for_all=not is_late)
            if self._is_full or self._is_through or is_late:
                break
            if self._waiting is None and now - heard > (_SILENT_SECONDS if self._is_assigned else _SETTLING_SECONDS):
                raise self._silent()
        ready, self._ready = self._ready, []
        return [Message(str(one.partition()), one.offset(), one.value()) for one in ready]

    @property
    def _is_through(self) -> bool:
        """Whether all that is there has come, and been put in order."""
        return self._is_assigned and all(n in self._at_end and not queue for n, queue in self._queues.items())

    @property
    def _is_full(self) -> bool:
        return len(self._ready) >= BLOCK_MESSAGES or sum(map(len, self._ready)) >= BLOCK_BYTES

    def _take_turns(self, *, wait_for_all: bool) -> None:
        """Put messages in order, as long as it is known which is next."""
        size = sum(map(len, self._ready))
        while len(self._ready) < BLOCK_MESSAGES and size < BLOCK_BYTES:
            waiting = [number for number, queue in self._queues.items() if queue]
            if not waiting or (wait_for_all and any(n not in self._at_end for n, q in self._queues.items() if not q)):
                return
            number = min(waiting, key=self._turn_of)
            message = self._queues[number].popleft()
            self._ready.append(message)
            size += len(message)
            self._bytes[number] -= len(message)
            if number in self._paused and not self._is_far_ahead(number):
                self._consumer.resume([self._client.TopicPartition(self._address.topic, number)])
                self._paused.discard(number)

    def _turn_of(self, number: int) -> tuple[int, int]:
        return self._queues[number][0].timestamp()[1], number

    def _is_far_ahead(self, number: int) -> bool:
        return len(self._queues[number]) > _AHEAD * BLOCK_MESSAGES or self._bytes[number] > _AHEAD * BLOCK_BYTES

    def _fetched(self) -> bool:
        """Take what has come; whether anything has."""
        seconds = 0.0 if self._is_through else _POLL_SECONDS
        try:
            found = self._consumer.consume(BLOCK_MESSAGES, timeout=seconds)
        except self._client.KafkaException as error:
            raise self._unanswered(error) from error
        for message in found:
            number, problem = message.partition(), message.error()
            if problem is not None:
                if problem.name() == "_PARTITION_EOF":
                    self._at_end.add(number)
                elif not self._may_pass(problem):
                    raise self._unanswered(problem)
            elif number in self._queues and (self._waiting is not None or message.offset() < self._ends[number]):
                self._queues[number].append(message)
                self._bytes[number] += len(message)
                self._at_end.discard(number)
                if message.offset() + 1 >= self._ends[number]:
                    self._at_end.add(number)
                if number not in self._paused and self._is_far_ahead(number):
                    self._consumer.pause([self._client.TopicPartition(self._address.topic, number)])
                    self._paused.add(number)
        return bool(found)

    # ---------------------------------------------------------------- what may go wrong

    def _may_pass(self, problem: Any) -> bool:
        self._note_trouble(problem)
        return not problem.fatal() and (problem.retriable() or problem.name() in _PASSING)

    def _note_trouble(self, problem: Any) -> None:
        if self._trouble is None or problem.name() != "_ALL_BROKERS_DOWN":  # which says less
            self._trouble = problem

    def _unanswered(self, error: Any) -> StreamError:
        if self._trouble is None:
            self._consumer.poll(0)  # for the reason, which is told apart
        return unanswered(self.name, self._trouble or error)

    def _silent(self) -> StreamError:
        if not self._is_assigned:
            rule = "must give each member of its group a share of its partitions"
            return StreamError(self.name, None, None, rule, f"none for {_SETTLING_SECONDS:.0f} seconds")
        missing = ", ".join(str(n) for n, queue in self._queues.items() if not queue and n not in self._at_end)
        whose = f" of partition {missing}" if missing else ""
        got = f"none{whose} for {_SILENT_SECONDS:.0f} seconds"
        got += "" if self._trouble is None else f' ("{self._trouble.str()}")'
        return StreamError(self.name, None, None, "must deliver the messages that it has", got)


class KafkaSink:
    """A topic as a file to write lines into: each line is a message. Use `flush` to have all of them confirmed.

    Every message is acknowledged by all replicas that are in step, and a retry does not write it twice.
    """

    def __init__(self, url: str) -> None:
        self._address, client = Address.parse(url), _client("written to")
        self._error = client.KafkaException
        self._failure: Any = None
        self._trouble: Any = None
        settings = {"enable.idempotence": True, "delivery.timeout.ms": int(1000 * _SILENT_SECONDS)}
        self._producer: Any = _made(client, "Producer", self._address, settings, self._note_trouble)
        try:
            self._producer.list_topics(timeout=_ANSWER_SECONDS)
        except client.KafkaException as error:
            self._producer.poll(0)  # for the reason, which is told apart
            raise unanswered(url, self._trouble or error) from error

    def write(self, lines: bytes) -> int:
        """Hand over each line; they are on their way."""
        for line in lines.splitlines():
            while True:
                try:
                    self._producer.produce(self._address.topic, value=line, on_delivery=self._delivered)
                    break
                except BufferError:  # as many as may be on their way are
                    self._producer.poll(_POLL_SECONDS)
                except self._error as error:
                    raise self._refused(error) from error
        return len(lines)

    def flush(self) -> None:
        """Wait until every message has been confirmed."""
        left = self._producer.flush(2 * _SILENT_SECONDS)
        if self._failure is not None or left:
            raise self._refused(self._failure or f"{left} messages without an answer")

    def close(self) -> None:
        """Let go of the broker, and of what could not be delivered."""
        self._producer.purge()
        self._producer.flush(_ANSWER_SECONDS)

    def _note_trouble(self, problem: Any) -> None:
        self._trouble = self._trouble or problem

    def _delivered(self, error: Any, _: Any) -> None:
        self._failure = self._failure or error

    def _refused(self, error: Any) -> StreamError:
        rule = "must confirm every message that is written to it"
        return StreamError(self._address.url, None, None, rule, f'"{_in_words(error)}"')


def unanswered(url: str, error: Any) -> StreamError:
    """The sentence on a broker that does not answer, or says no."""
    return StreamError(url, None, None, "must be a topic of a broker that answers", f'"{_in_words(error)}"')


def _in_words(error: Any) -> str:
    found = error.args[0] if isinstance(error, Exception) and error.args else error
    return str(found.str()) if hasattr(found, "str") else str(found)


def _client(verb: str) -> Any:
    try:
        import confluent_kafka
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f'A Kafka topic must be {verb} by confluent-kafka, which `pip install "lopsided[kafka]"` brings, '
            f"got no package {error.name}.",
            name=error.name,
        ) from None
    return confluent_kafka


def _made(client: Any, kind: str, address: Address, settings: dict[str, Any], note: Callable[[Any], None]) -> Any:
    """A consumer or producer by our own settings, and those of the file that the address names: passwords, say."""
    own = {"bootstrap.servers": address.server, "client.id": "lopsided", "log_level": 0, "error_cb": note}
    try:
        return getattr(client, kind)(own | settings | _settings_of(address))
    except client.KafkaException as error:
        rule = "must be read and written by settings that librdkafka knows"
        raise StreamError(address.url, None, None, rule, f'"{_in_words(error)}"') from error


def _settings_of(address: Address) -> dict[str, str]:
    """Lines `name=value`, as Kafka's own tools read them."""
    if address.config is None:
        return {}
    try:
        with open(address.config, encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    except (OSError, UnicodeError) as error:
        raise StreamError(address.config, None, None, "must be a readable file of settings", f'"{error}"') from error
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    return {name.strip(): value.strip() for name, _, value in pairs}
