"""Data directories of older versions: opened, and gone on with as if nothing had happened."""

import zipfile
from pathlib import Path

import pytest

from lopsided.client import Client
from serve.running_service import running_service, wait_until

DATA = sorted(Path(__file__).parent.glob("data_of_*.zip"))


@pytest.mark.parametrize("archive", DATA, ids=lambda path: path.stem)
@pytest.mark.parametrize("by_snapshot", [True, False], ids=["by its snapshot", "from the beginning"])
def test_it_is_opened_and_goes_on(archive, by_snapshot, tmp_path):
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path)
    if not by_snapshot:
        for path in (tmp_path / "models/cards/snapshots").iterdir():
            path.unlink()
    with running_service(tmp_path) as (address, house), Client(address) as client:
        wait_until(lambda: house.is_ready)
        state = client.state("cards")
        assert (state.events, state.labels, state.parked, state.waiting) == (241, 200, 1, 41)
        assert state.champion.rows == 200 and state.challenger.learner == "onlineperceptron"
        assert [version.name for version in state.versions] == ["first"]
        # What was answered then, and what the model says now, which has learned nothing since.
        before = client.score("cards", {"amount": 0.0}, id="probe")
        again = client.score("cards", {"amount": 9.9, "country": "NO"}, id="probe again", time=1.7e9 + 60 * 301)
        assert before.duplicate and again.score == pytest.approx(before.score, abs=1e-9)
        assert client.label("cards", "e0", 1 - client.event("cards", "e0").label).outcome == "conflict"
        assert client.score("cards", {"amount": 9.0, "country": "SE"}, id="later").id == "later"
        assert client.label("cards", "e239", 0).outcome == "learned"
        wait_until(lambda: client.state("cards").champion.rows == 202)
        assert client.state("cards").parked == 0
