"""A Kafka topic as a source of bytes: `kafka://host:port/topic`, each message one line (a JSON object).

The only file that imports a Kafka client, which the extra `lopsided[kafka]` brings. Reading begins with the oldest
message that the topic still holds; with `?from=latest` with those that come from now on. Nothing is committed: a model
that was saved and is resumed is told where to go on by the topic's retention, not by a consumer group.
"""

from __future__ import annotations

from collections.abc import Callable
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

    def __init__(self, url: str, waiting: Callable[[], bool] | None = None) -> None:
        self.name = url
        self.position = 0
        self._waiting = waiting
        self._held = b""
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
                topic, bootstrap_servers=server, auto_offset_reset=start, enable_auto_commit=False
            )
        except kafka.errors.KafkaError as error:
            raise StreamError(url, None, None, "must be a topic of a broker that answers", f'"{error}"') from error

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
            values = [message.value for messages in batches.values() for message in messages if message.value]
            if values:
                # A line end inside of a message is a blank to JSON; as a line end it would cut the message in two.
                data = b"".join(value.replace(b"\n", b" ") + b"\n" for value in values)
                self.position += len(data)
                return data
            if self._waiting is None:
                quiet += 1
            if quiet == _QUIET_POLLS or (self._waiting is not None and not self._waiting()):
                return b""


def _parts(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    topic = parts.path.strip("/")
    start = parse_qs(parts.query).get("from", ["earliest"])[0]
    if not parts.netloc or not topic or "/" in topic or start not in _STARTS:
        rule = "must be kafka://host:port/topic, with ?from=earliest or ?from=latest behind it if need be"
        raise StreamError(url, None, None, rule, repr(url))
    return parts.netloc, topic, start
