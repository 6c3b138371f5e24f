"""`lopsided export`: the graph gives the scores of the model."""

import json

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import lopsided as lp
from cli.payments import payment_rows
from lopsided.encoding import infer_schema

ROWS = [{name: row[name] for name in ("amount", "country", "when")} for row in payment_rows(300)]
LABELS = [row["kind"] for row in payment_rows(300)]
SCHEMA = infer_schema({name: [row[name] for row in ROWS] for name in ROWS[0]}, label="kind")
KERNEL = {"gamma": 0.3, "random_state": 0, "pos_label": "bad"}


@pytest.mark.parametrize(
    ("learner", "scaler"),
    [
        (lp.KOIL(threshold="f1", **KERNEL), None),
        (lp.OILK(**KERNEL), lp.OnlineScaler("minmax")),
        (lp.SPA(**KERNEL), "none"),
        (lp.BPAS(kernel="poly", degree=2, coef0=1.0, random_state=0, pos_label="bad"), None),
        (lp.OPAUC(pos_label="bad"), None),
        (lp.OCS(fit_intercept=True, pos_label="bad"), None),
    ],
    ids=["KOIL", "OILK", "SPA", "BPAS", "OPAUC", "OCS"],
)
def test_the_graph_gives_the_scores_of_the_model(lopsided, tmp_path, learner, scaler):
    model = lp.TablePipeline(SCHEMA, scaler, learner).partial_fit(ROWS, LABELS)
    model.save(tmp_path / "m")
    done = lopsided("export", "m", "-o", "m.onnx", "--json")
    assert done.returncode == 0, done.stderr
    graph = onnx.load(tmp_path / "m.onnx")
    assert {entry.key: entry.value for entry in graph.metadata_props}["columns"].split("\n") == model.encoder_.names
    encoded = model._matrix(ROWS)
    assert np.isnan(encoded).any()
    score, probability = ReferenceEvaluator(graph).run(["score", "probability"], {"rows": encoded})
    np.testing.assert_allclose(score, model.decision_function(ROWS), atol=1e-9)
    positive = model.predict_proba(ROWS)[:, model.classes_.tolist().index("bad")]
    np.testing.assert_allclose(probability, positive, atol=1e-8)
    assert json.loads(done.stdout)["largest_difference"] < 1e-9


def test_what_cannot_be_written_is_said(refused, tmp_path):
    lp.TablePipeline(SCHEMA, learner=lp.OPAUC(pos_label="bad")).partial_fit(ROWS, LABELS).save(tmp_path / "m")
    assert "must be a file in a directory that can be written to" in refused("export", "m", "-o", "no/m.onnx")


def test_sparse_models(lopsided, libsvm_file, tmp_path):
    assert lopsided("learn", libsvm_file, "-o", "m", "--scale", "standard", "--learner", "koil").returncode == 0
    done = lopsided("export", "m")
    assert done.stdout.startswith("m.onnx: KOIL, 2 columns, ")
