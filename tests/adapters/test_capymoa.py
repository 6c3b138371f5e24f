"""Learners in CapyMOA's own evaluation, which starts a Java machine: apart from the gate, `make capymoa`.

Imports of CapyMOA are inside of the tests, because the gate does not have it.
"""

import numpy as np
import pytest

import lopsided as lp

pytestmark = [pytest.mark.capymoa, pytest.mark.filterwarnings("default", "ignore::lopsided.CommonClassWarning")]


@pytest.fixture
def streams():
    from capymoa.stream import NumpyStream

    stream = lp.datasets.four_clusters(60, 240, random_state=2)
    labels = (stream.y == 1).astype(int)
    return stream, labels.astype(str), NumpyStream(stream.X, labels, target_type="categorical")


def scored(learner, X, y):
    """The oracle: decisions of the learner on arrays, each before the row is learned."""
    decisions = [None]
    learner.partial_fit(X[:1], y[:1], classes=["0", "1"])
    for x, label in zip(X[1:], y[1:], strict=True):
        decisions.append(learner.predict(x[None])[0])
        learner.learn_one(x, label)
    return decisions


@pytest.mark.parametrize("name", ["KOIL", "OPAUC", "StreamPipeline"])
def test_its_loop_gets_what_the_learner_decides(streams, name):
    from capymoa.evaluation import prequential_evaluation

    from lopsided.adapters.capymoa import CapyMOAClassifier

    stream, names, source = streams
    made = {
        "KOIL": lp.KOIL(gamma=20.0, pos_label="1", random_state=0),
        "OPAUC": lp.OPAUC(pos_label="1"),
        "StreamPipeline": lp.StreamPipeline(learner=lp.KOIL(pos_label="1", random_state=0)),
    }
    schema = source.get_schema()
    learner = CapyMOAClassifier(schema, made[name])
    results = prequential_evaluation(source, learner, store_predictions=True, window_size=100)
    expected = scored(made[name], stream.X, names)
    labels = [None if index is None else schema.get_value_for_index(index) for index in results.predictions()]
    assert labels == expected
    assert learner.learner_.n_seen_ == 300 and str(learner) == f"CapyMOAClassifier({name})"
    assert results.cumulative.accuracy() == pytest.approx(100.0 * np.mean(np.array(labels[1:]) == names[1:]), abs=1.0)


def test_probabilities_are_in_the_order_of_the_labels(streams):
    from lopsided.adapters.capymoa import CapyMOAClassifier

    _, _, source = streams
    schema = source.get_schema()
    labels = [str(label) for label in schema.get_label_values()]
    for rare in labels:
        learner = CapyMOAClassifier(schema, lp.KOIL(gamma=20.0, pos_label=rare, random_state=0))
        source.restart()
        first = next(source)
        assert learner.predict(first) is None and learner.predict_proba(first) is None
        for instance in source:
            learner.train(instance)
        answer = learner.learner_.answer_one(first.x)
        chances = learner.predict_proba(first)
        assert chances[labels.index(rare)] == pytest.approx(answer.probability) and chances.sum() == 1.0


def test_nominal_attributes_become_columns_and_what_is_missing_is_zero():
    from capymoa.core import LabeledInstance
    from capymoa.stream import Schema

    from lopsided.adapters.capymoa import CapyMOAClassifier

    schema = Schema.from_custom(
        features=["colour", "size", "class"],
        target="class",
        categories={"colour": ["red", "green", "blue"], "class": ["no", "yes"]},
        name="things",
    )
    learner = CapyMOAClassifier(schema, lp.OnlinePerceptron())
    rows = [([0.0, 1.5], 0), ([2.0, -1.0], 1), ([np.nan, np.nan], 1)]
    for x, y in rows:
        learner.train(LabeledInstance.from_array(schema, np.array(x), y))
    own = lp.OnlinePerceptron().partial_fit(
        [[1.0, 0.0, 0.0, 1.5], [0.0, 0.0, 1.0, -1.0], [0.0] * 4], ["no", "yes", "yes"]
    )
    np.testing.assert_array_equal(learner.learner_.coef_, own.coef_)


def test_beside_its_own_learners_on_a_generated_stream():
    from capymoa.classifier import HoeffdingTree
    from capymoa.evaluation import prequential_evaluation
    from capymoa.stream.generator import AgrawalGenerator

    from lopsided.adapters.capymoa import CapyMOAClassifier

    stream = AgrawalGenerator(classification_function=2)
    schema = stream.get_schema()
    ours, theirs = (
        prequential_evaluation(stream, learner, max_instances=2_000).cumulative.accuracy()
        for learner in (CapyMOAClassifier(schema), HoeffdingTree(schema))
    )
    assert ours > 85.0 > theirs


def test_three_labels_are_refused():
    from capymoa.stream import Schema

    from lopsided.adapters.capymoa import CapyMOAClassifier

    schema = Schema.from_custom(features=["a", "class"], target="class", categories={"class": ["x", "y", "z"]})
    with pytest.raises(ValueError, match=r"must have two labels\. Got 3: x, y, z"):
        CapyMOAClassifier(schema)
