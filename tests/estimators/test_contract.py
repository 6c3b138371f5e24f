"""What a program may ask of a learner: answers from one pass, labels as signs, rows by name, scores as answered."""

import copy
import pickle

import numpy as np
import pytest

import lopsided as lp
from lopsided.datasets import four_clusters
from lopsided.labels import LabelMap, Signs
from lopsided.protocol import Learner, Ranker


@pytest.fixture(scope="module")
def stream():
    return four_clusters(60, 240, random_state=3)


def pipeline(**parameters):
    return lp.StreamPipeline(lp.OnlineScaler(), lp.KOIL(gamma=20.0, random_state=0, **parameters))


MODELS = [
    lambda **p: lp.KOIL(gamma=20.0, random_state=0, **p),
    lambda **p: lp.OCS(random_state=0, **p),
    lambda **p: lp.FourierRanker(n_components=20, random_state=0, **p),
    pipeline,
]
every_model = pytest.mark.parametrize("make", MODELS)


@every_model
def test_learners_keep_the_contract(make, stream):
    learner = make()
    assert not learner.started_ and learner.n_seen_ == 0
    learner.partial_fit(stream.X, stream.y)
    assert isinstance(learner, Learner) and isinstance(learner, Ranker)
    assert learner.started_ and (learner.n_seen_, learner.n_positives_seen_) == (300, 60)
    assert (learner.positive_label_, learner.negative_label_) == (1, 0)


@every_model
@pytest.mark.parametrize("threshold", ["zero", "f1", "rate:0.1", 0.01])
def test_one_answer_is_all_answers(make, stream, threshold):
    learner = make(threshold=threshold).partial_fit(stream.X, stream.y)
    answer = learner.answer(stream.X)
    np.testing.assert_array_equal(answer.score - answer.threshold, learner.decision_function(stream.X))
    np.testing.assert_array_equal(answer.score, learner.raw_scores(stream.X))
    np.testing.assert_array_equal(answer.probability, learner.predict_proba(stream.X)[:, 1])
    np.testing.assert_array_equal(answer.decision, learner.predict(stream.X))
    one = learner.answer_one(stream.X[7])
    np.testing.assert_allclose(one.score, answer.score[7], rtol=1e-12)
    np.testing.assert_allclose(one.probability, answer.probability[7], rtol=1e-9)
    assert (one.decision, one.threshold) == (answer.decision[7], answer.threshold)
    assert learner.threshold_rule_ == threshold


@every_model
def test_scores_answered_are_remembered_instead_of_those_of_today(make, stream):
    late = make(threshold="f1").partial_fit(stream.X[:50], stream.y[:50])
    answered = late.raw_scores(stream.X[50:])
    singly, at_once, plain = late.snapshot(), late.snapshot(), late.snapshot()
    for x, y, score in zip(stream.X[50:], stream.y[50:], answered, strict=True):
        singly.learn_one(x, y, score=score)
    at_once.learn_many(stream.X[50:], stream.y[50:], scores=answered)
    plain.partial_fit(stream.X[50:], stream.y[50:])
    memory = at_once.score_memory_
    rings = np.concatenate([memory.positive[: memory.counts[0]], memory.negative[: memory.counts[1]]])
    assert np.isin(answered, rings).all()
    assert singly.to_bytes() == at_once.to_bytes()
    # The model is the same whatever it remembers of its answers.
    np.testing.assert_array_equal(plain.raw_scores(stream.X), at_once.raw_scores(stream.X))
    assert plain.threshold_ != at_once.threshold_


@every_model
def test_weights_of_single_rows_are_those_of_batches(make, stream):
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.0], size=300)
    singly, at_once = make(), make()
    at_once.partial_fit(stream.X, stream.y, sample_weight=weights)
    for x, y, weight in zip(stream.X, stream.y, weights, strict=True):
        singly.learn_one(x, y, weight=weight)
    assert singly.n_seen_ == at_once.n_seen_ == np.count_nonzero(weights)
    np.testing.assert_allclose(singly.raw_scores(stream.X), at_once.raw_scores(stream.X), rtol=1e-9, atol=1e-12)


