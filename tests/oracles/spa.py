"""Naive transcription of the SPA specification, one kernel: SPA, OSKL and the baselines (sections 1, 2, 6, 7, 8).

Nothing is cached from one step to the next: every score is a fresh sum over the support. Labels are -1/+1, x is a
1-d array, kernels are those of oracles.koil. Parameters: learning_rate is eta, loss_cap alpha, sampling_scale beta,
regularization lambda, sparsity G, budget B. The sample weight multiplies perceptron and gradient steps and the cap
of passive-aggressive steps; a row of weight 0 is not seen at all. Whether an example is admitted never depends on it.
"""

import math

import numpy as np

from oracles.koil import kernel_row

# ---- Section 1: common rules ----


def hinge(y, F):
    """max(0, 1 - y F); it is > 0 iff y F < 1."""
    return max(0.0, 1.0 - y * F)


def pa_step(cap, loss, kxx):
    """tau(cap, loss, x) = min(cap, loss / k(x, x)); cap when k(x, x) = 0."""
    return cap if kxx == 0 else min(cap, loss / kxx)


class Learner:
    """f = sum of a_i k(s_i, .): points s and coefficients a in insertion order; f_1 = 0.

    A rule is its `update`: u is the step's uniform (None if the learner draws none) and `full` says that the budget
    was exhausted before the update.
    """

    draws = False  # one uniform per step, needed or not
    unit_norm = False  # True: tau takes k(x, x) = 1 (9.3)

    def __init__(self, kernel, *, budget=None, seed=0):
        self.kernel, self.budget = kernel, budget
        self.rng = np.random.default_rng(seed)
        self.points, self.a = [], []
        self.t = 0

    def row(self, x):
        """k_i = k(s_i, x)"""
        return kernel_row(self.kernel, self.points, x)

    def score(self, x):
        return float(np.sum(np.array(self.a) * self.row(x)))

    def support(self):
        return list(zip(self.points, self.a, strict=True))

    def append(self, x, a):
        self.points.append(np.array(x, dtype=float))
        self.a.append(float(a))

    def remove(self, i):
        del self.points[i], self.a[i]  # the rest keep their order

    def multiply(self, factor):
        self.a = [a * factor for a in self.a]

    def tau(self, cap, loss, x):
        return pa_step(cap, loss, 1.0 if self.unit_norm else self.kernel(x, x))

    def step(self, x, y, weight=1.0):
        """Learn from (x, y); returns the reported score, f_t(x)."""
        F = self.score(x)
        if weight == 0:
            return F  # no count, no draw, no decay
        self.t += 1
        u = self.rng.random() if self.draws else None
        full = self.budget is not None and len(self.points) >= self.budget  # n = B before the update
        self.update(x, y, F, u=u, full=full, weight=weight)
        return F


# ---- Sections 2 and 8: the learners that report the average of f_1 ... f_t ----


class AveragedLearner(Learner):
    """Beside a_i a second coefficient b_i = a_i s, s being the step of acceptance; f_t averaged has a - b/t."""

    draws = True

    def __init__(self, kernel, *, average=True, seed=0):
        super().__init__(kernel, seed=seed)
        self.average, self.b = average, []

    def coefficients(self, t):
        if not self.average:
            return np.array(self.a)
        if t == 0:
            return np.zeros(len(self.a))
        return np.array(self.a) - np.array(self.b) / t

    def support(self):
        """What score() is made of: a - b/T after T steps, or a."""
        return [(point, float(a)) for point, a in zip(self.points, self.coefficients(self.t), strict=True)]

    def score(self, x):
        return float(np.sum(self.coefficients(self.t) * self.row(x)))

    def last_score(self, x):
        """The last model, f_{T+1}(x)."""
        return float(np.sum(np.array(self.a) * self.row(x)))

    def step(self, x, y, weight=1.0):
        """Learn from (x, y); returns F - H/t, or F when average is False."""
        t = self.t + 1
        k = self.row(x)
        F, H = float(np.sum(np.array(self.a) * k)), float(np.sum(np.array(self.b) * k))  # 2.1
        reported = F - H / t if self.average else F  # 2.2
        if weight == 0:
            return reported
        self.t = t
        a = self.accepted(x, y, F, self.rng.random(), weight)
        if a is not None:
            self.append(x, a)
            self.b.append(a * t)
        return reported


class SPA(AveragedLearner):
    """Section 2."""

    def __init__(self, kernel, *, learning_rate=0.1, loss_cap=1.0, sampling_scale=20.0, average=True, seed=0):
        assert 0 < loss_cap <= sampling_scale
        super().__init__(kernel, average=average, seed=seed)
        self.learning_rate, self.loss_cap, self.sampling_scale = learning_rate, loss_cap, sampling_scale
        self.rho = 0.0  # of the last step

    def accepted(self, x, y, F, u, weight):
        loss = hinge(y, F)  # 2.3: from f_t, never from the average
        self.rho = min(self.loss_cap, loss) / self.sampling_scale
        if u < self.rho:  # 2.4
            return y * self.tau(weight * self.learning_rate / self.rho, loss, x)
        return None


