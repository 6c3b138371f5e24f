"""What scikit-learn's `check_estimator` must know about the learners of this package.

>>> from lopsided.checks import EXPECTED_FAILED_CHECKS
>>> sorted(EXPECTED_FAILED_CHECKS)[0]
'check_classifiers_train'

Pass it on: `check_estimator(KOIL(), expected_failed_checks=EXPECTED_FAILED_CHECKS)`.
"""

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
