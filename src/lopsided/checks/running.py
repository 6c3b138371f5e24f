"""All checks on one learner."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from lopsided.checks import answering, keeping, learning, merging, refusing, repeating, scikit_learn, threads
from lopsided.checks.subject import fresh, takes_missing
from lopsided.estimators import registry
from lopsided.protocol import Mergeable

Check = Callable[[Any], None]

# Each check, and what a learner must claim (or, after "not ", must not claim) for the check to concern it.
CHECKS: dict[Check, tuple[str, ...]] = {
    scikit_learn.check_scikit_learn: ("scikit_learn", "takes_arrays"),
    refusing.check_too_early: (),
    refusing.check_bad_batches_change_nothing: (),
    refusing.check_bad_examples_change_nothing: ("online",),
    refusing.check_one_class_is_not_enough_to_fit: (),
    learning.check_batch_equals_loop: ("online",),
    learning.check_progressive_scores: ("online", "reports_its_answer"),
    learning.check_answered_scores_are_remembered: ("online",),
    learning.check_fit_forgets: (),
    learning.check_zero_weight_is_no_row: (),
    learning.check_a_weight_counts_once: ("online",),
    learning.check_rows_are_counted: (),
    learning.check_input_is_left_alone: (),
    learning.check_sparse_equals_dense: ("sparse",),
    learning.check_mappings_are_rows: ("online", "not takes_tables"),
    learning.check_missing_values: ("online", "takes_missing"),
    answering.check_asking_changes_nothing: (),
    answering.check_answers_agree: (),
    answering.check_single_answers_agree: ("online",),
    answering.check_threshold_changes_decisions_only: ("pos_label", "online"),
    answering.check_any_two_labels: (),
    answering.check_rare_class_can_be_named: ("pos_label",),
    answering.check_one_class_first: ("online",),
    answering.check_signs_are_labels: ("online",),
    keeping.check_saving_and_loading: (),
    keeping.check_bytes: (),
    keeping.check_pickling: (),
    keeping.check_copies_are_apart: (),
    keeping.check_cloning: ("scikit_learn",),
    merging.check_merging_with_an_empty_model: ("online", "mergeable"),
    merging.check_merging_in_any_order: ("online", "mergeable"),
    merging.check_merged_models_go_on: ("online", "mergeable"),
    merging.check_parts_add_up: ("online", "adds_up"),
    repeating.check_same_seed_same_model: (),
    repeating.check_seed_does_not_matter: ("not random",),
    repeating.check_bounded_memory: ("online", "bounded"),
    threads.check_asking_at_the_same_time: (),
    threads.check_saving_while_learning: ("online",),
}


class Report(NamedTuple):
    """What was checked; printed, a line for what passed and one for each that was left out, with the reason."""

    learner: str
    passed: tuple[str, ...]
    left_out: dict[str, str]

    def __str__(self) -> str:
        lines = [f"{self.learner}: {len(self.passed)} checks passed"]
        return "\n".join(lines + [f"  {name} left out: {reason}" for name, reason in self.left_out.items()])


def check_learner(learner: Any, *, exclude: Collection[str] = (), claims: Mapping[str, bool] | None = None) -> Report:
    """Check that a learner keeps its promises: an AssertionError says, one sentence each, which ones it breaks.

    Use it in the tests of a learner of your own: one derived from `lopsided.OnlineClassifier`, or any class with the
    methods of `lopsided.protocol.Learner`.

    Parameters
    ----------
    learner : learner
        An instance that has not learned yet; it is left as it is. Small ones are quick to check.
    exclude : collection of str, default=()
        Names of checks to leave out, such as "check_bounded_memory".
    claims : dict of str to bool, default=None
        What it can do, where it is of a class that nobody registered, or more than its entry says, such as
        {"bounded": True, "sparse": False}: fields of `lopsided.estimators.entry.Entry`.

    Examples
    --------
    >>> from lopsided import OnlinePerceptron
    >>> from lopsided.checks import check_learner
    >>> print(check_learner(OnlinePerceptron(), exclude=["check_scikit_learn"]))
    OnlinePerceptron(): 35 checks passed
      check_scikit_learn left out: excluded
      check_missing_values left out: claims no such thing: takes_missing
      check_parts_add_up left out: claims no such thing: adds_up
    """
    names = [check.__name__ for check in CHECKS]
    for name in exclude:
        if name not in names:
            raise ValueError(f"The 'exclude' parameter must hold names of {', '.join(names)}. Got {name!r}.")
    claimed = _claims_of(learner)
    for name in claims or ():
        if name not in claimed:
            raise ValueError(f"The 'claims' parameter must hold some of {', '.join(claimed)}. Got {name!r}.")
    claimed |= dict(claims or {})
    passed: list[str] = []
    broken: list[str] = []
    left_out: dict[str, str] = {}
    for check, needs in CHECKS.items():
        missing = [need for need in needs if claimed[need.removeprefix("not ")] is need.startswith("not ")]
        if check.__name__ in exclude:
            left_out[check.__name__] = "excluded"
        elif missing:
            left_out[check.__name__] = f"claims no such thing: {missing[0]}"
        else:
            sentence = _broken_by(check, learner)
            (broken if sentence else passed).append(sentence or check.__name__)
    if broken:
        raise AssertionError(f"{learner} breaks {len(broken)} of its promises:\n" + "\n".join(broken))
    return Report(str(learner), tuple(passed), left_out)


def _broken_by(check: Check, learner: Any) -> str | None:
    """The sentence of a check that fails; an error of the learner's own is a failure too."""
    try:
        check(learner)
    except AssertionError as error:
        return f"{check.__name__}: {error}"
    except Exception as error:  # whatever somebody else's learner may raise
        return f"{check.__name__}: must run through. Got {type(error).__name__}: {error}"
    return None


def _claims_of(learner: Any) -> dict[str, bool]:
    """What the registry says of the class or of the nearest one it is derived from; else what its methods tell."""
    entry = registry.nearest_entry(type(learner))
    methods = {
        "scikit_learn": hasattr(learner, "get_params") and hasattr(learner, "__sklearn_tags__"),
        "takes_missing": takes_missing(learner),
        "pos_label": hasattr(fresh(learner), "pos_label") and hasattr(learner, "set_params"),
    }
    abilities: list[str] = ["online", "reports_its_answer", "sparse", "takes_tables", "takes_arrays", "random"]
    abilities += ["bounded", "mergeable", "adds_up"]
    if entry is not None:
        return methods | {ability: entry.claims(ability, learner) for ability in abilities}
    unknown = {"sparse": False, "takes_tables": False, "takes_arrays": True, "random": True, "bounded": False}
    unknown |= {"mergeable": isinstance(learner, Mergeable), "adds_up": False}
    return methods | unknown | {"reports_its_answer": True} | {"online": hasattr(learner, "partial_fit")}
