"""Naive transcription of the KOIL specification: KOIL, KOIL with multiple kernels, OILK.

Nothing is cached from one step to the next: every score is a fresh sum over the buffers. Labels are -1/+1,
x is a 1-d array, a kernel is any callable kernel(x, z) -> float; if it has an attribute row(points, x), that
evaluates many points at once. Comments "1.n" name the numbered steps of the specification's section 1.
"""

import math

import numpy as np

# ---- Section 4: kernels. pair(a, b) broadcasts over the leading axes: one formula for points and rows. ----


def _kernel(pair, bounded=False):
    def kernel(x, z):
        return float(pair(np.asarray(x, dtype=float), np.asarray(z, dtype=float)))

    kernel.pair = kernel.row = pair
    kernel.bounded = bounded  # the Gaussian: X^2 = 1 is known beforehand
    return kernel


def _pair(kernel):
    return getattr(kernel, "pair", None) or np.vectorize(kernel, signature="(d),(d)->()")


def gaussian(gamma):
    """exp(-gamma ||x - z||^2), gamma = 1 / (2 sigma^2)."""
    return _kernel(lambda a, b: np.exp(-gamma * ((a - b) ** 2).sum(axis=-1)), bounded=True)


def polynomial(degree, coef0=0.0):
    """(x.z + coef0)^degree. Not a matrix product: equal points must get equal values, whatever their slot."""
    return _kernel(lambda a, b: ((a * b).sum(axis=-1) + coef0) ** degree)


def linear():
    """x.z"""
    return _kernel(lambda a, b: (a * b).sum(axis=-1))


def normalized(kernel):
    """k(x, z) / sqrt(k(x, x) k(z, z))."""
    k = _pair(kernel)
    return _kernel(lambda a, b: k(a, b) / np.sqrt(k(a, a) * k(b, b)))


def weighted_sum(kernels, weights):
    """sum_j weight_j k_j(x, z)."""
    parts = [(weight, _pair(kernel)) for kernel, weight in zip(kernels, weights, strict=True)]
    return _kernel(lambda a, b: sum(weight * k(a, b) for weight, k in parts))


def kernel_row(kernel, points, x):
    """The values k(point, x), one for each point."""
    if hasattr(kernel, "row") and len(points):
        return np.asarray(kernel.row(np.asarray(points), x), dtype=float)
    return np.array([kernel(point, x) for point in points], dtype=float)


def expansion(kernel, points, weights, xs):
    """f(x) = sum of weight * k(point, x), for each x of xs."""
    points = np.array(points)
    if hasattr(kernel, "row") and len(points) and len(xs):
        rows = np.asarray(kernel.row(points[None], np.asarray(xs)[:, None]), dtype=float)
        return np.sum(weights * rows, axis=-1).tolist()
    return [float(np.sum(weights * kernel_row(kernel, points, x))) for x in xs]


# ---- Section 1: KOIL, one kernel ----


