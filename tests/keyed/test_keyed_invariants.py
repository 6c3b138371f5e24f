"""What holds of every stream of keys: who is on disk, and in what order keys come, makes no difference."""

import copy
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lopsided as lp
from keyed.streams import stream
from lopsided.core.keyed.table import (
    CLOCK,
    CODE,
    FULL,
    UNSORTED,
    codes_by_age,
    empty_table,
    find,
    larger_table,
    settle,
    sorted_table,
)
from lopsided.estimators.compose import models_for
from lopsided.estimators.compose.cold_keys import ColdKeys
from lopsided.estimators.compose.stacked_learners import StackedLearners
from lopsided.estimators.state.arrays import ModelFileError

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 3), st.integers(0, 1)), min_size=8, max_size=30)


def arrays(rows):
    keys, values, labels = (np.array(column) for column in zip(*rows, strict=True))
    return np.column_stack([keys, values, values**2 - 1.0]).astype(float), labels


STACKED = {
    "linear": lp.OCS(loss="logistic", random_state=0),
    "moments": lp.OPAUC(random_state=0),
    "columns": lp.OMCSL(n_costs=3, random_state=0),
    "waves": lp.FOGD(n_components=8, random_state=0),
}


def keyed(kind="linear", **options):
    return lp.KeyedLearner(STACKED[kind], **options)


@given(ROWS, st.integers(1, 4), st.integers(1, 7), st.sampled_from([None, "global"]))
def test_what_is_on_disk_makes_no_difference(rows, max_keys, portion, prior):
    check_disk(*arrays(rows), max_keys, portion, prior)


@pytest.mark.parametrize("kind", STACKED)
@pytest.mark.parametrize("prior", [None, "global"])
@pytest.mark.parametrize(("max_keys", "portion"), [(1, 300), (2, 7), (5, 1), (11, 50)])
def test_what_is_on_disk_makes_no_difference_to_a_long_stream(max_keys, portion, prior, kind):
    X, keys, y, _ = stream(300)
    check_disk(np.column_stack([keys, X[:, [0, 2]]]), y, max_keys, portion, prior, kind)


def check_disk(X, y, max_keys, portion, prior, kind="linear"):
    one, other = keyed(kind, prior=prior), keyed(kind, prior=prior, max_keys=max_keys, spill="temporary")
    for start in range(0, len(y), portion):
        part = slice(start, start + portion)
        expected = one.progressive_scores(X[part], y[part], classes=[0, 1])
        np.testing.assert_array_equal(other.progressive_scores(X[part], y[part], classes=[0, 1]), expected)
    np.testing.assert_array_equal(other.raw_scores(X), one.raw_scores(X))
    assert [other.raw_score_one(x) for x in X] == one.raw_scores(X).tolist()
    assert other.n_keys_ == one.n_keys_ == np.unique(X[:, 0]).size
    assert other.n_keys_ - other.n_cold_keys_ == min(max_keys, one.n_keys_) and not other.n_dropped_
    again = lp.from_bytes(other.to_bytes())
    assert again.to_bytes() == other.to_bytes()
    np.testing.assert_array_equal(again.raw_scores(X), one.raw_scores(X))


@pytest.mark.parametrize("kind", STACKED)
@pytest.mark.parametrize("prior", [None, "global"])
@pytest.mark.parametrize("options", [{}, {"max_keys": 4}, {"max_keys": 4, "spill": "temporary"}], ids=str)
def test_rows_one_by_one_are_a_batch(options, prior, kind):
    X, keys, y, _ = stream(300)
    X = np.column_stack([keys, X[:, [0, 2]]])
    one, other = (keyed(kind, prior=prior, **options).partial_fit(X[:2], y[:2], classes=[0, 1]) for _ in range(2))
    for start in range(2, 300, 50):
        part = slice(start, start + 50)
        expected = one.progressive_scores(X[part], y[part])
        for x, label, score in zip(X[part], y[part], expected, strict=True):
            assert other.raw_score_one(x) == score or kind == "columns"  # which draws who is judged by
            other.learn_one(x, label)
        np.testing.assert_array_equal(other.raw_scores(X), one.raw_scores(X))
        assert other.to_bytes() == one.to_bytes()
        other = other.snapshot() if start % 100 else lp.from_bytes(other.to_bytes())


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_in_which_keys_come_does_not_matter_to_each(rows, random):
    X, y = arrays(rows)
    order = list(range(len(y)))
    random.shuffle(order)
    by_key = sorted(order, key=lambda t: (order.index(next(u for u in order if X[u, 0] == X[t, 0])), t))
    one, other = keyed(prior=None), keyed(prior=None)
    first = one.progressive_scores(X, y, classes=[0, 1])
    second = other.progressive_scores(X[by_key], y[by_key], classes=[0, 1])
    np.testing.assert_array_equal(second, first[by_key])
    np.testing.assert_array_equal(other.raw_scores(X), one.raw_scores(X))


