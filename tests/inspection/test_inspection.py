"""`describe` and `explain` from Python, on models of models."""

import json
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import lopsided as lp
from lopsided.datasets import four_clusters
from lopsided.encoding import infer_schema
from lopsided.estimators import registry
from lopsided.inspection import describe, explain, kernel_weights_of, score_form_of

STREAM = four_clusters(40, 160, random_state=2)
FRAME = pd.DataFrame(1000.0 * STREAM.X, columns=["left", "right"])


def total(explanation):
    return sum(part.amount for part in explanation.parts) - explanation.threshold


def nested():
    """Two scalers, one inside of the other."""
    inner = lp.StreamPipeline(lp.OnlineScaler("standard"), lp.KOIL(C=10.0, random_state=0))
    return lp.StreamPipeline(lp.OnlineScaler("minmax"), inner)


def pool(combine):
    members = [lp.KOIL(gamma=20.0), lp.StreamPipeline(lp.OnlineScaler(), lp.KOIL()), lp.OPAUC()]
    return lp.ExpertPool(members, combine=combine, random_state=0)


@pytest.mark.parametrize(
    "model",
    [
        nested(),
        pool("weighted"),
        pool("best"),
        pool("sample"),
        lp.StreamPipeline(lp.OnlineScaler(), pool("weighted")),
        lp.StreamPipeline(lp.OnlineScaler("minmax"), pool("best")),
        lp.OMCSL(fit_intercept=True, average=True, random_state=0),
        lp.B2RMK(),
        lp.OB2RMK(random_state=0),
        lp.KOIL(kernel=lp.kernels.Sum([lp.kernels.Gaussian(2.0), lp.kernels.Linear()], [0.5, 2.0]), random_state=0),
    ],
    ids=lambda model: f"{type(model).__name__}-{type(model.final_learner).__name__}",
)
def test_the_parts_of_an_explanation_sum_to_the_score(model):
    model.fit(STREAM.X, STREAM.y)
    for row in (STREAM.X[3], np.array([0.1, 0.9])):
        explanation = explain(model, row)
        assert explanation.score == pytest.approx(model.decision_function(row[None])[0], abs=1e-12)
        assert total(explanation) == pytest.approx(explanation.score, abs=1e-9)
        assert explanation.decision == model.predict(row[None])[0]
        assert explanation.probability == model.predict_proba(row[None])[0, 1]
        amounts = [abs(part.amount) for part in explanation.parts]
        assert amounts == sorted(amounts, reverse=True)
    json.dumps(explanation.to_json(3))
    assert explanation.to_json(3)["rest"]["terms"] == max(len(amounts) - 3, 0)


def test_a_voting_multikernel_koil_has_no_terms_but_columns():
    model = lp.MultiKernelKOIL(combine="sign", random_state=0).fit(STREAM.X, STREAM.y)
    assert score_form_of(model) is None
    with pytest.raises(
        ValueError, match="Got a model of MultiKernelKOIL, whose score is made otherwise: explain it by"
    ):
        explain(model, STREAM.X[0], by="terms")
    assert {part.kind for part in explain(model, STREAM.X[0]).parts} <= {"baseline", "column"}
    with pytest.raises(ValueError, match="must be explained by one of auto, terms, columns"):
        explain(model, STREAM.X[0], by="shap")


def test_a_part_of_a_pipeline_is_told_as_the_row_that_it_was():
    model = nested().fit(FRAME, STREAM.y)
    explanation = explain(model, {"right": 120.0, "left": 80.0})
    assert explanation.score == pytest.approx(model.decision_function(FRAME.iloc[:1].assign(left=80.0, right=120.0))[0])
    for part in explanation.parts:
        assert part.as_it_came and part.columns == FRAME.iloc[part.row - 1].to_dict()
    names = {True: "like", False: "unlike"}
    assert all(part.kind == "example" and part.name == names[part.is_positive] for part in explanation.parts)


def test_rows_come_in_many_forms_but_one_at_a_time():
    schema = infer_schema(FRAME)
    model = lp.TablePipeline(schema, learner=lp.OPAUC()).fit(FRAME, STREAM.y)
    row = FRAME.iloc[:1]
    forms = [row, row.to_dict("list"), row.to_dict("records"), row.to_dict("records")[0], model.encoded(row)]
    assert len({explain(model, form).score for form in forms}) == 1
    with pytest.raises(ValueError, match="must be one at a time, got 2"):
        explain(model, FRAME.iloc[:2])
    plain = lp.OPAUC().fit(sp.csr_array(STREAM.X), STREAM.y)
    assert explain(plain, sp.csr_array(STREAM.X[:1])).score == explain(plain, STREAM.X[0]).score
    with pytest.raises(ValueError, match="3 features, but OPAUC is expecting 2"):
        explain(plain, np.zeros(3))


TRIALS = [
    pytest.param(entry, trial, id=f"{entry.name}-{trial}")
    for entry in registry.entries(is_learner=True, takes_tables=False)
    for trial in range(len(entry.trials))
]


