"""One learner, several threads: calls wait for each other, and nobody gets what is meant for another."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import lopsided as lp
from lopsided.datasets import four_clusters
from lopsided.encoding import infer_schema


def test_learning_in_one_thread_does_not_disturb_scoring_in_another():
    stream = four_clusters(200, 800, random_state=1)
    learners = [lp.KOIL(gamma=20.0, random_state=0).partial_fit(stream.X[:50], stream.y[:50]) for _ in range(2)]
    with ThreadPoolExecutor(2) as threads:
        asking = threads.submit(lambda: [learners[0].decision_function(stream.X[:300]) for _ in range(200)])
        for x, y in zip(stream.X, stream.y, strict=True):
            learners[0].learn_one(x, y)
        asking.result()
    for x, y in zip(stream.X, stream.y, strict=True):
        learners[1].learn_one(x, y)
    np.testing.assert_array_equal(*(learner.decision_function(stream.X) for learner in learners))


def test_tables_may_be_scored_by_several_threads():
    stream = four_clusters(200, 800, random_state=1)
    table = {"a": stream.X[:, 0], "b": stream.X[:, 1]}
    model = lp.TablePipeline(infer_schema({name: column.tolist() for name, column in table.items()}))
    expected = model.partial_fit(table, stream.y).decision_function(table)
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: model.decision_function(table), range(20)))
    assert all(np.array_equal(answer, expected) for answer in answers)