class OSKL(AveragedLearner):
    """Section 8: logistic loss."""

    def __init__(self, kernel, *, learning_rate=0.1, sparsity=10.0, average=True, seed=0):
        assert sparsity >= 1
        super().__init__(kernel, average=average, seed=seed)
        self.learning_rate, self.sparsity = learning_rate, sparsity

    def accepted(self, x, y, F, u, weight):
        with np.errstate(over="ignore"):
            g = 1.0 / (1.0 + np.exp(y * F))
        if u < g / self.sparsity:
            return weight * self.learning_rate * self.sparsity * y
        return None


# ---- Section 6: no budget ----


class KernelPerceptron(Learner):
    """Mistake: append (x, y)."""

    def __init__(self, kernel, *, seed=0):
        super().__init__(kernel, seed=seed)

    def update(self, x, y, F, *, u=None, full=False, weight=1.0):
        if y * F <= 0:
            self.append(x, weight * y)


class KernelOGD(Learner):
    """y F < 1: append (x, eta y). No shrinking."""

    def __init__(self, kernel, *, learning_rate=0.1, seed=0):
        super().__init__(kernel, seed=seed)
        self.learning_rate = learning_rate

    def update(self, x, y, F, *, u=None, full=False, weight=1.0):
        if y * F < 1:
            self.append(x, weight * self.learning_rate * y)


class NORMA(Learner):
    """Shrinks at every step; y F < margin: append (x, eta_t y). An optional budget drops the oldest."""

    def __init__(self, kernel, *, learning_rate=0.1, regularization=0.01, margin=1.0, decay=False, budget=None, seed=0):
        super().__init__(kernel, budget=budget, seed=seed)
        self.learning_rate, self.regularization = learning_rate, regularization
        self.margin, self.decay = margin, decay

    def update(self, x, y, F, *, u=None, full=False, weight=1.0):
        eta = self.learning_rate / math.sqrt(self.t) if self.decay else self.learning_rate  # eta_t
        self.multiply(1.0 - eta * self.regularization)
        if y * F < self.margin:  # F is the score before the shrink
            self.append(x, weight * eta * y)
            if self.budget and len(self.points) > self.budget:
                self.remove(0)


class KernelPA(Learner):
    """PA-I. loss > 0: append (x, y tau(C, loss, x))."""

    def __init__(self, kernel, *, C=1.0, seed=0):
        super().__init__(kernel, seed=seed)
        self.C = C

    def update(self, x, y, F, *, u=None, full=False, weight=1.0):
        loss = hinge(y, F)
        if loss > 0:
            self.append(x, y * self.tau(weight * self.C, loss, x))


# ---- Section 7: budget B. "Full": n = B before the update. ----


class RBP(Learner):
    """Mistake: if full remove a uniform one; append (x, y). The incoming example is never the victim."""

    draws = True

    def __init__(self, kernel, *, budget=100, seed=0):
        super().__init__(kernel, budget=budget, seed=seed)

    def update(self, x, y, F, *, u=None, full=False, weight=1.0):
        if y * F <= 0:
            if full:
                self.remove(math.floor(u * len(self.points)))
            self.append(x, weight * y)


class Forgetron(Learner):
    """Self-tuned: M counts mistakes, Q sums the damage of the removals, Q <= 15/32 M."""

    draws = True  # drawn and ignored

    def __init__(self, kernel, *, budget=100, seed=0):
        super().__init__(kernel, budget=budget, seed=seed)
        self.M, self.Q = 0, 0.0
        self.phi = 1.0  # of the last removal

    def update(self, x, y, F, *, u=None, full=False, weight=1.0):
        if y * F > 0:
            return
        self.M += 1
        self.append(x, weight * y)
        if not full:
            return
        # now n = B + 1: the oldest, s_r, leaves
        d = abs(self.a[0])
        mu = float(np.sign(self.a[0])) * self.score(self.points[0])  # mu = y_r f'(s_r), f' including x
        # phi: the largest in (0, 1] with (d phi)^2 + 2 d phi (1 - phi mu) <= 15/32 M - Q, i.e. A phi^2 + b phi + c <= 0
        A, b, c = d**2 - 2.0 * d * mu, 2.0 * d, self.Q - 15.0 / 32.0 * self.M
        phi = 1.0 if A + b + c <= 0 else -2.0 * c / (b + math.sqrt(b**2 - 4.0 * A * c))  # covers A = 0
        self.multiply(phi)
        self.remove(0)
        self.Q += (d * phi) ** 2 + 2.0 * d * phi * (1.0 - phi * mu)
        self.phi = phi


