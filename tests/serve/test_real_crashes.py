"""Real processes: killed under load, ended by SIGTERM, two on one directory. Nothing acknowledged is lost."""

import http.client
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import pytest

from lopsided.serve import entries as log
from lopsided.serve.folding import Fold
from lopsided.serve.opening import entries_of, log_path, recovered
from lopsided.serve.storage.disk import RealDisk
from lopsided.serve.storage.log import LogReader
from lopsided.serve.storage.versions import Versions
from serve.naive_service import Walk

FORKING = Path(__file__).parent / "forking_service.py"
SETTINGS = {"learner": "onlineperceptron", "decision": {"threshold": "rate:0.2"}}


class Served:
    """A process that serves a directory."""

    def __init__(self, starter, folder):
        starter.stdin.write(f"{folder}\n")
        starter.stdin.flush()
        self.pid = int(starter.stdout.readline())
        self.port = int(starter.stdout.readline().split("  ")[0].rpartition(":")[2])

    def ask_once(self, method, path, body=None):
        with closing(self.connection()) as connection:
            return self.ask(connection, method, path, body)

    def ask(self, connection, method, path, body=None, **headers):
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def wait_until_ready(self):
        while self.ask_once("GET", "/readyz")[0] != 200:
            time.sleep(0.02)

    def end(self, how):
        with suppress(ProcessLookupError):
            os.kill(self.pid, how)
        while _is_there(self.pid):
            time.sleep(0.01)


def _is_there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class Client(threading.Thread):
    """Sends events and then their labels until the service is gone; what was not acknowledged it sends again."""

    def __init__(self, number):
        super().__init__()
        self.number, self.draw, self.n = number, random.Random(number), 0
        self.events, self.labels, self.unsure = {}, {}, None
        self.error = None

    def again(self, served):
        """The same client, at a service that has been started again."""
        other = Client(self.number)
        other.__dict__ |= {name: self.__dict__[name] for name in ("draw", "n", "events", "labels", "unsure")}
        other.served = served
        other.start()
        return other

    def run(self):
        connection = self.served.connection()
        try:
            while True:
                self._ask(connection, *(self.unsure or self._next()))
        except (OSError, http.client.HTTPException):
            pass  # it was killed
        except Exception as error:
            self.error = error
        finally:
            connection.close()

    def _next(self):
        self.n += 1
        ids = [f"{self.number}-{self.n}-{k}" for k in range(3)]
        if self.n % 2:
            return "events", [{"id": name, "columns": {"a": self.draw.gauss(0, 1), "b": "x"}} for name in ids]
        return "labels", [
            {"id": f"{self.number}-{self.n - 1}-{k}", "label": int(self.draw.random() < 0.3)} for k in range(3)
        ]

    def _ask(self, connection, kind, body):
        self.unsure = kind, body
        status, said = self.served.ask(
            connection, "POST", f"/models/m/{kind}", body, **{"Idempotency-Key": f"{self.number}-{self.n}"}
        )
        assert status == 200, said
        if kind == "events":
            for answer in said["answers"]:
                answer.pop("duplicate", None)
                assert self.events.setdefault(answer["id"], answer) == answer
        else:
            for outcome, label in zip(said["outcomes"], body, strict=True):
                assert outcome["outcome"] == "learned", outcome
                self.labels[outcome["id"]] = label["label"], outcome["sequence"]
        self.unsure = None


@pytest.fixture
def starter():
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen([sys.executable, str(FORKING)], **options) as process:
        yield process
        process.stdin.close()


def _live_through(kills, starter, folder):
    served = Served(starter, folder)
    try:
        served.wait_until_ready()
        assert served.ask_once("PUT", "/models/m", SETTINGS)[0] == 201
        clients = [Client(number) for number in range(3)]
        draw = random.Random(0)
        for _ in range(kills):
            clients = [client.again(served) for client in clients]
            time.sleep(draw.uniform(0.05, 0.5))
            served.end(signal.SIGKILL)
            for client in clients:
                client.join()
                assert client.error is None, client.error
            served = Served(starter, folder)
            served.wait_until_ready()
    finally:
        served.end(signal.SIGTERM)
    return clients


