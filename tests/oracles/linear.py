"""Naive transcription of the OMCSL specification: OMCSL (section 2) and the linear baselines (section 5).

Labels are -1/+1, x is a 1-d array of n_features numbers; a bias is a constant feature that the caller appends last.
Parameters: n_costs is K, sharpness gamma, learning_rate eta (eta0), regularization lambda, budget B, rank the tau of
low-rank OPAUC, forgetting the theta of bagging. The sample weight multiplies gradient and perceptron steps and the cap
of passive-aggressive steps; counts, class statistics and metrics do not know it. A row of weight 0 is not seen at all.
"""

import math

import numpy as np

from oracles import streaming_metrics as metrics

# ---- Section 1: common rules ----


def sigma(f):
    return float(metrics.sigma(f))


def derivative(loss, z):
    """l'(z) of the margin z = y f."""
    if loss == "hinge":
        return -1.0 if z < 1 else 0.0
    assert loss == "logistic"
    return -sigma(-z)


class Learner:
    """Counts the examples, owns the generator and the step size. A rule is its `score` and its `update`."""

    def __init__(self, *, learning_rate=0.1, decay=False, seed=0):
        self.learning_rate, self.decay = learning_rate, decay
        self.rng = np.random.default_rng(seed)
        self.t = 0

    def eta(self):
        """eta_t"""
        return self.learning_rate / math.sqrt(self.t) if self.decay else self.learning_rate

    def step(self, x, y, weight=1.0):
        """Learn from (x, y); returns the reported score, that of the model before."""
        reported = self.score(x)
        if weight == 0:
            return reported  # no count, no draw, no decay
        self.t += 1
        self.update(np.asarray(x, dtype=float), y, weight)
        return reported


class LinearLearner(Learner):
    """f = w'x; w_1 = 0."""

    def __init__(self, n_features, *, learning_rate=0.1, decay=False, seed=0):
        super().__init__(learning_rate=learning_rate, decay=decay, seed=seed)
        self.w = np.zeros(n_features)

    def f(self, x):
        return float(np.dot(self.w, x))

    def score(self, x):
        return self.f(x)


# ---- Section 2: OMCSL ----


class OMCSL(Learner):
    """K columns, one for each pair of costs, and a draw among them by what they have achieved."""

    def __init__(
        self,
        n_features,
        *,
        n_costs=9,
        loss="hinge",
        measure="f1",
        sharpness=1000.0,
        learning_rate=0.1,
        decay=True,
        regularization=0.0,
        refresh=1,
        average=False,
        key="centred",
        n_bins=1000,
        interpolation="trapezoid",
        n0=256,
        seed=0,
    ):
        super().__init__(learning_rate=learning_rate, decay=decay, seed=seed)
        self.loss, self.measure, self.sharpness = loss, measure, sharpness
        self.regularization, self.refresh, self.average = regularization, refresh, average
        theta = [j / (n_costs + 1) for j in range(1, n_costs + 1)]
        self.positive_costs, self.negative_costs = [1.0 - th / 2.0 for th in theta], [th / 2.0 for th in theta]
        binning = {"key": key, "n_bins": n_bins} | ({"n0": n0} if key == "centred" else {})
        build = {
            "f1": metrics.Confusion,
            "auroc": lambda: metrics.AUROC(**binning),
            "auprc": lambda: metrics.AUPRC(interpolation=interpolation, **binning),
        }[measure]
        self.metrics = [build() for _ in theta]
        self.W = [np.zeros(n_features) for _ in theta]
        self.sums = [np.zeros(n_features) for _ in theta]  # of the columns after every update
        self.M = np.zeros(n_costs)
        self.p = np.full(n_costs, 1.0 / n_costs)
        self.drawn = None  # j_t of the last step, from 0

    def scores(self, x):
        """s = W'x"""
        return [float(np.dot(w, x)) for w in self.W]

    def score(self, x):
        """The test-time model, without a draw."""
        j = int(np.argmax(self.p))  # ties: lowest index
        if not self.average:
            return float(np.dot(self.W[j], x))
        return float(np.dot(self.sums[j], x)) / self.t if self.t else 0.0

    def draw(self):
        """The least j with p_1 + ... + p_j > u, or the last."""
        u, total = self.rng.random(), 0.0
        for j, p in enumerate(self.p.tolist()):
            total += p
            if total > u:
                return j
        return len(self.p) - 1

    def achieved(self, metric):
        """M^j; undefined is 0."""
        value = metric.f1 if self.measure == "f1" else metric.value
        return 0.0 if math.isnan(value) else value

    def probabilities(self):
        if self.sharpness == math.inf:
            p = np.zeros(len(self.M))
            p[int(np.argmax(self.M))] = 1.0  # ties: lowest index
            return p
        p = np.exp(self.sharpness * (self.M - np.max(self.M)))
        return p / np.sum(p)

    def step(self, x, y, weight=1.0):
        """Learn from (x, y); returns the score of the drawn column before. Without a weight nothing is drawn."""
        if weight == 0:
            return self.score(x)
        x = np.asarray(x, dtype=float)
        self.t += 1
        s = self.scores(x)  # 2.1
        self.drawn = self.draw()  # 2.2: always
        for metric, s_j in zip(self.metrics, s, strict=True):  # 2.3: all of them
            metric.update(y, s_j)
        if self.t % self.refresh == 0:  # 2.4
            self.M = np.array([self.achieved(metric) for metric in self.metrics])
        costs = self.positive_costs if y > 0 else self.negative_costs
        for j, w in enumerate(self.W):  # 2.5
            gradient = costs[j] * derivative(self.loss, y * s[j]) * y * x + self.regularization * w
            self.W[j] = w - weight * self.eta() * gradient
            self.sums[j] = self.sums[j] + self.W[j]
        self.p = self.probabilities()  # 2.6
        return s[self.drawn]


