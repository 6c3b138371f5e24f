"""A cut that a share of a stream exceeds, straight from its rule: nothing kept but the latest scores as a list."""

import math

import numpy as np


class ShareAbove:
    """The cut for the next score, and the correction that every score leaves behind."""

    def __init__(self, share, window=512, step=0.1, furthest=3.0, tail=16):
        self.share, self.window, self.step, self.furthest, self.tail = share, window, step, furthest, tail
        self.latest, self.correction = [], 0.0

    def cut(self):
        if not self.latest:
            return 0.0
        highest_first = sorted(self.latest, reverse=True)
        n = len(highest_first)
        place = self.share * math.exp(self.correction) * (n + 1)
        if place < 1:
            depth = min(self.tail, n - 1)
            if not depth:
                return highest_first[0]
            spread = (highest_first[0] - highest_first[depth]) / math.log(depth + 1)
            return highest_first[0] + spread * math.log(1 / place)
        if place >= n:
            return highest_first[-1] - (highest_first[0] - highest_first[-1]) / n
        return float(np.interp(place, np.arange(1, n + 1), highest_first))

    def take(self, score):
        """Whether the score is above the cut; then it is one of the latest."""
        above = bool(self.latest) and score > self.cut()
        if self.latest:
            self.correction += self.step * (self.share - above)
            self.correction = min(max(self.correction, -self.furthest), self.furthest)
        self.latest = [*self.latest, score][-self.window :]
        return above
