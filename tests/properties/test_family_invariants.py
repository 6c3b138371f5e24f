"""What holds for each learner of the family: KOIL, KOIL with multiple kernels, and OILK."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lopsided
from lopsided import KOIL, OILK, MultiKernelKOIL
from lopsided.kernels import Gaussian, Linear, Normalized, Polynomial
from properties.generated import KERNELS, parameters, streams
from properties.inspection import assert_same_model, bytes_of, cache_error

CLASSES = [-1, 1]
POOL = [Gaussian(gamma=0.7), Linear(), Normalized(Polynomial(degree=2, coef0=1.0)), Gaussian(gamma=9.0)]


@st.composite
def pools(draw, **fixed):
    """A constructor of MultiKernelKOIL with drawn parameters."""
    chosen = draw(parameters(**fixed))
    del chosen["kernel"]
    chosen["kernels"] = draw(st.lists(st.sampled_from(POOL), min_size=1, max_size=4))
    chosen["combine"] = draw(st.sampled_from(["raw", "sign"]))
    chosen["decay"] = draw(st.booleans())
    chosen["risk_scale"] = draw(st.sampled_from([1.0, 0.3, "C"]))
    chosen["weight_rate"] = draw(st.sampled_from([0.0, 0.01, 0.3]))
    if not chosen["decay"]:  # nothing holds the weights back: smaller steps
        chosen |= {"C": 0.11, "learning_rate": 0.013}
    return lambda: MultiKernelKOIL(**chosen)


@st.composite
def single_buffers(draw, **fixed):
    """A constructor of OILK with drawn parameters."""
    chosen = {
        "C": draw(st.sampled_from([0.11, 0.37])),
        "learning_rate": draw(st.sampled_from([0.013, 0.071, 0.93])),
        "budget": draw(st.integers(1, 15)),
        "policy": draw(st.sampled_from(["fifo", "reservoir"])),
        "kernel": draw(st.sampled_from(KERNELS)),
        "random_state": draw(st.integers(0, 1000)),
    }
    return lambda: OILK(**(chosen | fixed))


def two_buffers(**fixed):
    """A constructor of KOIL with drawn parameters."""
    return parameters(**fixed).map(lambda chosen: lambda: KOIL(**chosen))


# Not to the bit: with several kernels a score has been seen to differ in its last bit, once in many runs, and not again
# on the same example. Fixed streams are compared bit for bit in tests/estimators/test_learning.py.
ROUNDING = 1e-13
LEARNERS = st.one_of(two_buffers(), pools(), single_buffers())
BOUNDED = st.one_of(two_buffers(policy="fifo"), pools(policy="reservoir"), pools(policy="fifo"), single_buffers())


def learned(make, stream):
    return make().partial_fit(stream.X, stream.y, classes=CLASSES)


@given(streams(), LEARNERS)
def test_cached_scores_are_gram_matrix_times_weights(stream, make):
    learner = make()
    for start in range(0, len(stream.y), 23):
        learner.partial_fit(stream.X[start : start + 23], stream.y[start : start + 23], classes=CLASSES)
        assert cache_error(learner) < 1e-10


def test_the_check_of_the_cache_sees_every_expert_of_a_pool():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    for index in range(len(POOL)):
        learner = MultiKernelKOIL(POOL, budget=4, random_state=0).fit(X, y)
        assert cache_error(learner) < 1e-10
        learner._stack.scores[index, 1] += 1e-6
        assert cache_error(learner) > 1e-9


@given(streams(), LEARNERS)
def test_a_batch_equals_the_loop_of_single_rows(stream, make):
    rows, ones = make(), make()
    for t in range(len(stream.y)):
        rows.partial_fit(stream.X[t : t + 1], stream.y[t : t + 1], classes=CLASSES)
    ones.partial_fit(stream.X[:1], stream.y[:1], classes=CLASSES)
    for t in range(1, len(stream.y)):
        ones.learn_one(stream.X[t], stream.y[t])
    batch = learned(make, stream)
    assert_same_model(batch, rows, rounding=ROUNDING)
    assert_same_model(batch, ones, rounding=ROUNDING)


@given(streams(least=2), LEARNERS, st.floats(0.0, 1.0))
def test_saving_loading_and_continuing_equals_never_having_stopped(tmp_path_factory, stream, make, moment):
    stop = 1 + int(moment * (len(stream.y) - 2))
    path = tmp_path_factory.mktemp("model") / "a.model"
    steady, stopped = make(), make()
    for learner in (steady, stopped):
        learner.partial_fit(stream.X[:stop], stream.y[:stop], classes=CLASSES)
    stopped.save(path)
    loaded = lopsided.load(path)
    assert_same_model(steady, loaded, rounding=ROUNDING)
    for t in range(stop, len(stream.y)):
        loaded.learn_one(stream.X[t], stream.y[t])
    steady.partial_fit(stream.X[stop:], stream.y[stop:])
    assert_same_model(steady, loaded, rounding=ROUNDING)


@given(streams(least=2), BOUNDED)
def test_the_memory_of_a_bounded_model_never_changes(stream, make):
    learner = make().partial_fit(stream.X[:1], stream.y[:1], classes=CLASSES)
    size = bytes_of(learner)
    for t in range(1, len(stream.y)):
        learner.learn_one(stream.X[t], stream.y[t])
        assert bytes_of(learner) == size


@given(streams(), LEARNERS)
def test_the_same_seed_gives_the_same_model(stream, make):
    assert_same_model(learned(make, stream), learned(make, stream), rounding=ROUNDING)


@given(streams(most=20), LEARNERS)
def test_asking_for_scores_changes_nothing(stream, make):
    quiet, asked = learned(make, stream), make()
    for t in range(len(stream.y)):
        asked.partial_fit(stream.X[t : t + 1], stream.y[t : t + 1], classes=CLASSES)
        asked.decision_function(stream.X)
        asked.score_one(stream.X[0])
        asked.predict(stream.X)
        asked.predict_proba(stream.X[:2])
    assert_same_model(quiet, asked, rounding=ROUNDING)


@given(streams(least=2), LEARNERS, st.integers(0, 99))
def test_rows_of_weight_zero_are_not_there(stream, make, seed):
    weights = np.random.default_rng(seed).choice([0.0, 1.0, 2.0], size=len(stream.y))
    weights[0] = 1.0
    kept = weights > 0
    weighted = make().partial_fit(stream.X, stream.y, classes=CLASSES, sample_weight=weights)
    left_out = make().partial_fit(stream.X[kept], stream.y[kept], classes=CLASSES, sample_weight=weights[kept])
    assert_same_model(weighted, left_out, rounding=ROUNDING)


@pytest.mark.parametrize("combine", ["raw", "sign"])
def test_a_pool_of_equal_kernels_scores_as_one_of_them_does(combine):
    # Under fifo no expert draws, all start alike, and none is ever left out while their weights are equal.
    X = np.random.default_rng(3).normal(size=(200, 2))
    y = np.where(X[:, 0] > 0.3, 1, -1)
    one = KOIL(policy="fifo", budget=8, gamma=0.7).progressive_scores(X, y)
    pool = MultiKernelKOIL([Gaussian(gamma=0.7)] * 3, policy="fifo", budget=8, combine=combine, random_state=0)
    scores = pool.progressive_scores(X, y)
    np.testing.assert_allclose(scores, one if combine == "raw" else np.sign(one), rtol=0, atol=1e-12)
    np.testing.assert_allclose(pool.kernel_weights_, 1.0 / 3.0, rtol=1e-12)
