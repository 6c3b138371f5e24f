"""Where the order is cut, and what a score is worth in probability: kept online from progressive scores."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import f1_score

from lopsided import (
    FOGD,
    KOIL,
    OMCSL,
    OPAUC,
    OSKL,
    SPA,
    ExpertPool,
    FourierRanker,
    KernelOGD,
    OnlinePerceptron,
    StreamPipeline,
    TablePipeline,
    from_bytes,
)
from lopsided.alerts import AlertShare
from lopsided.datasets import overlapping, rotating_hyperplane, transactions
from lopsided.encoding import infer_schema
from lopsided.estimators import registry
from lopsided.estimators.base.cutting import cut_at_share
from lopsided.estimators.base.recent_rows import RecentRows
from lopsided.estimators.base.score_memory import NEGATIVE_RING, POSITIVE_RING, ScoreMemory
from lopsided.estimators.base.tie_breaking import draws_of
from lopsided.estimators.base.validation import as_rows
from lopsided.estimators.by_name import set_threshold
from lopsided.estimators.kernel.parameters import chosen_pool
from oracles.share_above import ShareAbove

STREAM = overlapping(6000, 4, rare=0.05, random_state=2)
TABLE = {f"x{k}": STREAM.X[:, k] for k in range(4)}


def learned(**parameters):
    return KOIL(gamma=0.25, random_state=0, **parameters).fit(STREAM.X[:4000], STREAM.y[:4000])


def test_the_default_is_the_published_rule():
    model = learned()
    assert model.threshold_ == 0.0
    scores = model.decision_function(STREAM.X)
    assert np.array_equal(model.predict(STREAM.X) == 1, scores > 0)


def test_a_number_shifts_the_decision_and_keeps_the_order():
    plain, shifted = learned(), learned(threshold=0.25)
    assert np.allclose(plain.decision_function(STREAM.X) - 0.25, shifted.decision_function(STREAM.X), atol=1e-15)
    assert shifted.score_one(STREAM.X[0]) == shifted.decision_function(STREAM.X[:1])[0]
    assert np.array_equal(learned().support_weights_, shifted.support_weights_)


def test_progressive_scores_are_never_shifted():
    plain = KOIL(gamma=0.25, random_state=0).progressive_scores(STREAM.X, STREAM.y)
    shifted = KOIL(gamma=0.25, random_state=0, threshold="f1").progressive_scores(STREAM.X, STREAM.y)
    assert np.array_equal(plain, shifted)


def test_a_zero_score_is_the_other_class():
    model = KOIL(kernel="linear").fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    assert model.decision_function([[0.0, 0.0]])[0] == 0.0
    assert model.predict([[0.0, 0.0]])[0] == 0


def test_f1_beats_zero_on_unseen_rows():
    unseen, y = STREAM.X[4000:], STREAM.y[4000:]
    assert f1_score(y, learned(threshold="f1").predict(unseen)) > f1_score(y, learned().predict(unseen)) + 0.02


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2])
def test_an_alert_budget_is_kept_on_unseen_rows(rate):
    flagged = learned(threshold=f"rate:{rate}").predict(STREAM.X[4000:]).mean()
    assert flagged == pytest.approx(rate, abs=0.1 * rate + noise_of(rate, 4000, 2000))


def noise_of(rate, n_known, n_new):
    """Three standard deviations of a share among new rows, above a cut that comes from known ones."""
    return 3 * np.sqrt(rate * (1 - rate) * (1 / n_known + 1 / n_new))


VOTERS = ["BOMKC", "OMKC", "ResamplingBagging"]  # a handful of different scores, which no cut can split


def with_rate(name):
    """A learner that is asked for a share of 5 %, and the rows of the stream as it takes them."""
    entry = registry.entry(name)
    if entry.takes_tables:
        model = TablePipeline(infer_schema(TABLE), learner=SPA(gamma=0.25, threshold="rate:0.05", random_state=0))
        columns = {column: values.tolist() for column, values in TABLE.items()}
        return model, [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    model = entry.instances()[0]
    own = "threshold" in model.get_params(deep=False)
    model.set_params(**{"threshold" if own else "learner__threshold": "rate:0.05"})
    return (model.set_params(random_state=0) if own else model), STREAM.X


@pytest.mark.parametrize("name", [entry.name for entry in registry.entries(online=True, is_learner=True)])
def test_every_learner_keeps_an_alert_budget(name):
    entry, (model, rows) = registry.entry(name), with_rate(name)
    past = 400 if entry.family == "bayesian" else 4000
    model.partial_fit(rows[:past], STREAM.y[:past])
    share = (model.predict(rows[past:]) == 1).mean()
    allowed = 0.05 * 1.1 + noise_of(0.05, past, 6000 - past)
    assert share == pytest.approx(0.05, abs=allowed - 0.05)
    # Rows that are decided on as they come need no such allowance.
    flagged = AlertShare(0.05, model.recent_scores_).decide(model.raw_scores(rows[past:]))
    assert flagged.mean() == pytest.approx(0.05, rel=0.1)


@pytest.mark.parametrize("parameters", [{}, {"regularization": "auto", "fade": "auto"}])
def test_what_rows_owe_to_being_in_the_moments_is_what_a_model_without_them_shows(parameters):
    """The few positives move their own means: on payments FourierRanker flagged .78 of 1 %."""
    stream = transactions(800, random_state=1)
    X, y = stream.X[:600], (stream.X[:600, 5] + stream.X[:600, 0] > 8.0).astype(int)
    options = {"n_components": 60, "warm_up": 50, "rescale": False, "random_state": 0, **parameters}
    model = FourierRanker(threshold="rate:0.05", **options).fit(X, y)
    recent, scores = model._recent, model.raw_scores(X)
    parts = model._own_parts(recent.numbers, as_rows(recent.rows), recent.signs)
    chosen = [*np.flatnonzero(y[50:] == 1)[:12] + 50, *np.flatnonzero(y[50:] == 0)[::100] + 50]
    owed = []
    for row in chosen:
        others = np.arange(600) != row
        owed.append(scores[row] - FourierRanker(**options).fit(X[others], y[others]).raw_scores(X[row : row + 1])[0])
    assert np.max(owed) > 0.05
    assert parts[chosen] == pytest.approx(owed, rel=0.25, abs=0.02)


@pytest.mark.parametrize("name", ["OMKC", "BOMKC"])
def test_votes_on_rows_that_were_learned_are_those_without_them(name):
    model = registry.entry(name).kind(threshold="rate:0.05", random_state=0)
    model.partial_fit(STREAM.X[:300], STREAM.y[:300])
    recent, kernels = model._recent, chosen_pool("default")
    scores = model.raw_scores(recent.rows)
    found = model._as_if_new(scores, recent.numbers, as_rows(recent.rows), recent.signs)
    for row in range(300):
        x, peers, expected = STREAM.X[row], [], 0.0
        peers = [STREAM.X[k] for k in range(300) if k != row and STREAM.y[k] == STREAM.y[row]]
        for kernel, theta, vectors, weights, numbers in zip(
            kernels, model.kernel_weights_, model.support_vectors_, model.support_weights_, model.support_numbers_,
            strict=True,
        ):  # fmt: skip
            value = 0.0
            for z, weight, number in zip(vectors, weights, numbers, strict=True):
                term = weight * kernel([x], [z])[0, 0]
                if number == row + 1:
                    lengths = kernel([x])[0, 0] * kernel(peers).diagonal()
                    term *= (np.abs(kernel([x], peers)[0]) / np.sqrt(lengths)).max() ** 1.5
                value += term
            expected += theta * (1.0 if value >= 0.0 else -1.0)
        assert found[row] == pytest.approx(expected, abs=1e-12)
    assert np.count_nonzero(found != scores) > 5


@pytest.mark.parametrize("name", ["KernelOGD", "NORMA", "SPA", "OSKL"])
def test_rows_that_were_learned_are_no_better_than_new_ones(name):
    """Vectors score themselves: with them counted, KernelOGD flagged 8 % here."""
    entry = registry.entry(name)
    model = entry.instances()[0].set_params(threshold="rate:0.05", random_state=0)
    model.partial_fit(STREAM.X[:2000], STREAM.y[:2000])
    assert (model.predict(STREAM.X[2000:]) == 1).mean() == pytest.approx(
        0.05, abs=0.005 + noise_of(0.05, 2000, 4000) * 2 / 3
    )


def test_steps_of_rows_at_their_own_places_are_taken_back():
    """Random features remember rows too: FOGD flagged 6.9 % here."""
    stream = rotating_hyperplane(8000, random_state=0)
    model = FOGD(threshold="rate:0.05", random_state=0).partial_fit(stream.X[:4000], stream.y[:4000])
    assert (model.predict(stream.X[4000:]) == 1).mean() == pytest.approx(0.05, abs=0.005)
    recent, scores = model._recent, model.raw_scores(stream.X[:4000])
    parts = model._own_parts(recent.numbers, as_rows(recent.rows), recent.signs)
    for row in range(0, 4000, 97):
        sign, peers = recent.signs[row], np.flatnonzero(recent.signs == recent.signs[row])
        seen = [peer for peer in peers[:: -(-peers.size // 512)] if peer != row]
        nearest = np.exp(-((stream.X[row] - stream.X[seen]) ** 2).sum(axis=1)).max()
        expected = 0.1 * sign * (1 - nearest**2) if sign * (scores[row] - 0.1 * sign) < 1 else 0.0
        assert parts[row] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "share", "flagged"),
    [
        ([1, 1, 1, 1, 0, 0, 0, 0, 0, 0], 0.3, 4),  # 0 or 4 of 10
        ([1, 1, 1, 1, 0, 0, 0, 0, 0, 0], 0.1, 0),
        ([1, 1, 1, 1, 0, 0, 0, 0, 0, 0], 0.2, 0),  # as near: rather fewer
        ([2, 1, 1, 1, 1, 1, 0, 0, 0, 0], 0.3, 1),
        ([3, 3, 3, 3, 3, 3, 3, 3, 3, 3], 0.6, 10),
        ([9, 8, 7, 6, 5, 4, 3, 2, 1, 0], 0.3, 3),
    ],
)
def test_of_ties_a_cut_takes_what_comes_nearer_to_the_share(scores, share, flagged):
    scores = np.array(scores, dtype=float)
    assert np.count_nonzero(scores > cut_at_share(scores, share)) == flagged


@pytest.mark.parametrize("name", VOTERS)
def test_of_rows_with_one_score_each_draws_for_itself(name):
    """The same row is always answered the same, in any order, batch and form; `predict` and scores above 0 agree."""
    model, rows = with_rate(name)
    model.partial_fit(rows[:4000], STREAM.y[:4000])
    new, raw = rows[4000:], model.raw_scores(rows[4000:])
    above, tied = raw > model.threshold_, raw == model.threshold_
    flagged = model.predict(new) == 1
    assert flagged[above].all() and not flagged[~above & ~tied].any() and 0 < flagged[tied].mean() < 1
    shifted, turned = model.decision_function(new), np.random.default_rng(0).permutation(2000)
    assert np.array_equal(shifted > 0, flagged) and np.allclose(shifted, raw - model.threshold_, rtol=0, atol=1e-12)
    assert np.array_equal(model.predict(new[turned]) == 1, flagged[turned])
    assert np.array_equal(model.predict(csr_array(new)) == 1, flagged)
    assert np.array_equal(model.answer(new).decision == 1, flagged)
    assert np.array_equal(from_bytes(model.to_bytes()).predict(new) == 1, flagged)
    for row in np.flatnonzero(tied)[:40]:
        assert (model.score_one(new[row]) > 0, model.answer_one(new[row]).decision) == (flagged[row], flagged[row])


def test_a_model_that_says_the_same_to_all_rows_flags_its_share():
    X, y = STREAM.X, STREAM.y
    model = OnlinePerceptron(threshold="rate:0.05").partial_fit(np.zeros_like(X[:1000]), y[:1000])
    assert not model.raw_scores(X).any()
    assert (model.predict(X) == 1).mean() == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 6000))


def test_draws_are_uniform_and_those_of_like_rows_have_nothing_to_do_with_each_other():
    grid = np.stack(np.meshgrid(*[np.arange(-5.0, 5.0)] * 4), axis=-1).reshape(-1, 4)  # 10,000 rows of small numbers
    draws = draws_of(as_rows(grid))
    assert np.histogram(draws, 20, (0, 1))[0] == pytest.approx(np.full(20, 500), abs=4 * np.sqrt(500))
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 0.04
    assert np.unique(draws).size == grid.shape[0]
    assert np.array_equal(draws, draws_of(as_rows(csr_array(grid))))
    assert abs(np.corrcoef(draws, draws_of(as_rows(grid), -1.0))[0, 1]) < 0.04
    gaps = np.array([[np.nan, 1.0], [-np.nan, 1.0], [0.0, 1.0], [-0.0, 1.0]])
    first, second, third, fourth = draws_of(as_rows(gaps)).tolist()
    assert first == second != third == fourth


@pytest.mark.parametrize("parameters", [{"gamma": 0.5}, {"kernel": "poly", "degree": 2, "coef0": 1.0}])
@pytest.mark.parametrize("learner", [KernelOGD, KOIL])
def test_the_own_part_of_a_score_is_what_no_neighbour_would_have_taken_over(learner, parameters):
    model = learner(threshold="rate:0.05", random_state=0, **parameters).partial_fit(STREAM.X[:300], STREAM.y[:300])
    recent = model._recent
    parts = model._own_parts(recent.numbers, as_rows(recent.rows), recent.signs)

    def similarity(x, z):
        return np.exp(-0.5 * ((x - z) ** 2).sum()) if "gamma" in parameters else (x @ z + 1.0) ** 2

    for number, sign, part in zip(recent.numbers.tolist(), recent.signs, parts.tolist(), strict=True):
        x, y = STREAM.X[number - 1], STREAM.y[:300]
        assert sign == 2 * y[number - 1] - 1
        places, expected = np.flatnonzero(model.support_numbers_ == number), 0.0
        if places.size:
            peers = [STREAM.X[k] for k in range(300) if y[k] == y[number - 1] and k != number - 1]
            itself = similarity(x, x)
            nearest = max(similarity(x, z) ** 2 / (itself * similarity(z, z)) for z in peers) ** 1.25
            expected = model.support_weights_[places[0]] * itself * (1.0 - nearest)
        assert part == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert np.count_nonzero(parts) >= 1


def test_rows_are_kept_for_a_share_of_alerts_and_nothing_else():
    X, y = STREAM.X[:3000], STREAM.y[:3000]
    plain, share = (OPAUC(threshold=rule).partial_fit(X, y) for rule in ("f1", "rate:0.05"))
    assert (plain.has_rows_for_rate_, share.has_rows_for_rate_) == (False, True)
    assert len(share.to_bytes()) - len(plain.to_bytes()) > 0.9 * X.nbytes
    plain.set_params(threshold="rate:0.05")
    assert plain.threshold_ == plain.score_memory_.threshold("rate:0.05")  # the next best
    again = from_bytes(plain.to_bytes())
    for model in (plain, again):
        model.partial_fit(X[:1000], y[:1000])
        assert model.has_rows_for_rate_ and len(model._recent.rows) == 1000
    assert plain.threshold_ == again.threshold_
    share.set_params(threshold="zero")
    again = from_bytes(share.to_bytes())
    assert not share.has_rows_for_rate_ and not again.has_rows_for_rate_
    for model in (share, again):  # which go on alike, also if a share is asked for once more
        model.partial_fit(X[:10], y[:10]).set_params(threshold="rate:0.05").partial_fit(X[:500], y[:500])
    assert share.to_bytes() == again.to_bytes()


def test_rows_know_their_numbers():
    rows = RecentRows(100)  # so wide that 5,242 have room
    for start in range(0, 30_000, 7_000):
        part = np.arange(start, min(start + 7_000, 30_000), dtype=float)
        rows.offer(as_rows(np.repeat(part[:, None], 100, axis=1)), np.where(part % 3, -1.0, 1.0))
        assert np.array_equal(rows.rows[:, 0], rows.numbers - 1)
        assert np.array_equal(rows.signs > 0, (rows.numbers - 1) % 3 == 0)


def test_the_share_is_that_of_the_present_model():
    """A perceptron's scores swing: its progressive scores are those of others than the one that answers."""
    model = OnlinePerceptron(threshold="rate:0.05").partial_fit(STREAM.X[:4000], STREAM.y[:4000])
    for step in range(4000, 4040):  # wherever it stands
        model.learn_one(STREAM.X[step], STREAM.y[step])
        assert (model.decision_function(STREAM.X[:4000]) > 0).mean() == pytest.approx(0.05, abs=0.002)


