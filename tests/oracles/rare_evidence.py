"""Naive transcription of what RareEventClassifier decides by: achievements, log-odds, drift; and of its linear part.

Labels are -1/+1, x is a 1-d array, NaN is a missing value.
"""

import math

import numpy as np


def sigmoid(score):
    return 1 / (1 + np.exp(-score))


class Mixture:
    """p ~ prior exp((base + each n+) M), M = (1 - area) AP + area AUROC so far.

    M is worked out from counts in 2,000 bins of -1.5 to 1.5.
    """

    def __init__(self, prior, base, area, most, each=1):
        self.prior, self.base, self.area, self.most, self.each = np.array(prior, float), base, area, most, each
        self.forget()

    def forget(self):
        self.seen = [(np.zeros(2000), np.zeros(2000)) for _ in self.prior]  # by variant: positives, negatives
        self.shares, self.positives, self.since = self.prior / self.prior.sum(), 0.0, 0

    def note(self, y, weight, scores):
        for (positives, negatives), score in zip(self.seen, scores, strict=True):
            key = min(max(math.floor((score + 1.5) / 3.0 * 2000), 0), 1999)
            (positives if y > 0 else negatives)[key] += weight
        self.since += 1
        self.positives += y > 0
        if (y > 0 and self.positives <= 100) or self.since >= 1000:
            self.since = 0
            measures = np.array([self.measure(*counts) for counts in self.seen])
            e = self.prior * np.exp((self.base + self.each * self.positives) * (measures - measures.max()))
            self.shares = e / e.sum()
            if self.positives >= self.most:
                self.positives /= 2
                self.seen = [(positives / 2, negatives / 2) for positives, negatives in self.seen]

    def measure(self, positives, negatives):
        return (1 - self.area) * average_precision(positives, negatives) + self.area * area(positives, negatives)


def average_precision(positives, negatives):
    """From the best bin down; in a bin positives and negatives come in turns."""
    p, n = positives[::-1], negatives[::-1]
    true, false = np.cumsum(p) - p, np.cumsum(n) - n
    middle = true + (p + 1) / 2
    precision = np.where(p > 0, middle / (middle + false + n / 2), 0.0)
    return float(p @ precision) / p.sum() if p.sum() > 0 else 0.0


def area(positives, negatives):
    """The share of pairs in the right order, ties counting half."""
    if positives.sum() == 0 or negatives.sum() == 0:
        return 0.5
    below = np.cumsum(negatives) - negatives
    return float(positives @ (below + negatives / 2)) / (positives.sum() * negatives.sum())


class Line:
    """Log-odds a s + c of a score, less those of the stream: Newton steps, faded, held to a = 8 and c = 0."""

    def __init__(self):
        self.line, self.start, self.ridge = np.array([8.0, 0.0]), np.array([8.0, 0.0]), np.diag([3.0, 10.0])
        self.curvature = self.ridge.copy()

    def worth(self, score):
        return float(self.line @ [score, 1.0]) / 8

    def learn(self, score, y, weight, positives, negatives, rows):
        s = np.array([score, 1.0])
        chance = sigmoid(math.log(positives / negatives) + self.line @ s)
        fade = min(positives / (positives + negatives) / 30, 10 / rows, 0.01)
        self.curvature = (1 - fade) * self.curvature + weight * chance * (1 - chance) * np.outer(s, s)
        self.curvature += fade * self.ridge
        slope = weight * (chance - (y > 0)) * s + fade * self.ridge @ (self.line - self.start)
        self.line = self.line - np.linalg.solve(self.curvature, slope)
        self.line[0] = max(self.line[0], 0.0)


class Linear:
    """Logistic regression by AdaGrad on features less their means, by their deviations, of all values so far."""

    def __init__(self, n_features):
        self.weights, self.squares = np.zeros(n_features + 1), np.zeros(n_features + 1)
        self.seen = np.zeros((0, n_features))

    def standardised(self, x):
        known = ~np.isnan(self.seen)
        n = np.maximum(known.sum(axis=0), 1)
        means = np.where(known, self.seen, 0.0).sum(axis=0) / n
        sds = np.sqrt((np.where(known, self.seen - means, 0.0) ** 2).sum(axis=0) / n)
        s = np.where(np.isnan(x) | (sds == 0), 0.0, (np.nan_to_num(x) - means) / np.where(sds > 0, sds, 1.0))
        return np.append(np.clip(s, -10, 10), 1.0)

    def score(self, x):
        return float(self.weights @ self.standardised(x))

    def learn(self, x, y, weight, positives, negatives):
        self.seen = np.vstack([self.seen, x])
        s = self.standardised(x)
        gradient = weight * (sigmoid(math.log(positives / negatives) + self.weights @ s) - (y > 0)) * s
        self.squares += gradient**2
        moves = gradient != 0
        self.weights[moves] -= 0.1 * gradient[moves] / np.sqrt(self.squares[moves])


