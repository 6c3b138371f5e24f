"""Naive learners of keys: a dictionary of learners, and the prior of `KeyedLearner` in plain arithmetic."""

import copy
from collections import OrderedDict

import numpy as np


class Separate:
    """A learner for each key, made when its first row comes; of more than `max_keys` the least recent is dropped."""

    def __init__(self, make, max_keys=None):
        self.make, self.max_keys = make, max_keys
        self.learners, self.dropped = OrderedDict(), 0

    def of(self, key):
        """The learner of a key whose row is to be learned."""
        if key not in self.learners:
            if len(self.learners) == self.max_keys:
                self.learners.popitem(last=False)
                self.dropped += 1
            self.learners[key] = self.make()
        self.learners.move_to_end(key)
        return self.learners[key]


class Corrected:
    """Naive linear learners: w of all rows, and for each key a correction v, which counts n / (n + m) after n rows.

    A row of the key is scored, and v makes the step of the rule, at the weights w + n / (n + m) v, with the counts of
    all rows and the step size of the key's own; w makes its own step as if there were no keys.
    """

    def __init__(self, make, m):
        self.common, self.m = make(), m
        self.keys = {}

    def _at(self, key):
        n, v = self.keys.get(key, (0, np.zeros_like(self.common.w)))
        there = copy.deepcopy(self.common)
        there.w = self.common.w + (n / (n + self.m) if n else 0.0) * v
        return n, v, there

    def score(self, key, x):
        return self._at(key)[2].score(x)

    def step(self, key, x, y, weight=1.0):
        """Learn; returns the score before."""
        n, v, there = self._at(key)
        reported, before = there.score(x), there.w
        there.t = n + 1
        there.update(x, y, weight)
        self.keys[key] = (n + 1, v + (there.w - before))
        self.common.step(x, y, weight)
        return reported