# ---- Section 5: pointwise losses ----


class OnlinePerceptron(LinearLearner):
    """Mistake, y f <= 0: w += eta y x."""

    def __init__(self, n_features, *, learning_rate=1.0, seed=0):
        super().__init__(n_features, learning_rate=learning_rate, seed=seed)

    def update(self, x, y, weight):
        if y * self.f(x) <= 0:
            self.w = self.w + weight * self.learning_rate * y * x


class OCS(LinearLearner):
    """Variant 1 moves the margin of the positives, variant 2 weighs their loss."""

    def __init__(self, n_features, *, variant=1, loss="hinge", learning_rate=0.1, decay=False, cost_ratio=None, seed=0):
        assert variant in (1, 2) and loss in ("hinge", "logistic")
        super().__init__(n_features, learning_rate=learning_rate, decay=decay, seed=seed)
        self.variant, self.loss, self.cost_ratio = variant, loss, cost_ratio
        self.T = {1: 0, -1: 0}

    def rho(self):
        if self.cost_ratio is not None:
            return self.cost_ratio
        return max(self.T[-1], 1) / max(self.T[1], 1)  # eta_p = 1/2

    def update(self, x, y, weight):
        self.T[y] += 1  # the current example first
        r = self.rho() if y > 0 else 1.0
        z = y * self.f(x)
        if self.loss == "hinge":
            size = float(z < r) if self.variant == 1 else r * float(z < 1)
        else:
            size = sigma(r - z) if self.variant == 1 else r * sigma(-z)
        self.w = self.w + weight * self.eta() * size * y * x


class OFO(LinearLearner):
    """A probability q, predicted positive above tau, which is half of the F-measure so far."""

    def __init__(self, n_features, *, loss="logistic", learning_rate=0.1, decay=True, seed=0):
        assert loss in ("hinge", "logistic")
        super().__init__(n_features, learning_rate=learning_rate, decay=decay, seed=seed)
        self.loss = loss
        self.a, self.b = 0, 0

    @property
    def tau(self):
        return self.a / self.b if self.b else 0.0

    def probability(self, x):
        f = self.f(x)
        return sigma(f) if self.loss == "logistic" else min(max((1.0 + f) / 2.0, 0.0), 1.0)

    def score(self, x):
        """q - tau"""
        return self.probability(x) - self.tau

    def update(self, x, y, weight):
        predicted = self.probability(x) > self.tau
        self.a += int(y > 0 and predicted)
        self.b += int(y > 0) + int(predicted)
        self.w = self.w - weight * self.eta() * derivative(self.loss, y * self.f(x)) * y * x


# ---- Section 5: pairs ----


