"""What every learner has to obey, for the tests of your own learners as for those of this package.

>>> from lopsided import OCS
>>> from lopsided.checks import check_batch_equals_loop
>>> check_batch_equals_loop(OCS())

`check_learner` runs all of them.

`EXPECTED_FAILED_CHECKS` is what scikit-learn's `check_estimator` must know about them; pass it on:
`check_estimator(KOIL(), expected_failed_checks=EXPECTED_FAILED_CHECKS)`.
"""

from lopsided.checks.answering import (
    check_answers_agree,
    check_any_two_labels,
    check_asking_changes_nothing,
    check_one_class_first,
    check_rare_class_can_be_named,
    check_signs_are_labels,
    check_single_answers_agree,
    check_threshold_changes_decisions_only,
)
from lopsided.checks.keeping import (
    check_bytes,
    check_cloning,
    check_copies_are_apart,
    check_pickling,
    check_saving_and_loading,
)
from lopsided.checks.learning import (
    check_a_weight_counts_once,
    check_answered_scores_are_remembered,
    check_batch_equals_loop,
    check_fit_forgets,
    check_input_is_left_alone,
    check_mappings_are_rows,
    check_missing_values,
    check_progressive_scores,
    check_rows_are_counted,
    check_sparse_equals_dense,
    check_zero_weight_is_no_row,
)
from lopsided.checks.merging import (
    check_merged_models_go_on,
    check_merging_in_any_order,
    check_merging_with_an_empty_model,
    check_parts_add_up,
)
from lopsided.checks.refusing import (
    check_bad_batches_change_nothing,
    check_bad_examples_change_nothing,
    check_one_class_is_not_enough_to_fit,
    check_too_early,
)
from lopsided.checks.repeating import check_bounded_memory, check_same_seed_same_model, check_seed_does_not_matter
from lopsided.checks.running import CHECKS, Report, check_learner
from lopsided.checks.scikit_learn import EXPECTED_FAILED_CHECKS, check_scikit_learn
from lopsided.checks.threads import check_asking_at_the_same_time, check_saving_while_learning

__all__ = [
    "CHECKS",
    "EXPECTED_FAILED_CHECKS",
    "Report",
    "check_a_weight_counts_once",
    "check_answered_scores_are_remembered",
    "check_answers_agree",
    "check_any_two_labels",
    "check_asking_at_the_same_time",
    "check_asking_changes_nothing",
    "check_bad_batches_change_nothing",
    "check_bad_examples_change_nothing",
    "check_batch_equals_loop",
    "check_bounded_memory",
    "check_bytes",
    "check_cloning",
    "check_copies_are_apart",
    "check_fit_forgets",
    "check_input_is_left_alone",
    "check_learner",
    "check_mappings_are_rows",
    "check_merged_models_go_on",
    "check_merging_in_any_order",
    "check_merging_with_an_empty_model",
    "check_missing_values",
    "check_one_class_first",
    "check_one_class_is_not_enough_to_fit",
    "check_parts_add_up",
    "check_pickling",
    "check_progressive_scores",
    "check_rare_class_can_be_named",
    "check_rows_are_counted",
    "check_same_seed_same_model",
    "check_saving_and_loading",
    "check_saving_while_learning",
    "check_scikit_learn",
    "check_seed_does_not_matter",
    "check_signs_are_labels",
    "check_single_answers_agree",
    "check_sparse_equals_dense",
    "check_threshold_changes_decisions_only",
    "check_too_early",
    "check_zero_weight_is_no_row",
]
