"""Bins, trees and BoostedSample against a search over all values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lopsided as lp
from lopsided.core.trees.binning import binned
from lopsided.core.trees.forest import empty_forest, forest_score
from lopsided.core.trees.growing import Sampled, TreePlan, empty_growth, grow_tree
from lopsided.estimators.rare import booster
from lopsided.estimators.rare.booster import balanced
from oracles import boosting as naive
from rare.streams import choices_of, side_by_side, turning, weights_for, with_gaps

seeds = st.integers(0, 2**32 - 1)


# ---------------------------------------------------------------- bins


@given(seed=seeds, n=st.integers(1, 60), n_bins=st.integers(2, 40), values=st.sampled_from([3, 20, 10**6]))
def test_bins(seed, n, n_bins, values):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, size=(n, 3)) / 7.0
    X[rng.random((n, 3)) < 0.2] = np.nan
    X[:, 2] = np.nan if seed % 2 else 5.0
    codes, edges, n_edges = binned(X, n_bins)
    for j in range(3):
        expected = naive.thresholds_of(X[:, j], n_bins)
        assert edges[j, : n_edges[j]].tolist() == expected and len(expected) < n_bins
        for value, code in zip(X[:, j], codes[:, j], strict=True):
            assert code == (0 if np.isnan(value) else 1 + sum(value > edge for edge in expected))


def test_neighbours_without_a_number_between_them_are_told_apart():
    low = 1.0
    high = np.nextafter(low, 2.0)
    codes, edges, n_edges = binned(np.array([[low], [high], [low], [high]]), 8)
    assert codes[:, 0].tolist() == [1, 2, 1, 2] and n_edges.tolist() == [1] and edges[0, 0] == low


def test_bins_of_many_values_hold_about_as_many_rows_each():
    codes, _, n_edges = binned(np.random.default_rng(0).lognormal(size=(1_000, 1)), 20)
    sizes = np.bincount(codes[:, 0])[1:]
    assert n_edges[0] == 19 and sizes.size == 20 and sizes.min() >= 48 and sizes.max() <= 52


# ---------------------------------------------------------------- trees


def grown(X, labels, weights, n_trees, plan, n_bins, level):
    """A forest of the package on these rows."""
    codes, edges, n_edges = binned(X, n_bins)
    forest = empty_forest(n_trees, plan.n_leaves)
    forest.levels[0] = level
    sampled = Sampled(codes, labels, weights, np.full(labels.size, level))
    work = empty_growth(codes, n_edges, plan.n_leaves)
    for _ in range(n_trees):
        grow_tree(sampled, edges, n_edges, plan, work, forest)
    return forest, sampled


def assert_same_tree(forest, t, tree, node=0):
    """Node by node, leaves and inner ones alike."""
    assert forest.values[t, node] == pytest.approx(tree["value"], rel=1e-9, abs=1e-12)
    if "feature" not in tree:
        assert forest.features[t, node] == -1
        return
    assert (forest.features[t, node], forest.thresholds[t, node]) == (tree["feature"], tree["threshold"])
    left = int(forest.left[t, node])
    assert_same_tree(forest, t, tree["left"], left)
    assert_same_tree(forest, t, tree["right"], left + 1)


PLANS = {
    "as RareEventClassifier": TreePlan(16, 1.0, 5, 0.1),
    "few leaves, fast": TreePlan(4, 0.1, 1, 0.7),
    "large leaves": TreePlan(8, 5.0, 30, 0.3),
}


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("n_bins", [255, 12])
def test_trees_node_by_node(name, n_bins):
    """Every value has a bin of its own, or there are too few bins for that."""
    X, y = turning(150, 3, rare=0.3, seed=4)
    X, plan = with_gaps(X), PLANS[name]
    labels, weights = (y > 0).astype(float), weights_for(150)
    model = naive.Booster(8, plan.n_leaves, plan.rate, plan.ridge, plan.least_rows)
    share = weights @ labels / weights.sum()
    forest, sampled = grown(X, labels, weights, 8, plan, n_bins, np.log(share / (1 - share)))
    model.fit(X, labels, weights, n_bins, choices_of(forest))
    assert model.level == pytest.approx(forest.levels[0], rel=1e-12)
    for t, tree in enumerate(model.trees):
        assert_same_tree(forest, t, tree)
    assert max(len(splits) for splits in choices_of(forest)) <= plan.n_leaves - 1
    fresh = with_gaps(turning(80, 3, seed=8)[0])
    assert np.abs([forest_score(forest, x) - model.score(x) for x in fresh]).max() < 1e-9
    # The scores that the sample was moved to are those that a walk down the trees gives.
    assert np.abs([forest_score(forest, x) for x in X] - sampled.scores).max() < 1e-9


def test_the_first_of_equal_gains_is_taken():
    """A column that stands there twice is used where it stands first; of two leaves alike the left one is parted."""
    X, y = turning(120, 2, rare=0.3)
    plan = TreePlan(8, 1.0, 5, 0.5)
    forest, _ = grown(np.tile(X, 2), (y > 0).astype(float), weights_for(120), 5, plan, 255, 0.0)
    assert forest.features.max() == 1
    # Twice the same, side by side, and weights that are sums of halves, so that rounding decides nothing.
    X = np.repeat([0.0, 1.0, 10.0, 11.0], 8)[:, None]
    labels, weights = np.tile(np.repeat([0.0, 1.0], 8), 2), np.full(32, 2.0)
    forest, _ = grown(X, labels, weights, 1, TreePlan(4, 1.0, 1, 0.5), 255, 0.0)
    model = naive.Booster(1, 4, 0.5, 1.0, 1)
    tree = model.grow(X, weights * (0.5 - labels), weights * 0.25, [[-1e308, 0.5, 5.5, 10.5]], None)
    assert_same_tree(forest, 0, tree)


def test_what_is_missing_can_be_parted_from_all_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 1))
    labels = (rng.random(100) < 0.5).astype(float)
    X[labels > 0] = np.nan
    forest, _ = grown(X, labels, np.ones(100), 1, TreePlan(2, 1.0, 5, 1.0), 255, 0.0)
    assert forest_score(forest, np.array([np.nan])) > 0 > forest_score(forest, np.array([-1e300]))


@given(seed=seeds, n=st.integers(1, 300))
def test_weights_by_class(seed, n):
    rng = np.random.default_rng(seed)
    positives, negatives = rng.uniform(0.5, 3.0, n), rng.uniform(0.5, 30.0, int(rng.integers(1, 300)))
    for found, expected in zip(balanced(positives, negatives), naive.class_weights(positives, negatives), strict=True):
        assert np.allclose(found, expected, rtol=1e-12)


# ---------------------------------------------------------------- BoostedSample

OPTIONS = {
    "plain": {"n_trees": 6},
    "other": {"n_trees": 3, "n_leaves": 5, "learning_rate": 0.5, "regularization": 0.3, "min_rows": 2},
}


def pair(sample_size, trees_at_once=10**9, **options):
    learner = lp.BoostedSample(sample_size, threshold="zero", random_state=7, **options)
    names = {"learning_rate": "rate", "regularization": "ridge", "min_rows": "least_rows"}
    spelled = {names.get(name, name): value for name, value in options.items()}
    return learner, naive.BoostedSample(sample_size, 7, trees_at_once, **spelled)


def forest_of(learner):
    return learner._trees.forest


def assert_agree(learner, model, found, expected):
    assert np.abs(found - expected).max() < 1e-9
    assert expected.std() > 0.1
    for numbers, sample in zip(learner.sampled_rows_, (model.positives, model.negatives), strict=True):
        assert numbers.tolist() == sample.numbers()


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("sparse", [False, True])
def test_boosted_sample(options, sparse):
    n = 700
    X, y = turning(n)
    learner, model = pair(120, **options)
    scores = side_by_side(learner, model, forest_of, with_gaps(X), y, weights_for(n), sparse)
    assert_agree(learner, model, *scores)
    assert len(model.negatives.kept) == 60 and model.negatives.tau > 0


def test_trees_that_are_grown_one_after_the_other_answer_when_all_are_there(monkeypatch):
    """One tree every fifty rows, from the sample as it was when the first was begun."""
    monkeypatch.setattr(booster, "_VISITS_AT_ONCE", 1)
    n = 900
    X, y = turning(n)
    learner, model = pair(100, trees_at_once=1, n_trees=4)
    assert_agree(learner, model, *side_by_side(learner, model, forest_of, X, y))
    assert model.snapshot is not None
