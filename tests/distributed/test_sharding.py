"""Shards against a loop over single rows that knows nothing of batches, journals or engines; and workers that die."""

import sys
from hashlib import blake2b

import numpy as np
import pytest

import lopsided as lp
from lopsided.constraints import ParameterError
from lopsided.datasets import xor
from lopsided.distributed import ShardedLearner, WorkerLostError, learn_in_shards
from lopsided.distributed.engines import engine_of, workers_of
from lopsided.distributed.workers import LocalEngine
from lopsided.metrics import auroc

STREAM = xor(1_500, rare=0.1, random_state=3)
X, Y = STREAM.X, STREAM.y
FIRST, EVERY = 100, 300
MAKERS = {
    "sums": lambda: lp.FourierRanker(n_components=20, random_state=1),
    "averages": lambda: lp.OCS(random_state=1),
    "small steps": lambda: lp.StreamPipeline(lp.OnlineScaler(), lp.FOGD(n_components=20, random_state=1)),
    "vectors": lambda: lp.KOIL(gamma=2.0, budget=20, random_state=1),
    "scaled": lambda: lp.StreamPipeline(lp.OnlineScaler(), lp.KOIL(gamma=2.0, budget=20, random_state=1)),
}
HOW = {"shards": 3, "merge_every": EVERY, "first_rows": FIRST}


def expected(make, keys=None, shards=3):
    """The rule of the documentation, row by row: what the merged model is, and what each row was answered."""
    first, scores = make(), []
    weight = [float(shards)] if "FOGD" in str(first) else [1.0]
    for r in range(FIRST):
        scores.append(first.progressive_scores(X[r : r + 1], Y[r : r + 1], classes=[0, 1], sample_weight=weight)[0])
    models = [first, *(lp.empty_like(first) for _ in range(shards - 1))]
    shared = first.snapshot()
    for r in range(FIRST, len(Y)):
        if r > FIRST and (r - FIRST) % EVERY == 0:
            shared = lp.merge(models)
        code = r if keys is None else int.from_bytes(blake2b(str(keys[r]).encode(), digest_size=8).digest(), "little")
        scores.append(shared.raw_scores(X[r : r + 1])[0])
        models[code % shards].partial_fit(X[r : r + 1], Y[r : r + 1], sample_weight=weight)
    return lp.merge(models).to_bytes(), np.array(scores)


@pytest.mark.parametrize("kind", MAKERS)
def test_shards_are_those_of_a_loop_over_single_rows(kind):
    content, scores = expected(MAKERS[kind])
    run = learn_in_shards(MAKERS[kind](), X, Y, **HOW)
    assert run.model.to_bytes() == content
    np.testing.assert_allclose(run.scores, scores, rtol=1e-12, atol=1e-12)
    assert (run.n_merges, run.n_replaced) == (5, 0)


def test_rows_of_one_key_go_to_one_shard():
    keys = np.array([f"card {k % 17}" for k in range(len(Y))])
    content, _ = expected(MAKERS["averages"], keys)
    assert learn_in_shards(MAKERS["averages"](), X, Y, keys=keys, **HOW).model.to_bytes() == content


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("sizes", [(1, 7, 250), (999,)])
def test_neither_batches_nor_merge_points_change_the_model(kind, sizes):
    whole = learn_in_shards(MAKERS[kind](), X, Y, **HOW)
    with ShardedLearner(MAKERS[kind](), **HOW | {"merge_every": 170}) as learner:
        learn_in_batches(learner, sizes)
        assert learner.merge().to_bytes() == whole.model.to_bytes()
    with ShardedLearner(MAKERS[kind](), **HOW) as learner:
        learn_in_batches(learner, sizes)
        learner.merge()
        np.testing.assert_array_equal(learner.take_scores(), whole.scores)
        assert learner.take_scores().size == 0


def learn_in_batches(learner, sizes, disturb=lambda place: None):
    start = place = 0
    while start < len(Y):
        stop = start + sizes[place % len(sizes)]
        learner.learn(X[start:stop], Y[start:stop])
        disturb(place)
        start, place = stop, place + 1


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("seed", range(2))
def test_workers_that_die_leave_no_trace(kind, seed):
    undisturbed = learn_in_shards(MAKERS[kind](), X, Y, **HOW)
    rng, engine = np.random.default_rng(seed), LocalEngine()
    with ShardedLearner(MAKERS[kind](), engine=engine, **HOW) as learner:
        learn_in_batches(learner, (40, 13), lambda _: rng.random() < 0.3 and engine.kill(int(rng.integers(3))))
        assert learner.merge().to_bytes() == undisturbed.model.to_bytes()
        np.testing.assert_array_equal(learner.take_scores(), undisturbed.scores)
        assert learner.n_replaced > 2