def test_a_share_follows_drift():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12_000, 3)), (rng.random(12_000) < 0.05).astype(int)
    X[6000:] += 3.0
    model = OPAUC(threshold="rate:0.05").partial_fit(X[:6000], y[:6000])
    model.partial_fit(X[6000:], y[6000:])
    new = rng.standard_normal((4000, 3)) + 3.0
    assert (model.predict(new) == 1).mean() == pytest.approx(0.05, abs=0.005 + noise_of(0.05, 3000, 4000))


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_for_the_share_are_the_same_in_a_batch_in_a_loop_and_in_a_file(sparse):
    n, width = 9000, 80  # so many features that not all rows have room
    X = np.random.default_rng(1).random((n, width)) * (np.arange(width) % 7 == 0)
    signs = np.where(np.arange(n) % 20, -1.0, 1.0)
    batch, loop, pieces = (OnlinePerceptron(threshold="rate:0.05") for _ in range(3))
    given = csr_array(X) if sparse else X
    batch.partial_fit(given, signs)
    for start, stop in ((0, 1), (1, 7000), (7000, 8195), (8195, n)):
        pieces.partial_fit(given[start:stop], signs[start:stop])
    for x, sign in zip(X, signs, strict=True):
        loop.learn_one(x, sign)
    assert batch.threshold_ == loop.threshold_ == pieces.threshold_ == from_bytes(batch.to_bytes()).threshold_
    assert np.array_equal(batch._recent.rows, loop._recent.rows)
    assert np.array_equal(batch._recent.rows, pieces._recent.rows)
    assert np.array_equal(batch._recent.signs, pieces._recent.signs)
    assert np.array_equal(batch._recent.signs, loop._recent.signs)


