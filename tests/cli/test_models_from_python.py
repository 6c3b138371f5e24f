"""Whatever was saved from Python works with the commands: every learner, with names of columns and without."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from onnx.reference import ReferenceEvaluator

import lopsided as lp
from cli.conftest import libsvm_text
from lopsided.datasets import four_clusters
from lopsided.encoding import infer_schema
from lopsided.estimators import registry

STREAM = four_clusters(20, 80, random_state=1)
FRAME = pd.DataFrame(STREAM.X, columns=["left", "right"])


def fresh(name):
    """A learner by its name, small."""
    if name == "ExpertPool":
        return lp.ExpertPool([lp.KOIL(), lp.StreamPipeline(lp.OnlineScaler(), lp.OPAUC())], random_state=0)
    if name == "StreamPipeline":
        return lp.StreamPipeline(lp.OnlineScaler(), lp.KOIL(threshold="f1", random_state=0))
    if name == "SparsePipeline":
        return lp.SparsePipeline(learner=lp.KOIL(random_state=0))
    if name == "TablePipeline":
        return lp.TablePipeline(infer_schema(FRAME), learner=lp.KOIL(random_state=0))
    return getattr(lp, name)(random_state=0)


def write_csv(path, frame, labels=None):
    table = frame.assign(who=[f"p{n}" for n in range(len(frame))])
    (table if labels is None else table.assign(y=labels)).to_csv(path, index=False)


def scored(done):
    assert done.returncode == 0, done.stderr
    assert ", threshold " in done.stderr and done.stderr.count("\n") == 1  # no warning beside it
    return list(csv.DictReader(io.StringIO(done.stdout)))


# What a history needs beside numbers is in test_history_command.py; a model for each key is no formula to be exported.
ALL = [
    entry.name for entry in registry.entries(is_learner=True) if entry.name not in ("HistoryPipeline", "KeyedLearner")
]


@pytest.mark.parametrize("has_names", [True, False], ids=["frame", "array"])
@pytest.mark.parametrize("name", [name for name in ALL if name != "SparsePipeline"])
def test_every_learner_works_with_every_command(lopsided, refused, tmp_path, name, has_names):
    model = fresh(name)
    is_table = name == "TablePipeline"
    X = FRAME if has_names or is_table else STREAM.X
    model.fit(X, STREAM.y)
    model.save(tmp_path / "m")
    new = FRAME.head(30).assign(left=lambda frame: frame["left"] + 0.125)
    write_csv(tmp_path / "rows.csv", new)
    expected = model.decision_function(new if has_names or is_table else new.to_numpy())

    rows = scored(lopsided("score", "m", "rows.csv"))
    np.testing.assert_array_equal([float(row["score"]) for row in rows], expected)
    assert [row["who"] for row in rows] == [f"p{n}" for n in range(30)]
    assert [int(row["predicted"]) for row in rows] == (expected > 0).astype(int).tolist()

    done = lopsided("inspect", "m", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["kind"], facts["rows"], facts["positives"], facts["features"]) == (name, 100, 20, 2)
    assert facts["learner"] == type(model.final_learner).__name__
    assert facts["feature_names"] == (["left", "right"] if has_names or is_table else ["x0", "x1"])
    assert f"learner    {facts['learner']}(" in lopsided("inspect", "m").stdout

    done = lopsided("explain", "m", "rows.csv", "--row", 7, "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["score"] == pytest.approx(expected[6], abs=1e-12)
    total = sum(part["amount"] for part in facts["parts"]) + facts["rest"]["amount"]
    assert total - facts["threshold"] == pytest.approx(facts["score"], abs=1e-9)
    for part in facts["parts"]:
        assert set(part["columns"] or ["left", "right"]) <= {"left", "right"}
    assert lopsided("explain", "m", "rows.csv", "--row", 7).stdout.startswith("score ")

    done = lopsided("export", "m", "-o", "m.onnx", "--json")
    assert done.returncode == 0, done.stderr
    (scores,) = ReferenceEvaluator(str(tmp_path / "m.onnx")).run(["score"], {"rows": new.to_numpy()})
    np.testing.assert_allclose(scores, expected, atol=1e-8 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", ["KOIL", "OMCSL", "SparsePipeline"])
def test_models_of_sparse_rows_take_libsvm_files(lopsided, tmp_path, name):
    model = fresh(name).fit(sp.csr_array(STREAM.X), STREAM.y)
    model.save(tmp_path / "m")
    (tmp_path / "rows.svm").write_text(libsvm_text(STREAM.X[:20], STREAM.y[:20]))
    done = lopsided("score", "m", "rows.svm")
    scores = [float(row["score"]) for row in scored(done)]
    np.testing.assert_array_equal(scores, model.decision_function(sp.csr_array(STREAM.X[:20])))
    assert lopsided("inspect", "m").returncode == 0
    done = lopsided("explain", "m", "rows.svm", "--row", 3, "--json")
    assert json.loads(done.stdout)["score"] == pytest.approx(scores[2], abs=1e-12)


@pytest.fixture
def unnamed(tmp_path):
    model = fresh("StreamPipeline").fit(STREAM.X, STREAM.y)
    model.save(tmp_path / "unnamed")
    return model


@pytest.fixture
def named(tmp_path):
    model = fresh("KOIL").fit(FRAME, STREAM.y)
    model.save(tmp_path / "named")
    return model


def test_a_label_may_stand_beside_the_numbers(lopsided, unnamed, tmp_path):
    write_csv(tmp_path / "rows.csv", FRAME, STREAM.y)
    scores = [float(row["score"]) for row in scored(lopsided("score", "unnamed", "rows.csv"))]
    np.testing.assert_array_equal(scores, unnamed.decision_function(STREAM.X))


def test_columns_are_found_by_name(lopsided, named, tmp_path):
    write_csv(tmp_path / "rows.csv", FRAME[["right", "left"]].assign(more=1.0))
    scores = [float(row["score"]) for row in scored(lopsided("score", "named", "rows.csv"))]
    np.testing.assert_array_equal(scores, named.decision_function(FRAME))


def test_truth_is_a_number(lopsided, tmp_path):
    frame = pd.DataFrame({"is_new": STREAM.X[:, 0] > 0.5, "right": STREAM.X[:, 1]})
    model = fresh("KOIL").fit(frame, STREAM.y)
    model.save(tmp_path / "m")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet")
    for path in ("rows.csv", "rows.parquet"):
        scores = [float(row["score"]) for row in scored(lopsided("score", "m", path))]
        np.testing.assert_array_equal(scores, model.decision_function(frame))


@pytest.mark.parametrize(
    ("model", "text", "sentence"),
    [
        (
            "unnamed",
            "a,b,c\n1,2,3\n",
            "The file rows.csv must hold 2 columns of numbers, one a feature of the StreamPipeline, and beside them at "
            "most a label called label, class, target or y, got 3: a, b, c.",
        ),
        ("unnamed", "a,b\nx,y\n", "must hold 2 columns of numbers, .* got none"),
        (
            "unnamed",
            "a,b\n1,2\n1,\n",
            "Column 'b' in line 3 of rows.csv must be a finite number and must not be missing",
        ),
        ("named", "left,b\n1,2\n", "The file rows.csv must hold the column 'right', got only left, b."),
        ("named", "left,right\n1,2\n1,x\n", "Column 'right' in line 3 of rows.csv must be a finite number, got 'x'."),
    ],
)
@pytest.mark.usefixtures("unnamed", "named")
def test_files_that_do_not_fit_are_refused(refused, tmp_path, model, text, sentence):
    import re

    (tmp_path / "rows.csv").write_text(text)
    assert re.search(sentence, refused("score", model, "rows.csv"))


def test_rows_with_gaps_can_be_left_out(lopsided, unnamed, tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n1,\n3,4\n")
    done = lopsided("score", "unnamed", "rows.csv", "--on-error", "skip")
    assert done.returncode == 0 and "1 bad row left out" in done.stderr
    assert [row["a"] for row in csv.DictReader(io.StringIO(done.stdout))] == ["1", "3"]


@pytest.mark.usefixtures("unnamed", "named")
def test_a_single_row_is_explained(lopsided, refused, unnamed, named):
    for model, row in (("unnamed", [0.25, 0.75]), ("unnamed", {"a": 0.25, "b": 0.75})):
        facts = json.loads(lopsided("explain", model, json.dumps(row), "--json").stdout)
        assert facts["score"] == pytest.approx(unnamed.score_one(np.array([0.25, 0.75])), abs=1e-12)
        assert list(facts["parts"][0]["columns"]) == (["x0", "x1"] if isinstance(row, list) else ["a", "b"])
    facts = json.loads(lopsided("explain", "named", '{"right": 0.75, "left": 0.25}', "--json").stdout)
    assert facts["score"] == pytest.approx(named.score_one(np.array([0.25, 0.75])), abs=1e-12)
    assert "must be a JSON object of the model's columns, got a list" in refused("explain", "named", "[1, 2]")
    assert "must hold 2 columns of numbers" in refused("explain", "unnamed", "[1, 2, 3]")


def test_what_is_no_learner_is_refused(refused, tmp_path):
    lp.OnlineScaler().fit(STREAM.X).save(tmp_path / "scaler")
    for command in (["inspect"], ["export"], ["explain", "[1, 2]"]):
        sentence = refused(command[0], "scaler", *command[1:])
        assert sentence == "The model scaler must be a learner, which gives scores, got OnlineScaler."


@pytest.mark.parametrize("name", ["StreamPipeline", "KOIL", "ExpertPool", "OMCSL"])
@pytest.mark.parametrize("has_names", [True, False], ids=["frame", "array"])
def test_learning_goes_on_with_a_model_from_python(lopsided, tmp_path, name, has_names):
    X = FRAME if has_names else STREAM.X
    model = fresh(name).partial_fit(X[:60], STREAM.y[:60])
    model.save(tmp_path / "m")
    write_csv(tmp_path / "rows.csv", FRAME[60:], STREAM.y[60:])
    done = lopsided("learn", "rows.csv", "--resume", "m", "-o", "more")
    assert done.returncode == 0, done.stderr
    model.partial_fit(X[60:], STREAM.y[60:])
    more = lp.load(tmp_path / "more")
    assert more.n_seen_ == 100 and type(more) is type(model)
    np.testing.assert_array_equal(more.decision_function(X), model.decision_function(X))


def test_what_is_fitted_once_does_not_go_on(refused, tmp_path):
    fresh("B2RMK").fit(STREAM.X, STREAM.y).save(tmp_path / "m")
    write_csv(tmp_path / "rows.csv", FRAME, STREAM.y)
    assert "must learn row by row, got a B2RMK" in refused("learn", "rows.csv", "--resume", "m", "-o", "more")
