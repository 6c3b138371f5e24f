"""Naive transcription of the SPA specification, several kernels: BOMKC(SPA) and the OMKC family (sections 3, 4, 5).

One expansion and one weight theta_i per kernel; nothing is cached from one step to the next. Labels are -1/+1,
kernels are those of oracles.koil, component rules those of oracles.spa. Parameters: discount is gamma_h, exploration
delta, learning_rate eta, loss_cap alpha, sampling_scale beta, budget the total B.
"""

import numpy as np

from oracles import spa
from oracles.koil import gaussian, polynomial


def default_kernels():
    """Section 3: 13 Gaussians, sigma = 2^-6 ... 2^6, then polynomials of degree 1, 2, 3."""
    sigmas = [2.0**j for j in range(-6, 7)]
    return [gaussian(1.0 / (2.0 * sigma**2)) for sigma in sigmas] + [polynomial(p) for p in (1, 2, 3)]


class Vote:
    """m expansions and their weights theta, initially 1/m each. `p` are the probabilities of the last step."""

    def __init__(self, members, *, discount, exploration, zero_vote, strict, seed):
        self.members = members
        self.discount, self.exploration = discount, exploration
        self.zero_vote, self.strict = zero_vote, strict
        self.rng = np.random.default_rng(seed)
        self.theta = np.full(len(members), 1.0 / len(members))
        self.p = self.probabilities()

    def scores(self, x):
        """F_i = f_i(x), from f_t, not from averages."""
        return [member.score(x) for member in self.members]

    def score(self, x):
        """sum_i theta_i sgn(F_i), with sgn(0) = zero_vote."""
        votes = [np.sign(F) if F != 0 else self.zero_vote for F in self.scores(x)]
        return float(np.sum(self.theta * np.array(votes, dtype=float)))

    def support(self):
        """For each kernel the list of (point, coefficient)."""
        return [member.support() for member in self.members]

    def probabilities(self):
        """p_i = (1 - delta) (theta_i / max_j theta_j) + delta: exactly 1 for the heaviest kernel."""
        return (1.0 - self.exploration) * (self.theta / np.max(self.theta)) + self.exploration

    def uniforms(self):
        """One for each kernel, in kernel order."""
        return [self.rng.random() for _ in self.members]

    def wrong(self, y, F):
        """Is the kernel discounted? y F <= 0, or as printed y F < 0 (9.1)."""
        return y * F < 0 if self.strict else y * F <= 0

    def normalize(self):
        self.theta = self.theta / np.sum(self.theta)  # once per step, after all kernels (9.6)


class BOMKC(Vote):
    """Section 3: SPA components."""

    def __init__(
        self,
        kernels,
        *,
        learning_rate=0.1,
        loss_cap=1.0,
        sampling_scale=3.0,
        discount=0.99,
        exploration=0.001,
        zero_vote=1,
        unit_norm=False,
        strict=False,
        seed=0,
    ):
        assert 0 < loss_cap <= sampling_scale
        self.learning_rate, self.loss_cap, self.sampling_scale = learning_rate, loss_cap, sampling_scale
        members = [spa.Learner(kernel) for kernel in kernels]
        for member in members:
            member.unit_norm = unit_norm
        super().__init__(
            members, discount=discount, exploration=exploration, zero_vote=zero_vote, strict=strict, seed=seed
        )

    def step(self, x, y, weight=1.0):
        """Learn from (x, y); returns the vote before."""
        reported = self.score(x)  # 3.1
        if weight == 0:
            return reported  # no count, no draw, no discount
        F = self.scores(x)
        self.p = self.probabilities()  # 3.2: from the weights before this step
        u = self.uniforms()
        for i, member in enumerate(self.members):
            # 3.3: the trial has probability rho_i p_i, the step size uses rho_i
            loss = spa.hinge(y, F[i])
            rho = min(self.loss_cap, loss) / self.sampling_scale
            if u[i] < rho * self.p[i]:
                member.append(x, y * member.tau(weight * self.learning_rate / rho, loss, x))
            # 3.4: whatever the trial gave
            if self.wrong(y, F[i]):
                self.theta[i] *= self.discount
        self.normalize()  # 3.5
        return reported


class OMKC(Vote):
    """Sections 4 (perceptron, pa: no budget) and 5 (rbp, forgetron, bogd, bpas: total budget B)."""

    def __init__(
        self,
        kernels,
        *,
        variant="DD",
        base="perceptron",
        budget=None,
        learning_rate=0.1,
        C=0.1,
        regularization=1e-3,
        removal="oldest",
        discount=0.99,
        exploration=0.001,
        zero_vote=1,
        unit_norm=False,
        strict=False,
        seed=0,
    ):
        assert variant in ("U", "DD", "SD") and (variant != "U" or base == "perceptron")
        assert (budget is None) == (base in ("perceptron", "pa"))
        build = {
            "perceptron": lambda kernel: spa.KernelPerceptron(kernel),
            "pa": lambda kernel: spa.KernelPA(kernel, C=learning_rate),  # PA-I with cap eta
            "rbp": lambda kernel: spa.RBP(kernel),
            "forgetron": lambda kernel: spa.Forgetron(kernel),
            "bogd": lambda kernel: spa.BOGD(
                kernel, learning_rate=learning_rate, regularization=regularization, removal=removal
            ),
            "bpas": lambda kernel: spa.BPAS(kernel, C=C),
        }[base]
        members = [build(kernel) for kernel in kernels]
        for member in members:
            member.unit_norm = unit_norm
        super().__init__(
            members, discount=discount, exploration=exploration, zero_vote=zero_vote, strict=strict, seed=seed
        )
        self.variant, self.base, self.budget = variant, base, budget

    def full(self, i):
        """Section 5. DD: n_i >= floor(B/m). SD: sum_j n_j >= B, as it is when kernel i is processed."""
        if self.budget is None:
            return False
        sizes = [len(member.points) for member in self.members]
        if self.variant == "SD":
            return sum(sizes) >= self.budget
        return sizes[i] >= self.budget // len(self.members)

    def step(self, x, y, weight=1.0):
        """Learn from (x, y); returns the vote before."""
        reported = self.score(x)
        if weight == 0:
            return reported  # no count, no draw, no discount, no shrink
        F = self.scores(x)
        self.p = self.probabilities()  # from the weights before this step
        trials = self.uniforms() if self.variant == "SD" else None
        evictions = self.uniforms() if self.base in ("rbp", "bogd") else [None] * len(self.members)
        for i, member in enumerate(self.members):
            if self.base == "bogd":
                member.shrink()  # every step, every kernel, also when u_i >= p_i
            if self.variant == "SD" and trials[i] >= self.p[i]:
                continue  # SD: neither discount nor component update
            if self.variant != "U" and self.wrong(y, F[i]):
                self.theta[i] *= self.discount
            full = self.full(i)
            if full and not member.points:
                continue  # nothing of its own to evict: no component update (9.7)
            component = member.gradient_step if self.base == "bogd" else member.update
            component(x, y, F[i], u=evictions[i], full=full, weight=weight)
        if self.variant != "U":  # U: fixed 1/m
            self.normalize()
        return reported
