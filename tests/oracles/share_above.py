"""A cut that a share of a stream exceeds, straight from its rule: nothing kept but the latest scores as a list."""

import math

import numpy as np


class ShareAbove:
    """The cut for the next score, and the correction that every score leaves behind."""

    def __init__(self, share, recent=(), window=1024, step=0.2, furthest=4.0, tail=16, slack=1e-9):
        self.share, self.window, self.step, self.furthest, self.tail = share, window, step, furthest, tail
        self.slack = slack  # sums that meet a bound, but for their last digits, are within it
        self.latest, self.correction, self.owed = list(recent)[-window:], 0.0, 0.0

    def place(self):
        """How many of the latest scores and the next one are to be above the cut; a fraction."""
        return self.share * math.exp(self.correction) * (len(self.latest) + 1)

    def ties(self):
        """If the share ends among scores that are all the same: that score, and the part of them that is above."""
        place, highest_first = self.place(), sorted(self.latest, reverse=True)
        if place >= len(highest_first) or len(highest_first) < 2:
            return None
        last_above = max(math.floor(place), 1)
        level = highest_first[last_above - 1]
        if highest_first[last_above] != level:
            return None
        higher = sum(score > level for score in self.latest)
        alike = self.latest.count(level)
        return level, (place - higher) / (alike + 1)

    def cut(self):
        if not self.latest:
            return 0.0
        highest_first = sorted(self.latest, reverse=True)
        n, place = len(highest_first), self.place()
        if place >= n:
            lowest = highest_first[-1]
            return min(lowest - (highest_first[0] - lowest) / n, np.nextafter(lowest, -np.inf))
        if (ties := self.ties()) is not None:
            level, part = ties
            return np.nextafter(level, -np.inf) if self.owed + part >= 1 - self.slack else level
        if place < 1:
            depth = min(self.tail, n - 1)
            if not depth:
                return highest_first[0]
            spread = (highest_first[0] - highest_first[depth]) / math.log(depth + 1)
            return highest_first[0] + spread * math.log(1 / place)
        return float(np.interp(place, np.arange(1, n + 1), highest_first))

    def take(self, score, *, bounded=False):
        """Whether the score is above the cut, or with `bounded` has to be one way or the other; then it is known."""
        above = bool(self.latest) and bool(score > self.cut())
        if self.latest:
            most = math.log(1 / self.share)
            if bounded and self.correction + self.step * self.share > most + self.slack:
                above = True
            elif bounded and self.correction - self.step * (1 - self.share) < -self.furthest - self.slack:
                above = False
            ties = self.ties()
            if ties is not None and score == ties[0]:
                self.owed = min(max(self.owed + ties[1] - above, 0.0), 1.0)
            self.correction += self.step * (self.share - above)
            self.correction = min(max(self.correction, -self.furthest), most)
        self.latest = [*self.latest, score][-self.window :]
        return above
