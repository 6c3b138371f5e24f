"""What is kept of a model, by time and by size: the oldest goes first, and never what somebody still waits for."""

import pytest

from lopsided.client import Client, ServiceError
from lopsided.serve import running
from lopsided.serve.configuration import Limits
from lopsided.serve.entries import Events, Labels
from lopsided.serve.opening import entries_of
from serve.running_service import running_service, wait_until

SETTINGS = {"learner": "onlineperceptron"}
LONG = [f"{k} " * 150 for k in range(9)]


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    """Looks at what is too much, and snapshots, twenty times a second."""
    monkeypatch.setattr(running, "_TICK", 0.05)
    monkeypatch.setattr(running, "_BETWEEN_SNAPSHOTS", 0.0)


def _send(client, first, n):
    for start in range(first, first + n, 50):
        own = range(start, start + 50)
        client.score_many("m", [{"id": f"e{k}", "columns": {"x": float(k % 7), "words": LONG[k % 9]}} for k in own])
        client.label_many("m", [{"id": f"e{k}", "label": int(k % 3 == 0)} for k in own])


def _keep_busy(client, until):
    """Snapshots are made where something is learned."""
    number = 0

    def is_so():
        nonlocal number
        number += 1
        client.score("m", {"x": 1.0, "words": "a"}, id=f"busy {number}")
        client.label("m", f"busy {number}", 1)
        return until()

    wait_until(is_so)


def test_by_size_the_oldest_events_go_with_all_that_is_known_of_them(tmp_path):
    limits = Limits(bytes=600_000)
    with running_service(tmp_path, limits=limits) as (address, house), Client(address) as client:
        client.make_model("m", **SETTINGS)
        _send(client, 0, 2500)
        model = house.model("m")
        _keep_busy(client, lambda: 0 < model.size < limits.bytes and client.state("m").storage.removed > 1000)
        state = client.state("m")
        assert state.storage.limit == limits.bytes and state.storage.bytes < 700_000
        assert any(f"{state.storage.removed:,} old event(s)" in note for note in state.notes)
        assert state.waiting == 0  # what is gone does not count as waiting

        def is_all_there():  # between two removals
            now, found = client.state("m"), entries_of(model.reader)
            kept = sum(len(entry.ids) for _, entry in found if isinstance(entry, Events))
            old = (entry for sequence, entry in found if sequence <= model.forgotten)
            return kept == now.events - now.storage.removed and not any(isinstance(e, Events | Labels) for e in old)

        wait_until(is_all_there)
        # An id that is gone is an id that nobody knows.
        assert client.label("m", "e0", 1).outcome == "parked"
        with pytest.raises(ServiceError) as refused:
            client.event("m", "e0")
        assert refused.value.status == 404
        assert client.label("m", "e2499", 0).outcome in ("duplicate", "conflict")
        rows = state.champion.rows
    with running_service(tmp_path, limits=limits) as (address, house), Client(address) as client:
        wait_until(lambda: house.is_ready)
        again = client.state("m")
        assert again.storage.removed >= state.storage.removed and again.champion.rows >= rows
        assert client.label("m", "e2499", 0).outcome in ("duplicate", "conflict")


def test_what_waits_for_its_label_is_kept_whatever_its_size(tmp_path):
    with running_service(tmp_path, limits=Limits(bytes=100_000)) as (address, _), Client(address) as client:
        client.make_model("m", **SETTINGS)
        _send(client, 0, 100)
        client.score("m", {"x": 1.0, "words": "b"}, id="waits")
        _send(client, 100, 400)
        _keep_busy(client, lambda: client.state("m").storage.removed == 100)
        _keep_busy(client, lambda: any("still wait for their labels" in note for note in client.state("m").notes))
        assert client.label("m", "waits", 1).outcome == "learned"
        _keep_busy(client, lambda: client.state("m").storage.removed > 400)


def test_replies_also_have_an_age_of_their_own(tmp_path):
    ahead = [0.0]
    with (
        running_service(tmp_path, clock=lambda: 1.7e9 + ahead[0]) as (address, house),
        Client(address) as client,
    ):
        client.make_model("m", **SETTINGS)
        client.score_many("m", [{"columns": {"x": 1.0}}] * 3)  # with a key, so that it can be repeated
        model = house.model("m")
        replies = lambda: model.reader._sql.execute("SELECT count(*) FROM replies").get  # noqa: E731
        with model.asking:
            assert replies() == 1
        ahead[0] = 8 * 86_400.0

        def are_gone():
            with model.asking:
                return replies() == 0

        wait_until(are_gone)
        assert client.state("m").events == 3 and client.state("m").storage.removed == 0
