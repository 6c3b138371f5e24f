"""Kernels as small values: what two points have in common.

A kernel is made once and given to a learner, `KOIL(kernel=Gaussian(sigma=0.5))`; called, it returns the matrix of
similarities, which is handy for looking and for tests. Learners evaluate it in compiled code.

>>> from lopsided.kernels import Gaussian, Polynomial, Normalized, Sum
>>> Gaussian(sigma=0.5)([[0.0, 0.0]], [[0.3, 0.4]])
array([[0.60653066]])
>>> Sum([Gaussian(gamma=2.0), Normalized(Polynomial(degree=2, coef0=1.0))], weights=[0.5, 0.5])
Sum([Gaussian(gamma=2.0), Normalized(Polynomial(degree=2, coef0=1.0))], weights=[0.5, 0.5])
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lopsided.constraints import ParameterError, check_parameters, number, whole
from lopsided.core.geometry.kernels import GAUSSIAN, POLYNOMIAL
from lopsided.core.geometry.kernels import Kernel as CompiledKernel

__all__ = ["Gaussian", "Kernel", "Linear", "Normalized", "Polynomial", "Sum", "bayes_pool", "default_pool"]

Matrix = npt.NDArray[np.float64]
# kind, gamma or offset, degree, weight, normalised: a row of the compiled form
Atom = tuple[float, float, float, float, float]


class Kernel(ABC):
    """A similarity k(x, z) of two points."""

    def __call__(self, X: npt.ArrayLike, Z: npt.ArrayLike | None = None) -> Matrix:
        """The matrix k(x_i, z_j); Z defaults to X."""
        left = np.asarray(X, dtype=np.float64)
        return self._matrix(left, left if Z is None else np.asarray(Z, dtype=np.float64))

    def compiled(self) -> CompiledKernel:
        """The same kernel as the numbers that compiled code reads."""
        atoms, normalized = self._atoms()
        return CompiledKernel(np.array(atoms, dtype=np.float64), normalized)

    @abstractmethod
    def _matrix(self, X: Matrix, Z: Matrix) -> Matrix: ...

    @abstractmethod
    def _diagonal(self, X: Matrix) -> Matrix: ...

    @abstractmethod
    def _atoms(self) -> tuple[list[Atom], bool]: ...

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Name and parameters, for a model file."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(repr(self))


class Gaussian(Kernel):
    """k(x, z) = exp(-gamma ||x - z||^2), with gamma = 1 / (2 sigma^2); give one of the two (default gamma = 1).

    Parameters
    ----------
    gamma : float > 0, optional
        Inverse width: the larger, the narrower.
    sigma : float > 0, optional
        Width: the larger, the wider.
    """

    def __init__(self, gamma: float | None = None, sigma: float | None = None) -> None:
        if gamma is not None and sigma is not None:
            raise ParameterError(
                "The kernel Gaussian must be given gamma or sigma (gamma = 1 / (2 sigma^2)). Got both."
            )
        if sigma is not None:
            check_parameters("Gaussian", {"sigma": sigma}, {"sigma": number(above=0)})
            gamma = 0.5 / sigma**2
        check_parameters("Gaussian", {"gamma": 1.0 if gamma is None else gamma}, {"gamma": number(above=0)})
        self.gamma = 1.0 if gamma is None else float(gamma)

    @property
    def sigma(self) -> float:
        """The width."""
        return math.sqrt(0.5 / self.gamma)

    def _matrix(self, X: Matrix, Z: Matrix) -> Matrix:
        differences = X[:, None, :] - Z[None, :, :]
        return np.exp(-self.gamma * np.einsum("ijk,ijk->ij", differences, differences))

    def _diagonal(self, X: Matrix) -> Matrix:
        return np.ones(len(X))

    def _atoms(self) -> tuple[list[Atom], bool]:
        return [(GAUSSIAN, self.gamma, 0.0, 1.0, 0.0)], False

    def to_json(self) -> dict[str, Any]:
        return {"name": "Gaussian", "gamma": self.gamma}

    def __repr__(self) -> str:
        return f"Gaussian(gamma={self.gamma!r})"


class Polynomial(Kernel):
    """k(x, z) = (x.z + coef0)^degree.

    Parameters
    ----------
    degree : int >= 1, default=3
        The power.
    coef0 : float >= 0, default=0.0
        The constant that is added before.
    """

    def __init__(self, degree: int = 3, coef0: float = 0.0) -> None:
        check_parameters(
            "Polynomial", {"degree": degree, "coef0": coef0}, {"degree": whole(1), "coef0": number(least=0)}
        )
        self.degree = int(degree)
        self.coef0 = float(coef0)

    def _matrix(self, X: Matrix, Z: Matrix) -> Matrix:
        return np.asarray((X @ Z.T + self.coef0) ** self.degree)

    def _diagonal(self, X: Matrix) -> Matrix:
        return np.asarray((np.einsum("ij,ij->i", X, X) + self.coef0) ** self.degree)

    def _atoms(self) -> tuple[list[Atom], bool]:
        return [(POLYNOMIAL, self.coef0, float(self.degree), 1.0, 0.0)], False

    def to_json(self) -> dict[str, Any]:
        return {"name": "Polynomial", "degree": self.degree, "coef0": self.coef0}

    def __repr__(self) -> str:
        return f"Polynomial(degree={self.degree}, coef0={self.coef0!r})"


class Linear(Polynomial):
    """k(x, z) = x.z."""

    def __init__(self) -> None:
        super().__init__(degree=1, coef0=0.0)

    def to_json(self) -> dict[str, Any]:
        return {"name": "Linear"}

    def __repr__(self) -> str:
        return "Linear()"


class Normalized(Kernel):
    """k(x, z) / sqrt(k(x, x) k(z, z)): every point gets length 1 (a point of length 0 keeps it).

    Parameters
    ----------
    kernel : Kernel
        The kernel to normalise.
    """

    def __init__(self, kernel: Kernel) -> None:
        _check_kernels("Normalized", [kernel])
        self.kernel = kernel

    def _matrix(self, X: Matrix, Z: Matrix) -> Matrix:
        lengths = np.sqrt(np.outer(self.kernel._diagonal(X), self.kernel._diagonal(Z)))
        return np.divide(self.kernel._matrix(X, Z), lengths, out=np.zeros_like(lengths), where=lengths > 0)

    def _diagonal(self, X: Matrix) -> Matrix:
        return np.asarray(self.kernel._diagonal(X) > 0, dtype=np.float64)

    def _atoms(self) -> tuple[list[Atom], bool]:
        atoms, normalized = self.kernel._atoms()
        if normalized or len(atoms) > 1:
            return atoms, True
        kind, parameter, degree, _, _ = atoms[0]
        return [(kind, parameter, degree, 1.0, 1.0)], False

    def to_json(self) -> dict[str, Any]:
        return {"name": "Normalized", "kernel": self.kernel.to_json()}

    def __repr__(self) -> str:
        return f"Normalized({self.kernel!r})"


class Sum(Kernel):
    """k(x, z) = sum_l weights_l k_l(x, z), with weights 1 unless given.

    Parameters
    ----------
    kernels : list of kernels
        The parts. None of them may be a normalised sum.
    weights : list of floats > 0, optional
        One for each part.
    """

    def __init__(self, kernels: Sequence[Kernel], weights: Sequence[float] | None = None) -> None:
        self.kernels = list(kernels)
        _check_kernels("Sum", self.kernels)
        self.weights = [1.0] * len(self.kernels) if weights is None else [float(weight) for weight in weights]
        if len(self.weights) != len(self.kernels) or not all(w > 0 and math.isfinite(w) for w in self.weights):
            raise ParameterError(
                f"The 'weights' parameter of Sum must be one finite number > 0 for each of the {len(self.kernels)} "
                f"kernels. Got {weights!r} instead."
            )

    def _matrix(self, X: Matrix, Z: Matrix) -> Matrix:
        return np.sum([w * k._matrix(X, Z) for w, k in zip(self.weights, self.kernels, strict=True)], axis=0)

    def _diagonal(self, X: Matrix) -> Matrix:
        return np.sum([w * k._diagonal(X) for w, k in zip(self.weights, self.kernels, strict=True)], axis=0)

    def _atoms(self) -> tuple[list[Atom], bool]:
        flat: list[Atom] = []
        for weight, kernel in zip(self.weights, self.kernels, strict=True):
            atoms, normalized = kernel._atoms()
            if normalized:
                raise ParameterError(
                    "A member of the kernel Sum must not be a normalised sum, because learners evaluate one level of "
                    f"normalisation. Got {kernel!r}; normalise its parts or the whole sum."
                )
            flat += [(kind, parameter, degree, weight * w, n) for kind, parameter, degree, w, n in atoms]
        return flat, False

    def to_json(self) -> dict[str, Any]:
        return {"name": "Sum", "kernels": [k.to_json() for k in self.kernels], "weights": self.weights}

    def __repr__(self) -> str:
        return f"Sum({self.kernels!r}, weights={self.weights!r})"


def _check_kernels(owner: str, kernels: Sequence[Any]) -> None:
    for kernel in kernels:
        if not isinstance(kernel, Kernel):
            raise ParameterError(
                f"The kernel {owner} must be made of kernels of lopsided.kernels. Got {kernel!r} instead."
            )
    if not kernels:
        raise ParameterError(f"The kernel {owner} must be made of at least one kernel. Got none.")


def kernel_from_json(description: dict[str, Any]) -> Kernel:
    """The kernel that `to_json` described. Only the names of this module are understood."""
    name = description["name"]
    if name == "Gaussian":
        return Gaussian(gamma=description["gamma"])
    if name == "Polynomial":
        return Polynomial(degree=description["degree"], coef0=description["coef0"])
    if name == "Linear":
        return Linear()
    if name == "Normalized":
        return Normalized(kernel_from_json(description["kernel"]))
    if name == "Sum":
        return Sum([kernel_from_json(part) for part in description["kernels"]], weights=description["weights"])
    raise ParameterError(f"A kernel must be one of {', '.join(__all__[:-2])}. Got {name!r} instead.")


def default_pool() -> list[Kernel]:
    """The 16 kernels of the published experiments: Gaussians of width 2^-6 ... 2^6, then (x.z)^1, 2, 3."""
    widths: list[Kernel] = [Gaussian(sigma=2.0**e) for e in range(-6, 7)]
    return widths + [Polynomial(degree=p) for p in (1, 2, 3)]


def bayes_pool() -> list[Kernel]:
    """The 18 kernels of the Bayesian ranker, all of length 1: the same Gaussians, then normalised (1 + x.z)^1 ... 5."""
    widths: list[Kernel] = [Gaussian(sigma=2.0**e) for e in range(-6, 7)]
    return widths + [Normalized(Polynomial(degree=q, coef0=1.0)) for q in range(1, 6)]