@pytest.mark.parametrize("name", [entry.name for entry in registry.entries(online=True, is_learner=True)])
def test_every_learner_keeps_an_alert_budget_row_by_row(name):
    """Each row is judged before it is learned: the scores of a perceptron have moved on by the next one."""
    model, rows = with_rate(name)
    past = 400 if registry.entry(name).family == "bayesian" else 4000
    model.partial_fit(rows[:past], STREAM.y[:past])
    flagged = []
    for x, y in zip(rows[past : past + 1500], STREAM.y[past : past + 1500].tolist(), strict=True):
        flagged.append(model.score_one(x) > 0)
        model.learn_one(x, y)
    assert np.mean(flagged) == pytest.approx(0.05, rel=0.1)


ANSWERS_OTHERWISE = {
    "SPA": SPA(gamma=0.25, threshold="rate:0.05", random_state=0),
    "a pipeline of it": StreamPipeline(learner=SPA(gamma=0.25, budget=30, threshold="rate:0.05", random_state=0)),
    "OSKL": OSKL(gamma=0.25, threshold="rate:0.05", random_state=0),
    "OMCSL": OMCSL(threshold="rate:0.05", random_state=0),
    "a pool that draws": ExpertPool(
        [OPAUC(), SPA(gamma=0.25)], combine="sample", threshold="rate:0.05", random_state=0
    ),
}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", ANSWERS_OTHERWISE)
def test_learners_that_answer_with_other_scores_than_they_learn_by_remember_their_answers(name, sparse):
    """An average, or the best of several: in a batch, in a loop and in pieces they come to the same cut."""
    X, y = STREAM.X[:700], STREAM.y[:700]
    if sparse and name != "a pipeline of it":
        X = X * (X > 0.5)
    batch, loop, pieces = (clone(ANSWERS_OTHERWISE[name]) for _ in range(3))
    answers = []
    for x, label in zip(X, y.tolist(), strict=True):
        answers.append(loop.raw_score_one(x) if loop.started_ else 0.0)
        loop.learn_one(x, label)
    given = csr_array(X) if sparse and name != "a pipeline of it" else X
    batch.partial_fit(given, y)
    for part in np.split(np.arange(700), [1, 90, 500]):
        pieces = from_bytes(pieces.partial_fit(given[part], y[part], classes=[0, 1]).to_bytes())
    assert loop.score_memory_.latest_scores()[1:] == pytest.approx(answers[1:], rel=1e-9, abs=1e-12)
    cuts = [model.answer_one(X[0]).threshold for model in (loop, batch, pieces)]
    assert cuts == pytest.approx([loop.score_memory_.next_cut(0.05)] * 3, rel=1e-9)
    # Probabilities and other thresholds go by what they went by.
    plain = clone(batch).set_params(**{next(p for p in batch.get_params() if p.endswith("threshold")): "zero"})
    plain.partial_fit(given, y)
    assert np.array_equal(plain.predict_proba(X), batch.predict_proba(X))
    assert np.array_equal(plain.score_memory_.positive, batch.score_memory_.positive)


