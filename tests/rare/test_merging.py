"""Learners for rare events that learn parts of a stream apart and then become one."""

import numpy as np
import pytest

import lopsided as lp
from lopsided.datasets import xor
from lopsided.metrics import auroc

STREAM, UNSEEN = xor(2_400, rare=0.1, random_state=1), xor(1_000, rare=0.1, random_state=2)
LEARNERS = {
    "RareEventClassifier": lambda seed=0: lp.RareEventClassifier(sample_size=200, n_components=40, random_state=seed),
    "BoostedSample": lambda seed=0: lp.BoostedSample(sample_size=400, n_trees=20, random_state=seed),
}
each_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)


def shards(model, n):
    """Siblings of a model that have learned a part of the rest of the stream each."""
    parts = np.array_split(np.arange(400, STREAM.y.size), n)
    return [model.sibling().partial_fit(STREAM.X[own], STREAM.y[own], classes=[0, 1]) for own in parts]


@each_learner
def test_an_empty_sibling_changes_nothing_and_scores_0(make):
    model = make().fit(STREAM.X[:400], STREAM.y[:400])
    before, empty = model.raw_scores(UNSEEN.X), model.sibling()
    assert (empty.raw_scores(UNSEEN.X) == 0.0).all() and empty.n_seen_ == 0
    np.testing.assert_array_equal(model.absorb(empty).raw_scores(UNSEEN.X), before)


@each_learner
def test_the_order_of_absorbing_matters_by_rounding_only(make):
    one = make().fit(STREAM.X[:400], STREAM.y[:400])
    other = make().fit(STREAM.X[:400], STREAM.y[:400])
    first, second = shards(one, 2)
    kept = second.raw_scores(UNSEEN.X)
    scores = [
        one.absorb(first).absorb(second).raw_scores(UNSEEN.X),
        other.absorb(second).absorb(first).raw_scores(UNSEEN.X),
    ]
    np.testing.assert_allclose(*scores, atol=1e-4)
    np.testing.assert_array_equal(second.raw_scores(UNSEEN.X), kept)
    assert one.n_seen_ == STREAM.y.size and one.n_positives_seen_ == STREAM.y.sum()


@each_learner
def test_four_shards_rank_as_well_as_one_run(make):
    alone, merged = make().fit(STREAM.X, STREAM.y), make().fit(STREAM.X[:400], STREAM.y[:400])
    for shard in shards(merged, 4):
        merged.absorb(shard)
    areas = [auroc(UNSEEN.y, model.raw_scores(UNSEEN.X)) for model in (alone, merged)]
    assert areas[1] > areas[0] - 0.01
    positives, negatives = merged.sampled_rows_
    assert (positives == -1).any() and positives.size <= 200 and negatives.size <= 200
    merged.partial_fit(UNSEEN.X, UNSEEN.y)  # and it goes on
    assert merged.n_seen_ == STREAM.y.size + UNSEEN.y.size


def test_a_model_with_other_directions_gives_its_sample():
    make = LEARNERS["RareEventClassifier"]
    alone, merged = make(1).fit(STREAM.X[:800], STREAM.y[:800]), make(1).fit(STREAM.X[:800], STREAM.y[:800])
    merged.absorb(make(2).fit(STREAM.X[800:], STREAM.y[800:]))
    areas = [auroc(UNSEEN.y, model.raw_scores(UNSEEN.X)) for model in (alone, merged)]
    assert areas[1] > areas[0] - 0.01
    assert merged.n_seen_ == STREAM.y.size


def test_two_siblings_draw_apart():
    model = LEARNERS["BoostedSample"]().fit(STREAM.X[:400], STREAM.y[:400])
    first, second = (model.sibling().partial_fit(STREAM.X, STREAM.y).sampled_rows_[1] for _ in range(2))
    assert first.tolist() != second.tolist()


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (lambda: lp.OPAUC().fit(STREAM.X, STREAM.y), "must be a RareEventClassifier. Got OPAUC"),
        (lambda: LEARNERS["RareEventClassifier"]().fit(STREAM.X, STREAM.y + 1), "must have the same labels"),
        (
            lambda: LEARNERS["RareEventClassifier"]().set_params(forget="never").fit(STREAM.X, STREAM.y),
            "must have the same forget",
        ),
    ],
)
def test_what_does_not_fit_is_refused(other, words):
    model = LEARNERS["RareEventClassifier"]().fit(STREAM.X[:400], STREAM.y[:400])
    before = model.raw_scores(UNSEEN.X)
    with pytest.raises(ValueError, match=words):
        model.absorb(other())
    np.testing.assert_array_equal(model.raw_scores(UNSEEN.X), before)


def test_a_model_needs_a_scale_before_it_has_siblings():
    young = LEARNERS["RareEventClassifier"]().fit(STREAM.X[:100], STREAM.y[:100])
    with pytest.raises(ValueError, match="must have seen at least 200 rows, which fix the scale"):
        young.sibling()
