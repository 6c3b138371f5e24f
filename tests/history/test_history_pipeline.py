"""A history in front of a learner: labels at once, late labels, single rows, files."""

import numpy as np
import pytest

import lopsided as lp
from history.streams import events, part
from lopsided.encoding import infer_schema
from lopsided.late import LateLearner

N, DELAY = 300, 40
TABLE, Y = events(N, 2, seed=3)
KEYS = ["k0", "k1"]


def history():
    return lp.KeyedHistory(KEYS, "when", "amount", half_lives=["1d", "7d"], slots=256)


def pipeline(learner=None, scaler=None):
    schema = infer_schema(TABLE, ignore=KEYS)
    return lp.HistoryPipeline(schema, history(), scaler, learner or lp.KOIL(budget=20, random_state=0))


def by_hand(delay):
    """The same with parts in hand: what the learner gets of each row, and the scores that it gives."""
    plain = lp.TablePipeline(infer_schema(TABLE, ignore=KEYS), scaler="none")
    plain.partial_fit(part(TABLE, slice(0, 1)), Y[:1])
    encoded, past, learner = plain.encoded(TABLE), history(), lp.KOIL(budget=20, random_state=0)
    rows, tokens, scores = [], [], []
    for t in range(N):
        if delay and t > delay:
            s = t - delay - 1
            past.learn_labels(tokens[s], Y[s : s + 1])
            learner.partial_fit(rows[s], Y[s : s + 1], classes=[0, 1])
        features, token = past.observe(part(TABLE, slice(t, t + 1)))
        rows.append(np.concatenate([np.nan_to_num(encoded[t : t + 1]), features], axis=1))
        tokens.append(token)
        scores.append(learner.raw_scores(rows[t])[0] if learner.started_ else 0.0)
        if not delay:
            past.learn_labels(token, Y[t : t + 1])
            learner.partial_fit(rows[t], Y[t : t + 1], classes=[0, 1])
    return np.array(scores), past


class Filled(lp.HistoryPipeline):
    """Gaps become 0 and not a running mean, which is known at other times where labels are late."""

    def _prepared(self, rows, turns):
        dense = rows.dense.copy()
        n_encoded = self.encoder_.n_encoded
        dense[:, :n_encoded] = np.nan_to_num(dense[:, :n_encoded])
        return super()._prepared(rows._replace(dense=dense), turns)


def filled():
    return Filled(infer_schema(TABLE, ignore=KEYS), history(), "none", lp.KOIL(budget=20, random_state=0))


def test_labels_at_once_are_the_parts_by_hand():
    scores, past = by_hand(0)
    model = filled()
    assert np.array_equal(model.progressive_scores(TABLE, Y), scores)
    assert np.array_equal(model.history_.transform(TABLE), past.transform(TABLE))


@pytest.mark.parametrize("pieces", [1, 7, N])
def test_late_labels_are_the_parts_by_hand_in_whatever_pieces_rows_come(pieces):
    """A row waits with the features of the moment at which it came, and its label counts when it is learned."""
    scores, past = by_hand(DELAY)
    model = filled()
    late = LateLearner(model, delay=DELAY, classes=[0, 1])
    size = -(-N // pieces)
    found = [
        late.progressive_scores(part(TABLE, slice(start, start + size)), Y[start : start + size])
        for start in range(0, N, size)
    ]
    assert np.array_equal(np.concatenate(found), scores)
    assert np.array_equal(model.history_.transform(TABLE), past.transform(TABLE))
    assert model.history_.n_seen_ == N and late.counts.waiting == DELAY + 1


def test_labels_by_key_and_a_file_in_between():
    rows = [{name: cells[t] for name, cells in TABLE.items()} for t in range(60)]
    scores = []
    for stop in (60, 30):
        model = pipeline()
        late, found = LateLearner(model, classes=[0, 1]), []
        for t, row in enumerate(rows):
            if t == stop:
                kept, model = late.state(), lp.from_bytes(model.to_bytes())
                late = LateLearner(model, classes=[0, 1]).restore(kept)
            found.append(late.answer([row], keys=[t]).score[0])
            if t >= 5:
                late.label([t - 5], Y[t - 5 : t - 4])
        scores.append(found)
    assert scores[0] == scores[1]
    assert model.history_.n_seen_ == 60 and model.n_seen_ == 55


def test_rows_of_the_caller_stay_as_they_are():
    model = pipeline()
    rows = model.encoded(TABLE).view(lp.encoding.EncodedRows)
    before = rows.copy()
    late = LateLearner(model, delay=5, classes=[0, 1])
    late.progressive_scores(rows, Y)
    model.arrived(rows)
    assert np.array_equal(rows, before, equal_nan=True)


def test_fit_forgets_the_history_too():
    model = pipeline().partial_fit(TABLE, Y)
    model.fit(TABLE, Y)
    assert model.history_.n_seen_ == N
    with pytest.raises(ValueError, match="two classes"):
        model.fit(TABLE, np.zeros(N, dtype=int))
    assert model.history_.n_seen_ == N


def test_bad_input_gets_a_sentence_and_changes_nothing():
    with pytest.raises(ValueError, match="'history' parameter of HistoryPipeline must be a KeyedHistory"):
        lp.HistoryPipeline(infer_schema(TABLE)).partial_fit(TABLE, Y)
    with pytest.raises(ValueError, match="must hold the time column 'when' of the history"):
        lp.HistoryPipeline(infer_schema(TABLE, ignore=["when"]), history()).partial_fit(TABLE, Y)
    model = pipeline()
    with pytest.raises(ValueError, match="first row of a history must have a time"):
        model.partial_fit(TABLE | {"when": [None, *TABLE["when"][1:]]}, Y)
    assert not model.started_
    model.partial_fit(TABLE, Y)
    before = model.to_bytes()
    rows = model.encoded(TABLE)
    rows[3, model.encoder_.n_encoded] = 0.5
    with pytest.raises(ValueError, match="must be codes as an encoder makes them"):
        model.partial_fit(np.asarray(rows), Y)
    assert model.to_bytes() == before


def test_what_keys_did_before_is_worth_something():
    rng = np.random.default_rng(0)
    n = 1000
    cards = rng.integers(40, size=n)
    y = (rng.random(n) < np.where(cards < 4, 0.4, 0.01)).astype(int)
    rows = {"card": [f"c{card}" for card in cards], "when": np.arange(n) * 600.0, "amount": rng.lognormal(size=n)}
    learner = lp.KOIL(budget=50, gamma="auto", random_state=0)
    past = lp.KeyedHistory(["card"], "when", "amount", slots=256)
    with_history = lp.HistoryPipeline(history=past, learner=learner)
    without = lp.TablePipeline(infer_schema(rows, ignore=["card"]), learner=learner)
    late = [LateLearner(model, delay=100).progressive_scores(rows, y) for model in (with_history, without)]
    areas = [lp.metrics.auroc(y[300:], scores[300:]) for scores in late]
    assert areas[0] > 0.75 > areas[1] + 0.1