def _check(folder, clients):
    disk, path = RealDisk(), folder / "models" / "m"
    reader = LogReader(log_path(path), disk)
    found = entries_of(reader)
    assert [sequence for sequence, _ in found] == list(range(1, len(found) + 1))
    walk, by_sequence = Walk(found), dict(found)
    assert sum(len(client.labels) for client in clients) > 20  # or nothing was shown
    for client in clients:
        for name, answer in client.events.items():
            sequence, number = log.entry_and_number(walk.places[name])
            assert (sequence, by_sequence[sequence].score_array[number]) == (answer["sequence"], answer["score"])
        for name, (label, sequence) in client.labels.items():
            assert walk.labelled_at[name, 1 if label else -1] == [sequence]
    versions = Versions(path, disk)
    assert versions.snapshots()  # SIGTERM has saved one
    fresh = Fold(reader, versions)
    while fresh.catch_up():
        pass
    assert recovered(path, disk, reader).to_bytes() == fresh.to_bytes()
    assert int(versions.snapshots()[0].name[:20]) == fresh.position
    reader.close()


@pytest.mark.long
def test_what_was_acknowledged_survives_being_killed(starter, tmp_path):
    _check(tmp_path, _live_through(5, starter, tmp_path))


@pytest.mark.slow
def test_what_was_acknowledged_survives_being_killed_fifty_times(starter, tmp_path):
    _check(tmp_path, _live_through(50, starter, tmp_path))


def test_whoever_watches_does_not_hold_up_the_end(starter, tmp_path):
    """A page that is open asks for the state for ever: SIGTERM ends its answer, and saves."""
    served = Served(starter, tmp_path)
    try:
        served.wait_until_ready()
        assert served.ask_once("PUT", "/models/m", SETTINGS)[0] == 201
        assert served.ask_once("POST", "/models/m/events", {"columns": {"a": 1.0}, "label": 1})[0] == 200
        with closing(served.connection()) as watching:
            watching.request("GET", "/models/m/stream")
            answer = watching.getresponse()
            assert answer.readline() == b"event: state\n"
            os.kill(served.pid, signal.SIGTERM)
            lines = itertools.takewhile(bool, iter(answer.readline, None))
            assert sum(1 for _ in itertools.islice(lines, 300)) < 300, "it goes on"
        while _is_there(served.pid):
            time.sleep(0.01)
    finally:
        served.end(signal.SIGKILL)
    assert Versions(tmp_path / "models" / "m", RealDisk()).snapshots()


def test_two_processes_on_one_directory(tmp_path):
    """The second one refuses; the first one goes on, and ends with 0 when it is asked to."""
    command = [sys.executable, "-m", "lopsided", "serve", "--port", "0", "--data-dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as first:
        try:
            assert first.stdout.readline().startswith("lopsided serves http://127.0.0.1:")
            second = subprocess.run(command, capture_output=True, text=True)
            assert second.returncode == 2
            assert "must be free. Got one that another lopsided serve is using." in " ".join(second.stderr.split())
            assert first.poll() is None
        finally:
            first.send_signal(signal.SIGTERM)
            first.communicate()
    assert first.returncode == 0


# ---------------------------------------------------------------- a full disk, which takes root to make


@pytest.mark.slow
def test_a_full_disk(starter, tmp_path):
    """Requests are refused with 503 while it is full; when there is room again, everything acknowledged is there."""
    folder = tmp_path / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], check=True)
    served = None
    try:
        served = Served(starter, folder)
        served.wait_until_ready()
        assert served.ask_once("PUT", "/models/m", SETTINGS)[0] == 201
        (folder / "ballast").write_bytes(bytes(1 << 20))
        told, statuses = {}, Counter()
        for n in range(3000):
            body = [{"id": f"{n}-{k}", "columns": {"a": float(n), "b": "x" * 50}, "label": n % 2} for k in range(20)]
            status, said = served.ask_once("POST", "/models/m/events", body)
            statuses[status] += 1
            if status == 200:
                told |= {answer["id"]: answer["sequence"] for answer in said["answers"]}
            elif statuses[503] > 20 and (folder / "ballast").exists():
                (folder / "ballast").unlink()
            elif statuses[503] > 20:
                time.sleep(0.05)
                if statuses[503] > 80:
                    break
        assert set(statuses) == {200, 503}
        served.end(signal.SIGKILL)
        subprocess.run(["mount", "-o", "remount,size=200m", str(folder)], check=True)
        served = Served(starter, folder)
        served.wait_until_ready()
        served.end(signal.SIGTERM)
        reader = LogReader(log_path(folder / "models" / "m"), RealDisk())
        walk = Walk(entries_of(reader))
        assert all(log.entry_and_number(walk.places[name])[0] == sequence for name, sequence in told.items())
        reader.close()
    finally:
        if served is not None and _is_there(served.pid):
            served.end(signal.SIGKILL)
        subprocess.run(["umount", str(folder)], check=True)
