"""Naive transcription of section 4 of the OMCSL specification: streaming metrics of a score whose sign is the label.

Areas are not accumulated: a metric keeps all examples and computes its value afresh, an example that has been faded a
times having the weight fade^a. Labels are -1/+1; a score f > 0 predicts +1, f = 0 predicts -1. Areas are nan while one
of the classes has not been seen, an empty ratio of a threshold metric is 0. A score that is nan is refused.
"""

import itertools
import math

import numpy as np

# ---- Section 1: common rules ----


def sigma(f):
    """1/(1 + exp(-f)) without overflow."""
    e = np.exp(-np.abs(f))
    return np.where(np.asarray(f) >= 0, 1.0 / (1.0 + e), e / (1.0 + e))


def log_loss(z):
    """log(1 + exp(-z)) of the margin z, stable."""
    return np.logaddexp(0.0, -np.asarray(z))


# ---- Section 4.3: keys. Each takes scores and returns bins, non-decreasing in the score. ----


def sigmoid_keys(scores, *, n_bins=1000):
    """Key 1: min(m-1, floor(m sigma(f)))."""
    return np.minimum(n_bins - 1, np.floor(n_bins * sigma(scores))).astype(int)


def float_keys(scores, *, bits=6, emin=-10, emax=12):
    """Key 2: sign, exponent and top mantissa bits; 2 half + 1 bins."""
    f, half = np.asarray(scores, dtype=float), (emax - emin + 1) * 2**bits
    mantissa, exponent = np.frexp(np.minimum(np.abs(f), 2.0 ** (emax + 1)))  # infinities saturate as 2^(emax+1) does
    r, e = 2.0 * mantissa - 1.0, exponent - 1  # |f| = (1 + r) 2^e
    k = np.where(e > emax, half - 1, (e - emin) * 2**bits + np.floor(r * 2**bits).astype(int))
    keys = np.where(f > 0, half + 1 + k, half - 1 - k)
    return np.where(np.abs(f) < 2.0**emin, half, keys)


