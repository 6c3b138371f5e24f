"""A subject of a real NATS server as a source of lines, whatever happens to the server."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import nats
import pytest

import lopsided as lp
from lopsided.cli.main import run
from lopsided.streams import Sources, StreamError


class Server:
    """A server with a stream `desk` of the subjects payments and labels, in a folder."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"nats://127.0.0.1:{self.port}"
        self._command = [Path(sys.executable).with_name("nats-server"), "-js", "-sd", folder, "-p", str(self.port)]
        self.start()
        self._do(lambda stream: stream.add_stream(name="desk", subjects=["payments", "labels"]))

    def start(self):
        self._process = subprocess.Popen([*self._command, "-a", "127.0.0.1"], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                return self._do(lambda stream: stream.account_info())
            except (OSError, nats.errors.Error):
                time.sleep(0.02)
        raise AssertionError("the server does not start")

    def kill(self):
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _do(self, work):
        async def done():
            connection = await nats.connect(
                self.url, allow_reconnect=False, connect_timeout=2, reconnect_time_wait=0.02, error_cb=_quiet
            )
            try:
                return await work(connection.jetstream())
            finally:
                await connection.close()

        return asyncio.run(done())

    def send(self, subject, rows):
        async def all_of_them(stream):
            for row in rows:
                value = row if isinstance(row, bytes) else json.dumps(row).encode()
                await stream.publish(subject, value)

        self._do(all_of_them)
        return f"{self.url}/{subject}"


async def _quiet(_):
    pass


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("jetstream"))
    yield server
    server.kill()


def rows(n, first=0):
    return [{"id": f"p{t}", "a": t % 7, "b": t % 3, "y": int(t % 7 == 3)} for t in range(first, first + n)]


def ids(data):
    return [json.loads(line)["id"] for line in data.splitlines()]


def test_a_subject_is_read_like_a_topic_and_survives_its_server(server, tmp_path, monkeypatch, capsys):
    """Learned in parts, with other messages of the stream between, the server killed before, within and after."""
    monkeypatch.chdir(tmp_path)
    url = server.send("payments", rows(1024))
    server.send("labels", [b"{]", b"[1]"])
    options = ["--label", "y", "--id", "id", "--learner", "opauc"]
    server.kill()
    server.start()
    assert run(["learn", url, *options, "-o", "m"]) == 0
    server.send("payments", rows(1024, 1024))
    followed = Sources([url], follow=True, idle=60.0)
    with followed.open(next(iter(followed)), {"sequence": 1000}) as source:
        found = ids(source.read(1))
        assert found == [f"p{t}" for t in [*range(999, 1024), *range(1024, 2048)]]
        server.kill()
        server.start()
        server.send("payments", rows(3, 2048))
        found = []
        while len(found) < 3 and (data := source.read(1)):
            found += ids(data)
        assert found == ["p2048", "p2049", "p2050"]  # the consumer was made anew at its place
        assert source.offsets_at(None) == {"sequence": 2054}
    assert run(["learn", url, "--resume", "m"]) == 0
    assert "continues after the 1,024 rows" in capsys.readouterr().err
    Path("rows.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows(2051)))
    assert run(["learn", "rows.ndjson", *options, "-o", "file"]) == 0
    assert lp.load("m").to_bytes() == lp.load("file").to_bytes()
    assert run(["learn", f"{url}?from=latest", "--resume", "m"]) == 0
    assert "nothing new to learn" in capsys.readouterr().out


def test_what_cannot_be_read_is_refused(server, monkeypatch):
    def opened(url, offsets=None):
        return Sources([url]).open(url, offsets)

    with pytest.raises(StreamError, match="must be a subject of a JetStream stream of a server that answers, got"):
        opened(f"{server.url}/nothing")
    with pytest.raises(StreamError, match=r"must be a subject of a JetStream stream .* got .*Connect call failed"):
        opened("nats://127.0.0.1:9/payments")
    with pytest.raises(StreamError, match="must be read without group, partitions and config"):
        opened(f"{server.url}/payments?group=desk")
    with pytest.raises(StreamError, match=r"must begin with what was learned .* of which 98,765 had been read"):
        opened(f"{server.url}/payments", {"sequence": 98_766})
    with pytest.raises(StreamError, match=rf"^The row in message \d+ of {server.url}/labels must be one JSON object"):
        lp.open_feed(server.send("labels", [b"{]"]), on_error="stop", label="y")
    monkeypatch.setitem(sys.modules, "nats", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "lopsided\[nats\]"'):
        opened(f"{server.url}/payments")
