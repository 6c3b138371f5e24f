"""Whatever is a formula of the row is exported: the graph gives the model's scores, in two runtimes."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest

import lopsided as lp
from lopsided.datasets import four_clusters
from lopsided.encoding import infer_schema
from lopsided.estimators import registry
from lopsided.export import largest_difference, to_onnx

STREAM = four_clusters(40, 160, random_state=2)
FOURIER = {"n_components": 40, "warm_up": 50, "random_state": 0}


def run(content, rows):
    """Score and probability by onnxruntime, which shares no code with the reference."""
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return session.run(["score", "probability"], {"rows": np.asarray(rows, dtype=np.float64)})


def pool(combine):
    members = [
        lp.KOIL(gamma=20.0),
        lp.StreamPipeline(lp.OnlineScaler("minmax"), lp.FourierRanker(**FOURIER)),
        lp.ExpertPool([lp.OPAUC(), lp.FOGD(n_components=20)]),
    ]
    return lp.ExpertPool(members, combine=combine, random_state=0)


MODELS = {
    "FourierRanker": lambda: lp.FourierRanker(regularization="auto", focus=6.0, **FOURIER),
    "FourierRanker without a linear part": lambda: lp.FourierRanker(linear=0.0, **FOURIER),
    "FOGD": lambda: lp.FOGD(gamma=20.0, n_components=40, random_state=0),
    "weighted pool": lambda: pool("weighted"),
    "best of a pool": lambda: pool("best"),
    "scaled pool": lambda: lp.StreamPipeline(lp.OnlineScaler(), pool("weighted")),
    "votes": lambda: lp.BOMKC(random_state=0),
    "votes of many": lambda: lp.MultiKernelKOIL(combine="sign", random_state=0),
    "members vote": lambda: lp.ResamplingBagging(random_state=0, fit_intercept=True),
    "logistic": lambda: lp.OFO(learning_rate=1.0, fit_intercept=True),
    "cut": lambda: lp.OFO(loss="hinge"),
    "KOIL": lambda: lp.KOIL(gamma=20.0, threshold="f1", random_state=0),
    "normalized kernel": lambda: lp.KOIL(kernel=lp.kernels.Normalized(lp.kernels.Polynomial(2, 1.0)), random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_two_runtimes_give_the_scores_of_the_model(name):
    model = MODELS[name]().fit(STREAM.X, STREAM.y)
    content = to_onnx(model)
    far = np.array([[40.0, -3.0], [0.0, 0.0]])  # beyond what a learner lets count, and where kernels are 0
    rows = np.concatenate([STREAM.X, far])
    assert largest_difference(content, model, rows) < 1e-9
    score, probability = run(content, rows)
    np.testing.assert_allclose(score, model.decision_function(rows), atol=1e-5)
    np.testing.assert_allclose(probability, model.predict_proba(rows)[:, 1], atol=1e-5)


@pytest.mark.parametrize(
    "learner", [lp.FourierRanker(**FOURIER), lp.ExpertPool([lp.KOIL(), lp.FourierRanker(**FOURIER)])]
)
def test_tables_with_gaps_around_them(learner):
    frame = pd.DataFrame({"amount": 100.0 * STREAM.X[:, 0], "age": STREAM.X[:, 1], "country": ["NO", "SE"] * 100})
    frame.loc[::7, "amount"] = np.nan
    model = lp.TablePipeline(infer_schema(frame), learner=learner).fit(frame, STREAM.y)
    score, _ = run(to_onnx(model), model.encoded(frame))
    np.testing.assert_allclose(score, model.decision_function(frame), atol=1e-5)


@pytest.mark.filterwarnings("ignore::lopsided.DivergenceWarning")
@pytest.mark.parametrize("entry", registry.entries(is_learner=True, takes_tables=False), ids=lambda entry: entry.name)
def test_every_learner_of_the_package_is_exported(entry):
    model = entry.instances()[0].fit(STREAM.X, STREAM.y)
    assert largest_difference(to_onnx(model), model, STREAM.X[:20]) < 1e-6


def test_a_class_from_elsewhere_is_refused_with_its_name():
    class Squared(lp.OPAUC):
        def _score(self, rows):
            return super()._score(rows) ** 2

    with pytest.raises(ValueError, match="Got a model of Squared, which is made otherwise"):
        to_onnx(Squared().fit(STREAM.X, STREAM.y))