class KOIL:
    """Two buffers of slots [point, weight], one per class; f(x) = sum of weight * k(point, x) over both."""

    def __init__(
        self,
        kernel,
        *,
        C=1.0,
        learning_rate=0.01,
        budget=100,
        n_neighbors="auto",
        policy="reservoir",
        compensate=True,
        loss="hinge",
        neighbors="violators",
        schedule="constant",
        decay=True,
        bounded_kernel=True,
        seed=0,
        rng=None,
    ):
        assert policy in ("reservoir", "fifo", "unbounded") and loss in ("hinge", "squared_hinge")
        assert neighbors in ("violators", "among_nearest") and schedule in ("constant", "invsqrt", "theory")
        self.kernel, self.C, self.learning_rate = kernel, C, learning_rate
        pos, neg = budget if isinstance(budget, (tuple, list)) else (budget, budget)
        self.budget = {+1: pos, -1: neg}
        self.n_neighbors, self.policy, self.compensate = n_neighbors, policy, compensate
        self.loss, self.neighbors, self.schedule, self.decay = loss, neighbors, schedule, decay
        self.bounded_kernel = bounded_kernel  # True: X^2 = 1 in the schedule "theory"
        self.rng = np.random.default_rng(seed) if rng is None else rng
        self.buffers = {+1: [], -1: []}
        self.seen = {+1: 0, -1: 0}  # n_y
        self.oldest = {+1: 0, -1: 0}  # write position of FIFO once the buffer is full
        self.max_kxx = 1.0 if bounded_kernel else 0.0  # X^2, a running maximum
        self.last_risk = 0.0

    def points(self):
        return [point for y in (+1, -1) for point, _ in self.buffers[y]]

    def weights(self):
        return np.array([weight for y in (+1, -1) for _, weight in self.buffers[y]], dtype=float)

    def score(self, x):
        return expansion(self.kernel, self.points(), self.weights(), [x])[0]

    def _k(self, y):
        if self.n_neighbors in ("auto", None):
            return max(1, self.budget[-y] // 10)  # N is the opposite class's budget
        return self.n_neighbors

    def _eta(self, x, y, C):
        if self.schedule == "invsqrt":
            return self.learning_rate / math.sqrt(self.seen[+1] + self.seen[-1])  # t, from 1
        if self.schedule == "theory":
            if not self.bounded_kernel:
                self.max_kxx = max(self.max_kxx, self.kernel(x, x))
            return min(self.learning_rate, 1.0 / (1.0 + 4.0 * C * self._k(y) ** 2 * self.max_kxx))
        return self.learning_rate

    def step(self, x, y, weight=1.0):
        """Learn from (x, y); returns f(x) as it was before."""
        x, y = np.array(x, dtype=float), int(y)
        s = self.score(x)
        if weight == 0:
            return s  # no count, no draw, no decay
        C = weight * self.C
        own, opposite = self.buffers[y], self.buffers[-y]
        self.seen[y] += 1
        eta, k = self._eta(x, y, C), self._k(y)

        # 1.1 l_i = max(0, 1 - y (s - f(x_i))) for each vector of the opposite buffer
        f = expansion(self.kernel, self.points(), self.weights(), [point for point, _ in opposite])
        losses = [max(0.0, 1.0 - y * (s - f_i)) for f_i in f]

        # 1.2 V: the k most similar of all the violators (or: the violators among the k most similar)
        similar = kernel_row(self.kernel, [point for point, _ in opposite], x)
        by_similarity = [int(i) for i in np.argsort(-similar, kind="stable")]  # ties: lowest slot first
        if self.neighbors == "violators":
            V = [i for i in by_similarity if losses[i] > 0][:k]
        else:
            V = [i for i in by_similarity[:k] if losses[i] > 0]
        own_was_empty, opposite_was_empty = len(own) == 0, len(opposite) == 0

        # 1.3 every weight in both buffers is multiplied by (1 - eta)
        if self.decay:
            for slot in own + opposite:
                slot[1] *= 1.0 - eta

        # 1.4 weight_i -= y eta C g_i on V; the new weight is a = y eta C sum_V g_i
        g = {i: 1.0 if self.loss == "hinge" else 2.0 * losses[i] for i in V}
        for i in V:
            opposite[i][1] -= y * eta * C * g[i]
        a = y * eta * C * sum(g.values())
        self.last_risk = float(sum(losses[i] if self.loss == "hinge" else losses[i] ** 2 for i in V))

        # 1.5 start-up
        if opposite_was_empty or (own_was_empty and not V):
            a = eta * C * y

        # 1.6 a zero weight is not offered to the buffer; otherwise find out what is left out, if anything
        if a == 0:
            return s
        newcomer, left_out, N = [x, a], None, self.budget[y]
        if self.policy == "unbounded" or len(own) < N:
            own.append(newcomer)
        elif self.policy == "fifo":
            left_out, own[self.oldest[y]] = own[self.oldest[y]], newcomer
            self.oldest[y] = (self.oldest[y] + 1) % N
        elif self.rng.random() < N / self.seen[y]:
            slot = math.floor(self.rng.random() * N)
            left_out, own[slot] = own[slot], newcomer
        else:
            left_out = newcomer

        # 1.7 compensation: the weight left out goes to the most similar vector of the buffer as it now stands
        if self.compensate and left_out is not None:
            x_r, a_r = left_out
            similar = kernel_row(self.kernel, [point for point, _ in own], x_r)
            own[int(np.argmax(similar))][1] += a_r  # ties: lowest slot
        return s


# ---- Section 2: KOIL with multiple kernels ----


class MultiKernelKOIL:
    """One KOIL per kernel, all drawing from one stream of uniforms, and weights w kept as logarithms.

    `options` are KOIL's; `bounded_kernel` is taken from each kernel (True for `gaussian`) unless it is given.
    """

    def __init__(
        self,
        kernels,
        *,
        weight_rate=0.01,
        learning_rate=0.01,
        combine="raw",
        decay=True,
        risk_scale=1.0,
        C=1.0,
        seed=0,
        bounded_kernel=None,
        **options,
    ):
        assert combine in ("raw", "sign")
        self.C, self.weight_rate, self.combine, self.risk_scale = C, weight_rate, combine, risk_scale
        self.rng = np.random.default_rng(seed)
        self.members = []
        for kernel in kernels:
            bounded = getattr(kernel, "bounded", False) if bounded_kernel is None else bounded_kernel
            self.members.append(
                KOIL(
                    kernel,
                    C=C,
                    learning_rate=learning_rate,
                    decay=decay,
                    bounded_kernel=bounded,
                    rng=self.rng,
                    **options,
                )
            )
        self.log_w = np.zeros(len(self.members))  # w = 1

    def kernel_weights(self):
        w = np.exp(self.log_w - self.log_w.max())
        return w / w.sum()  # q

    def score(self, x):
        f = np.array([member.score(x) for member in self.members])
        return float(np.sum(self.kernel_weights() * (f if self.combine == "raw" else np.sign(f))))

    def step(self, x, y, weight=1.0):
        """Learn from (x, y); returns the score with the members and the weights before the example."""
        reported = self.score(x)
        if weight == 0:
            return reported
        scale = weight * self.C if self.risk_scale == "C" else self.risk_scale
        top = self.log_w.max()  # max w^t, fixed for the whole example
        for i, member in enumerate(self.members):
            if self.rng.random() < math.exp(self.log_w[i] - top):  # u < w_l / top
                member.step(x, y, weight)
                self.log_w[i] -= self.weight_rate * scale * member.last_risk  # w_l <- w_l exp(-eta R_l)
        self.log_w -= self.log_w.max()
        return reported


# ---- Section 3: OILK ----


class OILK:
    """One buffer of slots [point, weight, label] for both classes; every opposite violator counts."""

    def __init__(self, kernel, *, C=1.0, learning_rate=0.01, budget=200, policy="fifo", seed=0):
        assert policy in ("fifo", "reservoir")
        self.kernel, self.C, self.learning_rate = kernel, C, learning_rate
        self.budget, self.policy = budget, policy
        self.rng = np.random.default_rng(seed)
        self.buffer, self.t, self.oldest = [], 0, 0

    def points(self):
        return [point for point, _, _ in self.buffer]

    def weights(self):
        return np.array([weight for _, weight, _ in self.buffer], dtype=float)

    def labels(self):
        return np.array([label for _, _, label in self.buffer], dtype=int)

    def score(self, x):
        return expansion(self.kernel, self.points(), self.weights(), [x])[0]

    def step(self, x, y, weight=1.0):
        """Learn from (x, y); returns f(x) as it was before."""
        x, y = np.array(x, dtype=float), int(y)
        s = self.score(x)
        if weight == 0:
            return s
        self.t += 1
        eta, C, N = self.learning_rate, weight * self.C, self.budget
        # hit_i = [y_i != y and 0.5 (y - y_i)(f(x) - f(x_i)) < 1]
        f = expansion(self.kernel, self.points(), self.weights(), self.points())
        hit = [y_i != y and 0.5 * (y - y_i) * (s - f_i) < 1 for (_, _, y_i), f_i in zip(self.buffer, f, strict=True)]
        # weights <- (1 - eta) weights - 0.5 eta C hit_i (y - y_i)
        for slot, hit_i in zip(self.buffer, hit, strict=True):
            slot[1] = (1.0 - eta) * slot[1] - 0.5 * eta * C * hit_i * (y - slot[2])
        newcomer = [x, eta * C * y * sum(hit), y]  # stored even if its weight is zero
        if len(self.buffer) < N:
            self.buffer.append(newcomer)
        elif self.policy == "fifo":
            self.buffer[self.oldest] = newcomer
            self.oldest = (self.oldest + 1) % N
        elif self.rng.random() < N / self.t:  # t counts both classes
            self.buffer[math.floor(self.rng.random() * N)] = newcomer
        return s
