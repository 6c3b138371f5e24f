"""What must hold for OMCSL and the linear baselines: the invariants of their specification, by number."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from estimators.trials import each, trials
from lopsided import OAM, OCS, OFO, OMCSL, OPAUC
from lopsided.checks.subject import fresh
from lopsided.core.linear.bagging import resampling_rates
from lopsided.metrics import AUROC, f1
from properties.generated import streams

every_learner = each("learner", [fresh(learner) for learner in trials(linear=True)])


def stream(n=500, n_features=5, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * (rng.random((n, n_features)) < 0.7)
    return X, np.where(X[:, 0] + 0.6 * rng.normal(size=n) > 1.0, 1, -1)


# ---- 1: costs and probabilities ----


@given(st.integers(1, 40))
def test_1_costs_add_up_to_1_and_fall(K):
    X, y = stream(20)
    learner = OMCSL(n_costs=K).partial_fit(X, y, classes=[-1, 1])
    assert np.allclose(learner._costs.sum(axis=0), 1.0, rtol=0, atol=1e-15)
    assert (np.diff(learner.costs_) < 0).all() and (learner.costs_ > 0.5).all()
    if K == 9:
        assert np.allclose(learner.costs_, np.arange(0.95, 0.54, -0.05))


@given(streams(), st.sampled_from([0.0, 1.0, 1e3, 1e6, math.inf]), st.sampled_from(["f1", "auroc"]))
def test_1_probabilities_are_probabilities(drawn, sharpness, measure):
    learner = OMCSL(sharpness=sharpness, measure=measure).partial_fit(*drawn, classes=[-1, 1])
    p = learner.expert_weights_
    assert (p >= 0).all() and abs(p.sum() - 1.0) < 1e-12
    if sharpness == 0.0:
        assert np.allclose(p, 1 / 9, rtol=0, atol=1e-15)
    if sharpness == math.inf:
        assert p[np.argmax(learner.expert_measures_[measure])] == 1.0


# ---- 2, 3: the columns do not know who is watching ----


def test_2_the_columns_do_not_depend_on_measure_sharpness_seed_and_refresh():
    X, y = stream()
    reference = OMCSL(random_state=0).fit(X, y).coef_
    for options in ({"measure": "auroc"}, {"measure": "auprc", "refresh": 50}, {"sharpness": 1.0}, {"refresh": 7}):
        for seed in (0, 9):
            assert np.array_equal(OMCSL(random_state=seed, **options).fit(X, y).coef_, reference)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_2_each_column_is_a_single_learner_with_fixed_costs(loss):
    X, y = stream()
    learner = OMCSL(loss=loss).fit(X, y)
    for j, cost in enumerate(learner.costs_):
        c_minus = 1.0 - cost
        single = OCS(2, loss, learning_rate=0.1 * c_minus, decay=True, cost_ratio=cost / c_minus).fit(X, y)
        assert np.abs(single.coef_[0] - learner.coef_[:, j]).max() < 1e-12


def test_3_one_uniform_a_step_decides_which_column_is_reported():
    X, y = stream()
    learner, other = OMCSL(sharpness=10.0, random_state=5), OMCSL(sharpness=10.0, random_state=6)
    columns = clone(learner).progressive_expert_scores(X, y)
    p, expected, rng = np.full(9, 1 / 9), [], np.random.default_rng(5)
    watched = clone(learner)
    for t in range(len(y)):
        j = min(int(np.searchsorted(np.cumsum(p), rng.random(), side="right")), 8)
        expected.append(columns[t, j])
        p = watched.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1]).expert_weights_
    scores = learner.progressive_scores(X, y)
    assert np.array_equal(scores, expected)
    assert not np.array_equal(scores, other.progressive_scores(X, y))
    assert np.array_equal(learner.expert_weights_, other.expert_weights_)


def test_one_pass_serves_all_measures():
    X, y = stream(900)
    learner = OMCSL(measure="auroc", random_state=0)
    columns = learner.progressive_expert_scores(X, y)
    measured = learner.expert_measures_
    assert set(measured) == {"f1", "auroc", "auprc"}
    for j in range(9):
        area = AUROC()
        area.update_many(y, columns[:, j])
        assert measured["auroc"][j] == pytest.approx(area.value, abs=1e-12)
        assert measured["f1"][j] == pytest.approx(f1(y, columns[:, j]), abs=1e-12)
    for measure in ("f1", "auprc"):
        single = OMCSL(measure=measure).fit(X, y)
        assert np.allclose(single.expert_measures_[measure], measured[measure], rtol=0, atol=1e-12)
    assert set(OMCSL().fit(X, y).expert_measures_) == {"f1"}


def test_the_answer_is_that_of_the_best_column_and_its_cost_is_named():
    X, y = stream()
    learner = OMCSL(random_state=0, fit_intercept=True).fit(X, y)
    best = int(np.argmax(learner.expert_weights_))
    assert learner.chosen_cost_ == learner.costs_[best]
    assert np.allclose(learner.expert_scores(X)[:, best], learner.decision_function(X), rtol=0, atol=1e-12)
    assert np.allclose(learner.expert_scores(sp.csr_array(X)), learner.expert_scores(X), rtol=0, atol=1e-12)
    assert np.allclose(X @ learner.coef_ + learner.intercept_, learner.expert_scores(X), rtol=0, atol=1e-12)


# ---- 6: one class only ----


@pytest.mark.parametrize("measure", ["f1", "auroc", "auprc"])
def test_6_with_one_class_nothing_is_achieved_and_nobody_preferred(measure):
    X, y = stream(50)
    learner = OMCSL(measure=measure).partial_fit(X[y < 0], y[y < 0], classes=[-1, 1])
    assert (learner.expert_measures_[measure] == 0.0).all()
    assert np.allclose(learner.expert_weights_, 1 / 9)


# ---- 10, 11: pairs ----


def test_10_opauc_steps_down_the_mean_square_over_pairs():
    X, y = stream(60)
    learner = OPAUC(learning_rate=0.05, regularization=0.3)
    learner.partial_fit(X[:1], y[:1], classes=[-1, 1])
    for t in range(1, 60):
        w = learner.coef_[0]
        opposite = X[:t][y[:t] != y[t]]
        learner.partial_fit(X[t : t + 1], y[t : t + 1])
        if len(opposite):
            v = X[t] - opposite
            gradient = 0.3 * w - np.mean((1.0 - y[t] * v @ w)[:, None] * y[t] * v, axis=0)
            assert np.abs(learner.coef_[0] - (w - 0.05 * gradient)).max() < 1e-12
    for own, label in enumerate((1, -1)):
        scatter, n = learner._moments.scatter[own], (y == label).sum()
        assert np.abs(scatter / n - np.cov(X[y == label].T, bias=True)).max() < 1e-12


def test_10_the_sketch_of_high_rank_is_close_to_the_covariance():
    X, y = stream(400)
    full, sketched = OPAUC().fit(X + 3.0, y), OPAUC(rank=4_000, random_state=0).fit(X + 3.0, y)
    assert np.abs(full.coef_ - sketched.coef_).max() < 0.03 * np.abs(full.coef_).max()


def test_11_oam_gra_with_room_for_all_is_subgradient_descent_on_pairs():
    X, y = stream(80)
    learner = OAM("gra", C=0.02, budget=200)
    w = np.zeros(X.shape[1])
    for t in range(80):
        learner.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        v = y[t] * (X[t] - X[:t][y[:t] != y[t]])
        w = w + 0.01 * v[v @ w <= 1.0].sum(axis=0)
        assert np.abs(learner.coef_[0] - w).max() < 1e-12


def test_11_a_sequential_step_never_overshoots_the_margin():
    X, y = stream(200)
    learner = OAM("seq", C=1e6, budget=1, random_state=0)  # one pair a step, and no cap to speak of
    for t in range(200):
        held = learner._points if t else None
        before = learner.coef_[0] if t else np.zeros(X.shape[1])
        learner.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        moved = learner.coef_[0] - before
        if held is not None and np.abs(moved).max() > 0:
            v = moved  # the step is along v, which has the margin 1 afterwards
            scale = 1.0 / (learner.coef_[0] @ v)
            assert learner.coef_[0] @ (scale * v) == pytest.approx(1.0)
            assert before @ (scale * v) <= 1.0 + 1e-9


# ---- 12: OFO and the rates of bagging ----


@given(streams(), st.sampled_from(["logistic", "hinge"]))
def test_12_f1_so_far_is_twice_tau(drawn, loss):
    learner = OFO(loss, learning_rate=1.0)
    scores = []
    for x, label in zip(drawn.X, drawn.y, strict=True):
        scores.append(learner.progressive_scores(x[None], [label], classes=[-1, 1])[0])
        called = np.array(scores) > 0
        y = drawn.y[: len(scores)]
        total = (y > 0).sum() + called.sum()
        assert 2 * learner.tau_ == pytest.approx(2 * (called & (y > 0)).sum() / total if total else 0.0, abs=1e-12)


@given(streams(), st.floats(0.01, 0.999))
def test_12_oversampling_rates_are_at_least_1_and_undersampling_at_most(drawn, forgetting):
    y = drawn.y.astype(np.float64)
    for over in (True, False):
        rates = np.empty(y.size)
        resampling_rates(np.full(2, 0.5), forgetting, over, y, rates)
        assert (rates >= 1.0 - 1e-12).all() if over else (rates <= 1.0 + 1e-12).all()
        assert (rates > 0).all()


# ---- 13, 14: forms of input, and asking ----


@every_learner
def test_13_sparse_and_dense_rows_give_the_same_weights(learner):
    X, y = stream()
    dense, sparse = clone(learner).fit(X, y), clone(learner).fit(sp.csr_array(X), y)
    assert np.abs(dense.coef_ - sparse.coef_).max() < 1e-12


@every_learner
def test_13_permuting_features_permutes_the_weights(learner):
    X, y = stream()
    order = np.random.default_rng(0).permutation(X.shape[1])
    plain, permuted = clone(learner).fit(X, y).coef_, clone(learner).fit(X[:, order], y).coef_
    moved = plain[order] if plain.shape[0] == X.shape[1] else plain[:, order]
    assert np.abs(permuted - moved).max() < 1e-11


def test_14_asking_the_experts_changes_nothing():
    X, y = stream()
    asked, left_alone = (OMCSL(random_state=1).partial_fit(X[:300], y[:300]) for _ in range(2))
    asked.expert_scores(X)
    assert np.array_equal(asked.progressive_scores(X, y), left_alone.progressive_scores(X, y))


def test_the_average_is_the_explicit_one():
    X, y = stream(200)
    learner, last = OMCSL(average=True, regularization=0.5), OMCSL(regularization=0.5)
    total = np.zeros((X.shape[1], 9))
    for t in range(200):
        learner.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        total += last.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1]).coef_
        assert np.abs(learner.coef_ - total / (t + 1)).max() < 1e-12
