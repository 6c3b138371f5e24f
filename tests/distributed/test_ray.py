"""Shards as Ray actors on a real cluster, and actors and a machine of it killed: apart from the gate, `make ray`.

Imports of Ray are inside of the tests, because the gate does not have it.
"""

import json
import os
import signal

import numpy as np
import pytest

import lopsided as lp
from lopsided.datasets import xor
from lopsided.distributed import ShardedKeys, ShardedLearner, learn_in_shards

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]

STREAM = xor(6_000, rare=0.1, random_state=3)
X, Y = STREAM.X, STREAM.y
HOW = {"shards": 2, "merge_every": 1_500, "first_rows": 300}
MAKERS = {
    "averages": lambda: lp.OCS(random_state=1),
    "vectors": lambda: lp.KOIL(gamma=2.0, budget=20, random_state=1),
}


@pytest.fixture(scope="module")
def cluster():
    """Two machines, as far as Ray can tell: processes of their own, each with a store of its own."""
    import ray
    from ray.cluster_utils import Cluster

    soon = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 3}
    head = {"num_cpus": 2, "include_dashboard": False, "_system_config": soon}  # a lost machine is noticed in seconds
    made = Cluster(initialize_head=True, head_node_args=head)
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


def learned(make, disturb, size=250, **options):
    """The stream in batches, with something done after each; what came of it, and how many workers were replaced."""
    from lopsided.distributed.ray_engine import RayEngine

    engine = RayEngine(**options)
    with ShardedLearner(make(), engine=engine, **HOW) as learner:
        for place, start in enumerate(range(0, len(Y), size)):
            learner.learn(X[start : start + size], Y[start : start + size])
            disturb(place, engine)
        return learner.merge().to_bytes(), learner.take_scores(), learner.n_replaced


@pytest.fixture(scope="module", params=MAKERS)
def undisturbed(request):
    make = MAKERS[request.param]
    return make, learn_in_shards(make(), X, Y, **HOW)


def is_the_same(found, run):
    content, scores, _ = found
    assert content == run.model.to_bytes()
    np.testing.assert_array_equal(scores, run.scores)


def test_actors_give_the_same_bytes_as_this_process(cluster, undisturbed):
    make, run = undisturbed
    found = learned(make, lambda *_: None)
    is_the_same(found, run)
    assert found[2] == 0


def test_actors_killed_in_the_middle_leave_no_trace(cluster, undisturbed):
    import ray

    make, run = undisturbed
    rng = np.random.default_rng(0)
    kills = [place for place in range(4, 24) if rng.random() < 0.3]

    def disturb(place, engine):
        if place in kills:
            ray.kill(engine.actors[place % 2])

    found = learned(make, disturb)
    is_the_same(found, run)
    assert found[2] >= 3


def test_a_process_killed_by_the_system_leaves_no_trace(cluster, undisturbed):
    import ray

    make, run = undisturbed

    def disturb(place, engine):
        if place == 9:
            process = ray.get(engine.actors[1].__ray_call__.remote(_process))
            os.kill(process, signal.SIGKILL)

    found = learned(make, disturb)
    is_the_same(found, run)
    assert found[2] == 1


def test_a_machine_that_is_lost_leaves_no_trace(cluster, undisturbed):
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    make, run = undisturbed
    machine = cluster.add_node(num_cpus=2)
    cluster.wait_for_nodes()
    there = NodeAffinitySchedulingStrategy(machine.node_id, soft=True)  # soft: elsewhere when it is gone

    def disturb(place, engine):
        if place == 9:
            asked = [actor.__ray_call__.remote(_node) for actor in engine.actors.values()]
            assert set(ray.get(asked)) == {machine.node_id}
            cluster.remove_node(machine, allow_graceful=False)

    found = learned(make, disturb, scheduling_strategy=there)
    is_the_same(found, run)
    assert found[2] >= 2  # more, where a newcomer was sent to the lost machine before Ray noticed


def _process(_):
    return os.getpid()


def _node(_):
    import ray

    return ray.get_runtime_context().get_node_id()


KEYS = np.random.default_rng(4).integers(0, 200, len(Y))
KEYED = {
    "stacked": lambda: lp.KeyedLearner(lp.OCS(loss="logistic", random_state=1), max_keys=50, spill="temporary"),
    "separate": lambda: lp.KeyedLearner(lp.KOIL(gamma=2.0, budget=6, random_state=1)),
}