@pytest.mark.filterwarnings("ignore::lopsided.DivergenceWarning")
@pytest.mark.parametrize(("entry", "trial"), TRIALS)
def test_everything_can_be_described_and_explained(entry, trial):
    model = entry.instances()[trial]
    model.fit(STREAM.X, STREAM.y)
    row = STREAM.X[3]
    assert entry.claims("explainable", model)
    for by in ("auto", "columns"):
        explanation = explain(model, row, by=by)
        assert explanation.score == pytest.approx(model.decision_function(row[None])[0], abs=1e-12)
        assert total(explanation) == pytest.approx(explanation.score, abs=1e-9)
    facts = describe(model, top=2)
    assert (facts.kind, facts.rows, facts.positives, facts.features) == (entry.name, 200, 40, 2)
    assert (facts.positive, facts.negative, facts.threshold) == (1, 0, model.threshold_)
    assert facts.calibration == model.calibration_ and facts.memory == model.nbytes_
    assert len(facts.largest_vectors) <= 2 and len(facts.largest_weights) <= 2
    assert json.loads(json.dumps(facts.to_json())) == facts.to_json()
    assert f"learner    {facts.learner}(" in str(facts) and "1 is the positive label, 0 the other" in str(facts)


def test_members_of_a_pool_are_described():
    model = pool("weighted").fit(STREAM.X, STREAM.y)
    facts = describe(model)
    assert [member["weight"] for member in facts.members] == model.expert_weights_.tolist()
    assert facts.members[1]["learner"] == "StreamPipeline(learner=KOIL(), scaler=OnlineScaler())"
    assert [member["measures"]["auroc"] for member in facts.members] == model.expert_measures_["auroc"].tolist()
    np.testing.assert_array_equal(kernel_weights_of(model), model.expert_weights_)
    assert "members (weight, learner)" in str(facts) and "learners=" not in str(facts)


def test_only_what_differs_from_the_defaults_is_told():
    facts = describe(lp.KOIL(C=1.0, budget=(20, 30), random_state=0).fit(STREAM.X, STREAM.y))
    assert str(facts).splitlines()[0] == "learner    KOIL(budget=[20, 30], random_state=0, others by default)"
    assert "the budget is [20, 30] per class" in str(facts)


def test_standardized_scores_are_what_a_weighted_pool_counts():
    frame = FRAME / 1000.0
    model = pool("weighted").fit(frame, STREAM.y)
    counted = model.standardized_scores(frame)
    np.testing.assert_allclose(counted @ model.expert_weights_, model.raw_scores(frame), atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        lp.StreamPipeline(lp.OnlineScaler("minmax"), lp.KOIL()),
        nested(),
        lp.SparsePipeline(learner=lp.KOIL()),
        lp.SparsePipeline(1, lp.OnlineScaler(center=False), lp.KOIL()),
        lp.TablePipeline(infer_schema(FRAME), lp.OnlineScaler("minmax"), lp.KOIL()),
        lp.TablePipeline(infer_schema(FRAME), "none", lp.KOIL()),
    ],
    ids=["minmax", "nested", "sparse", "sparse scaled", "table", "table unscaled"],
)
def test_pipelines_show_their_rows_as_the_learner_gets_them(model):
    is_table = isinstance(model, lp.TablePipeline)
    model.fit(FRAME if is_table else FRAME.to_numpy(), STREAM.y)
    X = FRAME.head(7) if is_table else FRAME.head(7).to_numpy()
    prepared = model.prepared(X)
    np.testing.assert_array_equal(model.final_learner.raw_scores(prepared), model.raw_scores(X))
    np.testing.assert_allclose(model.unscaled(prepared), FRAME.head(7), rtol=1e-9)
    middle, factor = model.affine()
    np.testing.assert_allclose(prepared, (FRAME.head(7).to_numpy() - middle) * factor, rtol=1e-9, atol=1e-9)


def test_csr_rows_stay_csr_on_the_way_to_the_learner():
    rows = sp.csr_array(FRAME.to_numpy())
    model = lp.StreamPipeline(lp.OnlineScaler(center=False), lp.KOIL()).fit(rows, STREAM.y)
    prepared = model.prepared(rows[:5])
    assert sp.issparse(prepared)
    np.testing.assert_array_equal(model.final_learner.raw_scores(prepared), model.raw_scores(rows[:5]))


def test_score_and_parts_are_of_one_moment_while_another_thread_learns():
    model = lp.StreamPipeline(lp.OnlineScaler(), lp.KOIL(budget=10, random_state=0)).fit(STREAM.X, STREAM.y)
    stop = threading.Event()

    def learn():
        while not stop.is_set():
            model.partial_fit(STREAM.X, STREAM.y)

    learning = threading.Thread(target=learn)
    learning.start()
    try:
        for row in STREAM.X[:40]:
            explanation = explain(model, row)
            assert total(explanation) == pytest.approx(explanation.score, abs=1e-9)
            assert describe(model).rows % 200 == 0
    finally:
        stop.set()
        learning.join()
