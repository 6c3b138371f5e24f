"""Lives of a model on a disk that loses power or is full, by seed: nothing acknowledged is lost or learned twice."""

import itertools

import pytest

from lopsided.serve.deciding import Deciding
from lopsided.serve.storage import disk, log
from serve.simulated_service import Life, make_small


@pytest.fixture(autouse=True)
def small(monkeypatch):
    make_small(monkeypatch)


def _live(seeds, folder, **options):
    for seed in seeds:
        try:
            Life(seed, folder / str(seed), **options).live()
        except Exception as error:
            error.add_note(f"This was seed {seed}.")
            raise


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 150, 50))
def test_what_was_acknowledged_survives(first, tmp_path):
    _live(range(first, first + 50), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 5000, 500))
def test_what_was_acknowledged_survives_in_many_lives(first, tmp_path):
    _live(range(first, first + 500), tmp_path)


# ---------------------------------------------------------------- the simulator can fail


def _seeds_until_it_fails(folder, **options):
    for seed in itertools.count():
        try:
            Life(seed, folder / str(seed), **options).live()
        except Exception:
            return seed + 1
        assert seed < 30, "the simulator does not see that syncs are missing"


def test_a_disk_that_does_not_sync_is_found_out(tmp_path):
    _seeds_until_it_fails(tmp_path, ignores_syncs=True)


def test_sqlite_without_syncs_is_found_out(tmp_path, monkeypatch):
    prepare = log.LogWriter._prepare

    def hasty(self):
        prepare(self)
        self._sql.execute("PRAGMA synchronous=OFF")

    monkeypatch.setattr(log.LogWriter, "_prepare", hasty)
    _seeds_until_it_fails(tmp_path)


def test_snapshots_without_syncs_are_found_out(tmp_path, monkeypatch):
    """A version that was lost or torn: the model that a rollback gives is another one, or none."""
    monkeypatch.setattr(disk, "_sync_folder", lambda folder: None)
    _seeds_until_it_fails(tmp_path)


def test_shares_of_alerts_that_are_not_in_snapshots_are_found_out(tmp_path, monkeypatch):
    """After a crash the next alerts would be others than if there had been none."""
    monkeypatch.setattr(Deciding, "restore", lambda self, facts, arrays: None)
    _seeds_until_it_fails(tmp_path)
