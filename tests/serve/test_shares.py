"""A share of events as alerts, decided as they come: for any scores, after restarts, by champion and challenger."""

import numpy as np
import pytest

from lopsided.alerts import AlertShare
from lopsided.client import Client
from lopsided.serve import entries as log
from lopsided.serve.deciding import Deciding
from lopsided.serve.messages import Decision
from lopsided.serve.opening import entries_of
from serve.naive_service import Walk
from serve.running_service import running_service, wait_until

SHARE = 0.05


def _events(rng, first, n, moved=0.0):
    bad = rng.random(n) < 0.05
    x, y = rng.normal(2.0 * bad, 1.0), rng.normal(size=n) + moved * np.arange(n) / n
    columns = [{"x": float(x[k]), "y": float(y[k])} for k in range(n)]
    return [{"id": f"e{first + k}", "columns": columns[k]} for k in range(n)], bad


def _learn(client, rng):
    events, bad = _events(rng, 0, 300)
    client.score_many("m", events)
    client.label_many("m", [{"id": f"e{k}", "label": int(bad[k])} for k in range(300)])
    sequence = client.state("m").sequence
    wait_until(lambda: client.state("m").published >= sequence)


def _asked(client, events, piece=50):
    """Alerts and scores, in requests of so many events."""
    found = []
    for start in range(0, len(events), piece):
        found += client.score_many("m", events[start : start + piece])
    return [answer.alert for answer in found], [answer.score for answer in found]


@pytest.mark.parametrize("learner", ["onlineperceptron", "resamplingbagging"])
def test_a_share_is_kept_on_moving_scores_and_after_a_restart(tmp_path, learner):
    """Also by voters, who give many events the same score."""
    rng = np.random.default_rng(0)
    with running_service(tmp_path) as (address, _), Client(address) as client:
        client.make_model("m", learner=learner, decision={"threshold": f"rate:{SHARE}"})
        _learn(client, rng)
        events, _ = _events(rng, 1000, 2000, moved=3.0)
        alerts, scores = _asked(client, events[:700])
    with running_service(tmp_path) as (address, house), Client(address) as client:
        wait_until(lambda: house.is_ready)
        more, others = _asked(client, events[700:])
        assert client.state("m").alerts == sum(alerts + more)
        Walk(entries_of(house.model("m").reader))  # every flag is what the naive rule makes of the scores
    assert alerts + more == AlertShare(SHARE).decide(scores + others).tolist()
    assert np.mean(alerts + more) == pytest.approx(SHARE, rel=0.1)


def test_champion_and_challenger_each_keep_their_own(tmp_path):
    rng = np.random.default_rng(1)
    with running_service(tmp_path) as (address, house), Client(address) as client:
        client.make_model("m", learner="onlineperceptron", decision={"threshold": f"rate:{SHARE}"})
        client.challenge("m", "opauc")
        _learn(client, rng)
        _asked(client, _events(rng, 1000, 600)[0])
        sequence = client.promote("m").sequence
        wait_until(lambda: client.state("m").published >= sequence)
        alerts, scores = _asked(client, _events(rng, 2000, 600)[0])
        entries = entries_of(house.model("m").reader)
        Walk(entries)
    rivals = [entry.rival_array for _, entry in entries if isinstance(entry, log.Events) and entry.rival_scores]
    follower = AlertShare(SHARE)
    follower.decide(np.concatenate(rivals))
    assert alerts == follower.decide(scores).tolist()
    assert np.mean(alerts) == pytest.approx(SHARE, abs=0.01)


def test_another_rule_begins_anew(tmp_path):
    rng = np.random.default_rng(2)
    with running_service(tmp_path) as (address, house), Client(address) as client:
        client.make_model("m", learner="onlineperceptron", decision={"threshold": "zero"})
        _learn(client, rng)
        client.decide("m", threshold="rate:0.2")
        alerts, scores = _asked(client, _events(rng, 1000, 400)[0])
        assert alerts == AlertShare(0.2).decide(scores).tolist()
        client.decide("m", threshold="zero")
        alerts, scores = _asked(client, _events(rng, 2000, 100)[0])
        assert alerts == [score > 0 for score in scores]
        Walk(entries_of(house.model("m").reader))


def test_a_snapshot_of_an_older_version_begins_its_share():
    decision = Decision(threshold="rate:0.1")
    deciding, again, older = (Deciding(decision, has_challenger=True) for _ in range(3))
    number = np.random.default_rng(0).normal(size=(4, 50))
    entries = [
        log.Events([f"{k}" for k in range(50)], row.tobytes(), [b"{}"] * 50, 1, row.tobytes(), row.tobytes(),
                   rival_scores=(-row).tobytes())
        for row in number
    ]  # fmt: skip
    deciding.alerts(entries[0], has_schema=True)
    again.restore(*deciding.state())
    older.restore({}, {})
    for entry in entries[1:]:
        expected = deciding.alerts(entry, has_schema=True)
        assert np.array_equal(again.alerts(entry, has_schema=True), expected) and expected.any()
    for one in (deciding, again):
        one.promoted()
    assert np.array_equal(deciding.alerts(entries[0], has_schema=True), again.alerts(entries[0], has_schema=True))
    assert np.array_equal(
        older.alerts(entries[0], has_schema=True), Deciding(decision).alerts(entries[0], has_schema=True)
    )
