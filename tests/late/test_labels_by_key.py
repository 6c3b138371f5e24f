"""Labels that are told by key before they are due, labels that are seen only in part, and what they count."""

import numpy as np
import pandas as pd
import pytest

import lopsided as lp
from late.witness import SingleWitness, Witness
from lopsided.constraints import ParameterError
from lopsided.datasets import four_clusters
from lopsided.estimators.state.files import load_attached, save_model
from lopsided.late import LateLearner, MemoryStore, SelectiveLabels

STREAM = four_clusters(80, 320, random_state=1)
N = STREAM.y.size
RNG = np.random.default_rng(0)
TIMES = np.cumsum(RNG.integers(0, 4, N)).astype(float)
DELAYS = RNG.integers(1, 200, N).astype(float)
KEYS = [f"row {k}" for k in range(N)]
ORDER = RNG.permutation(N)  # in which labels are told


def koil(**more):
    return lp.KOIL(gamma=20.0, random_state=0, **more)


def tell_all(late):
    late.expect([KEYS[k] for k in ORDER], STREAM.y[ORDER], TIMES[ORDER] + DELAYS[ORDER])


def test_labels_by_key_at_their_times_are_labels_after_delays():
    by_delay = LateLearner(koil(), classes=[0, 1])
    expected = by_delay.progressive_scores(STREAM.X, STREAM.y, times=TIMES, delays=DELAYS)
    whole = LateLearner(koil(), classes=[0, 1])
    tell_all(whole)
    np.testing.assert_array_equal(whole.progressive_scores(STREAM.X, times=TIMES, keys=KEYS), expected)
    assert whole.counts.expected == 0
    assert whole.finish().model.to_bytes() == by_delay.finish().model.to_bytes()


def test_what_is_expected_and_corrected_is_kept_in_the_file_of_the_model(tmp_path):
    """Stopped at every hundredth row: the same scores and the same model, with corrections and labels told twice."""

    def engine(model):
        return LateLearner(model, classes=[0, 1], unlabelled="negative:90s", corrections="learn")

    def tell(late):
        tell_all(late)
        some = ORDER[:60]
        late.expect([KEYS[k] for k in some], 1 - STREAM.y[some], TIMES[some] + DELAYS[some] + 40.0)
        late.expect([KEYS[k] for k in some[:30]], STREAM.y[some[:30]], TIMES[some[:30]] - 10.0)

    whole = engine(koil())
    tell(whole)
    expected = whole.progressive_scores(STREAM.X, times=TIMES, keys=KEYS)
    counts = whole.counts
    assert min(counts.corrections, counts.as_negatives, counts.duplicates, counts.expected) > 0
    late, parts = engine(koil()), []
    tell(late)
    for start in range(0, N, 100):
        rows = slice(start, start + 100)
        parts.append(late.progressive_scores(STREAM.X[rows], times=TIMES[rows], keys=KEYS[rows]))
        save_model(late.model, tmp_path / "model", attached={"late": late.state()})
        model, kept = load_attached(tmp_path / "model")
        late = engine(model).restore(kept["late"])
    np.testing.assert_array_equal(np.concatenate(parts), expected)
    assert late.counts == counts
    assert late.finish().model.to_bytes() == whole.finish().model.to_bytes()


def test_corrections_are_learned_once_more_or_ignored():
    for rule, outcome, learned in (("learn", "corrected", [(0, -1.0), (0, 1.0)]), ("ignore", "conflict", [(0, -1.0)])):
        late = LateLearner(Witness(), classes=[0, 1], corrections=rule)
        late.score(np.zeros((1, 1)), keys=["a"])
        said = late.label(["a", "a", "a"], [0, 0, 1])
        assert [str(one) for one in said] == ["learned", "duplicate", outcome]
        assert [(number, sign) for number, sign, _ in late.model.learned] == learned
        assert late.counts.learned == 1
    forgetful = LateLearner(Witness(), classes=[0, 1], corrections="learn", store=MemoryStore(remembered=2))
    forgetful.score(np.zeros((3, 1)), keys=["a", "b", "c"])
    forgetful.label(["a", "b", "c"], [0, 0, 0])
    assert [str(one) for one in forgetful.label(["a", "b"], [1, 1])] == ["unknown", "corrected"]
    with pytest.raises(ParameterError, match="must have retain and recall"):
        LateLearner(Witness(), corrections="learn", store=object())


def test_labels_wait_for_rows_in_a_service():
    late = LateLearner(koil(), classes=[0, 1])
    assert [str(one) for one in late.expect(["b", "x", "a"], [1, 1, 0])] == ["expected"] * 3
    late.answer(STREAM.X[:2], keys=["a", "b"])
    assert late.counts.learned == 2 and late.counts.parked == 1
    late.score(STREAM.X[2:3], keys=["x"])
    assert late.counts.learned == 3 and late.counts.expected == 0
    with pytest.raises(ParameterError, match="all of them numbers"):
        late.expect(["c"], [1], times=[np.nan])
    by_rows = LateLearner(koil(), delay=3, classes=[0, 1])
    with pytest.raises(ParameterError, match="Got rows that are counted"):
        by_rows.expect(["c"], [1], times=[1.0])


def test_rows_without_a_label_wait_on_when_all_known_ones_have_been_learned():
    late = LateLearner(Witness(), classes=[0, 1], unlabelled="drop:1000s")
    late.expect(["a", "c"], [1, 0], times=[50.0, 5.0])
    late.progressive_scores(np.arange(3.0)[:, None], times=[0.0, 1.0, 2.0], keys=["a", "b", "c"])
    late.learn_known()
    assert [number for number, _, _ in late.model.learned] == [2, 0]
    assert late.counts.waiting == 1
    late.label(["b"], [1])
    assert late.counts.learned == 3