def test_columns_of_omcsl_are_the_same_with_a_share_of_alerts():
    X, y = STREAM.X[:300], STREAM.y[:300]
    plain, share = OMCSL(random_state=0), OMCSL(threshold="rate:0.05", random_state=0)
    assert np.array_equal(plain.progressive_expert_scores(X, y), share.progressive_expert_scores(X, y))
    assert np.array_equal(plain.progressive_scores(X, y), share.progressive_scores(X, y))


def test_single_rows_are_cut_by_what_has_followed_the_scores():
    """The same in a batch, in a loop and out of a file; after a batch of answers, what those were cut by."""
    X, y = STREAM.X[:3000], STREAM.y[:3000]
    batch, loop, pieces = (OnlinePerceptron(threshold="rate:0.05") for _ in range(3))
    batch.partial_fit(X, y)
    for x, label in zip(X, y.tolist(), strict=True):
        loop.learn_one(x, label)
    for part in np.split(np.arange(3000), [1, 700, 2500]):
        pieces = from_bytes(pieces.partial_fit(X[part], y[part], classes=[0, 1]).to_bytes())
    x = STREAM.X[4000]
    cuts = {model.answer_one(x).threshold for model in (batch, loop, pieces)}
    assert cuts == {batch.score_memory_.next_cut(0.05)}
    oracle = ShareAbove(0.05)
    for score in OnlinePerceptron().progressive_scores(X, y).tolist():
        oracle.take(score)
    assert cuts.pop() == pytest.approx(oracle.cut(), rel=1e-9)
    assert batch.answer_one(x).threshold != batch.threshold_ == batch.answer_one(x).threshold


