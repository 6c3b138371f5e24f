"""Naive transcription of the specification of the learners on random features: FOGD, NOGD, FourierRanker.

Nothing is cached: FourierRanker keeps every row and computes weighted means and covariances by their definition at
every solution. Labels are -1/+1, x is a 1-d array, kernels are those of oracles.koil. The sample weight multiplies
gradient steps, and counts an example so many times in means and covariances; a row of weight 0 is not seen at all.
"""

import math

import numpy as np

from oracles.koil import kernel_row
from oracles.streaming_metrics import AUROC, sigma


def waves(directions, x):
    """sqrt(1/H) (cos w_1.x ... cos w_H.x, sin w_1.x ... sin w_H.x)"""
    angles = directions.T @ x
    return np.concatenate([np.cos(angles), np.sin(angles)]) / math.sqrt(directions.shape[1])


class FOGD:
    """y u.z < 1: u += eta y z."""

    def __init__(self, n_features, *, n_components=400, gamma=1.0, learning_rate=0.1, seed=0):
        normals = np.random.default_rng(seed).standard_normal((n_features, n_components // 2))
        self.directions = normals * math.sqrt(2 * gamma)
        self.u = np.zeros(2 * (n_components // 2))
        self.learning_rate = learning_rate

    def score(self, x):
        return float(self.u @ waves(self.directions, x))

    def learn(self, x, y, weight=1.0):
        if y * self.score(x) < 1:
            self.u = self.u + weight * self.learning_rate * y * waves(self.directions, x)


class NOGD:
    """KernelOGD until B vectors are stored; then linear in z(x) = L^(-1/2) V' k(x)."""

    def __init__(self, kernel, *, budget=100, rank=50, learning_rate=0.1):
        self.kernel, self.budget, self.rank, self.learning_rate = kernel, budget, min(rank, budget), learning_rate
        self.points, self.a, self.u = [], [], None

    def row(self, x):
        return kernel_row(self.kernel, self.points, x)

    def z(self, x):
        return (self.V.T @ self.row(x)) / np.sqrt(self.L)

    def score(self, x):
        if self.u is None:
            return float(np.sum(np.array(self.a) * self.row(x)))
        return float(self.u @ self.z(x))

    def learn(self, x, y, weight=1.0):
        if not y * self.score(x) < 1:
            return
        step = weight * self.learning_rate * y
        if self.u is not None:
            self.u = self.u + step * self.z(x)
            return
        self.points.append(np.array(x, dtype=float))
        self.a.append(step)
        if len(self.points) == self.budget:
            L, V = np.linalg.eigh(np.array([self.row(point) for point in self.points]))
            largest = np.argsort(-L)[: self.rank]
            kept = [i for i in largest if L[i] > 1e-10 * L.max()]  # the rest is rounding
            self.L, self.V = L[kept], V[:, kept]
            self.u = np.sqrt(self.L) * (self.V.T @ np.array(self.a))


class FourierRanker:
    """f(x) = w.z(x) - offset, solved for anew from all rows so far; several variants averaged by their AUROC."""

    def __init__(
        self,
        n_features,
        *,
        n_components=400,
        bandwidths=(0.25, 1.0),
        regularizations=(0.01,),
        refresh=None,  # None: after 200 examples and after each of the first 20 positives
        fades=(1.0,),
        measure_fade=1.0,
        linear=0.1,
        focus=0.0,
        warm_up=200,
        rescale=True,
        sparse=0.0,
        seed=0,
    ):
        H = n_components // 2
        rng = np.random.default_rng(seed)
        self.directions = rng.standard_normal((n_features, H))
        lots = rng.random((n_features, H)) if sparse > 0 else None
        for bandwidth, part in zip(bandwidths, np.array_split(range(H), len(bandwidths)), strict=True):
            for place, i in enumerate(part):
                seen = list(range(n_features))
                if place < int(sparse * len(part)):  # it sees one, two or three features, by lot
                    seen = sorted(seen, key=lambda j, i=i: lots[j, i])[: place % 3 + 1]
                self.directions[[j for j in range(n_features) if j not in seen], i] = 0.0
                self.directions[:, i] *= math.sqrt(2 * bandwidth / len(seen))
        self.linear = linear if n_features <= n_components else 0.0
        self.refresh, self.focus, self.warm_up, self.rescale = refresh, focus, warm_up, rescale
        self.variants = [(fade, ridge) for fade in fades for ridge in regularizations]
        self.solutions = [None] * len(self.variants)
        self.areas = [AUROC(fade=measure_fade) for _ in self.variants]
        self.chances = np.full(len(self.variants), 1 / len(self.variants))
        self.rows, self.signs, self.weights = [], [], []
        self.since, self.centre, self.spread = 0, None, None
        self.looked, self.renewals = warm_up, 0

    def z(self, x):
        s = np.clip((x - self.centre) / self.spread, -10, 10)
        z = waves(self.directions, s)
        return np.concatenate([z, self.linear / math.sqrt(s.size) * s]) if self.linear > 0 else z

    def given(self, x):
        """The score of every variant."""
        return np.array([0.0 if s is None else float(s[0] @ self.z(x)) - s[1] for s in self.solutions])

    def score(self, x):
        return float(self.chances @ self.given(x))

    def learn(self, x, y, weight=1.0):
        x = np.asarray(x, dtype=float)
        score, given = self.score(x), self.given(x)
        if any(solution is not None for solution in self.solutions):
            if self.focus > 0 and y < 0:
                weight = weight * 2 * float(sigma(self.focus * (score + 0.5)))
            if len(self.variants) > 1:
                self.judge(y, given)
        self.rows.append(x)
        self.signs.append(y)
        self.weights.append(weight)
        self.since += 1
        positives = sum(sign > 0 for sign in self.signs)
        due = self.since >= (self.refresh or 200)
        eager = self.refresh is None and y > 0 and positives <= 20
        if due or eager or len(self.rows) == self.warm_up:
            self.solve()
        if self.rescale and len(self.rows) >= max(400, 2 * self.looked):
            self.look()

    def look(self):
        """Features that have left their scale since the last look get that of the rows since then."""
        recent = np.array(self.rows[self.looked :])
        self.looked = len(self.rows)
        s = np.clip((recent - self.centre) / self.spread, -10, 10)
        means, deviations = s.mean(axis=0), s.std(axis=0)
        left = (deviations > 1.5) | (deviations < 1 / 1.5) | (np.abs(means) > 0.5)
        left &= recent.max(axis=0) > recent.min(axis=0)
        if left.any():
            self.renewals += 1
            self.centre = np.where(left, recent.mean(axis=0), self.centre)
            self.spread = np.where(left, recent.std(axis=0), self.spread)
            self.solve()

    def judge(self, y, given):
        for area, score in zip(self.areas, given, strict=True):
            area.update(y, score)
        achieved = np.array([0.0 if math.isnan(area.value) else area.value for area in self.areas])
        e = np.exp(100 * (achieved - achieved.max()))
        self.chances = e / e.sum()

    def solve(self):
        self.since = 0
        if not self.renewals:
            first = np.array(self.rows[: self.warm_up])
            self.centre, deviation = first.mean(axis=0), first.std(axis=0)
            self.spread = np.where(deviation > 0, deviation, 1.0)
        if len(set(self.signs)) < 2:
            return
        Z, signs = np.array([self.z(x) for x in self.rows]), np.array(self.signs)
        ages = np.arange(len(signs))[::-1]
        for v, (fade, ridge) in enumerate(self.variants):
            weights = np.array(self.weights) * fade**ages
            means, covariance = {}, np.zeros((Z.shape[1], Z.shape[1]))
            for sign in (1, -1):
                share = weights[signs == sign] / weights[signs == sign].sum()
                means[sign] = share @ Z[signs == sign]
                centred = Z[signs == sign] - means[sign]
                covariance += (share[:, None] * centred).T @ centred
            n_positive = weights[signs == 1].sum()
            covariance += ridge * (1 + 1 / math.sqrt(n_positive)) * np.eye(len(covariance))
            apart = means[1] - means[-1]
            solution = np.linalg.solve(covariance, apart)
            w = solution / (solution @ apart) * n_positive / (n_positive + 1)
            self.solutions[v] = w, float(w @ (means[1] + means[-1]) / 2)
