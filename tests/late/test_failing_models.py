"""A model that fails in the middle of a step: what it has not learned waits on; nothing is lost or learned twice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from late.witness import SingleWitness, Witness
from lopsided.late import LateLearner, MemoryStore, WaitingRows

N = 60
X = np.arange(float(N))[:, None]
Y = (np.arange(N) % 3 == 0).astype(int)


def lived(late, poison, size, *, times=None):
    """All rows in pieces; a failing step is tried again from where it came to, when its row can be learned."""
    failures = 0
    while late.position < N:
        start = late.position
        rows = slice(start, min(start + size, N))
        more = {} if times is None else {"times": times[rows]}
        try:
            late.progressive_scores(X[rows], Y[rows], keys=range(rows.start, rows.stop), **more)
        except RuntimeError as error:
            failures += 1
            late.model.poison.discard(int(str(error).split()[1]))
    while True:
        try:
            late.finish()
            return failures
        except RuntimeError as error:
            failures += 1
            late.model.poison.discard(int(str(error).split()[1]))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([Witness, SingleWitness]),
    st.sampled_from([0, 1, 7, 40]),
    st.sets(st.integers(0, N - 1), min_size=1, max_size=6),
    st.integers(1, 25),
)
def test_rows_are_learned_once_in_their_order_whatever_fails(kind, delay, poison, size):
    whole = LateLearner(kind(), delay=delay, classes=[0, 1])
    lived(whole, set(), N)
    model = kind()
    model.poison = set(poison)
    late = LateLearner(model, delay=delay, classes=[0, 1])
    failures = lived(late, poison, size)
    assert failures >= 1 and not model.poison
    # The batch that failed first tells only one of its rows, so that there may be as many failures as rows.
    assert sorted(number for number, _, _ in model.learned) == list(range(N))
    if delay:  # without one a row that failed is learned when the next one comes
        assert [number for number, _, _ in model.learned] == [number for number, _, _ in whole.model.learned]
    assert late.counts == whole.counts


def test_a_label_by_key_that_fails_can_be_told_again():
    late = LateLearner(Witness(), classes=[0, 1], corrections="learn")
    late.score(X[:5], keys=list("abcde"))
    late.model.poison = {1}
    with pytest.raises(RuntimeError):
        late.label(list("abc"), [0, 1, 1])
    assert late.counts.waiting == 5 and late.counts.learned == 0
    late.model.poison = set()
    assert [str(outcome) for outcome in late.label(list("abc"), [0, 1, 1])] == ["learned"] * 3
    late.model.poison = {1}
    with pytest.raises(RuntimeError):
        late.label(["b"], [0])
    late.model.poison = set()
    assert [str(outcome) for outcome in late.label(["b"], [0])] == ["corrected"]
    assert late.counts.learned == 3 and late.counts.corrections == 1


def test_an_expected_label_that_fails_is_expected_on():
    late = LateLearner(Witness(), classes=[0, 1])
    late.expect(["a", "b", "b"], [0, 1, 1], times=[5.0, 6.0, 6.5])
    late.model.poison = {0}
    late.progressive_scores(X[:1], keys=["a"], times=[1.0])
    for _ in range(2):
        with pytest.raises(RuntimeError):
            late.progressive_scores(X[1:3], keys=["b", "c"], times=[9.0, 9.0])
        assert late.counts.waiting == 1 and late.counts.expected == 1 and late.position == 1
    late.model.poison = set()
    late.progressive_scores(X[1:3], keys=["b", "c"], times=[9.0, 9.0])
    assert [number for number, _, _ in late.model.learned] == [0, 1]
    assert late.counts.duplicates == 1 and late.counts.waiting == 1


def test_what_is_put_back_stands_in_its_place():
    store = MemoryStore()
    positions = np.arange(10)
    keys = [f"k{p}" for p in positions]
    dues, weights = positions[::-1] * 1.0, positions + 1.0
    store.add(WaitingRows(X[:10], positions * 0.5, positions, dues, np.ones(10), keys, weights))
    before = store.state()
    for take in (lambda: store.take_due(4.0), lambda: store.take(["k2", "k9"]), lambda: store.take_oldest(10)):
        store.put_back(take())
    store.put_back(store.take_oldest(0))
    after = store.state()
    assert before[0] == after[0]
    for name, array in before[1].items():
        np.testing.assert_array_equal(array, after[1][name])
