"""The tables of SPA and BOMKC: online accuracy, accuracy on a test file, and many kernels."""

from __future__ import annotations

from collections.abc import Mapping

from lopsided import (
    BOGD,
    BOMKC,
    BPAS,
    OMKC,
    OSKL,
    RBP,
    SPA,
    Forgetron,
    KernelOGD,
    KernelPA,
    KernelPerceptron,
    Projectron,
    ProjectronPP,
)
from lopsided.evaluate import grid
from lopsided.kernels import default_pool
from lopsided.reproduce.batch_baselines import KernelPegasos, Pegasos, libsvm
from lopsided.reproduce.protocols import permutations, train_and_test_files
from lopsided.reproduce.table import LITERAL, Method, Table, built

_RATES = [10.0**exponent for exponent in range(-3, 4)]
_CAPS = [0.25, 0.5, 1.0, 2.0]
# Published vectors of SPA, which the others get as their budget; beta; OSKL's sparsity that gives as many vectors.
_BUDGET = {"a9a": 1350, "w7a": 175, "codrna": 822, "covtype": 1510}
_BETA = {"a9a": 20.0, "w7a": 200.0, "codrna": 20.0, "covtype": 200.0}
_SPARSITY = {"a9a": 11.6, "w7a": 59.0, "codrna": 9.6, "covtype": 150.0}
_MOST_UNBOUNDED = 70_000  # rows; beyond it an unbounded learner keeps hundreds of thousands of vectors


def _single_kernel(set_name: str) -> Mapping[str, Method]:
    kernel = {"gamma": 0.4}
    bounded = kernel | {"budget": _BUDGET[set_name]}
    return {
        "Perceptron": Method(built(KernelPerceptron, **kernel), most_rows=_MOST_UNBOUNDED),
        "OGD": Method(built(KernelOGD, **kernel), grid(learning_rate=_RATES), most_rows=_MOST_UNBOUNDED),
        "PA-I": Method(built(KernelPA, **kernel), grid(C=_CAPS), most_rows=_MOST_UNBOUNDED),
        "RBP": Method(built(RBP, **bounded)),
        "Forgetron": Method(built(Forgetron, **bounded)),
        "Projectron": Method(built(Projectron, **bounded)),
        "Projectron++": Method(built(ProjectronPP, **bounded)),
        "BPA-S": Method(built(BPAS, **bounded), grid(C=_CAPS)),
        "BOGD": Method(built(BOGD, **bounded), grid(learning_rate=_RATES)),
        "OSKL": Method(built(OSKL, sparsity=_SPARSITY[set_name], **kernel), grid(learning_rate=_RATES)),
        "SPA": Method(built(SPA, sampling_scale=_BETA[set_name], **kernel), grid(learning_rate=_RATES)),
    }


_TEST_BUDGET = {"a9a": 2079, "w7a": 3710, "codrna": 2386}


def _test_file(set_name: str) -> Mapping[str, Method]:
    gammas = [2.0**exponent for exponent in range(-5, 6)]
    both = grid(gamma=gammas, learning_rate=_RATES)
    budget = _TEST_BUDGET[set_name]
    return {
        "Pegasos": Method(Pegasos, grid(gamma=gammas, alpha=[10.0**exponent for exponent in range(-7, 0)])),
        "Pegasos" + LITERAL: Method(KernelPegasos, grid(gamma=gammas[::2], alpha=[10.0**e for e in range(-7, 0)])),
        "BOGD": Method(built(BOGD, budget=budget), both),
        "BPA-S": Method(built(BPAS, budget=budget), grid(gamma=gammas, C=_RATES)),
        "OSKL-last": Method(built(OSKL, sparsity=3.0, average=False), both),
        "OSKL-avg": Method(built(OSKL, sparsity=3.0), both),
        "SPA-last": Method(built(SPA, sampling_scale=5.0, average=False), both),
        "SPA-avg": Method(built(SPA, sampling_scale=5.0), both),
        "LIBSVM": Method(libsvm, grid(gamma=gammas[:7:2], C=[1.0, 10.0])),
    }


# What the authors' program does: steps as if k(x, x) = 1, and a kernel without an opinion votes for the negative class.
_AS_PROGRAMMED = {"unit_norm": True, "zero_vote": -1}


def _many_kernels(set_name: str) -> Mapping[str, Method]:
    each = grid(kernel=default_pool())
    return {
        "Per(*)": Method(KernelPerceptron, each),
        "U": Method(built(OMKC, variant="U", **_AS_PROGRAMMED)),
        "DD": Method(built(OMKC, variant="DD", **_AS_PROGRAMMED)),
        "SD": Method(built(OMKC, variant="SD", **_AS_PROGRAMMED)),
        "DDPA": Method(built(OMKC, variant="DD", base="pa", **_AS_PROGRAMMED)),
        "SDPA": Method(built(OMKC, variant="SD", base="pa", **_AS_PROGRAMMED)),
        "BOMKC(SPA)": Method(built(BOMKC, **_AS_PROGRAMMED)),
    }


# What bounds each kernel of OMKC: its name in the paper and here.
BOUNDED_BASES = (("RBP", "rbp"), ("Forgetron", "forgetron"), ("BOGD", "bogd"), ("BPA-S", "bpas"))
_TOTAL = {"a9a": 14544, "codrna": 5744, "ijcnn1": 4384}