class Gate:
    """C <- clip(C + e (d - 0.01), 0, h) at every positive; d by the ranks among the last 500 negatives.

    D <- clip(D + e (min((mean m - m) / sd, 1.5) - 0.25), 0, 10) for the blend's own m; from D = 5 until D < 1 is an
    alert. e is 1 for a positive that stands alone, and less for one that comes soon after another. C above h / 4 that
    comes back below h / 20 was a false alarm: after each, f_s counts a quarter of what it would, at least a twentieth,
    and h is half as large again, at most eight times as large. G adds up e (d - mean d / 2) since D was 0; on an alert
    it speaks for f_s, in proportion to D from 3 to 7.
    """

    def __init__(self):
        self.negatives, self.evidence, self.limit = [], 0.0, 1.5
        self.gains = self.squares = self.compared = self.regained = 0.0
        self.of_young_trees, self.for_young = [], 0.0
        self.is_raised, self.false_alarms = False, 0
        self.calm_down()

    def calm_down(self):
        self.merits, self.times, self.decline, self.alert, self.next_fit = [], [], 0.0, 0, 0.0

    @property
    def share(self):
        trust = 1.0 if self.alert else max(0.25**self.false_alarms, 0.05)
        clear = float(np.clip(2 * self.regained, 0, 1) * np.clip((self.decline - 3) / 4, 0, 1)) if self.alert else 0.0
        return 0.7 * trust * float(sigmoid(12 * self.evidence / self.limit - 4 + 6 * clear))

    @property
    def is_decided(self):
        return self.evidence >= self.limit or self.for_young >= 2

    @property
    def wants_young(self):
        return self.alert > 0 and self.decline >= 5 and self.alert >= self.next_fit

    def merit(self, others, score, ratio):
        others = np.array(others)
        above = ((others > score + 1e-9).sum() + (np.abs(others - score) <= 1e-9).sum() / 2) / len(others)
        return (1 - above) / 2 + 0.5 / (1 + above * ratio)

    def compare(self, y, blend, long, short, young, ratio, e):
        if y < 0:
            self.negatives = [*self.negatives, (blend, long, short)][-500:]
            if young is not None:
                self.of_young_trees = [*self.of_young_trees, young][-500:]
            return
        if len(self.negatives) < 20:
            return
        m = [self.merit(mine, given, ratio)
             for mine, given in zip(zip(*self.negatives, strict=True), (blend, long, short), strict=True)]  # fmt: skip
        if young is not None and len(self.of_young_trees) >= 20:
            gain = self.merit(self.of_young_trees, young, ratio) - m[0]
            self.for_young = max(0.0, self.for_young + e * (gain - 0.05))
        d = m[2] - max(m[:2])
        self.gains, self.squares, self.compared = self.gains + d, self.squares + d * d, self.compared + 1
        self.regained = self.regained + e * (d - self.gains / self.compared / 2) if self.decline > 0 else 0.0
        if self.compared >= 20:
            mean, square = self.gains / self.compared, self.squares / self.compared
            self.limit = max(1.5, 0.8 * (square - mean**2) / (0.01 - min(mean, 0.0))) * min(1.5**self.false_alarms, 8)
        self.evidence = min(max(self.evidence + e * (d - 0.01), 0.0), self.limit)
        if self.is_raised and self.evidence < 0.05 * self.limit:
            self.is_raised, self.false_alarms = False, self.false_alarms + 1
        self.is_raised = self.is_raised or self.evidence > 0.25 * self.limit
        if self.compared >= 1000:
            self.gains, self.squares, self.compared = self.gains / 2, self.squares / 2, self.compared / 2
        self.watch(m[0], e)

    def watch(self, m, e):
        """Each m counts 1, and half as much whenever all together have come to 400."""
        merits, times = np.array(self.merits), np.array(self.times)
        if times.sum() >= 20:
            mean = np.average(merits, weights=times)
            sd = max(0.1, math.sqrt(np.average((merits - mean) ** 2, weights=times)))
            self.decline = min(max(self.decline + e * (min((mean - m) / sd, 1.5) - 0.25), 0.0), 10.0)
        if self.alert:
            self.alert += 1
            if self.alert > 300:
                self.calm_down()
            elif self.decline < 1:
                self.alert = 0
            return
        if self.decline >= 5:
            self.alert, self.next_fit = 1, 0.0
        self.merits, self.times = [*self.merits, m], [*self.times, 1.0]
        if sum(self.times) >= 400:
            self.times = [time / 2 for time in self.times]

    def close(self):
        self.evidence, self.is_raised, self.false_alarms = 0.0, False, 0
        self.negatives = [(short, short, short) for _, _, short in self.negatives]
        self.calm_down()

    def forget_young(self):
        self.of_young_trees, self.for_young = [], 0.0