class Deadly(LocalEngine):
    """Whoever learns for shard 1 dies of it."""

    def learn(self, shard, rows):
        super().learn(shard, rows)
        if shard == 1:
            self.kill(shard)


def test_rows_that_kill_every_worker_end_the_run():
    with (
        ShardedLearner(MAKERS["averages"](), engine=Deadly(), **HOW) as learner,
        pytest.raises(WorkerLostError, match=r"shard 1 must live from row 100 to the next merge at row 400\. Got 5"),
    ):
        learner.learn(X, Y)
    assert learner.n_rows == FIRST


@pytest.mark.parametrize("stop, kept", [(50, 50), (1_111, 1_000)])
def test_a_run_goes_on_from_its_state_as_if_it_had_never_stopped(stop, kept):
    undisturbed = learn_in_shards(MAKERS["vectors"](), X, Y, **HOW)
    with ShardedLearner(MAKERS["vectors"](), **HOW) as learner:
        learner.learn(X[:stop], Y[:stop])
        state, model = learner.state, lp.from_bytes(learner.model_.to_bytes())
        earlier = learner.take_scores()
    assert state.n_rows == kept == earlier.size  # what came after the last merge was not kept, and comes again
    with ShardedLearner(model, state=state, **HOW) as learner:
        learner.learn(X[state.n_rows :], Y[state.n_rows :])
        assert learner.merge().to_bytes() == undisturbed.model.to_bytes()
        np.testing.assert_array_equal(np.append(earlier, learner.take_scores()), undisturbed.scores)


def test_a_model_that_has_begun_is_the_first_shard():
    begun = MAKERS["sums"]().partial_fit(X[:FIRST], Y[:FIRST])
    before = begun.to_bytes()
    run = learn_in_shards(begun, X[FIRST:], Y[FIRST:], **HOW)
    assert run.model.n_seen_ == len(Y) and begun.to_bytes() == before


def test_rows_without_a_label_are_scored_only():
    labels = np.where(np.arange(len(Y)) % 5 == 0, np.nan, Y)
    run = learn_in_shards(MAKERS["averages"](), X, labels, **HOW)
    assert run.model.n_seen_ == np.count_nonzero(~np.isnan(labels))
    assert np.isfinite(run.scores).all() and run.scores.size == len(Y)


def test_bad_rows_take_all_shards_back_to_the_last_merge():
    bad = X.copy()
    bad[777, 0] = np.nan
    undisturbed = learn_in_shards(MAKERS["vectors"](), X, Y, **HOW)
    with ShardedLearner(MAKERS["vectors"](), **HOW) as learner:
        with pytest.raises(ValueError, match="NaN"):
            learner.learn(bad, Y)
        assert learner.n_rows == 700
        learner.learn(X[700:], Y[700:])
        assert learner.merge().to_bytes() == undisturbed.model.to_bytes()


def test_scores_can_be_left_out():
    run = learn_in_shards(MAKERS["sums"](), X, Y, scores=False, **HOW)
    assert run.model.to_bytes() == learn_in_shards(MAKERS["sums"](), X, Y, **HOW).model.to_bytes()
    assert np.isnan(run.scores[FIRST:]).all()


def test_scores_are_nearly_as_good_as_those_of_one_learner():
    one = MAKERS["sums"]().progressive_scores(X, Y, classes=[0, 1])
    shared = learn_in_shards(MAKERS["sums"](), X, Y, **HOW | {"merge_every": 50}).scores
    assert auroc(Y, shared) > auroc(Y, one) - 0.02


@pytest.mark.parametrize(
    "how, sentence",
    [
        ({"shards": 0}, "'shards' parameter of ShardedLearner must be an int >= 1. Got 0"),
        ({"merge_every": 0.5}, "'merge_every' parameter of ShardedLearner must be an int >= 1. Got 0.5"),
        ({"engine": "spark"}, "'engine' parameter of ShardedLearner must be 'local' or 'ray'. Got 'spark'"),
    ],
)
def test_what_cannot_be_is_refused(how, sentence):
    with pytest.raises(ParameterError, match=sentence):
        ShardedLearner(lp.OCS(), **how)


def test_what_cannot_be_merged_is_refused():
    with pytest.raises(ParameterError, match=r"must be a learner that lopsided\.merge takes\. Got OnlineScaler"):
        ShardedLearner(lp.OnlineScaler())


@pytest.mark.parametrize("asked", [engine_of, workers_of])
def test_without_ray_a_sentence_says_what_to_install(asked, monkeypatch):
    monkeypatch.delitem(sys.modules, "lopsided.distributed.ray_engine", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError, match=r'`pip install "lopsided\[ray\]"` brings, got no package ray'):
        asked("ray")
