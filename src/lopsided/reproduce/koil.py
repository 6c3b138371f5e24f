"""The tables of KOIL and OILK: single kernels, many kernels, and the baselines beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lopsided import (
    KOIL,
    NORMA,
    OAM,
    OILK,
    OPAUC,
    RBP,
    Forgetron,
    MultiKernelKOIL,
    OnlinePerceptron,
    Projectron,
    ProjectronPP,
)
from lopsided.evaluate import grid
from lopsided.reproduce.protocols import folds
from lopsided.reproduce.table import LITERAL, Method, Table, built

_POWERS = [2.0**exponent for exponent in range(-10, 11)]
_VARIANTS: dict[str, dict[str, Any]] = {
    "KOIL_RS++": {"policy": "reservoir", "loss": "hinge"},
    "KOIL_FIFO++": {"policy": "fifo", "loss": "hinge"},
    "KOIL2_RS++": {"policy": "reservoir", "loss": "squared_hinge"},
    "KOIL2_FIFO++": {"policy": "fifo", "loss": "squared_hinge"},
}


def _koil(budget: int, n_neighbors: int) -> dict[str, Method]:
    pairs = grid(gamma=_POWERS, C=_POWERS)
    options: dict[str, Any] = {"budget": budget, "n_neighbors": n_neighbors, "learning_rate": 0.01}
    return {name: Method(built(KOIL, **variant, **options), pairs) for name, variant in _VARIANTS.items()}


def _baselines(budget: int, widths_of_norma: list[float]) -> dict[str, Method]:
    both = 2 * budget
    rates = [2.0**exponent for exponent in range(-12, 5, 2)]
    return {
        "Perceptron": Method(OnlinePerceptron),
        "OAM_seq": Method(built(OAM, variant="seq", budget=budget), grid(C=_POWERS)),
        "OPAUC": Method(OPAUC, grid(learning_rate=rates, regularization=[2.0**e for e in range(-10, 3, 2)])),
        "NORMA": Method(
            NORMA,
            grid(gamma=widths_of_norma, regularization=[2.0**e for e in range(-10, 1, 2)], learning_rate=[0.01, 0.1]),
        ),
        "RBP": Method(built(RBP, budget=both), grid(gamma=_POWERS)),
        "Forgetron": Method(built(Forgetron, budget=both), grid(gamma=_POWERS)),
        "Projectron": Method(built(Projectron, budget=both), grid(gamma=_POWERS, tol=[1e-8, 0.01, 0.1])),
        "Projectron++": Method(built(ProjectronPP, budget=both), grid(gamma=_POWERS, tol=[1e-8, 0.01, 0.1])),
    }


def _single_kernel(set_name: str) -> Mapping[str, Method]:
    budget, n_neighbors = (50, 5) if set_name.startswith("Syn") else (100, 10)
    # Without a budget NORMA takes seconds a pass over so many rows.
    widths_of_norma = _POWERS[::2] if set_name in ("shuttle", "poker") else _POWERS
    return _koil(budget, n_neighbors) | _baselines(budget, widths_of_norma)


def _many_kernels(set_name: str) -> Mapping[str, Method]:
    options: dict[str, Any] = {"budget": 100, "n_neighbors": 10, "learning_rate": 0.01, "weight_rate": 0.01}
    costs = _POWERS[::2] if set_name == "shuttle" else _POWERS
    letter = {"combine": "sign", "decay": False, "risk_scale": "C"}
    methods = {}
    for single, variant in _VARIANTS.items():
        name, make = single.replace("_", "_MKL_"), built(MultiKernelKOIL, **variant, **options)
        methods[name] = Method(make, grid(C=costs, combine=["raw", "sign"]))
        methods[name + LITERAL] = Method(built(make, **letter), grid(C=_POWERS))
    return methods


def _oilk(set_name: str) -> Mapping[str, Method]:
    gammas = [0.5 / 4.0**exponent for exponent in range(-5, 6)]  # sigma in 2^[-5:5]
    costs = [2.0**exponent for exponent in range(-15, 11, 3)]
    rates = [2.0**exponent for exponent in range(-15, -4, 2)]
    settings = grid(gamma=gammas, C=costs, learning_rate=rates)
    return {
        "Perceptron": Method(built(OnlinePerceptron, fit_intercept=True)),
        "OAM_seq": Method(built(OAM, variant="seq", budget=100), grid(C=_POWERS)),
        "OAM_gra": Method(built(OAM, variant="gra", budget=100), grid(C=_POWERS)),
        "NORMA": Method(NORMA, grid(gamma=gammas, regularization=_POWERS[:11:2], learning_rate=[0.01, 0.1])),
        "NORMA" + LITERAL: Method(built(NORMA, budget=200)),
        "OILK_FIFO": Method(built(OILK, policy="fifo", budget=200), settings),
        "OILK_RS": Method(built(OILK, policy="reservoir", budget=200), settings),
    }


_SAME = {
    name: name for name in ("sonar", "australian", "heart", "ionosphere", "diabetes", "glass", "german", "segment")
}
_REAL = _SAME | {name: name for name in ("satimage", "letter", "shuttle", "svmguide2", "vowel", "poker")}
_OILK_SETS = ("sonar", "australian", "heart", "ionosphere", "fourclass")
_ANOTHER_CLASS = "another of its classes was positive: linear rankers have .999 and .90 there, .91 and .75 here"
_TUNING = (
    "Parameters are chosen once, on the training rows of the first split: all settings under the first published inner "
    "labelling, the best 40 of them under all four (sets above 5,000 rows: the first only)."
)
_BASELINES = (
    "Perceptron, OAM and OPAUC are linear; NORMA, RBP, Forgetron, Projectron and Projectron++ have a Gaussian kernel, "
    "tuned as KOIL's, and as many vectors as both buffers of KOIL together; NORMA has no budget, "
    "and on shuttle and poker every second width."
)
_GRIDS = (
    "Grids: C of KOIL and OAM and every gamma in 2^-10, 2^-9, ..., 2^10 (the thesis prints this range for the width "
    "sigma, the authors' program searches gamma); OPAUC's rate in 2^-12, 2^-10, ..., 2^4, its regularisation in 2^-10, "
    "2^-8, ..., 2^2; NORMA's regularisation in 2^-10, 2^-8, ..., 1 with rates .01 and .1 (the thesis names lambda and "
    "nu, without values); the threshold of both Projectrons 1e-8, .01 or .1 (without values there too)."
)
_POKER = (
    "poker is as it is in the authors' file, suits from 1 to 4 and ranks from 1 to 13: it alone is not scaled there."
)
_UNSCALED = {"poker": "none"}

TABLES = [
    Table(
        name="koil-3.2",
        title="KOIL and baselines on four synthetic sets",
        sets={"Syn1": "s4", "Syn2": "s10", "Syn3": "s50", "Syn4": "s100"},
        methods=_single_kernel,
        perform=folds,
        measures=("AUC",),
        runs=20,
        reference="KOIL_RS++",
        remarks=(_TUNING, _GRIDS, _BASELINES, "50 vectors a class, 5 neighbours."),
        own=("KOIL",),
    ),
    Table(
        name="koil-3.3",
        title="KOIL and baselines on real sets",
        sets=_REAL,
        methods=_single_kernel,
        perform=folds,
        measures=("AUC",),
        runs=20,
        reference="KOIL_RS++",
        remarks=(
            _TUNING,
            _GRIDS,
            _BASELINES,
            "The authors' file of shuttle was not at hand: UCI's rows, random folds.",
            _POKER,
        ),
        scaling_of=_UNSCALED,
        own=("KOIL",),
    ),
    Table(
        name="koil-4.1",
        title="KOIL with 16 kernels",
        sets=_REAL,
        methods=_many_kernels,
        perform=folds,
        measures=("AUC",),
        runs=20,
        reference="KOIL_MKL_RS++",
        remarks=("C is tuned in 2^-10, 2^-9, ..., 2^10 (on shuttle for ours: every second).", _POKER),
        scaling_of=_UNSCALED,
        own=("KOIL",),
        ours={
            "KOIL": "the update keeps its decay, C stays out of the risk by which kernels are weighed, and whether "
            "they are added up by scores or by signs is tuned; the thesis has no decay, C times the risk, and signs"
        },
    ),
    Table(
        name="oilk-1",
        title="OILK and baselines",
        sets={name: name for name in _OILK_SETS},
        methods=_oilk,
        perform=folds,
        measures=("AUC",),
        runs=20,
        reference="OILK_FIFO",
        remarks=(
            "C in 2^-15, 2^-12, ..., 2^9, rate in 2^-15, 2^-13, ..., 2^-5, sigma in 2^-5, ..., 2^5 (the "
            "paper: every power of two between these ends); one buffer of 200. Perceptron (here with a bias, which "
            "comes nearer) and OAM are linear.",
        ),
        own=("OILK",),
        ours={"NORMA": "tuned, and without a budget; the paper has default parameters and a buffer of 200"},
        impossible={"segment": _ANOTHER_CLASS, "satimage": _ANOTHER_CLASS},
    ),
]
