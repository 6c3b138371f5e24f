"""A pool of learners: members learn as if alone, measures are the true ones, and the answer is their average."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import lopsided as lp
from lopsided.constraints import ParameterError
from lopsided.datasets import four_clusters
from lopsided.estimators.state.files import from_bytes, to_bytes
from lopsided.metrics import AUPRC, AUROC, auroc, f1

MEMBERS = [
    lp.KOIL(gamma=0.2, budget=10),
    lp.KOIL(gamma=20.0, budget=10),
    lp.SPA(gamma=20.0, sampling_scale=2.0),
    lp.StreamPipeline(lp.OnlineScaler(), lp.OPAUC()),
    lp.OMCSL(random_state=7),
]


@pytest.fixture(scope="module")
def stream():
    return four_clusters(100, 500, random_state=3)


def pool(**options):
    return lp.ExpertPool(clone(MEMBERS), random_state=1, **options)


def alone(members, stream):
    """Progressive scores of the members of a pool by themselves, their generators set as the pool sets them."""
    scores = []
    seeds = np.random.SeedSequence(1).spawn(len(members))
    for member, seed in zip(members, seeds, strict=True):
        single = clone(member)
        if single.random_state is None:
            target = single.learner if isinstance(single, lp.StreamPipeline) else single
            target.random_state = np.random.default_rng(seed)
        scores.append(single.progressive_scores(stream.X, stream.y))
    return np.stack(scores, axis=1)


def combined_by_hand(given, y, combine, sharpness, measure, refresh, fade=1.0):
    n, m = given.shape
    area = [AUROC(fade=fade) if measure == "auroc" else AUPRC(fade=fade) for _ in range(m)]
    p, out = np.full(m, 1 / m), []
    for t in range(n):
        weights = fade ** np.arange(t - 1.0, -1.0, -1.0)
        if combine == "best":
            out.append(given[t, np.argmax(p)])
        else:
            mean = weights @ given[:t] / weights.sum() if t else np.zeros(m)
            deviation = np.sqrt(weights @ (given[:t] - mean) ** 2 / weights.sum()) if t else np.zeros(m)
            z = np.divide(given[t] - mean, deviation, out=np.zeros(m), where=deviation > 1e-12)
            out.append(p @ z)
        for j in range(m):
            area[j].update(y[t], given[t, j])
        if (t + 1) % refresh == 0:
            M = np.array([np.nan_to_num(one.value) for one in area])
            now = sharpness
            if sharpness == "positives":
                now = (fade ** np.arange(t, -1.0, -1.0))[y[: t + 1] == 1].sum()
            e = np.exp(now * (M - M.max()))
            p = e / e.sum()
    return np.array(out)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sharpness": 0.0, "refresh": 7},
        {"combine": "best"},
        {"measure": "auprc"},
        {"fade": 0.97, "sharpness": 5.0},
        {"measure": "auprc", "sharpness": "positives"},
        {"fade": 0.97, "sharpness": "positives"},
    ],
    ids=str,
)
def test_the_answer_is_what_the_definition_says(options, stream):
    learner = pool(**options)
    refresh = options.get("refresh", 20 if options.get("measure") == "auprc" else 1)
    expected = combined_by_hand(
        alone(MEMBERS, stream), stream.y, learner.combine, learner.sharpness, learner.measure, refresh, learner.fade
    )
    assert np.abs(learner.progressive_scores(stream.X, stream.y) - expected).max() < 1e-9


def test_sharpness_by_positives_is_kept_in_files_and_only_for_pools(stream):
    learner = pool(sharpness="positives", measure="f1")
    learner.partial_fit(stream.X[:300], stream.y[:300], classes=[0, 1])
    loaded = from_bytes(to_bytes(learner))
    for model in (learner, loaded):
        model.partial_fit(stream.X[300:], stream.y[300:])
    assert loaded.expert_weights_.tolist() == learner.expert_weights_.tolist()
    measured = learner.expert_measures_["f1"]
    shares = np.exp(stream.y.sum() * (measured - measured.max()))
    np.testing.assert_allclose(learner.expert_weights_, shares / shares.sum())
    with pytest.raises(ParameterError, match="'sharpness' parameter of OMCSL"):
        lp.OMCSL(sharpness="positives").fit(stream.X, stream.y)


def test_with_members_of_fixed_cost_it_is_omcsl(stream):
    reference = lp.OMCSL(measure="auroc", random_state=3)
    scores = reference.progressive_scores(stream.X, stream.y)
    members = [
        lp.OCS(variant=2, cost_ratio=c / (1 - c), learning_rate=0.1 * (1 - c), decay=True) for c in reference.costs_
    ]
    learner = lp.ExpertPool(members, combine="sample", sharpness=1000.0, random_state=3)
    assert np.abs(learner.progressive_scores(stream.X, stream.y) - scores).max() < 1e-12
    columns = np.stack([member.coef_[0] for member in learner.members_], axis=1)
    assert np.abs(columns - reference.coef_).max() < 1e-12
    assert np.allclose(learner.expert_weights_, reference.expert_weights_, rtol=0, atol=1e-9)
    assert np.abs(learner.decision_function(stream.X) - reference.decision_function(stream.X)).max() < 1e-12


def test_members_learn_as_if_alone_and_are_measured_truly(stream):
    learner = pool()
    learner.progressive_scores(stream.X, stream.y)
    given = alone(MEMBERS, stream)
    measured = learner.expert_measures_
    for j in range(len(MEMBERS)):
        assert measured["auroc"][j] == pytest.approx(auroc(stream.y, given[:, j]), abs=1e-3)  # binned
        assert measured["f1"][j] == pytest.approx(f1(stream.y, given[:, j]), abs=1e-12)
        assert learner.members_[j]._memory.counts.sum() == len(stream.y)
    assert learner.best_ is learner.members_[int(np.argmax(measured["auroc"]))]
    assert set(pool(measure="f1").fit(stream.X, stream.y).expert_measures_) == {"f1"}


@pytest.mark.parametrize("combine", ["weighted", "best", "sample"])
def test_threads_pieces_and_single_examples_give_the_same(combine, stream):
    whole, threaded, pieces = pool(combine=combine, n_jobs=1), pool(combine=combine, n_jobs=3), pool(combine=combine)
    scores = whole.progressive_scores(stream.X, stream.y)
    assert np.array_equal(scores, threaded.progressive_scores(stream.X, stream.y))
    pieces.partial_fit(stream.X[:300], stream.y[:300])
    for t in range(300, 340):
        pieces.learn_one(stream.X[t], stream.y[t])
    assert np.array_equal(pieces.progressive_scores(stream.X[340:], stream.y[340:]), scores[340:])
    assert np.array_equal(pieces.decision_function(stream.X), whole.decision_function(stream.X))
    assert pieces.score_one(stream.X[0]) == pytest.approx(whole.decision_function(stream.X[:1])[0], abs=1e-12)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("combine", ["weighted", "sample"])
def test_a_saved_pool_goes_on_as_if_never_stopped(combine, inside, stream, tmp_path):
    model = lp.StreamPipeline(lp.OnlineScaler(), pool(combine=combine)) if inside else pool(combine=combine)
    whole = clone(model)
    scores = whole.progressive_scores(stream.X, stream.y)
    model.partial_fit(stream.X[:200], stream.y[:200])
    model.learn_one(stream.X[200], stream.y[200])
    model.save(tmp_path / "pool.lopsided")
    resumed = lp.load(tmp_path / "pool.lopsided")
    assert np.array_equal(resumed.progressive_scores(stream.X[201:], stream.y[201:]), scores[201:])
    assert resumed.predict_proba(stream.X).shape == (600, 2)


def test_sparse_rows_and_sample_weights_reach_the_members(stream):
    members = [lp.KOIL(gamma=20.0, budget=10, random_state=0), lp.OCS()]
    dense, sparse = lp.ExpertPool(members).fit(stream.X, stream.y), lp.ExpertPool(members)
    sparse.fit(sp.csr_array(stream.X), stream.y)
    assert np.allclose(dense.decision_function(stream.X), sparse.decision_function(sp.csr_array(stream.X)), atol=1e-9)
    weights = np.linspace(0, 2, len(stream.y))
    weighted = lp.ExpertPool(members).fit(stream.X, stream.y, sample_weight=weights)
    single = clone(members[1]).fit(stream.X, stream.y, sample_weight=weights)
    assert np.array_equal(weighted.members_[1].coef_, single.coef_)


def test_the_same_seed_gives_the_same_pool_and_its_members_differ(stream):
    members = [lp.SPA(gamma=20.0, sampling_scale=2.0)] * 2
    first = lp.ExpertPool(members, random_state=5).fit(stream.X, stream.y)
    second = lp.ExpertPool(members, random_state=5).fit(stream.X, stream.y)
    assert np.array_equal(first.decision_function(stream.X), second.decision_function(stream.X))
    one, other = first.members_
    assert one.n_support_ != other.n_support_ or not np.array_equal(one.support_vectors_, other.support_vectors_)


def test_predictions_are_useful_without_a_threshold_of_ones_own(stream):
    learner = pool().fit(stream.X, stream.y)
    assert learner.threshold_ == learner._memory.threshold("f1")
    assert f1(stream.y, learner.decision_function(stream.X)) > 0.7
    assert pool(combine="best").fit(stream.X, stream.y).threshold_ == 0.0
    assert pool(threshold=0.25).fit(stream.X, stream.y).threshold_ == 0.25


def test_memory_does_not_grow(stream):
    bounded = [lp.KOIL(gamma=20.0, budget=10), lp.RBP(gamma=20.0, budget=20), lp.OPAUC(), lp.SPA(budget=20)]
    learner = lp.ExpertPool(bounded, random_state=0).partial_fit(stream.X, stream.y)
    before = learner.nbytes_
    for _ in range(5):
        learner.partial_fit(stream.X, stream.y)
    assert learner.nbytes_ == before


@pytest.mark.parametrize("sparse", [False, True])
def test_the_ready_made_pool(sparse, stream, tmp_path):
    scales = np.array([1e-4, 300.0])
    rows = sp.csr_array(stream.X * scales) if sparse else stream.X * scales + 5.0
    model = lp.ExpertPool.default(sparse=sparse, random_state=1)
    scores = clone(model).progressive_scores(rows, stream.y)
    assert auroc(stream.y, scores) > 0.9
    model.partial_fit(rows[:300], stream.y[:300])
    model.save(tmp_path / "pool.lopsided")
    resumed = lp.load(tmp_path / "pool.lopsided")
    assert np.array_equal(resumed.progressive_scores(rows[300:], stream.y[300:]), scores[300:])
    before = resumed.nbytes_
    assert resumed.partial_fit(rows, stream.y).nbytes_ == before
    assert resumed.n_diverged_ == 0 and len(resumed.members_) == 8
    assert lp.ExpertPool.default(combine="best").combine == "best"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"learners": []}, "'learners' parameter of ExpertPool must be a list"),
        ({"learners": [lp.KOIL(), 3]}, "must hold learners of lopsided. Got 3"),
        ({"learners": [lp.KOIL(C=-1)]}, "'C' parameter of KOIL"),
        ({"sharpness": -1.0}, "'sharpness' parameter of ExpertPool"),
        ({"combine": "mean"}, "'combine' parameter of ExpertPool"),
        ({"refresh": 0}, "'refresh' parameter of ExpertPool"),
        ({"fade": 0.0}, "'fade' parameter of ExpertPool"),
    ],
)
def test_bad_parameters_get_a_sentence(options, words, stream):
    with pytest.raises(ParameterError, match=words):
        lp.ExpertPool(**({"learners": [lp.KOIL()]} | options)).fit(stream.X, stream.y)


def test_infinite_sharpness_leaves_the_best(stream):
    learner = pool(sharpness=math.inf).fit(stream.X, stream.y)
    assert sorted(learner.expert_weights_)[-2:] == [0.0, 1.0]


def test_one_by_one_a_pool_measures_members_that_leave_examples_unscored():
    stream = four_clusters(400, 1200, random_state=3)
    members = [lp.SPA(gamma=20.0, sampling_scale=8.0), lp.StreamPipeline(lp.OnlineScaler(), lp.SPA(gamma=2.0))]
    whole, single = (lp.ExpertPool(clone(members), random_state=1) for _ in range(2))
    whole.progressive_scores(stream.X, stream.y)
    for x, y in zip(stream.X, stream.y, strict=True):
        single.learn_one(x, y)
    np.testing.assert_array_equal(single.expert_measures_["auroc"], whole.expert_measures_["auroc"])
    from_bytes(to_bytes(single)).learn_one(stream.X[0], stream.y[0])


def test_a_pool_in_a_pipeline_has_its_own_threshold(stream):
    pipeline = lp.StreamPipeline(lp.OnlineScaler(), pool()).fit(stream.X, stream.y)
    assert set(pipeline.predict(stream.X).tolist()) == {0, 1}
    assert pipeline.threshold_ == pipeline._memory.threshold("f1") != 0.0


@pytest.mark.parametrize("learner", [lp.OB2RMK(warm_up=1000), lp.FourierRanker(n_components=20, refresh=10_000)])
def test_the_end_of_fit_reaches_the_members(learner):
    stream = four_clusters(20, 40, random_state=3)
    pipeline = lp.StreamPipeline(lp.OnlineScaler(), clone(learner)).fit(stream.X, stream.y)
    member = lp.ExpertPool([clone(learner)]).fit(stream.X, stream.y).members_[0]
    for model in (pipeline, member):
        assert np.ptp(model.decision_function(stream.X)) > 0.0
