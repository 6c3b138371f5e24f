"""Naive transcription of boosted trees on a weighted sample: every distinct value is tried, nothing is kept up to date.

A tree is a nested dictionary: {"value": v} is a leaf, {"feature", "threshold", "left", "right", "value"} an inner node.
A missing value (NaN) counts as smaller than any number, so it goes left everywhere.
"""

import math
from itertools import pairwise

import numpy as np

from oracles.priority_sampling import Slots

BELOW_ALL = -1e308


def thresholds_of(column, n_bins):
    """Half-way between neighbours if every distinct value can have a bin; else values at equal steps of the ranks."""
    known = sorted(value for value in column if not math.isnan(value))
    distinct = sorted(set(known))
    if len(distinct) <= n_bins:
        middles = [(0.5 * low + 0.5 * high, low, high) for low, high in pairwise(distinct)]
        return [middle if middle < high else low for middle, low, high in middles]
    chosen = {known[i * (len(known) - 1) // n_bins] for i in range(1, n_bins)}
    return sorted(value for value in chosen if value < known[-1])


def goes_left(values, threshold):
    return np.isnan(values) | (values <= threshold)


def class_weights(positive_counts, negative_counts):
    """Positives 1 on average; negatives together r times as much as they, r = min(n- / n+, n+^(1/3)) but 1 or more."""
    n_positive, n_negative = sum(positive_counts), sum(negative_counts)
    r = min(n_negative / n_positive, max(1.0, n_positive ** (1 / 3)))
    total = len(positive_counts)
    positives = np.array(positive_counts) * total / n_positive
    return positives, np.array(negative_counts) * r * total / n_negative


class Booster:
    """100 trees by default, for the logistic loss, by Newton's gain, leaf by leaf."""

    def __init__(self, n_trees=100, n_leaves=16, rate=0.1, ridge=1.0, least_rows=5):
        self.n_trees, self.n_leaves, self.rate, self.ridge, self.least_rows = n_trees, n_leaves, rate, ridge, least_rows
        self.level, self.trees = 0.0, []

    def fit(self, X, labels, weights, n_bins, chosen=None):
        """Labels are 0 and 1. `chosen`, a list of lists of (feature, threshold), decides among splits of equal gain."""
        chosen = chosen() if callable(chosen) else chosen
        X, labels, weights = np.asarray(X, float), np.asarray(labels, float), np.asarray(weights, float)
        share = weights[labels == 1].sum() / weights.sum()
        self.level, self.trees = math.log(share / (1 - share)), []
        thresholds = [[BELOW_ALL, *thresholds_of(column, n_bins)] for column in X.T]
        scores = np.full(len(X), self.level)
        for t in range(self.n_trees):
            p = 1 / (1 + np.exp(-scores))
            g, h = weights * (p - labels), weights * p * (1 - p)
            tree = self.grow(X, g, h, thresholds, None if chosen is None else chosen[t])
            self.trees.append(tree)
            scores = scores + np.array([value_of(tree, x) for x in X])
        return self

    def score(self, x):
        return self.level + sum(value_of(tree, x) for tree in self.trees)

    def leaf(self, g, h, rows):
        return {"value": -self.rate * g[rows].sum() / (h[rows].sum() + self.ridge), "rows": rows}

    def splits(self, X, g, h, thresholds, leaf):
        """(gain, feature, threshold) of all allowed splits of a leaf, in the order of features and thresholds."""
        rows = leaf["rows"]
        G, H = g[rows].sum(), h[rows].sum()
        for feature in range(X.shape[1]):
            # A column per threshold says which rows would go left.
            left = goes_left(X[rows, feature][:, None], np.array(thresholds[feature])[None])
            counts, gradients, curvatures = left.sum(axis=0), g[rows] @ left, h[rows] @ left
            for k, threshold in enumerate(thresholds[feature]):
                others = len(rows) - counts[k]
                same_as_before = k > 0 and counts[k] == counts[k - 1]
                if min(counts[k], others) < self.least_rows or same_as_before:
                    continue
                gl, hl = gradients[k], curvatures[k]
                gain = gl**2 / (hl + self.ridge) + (G - gl) ** 2 / (H - hl + self.ridge) - G**2 / (H + self.ridge)
                yield gain, feature, threshold

    def grow(self, X, g, h, thresholds, chosen):
        tree = self.leaf(g, h, np.arange(len(X)))
        leaves, done = [tree], 0
        candidates = [list(self.splits(X, g, h, thresholds, tree))]
        while len(leaves) < self.n_leaves:
            every = [(gain, i, j, c) for i, found in enumerate(candidates) for gain, j, c in found if gain > 1e-9]
            if not every:
                break
            best = max(gain for gain, *_ in every)
            tied = [split for split in every if split[0] >= best * (1 - 1e-9) - 1e-15]
            _, i, feature, threshold = tied[0]
            if chosen is not None and len(tied) > 1:
                # What gains the same but for rounding: the other one's choice, if it is among them.
                _, i, feature, threshold = next(s for s in tied if s[1:] == chosen[done])
            leaf = leaves[i]
            rows = leaf.pop("rows")
            left = goes_left(X[rows, feature], threshold)
            leaf.update(feature=feature, threshold=threshold)
            leaf["left"], leaf["right"] = self.leaf(g, h, rows[left]), self.leaf(g, h, rows[~left])
            leaves[i] = leaf["left"]
            leaves.append(leaf["right"])
            candidates[i] = list(self.splits(X, g, h, thresholds, leaf["left"]))
            candidates.append(list(self.splits(X, g, h, thresholds, leaf["right"])))
            done += 1
        return tree


def value_of(tree, x):
    """The value of the leaf that a row ends in."""
    while "feature" in tree:
        value = x[tree["feature"]]
        tree = tree["left" if math.isnan(value) or value <= tree["threshold"] else "right"]
    return tree["value"]


def splits_in_order(features, thresholds, left):
    """The splits of a tree in arrays as (number of the leaf, feature, threshold), in the order in which they were made.

    Children of the k-th split stand at nodes 2k + 1 and 2k + 2; the left one keeps the number of the leaf that was
    split, the right one gets the next free number.
    """
    made = sorted((int(left[node]), node) for node in range(len(features)) if features[node] >= 0)
    number, order = {0: 0}, []
    for free, (child, node) in enumerate(made, 1):
        order.append((number[node], int(features[node]), float(thresholds[node])))
        number[child], number[child + 1] = number[node], free
    return order


class TreesOnASample:
    """The sample by class, and when trees are fitted to it: BoostedSample, and a part of the rare-event learner."""

    def __init__(self, half, trees_at_once=10**9, **options):
        self.positives, self.negatives = Slots(half), Slots(half)
        self.most_rows, self.trees_at_once, self.options = 2 * half, trees_at_once, options
        self.booster = Booster(**options)  # none fitted: its score is 0
        self.next_fit, self.snapshot, self.grown = 50, None, 0

    def score(self, x):
        return self.booster.score(x)

    def offer(self, x, y, weight, score, u, number):
        """A positive has importance 1, a negative that of what the trees take it for."""
        if y > 0:
            self.positives.offer(x, weight, 1.0, u, number)
            return
        importance = max(1 / (1 + math.exp(-score)), 0.01) if self.booster.trees else 1.0
        self.negatives.offer(x, weight, importance, u, number)

    def beat(self, seen, hint=None):
        """Begin a fit if it is due, and grow some trees; they answer when all are there."""
        if self.snapshot is None:
            if seen < self.next_fit or min(len(self.positives.kept), len(self.negatives.kept)) < 2:
                return
            self.set_next(seen)
            self.snapshot, self.grown = self.data(), 0
        self.grown += self.trees_at_once
        if self.grown >= self.booster.n_trees:
            self.booster = Booster(**self.options).fit(*self.snapshot, hint)
            self.snapshot = None

    def fit_now(self, seen, hint=None):
        """After the samples were replaced."""
        self.set_next(seen)
        self.snapshot = None
        self.booster = Booster(**self.options)
        if min(len(self.positives.kept), len(self.negatives.kept)) >= 2:
            self.booster.fit(*self.data(), hint)

    def set_next(self, seen):
        self.next_fit = seen + int(min(self.most_rows // 2, max(50, 0.4 * seen)))

    def data(self):
        rows = np.array([row.x for sample in (self.positives, self.negatives) for row in sample.kept])
        labels = [1] * len(self.positives.kept) + [0] * len(self.negatives.kept)
        weights = np.concatenate(class_weights(self.positives.counts(), self.negatives.counts()))
        return rows, labels, weights, min(255, max(32, len(rows) // 16))


class BoostedSample(TreesOnASample):
    """One row at a time: scored, sampled, and trees every 50 rows if they are due."""

    def __init__(self, sample_size, seed, trees_at_once=10**9, **options):
        super().__init__(sample_size // 2, trees_at_once, **options)
        self.rng, self.seen = np.random.default_rng(seed), 0

    def step(self, x, y, weight=1.0, hint=None):
        score = self.score(x)
        self.offer(x, y, weight, score, self.rng.random(), self.seen)
        self.seen += 1
        if self.seen % (50 if self.seen < 5000 else 250) == 0:
            self.beat(self.seen, hint)
        return score
