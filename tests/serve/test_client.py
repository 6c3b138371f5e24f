"""The service over its socket, by its own client: what a user does in the first hour."""

import asyncio
import runpy
from pathlib import Path

import numpy as np
import pytest

from lopsided.client import AsyncClient, Client, ServiceError
from serve.running_service import running_service, wait_until

EXAMPLES = Path(__file__).parents[2] / "examples" / "serve"
SETTINGS = {"learner": "koil", "parameters": {"budget": 20}}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("data")) as (address, house), Client(address) as client:
        yield client, house


def events(n, first=0, seed=0):
    rng = np.random.default_rng(seed)
    rows = [{"amount": float(rng.normal()), "country": "NO" if rng.random() < 0.7 else "SE"} for _ in range(n)]
    return [{"id": f"e{first + k}", "columns": row} for k, row in enumerate(rows)]


def label_of(event):
    return int(event["columns"]["amount"] > 1.0)


def learned(client, name, rows):
    wait_until(lambda: client.state(name).labels >= rows and client.state(name).published >= client.state(name).learned)


def test_from_nothing_to_alerts(service):
    client, _ = service
    assert client.make_model("first", **SETTINGS).sequence == 1
    assert client.make_model("first", **SETTINGS).sequence == 1
    stream = events(400)
    for start in range(0, 400, 50):
        part = stream[start : start + 50]
        answers = client.score_many("first", part)
        assert [answer.id for answer in answers] == [event["id"] for event in part]
        outcomes = client.label_many("first", [{"id": event["id"], "label": label_of(event)} for event in part])
        assert {outcome.outcome for outcome in outcomes} == {"learned"}
        learned(client, "first", start + 50)
    high, low = client.score("first", {"amount": 2.5, "country": "NO"}), client.score("first", {"amount": -1.0})
    assert high.score > low.score and high.probability > low.probability and high.alert and not low.alert
    state = client.state("first")
    assert (state.events, state.labels, state.waiting, state.parked) == (402, 400, 2, 0)
    # The first 50 were answered before the model had learned anything: they say nothing of it.
    wait_until(lambda: client.state("first").champion.measures.labels == 350)
    assert client.state("first").champion.measures.auroc > 0.8
    assert state.schema == ["amount   number", "country  category, hashed into 4 columns"]
    assert client.models() == ["first"]


def test_labels_in_any_order(service):
    client, _ = service
    client.make_model("labels", **SETTINGS)
    assert client.label("labels", "later", 1).outcome == "parked"
    assert client.label("labels", "later", 1).outcome == "duplicate"
    client.score("labels", {"amount": 3.0}, id="later")
    client.score("labels", {"amount": 0.0}, id="known", label=0)
    assert client.label("labels", "later", 1).outcome == "duplicate"
    assert client.label("labels", "known", 1).outcome == "conflict"
    assert client.label("labels", "known", 1, correct=True).outcome == "corrected"
    assert client.label("labels", "known", 1).outcome == "duplicate"
    learned(client, "labels", 3)
    state = client.event("labels", "known")
    assert (state.label, state.columns) == (1, {"amount": 0.0})
    again = client.score("labels", {"amount": 9.0}, id="known")
    assert again.duplicate and again.score == state.answer.score == 0.0


def test_a_request_that_is_repeated_by_its_key_happens_once(service):
    client, house = service
    client.make_model("keys", **SETTINGS)
    send = client._http.post
    bodies = [
        send("/models/keys/events", content=b'{"columns": {"x": 1.0}}', headers={"Idempotency-Key": "k1"}).content
        for _ in range(2)
    ]
    assert bodies[0] == bodies[1]
    assert house.model("keys").sequencer.n_events == 1


def test_challenger_promotion_versions_and_rollback(service):
    client, _ = service
    client.make_model("rivals", **SETTINGS)
    stream = events(300, seed=1)
    client.score_many("rivals", [event | {"label": label_of(event)} for event in stream])
    client.challenge("rivals", "onlineperceptron")
    learned(client, "rivals", 300)
    client.keep_version("rivals", "before")
    later = events(100, first=1000, seed=2)
    client.score_many("rivals", [event | {"label": label_of(event)} for event in later])
    learned(client, "rivals", 400)
    state = client.state("rivals")
    assert state.challenger.learner == "onlineperceptron" and state.challenger.rows == 100
    assert [version.name for version in state.versions] == ["before"]
    client.promote("rivals")
    wait_until(lambda: client.state("rivals").challenger is None)
    assert client.state("rivals").champion.learner == "onlineperceptron"
    client.roll_back("rivals", "before")
    wait_until(lambda: client.state("rivals").champion.rows == 300)
    assert client.state("rivals").champion.learner == "koil"
    with pytest.raises(ServiceError, match="must have a challenger"):
        client.promote("rivals")
    with pytest.raises(ServiceError, match="must be one of: before"):
        client.roll_back("rivals", "never")