@every_model
def test_what_is_wrong_with_a_weight_or_a_score_is_said_and_changes_nothing(make, stream):
    learner = make().partial_fit(stream.X[:50], stream.y[:50])
    before = learner.to_bytes()
    for arguments, words in [
        ({"weight": -1.0}, "Sample weights must be >= 0"),
        ({"weight": np.nan}, "sample_weight contains NaN"),
        ({"score": np.inf}, "scores answered must be"),
        ({"score": [1.0, 2.0]}, "scores answered must be"),
    ]:
        with pytest.raises(ValueError, match=words):
            learner.learn_one(stream.X[0], 1, **arguments)
    with pytest.raises(ValueError, match="one for each row"):
        learner.learn_many(stream.X[:3], stream.y[:3], scores=[0.1])
    assert learner.to_bytes() == before


@every_model
def test_rows_by_name(make, stream):
    by_name, by_place = make(), make()
    for x, y in zip(stream.X, stream.y, strict=True):
        by_name.learn_one({"b": x[1], "a": x[0]}, y)
        by_place.learn_one(x[::-1], y)
    assert by_name.feature_names_in_.tolist() == ["b", "a"]
    x = stream.X[0]
    assert by_name.score_one({"a": x[0], "b": x[1]}) == by_place.score_one(x[::-1])
    again = lp.from_bytes(by_name.to_bytes())
    assert again.raw_score_one({"a": x[0], "b": x[1]}) == by_place.raw_score_one(x[::-1])
    before = by_name.to_bytes()
    for row, words in [
        ({"a": 1.0}, "Got none called 'b'"),
        ({"a": 1.0, "b": 2.0, "c": 3.0}, "Got 'c' too"),
        ({"a": 1.0, "b": "much"}, "feature 'b' .* must be a number. Got 'much'"),
        ({"a": 1.0, "b": np.nan}, "contains NaN"),
    ]:
        with pytest.raises(ValueError, match=words):
            by_name.learn_one(row, 1)
    assert by_name.to_bytes() == before
    with pytest.raises(ValueError, match="had no names"):
        by_place.score_one({"a": 1.0, "b": 2.0})


@every_model
def test_labels_as_signs_are_taken_as_they_are(make, stream):
    names = np.where(stream.y == 1, "fraud", "ok")
    labels = LabelMap(np.array(["fraud", "ok"]), "fraud")
    signs = Signs.of(np.where(stream.y == 1, 1.0, -1.0), labels)
    by_sign = make().partial_fit(stream.X[:100], signs[:100]).partial_fit(stream.X[100:], signs[100:])
    by_name = make(pos_label="fraud").partial_fit(stream.X, names)
    np.testing.assert_array_equal(by_sign.decision_function(stream.X), by_name.decision_function(stream.X))
    np.testing.assert_array_equal(by_sign.predict(stream.X), by_name.predict(stream.X))
    assert by_sign.positive_label_ == "fraud"
    again = lp.from_bytes(by_sign.to_bytes())  # the labels of the stream, not the default of the parameter
    np.testing.assert_array_equal(again.predict(stream.X), by_name.predict(stream.X))
    with pytest.raises(ValueError, match="must be 'fraud' \\(positive\\) and 'ok'"):
        by_sign.partial_fit(stream.X[:2], Signs.of([1.0, -1.0], LabelMap(np.array(["fraud", "ok"]), "ok")))
    with pytest.raises(ValueError, match="must be the positive label of the stream"):
        make(pos_label="ok").partial_fit(stream.X[:2], signs[:2])


@every_model
def test_copies_go_on_by_themselves(make, stream):
    learner = make().partial_fit(stream.X[:100], stream.y[:100])
    copies = [
        learner.snapshot(),
        copy.deepcopy(learner),
        pickle.loads(pickle.dumps(learner)),
        lp.from_bytes(learner.to_bytes()),
    ]
    learner.partial_fit(stream.X[100:], stream.y[100:])
    for other in copies:
        assert other.n_seen_ == 100
        for x, y in zip(stream.X[100:], stream.y[100:], strict=True):
            other.learn_one(x, y)
        np.testing.assert_allclose(other.raw_scores(stream.X), learner.raw_scores(stream.X), rtol=1e-9, atol=1e-12)


@every_model
def test_compiling_ahead_leaves_the_learner_as_it_is(make, stream):
    learner = make()
    with pytest.raises(ValueError, match=r"'n_features' .* must be given"):
        learner.compile_ahead()
    assert not learner.compile_ahead(2).started_
    learner.partial_fit(stream.X, stream.y)
    before = learner.to_bytes()
    assert learner.compile_ahead(classes=["no", "yes"]).to_bytes() == before
