"""What can be seen of a model at work: its clock, its past, scores by class, days, delays, and the page's files."""

import re

import httpx
import numpy as np
import pytest

from lopsided.encoding import Column, Schema
from lopsided.serve.demo import NAME, Replay
from lopsided.serve.drifting import DriftWatch
from lopsided.serve.entries import Events, place_of
from lopsided.serve.house import House
from lopsided.serve.measuring import Window
from lopsided.serve.messages import LineState, Measures
from lopsided.serve.recent import Recent, Sampled
from lopsided.serve.storage.disk import RealDisk
from lopsided.serve.storage.log import Group
from lopsided.serve.watching import Past, Summary
from serve.running_service import running_service, wait_until

DAY = 86_400.0
BEGIN = 20_000 * DAY  # 2024-10-04
SETTINGS = {"learner": "koil", "parameters": {"budget": 20}, "decision": {"alerts": "5/day"}}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("data")) as (address, house), httpx.Client(base_url=address) as client:
        wait_until(lambda: house.is_ready)
        yield client


def posted(client, path, content):
    response = client.post(path, json=content)
    assert response.status_code == 200, response.text
    return response.json()


@pytest.fixture(scope="module")
def watched(client):
    """Three days of 100 events; labels of the first two, a day late, but for every tenth."""
    assert client.put("/models/cards", json=SETTINGS).status_code == 201
    rng = np.random.default_rng(0)
    known = []
    for day in range(3):
        kinds = rng.random(100) < 0.2
        amounts = rng.normal(2.0 * kinds)
        events = [
            {"id": f"{day}-{k}", "time": BEGIN + day * DAY + 600.0 * k, "columns": {"amount": float(amount)}}
            for k, amount in enumerate(amounts)
        ]
        for k in range(0, 100, 20):
            posted(client, "/models/cards/events", events[k : k + 20])
        labels = [
            {"id": event["id"], "label": int(kind), "time": event["time"] + DAY}
            for k, (event, kind) in enumerate(zip(events, kinds, strict=True))
            if k % 10
        ]
        if day < 2:
            posted(client, "/models/cards/labels", labels)
            known += labels
            sequence = client.get("/models/cards").json()["sequence"]
            wait_until(lambda at=sequence: client.get("/models/cards").json()["published"] >= at)
    wait_until(lambda: client.get("/models/cards").json()["champion"]["measures"]["labels"] == 90)
    return client, known


def test_the_state_tells_the_stream_s_own_time_and_how_late_labels_are(watched):
    client, known = watched
    state = client.get("/models/cards").json()
    assert state["day"] == "2024-10-06" and BEGIN + 2 * DAY < state["clock"] < BEGIN + 3 * DAY
    assert (state["negative"], state["positive"], state["status"]) == (0, 1, "live")
    assert state["labels"] == len(known) and state["waiting"] == 300 - len(known)
    # Events of the first day were answered before the model had begun: their 0 is no opinion and is not measured.
    assert state["champion"]["rows"] == len(known) and state["champion"]["measures"]["labels"] == 90
    assert state["delay"] == {"labels": 90, "median": DAY, "p90": DAY}
    assert state["pace"]["answer_median"] > 0.0 and state["pace"]["answer_p99"] >= state["pace"]["answer_median"]


def test_scores_are_counted_by_what_events_turned_out_to_be(watched):
    client, known = watched
    scores = client.get("/models/cards/scores").json()
    positive = sum(label["label"] for label in known if label["id"].startswith("1-"))
    assert sum(scores["positive"]) == positive and sum(scores["negative"]) == 90 - positive
    assert sum(scores["unknown"]) == 110  # ten of the second day, and all of the third
    assert scores["edges"] == sorted(scores["edges"]) and len(scores["edges"]) == len(scores["unknown"]) + 1


