"""Every learner of the registry, in every trial, keeps all of its promises."""

import pytest

from lopsided.checks import check_learner
from lopsided.estimators import registry

LEARNERS = [instance for entry in registry.entries(is_learner=True) for instance in entry.instances()]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: " ".join(str(learner).split())[:60])
def test_it_keeps_its_promises(learner):
    report = check_learner(learner)
    assert str(report).startswith(str(learner))
    assert len(report.passed) > 15
    assert not hasattr(learner, "classes_"), "the learner given is left as it was"