def centre_and_scale(scores):
    """c and s of key 3, from the first n0 scores."""
    ordered, n = np.sort(np.asarray(scores, dtype=float)), len(scores)
    c = float(ordered[n // 2])
    q = float(ordered[3 * n // 4] - ordered[n // 4])
    if q == 0:
        q = float(np.max(np.abs(ordered - c)))
    if q == 0:
        q = 1.0
    if not math.isfinite(c) or not math.isfinite(q):
        raise ValueError("these scores have no finite centre and scale")
    return c, math.ldexp(1.0, round(math.log2(q)))  # round: half to even


def centred_keys(scores, *, n0=256, bits=6, emin=-10, emax=12):
    """Key 3: float((f-c)/s). Up to n0 scores are their own keys, which makes every metric of the keys exact."""
    scores = np.asarray(scores, dtype=float)
    if len(scores) <= n0:
        return scores
    c, s = centre_and_scale(scores[:n0])
    with np.errstate(over="ignore"):
        return float_keys((scores - c) / s, bits=bits, emin=emin, emax=emax)


def keys_of(scores, key, *, n_bins=1000, **options):
    """The keys by the name of their rule; the options are n0, bits, emin and emax."""
    if key == "sigmoid":
        return sigmoid_keys(scores, n_bins=n_bins)
    return {"float": float_keys, "centred": centred_keys}[key](scores, **options)


# ---- Areas by their definition, of scores or of keys, optionally weighted ----


def auroc(y, scores, weights=None):
    """The share of pairs in which the positive has the larger score; a tie is half a pair."""
    y, scores = np.asarray(y), np.asarray(scores)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights)
    won = total = 0.0
    for i in np.flatnonzero(y > 0):
        for j in np.flatnonzero(y < 0):
            pair = weights[i] * weights[j]
            total += pair
            won += pair * (1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0)
    return float(won / total) if total > 0 else math.nan


def precision(y, scores, weights, threshold):
    """Weight of the positives among what scores at least as much as the threshold."""
    chosen = scores >= threshold
    return np.sum(weights[chosen & (y > 0)]) / np.sum(weights[chosen])


def average_precision(y, scores, weights=None):
    """The mean over the positives of the precision at their score."""
    y, scores = np.asarray(y), np.asarray(scores)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights)
    if np.all(y > 0) or np.all(y < 0):
        return math.nan
    positives = np.flatnonzero(y > 0)
    terms = [weights[i] * precision(y, scores, weights, scores[i]) for i in positives]
    return float(np.sum(terms) / np.sum(weights[positives]))


def precision_recall_trapezoid(y, scores, weights=None):
    """Area below the straight lines from (recall 0, precision 1) through the points of all thresholds, descending."""
    y, scores = np.asarray(y), np.asarray(scores)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights)
    if np.all(y > 0) or np.all(y < 0):
        return math.nan
    points = [(0.0, 1.0)]
    for threshold in sorted(set(scores.tolist()), reverse=True):
        recall = np.sum(weights[(scores >= threshold) & (y > 0)]) / np.sum(weights[y > 0])
        points.append((recall, precision(y, scores, weights, threshold)))
    pieces = [(r1 - r0) * (p0 + p1) / 2.0 for (r0, p0), (r1, p1) in itertools.pairwise(points)]
    return float(np.sum(pieces))


# ---- Fading ----


def faded_weights(y, fade):
    """fade^(T-t) for t = 1..T."""
    return fade ** np.arange(len(y) - 1.0, -1.0, -1.0)


def faded_weights_per_class(y, fade):
    """fade^(number of later examples of the same class)."""
    y = np.asarray(y)
    weights = np.empty(len(y))
    for label in (1, -1):
        weights[y == label] = faded_weights(y[y == label], fade)
    return weights


class Metric:
    """The examples so far, faded at every update."""

    def __init__(self, *, fade=1.0):
        assert 0 < fade <= 1
        self.fade = fade
        self.y, self.scores = [], []

    def update(self, y, score):
        assert y in (1, -1)
        if math.isnan(score):
            raise ValueError("a score is nan")
        self.y.append(y)
        self.scores.append(float(score))

    def weights(self):
        return faded_weights(self.y, self.fade)


# ---- Section 4.1: threshold metrics ----


def ratio(numerator, denominator):
    return float(numerator / denominator) if denominator > 0 else 0.0


class Confusion(Metric):
    """Faded counts of the four outcomes, and what is made of them."""

    def __init__(self, *, fade=1.0):
        super().__init__(fade=fade)
        self.tp = self.fp = self.fn = self.tn = 0.0

    def update(self, y, score):
        super().update(y, score)
        self.tp, self.fp, self.fn, self.tn = (self.fade * count for count in (self.tp, self.fp, self.fn, self.tn))
        self.tp += y == 1 and score > 0
        self.fp += y == -1 and score > 0
        self.fn += y == 1 and score <= 0
        self.tn += y == -1 and score <= 0

    @property
    def f1(self):
        tp = self.tp
        return ratio(2.0 * tp, 2.0 * tp + self.fp + self.fn)

    @property
    def sensitivity(self):
        tp = self.tp
        return ratio(tp, tp + self.fn)

    @property
    def specificity(self):
        tn = self.tn
        return ratio(tn, tn + self.fp)

    @property
    def gmean(self):
        return math.sqrt(self.sensitivity * self.specificity)

    @property
    def balanced_accuracy(self):
        return (self.sensitivity + self.specificity) / 2.0

    @property
    def log_loss(self):
        """The faded mean of log(1 + exp(-y f))."""
        weights = self.weights()
        losses = log_loss(np.array(self.y) * np.array(self.scores)) if self.y else np.zeros(0)
        return ratio(np.sum(weights * losses), np.sum(weights))


# ---- Section 4.2: binned ranking metrics ----


def bin_weights(y, keys, weights):
    """P and N, by class, of the bins that are not empty, in ascending order of the key."""
    y = np.asarray(y)
    occupied, which = np.unique(keys, return_inverse=True)
    P = np.bincount(which, weights=np.where(y > 0, weights, 0.0), minlength=len(occupied))
    N = np.bincount(which, weights=np.where(y < 0, weights, 0.0), minlength=len(occupied))
    return P, N


def binned_auroc(P, N):
    """U/(W+ W-), U = sum over the bins a and b of P_a N_b ([b < a] + [b = a]/2)."""
    U = 0.0
    for b in np.flatnonzero(P):
        U += P[b] * (np.sum(N[:b]) + N[b] / 2.0)
    return float(U / (np.sum(P) * np.sum(N)))


def binned_auprc(P, N, interpolation):
    """From the top bin down, T and F the weights above."""
    assert interpolation in ("step", "trapezoid")
    area, T, F, previous = 0.0, 0.0, 0.0, 1.0
    for p, n in zip(P[::-1].tolist(), N[::-1].tolist(), strict=True):
        prec = (T + p) / (T + F + p + n)
        area += p * prec if interpolation == "step" else p * (prec + previous) / 2.0
        T, F, previous = T + p, F + n, prec
    return area / float(np.sum(P))


class BinnedMetric(Metric):
    """A metric of the keys of the scores."""

    def __init__(self, *, key="centred", n_bins=1000, fade=1.0, **options):
        super().__init__(fade=fade)
        self.key, self.n_bins, self.options = key, n_bins, options  # options: n0, bits, emin, emax

    def keys(self):
        return keys_of(self.scores, self.key, n_bins=self.n_bins, **self.options)

    @property
    def value(self):
        if 1 not in self.y or -1 not in self.y:
            return math.nan
        return self.area(*bin_weights(self.y, self.keys(), self.weights()))


class AUROC(BinnedMetric):
    """With per_class an update fades the class that arrives, and no other."""

    def __init__(self, *, key="centred", n_bins=1000, fade=1.0, per_class=False, **options):
        super().__init__(key=key, n_bins=n_bins, fade=fade, **options)
        self.per_class = per_class

    def weights(self):
        return (faded_weights_per_class if self.per_class else faded_weights)(self.y, self.fade)

    def area(self, P, N):
        return binned_auroc(P, N)


class AUPRC(BinnedMetric):
    """interpolation is "step" (average precision) or "trapezoid". There is no fading per class."""

    def __init__(self, *, key="centred", n_bins=1000, fade=1.0, interpolation="trapezoid", **options):
        super().__init__(key=key, n_bins=n_bins, fade=fade, **options)
        self.interpolation = interpolation

    def area(self, P, N):
        return binned_auprc(P, N, self.interpolation)


# ---- Section 4.4: exact sliding window ----


class WindowedAUROC(Metric):
    """AUROC of the last `window` examples, exactly."""

    def __init__(self, window):
        assert window >= 1
        super().__init__()
        self.window = window

    @property
    def U2(self):
        """Twice the pairs won, an integer."""
        latest = list(zip(self.y, self.scores, strict=True))[-self.window :]
        positives, negatives = [f for y, f in latest if y > 0], [f for y, f in latest if y < 0]
        return sum(2 * (f > g) + (f == g) for f in positives for g in negatives)

    @property
    def value(self):
        return auroc(self.y[-self.window :], self.scores[-self.window :])
