"""What holds of every stream: nothing of the future, no clock but differences, batches as loops, sums that add up."""

import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import lopsided as lp
from lopsided import KeyedHistory

CIRCLES = 4
KEYS = st.one_of(st.none(), st.sampled_from("abcd"), st.integers(0, 3))
ROW = st.tuples(
    KEYS,
    KEYS,
    st.one_of(st.none(), st.integers(0, 10**6)),
    st.one_of(st.none(), st.floats(-1e4, 1e4)),
    st.sampled_from([0, 1, None]),
)
STREAMS = st.lists(ROW, min_size=1, max_size=25)


def table(stream, shift=0, start=0):
    """Columns and labels; the first row of all has a time."""
    keys, others, times, amounts, labels = (list(column) for column in zip(*stream, strict=True))
    times = [None if time is None else time + shift for time in times]
    if times[0] is None:
        times[0] = start + shift
    return {"card": keys, "shop": others, "when": times, "amount": amounts}, labels


def part(columns, rows):
    return {name: cells[rows] for name, cells in columns.items()}


def history(value="amount", slots=64):
    return KeyedHistory(["card", "shop"], "when", value, half_lives=("1h", "7d"), slots=slots)


def same(one, other):
    """Whether two histories remember the same, wherever it stands; and answer the same."""
    probes = {"card": [*"abcd", 0, 1, None], "shop": [3, None, *"dcba", 1], "when": [2e6] * 7, "amount": [1.0] * 7}
    arrays = [by_key(h) for h in (one, other)]
    return np.array_equal(one.transform(probes), other.transform(probes)) and all(
        np.array_equal(arrays[0][name], arrays[1][name]) for name in arrays[0]
    )


def by_key(one):
    """The arrays of a history, its slots in the order of their keys: where a key stands in its set is all the same."""
    arrays = {name.removeprefix("history."): array for name, array in one._arrays().items()}
    order, pairs = np.argsort(arrays["keys"]), np.lexsort((arrays["pair_seen"], arrays["pair_marks"]))
    slots = {name: arrays[name][order] for name in ("keys", "seen", "labelled", "sums", "risks")}
    places = {name: arrays[name][pairs] for name in ("pair_marks", "pair_seen")}
    return slots | places | {name: arrays[name] for name in ("clocks", "tally", "amounts", "missing")}


@given(STREAMS, st.data())
def test_nothing_of_a_row_or_of_what_follows_is_in_the_features_before_it(stream, data):
    """Whatever is changed from row t on, labels included, leaves the features of the rows before as they are."""
    t = data.draw(st.integers(0, len(stream) - 1))
    other = data.draw(st.lists(ROW, min_size=len(stream) - t, max_size=len(stream) - t))
    X, y = table(stream)
    features = history().progressive_features(X, y)
    changed, labels = table(stream[:t] + other)
    again = history().progressive_features(changed, labels)
    assert np.array_equal(features[:t], again[:t])
    if t > 0:  # and of row t itself only what it says: its keys, time and amount, not its label
        y[t] = {0: 1, 1: None, None: 0}[y[t]]
        assert np.array_equal(history().progressive_features(X, y)[: t + 1], features[: t + 1])


@given(STREAMS, st.data())
def test_a_label_counts_when_it_arrives_and_not_before(stream, data):
    """Rows between a row and the arrival of its label have the features they would have without any label."""
    X, y = table(stream)
    signs = [0 if label is None else label for label in y]
    arrives = data.draw(st.integers(1, len(stream)))
    late, never = history(), history()
    first, tokens = late.observe(part(X, slice(0, arrives)))
    assert np.array_equal(first, never.observe(part(X, slice(0, arrives))).features)
    late.learn_labels(tokens, signs[:arrives])
    if arrives < len(stream):
        rest = part(X, slice(arrives, None))
        found, unlabelled = late.observe(rest).features, never.observe(rest).features
        risks = np.array([".risk_" in name for name in late.get_feature_names_out()])
        assert np.array_equal(found[:, ~risks], unlabelled[:, ~risks])
        assert np.abs(unlabelled[:, risks]).max(initial=0.0) < 1e-15


