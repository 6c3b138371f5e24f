"""Whatever is a formula of the row is exported: the graph gives the model's scores, in two runtimes."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import scipy.sparse

import lopsided as lp
from lopsided.datasets import four_clusters
from lopsided.encoding import infer_schema
from lopsided.estimators import registry
from lopsided.export import largest_difference, to_onnx

STREAM = four_clusters(40, 160, random_state=2)
RARE = {"n_components": 20, "sample_size": 200, "random_state": 0}
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
    "RareEventClassifier": lambda: lp.RareEventClassifier(**RARE),
    "RareEventClassifier that never forgets": lambda: lp.RareEventClassifier(forget="never", threshold="zero", **RARE),
    "BoostedSample": lambda: lp.BoostedSample(sample_size=200, n_trees=10, random_state=0),
    "scaled RareEventClassifier": lambda: lp.StreamPipeline(lp.OnlineScaler(), lp.RareEventClassifier(**RARE)),
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
    "learner",
    [
        lp.FourierRanker(**FOURIER),
        lp.ExpertPool([lp.KOIL(), lp.FourierRanker(**FOURIER)]),
        lp.ExpertPool([lp.BoostedSample(sample_size=200, random_state=0), lp.RareEventClassifier(**RARE)]),
        lp.RareEventClassifier(**RARE),
    ],
)
def test_tables_with_gaps_around_them(learner):
    frame = pd.DataFrame({"amount": 100.0 * STREAM.X[:, 0], "age": STREAM.X[:, 1], "country": ["NO", "SE"] * 100})
    frame.loc[::7, "amount"] = np.nan
    model = lp.TablePipeline(infer_schema(frame), learner=learner).fit(frame, STREAM.y)
    score, _ = run(to_onnx(model), model.encoded(frame))
    np.testing.assert_allclose(score, model.decision_function(frame), atol=1e-5)


def with_gaps(n_rows, seed):
    """Two classes in four columns, where it counts whether a value is there, and many values lie on thresholds."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n_rows, 4)).round(1), rng.random(n_rows) < 0.1
    X[:, 0] += 2.0 * y
    X[rng.random(X.shape) < np.where(y, 0.4, 0.1)[:, None]] = np.nan
    return X, y.astype(int)


@pytest.mark.parametrize("learner", [lp.RareEventClassifier(**RARE), lp.BoostedSample(sample_size=200, random_state=0)])
def test_missing_values_and_values_on_thresholds_go_the_way_of_the_model(learner):
    X, y = with_gaps(1_500, seed=1)
    model = learner.fit(X, y)
    thresholds = model.forest_.thresholds[model.forest_.features == 0]
    assert (thresholds < -1e150).any()  # one that parts what is missing from all numbers
    thresholds = thresholds[thresholds > -1e150]
    on_edges = np.zeros((thresholds.size, 4))
    on_edges[:, 0] = thresholds  # the largest number that goes left
    just_above = on_edges.copy()
    just_above[:, 0] = np.nextafter(thresholds, np.inf)
    rows = np.concatenate([X, on_edges, just_above, np.full((1, 4), np.nan)])
    content = to_onnx(model)
    assert largest_difference(content, model, rows) < 1e-9
    score, probability = run(content, rows)
    np.testing.assert_allclose(score, model.decision_function(rows), atol=1e-5)
    np.testing.assert_allclose(probability, model.predict_proba(rows)[:, 1], atol=1e-5)


def test_the_short_memory_and_a_start_without_trees_are_exported():
    X, y = with_gaps(3_000, seed=1)
    y[1_500:] = 1 - y[1_500:]  # the classes change places
    drifted, young = lp.RareEventClassifier(**RARE), lp.BoostedSample(sample_size=200, random_state=0)
    drifted.partial_fit(X[:1_700], y[:1_700], classes=[0, 1])
    assert 0.01 < drifted.short_share_ < 0.99
    young.partial_fit(X[:20], y[:20], classes=[0, 1])
    assert young.n_trees_ == 0
    for model in (drifted, young):
        score, _ = run(to_onnx(model), X)
        np.testing.assert_allclose(score, model.decision_function(X), atol=1e-5)


