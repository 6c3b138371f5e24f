"""What must hold for the learners on random features whatever the stream is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import lopsided as lp

pytestmark = pytest.mark.filterwarnings("ignore::lopsided.estimators.base.classifier.CommonClassWarning")

seeds = st.integers(0, 2**32 - 1)


def stream(n, seed, d=3):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.2, 1, -1)
    return rng.standard_normal((n, d)) * rng.uniform(0.1, 10.0, d) + 0.8 * y[:, None], y


def fixed_ranker(seed, **options):
    """A ranker whose scale is fixed and that has seen nothing else."""
    X, y = stream(20, seed + 1)
    parameters = {"n_components": 24, "warm_up": 20, "random_state": 0} | options
    return lp.FourierRanker(**parameters).partial_fit(X, y, classes=[-1, 1]).sibling()


@pytest.mark.parametrize(
    "learner", [lp.FOGD(20, random_state=3), lp.NOGD(15, 15), lp.NOGD(15, 15, kernel="poly", coef0=1.0)], ids=str
)
@given(seed=seeds)
def test_other_labels_give_the_opposite_scores(learner, seed):
    X, y = stream(120, seed)
    scores = clone(learner).progressive_scores(X / 5.0, y, classes=[-1, 1])
    turned = clone(learner).progressive_scores(X / 5.0, -y, classes=[-1, 1])
    assert np.abs(scores + turned).max() <= 1e-9 * max(1.0, np.abs(scores).max())


@given(seed=seeds, cuts=st.lists(st.integers(1, 299), min_size=1, max_size=4))
def test_parts_in_any_order_add_up_to_the_whole(seed, cuts):
    X, y = stream(300, seed)
    y[:2] = 1, -1
    empty = fixed_ranker(seed)
    whole = empty.sibling().partial_fit(X, y).solve()
    parts = [empty.sibling().partial_fit(X[rows], y[rows]) for rows in np.split(np.arange(300), sorted(set(cuts)))]
    total = empty.sibling()
    for i in np.random.default_rng(seed).permutation(len(parts)):
        total.absorb(parts[i])
    assert np.abs(total.coef_ - whole.coef_).max() < 1e-9
    assert np.abs(total.decision_function(X) - whole.decision_function(X)).max() < 1e-9


@given(seed=seeds)
def test_order_does_not_matter_and_a_weight_counts_an_example_so_often(seed):
    X, y = stream(150, seed)
    y[:2] = 1, -1
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 4, 150)
    empty = fixed_ranker(seed)
    weighted = empty.sibling().partial_fit(X, y, sample_weight=times).solve()
    rows = rng.permutation(np.repeat(np.arange(150), times))
    repeated = empty.sibling().partial_fit(X[rows], y[rows]).solve()
    assert np.abs(weighted.coef_ - repeated.coef_).max() < 1e-9


@given(seed=seeds, fade=st.floats(0.9, 1.0))
def test_fading_is_weighting_by_age(seed, fade):
    X, y = stream(150, seed)
    y[-2:] = 1, -1
    faded = fixed_ranker(seed, fade=fade).partial_fit(X, y).solve()
    weighted = fixed_ranker(seed).partial_fit(X, y, sample_weight=fade ** np.arange(149.0, -1.0, -1.0)).solve()
    assert np.abs(faded.coef_ - weighted.coef_).max() < 1e-9


@given(seed=seeds)
def test_the_class_means_lie_where_they_should(seed):
    X, y = stream(200, seed)
    y[:2] = 1, -1
    learner = fixed_ranker(seed).partial_fit(X, y).solve()
    scores = learner.decision_function(X)
    c = 1 - 1 / (1 + (y > 0).sum())
    assert scores[y > 0].mean() == pytest.approx(c / 2, abs=1e-9)
    assert scores[y < 0].mean() == pytest.approx(-c / 2, abs=1e-9)