@pytest.mark.parametrize("kind", KEYED)
def test_keys_over_actors_that_are_killed_are_those_of_this_process(cluster, kind):
    import ray

    from lopsided.distributed.ray_engine import RayEngine

    rows, size = np.column_stack([KEYS, X]), 250
    how = {"shards": 2, "merge_every": 1_500}
    here = learn_in_shards(KEYED[kind](), rows, Y, **how)
    engine, kills = RayEngine(), {3: "actor", 4: "process", 13: "actor", 20: "process", 22: "actor"}
    with ShardedKeys(KEYED[kind](), engine=engine, **how) as learner:
        for place, start in enumerate(range(0, len(Y), size)):
            learner.learn(rows[start : start + size], Y[start : start + size])
            if kills.get(place) == "actor":
                ray.kill(engine.actors[place % 2])
            elif place in kills:
                os.kill(ray.get(engine.actors[place % 2].__ray_call__.remote(_process)), signal.SIGKILL)
        answers = learner.raw_scores(rows)
        merged, scores, n_replaced = learner.merge(), learner.take_scores(), learner.n_replaced
    assert merged.to_bytes() == here.model.to_bytes() and n_replaced >= 4
    np.testing.assert_array_equal(scores, here.scores)
    with ShardedKeys(KEYED[kind](), **how) as learner:
        learner.learn(rows, Y)
        np.testing.assert_array_equal(answers, learner.raw_scores(rows))
    assert merged.n_keys_ == np.unique(KEYS).size


def test_bad_rows_are_told_as_in_this_process(cluster):
    bad = X.copy()
    bad[1_777, 0] = np.nan
    with ShardedLearner(MAKERS["vectors"](), engine="ray", **HOW) as learner:
        with pytest.raises(ValueError, match="NaN"):
            learner.learn(bad, Y)
        assert learner.n_rows == 300
        learner.learn(X[300:], Y[300:])
        assert learner.merge().to_bytes() == learn_in_shards(MAKERS["vectors"](), X, Y, **HOW).model.to_bytes()


def test_runs_of_a_contest_are_those_of_this_process(cluster, tmp_path, monkeypatch):
    from lopsided.cli.main import run

    monkeypatch.chdir(tmp_path)
    areas = []
    for engine in ("processes", "ray"):
        assert (
            run(["compare", "ocs", "koil", "--on", "xor", "--rows", "500", "--engine", engine, "--output", engine]) == 0
        )
        entries = [json.loads(line) for line in next((tmp_path / engine).glob("*.jsonl")).read_text().splitlines()]
        areas.append({(entry["set"], entry["method"]): entry["measures"]["AUROC"] for entry in entries})
    assert areas[0] == areas[1] and len(areas[0]) == 2


def test_candidates_are_tuned_as_in_this_process(cluster, tmp_path, monkeypatch, capsys):
    from lopsided.cli.main import run

    monkeypatch.chdir(tmp_path)
    rows = np.column_stack([X, Y])
    np.savetxt("rows.csv", rows, delimiter=",", header=",".join([*"abcdefgh"[: X.shape[1]], "y"]), comments="")
    told = []
    for engine in ("threads", "ray"):
        common = ["tune", "rows.csv", "--label", "y", "--candidates", "6", "--learner", "koil", "--learner", "ocs"]
        assert run([*common, "--engine", engine, "-o", engine, "--json"]) == 0
        told.append(json.loads(capsys.readouterr().out) | {"model": None})
    assert told[0] == told[1] and len(told[0]["candidates"]) == 6
    assert (tmp_path / "threads").read_bytes() == (tmp_path / "ray").read_bytes()


def test_the_command_gives_the_same_file_with_both_engines(cluster, tmp_path, monkeypatch):
    from lopsided.cli.main import run

    monkeypatch.chdir(tmp_path)
    rows = np.column_stack([X, Y])
    np.savetxt("rows.csv", rows, delimiter=",", header=",".join([*"abcdefgh"[: X.shape[1]], "y"]), comments="")
    common = ["learn", "rows.csv", "--label", "y", "--learner", "koil", "--shards", "2", "--merge-every", "1500"]
    for engine in ("local", "ray"):
        assert run([*common, "--engine", engine, "-o", engine]) == 0
    assert (tmp_path / "local").read_bytes() == (tmp_path / "ray").read_bytes()
