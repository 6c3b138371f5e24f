"""Naive transcription of RareEventClassifier: two memories that keep every row, trees on samples, blends, a drift gate.

All in double precision. Sums are never kept: means and covariances are worked out from the rows of a memory at every
solution. Labels are -1/+1, x is a 1-d array, NaN is a missing value.
"""

import copy
import math

import numpy as np

from oracles.boosting import TreesOnASample
from oracles.priority_sampling import Slots
from oracles.rare_evidence import Gate, Line, Linear, Mixture, sigmoid

BETAS = np.array([0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0])
PRIOR = np.array([1.0, 1.0, 2.0, 2.0, 1.0, 0.5, 0.5])
PARTS = ("long", "trees", "linear", "short")


def blends_and_priors(forgets):
    """Shares of the parts, a row for each blend that is tried; whether it leans; and what it counts at first."""
    two, halves, quarters = ([((1 - h) * (1 - b), (1 - h) * b, h, 0) for b in BETAS] for h in (0, 0.5, 0.25))
    leaning = [((1 - h) * (1 - b), (1 - h) * b, h, 0) for h in (0, 0.5) for b in (0, 0.2, 0.5)]
    shares = np.array([*two, *halves, (0, 0, 1, 0), (0, 0, 0, 1), *quarters, *leaning])
    leans = np.repeat([0.0, 1.0], [len(shares) - len(leaning), len(leaning)])
    prior = np.array([*PRIOR, *(PRIOR / 4), 0.1, 0.5 if forgets else 0.0, *(PRIOR / 4), *(0.5 for _ in leaning)])
    return shares, leans, prior


class Remembered:
    """Rows, signs and weights."""

    def __init__(self):
        self.rows, self.signs, self.weights = [], np.zeros(0), np.zeros(0)

    def add(self, rows, signs, weights, fade=1.0):
        n = len(rows)
        self.rows = self.rows + list(rows)
        self.signs = np.append(self.signs, signs)
        ages = np.arange(n - 1.0, -1.0, -1.0)
        self.weights = np.append(self.weights * fade**n, np.array(weights) * fade**ages)

    def solution(self, Z, ridge):
        """w and offset; None while a class is missing."""
        totals = [self.weights[self.signs == sign].sum() for sign in (1, -1)]
        if min(totals) < 1e-6:
            return None
        means, covariance = [], ridge * (1 + 1 / math.sqrt(totals[0])) * np.eye(Z.shape[1])
        for sign, total in zip((1, -1), totals, strict=True):
            share, mine = self.weights[self.signs == sign] / total, Z[self.signs == sign]
            means.append(share @ mine)
            centred = mine - means[-1]
            covariance += (share[:, None] * centred).T @ centred
        apart = means[0] - means[1]
        solution = np.linalg.solve(covariance, apart)
        w = solution / (solution @ apart) * totals[0] / (totals[0] + 1)
        return w, float(w @ (means[0] + means[1]) / 2)


def directions_of(rng, n_features, n_directions):
    """Half for each bandwidth; of these the first half see 1, 2, 3, 1, 2, 3 ... features, those with least luck."""
    normals = rng.standard_normal((n_features, n_directions))
    luck = rng.random((n_features, n_directions)) if n_features > 1 else None
    directions = np.zeros((n_features, n_directions))
    for bandwidth, group in zip((0.25, 1.0), np.array_split(range(n_directions), 2), strict=True):
        for place, i in enumerate(group):
            seen = range(n_features)
            if place < len(group) // 2 and luck is not None:
                seen = np.argsort(luck[:, i])[: min(place % 3 + 1, n_features)]
            for j in seen:
                directions[j, i] = normals[j, i] * math.sqrt(2 * bandwidth / len(seen))
    return directions


