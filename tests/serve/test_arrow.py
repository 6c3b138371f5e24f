"""Events as an Arrow stream and as lines of JSON: the same answers as for a list."""

import io
import json
from functools import partial

import pyarrow as pa

from lopsided.client import Client
from serve.running_service import running_service, wait_until


def _has_learned(model, n):
    return model.summary.learned == n and model.view.position == model.summary.position


def test_the_three_formats_agree(tmp_path):
    rows = [{"id": f"e{k}", "time": 1.7e9 + k, "x": k / 7, "n": k % 3, "w": "ab"[k % 2]} for k in range(250)]
    events = [{"id": r["id"], "time": r["time"], "columns": {n: r[n] for n in ("x", "n", "w")}} for r in rows]
    table, sink = pa.Table.from_pylist(rows), io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    bodies = {
        "application/json": json.dumps(events).encode(),
        "application/x-ndjson": "\n".join(map(json.dumps, events)).encode(),
        "application/vnd.apache.arrow.stream": sink.getvalue(),
    }
    found = {}
    with running_service(tmp_path) as (address, house), Client(address) as client:
        for place, (kind, body) in enumerate(bodies.items()):
            name = f"m{place}"
            client.make_model(name, learner="koil", parameters={"budget": 10})
            send = client._http.post
            first = send(f"/models/{name}/events", content=body, headers={"Content-Type": kind})
            assert first.status_code == 200, first.text
            client.label_many(name, [{"id": row["id"], "label": row["n"] == 0} for row in rows])
            wait_until(partial(_has_learned, house.model(name), 250))
            found[kind] = [client.score(name, {"x": x, "n": 0, "w": "a"}).score for x in (0.1, 20.0)]
            assert client.event(name, "e3").columns == {"x": 3 / 7, "n": 0, "w": "b"}
    assert len({tuple(scores) for scores in found.values()}) == 1