def test_days_tell_what_became_of_alerts(watched):
    client, known = watched
    days = client.get("/models/cards/days?limit=30").json()["days"]
    assert [(day["day"], day["events"]) for day in days] == [(f"2024-10-0{4 + k}", 100) for k in range(3)]
    assert days[0]["mean_score"] is None and days[1]["mean_score"] is not None
    truth = {label["id"]: label["label"] for label in known}
    for day in days:
        alerts = client.get(f"/models/cards/alerts?day={day['day']}").json()["alerts"]
        assert day["alerts"] == len(alerts)
        assert day["labelled_alerts"] == sum(alert["id"] in truth for alert in alerts)
        assert day["positive_alerts"] == sum(truth.get(alert["id"], 0) for alert in alerts)
    latest = client.get("/models/cards/alerts").json()
    assert latest["day"] == "2024-10-06" and len(latest["alerts"]) == days[2]["alerts"] > 0


def test_the_past_has_the_measures_of_the_state(watched):
    client, _ = watched
    points = client.get("/models/cards/history").json()["points"]
    measures = client.get("/models/cards").json()["champion"]["measures"]
    assert points[-1]["champion"]["auroc"] == [
        round(number, 6) for number in (measures["auroc"], *measures["auroc_interval"])
    ]
    assert points[-1]["challenger"] is None


def test_every_file_of_the_page_is_served_and_asks_for_nothing_elsewhere(client):
    page = client.get("/")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    wanted, seen = re.findall(r'(?:src|href)="(/[^"]*)"', page.text), set()
    while wanted:
        path = wanted.pop()
        if path not in seen:
            seen.add(path)
            response = client.get(path)
            assert response.status_code == 200, path
            assert not re.search(r"https?://(?!www\.w3\.org)", response.text), path
            wanted += [f"/{name}" for name in re.findall(r'from "\./([^"]+)"', response.text)]
    assert len(seen) == 7


def test_labels_of_first_events_and_later_ones_are_learned_together(client):
    settings = SETTINGS | {"keys": ["card"], "time": "when", "value": "amount"}
    assert client.put("/models/keyed", json=settings).status_code == 201
    rng = np.random.default_rng(1)
    events = [
        {"id": f"{k}", "time": BEGIN + 60.0 * k, "columns": {"card": f"c{k % 7}", "amount": float(rng.normal())}}
        for k in range(240)
    ]
    posted(client, "/models/keyed/events", events[:200])  # they tell what the columns are
    wait_until(lambda: client.get("/models/keyed").json()["status"] == "live")
    posted(client, "/models/keyed/events", events[200:])  # these are seen with their history
    mixed = [239, 0, 1, 238, 2, 3]
    posted(client, "/models/keyed/labels", [{"id": f"{k}", "label": k % 2} for k in mixed])
    wait_until(lambda: client.get("/models/keyed").json()["champion"]["rows"] == len(mixed))
    assert client.get("/readyz").status_code == 200


def summary(made, auroc=0.8, learned=0):
    measures = Measures(10, 2, auroc, [0.7, 0.9], 0.5, None, None, None, None)
    line = LineState("koil", 10, 2, measures)
    return Summary(made, learned, 0, learned, 0, 0, 0, 0, None, None, line, None, (np.zeros(0), np.zeros(0)))


def test_the_past_is_bounded_and_goes_one_way():
    past = Past(room=50)
    for second in range(1000):
        past.add(summary(float(second), learned=second), BEGIN + second)
    clocks = [point.clock - BEGIN for point in past.points]
    assert 25 <= len(clocks) <= 50 and clocks == sorted(clocks) and clocks[-1] > 960 and clocks[0] < 64
    assert len(set(np.diff(clocks))) <= 2  # thinned evenly
    past.add(summary(5000.0), BEGIN + 100.0)
    assert past.points[-1].clock == BEGIN + 100.0 and past.points[-2].clock < BEGIN + 100.0
    past.add(summary(9000.0, auroc=None), BEGIN + 200.0)
    past.add(summary(9000.0), None)
    assert past.points[-1].clock == BEGIN + 100.0


