"""The scoring side on Ray Serve, beside the service that writes: newer versions, replicas that die. `make ray`.

Imports of Ray are inside of the tests, because the gate does not have it.
"""

import os
import signal
import time
from pathlib import Path

import pytest

from serve.asking import Service
from serve.running_service import wait_until
from serve.test_following import ASKED, feed

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def cluster():
    import ray

    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    yield
    from ray import serve

    serve.shutdown()
    ray.shutdown()


def ask(name, body=ASKED):
    import httpx

    return httpx.post(f"http://127.0.0.1:8123/v2/models/{name}/infer", json=body, timeout=30.0)


def outputs(name="m"):
    answer = ask(name).json()
    return answer["model_version"], answer["outputs"]


def test_replicas_score_as_the_service_does_and_follow_it(cluster, tmp_path):
    import httpx
    from ray import serve

    from lopsided.serve.ray_scoring import scoring_app

    with Service(tmp_path) as service:
        service.ask("PUT", "/models/m", {"learner": "ocs"})
        feed(service, 0, 150)
        first = service.ask("POST", "/v2/models/m/infer", ASKED).said["outputs"]
    serve.start(http_options={"port": 8123})
    serve.run(scoring_app(tmp_path, replicas=2, check_every=0.1, ray_actor_options={"num_cpus": 0.5}))
    version, said = outputs()
    assert said == first
    with Service(tmp_path) as service:
        feed(service, 150, 300)
        second = service.ask("POST", "/v2/models/m/infer", ASKED).said["outputs"]
    # Each replica looks at its next request: once the newer version has been seen by both, nobody gives the older one.
    wait_until(lambda: all(outputs()[1] == second for _ in range(20)))
    assert int(outputs()[0]) > int(version) and second != first

    processes = replica_processes()
    assert len(processes) == 2
    os.kill(processes[0], signal.SIGKILL)
    end = time.monotonic() + 60.0
    answered = 0
    while time.monotonic() < end and (answered < 200 or len(replica_processes()) < 2):
        response = ask("m")
        if response.status_code == 200:  # what was under way in the dead process is told as an error, never wrongly
            answered += 1
            assert response.json()["outputs"] == second
    assert answered >= 200 and len(set(replica_processes()) - {processes[0]}) == 2

    assert ask("nobody").status_code == 404
    assert ask("m", {"inputs": 7}).status_code == 400
    wrong = {"inputs": [{"name": "amount", "shape": [1], "datatype": "FP64", "data": ["much"]}]}
    assert ask("m", wrong).status_code == 422
    assert httpx.get("http://127.0.0.1:8123/v2/models/m/ready", timeout=30.0).json()["ready"]


def replica_processes():
    """The processes of the replicas that live: Ray writes into their titles what they are."""
    titles = {}
    for folder in Path("/proc").iterdir():
        try:
            titles[folder.name] = (folder / "cmdline").read_bytes()
        except OSError:
            continue
    return [int(name) for name, title in titles.items() if title.startswith(b"ray::ServeReplica:")]
