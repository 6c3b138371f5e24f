"""The engine against a naive transcription: the same scores and the same counts, bit for bit."""

import numpy as np
import pytest

import lopsided as lp
from lopsided.datasets import transactions
from lopsided.late import LateLearner
from oracles.late import ROWS, TIME, NaiveLate

N = 2500
STREAM = transactions(N)
RNG = np.random.default_rng(5)
PER_ROW = RNG.integers(0, 400, N)
CLOCK = np.cumsum(RNG.integers(0, 3, N)).astype(float)  # many ties
BACKWARDS = np.where(RNG.random(N) < 0.2, CLOCK - 50.0, CLOCK)
BACKWARDS[RNG.random(N) < 0.05] = np.nan
UNKNOWN = RNG.random(N) < 0.3

LEARNERS = {
    "koil": lambda: lp.StreamPipeline(lp.OnlineScaler(), lp.KOIL(gamma=0.1, threshold="f1", random_state=0)),
    "opauc": lambda: lp.OPAUC(random_state=0),
    "bpas": lambda: lp.BPAS(gamma=0.1, random_state=0),
    "spa": lambda: lp.SPA(gamma=0.1, random_state=0),
    "omcsl": lambda: lp.OMCSL(random_state=0),
    "fourier": lambda: lp.StreamPipeline(lp.OnlineScaler(), lp.FourierRanker(random_state=0)),
}


def in_pieces(late, sizes, y, times=None, delays=None, keys=None):
    """Scores of the engine when rows come in pieces of these sizes, again and again."""
    scores, start = [], 0
    while start < N:
        for size in sizes:
            part = slice(start, min(start + size, N))
            more = {
                name: values[part]
                for name, values in (("times", times), ("delays", delays), ("keys", keys))
                if values is not None
            }
            scores.append(late.progressive_scores(STREAM.X[part], y[part], **more))
            start = part.stop
            if start == N:
                break
    return np.concatenate(scores)


def naively(naive, y, times=None, delays=None, keys=None):
    found = []
    for t in range(N):
        label = None if y[t] != y[t] else int(y[t])
        found.append(
            naive.row(
                STREAM.X[t],
                label,
                None if keys is None else keys[t],
                None if times is None else times[t],
                None if delays is None else delays[t],
            )
        )
    return np.array(found)


def assert_same(late, naive, scores, expected):
    np.testing.assert_array_equal(scores, expected)
    counts = late.counts.as_dict()
    assert counts.pop("waiting") == len(naive.waiting)
    assert counts.pop("expected") == 0
    assert counts == naive.counts
    late.finish()
    naive.finish()
    np.testing.assert_array_equal(late.model.raw_scores(STREAM.X[:50]), naive.model.raw_scores(STREAM.X[:50]))
    assert late.model.to_bytes() == naive.model.to_bytes()


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("sizes", [[N], [700, 1, 3]])
def test_a_delay_of_rows(name, sizes):
    late, naive = LateLearner(LEARNERS[name](), delay=60, classes=[0, 1]), NaiveLate(LEARNERS[name](), delay=60)
    assert_same(late, naive, in_pieces(late, sizes, STREAM.y), naively(naive, STREAM.y))


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("sizes", [[N], [100, 2, 17]])
def test_delays_of_single_rows(name, sizes):
    late, naive = LateLearner(LEARNERS[name](), classes=[0, 1]), NaiveLate(LEARNERS[name]())
    scores = in_pieces(late, sizes, STREAM.y, delays=PER_ROW)
    assert_same(late, naive, scores, naively(naive, STREAM.y, delays=PER_ROW))


@pytest.mark.parametrize("times", [CLOCK, BACKWARDS], ids=["ties", "backwards and missing"])
@pytest.mark.parametrize("sizes", [[N], [333, 1]])
def test_a_delay_in_time(times, sizes):
    make = LEARNERS["koil"]
    late, naive = LateLearner(make(), delay="40s", classes=[0, 1]), NaiveLate(make(), clock=TIME, delay=40.0)
    scores = in_pieces(late, sizes, STREAM.y, times=times)
    assert_same(late, naive, scores, naively(naive, STREAM.y, times=times))


@pytest.mark.parametrize("rule", ["negative", "drop"])
@pytest.mark.parametrize(("clock", "delay", "after"), [(ROWS, 20, 300), (TIME, 30.0, 90.0)])
@pytest.mark.parametrize("sizes", [[N], [200, 5]])
def test_rows_whose_label_never_comes(rule, clock, delay, after, sizes):
    y = np.where(UNKNOWN, np.nan, STREAM.y)
    in_time = clock == TIME
    late = LateLearner(
        LEARNERS["koil"](),
        delay=f"{delay:g}s" if in_time else delay,
        unlabelled=f"{rule}:{after:g}{'s' if in_time else ''}",
        classes=[0, 1],
    )
    naive = NaiveLate(LEARNERS["koil"](), clock=clock, delay=delay, after=after, rule=rule)
    times = BACKWARDS if in_time else None
    assert_same(late, naive, in_pieces(late, sizes, y, times=times), naively(naive, y, times=times))
    assert late.counts.expired == UNKNOWN.sum()


@pytest.mark.parametrize("rule", ["negative", "drop"])
def test_labels_by_key_in_any_order_twice_too_late_and_before_their_row(rule):
    late = LateLearner(LEARNERS["koil"](), unlabelled=f"{rule}:200s", classes=[0, 1])
    naive = NaiveLate(LEARNERS["koil"](), clock=TIME, after=200.0, rule=rule)
    rng, t, outcomes = np.random.default_rng(7), 0, set()
    while t < N:
        size = int(rng.integers(1, 30))
        part = range(t, min(t + size, N))
        keys = [f"row {k - (k % 97 == 0)}" for k in part]  # some keys come twice
        scores = late.score(STREAM.X[part.start : part.stop], keys, BACKWARDS[part.start : part.stop])
        expected = [naive.row(STREAM.X[k], None, key, BACKWARDS[k]) for k, key in zip(part, keys, strict=True)]
        np.testing.assert_array_equal(scores, expected)
        t = part.stop
        known = rng.integers(0, t + 10, 12)  # of rows long gone and of rows to come, too
        labels = [int(STREAM.y[k % N]) if rng.random() < 0.9 else 1 - int(STREAM.y[k % N]) for k in known]
        time = float(CLOCK[t - 1]) + float(rng.integers(0, 3))
        said = late.label([f"row {k}" for k in known], labels, time=time)
        assert [str(o) for o in said] == [naive.label(f"row {k}", y, time) for k, y in zip(known, labels, strict=True)]
        outcomes |= set(said)
    assert len(outcomes) == (5 if rule == "drop" else 4)
    assert_same(late, naive, [], [])
