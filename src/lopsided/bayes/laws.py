"""The laws of the hierarchy: Gamma by shape and rate, generalised inverse Gaussian (GIG), and what is needed of them.

GIG(p, A, B) has the density ~ x^(p-1) exp(-(A x + B / x) / 2). Bessel functions are used in their scaled form: the
scale cancels in ratios.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln, k0e, k1e, kve, psi

from lopsided.core.arithmetic.compiled import Floats

LOG_2PI = math.log(2.0 * math.pi)
_LARGE = 1e5  # arguments of Bessel functions beyond which two terms of the expansion are exact


@dataclass(frozen=True)
class Gamma:
    """Ga(shape, rate), one or a vector of them."""

    shape: Any
    rate: Any

    @property
    def mean(self) -> Any:
        """<x>"""
        return self.shape / self.rate

    @property
    def mean_log(self) -> Any:
        """<log x>"""
        return psi(self.shape) - np.log(self.rate)

    def entropy(self) -> Any:
        """H"""
        s = self.shape
        return s - np.log(self.rate) + gammaln(s) + (1.0 - s) * psi(s)

    def expected_log_density(self, shape: float, mean_rate: Any, mean_log_rate: Any) -> Any:
        """E log Ga(x | shape, rate), the rate itself being uncertain."""
        return shape * mean_log_rate - gammaln(shape) + (shape - 1.0) * self.mean_log - mean_rate * self.mean

    def bound(self, shape: float, rate: float) -> float:
        """Its part of the lower bound under the prior Ga(shape, rate)."""
        return float(self.expected_log_density(shape, rate, math.log(rate)) + self.entropy())


@dataclass(frozen=True)
class InverseGaussian:
    """GIG(p, A, B), a vector of them."""

    p: float
    A: Floats
    B: Floats

    @staticmethod
    def of(p: float, A: Floats, B: Floats) -> InverseGaussian:
        """With arguments kept away from 0."""
        return InverseGaussian(p, np.maximum(A, 1e-300), np.maximum(B, 1e-300))

    @property
    def _s(self) -> Floats:
        return np.maximum(np.sqrt(self.A) * np.sqrt(self.B), 1e-150)

    def _bessel_ratio(self, order: float) -> Floats:
        """K_order(s) / K_p(s)."""
        s = self._s
        near = np.minimum(s, _LARGE)
        far = 1.0 + (order**2 - self.p**2) / (2.0 * s)
        if self.p == 0.0 and abs(order) == 1.0:  # the usual case has functions of its own, ten times as fast
            return np.asarray(np.where(s > _LARGE, far, k1e(near) / k0e(near)))
        return np.asarray(np.where(s > _LARGE, far, kve(order, near) / kve(self.p, near)))

    @property
    def mean(self) -> Floats:
        """<x>"""
        return self.means[0]

    @property
    def mean_inverse(self) -> Floats:
        """<1/x>, not by the recursion from <x>, which cancels."""
        return self.means[1]

    @cached_property
    def means(self) -> tuple[Floats, Floats]:
        """<x> and <1/x>: for p = 0 of one ratio, because K_-1 is K_1."""
        up = self._bessel_ratio(self.p + 1.0)
        down = up if self.p == 0.0 else self._bessel_ratio(self.p - 1.0)
        return np.asarray(np.sqrt(self.B / self.A) * up), np.asarray(np.sqrt(self.A / self.B) * down)

    def log_normalizer(self) -> Floats:
        """log of 2 K_p(s) (B / A)^(p/2)."""
        s = self._s
        far = 0.5 * np.log(math.pi / (2.0 * s)) - s + np.log1p((4.0 * self.p**2 - 1.0) / (8.0 * np.maximum(s, _LARGE)))
        near = np.log(kve(self.p, np.minimum(s, _LARGE))) - s
        log_bessel = np.where(s > _LARGE, far, near)
        return np.asarray(math.log(2.0) + log_bessel + 0.5 * self.p * (np.log(self.B) - np.log(self.A)))


class Shrinkage:
    """x_i ~ N(0, lambda_i), lambda_i ~ Ga(alpha, xi_i), xi_i ~ Ga(beta, phi), phi ~ Ga(1/2, eta), eta ~ Ga(1/2, 1).

    It pulls what is small to 0 and leaves alone what is large. All means start at 1.
    """

    def __init__(self, n: int, alpha: float, beta: float) -> None:
        self.alpha, self.beta = alpha, beta
        self.mean_inverse = np.ones(n)  # <1/lambda>
        self.scales: InverseGaussian | None = None
        self.rates = Gamma(np.ones(n), np.ones(n))
        self.top, self.top_rate = Gamma(1.0, 1.0), Gamma(1.0, 1.0)

    def update(self, squares: Floats) -> None:
        """lambda, xi, phi, eta in this order, given <x_i^2>."""
        scales = InverseGaussian.of(self.alpha - 0.5, 2.0 * self.rates.mean, squares)
        self.scales, self.mean_inverse = scales, scales.mean_inverse
        n = squares.size
        self.rates = Gamma(np.full(n, self.alpha + self.beta), self.top.mean + scales.mean)
        self.top = Gamma(0.5 + n * self.beta, self.top_rate.mean + float(np.sum(self.rates.mean)))
        self.top_rate = Gamma(1.0, 1.0 + self.top.mean)

    def bound(self, squares: Floats) -> float:
        """Its part of the lower bound, E log N(x | 0, lambda) included; exact also between updates."""
        scales, rates = self.scales, self.rates
        assert scales is not None
        of_scales = (
            -0.5 * LOG_2PI
            + self.alpha * rates.mean_log
            - gammaln(self.alpha)
            + scales.log_normalizer()
            + (0.5 * scales.A - rates.mean) * scales.mean
            + 0.5 * (scales.B - squares) * self.mean_inverse
        )
        of_rates = rates.expected_log_density(self.beta, self.top.mean, self.top.mean_log) + rates.entropy()
        of_top = self.top.expected_log_density(0.5, self.top_rate.mean, self.top_rate.mean_log) + self.top.entropy()
        of_top_rate = self.top_rate.expected_log_density(0.5, 1.0, 0.0) + self.top_rate.entropy()
        return float(np.sum(of_scales) + np.sum(of_rates) + of_top + of_top_rate)