@pytest.mark.parametrize("delay", [0, 1, 25, "60s"])
@pytest.mark.parametrize("rule", ["skip", "negative"])
def test_labels_that_are_seen_in_part_are_those_of_a_plain_loop(delay, rule):
    """One row at a time: score it, decide, and learn what is due before the next."""
    in_time = isinstance(delay, str)
    wait, patience = (60.0, 90.0) if in_time else (float(delay), 40.0)
    unlabelled = "skip" if rule == "skip" else ("negative:90s" if in_time else "negative:40")
    late = LateLearner(koil(), delay=delay, unlabelled=unlabelled, classes=[0, 1])
    selective = SelectiveLabels(0.2, cap=3.0, seed=4)

    def choose(rows, scores, thresholds):
        return selective.for_learning(selective.choose(scores > 0.2))

    parts = [
        late.progressive_scores(STREAM.X[a : a + 90], STREAM.y[a : a + 90], times=TIMES[a : a + 90], choose=choose)
        for a in range(0, N, 90)
    ]
    model, waiting, scores, draws = koil(), [], [], np.random.default_rng([4, 1]).random(N)
    moments = TIMES if in_time else np.arange(float(N))
    for t in range(N):
        for entry in sorted(entry for entry in waiting if entry[0] < moments[t]):
            _, s, label, weight = entry
            model.learn_many(STREAM.X[s : s + 1], [label], scores=[scores[s]], classes=[0, 1], sample_weight=[weight])
            waiting.remove(entry)
        score = model.raw_score_one(STREAM.X[t]) if hasattr(model, "classes_") else 0.0
        scores.append(score)
        label = int(STREAM.y[t])
        if score > 0.2 or draws[t] < 0.2:
            weight = 1.0 if score > 0.2 else 3.0
            if delay == 0:
                model.learn_many(STREAM.X[t : t + 1], [label], scores=[score], classes=[0, 1], sample_weight=[weight])
            else:
                waiting.append((moments[t] + wait, t, label, weight))
        elif rule == "negative":
            waiting.append((moments[t] + patience, t, 0, 1.0))
    np.testing.assert_allclose(np.concatenate(parts), scores, atol=1e-12)
    assert selective.n_rows == N and 0 < selective.n_seen < N


@pytest.mark.parametrize("kind", [Witness, SingleWitness])
def test_weights_wait_with_their_rows(kind):
    late = LateLearner(kind(), delay=5, classes=[0, 1])
    X, y = np.arange(60.0)[:, None], np.arange(60) % 2
    late.progressive_scores(X, y, choose=lambda rows, scores, thresholds: 1.0 + np.arange(60.0)[rows] % 7)
    late = LateLearner(late.model, delay=5).restore(late.state())
    late.finish()
    assert late.model.weights == [1.0 + number % 7 for number, _, _ in late.model.learned]


def test_a_selection_goes_on_where_it_was():
    alerted = np.arange(40) % 5 == 0
    whole = SelectiveLabels(0.3, seed=2).choose(alerted)
    first = SelectiveLabels(0.3, seed=2)
    parts = [first.choose(alerted[:17])]
    second = SelectiveLabels(0.3, seed=9)
    second.restore(first.state())
    parts.append(second.choose(alerted[17:]))
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert second.n_rows == 40 and second.n_seen == np.count_nonzero(whole)
    assert (whole[alerted] == 1.0).all() and set(whole[~alerted]) == {0.0, 1 / 0.3}
    assert set(SelectiveLabels(0.3, cap=1.0).for_learning(whole)) == {0.0, 1.0}
    with pytest.raises(ParameterError, match="explore"):
        SelectiveLabels(1.5)


def test_seen_labels_count_for_all_rows_on_average():
    """Over many selections sums by weights are those of all rows, and areas are near the exact one."""
    rng = np.random.default_rng(0)
    positive, scores = rng.random(3000) < 0.1, rng.normal(size=3000)
    scores[positive] += 1.0
    alerted = scores > 1.0
    weights = [SelectiveLabels(0.1, seed=seed).choose(alerted) for seed in range(200)]
    assert np.mean([w.sum() for w in weights]) == pytest.approx(3000, rel=0.01)
    assert np.mean([w[positive].sum() for w in weights]) == pytest.approx(positive.sum(), rel=0.03)
    estimates = [lp.metrics.auroc(positive, scores, sample_weight=w) for w in weights]
    exact = lp.metrics.auroc(positive, scores)
    assert np.mean(estimates) == pytest.approx(exact, abs=0.01)
    seen_alone = lp.metrics.auroc(positive[weights[0] > 0], scores[weights[0] > 0])
    assert abs(seen_alone - exact) > 0.03  # without weights it is about other rows


def test_data_frames_must_keep_their_columns_in_order():
    frame = pd.DataFrame(STREAM.X[:4], columns=["a", "b"])
    late = LateLearner(koil(), classes=[0, 1], delay=1)
    late.progressive_scores(frame, STREAM.y[:4])
    with pytest.raises(ValueError, match="must have the columns a, b in this order"):
        late.progressive_scores(frame[["b", "a"]], STREAM.y[:4])
    named = koil().fit(pd.DataFrame(STREAM.X, columns=["a", "b"]), STREAM.y)
    with pytest.raises(ValueError, match="must have the columns a, b in this order"):
        LateLearner(named, delay=1).score(frame[["b", "a"]])