class RareEventClassifier:
    """score = (1 - p) S + p f_s, S a blend of f, tanh(g / 8), h and f_s, each on the scale of log-odds by eight."""

    def __init__(self, n_features, *, sample_size, n_components, forgets, n_trees, n_young=50, seed):
        self.rng = np.random.default_rng(seed)
        self.directions = directions_of(self.rng, n_features, n_components // 2)
        self.linear = 0.1 / math.sqrt(n_features) if n_features <= n_components else None
        self.forgets, half = forgets, sample_size // 2
        self.trees = TreesOnASample(half, n_trees=n_trees)
        self.young, self.n_young, self.young_fits, self.young_hint = None, n_young, [], None
        self.recent = {sign: Slots(min(half, 2000)) for sign in (1, -1)}
        self.long_mix = Mixture(np.ones(4), 50, 0.5, 1000)
        self.short_mix = Mixture(np.ones(2), 50, 0.5, 50)
        self.blends, self.leans, prior = blends_and_priors(forgets)
        self.blend_mix = Mixture(prior, 0, 0.25, 150, each=1.25)
        self.lines, self.regression, self.gap = {part: Line() for part in PARTS}, Linear(n_features), 0
        self.gate, self.long, self.short = Gate(), Remembered(), Remembered()
        self.solutions = {"long": [None] * 4, "short": [None] * 2}
        self.short_solved = self.fixed = False
        self.block = []  # rows that are not yet in the memories: x, sign, weight in the long one, in the short one
        self.centre, self.spread = np.zeros(n_features), np.ones(n_features)
        self.since_look, self.looked = [], 0
        self.n_seen = self.n_positive = self.since = self.since_short = self.youth = 0
        self.restarts, self.renewals = [], []  # after how many rows

    # ---- scores

    def encoded(self, rows):
        s = (np.array(rows) - self.centre) / self.spread
        s = np.clip(np.where(np.isnan(s), 0.0, s), -10, 10)
        angles = s @ self.directions
        z = np.concatenate([np.cos(angles), np.sin(angles)], axis=1) / math.sqrt(self.directions.shape[1])
        return z if self.linear is None else np.concatenate([z, self.linear * s], axis=1)

    def by_ridge(self, memory, z):
        return np.array([0.0 if s is None else np.clip(s[0] @ z - s[1], -3, 3) for s in self.solutions[memory]])

    def answer(self, x):
        z = self.encoded([x])[0]
        given = {"x": x, "by long": self.by_ridge("long", z), "trees": self.trees.score(x)}
        given["long"] = given["short"] = float(self.long_mix.shares @ given["by long"])
        if self.short_solved:
            given["by short"] = self.by_ridge("short", z)
            given["short"] = float(self.short_mix.shares @ given["by short"])
        given["by part"] = {
            "long": given["long"],
            "trees": math.tanh(given["trees"] / 8),
            "linear": min(max(self.regression.score(x) / 8, -0.7), 0.7),
            "short": given["short"],
        }
        worth = {part: self.lines[part].worth(score) for part, score in given["by part"].items()}
        if not self.short_solved:
            worth["short"] = worth["long"]
        lean = float(sigmoid(8 * worth["trees"] - 1)) if self.trees.booster.trees else 0.0
        given["blends"] = self.blends @ [worth[part] for part in PARTS]
        given["blends"] += self.leans * lean * (worth["trees"] - given["blends"])
        given["blend"] = float(self.blend_mix.shares @ given["blends"])
        p = self.gate.share if self.forgets else 0.0
        given["score"] = (1 - p) * given["blend"] + p * worth["short"]
        return given

    @property
    def fade(self):
        return 1 - min(0.001, 0.1 * (self.n_positive + 1) / (self.n_seen + 1))

    # ---- one row

    def step(self, x, y, weight=1.0, hint=None):
        u, given = self.rng.random(), self.answer(x)
        solved = any(s is not None for s in self.solutions["long"])
        decided = solved and self.measure(y, weight, given)
        self.learn_scale(y, weight, given, solved)
        self.n_seen, self.since, self.youth = self.n_seen + 1, self.since + 1, self.youth + 1
        self.since_short += 1
        self.n_positive += y > 0
        self.gap = 0 if y > 0 else self.gap + 1
        focus = [2 * sigmoid(6 * (given[f] + 0.5)) if y < 0 and solved else 1.0 for f in ("long", "short")]
        self.block.append((np.array(x), y, weight * focus[0], weight * focus[1]))
        self.trees.offer(x, y, weight, given["trees"], u, self.n_seen - 1)
        if self.forgets:
            if self.gate.alert < 20:
                for sample in self.recent.values():
                    sample.age(self.fade)
            self.recent[int(y)].offer(x, weight, 1.0, u, self.n_seen - 1)
        self.since_look.append(x)
        patience = max(200, min(2000, self.youth // 10))
        due = self.since >= patience or (y > 0 and self.n_positive <= 20)
        due = due or (not self.fixed and len(self.block) == 200)
        short_due = self.short_solved and self.since_short >= max(200, 2 * self.n_seen // self.n_positive)
        if self.fixed and self.n_seen >= 400 and self.n_seen >= 2 * self.looked and self.look_at_scale():
            due = False
        if decided:
            self.restart(hint)
        if due and self.since:
            self.solve()
        elif short_due and self.since_short:
            self.solve_short()
        elif self.fixed and len(self.block) == 256:
            self.add_block()
        if solved and self.forgets and not decided:
            self.renew_young()
        if self.n_seen % 50 == 0 and (self.n_seen % 250 == 0 or self.youth < 5000):
            self.trees.beat(self.youth, hint)
        return given["score"]

    def measure(self, y, weight, given):
        """What has been achieved on this row; whether the short memory should take over."""
        self.long_mix.note(y, weight, given["by long"])
        self.blend_mix.note(y, weight, given["blends"])
        if not self.forgets:
            return False
        if self.short_solved:
            self.short_mix.note(y, weight, given["by short"])
        positives = self.n_positive + 1
        ratio = (self.n_seen + 1 - positives) / positives
        young = None if self.young is None else self.young.score(given["x"])
        e = min(1.0, 2 * (self.gap + 1) * positives / (self.n_seen + 1))
        self.gate.compare(y, given["blend"], given["long"], given["short"], young, ratio, e)
        return self.gate.is_decided

    def learn_scale(self, y, weight, given, solved):
        counts = self.n_positive + 1, self.n_seen - self.n_positive + 1
        has = {"long": solved, "linear": solved, "trees": solved and bool(self.trees.booster.trees)}
        has["short"] = solved and self.short_solved
        for part in PARTS:
            if has[part]:
                self.lines[part].learn(given["by part"][part], y, weight, *counts, self.youth + 1)
        self.regression.learn(given["x"], y, weight, *counts)

    def renew_young(self):
        if self.gate.wants_young:
            latest = TreesOnASample(1, n_trees=self.n_young)
            latest.positives, latest.negatives = self.recent[1], self.recent[-1]
            latest.fit_now(0, self.young_hint)
            self.young = latest if latest.booster.trees else None
            self.gate.next_fit = 1 + 4 / 3 * self.gate.alert
            self.young_fits.append(self.n_seen)
        elif self.young is not None and not self.gate.alert:
            self.give_up_young()

    def give_up_young(self):
        self.young = None
        self.gate.forget_young()

    # ---- memories

    def add_block(self):
        if self.block:
            rows, signs, long, short = zip(*self.block, strict=True)
            self.long.add(rows, signs, long)
            self.short.add(rows, signs, short, self.fade)
            self.block = []

    def solve(self):
        if not self.fixed:
            self.scale_of_first_rows()
        else:
            self.add_block()
        self.take("long", self.long, (0.1, 0.01, 0.001, 0.0001))
        self.since = 0
        if self.forgets and self.n_seen >= 1000:
            self.solve_short()

    def solve_short(self):
        self.add_block()
        self.short_solved |= self.take("short", self.short, (0.1, 0.01))
        self.since_short = 0

    def take(self, name, memory, ridges):
        Z = self.encoded(memory.rows)
        found = [memory.solution(Z, ridge) for ridge in ridges]
        if found[0] is not None:
            self.solutions[name] = found
        return found[0] is not None

    def scale_of_first_rows(self):
        """Until there are 200 rows everything is worked out anew from those there are."""
        rows = np.array([x for x, *_ in self.block])
        self.set_scale(*self.location(rows), np.ones(rows.shape[1], dtype=bool))
        first = self.block
        self.long, self.short = Remembered(), Remembered()
        self.add_block()
        if len(first) == 200:
            self.fixed, self.looked, self.since_look = True, self.n_seen, []
        else:
            self.block = first

    def location(self, rows):
        """Mean and deviation of what is known of each feature; 0 and 0 where nothing is."""
        known = [column[~np.isnan(column)] for column in rows.T]
        return [np.array([f(values) if len(values) else 0.0 for values in known]) for f in (np.mean, np.std)]

    def set_scale(self, centre, deviation, which):
        self.centre = np.where(which, centre, self.centre)
        self.spread = np.where(which, np.where(deviation > 0, deviation, 1.0), self.spread)

    def look_at_scale(self):
        """Whether features have left their scale, and everything was worked out anew from the samples."""
        centre, deviation = self.location(np.array(self.since_look))
        varies, ratio = deviation > 0, deviation / self.spread
        left = (ratio > 1.5) | (ratio < 1 / 1.5) | (np.abs(centre - self.centre) > 0.5 * self.spread)
        self.looked, self.since_look = self.n_seen, []
        if not (left & varies).any():
            return False
        self.set_scale(centre, deviation, left & varies)
        self.block = []
        self.long = self.remembered(self.trees.positives, self.trees.negatives)
        self.short = self.remembered(self.recent[1], self.recent[-1])
        self.renewals.append(self.n_seen)
        self.solve()
        return True

    def remembered(self, *samples):
        """The rows of a sample, the negatives weighed by how much a first solution takes them for positives."""
        memory = Remembered()
        for sign, sample in zip((1, -1), samples, strict=True):
            memory.add([row.x for row in sample.kept], [sign] * len(sample.kept), sample.counts())
        if memory.rows:
            Z = self.encoded(memory.rows)
            first = memory.solution(Z, 0.01)
            if first is not None:
                focus = 2 * sigmoid(6 * (Z @ first[0] - first[1] + 0.5))
                memory.weights = np.where(memory.signs > 0, memory.weights, memory.weights * focus)
        return memory

    def restart(self, hint):
        self.add_block()
        self.long = Remembered()
        self.long.add(self.short.rows, self.short.signs, self.short.weights)
        self.long_mix.forget()
        [alone] = [i for i, shares in enumerate(self.blends) if shares[PARTS.index("linear")] == 1]
        self.blend_mix.prior[alone] = 0.1 + 20 * self.blend_mix.shares[alone]
        self.blend_mix.forget()
        self.gate.close()
        self.lines["long"] = copy.deepcopy(self.lines["short"])
        self.youth = min(self.youth, int(1 / (1 - self.fade)))
        self.restarts.append(self.n_seen)
        self.trees.positives.adopt(self.recent[1], self.rng)
        self.trees.negatives.adopt(self.recent[-1], self.rng)
        self.trees.fit_now(self.youth, hint)
        self.give_up_young()
        self.solve()
