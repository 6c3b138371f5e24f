"""A service that is started again, or whose disk failed for a while: curves go on, and nobody has to wait."""

import msgspec
import numpy as np
import pytest

from lopsided.client import Client
from lopsided.serve import house as houses
from lopsided.serve import looking
from lopsided.serve.entries import Events
from lopsided.serve.recent import Recent
from lopsided.serve.running import UnavailableError
from lopsided.serve.storage.disk import RealDisk
from lopsided.serve.storage.log import StorageError
from lopsided.serve.watched import DaySums, Watched, read_watched, write_watched
from lopsided.serve.web.questions import _shown
from serve.running_service import running_service, wait_until

DAY = 86_400.0


def _stream(client, days):
    for day in days:
        events = [
            {"id": f"{day}-{k}", "time": (20_000 + day) * DAY + k, "columns": {"x": float(k % 5 == 0) + 0.01 * k}}
            for k in range(60)
        ]
        client.score_many("m", events)
        client.label_many("m", [{"id": f"{day}-{k}", "label": int(k % 5 == 0)} for k in range(60)])
        sequence = client.state("m").sequence
        wait_until(lambda at=sequence: client.state("m").published >= at)


def test_curves_and_days_go_on_after_a_restart(tmp_path):
    with running_service(tmp_path) as (address, house), Client(address) as client:
        client.make_model("m", learner="onlineperceptron")
        _stream(client, [0, 1, 2])
        model = house.model("m")
        wait_until(lambda: model.past.points and model.past.points[-1].labels == 180)
        points, days = model.past.points, looking.days_of(model, 30)
    with running_service(tmp_path) as (address, house), Client(address) as client:
        wait_until(lambda: house.is_ready)
        model = house.model("m")
        assert model.past.points[: len(points) - 1] == points[:-1]
        assert looking.days_of(model, 30) == days and [day.events for day in days.days] == [60, 60, 60]
        _stream(client, [3])
        wait_until(lambda: model.past.points[-1].labels == 240)
        assert model.past.points[0] == points[0]
        assert [day.events for day in looking.days_of(model, 30).days] == [60, 60, 60, 60]


class _Reader:
    """A log of entries with one event each, of one day."""

    def __init__(self, last):
        self.last = last

    def newest_events(self, limit):
        return list(range(self.last, max(0, self.last - limit), -1))

    def events_at(self, sequence):
        number = np.array([20_000 * DAY]).tobytes()
        return Events([f"{sequence}"], number, [b'{"x": 1.0}'], 0, number, number, b"\0")


def test_days_are_told_only_if_all_of_their_events_are_known():
    watched = Watched(days={20_000: DaySums(500, 0, 0.0)}, noted=500)
    assert Recent(_Reader(900), watched).day(20_000)[0] == 900  # 400 came after it was written
    assert Recent(_Reader(1600), watched).day(20_000) is None  # 100 of them are not read again
    assert Recent(_Reader(900)).day(20_000) is None


def test_what_was_watched_may_be_lost(tmp_path):
    disk = RealDisk()
    assert read_watched(tmp_path, disk) == Watched()
    write_watched(tmp_path, disk, Watched(step=4.0, noted=7))
    assert read_watched(tmp_path, disk) == Watched(step=4.0, noted=7)
    (tmp_path / "watched.json").write_bytes(b"{")
    assert read_watched(tmp_path, disk) == Watched()


def test_a_model_whose_disk_failed_is_opened_again_by_a_thread_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(houses, "_BETWEEN_OPENINGS", 0.0)
    with running_service(tmp_path) as (address, house), Client(address) as client:
        client.make_model("m", learner="onlineperceptron")
        client.score("m", {"x": 1.0}, id="a")
        failed = house.model("m")
        failed.failure = StorageError("The disk is gone.")
        assert house.model("m") is failed  # whoever asks does not wait
        wait_until(lambda: house.model("m") is not failed)
        assert client.event("m", "a").answer.id == "a"
        with pytest.raises(UnavailableError):
            failed.check_open()


def test_the_state_is_worked_out_once_for_all_who_watch(tmp_path, monkeypatch):
    with running_service(tmp_path) as (address, house), Client(address) as client:
        client.make_model("m", learner="onlineperceptron")
        asked = []
        state_of = looking.state_of
        monkeypatch.setattr(looking, "state_of", lambda model: asked.append(1) or state_of(model))
        model = house.model("m")
        assert len({id(_shown(model)) for _ in range(20)}) == len(asked) <= 2
        assert msgspec.json.decode(_shown(model))["events"] == 0
