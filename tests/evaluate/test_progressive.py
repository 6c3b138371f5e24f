"""Progressive validation against scikit-learn's figures of merit and a plain loop."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

from lopsided import KOIL, OPAUC, OnlinePerceptron, OnlineScaler, StreamPipeline
from lopsided.constraints import ParameterError
from lopsided.datasets import four_clusters, overlapping
from lopsided.evaluate import Evaluation, RowByRow, progressive, progressive_scores_of
from lopsided.streams import Batch


@pytest.fixture(scope="module")
def stream():
    return four_clusters(60, 240, random_state=1)


def in_batches(X, y, size):
    return [Batch(X[start : start + size], y[start : start + size]) for start in range(0, len(y), size)]


def test_records_are_the_figures_of_merit_of_the_scores_so_far(stream):
    scores = KOIL(gamma=20.0, random_state=0).progressive_scores(stream.X, stream.y)
    records = list(progressive(KOIL(gamma=20.0, random_state=0), [(stream.X, stream.y)], every=70))
    assert [record.n for record in records] == [70, 140, 210, 280, 300]
    for record in records:
        y, before = stream.y[: record.n], scores[: record.n]
        assert record.positives == y.sum()
        assert record.auroc == pytest.approx(roc_auc_score(y, before), abs=1e-12)
        assert record.average_precision == pytest.approx(average_precision_score(y, before), abs=1e-12)
        assert record.f1 == pytest.approx(f1_score(y, before > 0), abs=1e-12)
        assert record.seconds > 0
        assert record.examples_per_second == pytest.approx(record.n / record.seconds)
    assert [record.n_support for record in records] == sorted(record.n_support for record in records)


@pytest.mark.parametrize("size", [1, 37, 300])
def test_results_do_not_depend_on_batches(stream, size):
    evaluation = Evaluation(KOIL(random_state=0), every=50)
    records = list(evaluation.run(in_batches(stream.X, stream.y, size)))
    assert [record.n for record in records] == [50, 100, 150, 200, 250, 300]
    assert evaluation.records == records
    expected = KOIL(random_state=0).progressive_scores(stream.X, stream.y)
    np.testing.assert_array_equal(evaluation.scores, expected)
    np.testing.assert_array_equal(evaluation.positive, stream.y == 1)
    np.testing.assert_array_equal(evaluation.called, expected > 0)


def test_sparse_batches_give_the_same(stream):
    dense = Evaluation(KOIL(random_state=0), every=100)
    sparse = Evaluation(KOIL(random_state=0), every=100)
    list(dense.run([(stream.X, stream.y)]))
    list(sparse.run(in_batches(csr_array(stream.X), stream.y, 64)))
    np.testing.assert_allclose(sparse.scores, dense.scores, rtol=1e-9, atol=1e-12)


def test_many_examples_are_all_kept(stream):
    X, y = np.tile(stream.X, (10, 1)), np.tile(stream.y, 10)
    evaluation = Evaluation(KOIL(random_state=0))
    assert [record.n for record in evaluation.run(in_batches(X, y, 700))] == [1000, 2000, 3000]
    np.testing.assert_array_equal(evaluation.scores, KOIL(random_state=0).progressive_scores(X, y))


def test_a_rule_for_all_learners_is_that_of_a_learner_which_has_it(stream):
    own = Evaluation(KOIL(threshold="f1", random_state=0), every=50)
    imposed = Evaluation(KOIL(random_state=0), every=50, threshold="f1")
    for evaluation in (own, imposed):
        list(evaluation.run([(stream.X, stream.y)]))
    np.testing.assert_array_equal(imposed.called, own.called)
    np.testing.assert_allclose(imposed.decision_function(stream.X), own.decision_function(stream.X), atol=1e-12)
    np.testing.assert_allclose(own.decision_function(stream.X), own.learner.decision_function(stream.X), atol=1e-12)


@pytest.mark.parametrize(("given", "imposed"), [(0.25, None), ("zero", 0.25)])
def test_a_number_is_the_threshold_from_the_first_row_on(stream, given, imposed):
    evaluation = Evaluation(KOIL(threshold=given, random_state=0), threshold=imposed)
    list(evaluation.run([(stream.X, stream.y)]))
    np.testing.assert_array_equal(evaluation.called, evaluation.scores > 0.25)


def test_the_rare_class_is_the_one_that_the_learner_looks_for(stream):
    words = np.where(stream.y == 1, "bad", "good")
    evaluation = Evaluation(KOIL(pos_label="bad", random_state=0), classes=["bad", "good"])
    last = list(evaluation.run(in_batches(stream.X, words, 10)))[-1]
    assert last.positives == 60
    np.testing.assert_array_equal(evaluation.positive, stream.y == 1)


def test_labels_of_signs_need_no_announcement(stream):
    evaluation = Evaluation(KOIL(random_state=0))
    list(evaluation.run(in_batches(stream.X, 2 * stream.y - 1, 1)))
    np.testing.assert_array_equal(evaluation.positive, stream.y == 1)


def test_a_pipeline_is_a_learner(stream):
    pipeline = StreamPipeline(OnlineScaler(), KOIL(random_state=0))
    last = list(progressive(pipeline, [(1000 * stream.X, stream.y)]))[-1]
    assert last.n_support == pipeline.n_support_
    assert last.auroc > 0.9


def test_areas_are_nan_while_a_class_is_missing(stream):
    negatives = stream.X[stream.y == 0][:20]
    record = next(progressive(KOIL(), [(negatives, np.zeros(20, dtype=int))]))
    assert math.isnan(record.auroc)
    assert math.isnan(record.average_precision)
    assert record.f1 == 0.0


def test_an_empty_stream_has_no_record():
    evaluation = Evaluation(KOIL())
    assert list(evaluation.run([])) == []
    assert math.isnan(evaluation.accuracy)


# scikit-learn moves the intercept more slowly for sparse rows, so that the two differ.
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_scikit_learn_is_scored_and_taught_row_by_row(stream, form):
    X = form(stream.X)
    reference, expected, seen = SGDClassifier(loss="log_loss", random_state=0), [], set()
    for row in range(300):
        x, y = X[row : row + 1], stream.y[row : row + 1]
        expected.append(reference.decision_function(x)[0] if len(seen) == 2 else 0.0)
        reference.partial_fit(x, y, classes=[0, 1])
        seen.add(int(y[0]))
    learner = SGDClassifier(loss="log_loss", random_state=0)
    np.testing.assert_array_equal(progressive_scores_of(learner, X, stream.y), expected)

    evaluation = Evaluation(SGDClassifier(loss="log_loss", random_state=0), classes=[0, 1], every=300)
    last = list(evaluation.run(in_batches(X, stream.y, 7)))[-1]
    np.testing.assert_array_equal(evaluation.scores, expected)
    assert last.auroc == pytest.approx(roc_auc_score(stream.y, expected), abs=1e-12)
    assert last.n_support is None


def test_a_learner_that_knows_both_classes_is_asked_from_the_first_row_on(stream):
    learner = SGDClassifier(random_state=0).fit(stream.X, stream.y)
    first = learner.decision_function(stream.X[:1])
    assert progressive_scores_of(learner, stream.X[:3], stream.y[:3])[0] == first[0] != 0.0


def test_learners_of_the_package_give_their_own_scores(stream):
    expected = KOIL(random_state=0).progressive_scores(stream.X, stream.y)
    np.testing.assert_array_equal(progressive_scores_of(KOIL(random_state=0), stream.X, stream.y), expected)


def test_bad_rows_are_refused_before_any_is_learned(stream):
    learner = SGDClassifier(random_state=0)
    X = stream.X[:5].copy()
    X[4, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        progressive_scores_of(learner, X, stream.y[:5], classes=[0, 1])
    assert not hasattr(learner, "coef_")


def test_what_cannot_be_evaluated_is_refused(stream):
    with pytest.raises(ParameterError, match="Got KNeighborsClassifier without partial_fit"):
        Evaluation(KNeighborsClassifier())
    with pytest.raises(ParameterError, match=r"'every' parameter of Evaluation must be an int >= 1\. Got 0 instead"):
        Evaluation(KOIL(), every=0)
    with pytest.raises(ParameterError, match="'threshold' parameter of Evaluation must be None or 'zero'"):
        Evaluation(KOIL(), threshold="best")
    with pytest.raises(ParameterError, match=r"must be two, announced by 'classes' .* Got \[0\]"):
        RowByRow(SGDClassifier()).progressive_scores(stream.X[:2], [0, 0])


@pytest.mark.parametrize("rule", ["f1", "gmean", "rate:0.2"])
def test_a_threshold_kept_online_does_not_depend_on_the_pieces_in_which_rows_come(rule, stream):
    def judged(learner, size, every, **options):
        evaluation = Evaluation(learner, every=every, **options)
        list(evaluation.run(in_batches(stream.X, stream.y, size)))
        return evaluation

    own = [judged(KOIL(gamma=20.0, threshold=rule, random_state=0), *pieces) for pieces in ((300, 1000), (7, 1000))]
    given = [judged(KOIL(gamma=20.0, random_state=0), *pieces, threshold=rule) for pieces in ((300, 10), (300, 250))]
    for other in (own[1], *given):
        np.testing.assert_array_equal(other.called, own[0].called)
    plain = judged(KOIL(gamma=20.0, random_state=0), 300, 1000)
    assert (own[0].called != plain.called).any()


def test_a_threshold_kept_online_is_that_of_the_rows_before(stream):
    evaluation = Evaluation(KOIL(gamma=20.0, threshold="f1", random_state=0))
    last = list(evaluation.run([(stream.X, stream.y)]))[-1]
    learner, called = KOIL(gamma=20.0, threshold="f1", random_state=0), []
    for t, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        if t and (t < 100 or t % 100 == 0):
            threshold = learner.threshold_
        called.append(learner.score_one(x) + learner.threshold_ > threshold if t else False)
        learner.learn_one(x, y)
    np.testing.assert_array_equal(evaluation.called, called)
    assert last.f1 == pytest.approx(f1_score(stream.y, called))
    assert evaluation.accuracy == np.mean(called == stream.y)


@pytest.mark.parametrize("learner", [OPAUC(), OnlinePerceptron(), KOIL(gamma=0.25, random_state=0)])
def test_a_rate_is_kept_as_rows_come(learner):
    stream = overlapping(6000, 4, rare=0.05, random_state=2)
    evaluation = Evaluation(learner, threshold="rate:0.05")
    for _ in evaluation.run([(stream.X, stream.y)]):
        pass
    share = evaluation.called[1000:].mean()
    assert share == pytest.approx(0.05, abs=0.005 + 3 * np.sqrt(0.05 * 0.95 / 5000))
