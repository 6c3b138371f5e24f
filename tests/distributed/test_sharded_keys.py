"""Keys dealt over shards, against a loop that gives each row to a model of its own shard; and workers that die."""

import numpy as np
import pytest

import lopsided as lp
from lopsided.constraints import ParameterError
from lopsided.distributed import ShardedKeys, learn_in_shards
from lopsided.distributed.workers import LocalEngine

RNG = np.random.default_rng(5)
N, SHARDS, EVERY = 900, 3, 200
KEYS = RNG.integers(0, 40, N)
X = np.column_stack([KEYS, RNG.standard_normal((N, 3))])
Y = (np.where(KEYS % 2, 1.0, -1.0) * X[:, 1] + X[:, 2] > 1.5).astype(int)
HOW = {"shards": SHARDS, "merge_every": EVERY}
MAKERS = {
    "stacked": lambda **options: lp.KeyedLearner(lp.OCS(loss="logistic", random_state=1), **options),
    "separate": lambda **options: lp.KeyedLearner(lp.KOIL(gamma=1.0, budget=6, random_state=1), **options),
    "directions": lambda **options: lp.KeyedLearner(lp.FourierRanker(n_components=8, random_state=1), **options),
}


def expected(make, **options):
    """Row by row, each to the model of its shard; nothing of batches, journals or engines."""
    first = make(**options).partial_fit(X[:1], Y[:1], classes=[0, 1], sample_weight=[0.0])
    models = [first, *(lp.empty_like(first) for _ in range(SHARDS - 1))]
    shard_of = first.key_codes(X) % SHARDS
    scores = [models[s].progressive_scores(X[r : r + 1], Y[r : r + 1])[0] for r, s in enumerate(shard_of)]
    return models, np.array(scores)


def learned(make, sizes=(N,), disturb=lambda place: None, engine="local", **options):
    with ShardedKeys(make(**options), engine=engine, **HOW) as learner:
        start = place = 0
        while start < N:
            stop = start + sizes[place % len(sizes)]
            learner.learn(X[start:stop], Y[start:stop], classes=[0, 1])
            disturb(place)
            start, place = stop, place + 1
        answers = learner.raw_scores(X)
        return learner.merge().to_bytes(), learner.take_scores(), answers, learner.n_replaced


@pytest.mark.parametrize(
    ("kind", "prior"),
    [("stacked", None), ("stacked", "global"), ("separate", None), ("separate", "global"), ("directions", None)],
)
def test_every_row_is_learned_by_the_shard_of_its_key(kind, prior):
    models, scores = expected(MAKERS[kind], prior=prior)
    content, found, answers, _ = learned(MAKERS[kind], prior=prior)
    assert content == lp.merge(models).to_bytes()
    np.testing.assert_allclose(found, scores, rtol=1e-12, atol=1e-12)
    shard_of = models[0].key_codes(X) % SHARDS
    for shard, model in enumerate(models):
        mine = shard_of == shard
        np.testing.assert_array_equal(answers[mine], model.raw_scores(X[mine]))


def test_without_a_prior_every_score_is_that_of_one_learner():
    one = MAKERS["stacked"](prior=None)
    scores = one.progressive_scores(X, Y, classes=[0, 1])
    content, found, answers, _ = learned(MAKERS["stacked"], prior=None)
    np.testing.assert_array_equal(found, scores)
    np.testing.assert_array_equal(answers, one.raw_scores(X))
    merged = lp.from_bytes(content)
    np.testing.assert_array_equal(merged.raw_scores(X), one.raw_scores(X))
    assert (merged.n_keys_, merged.n_seen_) == (one.n_keys_, N)


@pytest.mark.parametrize("kind", ["stacked", "separate"])
def test_neither_batches_nor_deaths_leave_a_trace(kind):
    content, scores, answers, _ = learned(MAKERS[kind])
    rng, engine = np.random.default_rng(0), LocalEngine()
    found = learned(MAKERS[kind], (40, 1, 133), lambda _: rng.random() < 0.5 and engine.kill(rng.integers(3)), engine)
    assert found[0] == content and found[3] > 2
    np.testing.assert_array_equal(found[1], scores)
    np.testing.assert_array_equal(found[2], answers)


def test_a_worker_that_is_gone_is_replaced_to_score():
    engine = LocalEngine()
    with ShardedKeys(MAKERS["stacked"](), engine=engine, **HOW) as learner:
        learner.learn(X[:350], Y[:350])
        before = learner.raw_scores(X)
        engine.kill(1)
        np.testing.assert_array_equal(learner.raw_scores(X), before)
        assert learner.n_replaced == 1


def test_a_run_goes_on_from_its_state_as_if_it_had_never_stopped():
    content, scores, _, _ = learned(MAKERS["separate"])
    with ShardedKeys(MAKERS["separate"](), **HOW) as learner:
        learner.learn(X[:450], Y[:450])
        state, model, earlier = learner.state, lp.from_bytes(learner.model_.to_bytes()), learner.take_scores()
    assert state.n_rows == earlier.size == 400
    with ShardedKeys(model, state=state, **HOW) as learner:
        learner.learn(X[400:], Y[400:])
        assert learner.merge().to_bytes() == content
        np.testing.assert_array_equal(np.append(earlier, learner.take_scores()), scores)


def test_words_as_keys_and_rows_before_the_first_label():
    table = {"card": np.array([f"card {key}" for key in KEYS]), "a": X[:, 1], "b": X[:, 2], "c": X[:, 3]}
    labels = np.where(np.arange(N) < 5, np.nan, Y)
    one, same = (lp.KeyedLearner(lp.OCS(loss="logistic"), key="card", prior=None) for _ in range(2))
    labelled = {name: column[5:] for name, column in table.items()}
    scores = np.append(np.zeros(5), one.progressive_scores(labelled, Y[5:], classes=[0, 1]))
    run = learn_in_shards(same, table, labels, classes=[0, 1], **HOW)
    np.testing.assert_array_equal(run.scores, scores)
    np.testing.assert_array_equal(run.model.raw_scores(table), one.raw_scores(table))
    assert run.model.n_seen_ == N - 5


def test_bad_rows_are_refused_before_anybody_has_learned_of_them():
    bad = X.copy()
    bad[3, 1] = np.inf
    with ShardedKeys(MAKERS["stacked"](), **HOW) as learner:
        with pytest.raises(ValueError, match="infinity"):
            learner.learn(bad, Y)
        learner.learn(X, Y)
        assert learner.merge().n_seen_ == N


def test_what_cannot_be_is_refused():
    with pytest.raises(ParameterError, match=r"must be a KeyedLearner, or a TablePipeline around one\. Got OCS"):
        ShardedKeys(lp.OCS())
    with pytest.raises(ParameterError, match=r"must not have learned yet.* Got one that has seen 900 rows"):
        ShardedKeys(MAKERS["stacked"]().partial_fit(X, Y))
