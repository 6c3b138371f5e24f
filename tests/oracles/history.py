"""KeyedHistory once more, straight from its definition: dictionaries that keep every row, and every sum made anew."""

import math
from collections import defaultdict
from datetime import datetime, timedelta
from itertools import combinations

NEW = 90 * 86400.0


class NaiveHistory:
    """Keeps everything. A row is its keys (None: missing), whole microseconds or None, an amount or None."""

    def __init__(self, n_keys, half_lives, has_amounts):
        self.n_keys, self.half_lives, self.has_amounts = n_keys, half_lives, has_amounts
        self.past = defaultdict(list)  # of each key: when, and the amount that the row counts with
        self.together = {}  # of each pair: when it was last seen
        self.told = defaultdict(list)  # of each key: when, and whether positive
        self.amounts, self.labels, self.positives = [], 0, 0
        self.clock = self.label_clock = -math.inf
        self.late = 0

    def moment(self, time):
        return self.clock if time is None else max(time, self.clock)

    def mean(self):
        return math.fsum(self.amounts) / len(self.amounts) if self.amounts else 0.0

    def variance(self):
        middle = self.mean()
        return math.fsum((a - middle) ** 2 for a in self.amounts) / len(self.amounts) if self.amounts else 0.0

    def read(self, keys, time, amount):
        now, result = self.moment(time), []
        mean, variance = self.mean(), self.variance()
        base = (self.positives + 0.5) / (self.labels + 50)
        known = amount is not None
        amount = amount if known else mean
        for key in enumerate(keys):
            past, told = self.past.get(key, []), self.told.get(key, [])
            result.append(math.log1p((now - past[-1][0]) / 1e6 if past else NEW))
            rates, deviations, risks = [], [], []
            for half_life in self.half_lives:
                weights = [2.0 ** (-(now - moment) / 1e6 / half_life) for moment, _ in past]
                n = math.fsum(weights)
                rates.append(math.log(1 + n))
                middle = (math.fsum(w * a for w, (_, a) in zip(weights, past, strict=True)) + mean) / (n + 1)
                squares = math.fsum(w * a * a for w, (_, a) in zip(weights, past, strict=True))
                own = (squares + variance + mean**2) / (n + 1) - middle**2
                z = (amount - middle) / math.sqrt(max(own, 1e-4 * variance)) if variance > 0 else 0.0
                deviations.append(max(-10, min(10, z)))
                left = [2.0 ** (-(self.label_clock - moment) / 1e6 / half_life) for moment, _ in told]
                c, p = math.fsum(left), math.fsum(w for w, (_, positive) in zip(left, told, strict=True) if positive)
                risks.append(math.log((p + 2 * base) / (c + 2)) - math.log(base))
            result += rates + (deviations if self.has_amounts else []) + risks
            result.append(float(key[1] is None))
        for pair in combinations(enumerate(keys), 2):
            since = (now - self.together[pair]) / 1e6 if pair in self.together else NEW
            result += [float(pair not in self.together), math.log1p(since)]
        if self.has_amounts:
            result += [amount, math.log1p(abs(amount)) * (1 if amount >= 0 else -1), float(not known)]
        when = datetime(1970, 1, 1) + timedelta(microseconds=now if time is None else time)
        hour = when.hour + when.minute / 60 + (when.second + when.microsecond / 1e6) / 3600
        for turn in (hour / 24, (when.weekday() + hour / 24) / 7):
            result += [math.sin(2 * math.pi * turn), math.cos(2 * math.pi * turn)]
        return result

    def note(self, keys, time, amount):
        now = self.moment(time)
        self.late += time is not None and time < now
        for key in enumerate(keys):
            self.past[key].append((now, self.mean() if amount is None else amount))
        for pair in combinations(enumerate(keys), 2):
            self.together[pair] = now
        if amount is not None:
            self.amounts.append(amount)
        self.clock = now
        return keys, now

    def learn(self, token, positive):
        keys, moment = token
        self.labels += 1
        self.positives += positive
        self.label_clock = max(self.label_clock, moment)
        for key in enumerate(keys):
            self.told[key].append((moment, positive))


def code_of(text, salt):
    """Fowler, Noll and Vo's hash of the salt's and the text's bytes, mixed as MurmurHash3 does, in 53 bits."""
    code = mixed(salt + 1) ^ 0xCBF29CE484222325
    for byte in text.encode():
        code = (code ^ byte) * 0x100000001B3 % 2**64
    return (mixed(code) >> 11) + 1


def mixed(code):
    code = (code ^ code >> 33) * 0xFF51AFD7ED558CCD % 2**64
    code = (code ^ code >> 33) * 0xC4CEB9FE1A85EC53 % 2**64
    return code ^ code >> 33
