"""River's own checks pass for every registered online learner."""

import random

import pytest
from river import checks

import lopsided.adapters.river as adapters
from lopsided.adapters.river.ready import ready_names
from lopsided.estimators import registry


def test_there_is_a_class_for_every_online_learner():
    wanted = {f"River{entry.name}" for entry in registry.entries(is_learner=True, online=True)}
    assert set(ready_names()) == wanted <= set(dir(adapters))
    with pytest.raises(AttributeError, match="has no attribute 'RiverB2RMK'"):
        _ = adapters.RiverB2RMK  # learns from a whole set only


@pytest.mark.filterwarnings("ignore::lopsided.DivergenceWarning")
@pytest.mark.parametrize("name", ["RiverClassifier", *ready_names()])
def test_check_estimator_passes(name):
    random.seed(0)  # the checks shuffle
    kind = getattr(adapters, name)
    checks.check_estimator(kind(**next(kind._unit_test_params())))
