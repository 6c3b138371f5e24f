"""A subject of a NATS JetStream stream, `nats://host:port/subject`, read as a source of lines.

The only file that imports a NATS client, nats-py, which the extra `lopsided[nats]` brings. The position is the sequence
number in the stream. The server is not relied on for it: what reads is an ephemeral consumer without acknowledgements,
which is made anew at the position whenever the connection was lost, or its messages do not follow each other.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from lopsided.streams.bookmarks import changed
from lopsided.streams.errors import StreamError
from lopsided.streams.topics import BLOCK_BYTES, BLOCK_MESSAGES, Address, Message, TopicSource

_ANSWER_SECONDS = 5.0
_SILENT_SECONDS = 30.0  # after which messages that are there, and do not come, are given up
_POLL_SECONDS = 0.1
_AT_ONCE = 1024
_FORGET_SECONDS = 600.0  # after which the server lets go of a consumer that asks no more
_SEQUENCE = "sequence"  # the one partition


class NatsSource(TopicSource):
    """One subject, in the order of its stream; parameters as those of `KafkaSource`."""

    def __init__(
        self, url: str, waiting: Callable[[], bool] | None = None, offsets: Mapping[str, int] | None = None
    ) -> None:
        super().__init__(url, waiting, offsets)
        address = Address.parse(url)
        if address.group or address.partitions or address.config:
            rule = "must be read without group, partitions and config, which are for Kafka"
            raise StreamError(url, None, None, rule, repr(url.partition("?")[2]))
        self._subject = address.topic
        self._nats = _client()
        self._trouble: BaseException | None = None
        self._loop = asyncio.new_event_loop()  # in a thread of its own, so that the server is answered while we work
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._connection: Any = None
        try:
            self._open(address)
        except BaseException as error:
            self.close()
            if isinstance(error, self._nats.errors.Error | OSError | TimeoutError):
                rule = "must be a subject of a JetStream stream of a server that answers"
                raise StreamError(url, None, None, rule, f'"{_in_words(self._trouble or error)}"') from error
            raise

    def _open(self, address: Address) -> None:
        self._connection = self._done(
            self._nats.connect(
                f"nats://{address.server}",
                connect_timeout=_ANSWER_SECONDS,
                max_reconnect_attempts=1,
                reconnect_time_wait=_POLL_SECONDS,
                error_cb=self._note_trouble,
                reconnected_cb=self._note_loss,
            )
        )
        self._connection.options["max_reconnect_attempts"] = -1  # a server that was there once is waited for
        self._stream = self._connection.jetstream(timeout=_ANSWER_SECONDS)
        self._name = self._done(self._stream.find_stream_name_by_subject(self._subject))
        state = self._done(self._stream.stream_info(self._name)).state
        own = self._offsets.get(_SEQUENCE)
        if own is not None and own > state.last_seq + 1:
            raise changed(self.name, f"{state.last_seq:,} messages, of which {own - 1:,} had been read")
        start = own or (state.last_seq + 1 if address.start == "latest" else 1)
        if own is not None:
            self.n_lost = max(0, state.first_seq - own)
        self._next = self._offsets[_SEQUENCE] = max(start, state.first_seq)
        self._n_left = self._consume()

    def _consume(self) -> int:
        """Ask for what comes from the position on; says how many messages are there."""
        api = self._nats.js.api
        config = api.ConsumerConfig(
            deliver_policy=api.DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=self._next,
            ack_policy=api.AckPolicy.NONE,
            inactive_threshold=_FORGET_SECONDS,
        )
        self._is_lost, self._turn = False, 1
        try:
            self._consumer = self._done(self._stream.pull_subscribe(self._subject, stream=self._name, config=config))
            return int(self._done(self._consumer.consumer_info()).num_pending)
        except BaseException:
            self._is_lost = True
            raise

    def _messages(self) -> list[Message]:
        found: list[Message] = []
        size, heard = 0, time.monotonic()
        while len(found) < BLOCK_MESSAGES and size < BLOCK_BYTES and (self._n_left or self._waiting is not None):
            fetched = self._fetched()
            for message in fetched[: None if self._waiting is not None else self._n_left]:
                about = message.metadata
                if about.sequence.consumer != self._turn:  # of before the server started again, or behind a gap
                    self._is_lost = True
                    break
                self._turn += 1
                found.append(Message(_SEQUENCE, about.sequence.stream, message.data))
                size += len(message.data)
                self._next = about.sequence.stream + 1
                self._n_left = min(self._n_left - 1, about.num_pending)
            if fetched:
                heard = time.monotonic()
            elif self._waiting is not None:
                break
            elif time.monotonic() - heard > _SILENT_SECONDS:
                got = f"none for {_SILENT_SECONDS:.0f} seconds"
                raise StreamError(self.name, None, None, "must deliver the messages that it has", got)
        return found

    def _fetched(self) -> list[Any]:
        try:
            if self._is_lost:
                self._consume()
            return list(self._done(self._consumer.fetch(_AT_ONCE, timeout=_POLL_SECONDS)))
        except TimeoutError:
            return []
        except (self._nats.errors.Error, OSError) as error:  # the server has gone, or forgotten the consumer
            self._trouble, self._is_lost = error, True
            time.sleep(_POLL_SECONDS)
            return []

    async def _note_trouble(self, error: BaseException) -> None:
        self._trouble = error

    async def _note_loss(self) -> None:
        self._is_lost = True  # what was on its way is gone

    def _done(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _where(self, partition: str) -> str:
        return self.name

    def close(self) -> None:
        """Leave the server."""
        if self._loop.is_closed():
            return
        if self._connection is not None:
            self._done(self._connection.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        while self._loop.is_running():
            time.sleep(0.001)
        self._loop.close()


def _in_words(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _client() -> Any:
    try:
        import nats
        import nats.js.api
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'A subject of NATS must be read by nats-py, which `pip install "lopsided[nats]"` brings, '
            f"got no package {error.name}.",
            name=error.name,
        ) from None
    return nats