def test_decisions_change_at_run_time(service):
    client, _ = service
    client.make_model("decisions", **SETTINGS, decision={"alerts": "2/day"})
    stream = events(300, seed=3)
    day = 1_700_000_000.0 // 86400 * 86400
    timed = [event | {"time": day + 280.0 * k, "label": label_of(event)} for k, event in enumerate(stream)]
    client.score_many("decisions", timed)
    learned(client, "decisions", 300)
    tomorrow = [event | {"id": f"t{k}", "time": day + 86400 + 280.0 * k} for k, event in enumerate(events(300, seed=4))]
    answers = client.score_many("decisions", tomorrow)
    assert sum(answer.alert for answer in answers) == 2
    alerts = client.alerts("decisions", "2023-11-15")
    assert [alert.id for alert in alerts.alerts] == [answer.id for answer in answers if answer.alert][::-1]
    client.decide("decisions", threshold=-1e9)
    wait_until(lambda: client.score("decisions", {"amount": 0.0}).alert)


def test_what_is_refused_says_why(service):
    client, _ = service
    client.make_model("strict", **SETTINGS)
    for refused, sentence in [
        (lambda: client.state("nobody"), "The model must be one of"),
        (lambda: client.make_model("strict", learner="spa"), "must be made as it was"),
        (lambda: client.make_model("new", learner="nothing"), "The setting 'learner' must be one of auto, "),
        (lambda: client.make_model("new", learner="koil", parameters={"budgets": 3}), "must be among .*budget"),
        (lambda: client.make_model("../new"), "The path must be"),
        (lambda: client.make_model("new", keys=["card"]), "must come with 'time'"),
        (lambda: client.make_model("new", selective=True), "'exploration' must be above 0"),
        (lambda: client.label("strict", "x", "yes"), r"A label must be one of \[0, 1\]"),
        (lambda: client.score("strict", {}), "1 to 1000 columns"),
    ]:
        with pytest.raises(ServiceError, match=sentence):
            refused()


def test_labels_that_are_only_seen_for_some_are_weighed(service):
    client, _ = service
    client.make_model("selective", **SETTINGS, selective=True, exploration=0.25)
    stream = events(400, seed=5)
    answers = client.score_many("selective", stream)
    explored = {answer.id for answer in answers if answer.explore}
    assert 60 < len(explored) < 140
    outcomes = client.label_many("selective", [{"id": e["id"], "label": label_of(e)} for e in stream])
    assert {o.id for o in outcomes if o.outcome == "learned"} == explored
    assert {o.outcome for o in outcomes if o.id not in explored} == {"not selected"}
    learned(client, "selective", len(explored))
    share = pytest.approx(len(explored) / 400)
    wait_until(lambda: client.state("selective").champion.measures.share_known == share)


def test_the_other_client(service):
    client, _ = service
    address = str(client._http.base_url)

    async def both():
        async with AsyncClient(address) as other:
            await other.make_model("other", **SETTINGS)
            answers = await asyncio.gather(*(other.score("other", {"x": float(k)}, id=str(k)) for k in range(20)))
            outcomes = await other.label_many("other", [{"id": str(k), "label": k % 2} for k in range(20)])
            return answers, outcomes, await other.state("other")

    answers, outcomes, state = asyncio.run(both())
    assert [answer.id for answer in answers] == [str(k) for k in range(20)]
    assert {outcome.outcome for outcome in outcomes} == {"learned"} and state.events == 20


def test_from_a_csv_file_to_a_service_with_labels_by_cron(service, tmp_path, monkeypatch, capsys):
    """The scripts of the guide, as they are."""
    client, _ = service
    lines = [f"p{k},{k % 10},{'NO' if k % 3 else ''},{int(k % 10 > 7) if k < 250 else ''}" for k in range(300)]
    (tmp_path / "payments.csv").write_text("\n".join(["id,amount,country,label", *lines]))
    (tmp_path / "chargebacks.csv").write_text("\n".join(["id,label", "p258,1", "p259,1", "p260,0", "p10,0", "later,1"]))

    def run(name, file):
        address = str(client._http.base_url)
        monkeypatch.setattr("sys.argv", [name, address, "csv", str(tmp_path / file)])
        runpy.run_path(str(EXAMPLES / name))
        return capsys.readouterr().out

    scored = run("events_from_csv.py", "payments.csv").splitlines()
    assert scored[0] == "id,score,probability,alert" and len(scored) == 301
    assert (client.state("csv").events, client.state("csv").waiting) == (300, 50)
    assert client.event("csv", "p3").columns == {"amount": 3.0, "country": None}
    assert run("labels_from_csv.py", "chargebacks.csv").strip() == "3 learned, 1 duplicate, 1 parked"
    assert run("labels_from_csv.py", "chargebacks.csv").strip() == "5 duplicate"
    run("events_from_csv.py", "payments.csv")
    assert client.state("csv").events == 300
