"""FourierRanker: blocks, the start of a stream, models that add up, memory, and what enormous features do."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import lopsided as lp
from lopsided.core.features.fourier_ranker import FIXED, KEPT, WAITING
from lopsided.datasets import abrupt_drift
from lopsided.estimators.features import renewed_scale
from lopsided.estimators.state.files import from_bytes, packed, to_bytes, unpacked
from lopsided.metrics import auroc

pytestmark = pytest.mark.filterwarnings("ignore::lopsided.estimators.base.classifier.CommonClassWarning")

OPTIONS = {
    "default": {},
    "faded": {"fade": 0.995},
    "focused": {"focus": 3.0},
    "all": {"fade": "auto", "regularization": "auto", "refresh": 50},
}
options = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


def stream(n, seed=0, rare=0.05):
    """A rare ring around the other class, on scales far from 1."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rare).astype(int)
    X = rng.standard_normal((n, 3))
    X[y == 1] *= 2.5 / np.linalg.norm(X[y == 1], axis=1, keepdims=True)
    return X * [100.0, 0.01, 1.0] + [5.0, -3.0, 0.0], y


def ranker(**parameters):
    return lp.FourierRanker(**({"n_components": 60, "random_state": 3} | parameters))


@options
def test_batches_pieces_and_single_examples_are_the_same_bit_for_bit(options):
    X, y = stream(900)
    whole, pieces = ranker(**options), ranker(**options)
    scores = whole.progressive_scores(X, y)
    pieces.partial_fit(X[:7], y[:7])
    for t in range(7, 450):
        assert pieces.score_one(X[t]) == scores[t]
        pieces.learn_one(X[t], y[t])
    assert np.array_equal(pieces.progressive_scores(X[450:], y[450:]), scores[450:])
    assert to_bytes(pieces) == to_bytes(whole)


@options
def test_a_score_depends_on_earlier_rows_only(options):
    X, y = stream(700)
    scores = ranker(pos_label=1, **options).progressive_scores(X, y)
    for t in (5, 130, 201, 444):
        changed, labels = X.copy(), y.copy()
        changed[t + 1 :] = 7.0
        labels[t:] = 1 - labels[t:]
        again = ranker(pos_label=1, **options).progressive_scores(changed, labels)
        assert np.array_equal(again[: t + 1], scores[: t + 1])


def test_it_ranks_what_no_line_can_and_does_not_mind_scales():
    X, y = stream(4_000)
    scores = lp.FourierRanker(random_state=0).progressive_scores(X, y)
    moved = lp.FourierRanker(random_state=0).progressive_scores(X * [1e-5, 1e7, 3.0] + [0.0, 9.0, -1.0], y)
    assert auroc(y, scores) > 0.87
    assert np.abs(scores - moved).max() < 1e-5
    later = scores[2_000:]
    assert later[y[2_000:] == 1].mean() == pytest.approx(0.5, abs=0.15)
    assert later[y[2_000:] == 0].mean() == pytest.approx(-0.5, abs=0.15)


def test_the_first_rows_are_encoded_anew_until_the_scale_is_fixed():
    X, y = stream(300)
    X[:20] *= 50.0  # a start that says nothing about the rest
    learner = ranker(warm_up=100).partial_fit(X[:99], y[:99])
    assert learner._state.tally[KEPT] == 99 and not learner._state.tally[FIXED]
    learner.partial_fit(X[99:], y[99:])
    assert learner._state.tally[KEPT] == 0 and learner._state.tally[FIXED]
    assert np.array_equal(learner.scale_, [X[:100].mean(axis=0), X[:100].std(axis=0)])


def test_scores_are_zero_until_both_classes_were_seen():
    X, _ = stream(60)
    learner = ranker()
    assert not learner.progressive_scores(X, np.zeros(60, dtype=int)).any()
    assert not learner.decision_function(X).any()
    learner.learn_one(X[0], 1)
    assert learner.decision_function(X).any()


def test_fit_ends_with_a_solution_and_solve_brings_one():
    X, y = stream(290)
    once, fitted = ranker().partial_fit(X, y), ranker().fit(X, y)
    assert once._state.tally[WAITING] > 0
    assert not np.array_equal(once.coef_, fitted.coef_)
    assert np.array_equal(once.solve().coef_, fitted.coef_)
    assert to_bytes(once) == to_bytes(once.solve())


# ---------------------------------------------------------------- features that leave their scale


