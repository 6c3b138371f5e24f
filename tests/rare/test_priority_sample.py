"""PrioritySample against sorting everything, and what holds whatever the stream is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lopsided import PrioritySample
from oracles import priority_sampling as naive

seeds = st.integers(0, 2**32 - 1)


def stream(n, seed):
    """Rows that know their own number, weights, importances of several sizes."""
    rng = np.random.default_rng(seed)
    rows = np.column_stack([np.arange(n), rng.normal(size=n)])
    return rows, rng.uniform(0.5, 2.0, n), np.exp(rng.normal(0.0, 1.5, n))


def both(n, size, fade, seed):
    """The same rows in the sample of the package and in that of the oracle."""
    rows, weights, importances = stream(n, seed)
    sample = PrioritySample(size, fade=fade, random_state=seed)
    sample.add(rows, weight=weights, importance=importances)
    expected = naive.PrioritySample(size, fade)
    for row in zip(rows, weights, importances, np.random.default_rng(seed).random(n), strict=True):
        expected.offer(*row)
    return sample, expected


def counts_of(sample):
    """Counts by the number that stands in the row itself."""
    return dict(zip(sample.rows[:, 0].astype(int).tolist(), sample.counts.tolist(), strict=True))


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    assert all(found[number] == pytest.approx(count, rel=1e-9) for number, count in expected.items())


@given(seed=seeds, n=st.integers(0, 150), size=st.integers(1, 40), fade=st.sampled_from([1.0, 0.999, 0.9, 0.2]))
def test_the_sample_is_what_sorting_all_priorities_gives(seed, n, size, fade):
    sample, expected = both(n, size, fade, seed)
    assert sample.n_seen == n and sample.n_rows == min(n, size)
    assert_same(counts_of(sample), expected.counts())
    assert sample.numbers.tolist() == sample.rows[:, 0].astype(int).tolist()


def test_fading_goes_on_when_numbers_are_rescaled():
    """0.2^-150 is beyond the largest mass that is let grow: all masses are divided, and counts stay what they are."""
    sample, expected = both(1_000, 5, 0.2, 3)
    assert_same(counts_of(sample), expected.counts())


@given(seed=seeds, cuts=st.lists(st.integers(0, 120), max_size=3))
def test_portions_make_no_difference(seed, cuts):
    rows, weights, importances = stream(120, seed)
    whole = PrioritySample(20, fade=0.97, random_state=1).add(rows, weight=weights, importance=importances)
    parts = PrioritySample(20, fade=0.97, random_state=1)
    for part in np.split(np.arange(120), sorted(cuts)):
        parts.add(rows[part], weight=weights[part], importance=importances[part])
    assert np.array_equal(parts.rows, whole.rows) and np.array_equal(parts.counts, whole.counts)


@pytest.mark.parametrize("fade", [1.0, 0.97])
def test_sums_are_right_on_average(fade):
    """For importances that have nothing to do with what is summed up."""
    n, repeats = 60, 1_500
    rows, weights, importances = stream(n, 5)
    values = np.column_stack([np.ones(n), rows[:, 1], rows[:, 0] > 40])
    truth = (weights * fade ** np.arange(n - 1.0, -1.0, -1.0)) @ values
    found = np.empty((repeats, 3))
    for seed in range(repeats):
        sample = PrioritySample(8, fade=fade, random_state=seed).add(rows, weight=weights, importance=importances)
        found[seed] = sample.counts @ values[sample.numbers]
    errors = found.std(axis=0) / np.sqrt(repeats)
    assert (np.abs(found.mean(axis=0) - truth) < 4 * errors).all()
    assert (errors > 0).all()


def test_important_rows_stay_and_weight_and_importance_count_alike_in_the_choice():
    rows, factor = np.arange(400.0)[:, None], np.where(np.arange(400) % 20 == 0, 50.0, 1.0)
    by_weight = PrioritySample(30, random_state=0).add(rows, weight=factor)
    by_importance = PrioritySample(30, random_state=0).add(rows, importance=factor)
    assert np.array_equal(by_weight.numbers, by_importance.numbers)
    assert (by_importance.numbers % 20 == 0).sum() >= 15
    thinned = by_importance.numbers % 20 != 0
    assert by_importance.counts[thinned].min() == by_importance.counts[thinned].max() > 1.0
    # What was chosen for its weight stands for that weight at the least.
    assert by_weight.counts[by_weight.numbers % 20 == 0].min() >= 50.0


# ---------------------------------------------------------------- bounds


@given(seed=seeds, size=st.integers(1, 20))
def test_never_more_rows_than_allowed_and_tau_never_falls(seed, size):
    rows, weights, importances = stream(80, seed)
    sample, tau = PrioritySample(size, random_state=seed), 0.0
    for t in range(80):
        sample.add(rows[t : t + 1], weight=weights[t], importance=importances[t])
        assert sample.n_rows <= size
        # A count is max(m, tau / w): the rows whose count is not their weight show tau.
        shown = sample.counts * importances[sample.numbers]
        shown = shown[sample.counts > weights[sample.numbers] * (1 + 1e-12)]
        if shown.size:
            assert np.ptp(shown) <= 1e-9 * shown.max() and shown.max() >= tau * (1 - 1e-12)
            tau = shown.max()


# ---------------------------------------------------------------- merging


def elsewhere(n, size, fade, seed):
    """A second stream whose numbers begin at 1,000,000."""
    rows, weights, importances = stream(n, seed)
    rows[:, 0] += 1_000_000
    sample = PrioritySample(size, fade=fade, random_state=seed)
    sample.add(rows, weight=weights, importance=importances)
    return sample


@given(
    seed=seeds,
    sizes=st.tuples(st.integers(0, 90), st.integers(0, 90)),
    size=st.integers(1, 30),
    fade=st.sampled_from([1.0, 0.95]),
)
def test_a_merged_sample_is_that_of_both_streams(seed, sizes, size, fade):
    (_, one), (_, two) = (both(n, size, fade, seed + i) for i, n in enumerate(sizes))
    expected = one.merged(two)
    for turned in (False, True):
        first, _ = both(sizes[0], size, fade, seed)
        second = elsewhere(sizes[1], size, fade, seed + 1)
        merged = second.merge(first) if turned else first.merge(second)
        assert merged.n_seen == sum(sizes) and merged.n_rows == min(sum(sizes), size)
        assert_same(counts_of(merged), expected.counts())


@given(seed=seeds, fade=st.sampled_from([1.0, 0.9]))
def test_the_order_of_three_makes_no_difference_and_the_others_stay_as_they_are(seed, fade):
    def parts():
        return [both(n, 15, fade, seed + n)[0] for n in (10, 40, 70)]

    results = []
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        a, b, c = (parts()[i] for i in order)
        before = b.rows, b.counts
        merged = a.merge(b).merge(c)
        assert np.array_equal(b.rows, before[0]) and np.array_equal(b.counts, before[1])
        results.append(sorted(zip(merged.rows[:, 1].tolist(), merged.counts.tolist(), strict=True)))
    a, b, c = parts()
    merged = a.merge(b.merge(c))
    results.append(sorted(zip(merged.rows[:, 1].tolist(), merged.counts.tolist(), strict=True)))
    for result in results[1:]:
        assert np.allclose(result, results[0], rtol=1e-9)


def test_merging_with_nothing_changes_nothing():
    for fade in (1.0, 0.9):
        sample, _ = both(60, 20, fade, 1)
        rows, counts = sample.rows, sample.counts
        sample.merge(PrioritySample(20))
        sample.merge(PrioritySample(20).add(np.zeros((0, 2))))
        assert np.array_equal(sample.rows, rows) and np.allclose(sample.counts, counts, rtol=1e-12)
        taken = PrioritySample(20).merge(sample)
        assert_same(counts_of(taken), counts_of(sample))


def test_a_smaller_sample_thins_a_larger_one_as_it_thinned_its_own():
    """What a sample of 5 turned away can no longer be chosen: rows of lesser priority must go, too."""
    repeats, n = 1_500, 30
    rows, weights, importances = stream(n, 2)
    found = np.empty(repeats)
    for seed in range(repeats):
        large = PrioritySample(20, random_state=seed).add(rows, weight=weights, importance=importances)
        small = PrioritySample(5, random_state=10_000 + seed).add(rows, weight=weights, importance=importances)
        found[seed] = large.merge(small).counts.sum()
    assert abs(found.mean() - 2 * weights.sum()) < 4 * found.std() / np.sqrt(repeats)


def test_a_merged_sample_goes_on():
    """After the merge of streams that are of the same age it is as if one had been both."""
    first, one = both(40, 10, 0.95, 3)
    second, two = elsewhere(40, 10, 0.95, 4), both(40, 10, 0.95, 4)[1]
    merged, expected = first.merge(second), one.merged(two)
    rows, weights, importances = stream(30, 9)
    rows[:, 0] += 5_000
    # The first sample goes on drawing where it was.
    uniforms = np.random.default_rng(3).random(70)[40:]
    merged.add(rows, weight=weights, importance=importances)
    for x, m, w, u in zip(rows, weights, importances, uniforms, strict=True):
        expected.offer(x, m, w, u, number=int(x[0]))
    assert_same(counts_of(merged), expected.counts())


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"X": np.zeros(3)}, r"must be 2-d with 2 features. Got \(3,\)"),
        ({"X": np.zeros((2, 3))}, r"must be 2-d with 2 features. Got \(2, 3\)"),
        ({"weight": 0.0}, r"The weight of a row .* must be > 0 and finite. Got 0.0"),
        ({"importance": [1.0, np.nan]}, "The importance of a row .* must be > 0 and finite"),
        ({"weight": [1.0, 1.0, 1.0]}, "The weight .* must be one number or one a row, 2. Got 3"),
    ],
    ids=str,
)
def test_bad_rows_change_nothing(change, sentence):
    sample, _ = both(10, 5, 1.0, 0)
    rows, counts = sample.rows, sample.counts
    given = {"X": np.zeros((2, 2)), "weight": 1.0, "importance": 1.0} | change
    with pytest.raises(ValueError, match=sentence):
        sample.add(given.pop("X"), **given)
    assert sample.n_seen == 10 and np.array_equal(sample.rows, rows) and np.array_equal(sample.counts, counts)


def test_what_cannot_be_merged_gets_a_sentence():
    sample, _ = both(10, 5, 1.0, 0)
    with pytest.raises(ValueError, match=r"must be a PrioritySample\. Got list"):
        sample.merge([1])
    with pytest.raises(ValueError, match=r"must have 2 features\. Got 3"):
        sample.merge(PrioritySample(5).add(np.zeros((2, 3))))
    with pytest.raises(ValueError, match="must be another one"):
        sample.merge(sample)
    assert sample.n_rows == 5 and sample.n_seen == 10
