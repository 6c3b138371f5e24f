"""Naive transcription of priority sampling: every row ever offered is kept, and the sample is found by sorting.

A row of weight m and importance w has the priority m w / u. The sample is the k largest, tau the largest of the others
(0 if there are none), and a sampled row counts max(m, tau / w). Fading really multiplies the weight of every older row,
and with it its priority, by the fade of each new one.
"""

from types import SimpleNamespace

import numpy as np


class PrioritySample:
    """All rows, their weights as of now, importances and uniforms."""

    def __init__(self, size, fade=1.0):
        self.size, self.fade = size, fade
        self.rows, self.numbers = [], []
        self.weights, self.importances, self.uniforms = np.zeros(0), np.zeros(0), np.zeros(0)

    def offer(self, x, weight, importance, u, number=None):
        """One more row; u is uniform in [0, 1)."""
        self.age(self.fade)
        self.numbers.append(len(self.rows) if number is None else number)
        self.rows.append(np.array(x, dtype=float))
        self.weights = np.append(self.weights, weight)
        self.importances = np.append(self.importances, importance)
        self.uniforms = np.append(self.uniforms, 1.0 - u)

    def age(self, fade):
        """Everything older fades."""
        self.weights = self.weights * fade

    @property
    def priorities(self):
        return self.weights * self.importances / self.uniforms

    @property
    def sampled(self):
        """Which of all rows are in the sample, the largest priority first."""
        return np.argsort(-self.priorities, kind="stable")[: self.size]

    @property
    def tau(self):
        """The largest priority that is not in the sample."""
        return max(np.delete(self.priorities, self.sampled), default=0.0)

    def counts(self):
        """How many rows each row of the sample stands for, by its number."""
        tau = self.tau
        return {self.numbers[i]: max(self.weights[i], tau / self.importances[i]) for i in self.sampled}

    def merged(self, other):
        """The sample of both streams: all rows of both, sorted together. Numbers of the second begin at 1,000,000."""
        both = PrioritySample(self.size, self.fade)
        both.rows = self.rows + other.rows
        both.numbers = self.numbers + [1_000_000 + number for number in other.numbers]
        for field in ("weights", "importances", "uniforms"):
            setattr(both, field, np.concatenate([getattr(self, field), getattr(other, field)]))
        return both


class Slots:
    """The same with places: whoever comes into a full sample takes the place of the smallest priority.

    Which place a row has matters only where a sample is gone through from the first to the last, with a draw for each.
    """

    def __init__(self, size):
        self.size, self.kept, self.tau = size, [], 0.0

    def age(self, fade):
        """Everything fades, what was turned away too."""
        self.tau *= fade
        for row in self.kept:
            row.weight *= fade
            row.priority *= fade

    def offer(self, x, weight, importance, u, number):
        priority = weight * importance / (1.0 - u)
        row = SimpleNamespace(x=np.array(x), weight=weight, importance=importance, priority=priority, number=number)
        if len(self.kept) < self.size:
            if row.priority > self.tau:
                self.kept.append(row)
            return
        place = min(range(self.size), key=lambda i: self.kept[i].priority)
        if row.priority > self.kept[place].priority:
            row, self.kept[place] = self.kept[place], row
        self.tau = max(self.tau, row.priority)

    def counts(self):
        """By place, how many rows each stands for."""
        return np.array([max(row.weight, self.tau / row.importance) for row in self.kept])

    def numbers(self):
        return sorted(row.number for row in self.kept)

    def adopt(self, other, rng):
        """Go on from the rows of another one, each as heavy as what it stands for."""
        self.kept, self.tau = [], 0.0
        for row, count in zip(other.kept, other.counts(), strict=True):
            u = rng.random()
            if count > 0:
                self.offer(row.x, count, row.importance, u, row.number)