def test_another_share_sets_out_anew():
    model = OnlinePerceptron(threshold="rate:0.05").partial_fit(STREAM.X[:3000], STREAM.y[:3000])
    assert model.score_memory_.following[1] != 0.0
    before = model.score_memory_.following
    assert np.array_equal(model.set_params(threshold="rate:0.05").score_memory_.following, before)
    assert model.set_params(threshold="rate:0.01").score_memory_.following.tolist() == [0.01, 0.0, 0.0]
    assert from_bytes(model.to_bytes()).score_memory_.next_cut(0.01) == model.score_memory_.next_cut(0.01)
    assert model.set_params(threshold="f1").score_memory_.following is None


def test_a_rule_that_is_changed_inside_of_a_pipeline_changes_what_the_whole_keeps():
    """Else the same model goes on otherwise out of a file."""
    model = StreamPipeline(learner=StreamPipeline(learner=OPAUC())).partial_fit(STREAM.X[:500], STREAM.y[:500])
    set_threshold(model, "rate:0.05")
    again = from_bytes(model.to_bytes())
    for one in (model, again):
        one.partial_fit(STREAM.X[500:1000], STREAM.y[500:1000])
    assert model.has_rows_for_rate_ and model.to_bytes() == again.to_bytes()


def test_rows_too_wide_to_keep_leave_progressive_scores_to_go_by():
    X = csr_array(np.random.default_rng(2).random((400, 5000)) * (np.arange(5000) < 3))
    model = OnlinePerceptron(threshold="rate:0.1").partial_fit(X, np.arange(400) % 10 == 0)
    assert model.threshold_ == model.score_memory_.threshold("rate:0.1")