@given(STREAMS, st.integers(-(10**9), 10**9))
def test_shifting_all_times_changes_nothing_but_the_circles(stream, shift):
    X, y = table(stream)
    shifted, _ = table(stream, shift=shift)
    features, moved = history().progressive_features(X, y), history().progressive_features(shifted, y)
    assert np.array_equal(features[:, :-CIRCLES], moved[:, :-CIRCLES])


@given(STREAMS, st.data())
def test_a_batch_is_the_loop_of_its_rows_and_a_file_goes_on_as_if_never_stopped(stream, data):
    X, y = table(stream)
    whole = history()
    features = whole.progressive_features(X, y)
    stop = data.draw(st.integers(1, len(stream)))
    rows, found = history(), []
    for t in range(len(stream)):
        if t == stop:
            rows = lp.from_bytes(rows.to_bytes())
        found.append(rows.progressive_features(part(X, slice(t, t + 1)), y[t : t + 1]))
    assert np.array_equal(features, np.concatenate(found))
    assert whole.to_bytes() == rows.to_bytes() == lp.from_bytes(rows.to_bytes()).to_bytes()


@given(STREAMS)
def test_reading_changes_nothing_and_each_row_is_read_as_if_it_were_the_next(stream):
    X, y = table(stream)
    one = history().partial_fit(X, y)
    before, features = one.to_bytes(), one.transform(X)
    order = np.arange(len(stream))[::-1]
    backwards = {name: [cells[t] for t in order] for name, cells in X.items()}
    assert np.array_equal(one.transform(backwards)[order], features)
    assert one.to_bytes() == before


@given(STREAMS, STREAMS)
def test_merging_is_commutative_and_an_empty_history_changes_nothing(first, second):
    (X, y), (Z, w) = table(first), table(second)
    for slots in (64, 8):  # with and without room for all keys
        one, other = (quiet(history(slots=slots), *rows) for rows in ((X, y), (Z, w)))
        before = one.to_bytes()
        assert same(absorbed(one, other), absorbed(other, one))
        empty = quiet(history(slots=slots), part(X, slice(0, 0)), [])
        assert absorbed(one, empty).to_bytes() == before == one.to_bytes()
        assert same(absorbed(empty, one), one)


@given(STREAMS, STREAMS)
def test_merged_parts_of_a_stream_are_one_history_of_both(first, second):
    """Two parts by key, in time order: sums, risks and what is asked of them agree with one history of everything."""
    stream = sorted([(*row[:2], row[2] or 0, row[3] or 0.0, row[4]) for row in first + second], key=lambda row: row[2])
    X, y = table(stream)
    whole = history().partial_fit(X, y)
    halves = []
    for parity in (0, 1):
        rows = [t for t in range(len(stream)) if t % 2 == parity]
        halves.append(history().partial_fit(*(({n: [c[t] for t in rows] for n, c in X.items()}), [y[t] for t in rows])))
    merged = absorbed(*halves)
    probes = {"card": list("abcd"), "shop": [0, 1, 2, 3], "when": [2e6] * 4, "amount": [1.0] * 4}
    assert np.allclose(merged.transform(probes), whole.transform(probes), rtol=1e-9, atol=1e-6)
    assert merged.n_seen_ == whole.n_seen_


@given(STREAMS, st.randoms())
def test_labels_may_arrive_in_any_order(stream, random):
    X, y = table(stream)
    signs = np.array([0 if label is None else label for label in y])
    one, other = history(), history()
    tokens = one.observe(X).tokens
    assert np.array_equal(tokens, other.observe(X).tokens)
    order = list(range(len(stream)))
    random.shuffle(order)
    one.learn_labels(tokens, signs)
    for t in order:
        other.learn_labels(tokens[t : t + 1], signs[t : t + 1])
    assert np.allclose(one.transform(X), other.transform(X), rtol=1e-9, atol=0)


def absorbed(one, other):
    return quiet(lp.from_bytes(one.to_bytes()), other=other)


def quiet(one, X=None, y=None, other=None):
    """A history after more rows, or after another; that it is full is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lp.HistoryWarning)
        return one.partial_fit(X, y) if other is None else one.absorb(other)
