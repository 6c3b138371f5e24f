"""Examples that a model keeps are shown as the rows that they were, whatever has become of the scale since."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import lopsided as lp
from lopsided.encoding import infer_schema
from lopsided.estimators.state.arrays import ModelFileError
from lopsided.inspection import describe, explain
from lopsided.late import LateLearner

rng = np.random.default_rng(0)
N = 1500
# Amounts grow with the stream, so that the scale of early vectors is long gone.
AMOUNTS = np.round(rng.lognormal(3.0, 1.0, N) * (1.0 + np.arange(N) / 100.0), 2)
COUNTRIES = rng.choice(["NO", "SE", "DK", "XX"], N)
ROWS = [
    {"who": f"T{t:05}", "amount": float(amount) if t % 11 else None, "country": str(country)}
    for t, (amount, country) in enumerate(zip(AMOUNTS, COUNTRIES, strict=True))
]
Y = ((np.quantile(AMOUNTS, 0.9) < AMOUNTS) | (COUNTRIES == "XX")).astype(int)
SCHEMA = infer_schema({name: [row[name] for row in ROWS] for name in ROWS[0]}, id="who")
X = np.column_stack([AMOUNTS, np.arange(N) % 7])

LEARNERS = {
    "KOIL": lambda: lp.KOIL(budget=15, random_state=0),
    "unbounded KOIL": lambda: lp.KOIL(policy="unbounded", random_state=0),
    "OILK": lambda: lp.OILK(budget=15),
    "SPA": lambda: lp.SPA(budget=15, random_state=0),
    "Projectron": lambda: lp.Projectron(budget=15),
    "NOGD": lambda: lp.NOGD(budget=20, rank=5),
    "MultiKernelKOIL": lambda: lp.MultiKernelKOIL(budget=5, random_state=0),
    "BOMKC": lambda: lp.BOMKC(random_state=0),
    "OB2RMK": lambda: lp.OB2RMK(budget=10, random_state=0),
}


def numbers_of(learner):
    numbers = learner.support_numbers_
    return np.concatenate(numbers) if isinstance(numbers, list) else numbers


def learned(pipeline, rows, y, pieces):
    """In batches of these sizes, then one by one."""
    start = 0
    for size in pieces:
        pipeline.partial_fit(rows[start : start + size], y[start : start + size], classes=[0, 1])
        start += size
    for row, label in zip(rows[start:], y[start:].tolist(), strict=True):
        pipeline.learn_one(row, label)
    return pipeline


@pytest.mark.parametrize("name", LEARNERS)
def test_the_number_of_a_vector_is_that_of_its_row(name):
    learner = LEARNERS[name]()
    n = 200 if name == "OB2RMK" else 600
    learned(learner, X[:n], Y[:n], [100, 3])
    vectors = learner.support_vectors_
    vectors = np.concatenate(vectors) if isinstance(vectors, list) else vectors
    assert len(vectors) > 5
    np.testing.assert_array_equal(vectors, X[numbers_of(learner) - 1])


@pytest.mark.parametrize("pieces", [[N], [3, 400, 5, N]])
def test_rows_whose_labels_came_late_are_numbered_as_they_were_learned(pieces):
    late = LateLearner(lp.StreamPipeline(lp.OnlineScaler(), LEARNERS["KOIL"]()), delay=60, classes=[0, 1])
    start = 0
    for size in pieces:
        late.progressive_scores(X[start : start + size], Y[start : start + size])
        start += size
    for number in numbers_of(late.model).tolist():
        np.testing.assert_array_equal(late.model.remembered_row(number), X[number - 1])


@pytest.mark.parametrize("pieces", [[N], [1, 10, 700], []])
def test_a_table_shows_its_examples_as_they_came(pieces):
    model = learned(lp.TablePipeline(SCHEMA, learner=LEARNERS["KOIL"]()), ROWS, Y, pieces)
    copies = [model, lp.from_bytes(model.to_bytes()), model.snapshot()]
    for copy in copies:
        for number in numbers_of(copy).tolist():
            assert copy.remembered_row(number) == ROWS[number - 1]
        for part in explain(copy, ROWS[5]).parts:
            was = ROWS[part.row - 1]
            assert part.as_it_came and part.id == was["who"]
            assert part.columns == {"amount": was["amount"], "country": was["country"]}
    assert model.remembered_row(N + 1) is None
    assert f"{ROWS[numbers_of(model)[0] - 1]['who']}: amount=" in str(describe(model, top=40))


def test_batches_and_single_rows_keep_the_same_file():
    files = {
        learned(lp.TablePipeline(SCHEMA, learner=LEARNERS["KOIL"]()), ROWS, Y, pieces).to_bytes()
        for pieces in ([N], [1, 17, 1040], [])
    }
    assert len(files) == 1


def test_the_store_is_no_larger_than_what_the_learner_keeps():
    model = learned(lp.TablePipeline(SCHEMA, learner=LEARNERS["KOIL"]()), ROWS, Y, [500, 500])
    arrays = model._arrays()
    assert sorted(numbers_of(model)) == arrays["rows/numbers"].tolist()
    assert len(json.loads(arrays["rows/json"].tobytes())) == 30
    assert len(model._rows._kept) == 30 and not model._rows._recent


@pytest.mark.parametrize("name", LEARNERS)
def test_a_scaled_matrix_shows_its_examples_as_they_came(name):
    n = 200 if name == "OB2RMK" else 600
    model = learned(lp.StreamPipeline(lp.OnlineScaler(), LEARNERS[name]()), X[:n], Y[:n], [150, 5])
    for number in numbers_of(lp.from_bytes(model.to_bytes())).tolist():
        np.testing.assert_array_equal(model.remembered_row(number), X[number - 1])


def test_rows_with_weight_0_have_no_number():
    weights = (np.arange(N) % 3 > 0).astype(float)
    model = lp.TablePipeline(SCHEMA, learner=LEARNERS["KOIL"]()).partial_fit(ROWS, Y, sample_weight=weights)
    learned_rows = [row for row, weight in zip(ROWS, weights, strict=True) if weight]
    for number in numbers_of(model).tolist():
        assert model.remembered_row(number) == learned_rows[number - 1]


def test_shuffled_rows_are_found_again():
    model = lp.TablePipeline(SCHEMA, learner=lp.KOIL(budget=15, shuffle=True, random_state=0)).fit(ROWS, Y)
    order = np.random.default_rng(0).permutation(N)
    for number in numbers_of(model).tolist():
        assert model.remembered_row(number) == ROWS[order[number - 1]]


def test_members_of_pools_point_at_the_rows_of_the_outermost_pipeline():
    members = [
        LEARNERS["KOIL"](),
        lp.StreamPipeline(lp.OnlineScaler("minmax"), LEARNERS["SPA"]()),
        lp.FourierRanker(n_components=20),
    ]
    for model in (
        lp.ExpertPool(members, random_state=0),
        lp.StreamPipeline(lp.OnlineScaler(), lp.ExpertPool(members, random_state=0)),
    ):
        model = lp.from_bytes(model.fit(X, Y).to_bytes())
        explanation = explain(model, X[3])
        examples = [inside for part in explanation.parts for inside in part.parts if inside.kind == "example"]
        assert len(examples) > 40
        for part in (*examples, *explanation.nearest):
            assert part.as_it_came and list(part.columns.values()) == X[part.row - 1].tolist()
        assert all(part.is_positive and Y[part.row - 1] == 1 for part in explanation.nearest)
        assert len(explanation.nearest) == 3


def test_sparse_rows_are_shown_by_what_is_not_0():
    rows = sp.csr_array(np.where(rng.random((300, 30)) < 0.1, 1000.0 * rng.random((300, 30)), 0.0))
    y = (rows.sum(axis=1) > 2000.0).astype(int)
    model = lp.SparsePipeline(1, lp.OnlineScaler(center=False), lp.KOIL(random_state=0)).fit(rows, y)
    model = lp.from_bytes(model.to_bytes())
    for part in explain(model, rows[:1]).parts:
        was = rows[part.row - 1 : part.row]
        assert part.columns == {str(index + 1): value for index, value in zip(was.indices, was.data, strict=True)}


def test_encoded_rows_are_shown_as_far_as_they_can_be_told():
    frame = pd.DataFrame(ROWS)
    encoded = lp.TablePipeline(SCHEMA, learner=lp.OPAUC()).encoded(frame).view(np.ndarray)
    model = lp.TablePipeline(SCHEMA, learner=LEARNERS["KOIL"]()).partial_fit(encoded, Y)
    for number in numbers_of(model).tolist():
        row = model.remembered_row(number)
        assert row["amount"] == ROWS[number - 1]["amount"] and ROWS[number - 1]["country"] in row["country"]


def test_models_that_keep_no_examples_keep_no_rows():
    model = lp.StreamPipeline(lp.OnlineScaler(), lp.OPAUC()).partial_fit(X, Y)
    assert not any(name.startswith("rows/") for name in model._arrays())
    assert model.remembered_row(1) is None


def test_a_file_without_rows_says_that_it_guesses():
    model = lp.StreamPipeline(lp.OnlineScaler(), LEARNERS["KOIL"]()).partial_fit(X, Y)
    old = model.snapshot()
    arrays = {name: array for name, array in model._arrays().items() if "numbers" not in name and "rows/" not in name}
    old._restore(arrays)
    parts = explain(old, X[3]).parts
    assert all(part.as_it_came is False and part.row is None for part in parts)
    assert "on the present scale about x0=" in str(describe(old))
    old.partial_fit(X[:100], Y[:100])
    fresh = [part for part in explain(old, X[3]).parts if part.as_it_came]
    assert fresh and all(list(part.columns.values()) == X[part.row - N - 1].tolist() for part in fresh)


def test_damaged_rows_are_refused():
    model = lp.StreamPipeline(lp.OnlineScaler(), LEARNERS["KOIL"]()).partial_fit(X, Y)
    for name, array in (("rows/numbers", np.full(30, N + 1)), ("rows/starts", np.zeros(31, dtype=np.int64))):
        with pytest.raises(ModelFileError, match=name):
            model.snapshot()._restore(model._arrays() | {name: array})
    table = lp.TablePipeline(SCHEMA, learner=LEARNERS["KOIL"]()).partial_fit(ROWS, Y)
    with pytest.raises(ModelFileError, match="rows/json"):
        table._restore(table._arrays() | {"rows/json": np.frombuffer(b"[]", dtype=np.uint8)})


def test_files_of_the_first_version_are_explained(tmp_path):
    from zipfile import ZipFile

    archive = Path(__file__).parents[1] / "estimators" / "models_of_0.1.0.zip"
    with ZipFile(archive) as models:
        name = next(name for name in models.namelist() if "StreamPipeline" in name)
        models.extract(name, tmp_path)
    model = lp.load(tmp_path / name)
    explanation = explain(model, model.typical_row_)
    assert explanation.parts
    total = sum(part.amount for part in explanation.parts) - explanation.threshold
    assert total == pytest.approx(explanation.score, abs=1e-9)