def growing(n, seed=0):
    """All features grow tenfold after 300 rows; and the same stream as if they had been so large before."""
    X, y = stream(n, seed)
    grown = X * 10.0
    return np.where(np.arange(n)[:, None] < 300, X, grown), grown, y


def test_features_that_grow_after_the_start_cost_little():
    X, grown, y = growing(4_000)
    areas = [
        auroc(y[2_000:], ranker(n_components=200, rescale=rescale).progressive_scores(rows, y)[2_000:])
        for rows, rescale in ((grown, True), (X, True), (X, False))
    ]
    assert areas[1] > areas[0] - 0.02
    assert areas[2] < areas[0] - 0.1


@options
def test_a_scale_that_holds_changes_nothing(options):
    X, y = stream(900)
    kept, held = ranker(**options), ranker(rescale=False, **options)
    assert np.array_equal(kept.progressive_scores(X, y), held.progressive_scores(X, y))
    assert np.array_equal(kept.coef_, held.coef_)


@options
def test_renewals_are_the_same_in_batches_one_by_one_and_after_a_pause(options):
    X, _, y = growing(900)
    whole, pieces = ranker(**options), ranker(**options)
    scores = whole.progressive_scores(X, y)
    assert (whole.scale_[1] > 5 * X[:200].std(axis=0)).all()
    assert np.array_equal(pieces.progressive_scores(X[:395], y[:395]), scores[:395])
    for t in range(395, 410):
        assert pieces.score_one(X[t]) == scores[t]
        pieces.learn_one(X[t], y[t])
        pieces = from_bytes(to_bytes(pieces))
    assert np.array_equal(pieces.progressive_scores(X[410:], y[410:]), scores[410:])
    assert to_bytes(pieces) == to_bytes(whole)


def test_a_sample_stands_for_the_rows_of_a_longer_stream(monkeypatch):
    monkeypatch.setattr(renewed_scale, "_NEGATIVES", 200)
    monkeypatch.setattr(renewed_scale, "_POSITIVES", 50)
    X, _, y = growing(3_300)
    X[300:1_600] /= 10.0  # so that it is the look at 3,200 rows that finds the change
    learner = ranker().partial_fit(X, y)
    assert (learner.scale_[1] > 5 * stream(200)[0].std(axis=0)).all()
    learner._add_block()
    assert learner._moments_by_fade[0].totals == pytest.approx([y.sum(), 3_300 - y.sum()], rel=1e-12)
    assert [len(sample.heap) for sample in learner._renewal[:2]] == [50, 200]
    assert auroc(y[1_600:], learner.solve().decision_function(X[1_600:])) > 0.8


def test_siblings_and_models_that_absorbed_hold_their_scale():
    X, grown, y = growing(1_800)
    learner = ranker().partial_fit(X[:300], y[:300])
    scale, sibling = learner.scale_, learner.sibling()
    sibling.partial_fit(X[300:], y[300:])
    assert np.array_equal(sibling.scale_, scale)
    learner.absorb(sibling).partial_fit(grown, y)
    assert np.array_equal(learner.scale_, scale)
    renewed = ranker().partial_fit(X, y)
    with pytest.raises(ValueError, match="must have the same scale"):
        renewed.absorb(sibling)


def test_rows_that_are_very_wide_hold_their_scale_and_are_not_kept():
    rows = sp.random_array((450, 2_049), density=0.01, rng=np.random.default_rng(0), format="csr")
    wide, held = (lp.FourierRanker(20, warm_up=20, rescale=r, random_state=0) for r in (True, False))
    for learner in (wide, held):
        learner.partial_fit(rows, np.arange(450) % 5 == 0)
    assert wide.nbytes_ == held.nbytes_ and np.array_equal(wide.coef_, held.coef_)


def test_a_file_without_kept_rows_holds_its_scale():
    X, _, y = growing(1_000)
    learner = ranker(rescale=False).partial_fit(X[:300], y[:300])
    arrays, description = packed(learner)
    for name in ("rescale", "sparse_directions"):  # as versions wrote it that knew neither
        del description["parameters"][name]
    old = unpacked(description, arrays)
    assert old.sparse_directions == 0.0
    scores = old.progressive_scores(X[300:], y[300:])
    assert np.array_equal(scores, learner.progressive_scores(X[300:], y[300:]))
    assert np.array_equal(old.scale_, learner.scale_)


# ---------------------------------------------------------------- models add up