class OPAUC(LinearLearner):
    """Square loss on pairs with the mean and the covariance of the opposite class, the latter exact or sketched."""

    def __init__(self, n_features, *, learning_rate=0.01, regularization=1e-4, rank=None, seed=0):
        super().__init__(n_features, learning_rate=learning_rate, seed=seed)
        self.regularization, self.rank = regularization, rank
        d = n_features
        self.n = {1: 0, -1: 0}
        self.c = {1: np.zeros(d), -1: np.zeros(d)}
        self.S = {1: np.zeros((d, d)), -1: np.zeros((d, d))}  # the full form
        if rank is not None:
            self.Z = {1: np.zeros((d, rank)), -1: np.zeros((d, rank))}
            self.q = {1: np.zeros(rank), -1: np.zeros(rank)}

    def covariance(self, label):
        """S, or A A'/n with A = Z - c q'."""
        if self.rank is None:
            return self.S[label]
        A = self.Z[label] - np.outer(self.c[label], self.q[label])
        return A @ A.T / self.n[label]

    def update(self, x, y, weight):
        # low rank: r before anything else
        r = None if self.rank is None else self.rng.standard_normal(self.rank) / math.sqrt(self.rank)
        self.n[y] += 1
        n, delta = self.n[y], x - self.c[y]
        if r is None:
            self.S[y] = (n - 1) / n * self.S[y] + (n - 1) / n**2 * np.outer(delta, delta)
        else:
            self.Z[y] = self.Z[y] + np.outer(x, r)
            self.q[y] = self.q[y] + r
        self.c[y] = self.c[y] + delta / n
        if self.n[-y] == 0:
            return
        w, v = self.w, x - self.c[-y]
        gradient = self.regularization * w - y * v + np.dot(v, w) * v + self.covariance(-y) @ w
        self.w = w - weight * self.learning_rate * gradient


class OAM(LinearLearner):
    """Pair hinge against a reservoir of the opposite class, one after another or by one gradient."""

    def __init__(self, n_features, *, variant="seq", C=0.1, budget=100, seed=0):
        assert variant in ("seq", "gra")
        super().__init__(n_features, seed=seed)
        self.variant, self.C, self.budget = variant, C, budget
        self.n, self.buffers = {1: 0, -1: 0}, {1: [], -1: []}

    def update(self, x, y, weight):
        self.n[y] += 1
        C_t = self.C * max(1.0, self.n[-y] / self.budget)
        own = self.buffers[y]
        if len(own) < self.budget:
            own.append(x.copy())
        else:
            i = math.floor(self.rng.random() * self.n[y])  # one uniform, only when full
            if i < self.budget:
                own[i] = x.copy()
        cap = weight * C_t / 2.0
        old = self.w
        for opposite in self.buffers[-y]:  # in slot order
            v = y * (x - opposite)
            norm = float(np.dot(v, v))
            if self.variant == "gra":
                if np.dot(old, v) <= 1:
                    self.w = self.w + cap * v
            elif norm > 0:
                self.w = self.w + min(cap, max(0.0, 1.0 - float(np.dot(self.w, v))) / norm) * v


# ---- Section 5: online bagging with resampling ----


class ResamplingBagging(Learner):
    """iOOB (over) and iUOB (under): members learn each example a random number of times."""

    def __init__(
        self,
        n_features,
        *,
        mode="over",
        n_members=15,
        forgetting=0.9,
        loss="hinge",
        learning_rate=0.1,
        decay=True,
        seed=0,
    ):
        assert mode in ("over", "under")
        super().__init__(learning_rate=learning_rate, decay=decay, seed=seed)
        self.mode, self.forgetting, self.loss = mode, forgetting, loss
        self.W = [np.zeros(n_features) for _ in range(n_members)]
        self.sizes = {1: 0.5, -1: 0.5}
        self.rate = None  # of the last step

    def score(self, x):
        """(positive - negative votes)/members; f = 0 is a negative vote."""
        votes = [1 if np.dot(w, x) > 0 else -1 for w in self.W]
        return sum(votes) / len(votes)

    def update(self, x, y, weight):
        for label in (1, -1):  # the current example included
            self.sizes[label] = self.forgetting * self.sizes[label] + (1.0 - self.forgetting) * (y == label)
        extreme = max if self.mode == "over" else min
        self.rate = extreme(self.sizes.values()) / self.sizes[y]
        for i, w in enumerate(self.W):
            k = self.rng.poisson(self.rate)  # always
            z = y * float(np.dot(w, x))
            self.W[i] = w - weight * self.eta() * k * derivative(self.loss, z) * y * x  # one step of weight k