@pytest.mark.parametrize("most", [1, 2, 7, 12, 39, 60])
def test_the_table_is_an_ordered_dictionary(most):
    rng = np.random.default_rng(most)
    portions = [rng.integers(1, 41, rng.integers(1, 50)).tolist() for _ in range(60)]
    table, known = empty_table(1), OrderedDict()
    for portion in portions:
        codes, n, stop = np.array(portion), len(portion), 0
        slots, born, left = (np.zeros(n, dtype=np.int64) for _ in range(3))
        while stop < n:
            start, begun, n_born, why = stop, table.marks.item(CLOCK), 0, FULL
            while why in (FULL, UNSORTED):
                may_grow = len(table.entries) < most
                stop, n_born, why = settle(table, codes, stop, begun, may_grow, slots, born, left, n_born)
                table = larger_table(table, min(2 * len(table.entries), most)) if why == FULL else table
                table = sorted_table(table) if why == UNSORTED else table
            gone = []
            for code in portion[start:stop]:
                if code not in known and len(known) == most:
                    gone.append(known.popitem(last=False)[0])
                known[code] = known.pop(code, None)
            assert [code for code in left[:n_born].tolist() if code] == gone
            assert (table.entries[slots[start:stop], CODE] == codes[start:stop]).all()
    assert codes_by_age(table)[1].tolist() == list(known)
    asked = np.arange(1, 41)
    found = np.empty_like(asked)
    find(table, asked, found)
    assert set(asked[found >= 0].tolist()) == set(known)


@pytest.mark.parametrize("learner", [lp.OFO(), lp.KOIL(budget=4, random_state=0)], ids=["stacked", "separate"])
def test_copies_and_files_keep_what_is_on_disk_apart(learner, tmp_path):
    X, _, y, _ = stream(150)
    model = lp.KeyedLearner(learner, key=1, max_keys=3, spill=str(tmp_path / "cold")).partial_fit(X[:100], y[:100])
    assert model.n_cold_keys_ > 3 and len(list((tmp_path / "cold").iterdir())) == 1
    expected = copy.deepcopy(model).progressive_scores(X[100:], y[100:])
    for other in (model.snapshot(), lp.from_bytes(model.to_bytes()), copy.deepcopy(model)):
        np.testing.assert_array_equal(other.progressive_scores(X[100:], y[100:]), expected)
        del other
    np.testing.assert_array_equal(model.progressive_scores(X[100:], y[100:]), expected)
    del model
    assert not list((tmp_path / "cold").iterdir()), "files go with their learners"


def test_a_damaged_record_is_refused():
    X, _, y, _ = stream(60)
    model = lp.KeyedLearner(lp.OCS(), key=1, max_keys=3, spill="temporary").partial_fit(X, y)
    arrays = model._arrays()
    for name, change in (("hot.records", b"\xff"), ("cold.records", b"\xff")):
        broken = arrays[name].copy()
        broken[:8] = np.frombuffer(8 * change, dtype=np.uint8)
        with pytest.raises(ModelFileError, match="must hold finite weights"):
            other = model.snapshot()
            other._begin(other._labels)
            other._restore(arrays | {name: broken})
            other.raw_scores(X)
    other._begin(other._labels)
    with pytest.raises(ModelFileError, match="must tell keys apart"):
        other._restore(arrays | {"hot.codes": np.ones(3, dtype=np.int64)})


@pytest.mark.parametrize("spill", [None, "temporary"])
@pytest.mark.parametrize("learner", [*list(STACKED.values())[1:], lp.OMCSL(n_costs=3)], ids=str)
def test_files_with_an_object_for_each_key_are_read(learner, spill, monkeypatch):
    X, _, y, _ = stream(200)
    keyed_as_before = lp.KeyedLearner(learner, key=1, max_keys=6, spill=spill)
    with monkeypatch.context() as patch:
        patch.setattr(models_for, "kind_for", lambda learner: None)
        before = keyed_as_before.partial_fit(X[:120], y[:120])
        content = before.to_bytes()
        expected = before.progressive_scores(X[120:], y[120:])
    now = lp.from_bytes(content)
    assert isinstance(now._room.models, StackedLearners)
    np.testing.assert_array_equal(now.progressive_scores(X[120:], y[120:]), expected)


def test_a_damaged_record_of_columns_is_refused():
    X, _, y, _ = stream(60)
    model = lp.KeyedLearner(lp.OMCSL(n_costs=2, measure="auroc", random_state=0), key=1).partial_fit(X, y)
    models, (record, *_) = model._room.models, model._room.known_keys()[0].records
    for name, number, said in (
        ("rankings.tally", -1, "must lie between"),
        ("rankings.tally", 2**40, "must lie between"),
        ("columns.weights", -1, "must hold finite weights"),
        ("columns.levels", 0, "must have a scale"),
    ):
        place = 0
        for held, array in models._empty.items():
            if held == name:
                break
            place += array.nbytes
        broken = record[:place] + models._empty[name].size * np.int64(number).tobytes()
        with pytest.raises(ModelFileError, match=said):
            models.thaw([0], [broken + record[len(broken) :]])
    with pytest.raises(ModelFileError, match="must be a learner"):
        models.thaw([0], [record[:-8]])


def test_cold_keys_are_taken_once():
    cold = ColdKeys("temporary")
    cold.put(np.array([5, 3]), [b"five", b"three"])
    assert cold.found(np.array([3, 4]), take=False) == {0: b"three"} and len(cold) == 2
    assert cold.found(np.array([4, 5]), take=True) == {1: b"five"} and len(cold) == 1
    assert cold.everything()[1] == [b"three"]
