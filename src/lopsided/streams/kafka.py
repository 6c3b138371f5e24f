"""A Kafka topic as a source of bytes: `kafka://host:port/topic`, each message one line (a JSON object).

The only file that imports a Kafka client, which the extra `lopsided[kafka]` brings. Reading begins with the oldest
message that the topic still holds; with `?from=latest` with those that come from now on. Nothing is committed: the
offsets of the partitions are kept in the file of the model, which goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lopsided.streams.errors import StreamError

_POLL_MILLISECONDS = 200
_QUIET_POLLS = 25  # five seconds: a broker takes a while to hand out its partitions
_STARTS = ("earliest", "latest")


class KafkaSource:
    """One topic, read like a pipe: `read` waits for messages as long as `waiting` allows (None: five seconds)."""

    total = None
    may_wait = True
    magic = b""
    offset = 0
    is_another = is_compressed = False

    def __init__(
        self, url: str, waiting: Callable[[], bool] | None = None, offsets: Mapping[str, int] | None = None
    ) -> None:
        self.name = url
        self.position = 0
        self._waiting = waiting
        self._held = b""
        self._offsets = dict(offsets or {})  # of each partition: the message after those of earlier polls
        self._latest: list[tuple[int, str, int]] = []  # of each message of the latest poll: its end, where to go on
        server, topic, start = _parts(url)
        try:
            import kafka
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                'A Kafka topic must be read by kafka-python, which `pip install "lopsided[kafka]"` brings, '
                f"got no package {error.name}.",
                name=error.name,
            ) from None
        try:
            self._consumer: Any = kafka.KafkaConsumer(
                *([] if self._offsets else [topic]),
                bootstrap_servers=server,
                auto_offset_reset=start,
                enable_auto_commit=False,
            )
            if self._offsets:
                self._go_on(kafka.TopicPartition, topic)
        except kafka.errors.KafkaError as error:
            raise StreamError(url, None, None, "must be a topic of a broker that answers", f'"{error}"') from error

    def _go_on(self, named: Any, topic: str) -> None:
        """Begin each partition where it was left; one that is new, with its first message."""
        numbers = self._consumer.partitions_for_topic(topic) or set()
        partitions = {str(number): named(topic, number) for number in sorted(numbers | set(map(int, self._offsets)))}
        self._consumer.assign(list(partitions.values()))
        for number, partition in partitions.items():
            if number in self._offsets:
                self._consumer.seek(partition, self._offsets[number])
            else:
                self._consumer.seek_to_beginning(partition)

    def offsets_at(self, position: int | None) -> dict[str, int]:
        """Where each partition goes on after so many bytes of what was read."""
        offsets = dict(self._offsets)
        for end, partition, following in self._latest:
            if position is None or end <= position:
                offsets[partition] = following
        return offsets

    @property
    def beginning(self) -> bytes:
        """The first messages, by which a format is told."""
        return self.peek()

    def __enter__(self) -> KafkaSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the broker."""
        self._consumer.close()

    def peek(self) -> bytes:
        """The first messages; `read` gives them again."""
        if not self._held:
            self._held = self._poll()
        return self._held

    def read(self, size: int) -> bytes:
        """The next messages, a line each; none at all only at the end."""
        held, self._held = self._held or self._poll(), b""
        return held

    def _poll(self) -> bytes:
        quiet = 0
        while True:
            batches = self._consumer.poll(timeout_ms=_POLL_MILLISECONDS)
            messages = [message for found in batches.values() for message in found]
            if messages:
                # Whoever asks for more has worked through what there was.
                self._offsets, self._latest = self.offsets_at(None), []
                data = b"".join(map(self._line_of, messages))
                if data:
                    return data
            if self._waiting is None:
                quiet += 1
            if quiet == _QUIET_POLLS or (self._waiting is not None and not self._waiting()):
                return b""

    def _line_of(self, message: Any) -> bytes:
        # A line end inside of a message is a blank to JSON; as a line end it would cut the message in two.
        line = message.value.replace(b"\n", b" ") + b"\n" if message.value else b""
        self.position += len(line)
        self._latest.append((self.position, str(message.partition), message.offset + 1))
        return line


def _parts(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    topic = parts.path.strip("/")
    start = parse_qs(parts.query).get("from", ["earliest"])[0]
    if not parts.netloc or not topic or "/" in topic or start not in _STARTS:
        rule = "must be kafka://host:port/topic, with ?from=earliest or ?from=latest behind it if need be"
        raise StreamError(url, None, None, rule, repr(url))
    return parts.netloc, topic, start
