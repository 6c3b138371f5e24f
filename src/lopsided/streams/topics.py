"""Topics of a broker as sources of bytes: each message is one line, and positions say which messages were read.

What all brokers have in common. A client (`kafka.py`, `nats.py`) brings messages in order; here they become blocks of
lines, and it is known after each line where every partition goes on. That place is kept in the file of the model, with
the model, and the broker is not relied on for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from lopsided.streams.errors import StreamError

KAFKA, NATS = "kafka://", "nats://"
STARTS = ("earliest", "latest")
_NAMES = ("from", "group", "partitions", "config")
# A multiple of the slices in which rows are learned, so that a run that goes on is cut as one that was not stopped.
BLOCK_MESSAGES = 8192
BLOCK_BYTES = 4 << 20


def is_topic(path: str) -> bool:
    """Whether a path is the address of a topic."""
    return path.startswith((KAFKA, NATS))


def topic_itself(path: str) -> str:
    """The address of a topic without what says how it is to be read."""
    return path.partition("?")[0]


class Message(NamedTuple):
    """One message: its partition, its number in there, and its bytes (None: it only marks a key as deleted)."""

    partition: str
    offset: int
    value: bytes | None


@dataclass(frozen=True)
class Address:
    """What `kafka://host:port/topic?from=...&group=...&partitions=...&config=...` says; `nats://` likewise."""

    url: str
    server: str
    topic: str
    start: str = "earliest"
    group: str | None = None
    partitions: tuple[int, ...] | None = None
    config: str | None = None

    @classmethod
    def parse(cls, url: str) -> Address:
        """Taken apart, or refused."""
        parts = urlsplit(url)
        topic = parts.path.strip("/")
        asked = dict(parse_qsl(parts.query, keep_blank_values=True))
        numbers = [part.strip() for part in asked.get("partitions", "").split(",")]
        start = asked.get("from", STARTS[0])
        if not parts.netloc or not topic or "/" in topic or start not in STARTS:
            rule = f"must be {parts.scheme}://host:port/topic, with ?from=earliest or ?from=latest behind it if need be"
            raise StreamError(url, None, None, rule, repr(url))
        for name in asked:
            if name not in _NAMES or not asked[name]:
                rule = f"must have {', '.join(_NAMES[:-1])} or {_NAMES[-1]} with a value behind its question mark"
                raise StreamError(url, None, None, rule, repr(f"{name}={asked[name]}"))
        if "partitions" in asked and ("group" in asked or not all(number.isdecimal() for number in numbers)):
            rule = "must be read by numbers of partitions such as 0,2, or by a group"
            raise StreamError(url, None, None, rule, repr(parts.query))
        chosen = tuple(sorted({int(number) for number in numbers})) if "partitions" in asked else None
        return cls(url, parts.netloc, topic, start, asked.get("group"), chosen, asked.get("config"))


class TopicSource:
    """One topic, read like a pipe: `read` waits for messages as long as `waiting` allows (None: to the present end).

    A client implements `_messages` and `close`, and may have `commit`.
    """

    total: int | None = None
    may_wait = True
    magic = first = b""
    offset = 0
    is_another = is_compressed = False
    n_lost = 0  # messages that the broker has deleted since it was left

    def __init__(self, url: str, waiting: Callable[[], bool] | None, offsets: Mapping[str, int] | None) -> None:
        self.name = url
        self.position = 0
        self._waiting = waiting
        self._held = b""
        self._offsets = dict(offsets or {})  # of each partition: the message after those of earlier blocks
        self._latest: list[tuple[int, str, int]] = []  # of each message of the latest block: its end, where to go on
        self._places: list[tuple[str, int]] = []  # of each line of the latest block: partition and offset
        self._lines_before = 0

    def _messages(self) -> list[Message]:
        """The next messages in order, at most a block of them.

        None at all: at the end, or when `waiting` is to be asked whether to look again.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Leave the broker."""
        raise NotImplementedError

    def commit(self, offsets: Mapping[str, int]) -> None:
        """What was read up to these offsets is safe: others of the same group need not read it."""

    def __enter__(self) -> TopicSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def beginning(self) -> bytes:
        """The first messages, by which a format is told."""
        return self.peek()

    def peek(self) -> bytes:
        """The first messages; `read` gives them again."""
        if not self._held:
            self._held = self._block()
        return self._held

    def read(self, size: int) -> bytes:
        """The next messages, a line each; none at all only at the end."""
        held, self._held = self._held or self._block(), b""
        return held

    def offsets_at(self, position: int | None) -> dict[str, int]:
        """Where each partition goes on after so many bytes of what was read."""
        offsets = dict(self._offsets)
        for end, partition, following in self._latest:
            if position is None or end <= position:
                offsets[partition] = following
        return offsets

    def located(self, error: StreamError, line: int) -> StreamError:
        """The error of a line of the latest block as that of its message."""
        place = line - self._lines_before - 1
        if error.line is None or not 0 <= place < len(self._places):
            return error
        partition, offset = self._places[place]
        found = StreamError(
            self._where(partition), offset, error.field, error.rule, error.got, "message", error.argument
        )
        found.raw = error.raw
        return found

    def _where(self, partition: str) -> str:
        return f"partition {partition} of {self.name}"

    def _block(self) -> bytes:
        while True:
            messages = self._messages()
            if messages:
                # Whoever asks for more has worked through what there was.
                self._offsets, self._latest = self.offsets_at(None), []
                self._lines_before, self._places = self._lines_before + len(self._places), []
                data = b"".join(map(self._line_of, messages))
                if data:
                    return data
            elif self._waiting is None or not self._waiting():
                return b""

    def _line_of(self, message: Message) -> bytes:
        line = b""
        if message.value:
            # A line end inside of a message is a blank to JSON; as a line end it would cut the message in two.
            line = message.value.replace(b"\n", b" ") + b"\n"
            self._places.append((message.partition, message.offset))
        self.position += len(line)
        self._latest.append((self.position, message.partition, message.offset + 1))
        return line


def located(source: Any, error: StreamError, lines_before: int) -> StreamError:
    """An error of a row with its message instead of its line, if its source is a topic."""
    if isinstance(source, TopicSource) and error.line is not None:
        return source.located(error, error.line - lines_before)
    return error
