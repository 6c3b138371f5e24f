"""What must hold for KOIL whatever the stream and the parameters: the invariants of its specification, by number.

The tenth, agreement with an uncached transcription, has its own file, `tests/core/test_koil_oracle.py`.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import lopsided
from lopsided import KOIL, MultiKernelKOIL
from lopsided.core.arithmetic.draws import Draws
from lopsided.core.pairwise.support import NEXT
from lopsided.kernels import Gaussian
from properties.generated import KERNELS, parameters, streams
from properties.inspection import (
    assert_close_models,
    assert_same_model,
    bytes_of,
    cache_error,
    class_counts,
    class_weights,
)

CLASSES = [-1, 1]
BOUNDED = st.sampled_from(["reservoir", "fifo"])


def learned(stream, given_parameters):
    return KOIL(**given_parameters).partial_fit(stream.X, stream.y, classes=CLASSES)


def one_by_one(learner, stream):
    """Learn row by row; yields the number of each row, the class weights before it and those after."""
    for t in range(len(stream.y)):
        before = class_weights(learner) if t else (np.zeros(0), np.zeros(0))
        learner.partial_fit(stream.X[t : t + 1], stream.y[t : t + 1], classes=CLASSES)
        yield t, before, class_weights(learner)


# ---- 1: with room for all, the policies are one ----


@given(streams(), parameters())
def test_1_with_room_for_every_example_all_policies_give_the_same_model(stream, chosen):
    chosen["budget"] = (len(stream.y), len(stream.y))
    models = [learned(stream, chosen | {"policy": policy}) for policy in ("reservoir", "fifo", "unbounded")]
    assert_close_models(models[0], models[1])
    assert_close_models(models[0], models[2])


# ---- 2: the length of f (Lemma 1) ----


def length(learner, kernel):
    weights = learner.support_weights_
    return float(np.sqrt(max(weights @ kernel(learner.support_vectors_) @ weights, 0.0)))


@given(
    streams(least=2, most=60),
    parameters(loss="hinge", policy="unbounded", schedule="constant"),
    st.sampled_from([1, 2, 5]),
)
def test_2_the_length_of_an_unbounded_model_stays_below_that_of_lemma_1(stream, chosen, k):
    kernel, C, rate = chosen["kernel"], chosen["C"], chosen["learning_rate"]
    stream.y[:2] = stream.y[0], -stream.y[0]
    gram = kernel(stream.X)
    assume(rate * C * (gram[0, 0] - gram[0, 1]) < 0.99)  # the second example is ranked wrongly: no start-up step
    longest, least = gram.diagonal().max(), gram.min()
    bound = C * max(k * np.sqrt(2.0 * longest - 2.0 * least), rate * np.sqrt(longest))
    learner = KOIL(**(chosen | {"n_neighbors": k}))
    for _ in one_by_one(learner, stream):
        assert length(learner, kernel) <= bound * (1.0 + 1e-9)


# ---- 3: compensation moves weight, never loses it ----


def lost_weight(learner, stream, C, rate):
    """The largest amount by which a step changes the sums of weights otherwise than the step itself says.

    After the decay by (1 - rate), what one class gains the other one loses, and a start-up step adds rate C y.
    """
    worst = 0.0
    for t, before, after in one_by_one(learner, stream):
        gains = [new.sum() - (1.0 - rate) * old.sum() for new, old in zip(after, before, strict=True)]
        own, opposite = (0, 1) if stream.y[t] > 0 else (1, 0)
        untouched = np.allclose(after[opposite], (1.0 - rate) * before[opposite], rtol=1e-12, atol=1e-15)
        started = before[opposite].size == 0 or (before[own].size == 0 and untouched)
        expected = rate * C * stream.y[t] if started else -gains[opposite]
        worst = max(worst, abs(gains[own] - expected))
    return worst


@given(streams(), parameters(schedule="constant", compensate=True), BOUNDED)
def test_3_compensation_keeps_the_sum_of_weights_of_each_class(stream, chosen, policy):
    learner = KOIL(**(chosen | {"policy": policy}))
    assert lost_weight(learner, stream, chosen["C"], chosen["learning_rate"]) < 1e-12


@pytest.mark.parametrize("policy", ["reservoir", "fifo"])
def test_3_without_compensation_weight_is_lost_and_the_check_sees_it(policy):
    X = np.random.default_rng(0).normal(size=(60, 2))
    stream = type("Stream", (), {"X": X, "y": np.where(X[:, 0] > 0, 1, -1)})
    learner = KOIL(budget=4, policy=policy, compensate=False, random_state=0)
    assert lost_weight(learner, stream, 1.0, 0.01) > 1e-3


# ---- 4: the cache is exact ----


@given(streams(), parameters())
def test_4_cached_scores_are_gram_matrix_times_weights(stream, chosen):
    learner = KOIL(**chosen)
    for start in range(0, len(stream.y), 17):
        learner.partial_fit(stream.X[start : start + 17], stream.y[start : start + 17], classes=CLASSES)
        assert cache_error(learner) < 1e-10


@pytest.mark.parametrize("what", ["weights", "scores", "gram"])
def test_4_the_check_of_the_cache_sees_a_perturbed_number(what):
    X = np.random.default_rng(0).normal(size=(60, 2))
    learner = KOIL(budget=4, random_state=0).fit(X, np.where(X[:, 0] > 0, 1, -1))
    assert cache_error(learner) < 1e-10
    getattr(learner._support, what).flat[1] += 1e-7
    assert cache_error(learner) > 1e-9


# ---- 5: the classes are alike ----


@given(streams(), parameters())
def test_5_flipping_labels_and_budgets_flips_every_score(stream, chosen):
    turned = chosen | {"budget": chosen["budget"][::-1]}
    one, other = KOIL(**chosen), KOIL(**turned)
    scores = one.progressive_scores(stream.X, stream.y, classes=CLASSES)
    flipped = other.progressive_scores(stream.X, -stream.y, classes=CLASSES)
    np.testing.assert_allclose(flipped, -scores, rtol=1e-9, atol=1e-9)
    for weights, opposite in zip(class_weights(one), class_weights(other)[::-1], strict=True):
        np.testing.assert_allclose(opposite, -weights, rtol=1e-9, atol=1e-9)


# ---- 6: what C does ----


@given(streams(least=1, most=1), parameters(schedule="constant"), st.floats(0.01, 100.0), st.floats(0.001, 1.0))
def test_6_the_weight_of_the_first_example_is_rate_times_cost(stream, chosen, C, rate):
    learner = learned(stream, chosen | {"C": C, "learning_rate": rate})
    assert learner.support_weights_.tolist() == [pytest.approx(stream.y[0] * rate * C, rel=1e-15)]


@given(streams(), parameters(loss="hinge", neighbors="violators", C=1e-6, schedule="constant"), st.floats(2.0, 100.0))
def test_6_while_every_pair_is_a_violator_the_model_grows_in_proportion_to_the_cost(stream, chosen, factor):
    small, large = learned(stream, chosen), learned(stream, chosen | {"C": factor * 1e-6})
    np.testing.assert_array_equal(large.support_vectors_, small.support_vectors_)
    np.testing.assert_allclose(large.support_weights_, factor * small.support_weights_, rtol=1e-9, atol=1e-18)


# ---- 7: a pool of one kernel ----


def pool_of_one(chosen):
    chosen = dict(chosen)
    return MultiKernelKOIL(kernels=[chosen.pop("kernel")], **chosen)


def without_trial_draws(learner, stream, seed):
    """Progressive scores of KOIL on the uniforms that a pool of one kernel leaves it: the first of each row is gone."""
    uniforms = np.random.default_rng(seed).random(3 * len(stream.y) + 2)
    scores, position = learner.progressive_scores(stream.X[:1], stream.y[:1], classes=CLASSES).tolist(), 1
    for t in range(1, len(stream.y)):
        rest = uniforms[position + 1 :].copy()
        learner._uniforms.draws = Draws(rest, np.zeros(1, dtype=np.int64))
        scores += learner.progressive_scores(stream.X[t : t + 1], stream.y[t : t + 1]).tolist()
        assert learner._uniforms.draws.uniforms is rest
        position += 1 + int(learner._uniforms.draws.position[0])
    return np.array(scores)


@given(streams(), parameters())
def test_7_a_pool_of_one_kernel_is_koil(stream, chosen):
    pool, single = pool_of_one(chosen), KOIL(**chosen)
    scores = pool.progressive_scores(stream.X, stream.y, classes=CLASSES)
    if chosen["policy"] == "reservoir":
        expected = without_trial_draws(single, stream, chosen["random_state"])
    else:
        expected = single.progressive_scores(stream.X, stream.y, classes=CLASSES)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(pool.support_vectors_[0], single.support_vectors_)
    np.testing.assert_allclose(pool.support_weights_[0], single.support_weights_, rtol=0, atol=1e-12)
    assert pool.kernel_weights_.tolist() == [1.0]


# ---- 8: saving and loading ----


@given(streams(least=2), parameters(), st.floats(0.0, 1.0))
def test_8_saving_loading_and_continuing_equals_never_having_stopped(tmp_path_factory, stream, chosen, moment):
    stop = 1 + int(moment * (len(stream.y) - 2))
    path = tmp_path_factory.mktemp("model") / "koil.model"
    steady, stopped = KOIL(**chosen), KOIL(**chosen)
    for learner in (steady, stopped):
        learner.partial_fit(stream.X[:stop], stream.y[:stop], classes=CLASSES)
    stopped.save(path)
    loaded = lopsided.load(path)
    assert_same_model(steady, loaded)
    for learner in (steady, loaded):
        learner.partial_fit(stream.X[stop:], stream.y[stop:])
    assert_same_model(steady, loaded)
    np.testing.assert_array_equal(loaded.decision_function(stream.X), steady.decision_function(stream.X))


# ---- 9: a batch is a loop ----


@given(streams(most=150), parameters())
def test_9_a_batch_equals_the_loop_of_single_rows_bit_for_bit(stream, chosen):
    batch, rows = learned(stream, chosen), KOIL(**chosen)
    for t in range(len(stream.y)):
        rows.partial_fit(stream.X[t : t + 1], stream.y[t : t + 1], classes=CLASSES)
    assert_same_model(batch, rows)


@given(streams(most=150), parameters())
def test_9_a_batch_equals_the_loop_of_single_examples_bit_for_bit(stream, chosen):
    batch, single = KOIL(**chosen), KOIL(**chosen)
    scores = batch.progressive_scores(stream.X, stream.y, classes=CLASSES)
    single.partial_fit(stream.X[:1], stream.y[:1], classes=CLASSES)
    for t in range(1, len(stream.y)):
        assert single.score_one(stream.X[t]) == pytest.approx(scores[t], rel=0, abs=1e-12)
        single.learn_one(stream.X[t], stream.y[t])
    assert_same_model(batch, single)


@pytest.mark.parametrize("policy", ["reservoir", "fifo", "unbounded"])
def test_9_batches_of_any_size_give_the_same_model(policy):
    rng = np.random.default_rng(1)
    n = 400 if policy == "unbounded" else 5000  # more than are handed to compiled code at a time
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 1.0, 1, -1)
    whole = KOIL(policy=policy, budget=20, random_state=3).partial_fit(X, y)
    for size in (7, 64, 1000):
        parts = KOIL(policy=policy, budget=20, random_state=3)
        for start in range(0, len(y), size):
            parts.partial_fit(X[start : start + size], y[start : start + size], classes=CLASSES)
        assert_same_model(whole, parts)


# ---- Budget, memory, seed ----


@given(streams(most=150), parameters(), BOUNDED)
def test_the_budget_is_never_exceeded_and_memory_never_changes(stream, chosen, policy):
    learner = KOIL(**(chosen | {"policy": policy}))
    learner.partial_fit(stream.X[:1], stream.y[:1], classes=CLASSES)
    size = bytes_of(learner)
    for t in range(1, len(stream.y)):
        learner.learn_one(stream.X[t], stream.y[t])
        assert all(n <= N for n, N in zip(class_counts(learner), chosen["budget"], strict=True))
        assert bytes_of(learner) == size


def test_the_memory_of_an_unbounded_model_grows_and_the_check_sees_it():
    X = np.random.default_rng(0).normal(size=(300, 2))
    learner = KOIL(policy="unbounded").partial_fit(X[:1], [1])
    size = bytes_of(learner)
    learner.partial_fit(X, np.where(X[:, 0] > 0, 1, -1))
    assert bytes_of(learner) > 2 * size


@given(streams(), parameters())
def test_the_same_seed_gives_the_same_model(stream, chosen):
    assert_same_model(learned(stream, chosen), learned(stream, chosen))


def test_another_seed_gives_another_model_and_the_check_sees_it():
    X = np.random.default_rng(0).normal(size=(200, 2))
    one, other = (KOIL(budget=5, random_state=s).fit(X, np.where(X[:, 0] > 0, 1, -1)) for s in (1, 2))
    with pytest.raises(AssertionError):
        assert_same_model(one, other)


# ---- Ties ----


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_of_equal_opposite_points_the_lowest_slots_are_moved(kernel):
    X = np.array([[0.9, 0.1], [0.2, 0.4], [0.2, 0.4], [0.2, 0.4], [0.7, 0.3]])
    learner = KOIL(kernel=kernel, n_neighbors=2, learning_rate=0.1).partial_fit(X[:4], [1, -1, -1, -1])
    _, before = class_weights(learner)
    _, after = class_weights(learner.partial_fit(X[4:], [1]))
    assert before.size == after.size == 3
    np.testing.assert_allclose(after - 0.9 * before, [-0.1, -0.1, 0.0], atol=1e-15)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("leaving", range(3))
def test_of_equal_points_the_lowest_slot_gets_the_weight_that_is_left_over(kernel, leaving):
    twin = [0.2, 0.4]
    negatives = [twin, twin, twin]
    negatives[leaving] = [0.25, 0.4]  # it will leave; its likes are closer to it than the newcomer
    learner = KOIL(kernel=Gaussian(gamma=1.0), n_neighbors=1, learning_rate=0.1, budget=(2, 3), policy="fifo")
    learner.set_params(kernel=kernel).partial_fit([[0.9, 0.1], *negatives], [1, -1, -1, -1])
    learner._support.tally[NEXT] = 0, leaving  # where fifo writes next
    _, before = class_weights(learner)
    _, after = class_weights(learner.partial_fit([[-0.6, 0.05]], [-1]))
    gains = after - 0.9 * before
    receiver = 0 if leaving else 1
    np.testing.assert_allclose(gains[receiver], 0.9 * before[leaving], atol=1e-15)
    np.testing.assert_allclose(np.delete(gains, [leaving, receiver]), 0.0, atol=1e-15)