def test_gmean_balances_the_two_classes():
    model = learned(threshold="gmean")
    predicted, y = model.predict(STREAM.X[4000:]), STREAM.y[4000:]
    sensitivity, specificity = predicted[y == 1].mean(), 1 - predicted[y == 0].mean()
    assert np.sqrt(sensitivity * specificity) > 0.65


def brute_force(scores, labels, measure):
    """The best value of a measure over all cuts."""
    cuts = np.append(scores, scores.min() - 1)
    return max(measure(labels, scores > cut) for cut in cuts)


def gmean(labels, flagged):
    return np.sqrt(flagged[labels == 1].mean() * (1 - flagged[labels == 0].mean()))


def f1(labels, flagged):
    hits = (flagged & (labels == 1)).sum()
    return 2 * hits / (flagged.sum() + labels.sum())


@pytest.mark.parametrize(("rule", "measure"), [("f1", f1), ("gmean", gmean)])
def test_the_threshold_is_the_best_of_all_cuts(rule, measure):
    rng = np.random.default_rng(0)
    for ties in (False, True):
        labels = (rng.random(200) < 0.3).astype(int)
        scores = rng.standard_normal(200) + labels
        if ties:
            scores = scores.round(0)
        memory = ScoreMemory()
        memory.remember(np.where(labels == 1, 1.0, -1.0), scores)
        cut = memory.threshold(rule)
        assert measure(labels, scores > cut) == pytest.approx(brute_force(scores, labels, measure))


