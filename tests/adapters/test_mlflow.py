"""Models through MLflow, for real, in a folder: saved, logged, registered, loaded, and asked as a pyfunc."""

import logging

import mlflow
import numpy as np
import pandas as pd
import pytest
from mlflow.models import Model

import lopsided as lp
import lopsided.adapters.mlflow as adapter

pytestmark = pytest.mark.filterwarnings("ignore:Operation with range is deprecated")  # MLflow's, of pandas 3

STREAM = lp.datasets.four_clusters(40, 160, random_state=2)
FRAME = pd.DataFrame({"amount": 100.0 * STREAM.X[:, 0], "age": STREAM.X[:, 1], "country": ["NO", "SE"] * 100})
FRAME.loc[::7, "amount"] = np.nan
WORDS = np.where(STREAM.y == 1, "fraud", "ok")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # its own choice, a database, needs more packages
    mlflow.set_tracking_uri(f"file:{tmp_path}/runs")
    logging.getLogger("mlflow").setLevel(logging.ERROR)


def answers(model, rows):
    answer = model.answer(rows)
    return answer.score - answer.threshold, answer.probability, answer.decision


def assert_answers_as(model, rows, predicted):
    for column, expected in zip(("score", "probability", "decision"), answers(model, rows), strict=True):
        np.testing.assert_array_equal(predicted[column], expected)


def test_a_table_pipeline_is_logged_loaded_and_asked():
    model = lp.TablePipeline(learner=lp.RareEventClassifier(random_state=0, pos_label="fraud")).fit(FRAME, WORDS)
    with mlflow.start_run() as run:
        info = adapter.log_model(model, "fraud", input_example=FRAME.head(3))
    pyfunc = mlflow.pyfunc.load_model(info.model_uri)
    predicted = pyfunc.predict(FRAME)
    assert_answers_as(model, FRAME, predicted)
    assert predicted.columns.tolist() == ["score", "probability", "decision"] and set(predicted.decision) <= {
        "fraud",
        "ok",
    }
    outputs = {column.name: column.type.name for column in pyfunc.metadata.signature.outputs.inputs}
    assert outputs == {"score": "double", "probability": "double", "decision": "string"}
    with pytest.raises(mlflow.exceptions.MlflowException, match="missing inputs"):  # what the signature is for
        pyfunc.predict(FRAME.drop(columns="age"))
    loaded = adapter.load_model(f"runs:/{run.info.run_id}/fraud")
    assert loaded.to_bytes() == model.to_bytes()
    loaded.learn_one({"amount": 3.0, "age": 0.2, "country": "NO"}, "ok")
    assert loaded.n_seen_ == model.n_seen_ + 1


def test_the_artifact_is_the_models_own_file_and_nothing_is_pickled(tmp_path):
    model = lp.KOIL(random_state=0).fit(STREAM.X, STREAM.y)
    adapter.save_model(model, "saved", metadata={"team": "risk"})
    files = {path.name for path in (tmp_path / "saved").rglob("*") if path.is_file()}
    assert files == {"MLmodel", "conda.yaml", "python_env.yaml", "requirements.txt", "model.lopsided"}
    assert lp.load(tmp_path / "saved" / "data" / "model.lopsided").to_bytes() == model.to_bytes()
    known = Model.load("saved")
    assert known.flavors["lopsided"]["learner"] == "KOIL" and known.metadata == {"team": "risk"}
    assert f"lopsided=={lp.__version__}" in (tmp_path / "saved" / "requirements.txt").read_text().split()


@pytest.mark.parametrize("name", ["KOIL", "ExpertPool", "StreamPipeline", "RareEventClassifier"])
def test_rows_may_be_arrays_or_frames_whatever_the_model_learned_from(name):
    (kind,) = (entry for entry in lp.estimators.registry.entries() if entry.name == name)
    model = kind.instances()[0].fit(STREAM.X, STREAM.y == 1)
    adapter.save_model(model, "saved", input_example=STREAM.X[:2])
    pyfunc = mlflow.pyfunc.load_model("saved")
    rows = pd.DataFrame(STREAM.X, index=range(100, 300))
    predicted = pyfunc.predict(STREAM.X)
    assert_answers_as(model, STREAM.X, predicted)
    plain = adapter.PyfuncModel(model).predict(rows)  # as a server hands it over
    assert_answers_as(model, STREAM.X, plain)
    assert plain.index.equals(rows.index) and plain.decision.dtype == bool


def test_a_frame_of_numbers_is_found_by_its_names():
    frame = pd.DataFrame(STREAM.X, columns=["a", "b"])
    model = lp.OPAUC().fit(frame, STREAM.y)
    adapter.save_model(model, "saved", input_example=frame.head(2))
    assert_answers_as(model, frame, mlflow.pyfunc.load_model("saved").predict(frame[["b", "a"]]))


def test_a_registered_version_is_loaded():
    model = lp.OPAUC().fit(STREAM.X, STREAM.y)
    adapter.log_model(model, registered_model_name="ranker")
    assert adapter.load_model("models:/ranker/1").to_bytes() == model.to_bytes()


def test_what_is_not_ours_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must be a learner of lopsided\. Got 'KOIL'"):
        adapter.save_model("KOIL", "saved")
    other = Model()
    other.add_flavor("sklearn", data="x")
    (tmp_path / "other").mkdir()
    other.save(tmp_path / "other" / "MLmodel")
    with pytest.raises(ValueError, match=r"'other' must be one of lopsided\. Got one of sklearn"):
        adapter.load_model("other")
