"""RareEventClassifier and BoostedSample over more rows than the checks of every learner have.

The stream goes through the warm-up, solutions, trees that are grown a few at a time, features that leave their scale,
and a change after which the short memory takes over.
"""

import json
import pickle

import numpy as np
import pytest
import safetensors.numpy
import scipy.sparse as sp

import lopsided as lp
from lopsided.estimators.rare import booster
from lopsided.estimators.state.arrays import ModelFileError
from lopsided.estimators.state.files import checksum, from_bytes, to_bytes
from rare.streams import stripes, turning, weights_for, with_gaps

N, TURN = 2_000, 1_000


def stream():
    X, y = turning(N, turn=TURN, seed=1)
    X = with_gaps(X, 0.05)
    X[250:, 3] *= 10.0
    return X, y


LEARNERS = {
    "rare": lambda: lp.RareEventClassifier(200, 8, random_state=1),
    "never": lambda: lp.RareEventClassifier(200, 8, "never", random_state=1),
    "trees": lambda: lp.BoostedSample(150, 6, random_state=1),
}


@pytest.fixture(params=LEARNERS)
def make(request, monkeypatch):
    """Trees of which only a few are grown at a time: a hundred take 500 rows."""
    monkeypatch.setattr(booster, "_VISITS_AT_ONCE", 25_000)
    return LEARNERS[request.param]


def is_growing(learner):
    return "growing.size" in learner._arrays()


def same(one, other):
    mine, theirs = one._arrays(), other._arrays()
    return mine.keys() == theirs.keys() and all(np.array_equal(mine[k], theirs[k], equal_nan=True) for k in mine)


def test_a_batch_is_the_loop_of_its_rows(make):
    X, y = stream()
    batch, loop, portions = make(), make(), make()
    scores = batch.progressive_scores(X, y, classes=[-1, 1])
    loop.partial_fit(X[:1], y[:1], classes=[-1, 1])
    single = [0.0]
    for x, label in zip(X[1:], y[1:], strict=True):
        single.append(loop.raw_score_one(x))
        loop.learn_one(x, label)
    assert np.array_equal(scores, single)
    cuts = [3, 120, 199, 201, 833, 1_100]
    for part in np.split(np.arange(N), cuts):
        portions.partial_fit(X[part], y[part], classes=[-1, 1])
    assert same(batch, loop) and same(batch, portions)
    assert np.array_equal(batch.decision_function(X[:50]), portions.decision_function(X[:50]))
    if batch.get_params().get("forget") == "auto":
        assert batch.n_restarts_ == 1


def test_saved_and_loaded_anywhere_it_goes_on_bit_for_bit(make):
    X, y = stream()
    weights, whole, in_growth = weights_for(N), make(), 0
    for start in range(0, N, 137):
        part = slice(start, start + 137)
        whole.partial_fit(X[part], y[part], classes=[-1, 1], sample_weight=weights[part])
        in_growth += is_growing(whole)
        if start in (137, 137 * 4):
            resumed, pickled = from_bytes(to_bytes(whole)), pickle.loads(pickle.dumps(whole))
            assert same(whole, resumed) and same(whole, pickled)
        elif start > 137:
            for model in (resumed, pickled):
                model.partial_fit(X[part], y[part], sample_weight=weights[part])
    assert same(whole, resumed) and same(whole, pickled)
    assert to_bytes(whole) == to_bytes(resumed)
    assert "n_components" not in whole.get_params() or in_growth >= 3


def test_saved_while_young_trees_are_tried_it_goes_on_bit_for_bit():
    X, y = stripes(1_900, turn=1_100)
    whole = lp.RareEventClassifier(800, 2, random_state=8)
    trees = []
    for part in np.split(np.arange(1_900), range(1_200, 1_900, 50)):
        whole.partial_fit(X[part], y[part], classes=[-1, 1])
        trees.append(int(whole._state.young.size[0]))
        if 50 in trees:
            break
    resumed = from_bytes(to_bytes(whole))
    for model in (whole, resumed):
        model.partial_fit(X[part[-1] + 1 :], y[part[-1] + 1 :])
    assert same(whole, resumed) and whole.n_restarts_ == 1 and whole._state.young.size[0] == 0


# ---------------------------------------------------------------- damaged files


@pytest.fixture(scope="module")
def content():
    X, y = stream()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(booster, "_VISITS_AT_ONCE", 1)
        learner = lp.RareEventClassifier(200, 8, random_state=1).partial_fit(X[:110], y[:110])
        assert is_growing(learner)
        learner._state.trees.forest.size[0] = 100  # trees without a split, so that a forest is there as well
    return to_bytes(learner)


def damaged(content, name, change):
    """The file with one array changed, and a checksum that fits."""
    length = int.from_bytes(content[:8], "little")
    document = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["lopsided"])
    del document["checksum"]
    arrays = {key: array.copy() for key, array in safetensors.numpy.load(content).items()}
    arrays[name] = change(arrays[name])
    document["checksum"] = checksum(document, arrays)
    return safetensors.numpy.save(arrays, {"lopsided": json.dumps(document)})


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