def test_the_rate_flags_its_share_of_what_is_remembered_and_a_part_of_ties():
    rng = np.random.default_rng(1)
    scores = rng.standard_normal(1000).round(1)
    memory = ScoreMemory()
    memory.remember(np.where(rng.random(1000) < 0.1, 1.0, -1.0), scores)
    for rate in (0.001, 0.01, 0.1, 0.5, 0.9):
        at, part = memory.cut(f"rate:{rate}")
        assert (scores > at).mean() + part * (scores == at).mean() == pytest.approx(rate, rel=0.02)
        assert memory.threshold(f"rate:{rate}") == at
    assert (scores > memory.threshold("rate:0.5")).mean() > 0.4


@pytest.mark.parametrize("rule", ["f1", "gmean"])
def test_nothing_is_flagged_before_the_first_positive(rule):
    rng = np.random.default_rng(4)
    memory, scores = ScoreMemory(), 0.1 * rng.standard_normal(500) + 2.0
    memory.remember(np.full(500, -1.0), scores)
    assert not (0.1 * rng.standard_normal(5000) + 2.0 > memory.threshold(rule)).any()
    fresh = KOIL(threshold=rule, random_state=0).partial_fit(STREAM.X[:50], np.zeros(50, dtype=int))
    assert not fresh.predict(STREAM.X).any()
    assert np.isfinite(fresh.decision_function(STREAM.X)).all()


@pytest.mark.parametrize("rule", ["f1", "gmean"])
def test_the_first_positives_do_not_make_everything_an_alert(rule):
    """The first of them were scored by a model that knew none: in the midst of the others."""
    scores = np.linspace(-1, 1, 1000)
    signs = np.full(1000, -1.0)
    signs[[300, 500]] = 1.0
    memory = ScoreMemory()
    memory.remember(signs, scores)
    assert (scores > memory.threshold(rule)).sum() == 2


