"""Parts for the small instances on which every learner is checked: kernels, learners, scalers, a schema.

Functions, because making a kernel or a learner imports compiled code, and naming one in an entry must not.
"""

from __future__ import annotations

from typing import Any


def two_kernels() -> list[Any]:
    """Kernels of different shape, so that an expert's weight matters."""
    from lopsided.kernels import Gaussian, Linear

    return [Gaussian(gamma=0.5), Linear()]


def three_kernels() -> list[Any]:
    """A narrow one, a wide one and a polynomial."""
    from lopsided.kernels import Gaussian, Polynomial

    return [Gaussian(gamma=0.3), Gaussian(gamma=2.0), Polynomial(2, 1.0)]


def normalized_polynomial() -> Any:
    """A kernel whose values need the length of both points."""
    from lopsided.kernels import Normalized, Polynomial

    return Normalized(Polynomial(2, 1.0))


def sum_of_kernels() -> Any:
    """A kernel made of two."""
    from lopsided.kernels import Gaussian, Normalized, Polynomial, Sum

    return Sum([Gaussian(sigma=1.5), Normalized(Polynomial(2, 1.0))])


def small_koil() -> Any:
    """A learner for pipelines."""
    from lopsided.estimators.kernel.koil import KOIL

    return KOIL(budget=8)


def small_oilk() -> Any:
    """Another one."""
    from lopsided.estimators.kernel.oilk import OILK

    return OILK(budget=12)


def perceptron() -> Any:
    """One that a command line would choose for sparse rows."""
    from lopsided.estimators.linear.classifiers import OnlinePerceptron

    return OnlinePerceptron()


def a_perceptron_for_each_word() -> Any:
    """A model for each key of a table, more keys than there is room for in memory."""
    from lopsided.estimators.compose.keyed_learner import KeyedLearner

    return KeyedLearner(perceptron(), key="word", max_keys=2, spill="temporary")


def koil_and_linear() -> list[Any]:
    """Members of a pool: one that draws, one that does not."""
    from lopsided.estimators.linear.classifiers import OCS

    return [small_koil(), OCS()]


def averaged_and_scaled() -> list[Any]:
    """Members of a pool: one that leaves examples unscored, one behind a scaler."""
    from lopsided.estimators.compose.pipeline import StreamPipeline
    from lopsided.estimators.kernel.spa import SPA
    from lopsided.estimators.linear.rankers import OPAUC

    return [SPA(sampling_scale=2.0), StreamPipeline(scaler(), OPAUC(learning_rate=0.001))]


def scaler() -> Any:
    """The usual one."""
    from lopsided.estimators.compose.scaler import OnlineScaler

    return OnlineScaler()


def minmax_scaler() -> Any:
    """Another kind."""
    from lopsided.estimators.compose.scaler import OnlineScaler

    return OnlineScaler("minmax")


def zero_keeping_scaler() -> Any:
    """One that takes CSR rows."""
    from lopsided.estimators.compose.scaler import OnlineScaler

    return OnlineScaler(center=False)


def schema() -> Any:
    """Columns as `lopsided.checks` makes them: two numbers, of which one may be missing, and a word."""
    from lopsided.encoding import infer_schema

    return infer_schema({"a": [0.5, -1.5], "b": [2.5, None], "word": ["red", "blue"]})


def history() -> Any:
    """Of the word of such columns."""
    from lopsided.estimators.compose.history import KeyedHistory

    return KeyedHistory(keys=["word"], time="a", half_lives=["1h"], slots=64)


def history_of_amounts() -> Any:
    """Of a number that may be missing, too."""
    from lopsided.estimators.compose.history import KeyedHistory

    return KeyedHistory(keys=["word", "b"], time="a", value="b", half_lives=["1h", "1d"], slots=4096)
