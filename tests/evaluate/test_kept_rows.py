"""Rows worth a look, the latest rows, and the columns that a model ranks by: against all rows at once."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from lopsided import KOIL, OnlineScaler, StreamPipeline, TablePipeline
from lopsided.datasets import four_clusters
from lopsided.encoding import infer_schema
from lopsided.evaluate import Evaluation, History, KeptRows, column_losses
from lopsided.evaluate.column_losses import columns_of_model


def taken(n=700, step=90, most=5, seed=0, sparse=False):
    """Rows in slices, of which some are not judged; what was kept, and all of them."""
    rng = np.random.default_rng(seed)
    X = np.arange(2.0 * n).reshape(n, 2)
    positive, scores = rng.random(n) < 0.1, np.round(rng.normal(size=n), 1)
    judged = rng.random(n) < 0.8
    times = 1e9 + np.arange(n)
    kept = KeptRows(most, id_column="name", apart=("kind",))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        part = csr_array(X[rows]) if sparse else X[rows]
        places = np.flatnonzero(judged[rows])
        kept.take(
            part,
            places,
            positive[rows][places],
            scores[rows][places],
            before=start,
            times=times[rows],
            cells=lambda place, start=start: {"name": f"r{start + place}", "kind": 1.0, "a": float(start + place)},
        )
    return kept, X, positive, scores, np.flatnonzero(judged)


def test_the_lists_are_those_of_all_rows_at_once():
    kept, _, positive, scores, judged = taken()
    both = next(q for q in range(judged.size) if len(set(positive[judged[:q]])) == 2)
    rows = judged[both:]
    for found, chosen, sign in (
        (kept.misses, rows[positive[rows]], 1.0),
        (kept.catches, rows[positive[rows]], -1.0),
        (kept.false_alarms, rows[~positive[rows]], -1.0),
    ):
        expected = chosen[np.argsort(sign * scores[chosen], kind="stable")[:5]]
        assert [row.number for row in found] == (expected + 1).tolist()
        assert [row.score for row in found] == scores[expected].tolist()
        assert [row.id for row in found] == [f"r{place}" for place in expected]
        assert [row.cells for row in found] == [{"a": float(place)} for place in expected]
        assert [row.time for row in found] == (1e9 + expected).tolist()


@pytest.mark.parametrize("sparse", [False, True])
def test_the_sample_is_the_latest_rows_of_each_class(sparse, monkeypatch):
    monkeypatch.setattr("lopsided.evaluate.kept_rows._LATEST_POSITIVES", 20)
    monkeypatch.setattr("lopsided.evaluate.kept_rows._LATEST_NEGATIVES", 130)
    kept, X, positive, _, judged = taken(sparse=sparse)
    rows, is_positive = kept.sample()
    assert issparse(rows) == sparse
    expected = np.concatenate([judged[positive[judged]][-20:], judged[~positive[judged]][-130:]])
    np.testing.assert_array_equal(rows.toarray() if sparse else rows, X[expected])
    assert is_positive.tolist() == [True] * 20 + [False] * 130
    assert kept.share == positive[judged].mean()


def test_memory_is_bounded_for_wide_rows():
    kept = KeptRows()
    for _ in range(6):
        kept.take(np.ones((400, 20_000)), np.arange(400), np.arange(400) < 100, np.zeros(400), before=0)
    rows, _ = kept.sample()
    assert rows.nbytes <= 2 * 8 * 2**20


def test_rows_without_cells_show_their_numbers():
    kept = KeptRows()
    positive = np.array([True, False, True, False])
    kept.take(
        csr_array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.5], [3.0, 4.0]]), np.arange(4), positive, np.zeros(4), before=7
    )
    assert [(row.number, row.cells, row.id, row.time) for row in kept.misses] == [(10, {"x1": 2.5}, None, None)]


def test_before_both_labels_have_come_nothing_is_kept():
    kept = KeptRows()
    kept.take(np.zeros((3, 1)), np.arange(3), np.array([True, True, True]), np.zeros(3), before=0)
    assert kept.misses == kept.catches == [] and kept.sample() is None
    kept.take(np.zeros((2, 1)), np.arange(2), np.array([False, True]), np.zeros(2), before=3)
    assert [row.number for row in kept.misses] == [5] and kept.false_alarms == []


def test_a_history_keeps_rows_without_changing_the_evaluation():
    stream = four_clusters(60, 240, random_state=3)
    plain, watched = (History(Evaluation(KOIL(random_state=0)), kept) for kept in (None, KeptRows()))
    for history in (plain, watched):
        for start in range(0, 300, 70):
            history.step(stream.X[start : start + 70], stream.y[start : start + 70])
    np.testing.assert_array_equal(plain.evaluation.scores, watched.evaluation.scores)
    scores = plain.evaluation.scores[stream.y == 1][1:]  # before the first there was no model
    assert watched.kept.misses[0].score == scores.min() and watched.kept.catches[0].score == scores.max()
    assert plain.column_losses() is None
    found = watched.column_losses()
    assert (found.n_positives, found.n_negatives, found.n_columns) == (60, 240, 2)
    assert {loss.name for loss in found.losses} == {"x0", "x1"}


def rows_of_columns(n=500, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.2
    place = np.where(positive & (rng.random(n) < 0.9), "XX", rng.choice(["NO", "SE"], n))
    day = np.datetime64("2024-01-01T00:00") + rng.integers(0, 10_000, n).astype("timedelta64[m]")
    amount = [None if rng.random() < 0.1 else float(value) for value in rng.normal(size=n) + 0.8 * positive]
    return {"amount": amount, "day": day.astype(str).tolist(), "place": place.tolist()}, positive


def test_encoded_columns_are_replaced_together():
    table, positive = rows_of_columns()
    model = TablePipeline(infer_schema(table), learner=KOIL(gamma=0.1, random_state=0)).fit(table, positive)
    places = columns_of_model(model)
    assert list(places) == ["amount", "day", "place"]
    assert sorted(place for group in places.values() for place in group) == list(range(model.encoder_.width))
    names = model.encoder_.names
    assert [names[q] for q in places["amount"]] == ["amount", "amount is missing"]
    assert all(names[q].startswith("day ") for q in places["day"]) and len(places["day"]) == 6
    assert all(names[q].startswith("place #") for q in places["place"])
    found = column_losses(model, model.encoded(table), positive, share=0.2)
    assert [loss.name for loss in found.losses] == ["place", "amount", "day"]
    assert found.losses[0].loss > 0.15 and abs(found.losses[2].loss) < 0.03
    assert found == column_losses(model, model.encoded(table), positive, share=0.2)


class LooksAt:
    """Ranks by one number."""

    def __init__(self, place, width):
        self.place, self.n_features_in_ = place, width

    def decision_function(self, X):
        column = X[:, [self.place]]
        return (column.toarray() if issparse(column) else column).ravel()


def test_sparse_rows_and_many_columns():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(300, 130)) * (rng.random((300, 130)) < 0.3)
    dense[:, 7] = rng.normal(size=300)
    positive = dense[:, 7] > 0.8
    X = csr_array(dense)
    model = LooksAt(7, 130)
    found = column_losses(model, X, positive, share=0.2)
    assert found.n_columns == 130 and len(found.losses) == 100
    assert found.losses[0].name == "x7"
    places = columns_of_model(model)
    one = {"x7": places["x7"]}
    assert column_losses(model, dense, positive, one) == column_losses(model, X, positive, one)


def test_a_learner_of_anybody_will_do():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    found = column_losses(LooksAt(1, 2), X, X[:, 1] > 1.0, share=0.16)
    assert found.auroc == 1.0
    assert [(loss.name, round(loss.loss, 1)) for loss in found.losses] == [("x1", 0.5), ("x0", 0.0)]


def test_a_pipeline_of_numbers_has_columns_too():
    stream = four_clusters(60, 240, random_state=3)
    model = StreamPipeline(OnlineScaler(), KOIL(random_state=0)).fit(stream.X, stream.y)
    assert columns_of_model(model) == {"x0": [0], "x1": [1]}