def test_the_best_f1_of_a_useless_ranker_is_not_to_flag_everything():
    rng = np.random.default_rng(5)
    memory, scores = ScoreMemory(), rng.standard_normal(4000)
    memory.remember(np.where(rng.random(4000) < 0.02, 1.0, -1.0), scores)
    assert (scores > memory.threshold("f1")).mean() < 0.12


def test_the_best_f1_is_that_of_late():
    """A ruler that has changed: what the first scores say is of no use any more."""
    rng = np.random.default_rng(6)
    signs = np.where(np.arange(8000) % 20 == 0, 1.0, -1.0)
    scores = signs + 0.3 * rng.standard_normal(8000)
    scores[4000:] += 10.0
    memory = ScoreMemory()
    memory.remember(signs, scores)
    assert 9.5 < memory.threshold("f1") < 10.5
    assert memory.threshold("rate:0.05") > 9.5


def test_remembering_many_equals_remembering_one_by_one():
    rng = np.random.default_rng(2)
    n = 3 * NEGATIVE_RING
    signs, scores = np.where(rng.random(n) < 0.4, 1.0, -1.0), rng.standard_normal(n)
    many, one = ScoreMemory(), ScoreMemory()
    for start in range(0, n, 5000):
        many.remember(signs[start : start + 5000], scores[start : start + 5000])
    for sign, score in zip(signs, scores, strict=True):
        one.remember_one(sign, score)
    assert np.array_equal(many.positive, one.positive)
    assert np.array_equal(many.negative, one.negative)
    assert np.array_equal(many.latest, one.latest)
    assert many.n_latest == one.n_latest
    assert many.counts.tolist() == one.counts.tolist()
    assert many.counts.sum() == n
    assert many.positive.size == POSITIVE_RING


def test_probabilities_rise_strictly_with_the_score():
    model = learned()
    order = np.argsort(model.decision_function(STREAM.X), kind="stable")
    scores, probabilities = model.decision_function(STREAM.X)[order], model.predict_proba(STREAM.X)[order, 1]
    distinct = np.append(True, np.diff(scores) > 1e-9)
    assert (np.diff(probabilities[distinct]) > 0).all()
    assert (probabilities > 0).all()
    assert (probabilities < 1).all()
    assert np.allclose(model.predict_proba(STREAM.X).sum(axis=1), 1.0)


def test_probabilities_far_out_neither_reach_nor_reverse():
    memory = ScoreMemory()
    memory.remember(np.array([1.0, 1.0, -1.0, -1.0, -1.0]), np.array([3.0, 2.0, -1.0, -2.0, -1.5]))
    wide = np.concatenate([-np.logspace(8, -3, 50), np.logspace(-3, 8, 50)])
    values = memory.probability(wide)
    assert (np.diff(values) > 0).all()
    assert values[0] > 0
    assert values[-1] < 1


def test_a_useless_ranker_still_gets_an_increasing_curve():
    rng = np.random.default_rng(3)
    memory = ScoreMemory()
    signs = np.where(rng.random(500) < 0.2, 1.0, -1.0)
    memory.remember(signs, -signs + 0.1 * rng.standard_normal(500))
    values = memory.probability(np.linspace(-2, 2, 9))
    assert (np.diff(values) > 0).all()
    assert values.mean() == pytest.approx(0.2, abs=0.05)


def test_probabilities_are_calibrated_on_unseen_rows():
    model = learned()
    probabilities, y = model.predict_proba(STREAM.X[4000:])[:, 1], STREAM.y[4000:]
    assert probabilities.mean() == pytest.approx(y.mean(), abs=0.02)
    top = probabilities > np.quantile(probabilities, 0.9)
    assert probabilities[top].mean() == pytest.approx(y[top].mean(), abs=0.1)  # three standard errors


def test_probabilities_before_both_classes_are_seen():
    model = KOIL().partial_fit([[0.0], [1.0]], [0, 0])
    assert np.isfinite(model.predict_proba([[0.5]])).all()
    assert model.predict_proba([[0.5]])[0, 1] < 0.5