class Projectron(Learner):
    """Mistake: project x onto the span when full or (nearly) in the span, otherwise append it."""

    def __init__(self, kernel, *, budget=100, tol=1e-8, seed=0):
        super().__init__(kernel, budget=budget, seed=seed)
        self.tol, self.inverse = tol, np.zeros((0, 0))  # K^-1

    def project(self, x):
        """q = K^-1 k, k.q and delta^2 = max(0, k(x, x) - k.q)."""
        k = self.row(x)
        q = self.inverse @ k
        return q, float(k @ q), max(0.0, self.kernel(x, x) - float(k @ q))

    def add(self, change):
        self.a = [a + float(da) for a, da in zip(self.a, change, strict=True)]

    def update(self, x, y, F, *, u=None, full=False, weight=1.0):
        if y * F > 0:
            return
        q, _, delta2 = self.project(x)
        n, kxx = len(self.points), self.kernel(x, x)
        if full or (n > 0 and delta2 <= self.tol * kxx):
            self.add(weight * y * q)
        elif kxx != 0:
            self.append(x, weight * y)
            # K^-1 <- [K^-1 0; 0 0] + e e^T / delta^2, e = (q, -1)
            e, bordered = np.append(q, -1.0), np.zeros((n + 1, n + 1))
            bordered[:n, :n] = self.inverse
            self.inverse = bordered + np.outer(e, e) / delta2


class ProjectronPP(Projectron):
    """As Projectron on mistakes; a margin error 0 < y F < 1 may add y tau q, never a support vector."""

    def update(self, x, y, F, *, u=None, full=False, weight=1.0):
        super().update(x, y, F, u=u, full=full, weight=weight)
        if not (0 < y * F < 1 and self.points):
            return
        q, norm, delta2 = self.project(x)  # norm: the specification's w = k.q
        if norm <= 0:
            return
        loss, B = hinge(y, F), self.budget
        tau = min(loss / norm, 1.0)
        U = 0.25 * math.sqrt((B + 1) / math.log(B + 1))
        if 2.0 * loss - tau * norm - 2.0 * U * math.sqrt(delta2) >= 0:
            self.add(weight * y * tau * q)


class BPAS(Learner):
    """loss > 0: PA step; when full, the vector whose removal costs least is projected onto x."""

    draws = True  # drawn and ignored

    def __init__(self, kernel, *, budget=100, C=1.0, seed=0):
        super().__init__(kernel, budget=budget, seed=seed)
        self.C = C

    def update(self, x, y, F, *, u=None, full=False, weight=1.0):
        loss = hinge(y, F)
        if loss == 0:
            return
        tau = self.tau(weight * self.C, loss, x)
        if not full:
            self.append(x, y * tau)
            return
        # r = argmin_i a_i^2 (k(s_i, s_i) - k_i^2 / k(x, x)); the quotients count 0 when k(x, x) = 0
        k, kxx = self.row(x), self.kernel(x, x)
        cost = [
            a**2 * (self.kernel(s, s) - (k_i**2 / kxx if kxx != 0 else 0.0))
            for s, a, k_i in zip(self.points, self.a, k, strict=True)
        ]
        r = int(np.argmin(cost))  # ties: lowest index
        moved = self.a[r] * float(k[r]) / kxx if kxx != 0 else 0.0
        self.remove(r)
        self.append(x, moved + y * tau)


class BOGD(Learner):
    """Shrinks at every step; y F < 1: append (x, eta y), after the oldest or a uniform one has left if full."""

    draws = True  # ignored by removal="oldest"

    def __init__(self, kernel, *, budget=100, learning_rate=0.1, regularization=1e-3, removal="oldest", seed=0):
        assert removal in ("oldest", "uniform")
        super().__init__(kernel, budget=budget, seed=seed)
        self.learning_rate, self.regularization, self.removal = learning_rate, regularization, removal

    def shrink(self):
        self.multiply(1.0 - self.learning_rate * self.regularization)

    def update(self, x, y, F, *, u=None, full=False, weight=1.0):
        self.shrink()  # at every step; F is the score before it
        self.gradient_step(x, y, F, u=u, full=full, weight=weight)

    def gradient_step(self, x, y, F, *, u=None, full=False, weight=1.0):
        if y * F >= 1:
            return
        if full and self.removal == "oldest":
            self.remove(0)
        elif full:
            n = len(self.points)  # B; n_i with a budget shared by several kernels
            self.multiply(n / (n - 1) if n > 1 else 1.0)
            self.remove(math.floor(u * n))
        self.append(x, weight * self.learning_rate * y)
        if full and self.removal == "uniform":
            self.multiply(min(1.0, self.learning_rate * 10.0 / max(abs(a) for a in self.a)))  # g = 10