class NoLog:
    def newest_events(self, limit):
        return []


def group_of(sequence, times, score=0.5):
    n = len(times)
    entry = Events([f"{sequence}-{k}" for k in range(n)], np.array(times).tobytes(), [b"{}"] * n, 0)
    entry.scores = entry.probabilities = np.full(n, score).tobytes()
    return Group(0.0, entries=[(sequence, entry)])


def test_one_wrong_date_does_not_move_the_clock_and_all_that_is_kept_is_bounded():
    recent = Recent(NoLog())
    assert recent.clock is None and recent.scores()[0].size == 0
    recent.note(group_of(1, [BEGIN + k for k in range(50)]), [])
    recent.note(group_of(2, [BEGIN + 1e9]), [])
    assert BEGIN <= recent.clock < BEGIN + 50
    for day in range(100):
        recent.note(group_of(3 + day, [BEGIN + day * DAY] * 200, score=0.01 * day), [])
    places, scores = recent.scores()
    assert places.size == 10_000 and places.min() == place_of(53, 0) and scores.min() == pytest.approx(0.5)
    assert recent.day(20_000) is None and recent.day(20_099) == (200, pytest.approx(0.99))
    assert recent.clock == BEGIN + 99 * DAY
    rows = recent.drained()
    assert 200 <= len(rows) <= 400 and len({row.time for row in rows}) > 10 and recent.drained() == []


def test_drift_is_told_by_days_and_survives_a_restart_but_not_a_broken_file(tmp_path):
    schema = Schema((Column("amount", "number"), Column("shop", "category", 8)))
    rng, watch, disk = np.random.default_rng(0), DriftWatch(tmp_path, RealDisk()), RealDisk()
    for day in range(24):
        amounts, shops = rng.normal(2.0 * (day >= 20), size=100), rng.integers(3, size=100)
        rows = [
            Sampled(BEGIN + day * DAY + 60.0 * k, b'{"amount": %r, "shop": "s%d"}' % (amount, shop), 0.1)
            for k, (amount, shop) in enumerate(zip(amounts.tolist(), shops, strict=True))
        ]
        watch.take(schema, [*rows, Sampled(BEGIN + 1e9, rows[0].columns, 0.1)], BEGIN + day * DAY)
        if day == 10:
            watch.save()
            watch = DriftWatch(tmp_path, disk)
            assert watch.state() is None
    state = watch.state()
    assert state.series == ["amount", "score", "shop"] and state.days == 22
    assert [found.what.partition(" ")[0] for found in state.found] == ["amount"]
    assert state.found[0].since == BEGIN + 20 * DAY
    disk.write(tmp_path / "drift.safetensors", b"something else")
    again = DriftWatch(tmp_path, disk)
    again.take(schema, rows, BEGIN + 23 * DAY)
    assert again.state().days == 0 and again.state().found == []


def test_a_label_that_nobody_gave_has_no_delay():
    window = Window(room=4)
    window.add(1, 0.0, 1.0, 1.0, alert=False)
    assert window.delay() is None
    for place, delay in enumerate((10.0, 20.0, 30.0)):
        window.add(place + 2, 0.0, 1.0, 1.0, alert=True, delay=delay)
    assert (window.delay().labels, window.delay().median) == (3, 20.0)


def test_the_demo_plays_payments_in_a_model_with_a_challenger(tmp_path):
    house = House(tmp_path)
    house.open()
    replay = Replay(house)
    replay.start()
    try:
        wait_until(lambda: NAME in house.names and house.model(NAME).sequencer.n_events > 200, seconds=60.0)
    finally:
        replay.stop()
        model = house.model(NAME)
        has_challenger, reader = model.sequencer.has_challenger, model.reader
        with model.asking:
            first = reader.events_at(reader.newest_events(1)[0])
        house.close()
    assert has_challenger and set(first.columns(0)) == {"card", "terminal", "amount", "time"}
