"""Learners behind River's interface: the same models, whatever names come and go, and a part of River's world."""

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from river import compose, datasets, drift, ensemble, evaluate, metrics, preprocessing
from sklearn.base import clone

import lopsided as lp
from lopsided.adapters.river import (
    AUROC,
    RiverClassifier,
    RiverFourierRanker,
    RiverKOIL,
    RiverOnlinePerceptron,
    RiverRareEventClassifier,
    RiverTablePipeline,
)
from lopsided.adapters.river.classifier import FIRST_ROWS
from lopsided.adapters.river.rows import SharedColumnWarning

SMALL_RARE = lp.RareEventClassifier(sample_size=100, n_components=8, random_state=0)
LEARNERS = [
    lp.KOIL(budget=12, random_state=0),
    lp.FourierRanker(n_components=8, warm_up=40, random_state=0),
    lp.OnlinePerceptron(),
    SMALL_RARE,
]


def stream(n_rows, n_features, seed=0):
    """Rows with names, in an order of names that differs from row to row, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.2
    X = rng.normal(size=(n_rows, n_features)) + y[:, None]
    names = [f"f{k}" for k in range(n_features)]
    rows = [{names[k]: float(x[k]) for k in rng.permutation(n_features)} for x in X]
    return X, rows, y.tolist()


def filled(rows, columns, absent):
    """The oracle: a matrix with a column for each name, and what stands for an absent one."""
    return np.array([[row.get(name, absent) for name in columns] for row in rows])


def by_rows(model, rows, labels):
    """Test, then train."""
    scores = []
    for x, y in zip(rows, labels, strict=True):
        scores.append(model.score_one(x))
        model.learn_one(x, y)
    return scores


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_with_the_same_names_throughout_it_is_the_learner_to_the_last_bit(learner):
    X, rows, y = stream(400, 5)
    model, own = RiverClassifier(learner, spare=0), clone(learner)
    for x, label in zip(rows[:300], y[:300], strict=True):
        model.learn_one(x, label)
    own.partial_fit(X[:300], y[:300])
    for x, row in zip(X[300:], rows[300:], strict=True):
        assert model.score_one(row) == own.score_one(x)
        assert model.predict_one(row) == own.predict(x[None])[0]
        assert model.predict_proba_one(row)[True] == pytest.approx(own.predict_proba(x[None])[0, 1], rel=1e-12)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_a_name_that_comes_early_counts_as_if_it_had_been_absent_from_the_start(learner):
    _, rows, y = stream(FIRST_ROWS + 40, 7)
    early = [{name: row[name] for name in sorted(row)[: 3 + (t > 30) + 3 * (t > 90)]} for t, row in enumerate(rows)]
    model = RiverClassifier(learner, spare=2)
    for x, label in zip(early, y, strict=True):
        model.learn_one(x, label)
    columns = [f"f{k}" for k in range(7)]
    assert model.learner_.n_features_in_ == 7 + 2 and list(model.feature_columns_) == columns
    absent = np.nan if learner.takes_missing else 0.0
    own = clone(learner).partial_fit(filled(early, [*columns, "spare", "too"], absent), y)
    X = filled(rows, [*columns, "spare", "too"], absent)
    np.testing.assert_array_equal([model.score_one(row) for row in rows], own.decision_function(X))


def test_a_name_that_comes_late_takes_a_spare_column_and_then_shares_one():
    _, rows, y = stream(FIRST_ROWS + 60, 3)
    model = RiverOnlinePerceptron(spare=2, max_features=5)
    for x, label in zip(rows, y, strict=True):
        model.learn_one(x, label)
    assert model.learner_.n_features_in_ == 5
    before = model.score_one(rows[0])
    assert model.score_one(rows[0] | {"new": 1e3}) == before  # nothing is known of it
    model.learn_one(rows[0] | {"new": 2.0}, True)
    model.learn_one(rows[1] | {"newer": 2.0, "new": 1.0}, True)
    assert model.feature_columns_ == {"f0": 0, "f1": 1, "f2": 2, "new": 3, "newer": 4}
    with pytest.warns(SharedColumnWarning, match="has 5 columns, all taken: the feature 'newest' and others"):
        model.learn_one(rows[2] | {"newest": 3.0}, True)
    model.learn_one(rows[3] | {"and more": 3.0}, False)  # told once
    assert len(model.feature_columns_) == 5
    weights = model.learner_.coef_[0]
    own = model.learner_.raw_score_one(np.array([*(rows[5][f"f{k}"] for k in range(3)), 0.0, 0.0]))
    more = model.score_one(rows[5] | {"newest": 2.0}) - own
    assert any(more == pytest.approx(2.0 * weight) for weight in weights[3:])


def test_without_spare_columns_a_late_name_is_left_out():
    _, rows, y = stream(FIRST_ROWS + 10, 3)
    model = RiverOnlinePerceptron(spare=0)
    for x, label in zip(rows, y, strict=True):
        model.learn_one(x, label)
    with pytest.warns(SharedColumnWarning, match="'new' and others are left out"):
        model.learn_one(rows[0] | {"new": 1.0}, True)
    assert model.score_one(rows[0] | {"new": 1e6}) == model.score_one(rows[0])


def test_the_number_of_columns_is_bounded_however_many_names_there_are():
    rng = np.random.default_rng(0)
    model = RiverKOIL(budget=10, max_features=16, spare=4, random_state=0)
    with pytest.warns(SharedColumnWarning):
        for t in range(400):
            model.learn_one({f"word{k}": 1.0 for k in rng.integers(10_000, size=5)}, t % 5 == 0)
    assert model.learner_.n_features_in_ == len(model.feature_columns_) == 16


@pytest.mark.parametrize("learner", [LEARNERS[0], SMALL_RARE], ids=lambda learner: type(learner).__name__)
def test_none_and_nan_are_as_if_the_name_were_not_there(learner):
    _, rows, y = stream(FIRST_ROWS + 50, 4)
    models = [RiverClassifier(learner) for _ in range(3)]
    for t, (x, label) in enumerate(zip(rows, y, strict=True)):
        gap = {} if t == 0 else {"f1": None}
        absent = {name: value for name, value in x.items() if name not in gap}
        models[0].learn_one(absent, label)
        models[1].learn_one(x | gap, label)
        models[2].learn_one(x | ({"f1": float("nan")} if gap else {}), label)
    scores = [[model.score_one(x | {"f1": None}) for x in rows[:20]] for model in models]
    assert scores[0] == scores[1] == scores[2]
    assert scores[0] == [models[0].score_one(x | {"f1": float("nan")}) for x in rows[:20]]


@pytest.mark.parametrize("n_rows", [20, FIRST_ROWS + 20])
def test_words_are_refused_with_what_to_do_and_change_nothing(n_rows):
    _, rows, y = stream(n_rows, 3)
    model = RiverKOIL(budget=10, spare=1, random_state=0)
    for x, label in zip(rows, y, strict=True):
        model.learn_one(x, label)
    before = pickle.dumps(model)
    for bad in ({"f0": "NO"}, {"f0": "3"}, {"other": "NO"}, {"f1": [1.0]}, {"f1": 10**400}):
        with pytest.raises(ValueError, match=r"of RiverKOIL must be a number\. Got .*: put River's OneHotEncoder"):
            model.learn_one(rows[0] | bad, True)
    with pytest.raises(ValueError, match="'f2' of RiverKOIL must be a number"):
        model.learn_many(pd.DataFrame([rows[0] | {"f2": "x"}]), pd.Series([True]))
    with pytest.raises(ValueError, match=r"contains .*infinity"):
        model.learn_one(rows[0] | {"other": 1.0, "f1": float("inf")}, True)
    assert pickle.dumps(model) == before


def test_a_table_pipeline_takes_words_and_gaps():
    rng = np.random.default_rng(1)
    y = rng.random(400) < 0.2
    rows = [
        {
            "amount": float(rng.normal() + 2 * label),
            "country": rng.choice(["NO", "SE", "XX"]),
            3: None if label else 1.0,
        }
        for label in y.tolist()
    ]
    model = RiverTablePipeline(learner=lp.KOIL(random_state=0))
    scores = by_rows(model, rows, y.tolist())
    assert lp.metrics.auroc(y[100:], np.array(scores[100:])) > 0.9
    assert str(model.learner_.schema_).count("\n") == 2 and model.feature_columns_ == {}


def test_batches_and_rows_are_the_same_model():
    _, rows, y = stream(500, 4)
    frame = pd.DataFrame(rows, index=range(7, 507))
    frame.loc[8::5, "f2"] = np.nan
    frame["late"] = np.where(np.arange(500) > 300, 1.0, np.nan)
    dictionaries = [{name: x for name, x in row.items() if x == x} for row in frame.to_dict("records")]
    many, one = (RiverFourierRanker(n_components=8, warm_up=40, random_state=0, spare=1) for _ in range(2))
    for start in range(0, 300, 60):
        many.learn_many(frame[start : start + 60].drop(columns="late"), pd.Series(y[start : start + 60]))
    many.learn_many(frame[300:], pd.Series(y[300:]))
    for x, label in zip(dictionaries, y, strict=True):
        one.learn_one(x, label)
    assert many.feature_columns_ == one.feature_columns_
    np.testing.assert_allclose(
        many.predict_proba_many(frame)[True], [one.predict_proba_one(x)[True] for x in dictionaries], rtol=1e-9
    )
    decided = many.predict_many(frame)
    assert decided.tolist() == [one.predict_one(x) for x in dictionaries]
    assert decided.index.equals(frame.index)


def test_the_memory_that_river_reports_is_that_of_the_model():
    _, rows, y = stream(FIRST_ROWS + 500, 4)
    model = RiverKOIL(budget=10, random_state=0)
    sizes = []
    for n, (x, label) in enumerate(zip(rows, y, strict=True)):
        model.learn_one(x, label)
        if n >= FIRST_ROWS:
            sizes.append(model._raw_memory_usage - model.learner_.nbytes_)
    assert max(sizes) < 1_000  # the first rows are not kept any longer
    assert "KiB" in model._memory_usage or "MiB" in model._memory_usage


def test_frames_may_hold_flags_whole_numbers_and_what_pandas_has_for_nothing():
    _, rows, y = stream(FIRST_ROWS + 60, 2)
    frame = pd.DataFrame(rows)[["f0", "f1"]]
    frame["count"] = pd.array([None if t % 4 == 1 else t % 3 for t in range(len(frame))], dtype="Int64")
    frame["flag"] = [t % 2 == 0 for t in range(len(frame))]
    frame["mixed"] = pd.Series([None if t % 3 == 1 else t for t in range(len(frame))], dtype=object)
    plain = [
        x | {"flag": float(t % 2 == 0), "count": float(t % 3) * (t % 4 != 1), "mixed": float(t) * (t % 3 != 1)}
        for t, x in enumerate(rows)
    ]
    many, one = (RiverOnlinePerceptron() for _ in range(2))
    many.learn_many(frame, pd.Series(y))
    by_rows(one, plain, y)
    np.testing.assert_array_equal(many.learner_.coef_, one.learner_.coef_)


def test_copies_go_on_as_the_original_does():
    _, rows, y = stream(FIRST_ROWS + 100, 4)
    for n_rows in (30, FIRST_ROWS + 20):
        model = RiverKOIL(budget=10, random_state=0)
        by_rows(model, rows[:n_rows], y[:n_rows])
        copies = pickle.loads(pickle.dumps(model)), copy.deepcopy(model)
        scores = [by_rows(one, rows[n_rows:], y[n_rows:]) for one in (model, *copies)]
        assert scores[0] == scores[1] == scores[2]
    assert model.clone().learner_ is None


def test_labels_may_be_words_or_numbers():
    _, rows, y = stream(60, 3)
    words = RiverKOIL(budget=10, random_state=0, pos_label="bad", classes=("good", "bad"))
    numbers = RiverKOIL(budget=10, random_state=0)
    assert words.predict_one(rows[0]) == "good" and words.predict_proba_one(rows[0]) == {"good": 0.5, "bad": 0.5}
    for x, label in zip(rows, y, strict=True):
        words.learn_one(x, "bad" if label else "good")
        numbers.learn_one(x, int(label))
    assert words.score_one(rows[0]) == numbers.score_one(rows[0])
    assert set(words.predict_proba_one(rows[0])) == {"good", "bad"} and numbers.predict_one(rows[0]) in (0, 1)
    with pytest.raises(ValueError, match="or be announced by 'classes'"):
        RiverKOIL().learn_one(rows[0], "good")
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        numbers.learn_one(rows[0], 2)


def test_in_pipelines_evaluations_and_ensembles():
    rows = list(datasets.Phishing().take(400))
    model = preprocessing.StandardScaler() | RiverKOIL(gamma="auto", random_state=0)
    assert evaluate.progressive_val_score(rows, model, AUROC()).get() > 0.9
    member = RiverFourierRanker(n_components=20, warm_up=40, random_state=0)
    for group in (
        ensemble.BaggingClassifier(member.clone(), n_models=3, seed=0),
        ensemble.ADWINBaggingClassifier(member.clone(), n_models=3, seed=0),
        drift.DriftRetrainingClassifier(member.clone(), drift.binary.DDM()),
    ):
        assert evaluate.progressive_val_score(rows, group, metrics.Accuracy()).get() > 0.75
    words = compose.Select("country") | preprocessing.OneHotEncoder()
    mixed = (words + compose.Select("amount")) | RiverRareEventClassifier(sample_size=100, n_components=8)
    mixed.learn_one({"country": "NO", "amount": 3.0}, False)
    mixed.learn_one({"country": "SE", "amount": 5.0}, True)
    assert len(mixed["RiverRareEventClassifier"].feature_columns_) == 3


def test_the_ready_classes_have_the_parameters_of_their_learners_and_describe_all():
    for kind, learner in ((RiverKOIL, lp.KOIL), (RiverTablePipeline, lp.TablePipeline)):
        parameters = list(inspect.signature(kind).parameters.values())
        assert parameters[:-3] == list(inspect.signature(learner).parameters.values())
        assert [parameter.name for parameter in parameters[-3:]] == ["spare", "max_features", "classes"]
        assert all(f"\n{parameter.name} : " in kind.__doc__ for parameter in parameters)
    assert RiverKOIL(50, gamma=2.0).C == 50
    assert "C=50" in repr(RiverKOIL(50)) and RiverKOIL(50).clone({"gamma": 3.0}).gamma == 3.0
    with pytest.raises(TypeError, match="unexpected keyword argument 'bugdet'"):
        RiverKOIL(bugdet=3)
    with pytest.raises(ValueError, match="'max_features' parameter of RiverKOIL must be more than 'spare', 4"):
        RiverKOIL(max_features=4, spare=4)
    with pytest.raises(ValueError, match="'spare' parameter of RiverKOIL must be"):
        RiverKOIL(spare=-1)
    with pytest.raises(ValueError, match="'budget' parameter of KOIL must be"):
        RiverKOIL(budget=0).learn_one({"a": 1.0}, True)
