"""The engine with real models: files, tables, sparse rows, thresholds, capacity, refusals."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

import lopsided as lp
from cli.payments import payment_rows
from late.witness import Witness
from lopsided.alerts import AlertShare
from lopsided.constraints import ParameterError
from lopsided.datasets import four_clusters
from lopsided.encoding import infer_schema
from lopsided.estimators.state.files import load_attached, save_model
from lopsided.evaluate import Evaluation, delayed_scores
from lopsided.labels import LabelError, LabelMap, Signs
from lopsided.late import Delay, LateLearner, MemoryStore, Outcome, Unlabelled, WaitingRows

STREAM = four_clusters(80, 320, random_state=1)


def koil(**more):
    return lp.KOIL(gamma=20.0, random_state=0, **more)


def table_model():
    rows = payment_rows(300)
    schema = infer_schema({name: [row[name] for row in rows] for name in rows[0]}, label="kind")
    return lp.TablePipeline(schema, learner=lp.KOIL(random_state=0, pos_label="bad")), rows


def test_rows_that_wait_are_kept_in_the_file_of_the_model(tmp_path):
    whole = LateLearner(koil(threshold="f1"), delay="30s", keep_thresholds=True)
    times = np.arange(400.0)
    expected = whole.progressive_scores(STREAM.X, STREAM.y, times=times)
    parts, thresholds, model, kept = [], [], koil(threshold="f1"), None
    for start in range(0, 400, 130):
        late = LateLearner(model, delay="30s", keep_thresholds=True)
        if kept is not None:
            late.restore(kept["late"])
        rows = slice(start, start + 130)
        parts.append(late.progressive_scores(STREAM.X[rows], STREAM.y[rows], times=times[rows]))
        thresholds.append(late.thresholds)
        save_model(model, tmp_path / "model", attached={"late": late.state()})
        model, kept = load_attached(tmp_path / "model")
    np.testing.assert_array_equal(np.concatenate(parts), expected)
    np.testing.assert_array_equal(np.concatenate(thresholds), whole.thresholds)
    late = LateLearner(model, delay="30s").restore(kept["late"])
    assert late.counts == whole.counts
    assert late.finish().model.to_bytes() == whole.finish().model.to_bytes()


@pytest.mark.parametrize("delay", [3, 40])
def test_sparse_rows_wait_as_sparse_rows(delay):
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 50), density=0.1, random_state=rng, format="csr")
    y = (rng.random(300) < 0.3).astype(int)
    whole = LateLearner(koil(), delay=delay).progressive_scores(X, y)
    late, parts = LateLearner(koil(), delay=delay), []
    for start in range(0, 300, 70):
        parts.append(late.progressive_scores(X[start : start + 70], y[start : start + 70]))
        late = LateLearner(late.model, delay=delay).restore(late.state())
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    dense = LateLearner(koil(), delay=delay).progressive_scores(X.toarray(), y)
    np.testing.assert_allclose(whole, dense, atol=1e-9)


def test_tables_wait_as_encoded_rows():
    model, rows = table_model()
    labels = np.array([row["kind"] for row in rows])
    late = LateLearner(model, delay=20, classes=["bad", "ok"])
    scores = [late.progressive_scores(rows[k : k + 60], labels[k : k + 60]) for k in range(0, 300, 60)]
    late = LateLearner(model, delay=20).restore(late.state())
    late.finish()
    twin = table_model()[0]
    matrix = twin.encoder_.matrix(twin.encoder_.columns_of(rows))  # gaps are NaN, and stay
    expected = delayed_scores(twin, matrix, labels, 20, classes=["bad", "ok"])
    np.testing.assert_array_equal(np.concatenate(scores), expected)
    for name, array in twin._arrays().items():  # all but the cells, of which a matrix knows nothing
        assert name == "rows/json" or np.array_equal(array, model._arrays()[name]), name


def test_the_score_that_counts_is_the_one_that_was_answered():
    late = LateLearner(koil(threshold="rate:0.2"), classes=[0, 1])
    late.score(STREAM.X[:50])
    late.label(range(50), STREAM.y[:50])
    answered = late.score(STREAM.X[50:300], keys=[f"event {k}" for k in range(50, 300)])
    late.label([f"event {k}" for k in range(50, 300)], STREAM.y[50:300])
    memory = late.model.score_memory_
    kept = np.concatenate([memory.positive[: memory.counts[0]], memory.negative[: memory.counts[1]]])
    np.testing.assert_array_equal(np.sort(kept), np.sort(np.concatenate([np.zeros(50), answered])))


def test_answers_and_their_rows():
    late = LateLearner(koil(), classes=["bad", "ok"], unlabelled="drop:10s")
    nothing = late.answer(STREAM.X[:2], keys=["a", "b"], times=[0.0, 1.0])
    assert nothing.score.tolist() == [0.0, 0.0] and np.isnan(nothing.probability).all()
    assert nothing.decision.tolist() == ["bad", "bad"]  # "ok" sorts last: it is the rare one
    late.label(["a", "b"], ["bad", "ok"])
    answer = late.answer(STREAM.X[2:5], keys=["c", "d", "c"], times=[2.0, 3.0, 3.0])
    np.testing.assert_array_equal(answer.score, late.model.raw_scores(STREAM.X[2:5]))
    assert late.counts.repeated == 1 and late.counts.waiting == 2
    late.answer(STREAM.X[5:6], keys=["e"], times=[12.5])  # only "c" has waited for more than 10 seconds
    assert late.counts.dropped == 1
    assert late.label(["c", "d"], ["ok", "ok"], time=13.0) == [Outcome.TOO_LATE, Outcome.LEARNED]
    assert late.label(["e"], ["ok"], time=99.0) == [Outcome.TOO_LATE]


def test_no_more_wait_than_there_is_room_for():
    late = LateLearner(Witness(), classes=[0, 1], capacity=5)
    late.score(np.arange(12.0)[:, None])
    assert (late.counts.waiting, late.counts.dropped) == (5, 7)
    assert late.label([6, 7], [0, 1]) == [Outcome.TOO_LATE, Outcome.LEARNED]


def test_what_became_of_keys_is_forgotten_in_the_end():
    late = LateLearner(Witness(), classes=[0, 1], store=MemoryStore(remembered=2))
    late.score(np.arange(4.0)[:, None])
    late.label([0, 1, 2], [0, 1, 0])
    assert late.label([0, 1, 2], [0, 0, 0]) == [Outcome.UNKNOWN, Outcome.CONFLICT, Outcome.DUPLICATE]
    assert late.label([3, 3, 3], [1, 1, 0]) == [Outcome.LEARNED, Outcome.DUPLICATE, Outcome.CONFLICT]


def test_signs_are_labels_too():
    labels = LabelMap(np.array(["bad", "ok"]), "bad")
    signs = Signs.of(np.where(STREAM.y == 1, 1.0, -1.0), labels)
    late = LateLearner(koil(pos_label="bad"), delay=10)
    by_sign = late.progressive_scores(STREAM.X, signs)
    names = np.where(STREAM.y == 1, "bad", "ok")
    np.testing.assert_array_equal(by_sign, delayed_scores(koil(pos_label="bad"), STREAM.X, names, 10))
    assert late.labels.positive == "bad"


def test_a_stranger_among_learners():
    y = STREAM.y
    late = LateLearner(SGDClassifier(random_state=0), delay=5)
    scores = late.progressive_scores(STREAM.X, y)
    naive, expected = SGDClassifier(random_state=0), []
    for t in range(y.size):
        if t > 5:
            naive.partial_fit(STREAM.X[t - 6 : t - 5], y[t - 6 : t - 5], classes=[0, 1])
        expected.append(naive.decision_function(STREAM.X[t : t + 1])[0] if t > 5 else 0.0)
    np.testing.assert_allclose(scores, expected, atol=1e-12)
    assert late.answer(STREAM.X[:2]).decision.shape == (2,)
    with pytest.raises(ParameterError, match="without decision_function"):
        LateLearner(type("Half", (), {"partial_fit": None})())


def test_thresholds_are_those_in_force_when_rows_came():
    late = LateLearner(koil(threshold="f1"), delay=30, keep_thresholds=True)
    late.progressive_scores(STREAM.X, STREAM.y)
    model, expected, latest = koil(threshold="f1"), [], 0.0
    scores = []
    for t in range(400):
        if t > 30:
            s = t - 31
            model.learn_many(STREAM.X[s : s + 1], STREAM.y[s : s + 1], scores=scores[s : s + 1], classes=[0, 1])
        if t < 100 or t % 100 == 0:
            latest = model.threshold_ if t > 30 else 0.0
        expected.append(latest)
        scores.append(model.raw_score_one(STREAM.X[t]) if t > 30 else 0.0)
    np.testing.assert_array_equal(late.thresholds, expected)


def test_an_evaluation_judges_only_rows_with_a_label():
    y = STREAM.y.astype(float)
    y[::7] = np.nan
    evaluation = Evaluation(koil(), delay=20, unlabelled="negative:50", classes=[0, 1])
    list(evaluation.run([(STREAM.X, y)]))
    late = LateLearner(koil(), delay=20, unlabelled="negative:50", classes=[0, 1])
    scores = late.progressive_scores(STREAM.X, y)
    np.testing.assert_array_equal(evaluation.scores, scores[~np.isnan(y)])
    np.testing.assert_array_equal(evaluation.positive, y[~np.isnan(y)] == 1)
    assert evaluation.late.counts == late.counts and late.counts.as_negatives > 0
    with pytest.raises(ParameterError, match="if labels come late"):
        Evaluation(koil(), delay=20, threshold="f1")


def test_an_evaluation_with_late_labels_may_go_by_a_share():
    """Which needs scores and no labels: of all rows as they come, also of those whose labels never come."""
    y = STREAM.y.astype(float)
    y[::7] = np.nan
    evaluation = Evaluation(koil(), delay=20, unlabelled="negative:50", classes=[0, 1], threshold="rate:0.1")
    called = []
    for start in range(0, 400, 90):
        evaluation.step(STREAM.X[start : start + 90], y[start : start + 90])
        called += evaluation.latest_called.tolist()
    scores = LateLearner(koil(), delay=20, unlabelled="negative:50", classes=[0, 1]).progressive_scores(STREAM.X, y)
    np.testing.assert_array_equal(called, AlertShare(0.1).decide(scores))
    np.testing.assert_array_equal(evaluation.called, np.array(called)[~np.isnan(y)])


def test_threads_share_an_engine():
    late = LateLearner(koil(), classes=[0, 1])

    def live(first):
        for k in range(first, 400, 4):
            late.score(STREAM.X[k : k + 1], keys=[k])
            late.label([k], STREAM.y[k : k + 1])

    threads = [threading.Thread(target=live, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert late.counts.learned == late.counts.scored == late.model.n_seen_ == 400


@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        (lambda late: late.score(np.full((1, 2), np.nan)), "must hold finite numbers below 1e150 in size. Got nan."),
        (lambda late: late.score(np.zeros(2)), "must be rows of 2 features. Got shape (2,)."),
        (lambda late: late.score(np.zeros((1, 3))), "must be rows of 2 features. Got shape (1, 3)."),
        (lambda late: late.score(np.zeros((1, 2)), [None]), "The key of a row must be a string or a number. Got None."),
        (lambda late: late.score(np.zeros((2, 2)), ["a"]), "The keys must be as many as the rows, 2. Got 1."),
        (lambda late: late.label(["a"], [7]), "The labels must be [0, 1]. Got np.int64(7) in row 0."),
        (lambda late: late.label(["a"], [None]), "must not be missing. Got none for key 'a'."),
        (lambda late: late.label(["a"], [0, 1]), "The labels y must be as many as the rows of X, 1. Got shape (2,)."),
        (lambda late: late.progressive_scores(np.zeros((1, 2)), [np.nan]), "Every row must have a label unless a rule"),
        (
            lambda late: late.progressive_scores(np.zeros((1, 2)), [1], delays=[-1]),
            "The delays of late labels must be whole numbers >= 0, or NaN for never, got [-1].",
        ),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(work, sentence):
    late = LateLearner(koil(), classes=[0, 1])
    late.score(STREAM.X[:3], keys=["a", "b", "c"])
    late.label(["b", "c"], [0, 1])
    before, model = late.state(), late.model.to_bytes()
    with pytest.raises((ParameterError, ValueError, LabelError)) as refusal:
        work(late)
    assert sentence in str(refusal.value)
    after = late.state()
    assert after.description == before.description and late.model.to_bytes() == model
    for name, array in before.arrays.items():
        np.testing.assert_array_equal(array, after.arrays[name])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"delay": "7 moons"}, "a number of rows, or a duration such as 90s, 15m, 12h, 7d, 2w or 2 weeks, got"),
        ({"delay": -1}, "The delay must be a number of rows"),
        ({"unlabelled": "positive:3d"}, "must be drop, drop:30d or negative:30d (or rows: negative:5000), got"),
        ({"unlabelled": "negative"}, "must be drop, drop:30d or negative:30d"),
        ({"unlabelled": "negative:3d"}, "must be the two labels if rows are to be taken as negative"),
        ({"delay": 5, "unlabelled": "drop:3d"}, "must both be rows or both durations. Got 5 and drop:3d."),
    ],
)
def test_rules_that_make_no_sense_are_refused(options, sentence):
    with pytest.raises(ParameterError) as refusal:
        LateLearner(koil(), **options)
    assert sentence in str(refusal.value)


def test_a_clock_cannot_be_changed_while_rows_wait():
    late = LateLearner(koil(), delay=5, classes=[0, 1])
    late.progressive_scores(STREAM.X[:3], STREAM.y[:3])
    with pytest.raises(ParameterError, match="must be numbers of rows, by which rows wait already"):
        LateLearner(koil(), delay="5s", classes=[0, 1]).restore(late.state())
    with pytest.raises(ParameterError, match="needs the times of the rows"):
        LateLearner(koil(), delay="5s").progressive_scores(STREAM.X, STREAM.y)


def test_durations_and_rules_are_read_and_written():
    written = ("90s", "15m", "12h", "7d", "2w", "1.5h", "500", "2 weeks", "1 week", "3days", "10 min", "2 hours")
    assert [str(Delay.parse(text)) for text in written] == [
        "90s", "15m", "12h", "1w", "2w", "90m", "500", "2w", "1w", "3d", "10m", "2h",
    ]  # fmt: skip
    assert str(Unlabelled.parse("negative:14d")) == "negative:2w"
    for text in ("", "d", "-3d", "nan", "infd", "3.5"):
        with pytest.raises(ParameterError):
            Delay.parse(text)


def test_a_store_keeps_its_order_while_rows_come_and_go():
    """Against a list, over thousands of additions and removals of all kinds."""
    rng, store, plain, position = np.random.default_rng(3), MemoryStore(), [], 0
    for _ in range(1500):
        n = int(rng.integers(0, 6))
        dues = rng.choice([position + 3.0, np.inf, float(rng.integers(0, 50) + position)], n)
        positions = position + np.arange(n)
        keys = [f"k{p}" for p in positions]
        store.add(WaitingRows(positions[:, None] * 1.0, positions * 0.5, positions, dues, np.ones(n), keys))
        plain += [(due, p) for due, p in zip(dues.tolist(), positions.tolist(), strict=True)]
        position += n
        what = rng.integers(0, 4)
        if what == 0:
            taken = store.take_due(position - 5.0)
            expected = sorted(row for row in plain if row[0] < position - 5.0)
        elif what == 1 and plain:
            chosen = rng.permutation(len(plain))[:3]
            expected = [plain[k] for k in chosen]
            taken = store.take([f"k{p}" for _, p in expected])
        elif what == 2 and len(plain) > 20:
            taken, expected = store.take_oldest(4), plain[:4]
        else:
            copy = MemoryStore()
            copy.restore(*store.state())
            store, taken, expected = copy, None, []
        found = [] if taken is None else list(zip(taken.dues.tolist(), taken.positions.tolist(), strict=True))
        assert found == expected
        if taken is not None:
            assert taken.X[:, 0].tolist() == taken.positions.tolist() == (2 * taken.scores).tolist()
            assert taken.keys == [f"k{p}" for _, p in expected]
        plain = [row for row in plain if row not in expected]
        assert len(store) == len(plain)