def _bounded_many_kernels(set_name: str) -> Mapping[str, Method]:
    methods = {}
    for variant in ("DD", "SD"):
        for name, base in BOUNDED_BASES:
            rates = grid(learning_rate=[1.0, 0.1, 0.01, 1e-3, 1e-4]) if base == "bogd" else [{}]
            make = built(OMKC, variant=variant, base=base, budget=_TOTAL[set_name], **_AS_PROGRAMMED)
            methods[f"{variant} {name}"] = Method(make, rates)
    scale = {"codrna": 10.0}.get(set_name, 3.0)  # 10 from 100,000 rows on
    return methods | {"BOMKC(SPA)": Method(built(BOMKC, sampling_scale=scale, **_AS_PROGRAMMED))}


# Percent of rows in the rarer class: what always answering the other one gets wrong.
_RARER = {"german": 30.0, "madelon": 50.0, "magic04": 35.16, "svmguide3": 23.81, "covtype": 48.76, "codrna": 33.33}
_RARER |= {"a9a": 23.93, "w7a": 2.97}

_NO_KDD08 = {"KDD08": "its file could not be obtained"}
_NO_SUSY = {"SUSY": "its file could not be obtained"}

TABLES = [
    Table(
        name="spa-2",
        title="Online accuracy (%), one kernel",
        sets={name: name for name in ("a9a", "w7a", "codrna", "covtype")},
        methods=_single_kernel,
        perform=permutations,
        measures=("accuracy", "vectors"),
        runs=20,
        reference="SPA",
        percent=True,
        remarks=(
            "Kernel exp(-0.4 d^2), budgets equal to SPA's published vectors; step sizes and caps from the published "
            "grids, chosen on an order of their own. OSKL's sparsity is set so that it keeps as many vectors. codrna "
            "and covtype are scaled to [-1, 1]: with it the perceptron has the published number of vectors on codrna.",
        ),
        scaling="symmetric",
        impossible=_NO_KDD08 | _NO_SUSY,
        too_long={
            "covtype": "for time: without a budget more than a hundred thousand vectors are kept, and a step of "
            "Projectron is quadratic in its 1,510"
        },
        own=("SPA",),
        rarer=_RARER,
    ),
    Table(
        name="spa-3",
        title="Accuracy (%) on the test file",
        sets={"a9a": "a9a", "w7a": "w7a", "codrna": "codrna+test"},
        methods=_test_file,
        perform=train_and_test_files,
        measures=("accuracy", "vectors"),
        runs=10,
        reference="SPA-avg",
        percent=True,
        remarks=(
            "Kernel width and rate or C by 5-fold cross-validation on 8,000 rows of the training file; beta 5. gamma "
            "in 2^-5, 2^-4, ..., 2^5, rate or C in .001, .01, ..., 1,000; Pegasos: every second gamma, lambda in 1e-7, "
            "..., .1; LIBSVM: gamma in 2^-5, 2^-3, 1/2, 2, C 1 or 10.",
            "LIBSVM's ten runs are one: the order of rows is all the same to it.",
        ),
        scaling="symmetric",
        impossible=_NO_KDD08,
        too_long={"codrna": "for time: 42 settings of a learner without a budget"},
        own=("SPA",),
        ours={"Pegasos": "scikit-learn's hinge SGD on 500 Nystroem features; the paper's works in the kernel itself"},
        rarer=_RARER | {"a9a": 23.62, "w7a": 2.95},  # of the test files
    ),
    Table(
        name="spa-5",
        title="Online error (%), 16 kernels",
        sets={name: name for name in ("german", "madelon", "a9a", "magic04", "svmguide3")},
        methods=_many_kernels,
        perform=permutations,
        measures=("error", "vectors"),
        runs=10,
        reference="BOMKC(SPA)",
        percent=True,
        lower_is_better=True,
        scaling="none",
        scaling_of={"german": "symmetric"},
        remarks=(
            "german in [-1, 1], the others as they are, and `unit_norm`, the step of the authors' program: of the "
            "readings tried only these give the published counts of vectors. A kernel with score 0 votes for the "
            "negative class, as in that program, which matters on magic04. Per(*) is the perceptron with the "
            "kernel that is best on an order of its own.",
            "Always answering the larger class is wrong on 30 % of german and 50 % of madelon: an error near that is "
            "marked =, also where more is published, and is not called better.",
        ),
        impossible=_NO_KDD08,
        own=("BOMKC",),
        rarer=_RARER,
    ),
    Table(
        name="spa-6",
        title="Online error (%), 16 kernels within a budget",
        sets={"a9a": "a9a", "codrna": "codrna_test"},
        methods=_bounded_many_kernels,
        perform=permutations,
        measures=("error", "vectors"),
        runs=10,
        reference="BOMKC(SPA)",
        percent=True,
        lower_is_better=True,
        remarks=(
            "Budgets equal to BOMKC's published total. codrna is its test file of 271,617 rows, as the paper's list of "
            "sets has it, scaled to [-1, 1].",
            "BOGD's rate in 1, .1, ..., 1e-4, by an order of its own; its regularisation is not searched.",
        ),
        scaling="symmetric",
        impossible=_NO_KDD08 | {"ijcnn1": "only its validation part could be obtained"},
        own=("BOMKC",),
        rarer=_RARER,
    ),
]
