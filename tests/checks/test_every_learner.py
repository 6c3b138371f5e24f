"""Every learner of the registry, in every trial, keeps all of its promises."""

import pytest

from lopsided.checks import check_learner
from lopsided.estimators import registry

TRIALS = [(trial, of) for entry in registry.entries(is_learner=True) for trial, of in enumerate(entry.instances())]


@pytest.mark.parametrize(("trial", "learner"), TRIALS, ids=[" ".join(str(of).split())[:60] for _, of in TRIALS])
def test_it_keeps_its_promises(trial, learner):
    # scikit-learn's own checks are about the door, which all instances of a class share, and take a third of the time.
    report = check_learner(learner, exclude=["check_scikit_learn"] if trial else [])
    assert str(report).startswith(str(learner))
    assert len(report.passed) > 15
    assert not hasattr(learner, "classes_"), "the learner given is left as it was"
