"""How much a service takes: single events with late labels, batches, recovery; bounded, on loopback only.

    python benchmarks/serve.py                      # everything, about two minutes
    python benchmarks/serve.py --learner koil --seconds 5 --only single
    python benchmarks/serve.py --only pauses                     # what may stop the answers, in CPU time
    python benchmarks/serve.py --learner koil --only memory      # ten million events: minutes, 6 GB of disk

The service is a process of its own, started as a user would, with durable writes; the load comes from this one. Both
share the cores of the machine: what is measured is the whole.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COLUMNS = 30
CONNECTIONS = 128


class Connection:
    """One connection that is kept; requests in HTTP/1.1, answers read by their length."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port)

    async def send(self, method: str, path: str, body: bytes, kind: str = "application/json") -> tuple[int, bytes]:
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self.writer.write(head.encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        status = int(answer[9:12])
        length = int(answer.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        return status, await self.reader.readexactly(length)


def rows_of(n: int, seed: int) -> list[dict[str, float]]:
    values = np.random.default_rng(seed).normal(size=(n, COLUMNS)).round(4)
    return [{f"x{j}": value for j, value in enumerate(row)} for row in values.tolist()]


def is_positive(row: dict[str, float]) -> int:
    return int(row["x0"] + row["x1"] > 2.6)


class Service:
    """`lopsided serve` as a process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> Service:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lopsided", "serve", "--port", "0", "--data-dir", str(self.folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        address = self.process.stdout.readline().split()[2]
        self.host, _, port = address.removeprefix("http://").partition(":")
        self.port = int(port)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    def memory(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100

    async def connections(self, n: int) -> list[Connection]:
        found = [Connection(self.host, self.port) for _ in range(n)]
        for connection in found:
            await connection.open()
        return found


async def ready(service: Service, learner: str) -> None:
    """A model that has learned 2,000 labelled events."""
    (connection,) = await service.connections(1)
    while (await connection.send("GET", "/readyz", b""))[0] != 200:
        await asyncio.sleep(0.1)
    assert (await connection.send("PUT", "/models/load", json.dumps({"learner": learner}).encode()))[0] in (200, 201)
    rows = rows_of(2000, 1)
    for start in range(0, 2000, 200):
        events = [{"columns": row, "label": is_positive(row)} for row in rows[start : start + 200]]
        status, answer = await connection.send("POST", "/models/load/events", json.dumps(events).encode())
        assert status == 200, answer
    while True:
        state = json.loads((await connection.send("GET", "/models/load", b""))[1])
        if state["labels"] >= 2000 and state["published"] >= state["learned"]:
            return
        await asyncio.sleep(0.2)


async def single(service: Service, rate: float, labels: float, seconds: float) -> dict[str, float]:
    """Events one by one at a fixed rate, whatever the service does, and labels of a part of them."""
    connections = await service.connections(CONNECTIONS)
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for connection in connections:
        free.put_nowait(connection)
    rows = rows_of(1000, 2)
    bodies = [json.dumps(row) for row in rows]
    times: list[float] = []
    waiting: list[tuple[str, int]] = []
    run = f"{random.randrange(1 << 30)}"
    cpu = service.cpu()

    async def one(number: int, due: float) -> None:
        connection = await free.get()
        body = f'{{"id": "{run}-{number}", "columns": {bodies[number % 1000]}}}'.encode()
        status, answer = await connection.send("POST", "/models/load/events", body)
        free.put_nowait(connection)
        assert status == 200, answer
        times.append(time.perf_counter() - due)  # from when it should have been sent
        waiting.append((f"{run}-{number}", is_positive(rows[number % 1000])))

    async def label(due: float) -> None:
        if not waiting:
            return
        name, value = waiting.pop(random.randrange(len(waiting)))
        connection = await free.get()
        status, answer = await connection.send(
            "POST", "/models/load/labels", f'{{"id": "{name}", "label": {value}}}'.encode()
        )
        free.put_nowait(connection)
        assert status == 200, answer

    begin, tasks, sent, labelled = time.perf_counter(), [], 0, 0
    while (now := time.perf_counter() - begin) < seconds:
        while sent < now * rate:
            tasks.append(asyncio.create_task(one(sent, begin + sent / rate)))
            sent += 1
        while labelled < now * labels:
            tasks.append(asyncio.create_task(label(begin + now)))
            labelled += 1
        await asyncio.sleep(0.001)
    await asyncio.gather(*tasks)
    took = time.perf_counter() - begin
    ranked = np.sort(times) * 1000
    return {
        "events/s": sent / took,
        "labels/s": labelled / took,
        "p50 ms": float(np.quantile(ranked, 0.5)),
        "p99 ms": float(np.quantile(ranked, 0.99)),
        "max ms": float(ranked[-1]),
        "service CPU us/event": (service.cpu() - cpu) / sent * 1e6,
    }


async def batches(service: Service, size: int, seconds: float, kind: str) -> dict[str, float]:
    """Batches as fast as the service takes them."""
    connections = await service.connections(16)
    rows = rows_of(size, 3)
    if kind == "arrow":
        body, content = arrow_body(rows), "application/vnd.apache.arrow.stream"
    else:
        body, content = json.dumps([{"columns": row} for row in rows]).encode(), "application/json"
    end, sent, cpu = time.perf_counter() + seconds, 0, service.cpu()

    async def stream(connection: Connection) -> None:
        nonlocal sent
        while time.perf_counter() < end:
            status, answer = await connection.send("POST", "/models/load/events", body, content)
            assert status in (200, 429), answer
            sent += size if status == 200 else 0

    async def watch() -> float:
        await asyncio.sleep(seconds / 10)
        return service.memory()

    begin = time.perf_counter()
    early, *_ = await asyncio.gather(watch(), *(stream(connection) for connection in connections))
    took = time.perf_counter() - begin
    return {
        "events": sent,
        "events/s": sent / took,
        "service CPU us/event": (service.cpu() - cpu) / sent * 1e6,
        "MB after a tenth": early,
        "MB": service.memory(),
    }


async def memory(service: Service, events: int, size: int = 1000) -> None:
    """So many events with ids in batches, a hundredth of them labelled; what the process holds after each million."""
    connections = await service.connections(4)
    rows = rows_of(size, 5)
    texts = [json.dumps(row) for row in rows]
    began, sent = time.perf_counter(), 0

    async def stream(connection: Connection, batches: list[int]) -> None:
        nonlocal sent
        for batch in batches:
            parts = [f'{{"id": "m{batch}-{k}", "columns": {text}}}' for k, text in enumerate(texts)]
            body = f"[{', '.join(parts)}]".encode()
            while (answer := await connection.send("POST", "/models/load/events", body))[0] == 429:
                await asyncio.sleep(0.2)
            assert answer[0] == 200, answer
            labels = [{"id": f"m{batch}-{k}", "label": is_positive(rows[k])} for k in range(0, size, 100)]
            answer = await connection.send("POST", "/models/load/labels", json.dumps(labels).encode())
            assert answer[0] == 200, answer
            sent += size

    for million in range(max(1, events // 1_000_000)):
        n = min(events, 1_000_000) // size
        own = [list(range(million * n + k, (million + 1) * n, 4)) for k in range(4)]
        await asyncio.gather(*(stream(*job) for job in zip(connections, own, strict=True)))
        used = sum(path.stat().st_size for path in service.folder.rglob("*") if path.is_file()) / 1e6
        figures = {"MB of memory": service.memory(), "MB of disk": used}
        shown(f"{sent:,} events", figures | {"events/s so far": sent / (time.perf_counter() - began)})
    for what in (f"m{n - 1}-1", f"m0-{size - 1}"):  # of the last million, and the first
        begin = time.perf_counter()
        status, answer = await connections[0].send(
            "POST", "/models/load/labels", f'{{"id": "{what}", "label": 0}}'.encode()
        )
        assert (status, json.loads(answer)["outcome"]) == (200, "learned"), answer
        shown(f"label of {what}", {"ms": (time.perf_counter() - begin) * 1000})


def pauses(learner: str) -> None:
    """What happens beside the answers and might stop them, in milliseconds of the processor; five times each."""
    from lopsided.serve import entries as log
    from lopsided.serve.configuration import built, found_schema, labels_of
    from lopsided.serve.learning import Known, Line
    from lopsided.serve.messages import ChallengerSettings, ModelSettings
    from lopsided.serve.storage.disk import RealDisk
    from lopsided.serve.storage.ids import ROOM, EventIds

    settings, rows = ModelSettings(learner=learner), rows_of(6000, 1)
    model, labels = built(settings, settings, found_schema(settings, rows[:200])), labels_of(settings)
    line, slices = Line(ChallengerSettings(learner), model, labels), []
    zeros, raw = np.zeros(len(rows)).tobytes(), [json.dumps(row).encode() for row in rows]
    entry = log.Events([f"e{k}" for k in range(len(rows))], zeros, raw, 1, zeros, zeros, bytes(len(rows)))
    signs = np.array([2.0 * is_positive(row) - 1.0 for row in rows])

    def learn(first: int, behind: int) -> None:
        own = range(first, behind)
        events, nothing = [(entry, k) for k in own], [0.0] * len(own)
        line.learn(
            Known(list(own), events, signs[first:behind], np.ones(len(own)), [False] * len(own), nothing), rival=False
        )

    learn(0, 2000)
    for k in range(2000, 6000):
        began = time.thread_time()
        learn(k, k + 1)
        slices.append(time.thread_time() - began)
    with tempfile.TemporaryDirectory() as folder:
        ids = EventIds(Path(folder), RealDisk(), "0" * 16)
        names = [f"e{k}" for k in range(ROOM)]

        def roll_over() -> None:
            ids.roll_over()

        def taken(act: object) -> dict[str, float]:
            times = []
            for _ in range(5):
                if act is roll_over:
                    for start in range(0, ROOM, 1024):
                        ids.add(names[start : start + 1024], [1 << 14] * 1024)
                began = time.thread_time()
                act()  # type: ignore[operator]
                times.append(1000 * (time.thread_time() - began))
            return {"least ms": min(times), "most ms": max(times)}

        shown(
            f"{learner}, one label learned",
            {"p99 ms": 1000 * float(np.quantile(slices, 0.99)), "most ms": 1000 * max(slices)},
        )
        for what, act in {
            "a copy to answer by": model.snapshot,
            "measures": lambda: line.window.measures(0.1),
            "a snapshot to save": model.to_bytes,
            "65,536 ids put aside": roll_over,
        }.items():
            shown(f"{learner}, {what}", taken(act))


def arrow_body(rows: list[dict[str, float]]) -> bytes:
    import io

    import pyarrow as pa

    table, sink = pa.Table.from_pylist(rows), io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def write_log(folder: Path, learner: str, n: int) -> None:
    """A log of so many entries, every tenth the label of an event before it, as if none had been in a group."""
    from lopsided.serve import entries as log
    from lopsided.serve.messages import ModelSettings
    from lopsided.serve.opening import log_path, make_model
    from lopsided.serve.storage.disk import RealDisk
    from lopsided.serve.storage.log import Group, LogWriter

    path = folder / "models" / "load"
    settings = ModelSettings(learner=learner)
    make_model(path, RealDisk(), settings, 0.0)
    writer = LogWriter(log_path(path), RealDisk())
    rows = rows_of(1000, 4)
    raw, signs = [json.dumps(row).encode() for row in rows], [2 * is_positive(row) - 1 for row in rows]
    now = time.time()
    number, zero, unsure = np.array([0.0]).tobytes(), np.array([now]).tobytes(), np.array([np.nan]).tobytes()
    found = False
    for start in range(2, n + 1, 1000):
        group = Group(received=now)
        for at in range(start, min(start + 1000, n + 1)):
            if at % 10 == 0:
                if not found:
                    from lopsided.serve.configuration import found_schema

                    group.entries.append((at, log.SchemaFound(found_schema(settings, rows).to_json())))
                    found = True
                    continue
                place = log.place_of(at - 5, 0)
                group.entries.append((at, log.Labels([place], [signs[(at - 5) % 1000]], [1.0], [now], [False])))
                group.labels.append((place, signs[(at - 5) % 1000], at, now))
            else:
                event = log.Events([f"e{at}"], zero, [raw[at % 1000]], 1, number, unsure, b"\0")
                group.entries.append((at, event))
        writer.append(group)
    writer.close()


def reopened(folder: Path) -> dict[str, float]:
    """Seconds until a service is ready with what is there."""
    begin = time.perf_counter()
    with Service(folder) as service:

        async def until_ready() -> float:
            (connection,) = await service.connections(1)
            while (await connection.send("GET", "/readyz", b""))[0] != 200:
                await asyncio.sleep(0.1)
            return time.perf_counter() - begin

        return {"seconds": asyncio.run(until_ready()), "MB": service.memory()}


def shown(what: str, figures: dict[str, float]) -> None:
    print(f"| {what} | " + " | ".join(f"{name} {value:,.1f}" for name, value in figures.items()) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learner", default=None, help="koil or auto; both if it is not given")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=3100.0)
    parser.add_argument("--labels", type=float, default=300.0)
    parser.add_argument("--entries", type=int, default=1_000_000, help="of the log that is opened without a snapshot")
    parser.add_argument("--only", choices=["single", "batches", "recovery", "memory", "pauses"], default=None)
    parser.add_argument("--events", type=int, default=10_000_000, help="of the look at memory")
    options = parser.parse_args()
    for learner in [options.learner] if options.learner else ["koil", "auto"]:
        if options.only == "pauses":
            pauses(learner)
            continue
        with tempfile.TemporaryDirectory() as folder:
            with Service(Path(folder)) as service:
                asyncio.run(ready(service, learner))
                if options.only in (None, "single"):
                    shown(
                        f"{learner}, one by one",
                        asyncio.run(single(service, options.rate, options.labels, options.seconds)),
                    )
                if options.only in (None, "batches"):
                    for kind in ("json", "arrow") if options.only is None else ("json",):
                        figures = asyncio.run(batches(service, 100, options.seconds, kind))
                        shown(f"{learner}, batches of 100 ({kind})", figures)
                if options.only == "memory":
                    asyncio.run(memory(service, options.events))
            if options.only in (None, "recovery", "memory"):
                shown(f"{learner}, opened again", reopened(Path(folder)))
        if options.only in (None, "recovery"):
            with tempfile.TemporaryDirectory() as folder:
                write_log(Path(folder), learner, options.entries)
                shown(f"{learner}, {options.entries:,} entries without a snapshot", reopened(Path(folder)))
    print(f"memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
