"""Models that another process writes: what a reader of its files says is what the service says."""

import numpy as np
import pytest

import lopsided as lp
from lopsided.serve.following import FollowedModel, followed_models
from lopsided.serve.web.inference import outputs_of
from serve.asking import Service
from serve.running_service import wait_until

RNG = np.random.default_rng(0)
ROWS = [{"amount": RNG.exponential(10.0), "country": ["NO", "SE"][RNG.integers(2)]} for _ in range(300)]
LABELS = [int(row["amount"] > 15 and row["country"] == "SE") for row in ROWS]
ASKED = {
    "inputs": [
        {"name": "amount", "shape": [3], "datatype": "FP64", "data": [1.0, 30.0, 12.0]},
        {"name": "country", "shape": [3], "datatype": "BYTES", "data": ["SE", "SE", None]},
    ]
}
ASKED_ROWS = [{"amount": 1.0, "country": "SE"}, {"amount": 30.0, "country": "SE"}, {"amount": 12.0, "country": None}]


def feed(service, start, stop):
    """Events with their labels, learned before this returns; what was learned is saved when the service ends."""
    events = [{"columns": row, "label": label} for row, label in zip(ROWS[start:stop], LABELS[start:stop], strict=True)]
    service.ask("POST", "/models/m/events", events)
    model = service.house.model("m")
    wait_until(lambda: model.view.position >= model.written)


def said(model):
    return outputs_of(model.scorer, model.encoded(ASKED_ROWS), model.labels)


def test_the_newest_snapshot_answers_as_the_service_does(tmp_path):
    path = tmp_path / "models" / "m"
    with Service(tmp_path) as service:
        service.ask("PUT", "/models/m", {"learner": "ocs"})
        followed = followed_models(tmp_path, {})["m"]
        assert followed.look() is None
        feed(service, 0, 150)
        by_service = service.ask("POST", "/v2/models/m/infer", ASKED).said["outputs"]
        service.ask("POST", "/models/m/versions", {"name": "first"})
    first = followed.look()
    assert said(first) == by_service and first.version > 0
    assert followed.look() is first  # nothing is read twice
    with Service(tmp_path) as service:
        feed(service, 150, 300)
        newer = service.ask("POST", "/v2/models/m/infer", ASKED).said["outputs"]
    second = followed.look()
    assert said(second) == newer != by_service and second.version > first.version
    named = FollowedModel(path, "first").look()
    assert said(named) == by_service
    assert FollowedModel(path, "never").look() is None


def test_a_snapshot_that_cannot_be_read_is_left_out(tmp_path):
    with Service(tmp_path) as service:
        service.ask("PUT", "/models/m", {"learner": "ocs"})
        feed(service, 0, 150)
    folder = tmp_path / "models" / "m" / "snapshots"
    followed = FollowedModel(folder.parent)
    before = followed.look()
    (folder / f"{before.version + 7:020d}.lopsided").write_bytes(b"torn")
    assert followed.look() is before
    assert FollowedModel(folder.parent).look().version == before.version


@pytest.mark.parametrize("kind", ["table", "array"])
def test_any_model_file_can_be_followed(tmp_path, kind):
    path = tmp_path / "any.model"
    followed = followed_models({"m": path}, {})["m"]
    assert followed.look() is None
    if kind == "table":
        model = lp.TablePipeline(learner=lp.OCS(random_state=0)).partial_fit(ROWS[:150], LABELS[:150])
        asked, encoded = ASKED_ROWS, ASKED_ROWS
    else:
        X = RNG.standard_normal((150, 2))
        model = lp.OCS(random_state=0).partial_fit(X, X[:, 0] > 0)
        asked, encoded = [{"x": 1.0, "z": 2.0}, {"x": -1.0, "z": 0.0}], [[1.0, 2.0], [-1.0, 0.0]]
    for _ in range(2):
        model.save(path)
        read = followed.look()
        assert read.version == model.n_seen_
        np.testing.assert_array_equal(read.scorer.scores(read.encoded(asked)), model.raw_scores(encoded))
        model.learn_one(ROWS[0] if kind == "table" else X[0], model.labels_.positive)
