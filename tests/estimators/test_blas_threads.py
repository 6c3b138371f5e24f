"""The threads of the linear algebra library: one inside of our products, and as before outside of them."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import lopsided as lp
from lopsided.core.rare.step import BEAT_DUE, RESTART_DUE, SCALE_DUE, YOUNG_DUE
from lopsided.datasets import four_clusters
from lopsided.estimators.base.blas import one_blas_thread
from lopsided.estimators.base.score_memory import ScoreMemory

BLAS = ThreadpoolController().select(user_api="blas")
STREAM = four_clusters(100, 300, random_state=1)


def numbers():
    return {library.num_threads for library in BLAS.lib_controllers}


@pytest.fixture(autouse=True)
def two_threads():
    with BLAS.limit(limits=2):
        yield
        assert numbers() == {2}


def test_one_thread_inside_and_as_many_as_before_outside():
    with one_blas_thread:
        assert numbers() == {1}
        with one_blas_thread:
            assert numbers() == {1}
        assert numbers() == {1}
    assert numbers() == {2}


def test_also_after_an_error():
    with pytest.raises(ZeroDivisionError), one_blas_thread:
        _ = 1 / 0


def test_many_threads_at_once_leave_the_number_as_it_was():
    def enter(_):
        with one_blas_thread:
            return numbers()

    with ThreadPoolExecutor(8) as threads:
        assert all(seen == {1} for seen in threads.map(enter, range(2000)))


LEARNERS = [
    lp.FourierRanker(n_components=30, random_state=0),
    lp.NOGD(budget=30, rank=10, random_state=0),
    lp.OB2RMK(kernels=[lp.kernels.Gaussian(gamma=1.0)], budget=10, n_iterations=3, max_sweeps=5, random_state=0),
    lp.B2RMK(kernels=[lp.kernels.Gaussian(gamma=1.0)], max_sweeps=5),
    lp.KernelPA(gamma=0.01, random_state=0),
    lp.RareEventClassifier(random_state=0),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_learners_multiply_with_one_thread(learner, monkeypatch):
    """Whatever is multiplied by the library while a learner learns or scores is multiplied inside."""
    X = np.tile(STREAM.X, (1, 40))  # wide enough for products of blocks
    entered = []
    enter = type(one_blas_thread).__enter__
    monkeypatch.setattr(type(one_blas_thread), "__enter__", lambda self: entered.append(1) or enter(self))
    learner.fit(X, STREAM.y).decision_function(X)
    assert entered


@pytest.mark.parametrize("due", [SCALE_DUE, RESTART_DUE, YOUNG_DUE, BEAT_DUE])
def test_what_falls_due_in_a_stream_of_rare_events_has_one_thread(due, monkeypatch):
    """Trees too: the sum of their weights is long enough for a second thread."""
    seen = []
    learner = lp.RareEventClassifier(random_state=0).partial_fit(STREAM.X, STREAM.y)
    monkeypatch.setattr(learner, "_do_due_parts", lambda: seen.append(numbers()))
    learner._do_what_is_due()
    assert seen == []
    learner._state.tally[due] = 1
    learner._do_what_is_due()
    assert seen == [{1}]


def test_probabilities_are_fitted_with_one_thread(monkeypatch):
    seen = []
    monkeypatch.setattr(ScoreMemory, "_fit_logistic", lambda self: (1.0, float(seen.append(numbers()) or 0.0)))
    lp.KOIL(gamma=0.1, random_state=0).partial_fit(STREAM.X, STREAM.y).predict_proba(STREAM.X[:1])
    assert seen == [{1}]
