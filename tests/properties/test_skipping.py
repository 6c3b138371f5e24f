"""SPA and OSKL need not look at an example that their coin keeps out: the model is the same, and the scores known to
thresholds and probabilities are those of a fair sample."""

import numpy as np
import pytest
from sklearn.base import clone

from lopsided import OSKL, SPA, OnlineScaler, StreamPipeline
from lopsided.core.pointwise.online_kernel import ENOUGH_SCORES

SAMPLERS = {
    "SPA": SPA(sampling_scale=8.0, random_state=2),
    "SPA, last": SPA(sampling_scale=8.0, average=False, random_state=2),
    "SPA, bounded": SPA(sampling_scale=2.0, budget=60, random_state=2),
    "OSKL": OSKL(random_state=2),
}
samplers = pytest.mark.parametrize("learner", SAMPLERS.values(), ids=SAMPLERS)


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3_000, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=3_000) > 0.2, 1, -1)


def model_of(learner):
    return learner.support_vectors_, learner.support_weights_


@samplers
def test_skipping_steps_that_cannot_change_anything_gives_the_identical_model(learner, stream):
    X, y = stream
    every, skipping = clone(learner), clone(learner)
    every.progressive_scores(X, y)
    skipping.partial_fit(X, y)
    for one, other in zip(model_of(every), model_of(skipping), strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(every.decision_function(X), skipping.decision_function(X))
    assert every._memory.counts.sum() == y.size
    assert 2 * ENOUGH_SCORES <= skipping._memory.counts.sum() < 0.7 * y.size


@samplers
@pytest.mark.parametrize("scaled", [False, True])
def test_batches_and_single_examples_skip_the_same(learner, scaled, stream):
    X, y = stream
    model = StreamPipeline(OnlineScaler(), learner) if scaled else learner
    whole, pieces = clone(model), clone(model)
    whole.partial_fit(X, y)
    pieces.partial_fit(X[:700], y[:700])
    for t in range(700, 1_900):
        pieces.learn_one(X[t], y[t])
    pieces.partial_fit(X[1_900:], y[1_900:])
    assert np.array_equal(whole.predict_proba(X), pieces.predict_proba(X))


@samplers
def test_what_is_remembered_does_not_depend_on_the_rule_of_the_threshold(learner, stream):
    X, y = stream
    plain = clone(learner).fit(X, y)
    for rule in ("f1", "rate:0.2", 0.3):
        other = clone(learner).set_params(threshold=rule).fit(X, y)
        assert np.array_equal(other.predict_proba(X), plain.predict_proba(X))
        assert np.array_equal(other._memory.counts, plain._memory.counts)


def test_a_full_budget_goes_on_looking_at_its_scores(stream):
    X, y = stream
    learner = SPA(budget=1, sampling_scale=1.0, threshold="rate:0.2", random_state=0).fit(X, y)
    assert learner.n_support_ == 1
    known = learner._memory.counts.sum()
    learner.partial_fit(X, y)
    assert y.size / 32 < learner._memory.counts.sum() - known < y.size / 8


def test_every_example_is_scored_until_enough_of_the_rare_class_are_known(stream):
    X, y = stream
    rare = np.flatnonzero(y > 0)[ENOUGH_SCORES - 1 :]
    learner = clone(SAMPLERS["SPA"]).partial_fit(np.delete(X, rare, axis=0), np.delete(y, rare), classes=[-1, 1])
    assert learner._memory.counts.sum() == y.size - rare.size