@pytest.mark.parametrize("options", [{}, {"regularization": "auto"}, {"linear": 0.0}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_two_halves_are_the_whole(options, weighted):
    X, y = stream(1_400)
    weights = np.random.default_rng(1).uniform(0.1, 3.0, 1_400) if weighted else np.ones(1_400)
    whole = ranker(**options).partial_fit(X, y, sample_weight=weights).solve()
    first = ranker(**options).partial_fit(X[:700], y[:700], sample_weight=weights[:700])
    second = first.sibling().partial_fit(X[700:], y[700:], sample_weight=weights[700:])
    before = to_bytes(second)
    first.absorb(second)
    assert to_bytes(second) == before, "the other one stays as it is"
    for memory, expected in zip(first._moments_by_fade, whole._moments_by_fade, strict=True):
        for name in ("totals", "sums", "grams"):
            assert np.allclose(getattr(memory, name), getattr(expected, name), rtol=1e-12, atol=1e-10)
    assert np.abs(first._state.weights - whole._state.weights).max() < 1e-10
    assert np.abs(first._state.offsets - whole._state.offsets).max() < 1e-10
    assert first._state.tally[:4].tolist() == whole._state.tally[:4].tolist()


def test_a_sibling_knows_the_scale_and_nothing_else():
    X, y = stream(500)
    learner = ranker().partial_fit(X, y)
    before, sibling = to_bytes(learner), learner.sibling()
    assert not sibling.decision_function(X).any() and sibling._memory.counts.sum() == 0
    assert np.array_equal(sibling.scale_, learner.scale_)
    for t in range(80):
        sibling.learn_one(X[t], y[t])
    assert to_bytes(learner) == before


def test_faded_models_end_at_the_same_time():
    X, y = stream(900)
    first = ranker(fade=0.99).partial_fit(X[:300], y[:300])
    second = first.sibling().partial_fit(X[300:600], y[300:600])
    totals = first._moments_by_fade[0].totals.copy()
    first._add_block()
    second._add_block()
    expected = first._moments_by_fade[0].totals + second._moments_by_fade[0].totals
    assert not np.array_equal(totals, expected)
    assert np.allclose(first.absorb(second)._moments_by_fade[0].totals, expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (lambda X, y: lp.KOIL().fit(X, y), "must be a FourierRanker. Got KOIL"),
        (lambda X, y: ranker().fit(X[:150], y[:150]), "at least its warm_up, 200 rows.* Got 150"),
        (lambda X, y: ranker().fit(X[5:], y[5:]), "must have the same scale"),
        (lambda X, y: ranker(random_state=4).fit(X, y), "must have the same directions"),
        (lambda X, y: ranker(n_components=30).fit(X, y), "must have the same directions"),
        (lambda X, y: ranker(fade=0.5).fit(X, y), "must have the same fades"),
        (lambda X, y: ranker(pos_label=0).fit(X, y), "must have the same positive label"),
        (lambda X, y: ranker(linear=1.0).fit(X, y), "must have the same linear part"),
    ],
)
def test_models_that_do_not_add_up_are_refused(other, words):
    X, y = stream(400)
    learner = ranker().fit(X, y)
    before = to_bytes(learner)
    with pytest.raises(ValueError, match=words):
        learner.absorb(other(X, y))
    assert to_bytes(learner) == before
    with pytest.raises(ValueError, match=r"sibling must have seen at least its warm_up, 200 rows"):
        ranker().fit(X[:150], y[:150]).sibling()


# ---------------------------------------------------------------- drift


def examples_to_recover(learner, width):
    """Half of the AUC that a change costs, on rows that nobody learns from."""
    stream = abrupt_drift(12_000, 5, width=width, random_state=1)
    old, new = (abrupt_drift(4_000, 5, rare=0.3, at=at, random_state=2) for at in (0.9999, 0.0001))
    t = int(12_000 * (0.5 - width / 2))
    learner.partial_fit(stream.X[:t], stream.y[:t])
    before, after = (auroc(data.y, learner.decision_function(data.X)) for data in (old, new))
    for learned in range(100, 12_000 - t, 100):
        rows = slice(t + learned - 100, t + learned)
        learner.partial_fit(stream.X[rows], stream.y[rows])
        if auroc(new.y, learner.decision_function(new.X)) > 0.5 * (before + after):
            return before, learned
    return before, 12_000 - t


@pytest.mark.parametrize("width", [0.0, 0.1])
def test_two_memories_recover_from_a_change_in_a_third_of_the_time(width):
    before, with_one = examples_to_recover(ranker(), width)
    as_good_before, with_two = examples_to_recover(ranker(fade="auto"), width)
    assert with_two <= with_one / 3
    assert as_good_before > before - 0.01 > 0.9


# ---------------------------------------------------------------- bounds


@options
def test_memory_does_not_grow(options):
    X, y = stream(800)
    learner = ranker(**options).partial_fit(X[:1], y[:1], classes=[0, 1])
    before = learner.nbytes_
    assert learner.partial_fit(X, y).nbytes_ == before
    P = 63
    assert before >= 16 * P * P * len(learner._moments_by_fade)


def test_memory_of_the_default_is_what_the_docstring_says():
    X = np.random.default_rng(0).standard_normal((2, 20))
    learner = lp.FourierRanker().partial_fit(X, [0, 1])
    P = 420
    said = 16 * P**2 + 8 * (64 * P + 200 * 20 + 20 * 200) + 20_480 * (20 + 5)
    assert said < learner.nbytes_ < 1.02 * said


def test_more_features_than_components_are_left_out_of_z():
    rng = np.random.default_rng(0)
    X, y = sp.random_array((300, 500), density=0.02, rng=rng, format="csr"), np.arange(300) % 5 == 0
    learner = lp.FourierRanker(n_components=50, random_state=0).fit(X, y)
    assert learner.coef_.shape == (1, 50)
    assert np.abs(learner.decision_function(X) - learner.decision_function(X.toarray())).max() < 1e-10


@pytest.mark.parametrize("size", [1e100, 1e149])
@pytest.mark.parametrize("when", [3, 290])
def test_enormous_features_leave_it_finite(size, when):
    X, y = stream(600)
    calm = ranker().progressive_scores(X, y)
    X[when] = [size, -size, size]
    X[when + 1] = -X[when]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner = ranker()
        scores = learner.progressive_scores(X, y)
    assert np.isfinite(scores).all()
    if when == 290:
        assert auroc(y[300:], scores[300:]) > auroc(y[300:], calm[300:]) - 0.05


def test_a_feature_that_begins_to_vary_late_is_not_lost():
    X, y = stream(2_000)
    X[:, 0] = np.where(np.arange(2_000) < 300, 0.0, y + 0.1 * X[:, 1])
    learner = ranker().partial_fit(X, y)
    assert auroc(y[300:], learner.decision_function(X[300:])) > 0.95


def test_a_class_that_has_faded_away_leaves_the_last_ranking():
    X, y = stream(300)
    learner = ranker(fade=0.5, refresh=1).partial_fit(X, y)
    negatives = np.flatnonzero(y == 0)
    for _ in range(4):
        learner.partial_fit(X[negatives], y[negatives])
    assert np.isfinite(learner.coef_).all() and learner.coef_.any()


def test_sparse_directions_find_a_feature_among_many_that_say_nothing():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((4_000, 30))
    y = (np.abs(X[:, 0]) < 0.1).astype(int)  # a narrow band of one feature
    by_share = {}
    for share in (0.0, 0.5):
        learner = ranker(n_components=200, sparse_directions=share)
        by_share[share] = auroc(y[2_000:], learner.progressive_scores(X, y)[2_000:])
        seen = np.count_nonzero(learner.directions_, axis=0)
        assert (seen < 30).sum() == 100 * share and set(seen) <= {1, 2, 3, 30}
    assert by_share[0.5] > by_share[0.0] + 0.1
    assert to_bytes(from_bytes(to_bytes(learner))) == to_bytes(learner)


def test_one_bandwidth_may_be_a_number():
    X, y = stream(300)
    assert np.array_equal(ranker(bandwidths=0.5).fit(X, y).coef_, ranker(bandwidths=[0.5]).fit(X, y).coef_)


def test_clones_and_pools_of_one_seed_draw_the_same_directions():
    X, y = stream(300)
    one, other = (lp.ExpertPool([ranker(random_state=None)], random_state=8).fit(X, y) for _ in range(2))
    assert np.array_equal(one.members_[0].directions_, other.members_[0].directions_)
    drawn = clone(ranker()).fit(X, y).directions_
    rng = np.random.default_rng(3)
    expected = rng.standard_normal((3, 30)) * np.sqrt(2 * np.repeat([0.25, 1.0], 15) / 3)
    assert np.allclose(drawn, expected, rtol=1e-15)
    rng = np.random.default_rng(3)
    order = rng.permutation(300)
    shuffled = ranker(shuffle=True).fit(X, y)
    by_hand = ranker(random_state=rng).partial_fit(X[order], y[order]).solve()
    assert np.array_equal(shuffled.coef_, by_hand.coef_)
