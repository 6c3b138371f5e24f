"""What each column adds to a score: exactly additive for any function, and Shapley's value where it says so."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import lopsided as lp
from lopsided.datasets import four_clusters
from lopsided.encoding import infer_schema
from lopsided.inspection import additive_contributions, explain
from lopsided.inspection.additive import EXACT, MOST_COLUMNS, MOST_ROWS

STREAM = four_clusters(60, 240, random_state=2)
FOURIER = {"n_components": 40, "warm_up": 50, "random_state": 0}


def wild(X):
    """No column acts alone."""
    X = np.asarray(X)
    return np.tanh(X.prod(axis=1)) + np.sin(X @ np.arange(1.0, X.shape[1] + 1.0)) + 3.0


def shapley(score_rows, row, baseline):
    """By its definition: the mean over all orders."""
    n, total = len(row), np.zeros(len(row))
    orders = list(itertools.permutations(range(n)))
    for order in orders:
        x = baseline.copy()
        for i in order:
            before = score_rows(x[None])[0]
            x[i] = row[i]
            total[i] += score_rows(x[None])[0] - before
    return total / len(orders)


def test_few_columns_get_the_shapley_value():
    rng = np.random.default_rng(0)
    row, baseline = rng.normal(size=(2, 5))
    found = additive_contributions(wild, row, baseline)
    np.testing.assert_allclose(found.amounts, shapley(wild, row, baseline), atol=1e-12)
    assert found.baseline == wild(baseline[None])[0]


@pytest.mark.parametrize("n", [1, EXACT, EXACT + 1, 60, MOST_COLUMNS + 40])
def test_contributions_sum_to_the_score_whatever_the_function(n):
    rng = np.random.default_rng(n)
    row, baseline = rng.normal(size=(2, n))
    scored = 0

    def counted(X):
        nonlocal scored
        scored += len(X)
        return wild(X)

    found = additive_contributions(counted, row, baseline)
    total = found.baseline + found.amounts.sum() + found.together
    assert total == pytest.approx(wild(row[None])[0], abs=1e-9)
    assert scored <= max(MOST_ROWS, 4 * n) + 2 * n
    again = additive_contributions(wild, row, baseline)
    np.testing.assert_array_equal(found.amounts, again.amounts)
    assert (found.n_together > 0) == (n > MOST_COLUMNS)


def test_many_columns_that_act_in_pairs_get_the_shapley_value_too():
    rng = np.random.default_rng(0)
    n = 24
    pairs, weights = rng.normal(size=(n, n)), rng.normal(size=n)
    row, baseline = rng.normal(size=(2, n))

    def quadratic(X):
        return X @ weights + np.einsum("ni,ij,nj->n", X, pairs, X)

    # Of a quadratic function it is the slope half way, times the way.
    exact = (row - baseline) * (weights + (pairs + pairs.T) @ (row + baseline) / 2.0)
    np.testing.assert_allclose(additive_contributions(quadratic, row, baseline).amounts, exact, atol=1e-10)


def test_a_column_at_its_baseline_adds_nothing_and_groups_go_together():
    row, baseline = np.array([1.0, 2.0, 0.5, 7.0]), np.array([0.0, 0.0, 0.0, 7.0])
    found = additive_contributions(wild, row, baseline)
    assert found.amounts[3] == 0.0
    grouped = additive_contributions(wild, row, baseline, [[0, 2], [1], [3]])
    two = additive_contributions(
        lambda X: wild(np.column_stack([X[:, 0], X[:, 1], X[:, 0] / 2.0, np.full(len(X), 7.0)])), row[:2], np.zeros(2)
    )
    np.testing.assert_allclose(grouped.amounts, [*two.amounts, 0.0], atol=1e-12)
    same = additive_contributions(wild, baseline, baseline)
    assert not same.amounts.any() and same.baseline == wild(baseline[None])[0]


def test_sparse_rows_stay_sparse():
    row = sp.csr_array(np.where(np.arange(5000) % 100 == 0, 1.0, 0.0)[None])

    def score_rows(X):
        assert sp.issparse(X) and X.shape[1] == 5000
        return np.tanh(X @ np.linspace(0.0, 1.0, 5000)) + 1.0

    found = additive_contributions(score_rows, row, np.zeros(5000))
    assert found.baseline == 1.0
    assert found.baseline + found.amounts.sum() == pytest.approx(score_rows(row)[0], abs=1e-9)
    assert (np.flatnonzero(found.amounts) % 100 == 0).all()


def test_a_fourier_ranker_says_what_each_column_adds_and_how_much_of_it_is_linear():
    frame = pd.DataFrame(1000.0 * STREAM.X, columns=["left", "right"])
    for model in (lp.FourierRanker(**FOURIER), lp.StreamPipeline(lp.OnlineScaler(), lp.FourierRanker(**FOURIER))):
        model.fit(frame, STREAM.y)
        row = frame.iloc[[3]]
        baseline, *columns = explain(model, row).parts
        assert baseline.kind == "baseline" and {part.name for part in columns} == {"left", "right"}
        typical = pd.DataFrame([model.typical_row_], columns=frame.columns)
        assert baseline.amount == pytest.approx(model.raw_scores(typical)[0], abs=1e-12)
        assert baseline.amount + sum(part.amount for part in columns) == pytest.approx(
            model.raw_scores(row)[0], abs=1e-9
        )
        for part in columns:
            assert part.columns == {part.name: row[part.name].iloc[0]}
            assert part.instead == typical[part.name].iloc[0]
        # The linear part is what is left of the score without the waves.
        learner = model.final_learner
        n_waves = 2 * learner.directions_.shape[1]
        prepared = model.prepared(row) if hasattr(model, "prepared") else row.to_numpy()
        start = model.prepared(typical) if hasattr(model, "prepared") else typical.to_numpy()
        centre, spread = learner.scale_
        weights = learner.coef_[0, n_waves:] * learner.linear / np.sqrt(2)
        here, there = (np.clip((rows[0] - centre) / spread, -10.0, 10.0) for rows in (prepared, start))
        told = {part.name: part.linear for part in columns}
        np.testing.assert_allclose([told["left"], told["right"]], (here - there) * weights, atol=1e-12)
    plain = lp.FourierRanker(linear=0.0, **FOURIER).fit(STREAM.X, STREAM.y)
    assert all(part.linear == 0.0 for part in explain(plain, STREAM.X[3]).parts[1:])


def test_a_pool_gives_the_shares_of_its_members_each_explained():
    members = [lp.KOIL(gamma=20.0), lp.FourierRanker(**FOURIER), lp.ExpertPool([lp.OPAUC(), lp.OFO()]), lp.BOMKC()]
    model = lp.StreamPipeline(lp.OnlineScaler(), lp.ExpertPool(members, random_state=0)).fit(STREAM.X, STREAM.y)
    explanation = explain(model, STREAM.X[3])
    assert [part.kind for part in explanation.parts] == ["member"] * 4
    raw = explanation.score + explanation.threshold
    assert sum(part.amount for part in explanation.parts) == pytest.approx(raw, abs=1e-9)
    for part in explanation.parts:
        assert sum(inside.amount for inside in part.parts) == pytest.approx(part.amount, abs=1e-9)
        for inside in part.parts:
            if inside.kind == "member":
                assert sum(last.amount for last in inside.parts) == pytest.approx(inside.amount, abs=1e-9)
    kinds = {kind for part in explanation.parts for kind in (inside.kind for inside in part.parts)}
    assert kinds == {"example", "baseline", "column", "member", "bias"}
    json.dumps(explanation.to_json(3))
    by_columns = explain(model, STREAM.X[3], by="columns")
    assert sum(part.amount for part in by_columns.parts) == pytest.approx(raw, abs=1e-9)
    assert {part.kind for part in by_columns.parts} == {"baseline", "column"}


def test_a_table_is_told_by_its_own_columns():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({
        "amount": 100.0 * STREAM.X[:, 0],
        "country": rng.choice(["NO", "SE", "XX"], 300),
        "when": pd.date_range("2026-01-01", periods=300, freq="7h").astype(str),
        "age": np.where(rng.random(300) < 0.2, np.nan, STREAM.X[:, 1]),
    })  # fmt: skip
    model = lp.TablePipeline(infer_schema(frame), learner=lp.FourierRanker(**FOURIER)).fit(frame, STREAM.y)
    for place in (3, int(np.flatnonzero(frame["age"].isna())[0])):
        explanation = explain(model, frame.iloc[[place]])
        baseline, *columns = explanation.parts
        assert {part.name for part in columns} == set(frame.columns)
        cells = {part.name: part.columns[part.name] for part in columns}
        assert cells["country"] == frame["country"][place] and cells["amount"] == frame["amount"][place]
        assert cells["when"] == frame["when"][place].replace(" ", "T")[:16]
        assert (cells["age"] is None) == np.isnan(frame["age"][place])
        instead = {part.name: part.instead for part in columns}
        assert instead["amount"] == pytest.approx(frame["amount"].mean())
        assert baseline.amount + sum(part.amount for part in columns) == pytest.approx(
            explanation.score + explanation.threshold, abs=1e-9
        )


def test_a_learner_from_elsewhere_plugs_in_by_its_scores_alone():
    class Blend(lp.FourierRanker):
        """A formula of two scores, as a blend of learners is."""

        def _score(self, rows):
            score = super()._score(rows)
            return 0.5 * score + 0.5 * np.tanh(score / 8.0)

        def linear_terms(self, X):
            return 0.5 * super().linear_terms(X)

    model = Blend(**FOURIER).fit(STREAM.X, STREAM.y)
    explanation = explain(model, STREAM.X[3])
    assert sum(part.amount for part in explanation.parts) == pytest.approx(model.raw_scores(STREAM.X[3:4])[0], abs=1e-9)
