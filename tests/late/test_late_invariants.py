"""What holds for the engine whatever happens: rows, labels, expiries, stops and goings-on in any order."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from late.witness import SingleWitness, Witness
from lopsided.late import LateLearner
from oracles.late import ROWS, TIME, NaiveLate

SETTINGS = settings(max_examples=150, deadline=None)


@st.composite
def worlds(draw):
    """A rule, and what happens: portions of rows with labels that come late or never, labels by key, and stops."""
    clock = draw(st.sampled_from([ROWS, TIME]))
    rule = draw(st.sampled_from(["negative", "drop"]))
    amounts = st.integers(0, 12)
    world = {"clock": clock, "rule": rule, "delay": draw(amounts), "after": draw(st.none() | st.integers(1, 12))}
    if rule == "negative" and world["after"] is None:
        world["after"] = 5
    label = st.sampled_from([0, 1])
    row = st.tuples(
        st.none() | label, st.integers(0, 20), st.none() | st.integers(-3, 4), st.none() | amounts
    )  # label, key, step of the clock, own delay
    rows = st.tuples(st.just("rows"), st.lists(row, min_size=1, max_size=25), st.booleans(), st.booleans())
    labels = st.tuples(
        st.just("labels"), st.lists(st.tuples(st.integers(0, 30), label), min_size=1, max_size=8), st.integers(0, 4)
    )
    ahead = st.integers(-4, 15) if clock == TIME else st.none()
    told = st.tuples(st.integers(0, 12), label, ahead)
    expected = st.tuples(st.just("expected"), st.lists(told, min_size=1, max_size=12), st.booleans())
    kinds = st.one_of(rows, rows, labels, expected, st.just(("stop",)))
    world["events"] = draw(st.lists(kinds, min_size=1, max_size=12))
    world["corrections"] = draw(st.sampled_from(["learn", "ignore"]))
    return world


def engine(world, model):
    unit = "s" if world["clock"] == TIME else ""
    unlabelled = "drop" if world["after"] is None else f"{world['rule']}:{world['after']}{unit}"
    return LateLearner(
        model, delay=f"{world['delay']}{unit}", unlabelled=unlabelled, classes=[0, 1], corrections=world["corrections"]
    )


def lived(world, kind, *, stops=True):
    """The engine and the transcription after the same life; scores and outcomes agree on the way."""
    late, naive = (
        engine(world, kind()),
        NaiveLate(Witness(), **{k: world[k] for k in ("clock", "delay", "after", "rule", "corrections")}),
    )
    now, number = 0.0, 0
    for event in world["events"]:
        if event[0] == "rows":
            _, rows, with_keys, with_delays = event
            X = number + np.arange(len(rows), dtype=float)[:, None]
            number += len(rows)
            times = []
            for _, _, step, _ in rows:
                now = now if step is None else now + step
                times.append(np.nan if step is None else now)
            if world["clock"] == ROWS:
                times = None
            keys = [key for _, key, _, _ in rows] if with_keys else None
            y = np.array([np.nan if label is None else label for label, *_ in rows])
            delays = None
            if with_delays:
                delays = [np.nan if delay is None else delay for *_, delay in rows]
                y = np.where(np.isnan(delays), np.nan, y)
            prompt = world["delay"] == 0 and not with_delays
            expected = []
            for t in range(len(rows)):
                label = None if y[t] != y[t] else int(y[t])
                more = {
                    "key": keys[t] if keys else None,
                    "time": times and times[t],
                    "delay": delays[t] if with_delays else None,
                }
                expected.append(naive.row(X[t], label, **more, prompt=prompt))
            found = late.progressive_scores(X, y, times=times, delays=delays, keys=keys)
            assert found.tolist() == expected
        elif event[0] == "labels":
            now += event[2]
            time = now if world["clock"] == TIME else None
            said = late.label([key for key, _ in event[1]], [label for _, label in event[1]], time=time)
            assert [str(outcome) for outcome in said] == [naive.label(key, label, time) for key, label in event[1]]
        elif event[0] == "expected":
            keys, labels, ahead = zip(*event[1], strict=True)
            times = [now + step for step in ahead] if world["clock"] == TIME and event[2] else None
            said = late.expect(keys, labels, times)
            assert [str(outcome) for outcome in said] == [
                naive.expect(key, label, times and times[k])
                for k, (key, label) in enumerate(zip(keys, labels, strict=True))
            ]
        elif stops:
            description, arrays = late.state()
            arrays = {name: array.copy() for name, array in arrays.items()}
            late = engine(world, late.model).restore((json.loads(json.dumps(description)), arrays))
        check(late, naive)
    return late, naive


def check(late, naive):
    """Every row is learned once, and once more for each correction, as in the transcription; all are accounted for."""
    counts = late.counts
    assert late.model.learned == naive.model.learned
    numbers = [number for number, _, _ in late.model.learned]
    assert len(set(numbers)) == counts.learned
    assert counts.learned <= len(numbers) <= counts.learned + counts.corrections  # a parked label is corrected too
    assert counts.scored == counts.waiting + counts.learned + counts.dropped + counts.repeated == late.position
    found = counts.as_dict()
    assert {name: found[name] for name in naive.counts} == naive.counts
    assert counts.parked <= counts.expected


@SETTINGS
@given(worlds(), st.sampled_from([Witness, SingleWitness]))
def test_the_transcription_is_lived_again(world, kind):
    late, naive = lived(world, kind)
    late.finish()
    naive.finish()
    check(late, naive)
    assert late.counts.waiting == 0


@SETTINGS
@given(worlds())
def test_going_on_equals_never_having_stopped(world):
    stopped, _ = lived(world, SingleWitness)
    not_stopped, _ = lived(world, SingleWitness, stops=False)
    one, other = stopped.state(), not_stopped.state()
    assert one.description == other.description
    assert one.arrays.keys() == other.arrays.keys()
    for name, array in one.arrays.items():
        np.testing.assert_array_equal(array, other.arrays[name])


@given(st.permutations(range(8)), st.permutations(range(8)))
def test_which_keys_rows_have_does_not_matter(names, order):
    """Keys are names: another set of names, given in the same order, gives the same model."""
    models = []
    for key_of in (lambda k: k, lambda k: f"row {names[k]}"):
        late = LateLearner(Witness(), classes=[0, 1])
        late.score(np.arange(8.0)[:, None], keys=[key_of(k) for k in range(8)])
        late.label([key_of(k) for k in order], [k % 2 for k in order])
        models.append(late.model.learned)
    assert models[0] == models[1]
    assert [number for number, _, _ in models[0]] == list(order)


@pytest.mark.parametrize("kind", [Witness, SingleWitness])
def test_a_tie_in_time_is_not_known(kind):
    """A label that is due at a moment is known to rows of a later moment only."""
    late = LateLearner(kind(), delay="10s", classes=[0, 1])
    X, times = np.arange(6.0)[:, None], np.array([0.0, 5.0, 10.0, 10.0, 10.5, 15.5])
    late.progressive_scores(X, [1, 0, 0, 0, 0, 0], times=times)
    assert [number for number, _, _ in late.model.learned] == [0, 1]
    late = LateLearner(kind(), delay="10s", classes=[0, 1])
    assert late.progressive_scores(X[:4], [1, 0, 0, 0], times=times[:4]).tolist() == [0.0] * 4
    assert late.progressive_scores(X[4:5], [0], times=times[4:5]).tolist() == [1.0]  # the sum after row 0
