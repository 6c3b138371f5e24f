"""Model files of earlier versions: still read, same scores, and they go on learning as they would have."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from lopsided import load

ARCHIVES = sorted(Path(__file__).parent.glob("models_of_*.zip"))
MODELS = [
    (archive, name)
    for archive in ARCHIVES
    for name in zipfile.ZipFile(archive).namelist()
    if name.endswith(".lopsided")
]


def test_there_are_models_of_every_kind():
    assert len(MODELS) >= 39


@pytest.mark.parametrize(("archive", "name"), MODELS, ids=lambda part: getattr(part, "stem", part))
def test_a_model_of_an_earlier_version_answers_and_goes_on(archive, name, tmp_path):
    with zipfile.ZipFile(archive) as files:
        model = load(files.extract(name, tmp_path))
        rows = json.loads(files.read("rows.json"))
        expected = json.loads(files.read("expected.json"))[name.removesuffix(".lopsided")]
    X = rows["table"] if name.startswith("TablePipeline") else np.array(rows["X"])
    np.testing.assert_allclose(model.decision_function(X), expected["scores"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected["probability"], rtol=1e-9)
    if "after" in expected:
        after = model.partial_fit(X, rows["y"]).decision_function(X)
        np.testing.assert_allclose(after, expected["after"], rtol=1e-9, atol=1e-12)
