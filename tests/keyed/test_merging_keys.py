"""Models for keys as one, against separate learners of each key that `lopsided.merge` makes one of; and who stays."""

import numpy as np
import pytest

import lopsided as lp
from keyed.streams import stream
from lopsided.estimators.base.merging import MergeError

X, KEYS, Y, _ = stream(240)
ROWS = np.column_stack([KEYS, X])
PARTS = [slice(0, 90), slice(90, 140), slice(140, 240)]
LEARNERS = {
    "stacked": lambda: lp.OCS(loss="logistic", learning_rate=0.1, fit_intercept=True),
    "moments": lambda: lp.OPAUC(learning_rate=0.1),
    "columns": lambda: lp.OMCSL(n_costs=3, random_state=0),
    "waves": lambda: lp.FOGD(n_components=8, random_state=0),
    "separate": lambda: lp.KOIL(gamma=1.0, budget=4, random_state=0),
}


def models_of_parts(learner, **options):
    first = lp.KeyedLearner(learner, **options).partial_fit(ROWS[PARTS[0]], Y[PARTS[0]], classes=[0, 1])
    return [first, *(lp.empty_like(first).partial_fit(ROWS[part], Y[part]) for part in PARTS[1:])]


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_key_of_several_models_is_the_merge_of_its_own_learners(kind):
    merged = lp.merge(models_of_parts(LEARNERS[kind](), prior=None))
    assert merged.n_keys_ == np.unique(KEYS).size and merged.n_seen_ == len(Y)
    for key in np.unique(KEYS):
        own = []
        for part in PARTS:
            mine = KEYS[part] == key
            if mine.any():
                own.append(LEARNERS[kind]().partial_fit(X[part][mine], Y[part][mine], classes=[0, 1]))
        rows = np.column_stack([np.full(len(X), key), X])
        np.testing.assert_allclose(merged.raw_scores(rows), lp.merge(own).raw_scores(X), rtol=1e-12, atol=1e-12)


def test_corrections_are_averaged_by_the_rows_of_the_key_on_top_of_the_merged_common_model():
    models = models_of_parts(LEARNERS["stacked"](), prior="global", prior_rows=5.0)
    merged = lp.merge(models)
    common = lp.merge([LEARNERS["stacked"]().partial_fit(X[part], Y[part], classes=[0, 1]) for part in PARTS])
    np.testing.assert_allclose(merged.global_learner_.coef_, common.coef_, rtol=1e-12)
    for key in np.unique(KEYS):
        rows = np.column_stack([np.full(len(X), key), X])
        weights = [np.count_nonzero(KEYS[part] == key) for part in PARTS]
        corrections = []
        for model, n in zip(models, weights, strict=True):
            on_top = model.raw_scores(rows) - model.global_learner_.raw_scores(X)
            corrections.append(on_top / (n / (n + 5.0)) if n else 0.0 * on_top)
        v = sum(n * correction for n, correction in zip(weights, corrections, strict=True)) / sum(weights)
        expected = common.raw_scores(X) + sum(weights) / (sum(weights) + 5.0) * v
        np.testing.assert_allclose(merged.raw_scores(rows), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("prior", [None, "global"])
def test_keys_on_disk_are_merged_like_those_in_memory(kind, prior):
    whole = lp.merge(models_of_parts(LEARNERS[kind](), prior=prior))
    spilled = models_of_parts(LEARNERS[kind](), prior=prior, max_keys=2, spill="temporary")
    merged = lp.merge(spilled)
    assert (merged.n_keys_, merged.n_cold_keys_) == (whole.n_keys_, whole.n_keys_ - 2)
    np.testing.assert_array_equal(merged.raw_scores(ROWS), whole.raw_scores(ROWS))
    loaded = lp.merge([lp.from_bytes(model.to_bytes()) for model in spilled])
    assert loaded.to_bytes() == merged.to_bytes()


def test_keys_with_other_directions_are_refused():
    one, other = (
        lp.KeyedLearner(lp.FOGD(n_components=8, random_state=seed), prior=None).partial_fit(ROWS, Y) for seed in (0, 1)
    )
    with pytest.raises(MergeError, match="must have the same random directions"):
        lp.merge([one, other])


def test_who_was_seen_last_by_any_model_stays():
    def keyed(keys):
        rows = np.column_stack([keys, np.arange(len(keys))])
        return lp.KeyedLearner(lp.OCS(), max_keys=3).partial_fit(rows, np.arange(len(keys)) % 2)

    merged = lp.merge([keyed([1, 2, 3]), keyed([2, 5, 4])])
    assert (merged.n_keys_, merged.n_dropped_) == (3, 2)
    # Seen by how many others later: 3 and 4 by none, 2 and 5 by one. Of equals a code decides, which is a hash.
    hot, _ = merged._room.known_keys()
    again = lp.KeyedLearner(lp.OCS()).partial_fit([[3, 0], [4, 0], [2, 0], [5, 0]], [0, 1, 0, 1])
    codes = again._room.known_keys()[0].codes
    assert set(codes[:2]) <= set(hot.codes) and len(set(codes[2:]) & set(hot.codes)) == 1
