"""scikit-learn's own checks, and which of them a learner of streams cannot pass."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import clone
from sklearn.exceptions import EstimatorCheckFailedWarning, SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from lopsided.checks.subject import ensure, fresh
from lopsided.estimators.base.classifier import CommonClassWarning

_ORDER_MATTERS = (
    "A learner of streams takes one step for each row, in order. A row of weight 2 is one step of twice the cost, "
    "which is not the same as the row twice; a row of weight 0 is the same as no row."
)

EXPECTED_FAILED_CHECKS: dict[str, str] = {
    "check_sample_weight_equivalence_on_dense_data": _ORDER_MATTERS,
    "check_sample_weight_equivalence_on_sparse_data": _ORDER_MATTERS,
    "check_classifiers_train": (
        "The check wants the most probable class to be the predicted one. A ranker is cut where `threshold` says, by "
        "default at a score of zero as published, while probabilities are calibrated to how often the rare class "
        "really occurs; a rare class rarely has a probability above one half."
    ),
}


def check_scikit_learn(learner: Any) -> None:
    """scikit-learn's `check_estimator` passes, but for what `EXPECTED_FAILED_CHECKS` explains."""
    with warnings.catch_warnings():
        # It warns of what it does itself: skipping what the estimator does not claim, and counting the expected.
        warnings.simplefilter("ignore", SkipTestWarning)
        warnings.simplefilter("ignore", EstimatorCheckFailedWarning)
        warnings.simplefilter("ignore", CommonClassWarning)  # its classes are of any size
        results = check_estimator(clone(fresh(learner)), expected_failed_checks=EXPECTED_FAILED_CHECKS, on_fail=None)
    fine = ("passed", "skipped", "xfail")
    failed = {one["check_name"]: str(one["exception"]) for one in results if one["status"] not in fine}
    sentence = f"scikit-learn's checks must pass. Got failures: {failed}."
    ensure(not failed, sentence)
    passed = sum(one["status"] == "passed" for one in results)
    ensure(passed > 40, f"scikit-learn must find more than 40 checks to run. Got {passed}.")