DAMAGE = {
    "a slot twice in the heap": ("state.trees.negatives.heap", put(0, 1)),
    "a slot outside of the sample": ("state.recent_negatives.heap", put(0, 5_000)),
    "more rows than there is room": ("state.trees.positives.tally", put(0, 101)),
    "an importance of nothing": ("state.trees.negatives.importances", put(0, 0.0)),
    "no mass for new rows": ("state.recent_positives.levels", put(1, 0.0)),
    "a young tree that loops": ("state.young.features", put((0, 0), 1)),
    "a tree that loops": ("state.trees.forest.features", put((0, 0), 1)),
    "a feature that is not there": ("growing.features", put((0, 0), 4)),
    "more trees than there is room": ("growing.size", put(0, 101)),
    "a code beyond the last edge": ("sampled.codes", put((0, 0), 255)),
    "no rows to grow trees on": ("sampled.codes", lambda codes: codes[:0]),
    "a block beyond its end": ("state.ranker.tally", put(5, 256)),
    "a ring beyond its end": ("state.gate.tally", put(0, 500)),
    "a limit of nothing": ("state.gate.levels", put(1, 0.0)),
    "a deviation of nothing": ("state.ranker.scale", put((1, 0), 0.0)),
    "a negative number of rows": ("state.tally", put(4, -1)),
    "sums that are not finite": ("long.sums", put((0, 0), np.nan)),
    "a matrix of another size": ("short.singles", lambda singles: singles[:, :3]),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_file_is_refused(content, what):
    with pytest.raises(ModelFileError, match=r"must .* Got .*damaged"):
        from_bytes(damaged(content, *DAMAGE[what]))


def test_a_file_with_nothing_changed_is_read(content):
    learner = from_bytes(damaged(content, "state.tally", lambda tally: tally))
    X, y = stream()
    assert np.isfinite(learner.partial_fit(X, y).decision_function(X)).all()


# ---------------------------------------------------------------- bounds, rows of all kinds


@pytest.mark.parametrize("name", ["rare", "trees"])
def test_memory_does_not_grow(name):
    X, y = turning(20_000, 3, rare=0.05)
    learner = LEARNERS[name]().partial_fit(X[:500], y[:500])

    def size():
        finished = {k: v for k, v in learner._arrays().items() if not k.startswith(("growing", "sampled", "edges"))}
        return sum(array.nbytes for array in finished.values())

    before = size()
    learner.partial_fit(X[500:], y[500:])
    assert size() <= before
    assert max(map(len, learner.sampled_rows_)) <= 100


def test_rows_wider_than_trees_can_take():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(500) < 0.3, 1, -1)
    X = sp.random_array((500, 2_500), density=0.002, rng=rng, format="lil")
    X[:, 0] = 1.0 + (y > 0) + 0.3 * rng.random(500)
    X = sp.csr_array(X)
    learner = lp.RareEventClassifier(200, 20, random_state=0)
    parts = learner.progressive_parts(X, y)
    assert (parts["trees"] == 0.0).all() and [len(part) for part in learner.sampled_rows_] == [0, 0]
    assert same(learner, from_bytes(to_bytes(learner)))
    assert np.isfinite(learner.partial_fit(X, y).decision_function(X)).all()


def test_rows_of_which_nothing_is_known():
    X, y = turning(600)
    X[:] = np.nan
    for learner in (LEARNERS["rare"](), LEARNERS["trees"]()):
        assert np.ptp(learner.partial_fit(X, y).decision_function(X)) == 0.0


@pytest.mark.parametrize("factor", [2.0, 0.25])
def test_twice_the_weight_of_everything_keeps_the_same_rows(factor):
    """Priorities are multiplied alike. The trees are those of so many rows: the balance of classes depends on that."""
    X, y = turning(49)
    X, y = np.tile(X, (2, 1)), np.tile(y, 2)
    one, other = (lp.BoostedSample(20, 3, random_state=0) for _ in range(2))
    one.partial_fit(X[:49], y[:49])
    other.partial_fit(X[:49], y[:49], sample_weight=np.full(49, factor))
    for mine, theirs in zip(one.sampled_rows_, other.sampled_rows_, strict=True):
        assert np.array_equal(mine, theirs)


def test_a_missing_value_of_a_sparse_row_is_no_zero():
    """Far from 0, so that a mean over zeros would look like another scale."""
    X, y = turning(1_000)
    X = with_gaps(X, 0.1) + 5.0
    dense, sparse = (lp.RareEventClassifier(200, 8, random_state=3).progressive_scores(rows, y)
                     for rows in (X, sp.csr_array(X)))  # fmt: skip
    assert np.abs(dense - sparse).max() < 1e-6


# ---------------------------------------------------------------- the scale


@pytest.mark.parametrize("factor", [10.0, 50.0])
def test_features_that_grow_after_the_start_are_not_left_at_the_scale_of_the_first_rows(factor):
    """The ranker, the part that has a scale, against the same stream with its features as wide from the start."""
    X, y = turning(2_400, 6, rare=0.1, seed=3)
    small = X.copy()
    small[:200] /= factor
    late, areas = slice(420, None), []
    for rows in (X, small):
        parts = lp.RareEventClassifier(2_000, 40, random_state=0).progressive_parts(rows, y)
        areas.append(lp.metrics.auroc(y[late], parts["ranker"][late]))
    assert areas[0] > 0.9
    assert areas[1] > areas[0] - 0.02
