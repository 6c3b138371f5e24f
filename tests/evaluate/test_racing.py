"""Racing: who is tried, who is dropped, and that it does not matter in which pieces rows come."""

import pickle
from concurrent.futures import Executor, Future

import numpy as np
import pytest

import lopsided as lp
from lopsided.datasets import four_clusters
from lopsided.evaluate import Race, Racer, draw_candidates, race
from lopsided.metrics import AUROC

STREAM = four_clusters(900, 3600, random_state=0)


def racers(count=6):
    kinds = {"koil": lp.KOIL, "opauc": lp.OPAUC}
    return [Racer(one.built(random_state=0), one) for one in draw_candidates(2, count, kinds=kinds)]


def pieces(size):
    return [(STREAM.X[k : k + size], STREAM.y[k : k + size]) for k in range(0, STREAM.y.size, size)]


def test_candidates_differ_and_keep_what_is_fixed():
    fixed = {"koil": {"budget": 50, "C": 7}}
    candidates = draw_candidates(20, 12, kinds={"koil": lp.KOIL}, fixed=fixed, seed=1)
    settings = [tuple(candidate.settings.items()) for candidate in candidates]
    assert len(set(settings)) == len(settings) == 12
    assert all(dict(one)["budget"] == 50 and dict(one)["C"] == 7 for one in settings)
    wide = draw_candidates(10_000, 8, kinds={"koil": lp.KOIL, "opauc": lp.OPAUC})
    assert {candidate.name for candidate in wide} == {"koil"}
    assert draw_candidates(10_000, 1, kinds={"opauc": lp.OPAUC})[0].name == "opauc"  # rather than nothing


def test_the_worse_half_is_dropped_at_every_doubling_whatever_the_pieces():
    whole, cut = (race(racers(8), pieces(size)) for size in (4500, 700))
    assert [racer.n_rows for racer in whole] == [4500, 4500, 2000, 2000, 1000, 1000, 1000, 1000]
    assert [racer.entrant.settings for racer in whole] == [racer.entrant.settings for racer in cut]
    assert [racer.value("auroc") for racer in whole] == [racer.value("auroc") for racer in cut]


def test_a_racer_learns_as_it_would_alone():
    first = race(racers(), pieces(1000), jobs=2)[0]
    alone, area = first.entrant.built(random_state=0), AUROC()
    area.update_many(STREAM.y == 1, alone.progressive_scores(STREAM.X, STREAM.y))
    assert first.value("auroc") == area.value
    assert first.model.to_bytes() == alone.to_bytes()


class Elsewhere(Executor):
    """As on a cluster: only bytes go there and come back."""

    slots = 3

    def submit(self, work, /, *arguments):
        assert all(type(argument) is bytes for argument in arguments)
        future = Future()
        future.set_result(pickle.loads(pickle.dumps(work))(*arguments))
        return future


@pytest.mark.parametrize("delay", [None, 300])
def test_racers_that_run_elsewhere_come_back_as_they_would_be_here(delay):
    here, there = (
        race(racers(7), pieces(800), delay=delay, classes=[0, 1], workers=workers) for workers in (None, Elsewhere())
    )
    assert [racer.n_rows for racer in here] == [racer.n_rows for racer in there]
    assert [racer.value("auroc") for racer in here] == [racer.value("auroc") for racer in there]
    assert [racer.model.to_bytes() for racer in here] == [racer.model.to_bytes() for racer in there]


def test_nobody_is_dropped_before_enough_positives():
    few = np.zeros(2500, dtype=int)
    few[:5] = 1
    stream = four_clusters(1250, 1250, random_state=0)
    assert {racer.n_rows for racer in race(racers(4)[::2], [(stream.X, few)])} == {2500}


def test_labels_may_come_late_and_all_are_learned_in_the_end():
    called = []
    entrants = [lp.OPAUC(random_state=0), lp.OCS(random_state=0)]
    ranking = race(entrants, pieces(1500), delay=300, classes=[0, 1], progress=lambda r: called.append(r.n_rows))
    assert called == [1500, 3000, 4500]
    late = lp.late.LateLearner(lp.OPAUC(random_state=0), delay=300)
    area = AUROC()
    area.update_many(STREAM.y == 1, late.progressive_scores(STREAM.X, STREAM.y))
    found = next(racer for racer in ranking if isinstance(racer.model, lp.OPAUC))
    assert found.value("auroc") == area.value
    assert found.model.n_seen_ == STREAM.y.size


def test_a_race_that_breaks_off_learns_nothing_more():
    entrants = racers(2)
    with pytest.raises(RuntimeError), Race(entrants, delay=100, classes=[0, 1]) as running:
        running.step(STREAM.X[:200], STREAM.y[:200])
        raise RuntimeError
    assert entrants[0].model.n_seen_ == 99