def five_columns():
    """Numbers of which one column decides, another counts by its square, and the last has never varied."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(300, 4)), np.full(300, 3.0)])
    return X, (X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=300) > 1.6).astype(int)


# A model for each key is as many formulas as there are keys.
FORMULAS = [e for e in registry.entries(is_learner=True, takes_tables=False) if e.name != "KeyedLearner"]


@pytest.mark.filterwarnings("ignore::lopsided.DivergenceWarning")
@pytest.mark.parametrize("entry", FORMULAS, ids=lambda entry: entry.name)
def test_every_learner_of_the_package_is_exported_with_all_its_options(entry):
    for learner, (X, y) in zip(entry.instances(), [(STREAM.X, STREAM.y), five_columns()] * 4, strict=False):
        model = learner.fit(X, y)
        content = to_onnx(model)
        assert largest_difference(content, model, X[:20]) < 1e-6
        score, probability = run(content, X)
        expected = model.decision_function(X)
        np.testing.assert_allclose(score, expected, rtol=1e-9, atol=1e-5)
        np.testing.assert_allclose(probability, model.predict_proba(X)[:, 1], atol=1e-5)


@pytest.mark.parametrize(
    "pipeline",
    [
        lp.StreamPipeline(lp.OnlineScaler(), lp.StreamPipeline(lp.OnlineScaler("minmax"), lp.KOIL(random_state=0))),
        lp.StreamPipeline(lp.OnlineScaler(center=False), lp.FourierRanker(**FOURIER)),
        lp.StreamPipeline(None, lp.ExpertPool([lp.StreamPipeline(None, lp.KOIL()), lp.OPAUC()], random_state=0)),
        lp.ExpertPool.default(random_state=0),
        lp.TablePipeline(learner=lp.ExpertPool([lp.KOIL(), lp.RareEventClassifier(**RARE)], random_state=0)),
        lp.TablePipeline(scaler="none", learner=lp.KOIL(random_state=0)),
        lp.TablePipeline(learner=lp.StreamPipeline(None, lp.KOIL(random_state=0))),
    ],
    ids=lambda pipeline: str(pipeline)[:60],
)
def test_pipelines_and_pools_within_each_other(pipeline):
    X, y = five_columns()
    model = pipeline.fit(X, y)
    rows = X + np.array([0.0, 0.0, 0.0, 0.0, 1.0])  # the column that never varied does now
    score, probability = run(to_onnx(model), model.encoded(rows) if hasattr(model, "encoded") else rows)
    np.testing.assert_allclose(score, model.decision_function(rows), atol=1e-5)
    np.testing.assert_allclose(probability, model.predict_proba(rows)[:, 1], atol=1e-5)


@pytest.mark.parametrize("learner", [lp.KOIL(gamma=2.0, random_state=0), lp.OPAUC(), lp.FourierRanker(**FOURIER)])
def test_a_model_that_learned_from_sparse_rows_is_exported(learner):
    X, y = five_columns()
    X = np.where(X > 0.5, X, 0.0)
    model = learner.fit(scipy.sparse.csr_array(X), y)
    score, _ = run(to_onnx(model), X)
    np.testing.assert_allclose(score, model.decision_function(X), atol=1e-5)


def test_what_depends_on_a_history_is_refused_and_says_why():
    frame = pd.DataFrame({"card": ["a", "b"] * 100, "when": 60.0 * np.arange(200), "amount": STREAM.X[:, 0]})
    schema = infer_schema(frame, keys=["card"], time="when", value="amount")
    history = lp.KeyedHistory(keys=["card"], time="when", value="amount")
    for model in (
        lp.TablePipeline(schema, learner=lp.KOIL(random_state=0)),
        lp.HistoryPipeline(None, history, learner=lp.KOIL(random_state=0)),
    ):
        with pytest.raises(ValueError, match="its score follows from the row alone, and not from what keys did before"):
            to_onnx(model.fit(frame, STREAM.y))


def test_a_class_from_elsewhere_is_refused_with_its_name():
    class Squared(lp.OPAUC):
        def _score(self, rows):
            return super()._score(rows) ** 2

    with pytest.raises(ValueError, match="Got a model of Squared, which is made otherwise"):
        to_onnx(Squared().fit(STREAM.X, STREAM.y))
