"""For every check a learner that breaks just this promise, and is caught."""

import time

import numpy as np
import pytest
import scipy.sparse as sp

import lopsided as lp
from lopsided import checks
from lopsided.checks import CHECKS, check_learner
from lopsided.estimators import registry


class FitsNothing(lp.OnlinePerceptron):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


class AnswersTooEarly(lp.OnlinePerceptron):
    def predict(self, X):
        return super().predict(X) if self.started_ else np.zeros(len(X))


class TakesNaN(lp.OnlinePerceptron):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        X = np.nan_to_num(X) if isinstance(X, np.ndarray) and X.dtype.kind == "f" else X
        return super().partial_fit(X, y, classes, sample_weight)


class LearnsBeforeItRefuses(lp.OnlinePerceptron):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if self.started_:
            self._memory.remember_one(1.0, 0.0)
        return super().partial_fit(X, y, classes, sample_weight)


class TakesOneNaN(lp.OnlinePerceptron):
    def learn_one(self, x, y, *, score=None, weight=1.0):
        x = np.nan_to_num(x) if isinstance(x, list) and np.size(x) == 3 and not isinstance(x[0], str) else x
        return super().learn_one(x, y, score=score, weight=weight)


class CountsBeforeItRefuses(lp.OnlinePerceptron):
    def learn_one(self, x, y, *, score=None, weight=1.0):
        if self.started_:
            self._memory.remember_one(1.0, 0.0)
        return super().learn_one(x, y, score=score, weight=weight)


class FitsOneClass(lp.OnlinePerceptron):
    def fit(self, X, y, sample_weight=None):
        return self.partial_fit(X, y, sample_weight=sample_weight)


class LearnsBackwards(lp.OnlinePerceptron):
    def progressive_scores(self, X, y, classes=None):
        return super().progressive_scores(X[::-1], y[::-1], classes)[::-1]


class LearnsOneTwice(lp.OnlinePerceptron):
    def learn_one(self, x, y, *, score=None, weight=1.0):
        return super().learn_one(x, y, score=score, weight=weight).partial_fit([x], [y])


class LooksAhead(lp.OCS):
    def progressive_scores(self, X, y, classes=None):
        return self.partial_fit(X, y, classes).raw_scores(X)


class ForgetsWhatItAnswered(lp.OnlinePerceptron):
    def learn_many(self, X, y, *, scores=None, classes=None, sample_weight=None):
        return super().learn_many(X, y, classes=classes, sample_weight=sample_weight)

    def learn_one(self, x, y, *, score=None, weight=1.0):
        return super().learn_one(x, y, weight=weight)


class NeverForgets(lp.OnlinePerceptron):
    def fit(self, X, y, sample_weight=None):
        return self.partial_fit(X, y, sample_weight=sample_weight)


class CountsZeroWeights(lp.OnlinePerceptron):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        weights = None if sample_weight is None else np.maximum(sample_weight, 1e-3)
        return super().partial_fit(X, y, classes, weights)


class DoesNotWeighOne(lp.OnlinePerceptron):
    def learn_one(self, x, y, *, score=None, weight=1.0):
        return super().learn_one(x, y, score=score)


class Miscounts(lp.OnlinePerceptron):
    @property
    def n_positives_seen_(self):
        return self.n_seen_


class WritesIntoRows(lp.OnlinePerceptron):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        X *= 2.0
        return super().partial_fit(X, y, classes, sample_weight)


class ScalesSparseRows(lp.OnlinePerceptron):
    def raw_scores(self, X):
        return super().raw_scores(2.0 * X if sp.issparse(X) else X)


class ReadsMappingsInOrder(lp.OnlinePerceptron):
    def learn_one(self, x, y, *, score=None, weight=1.0):
        return super().learn_one(list(x.values()) if isinstance(x, dict) else x, y, score=score, weight=weight)


class LearnsWhenAsked(lp.OnlinePerceptron):
    def predict(self, X):
        self._memory.remember_one(-1.0, 0.5)
        return super().predict(X)


class TurnsProbabilities(lp.OnlinePerceptron):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]


class DecidesElsewhere(lp.OnlinePerceptron):
    def predict(self, X):
        return np.where(self.raw_scores(X) > 0.7, 1, 0)


class RemembersByTheRule(lp.OnlinePerceptron):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if self.threshold != "zero":
            return super().partial_fit(X, y, classes, sample_weight)
        return self.learn_many(X, y, scores=np.full(len(y), np.nan), classes=classes, sample_weight=sample_weight)


class ScoresOneElsewhere(lp.OnlinePerceptron):
    def score_one(self, x):
        return super().score_one(x) + 1e-6


class AnswersObjects(lp.OnlinePerceptron):
    def predict(self, X):
        return super().predict(X).astype(object)


class IgnoresTheRareClass(lp.OnlinePerceptron):
    @property
    def positive_label_(self):
        return self.classes_[1]


class TakesAnyFirstLabel(lp.OnlinePerceptron):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if classes is None and np.asarray(y).dtype.kind == "U":
            classes = sorted({*y, "?"})[:2]
        return super().partial_fit(X, y, classes, sample_weight)


class ForgetsWhatSignsMean(lp.OnlinePerceptron):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        return super().partial_fit(X, np.array(y), classes, sample_weight)


class LosesALittle(lp.OnlinePerceptron):
    """A file that is read gives other weights, in the ninth digit."""

    def _restore(self, arrays):
        super()._restore({name: (1 + 1e-9) * a if a.dtype == float else a for name, a in arrays.items()})


class CannotBePickled(lp.OnlinePerceptron):
    def __setstate__(self, state):
        super().__setstate__(state)
        self._memory.remember_one(1.0, 3.0)
        for array in self._arrays().values():
            array *= 0


class SharesItself(lp.OnlinePerceptron):
    def snapshot(self):
        return self


class KeepsACount(lp.OnlinePerceptron):
    def __init__(self, learning_rate=1.0, fit_intercept=False, threshold="zero", pos_label=None, shuffle=False,
                 random_state=None):  # fmt: skip
        super().__init__(learning_rate, fit_intercept, threshold, pos_label, shuffle, random_state)
        self.count_ = 0


class ThrowsDice(lp.OnlinePerceptron):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        weights = np.random.default_rng().random(len(y))
        return super().partial_fit(X, y, classes, weights)


class AsksAcrossThreads(lp.OnlinePerceptron):
    def decision_function(self, X):
        self._asked = X
        time.sleep(1e-3)
        return super().decision_function(self._asked)


class SavesOldWeights(lp.OnlinePerceptron):
    """Counts of now, weights of the first time that it was saved."""

    def _arrays(self):
        now = {name: array.copy() for name, array in super()._arrays().items()}
        return self.__dict__.setdefault("_kept_arrays", now)


class ScoresWhatIsMissing(lp.BoostedSample):
    def raw_scores(self, X):
        return super().raw_scores(X) + np.asarray(X)[:, 0]


class CountsAnEmptyOne(lp.OnlinePerceptron):
    def merged_with(self, others, budget=None):
        merged = super().merged_with(others, budget)
        merged._memory.remember_one(-1.0, 0.0)
        return merged


class TakesTheFirst(lp.OnlinePerceptron):
    def merged_with(self, others, budget=None):
        merged = super().merged_with(others, budget)
        merged._model.weights[:] = self._model.weights
        return merged


class LosesCountWhenMerged(lp.OnlinePerceptron):
    def merged_with(self, others, budget=None):
        merged = super().merged_with(others, budget)
        merged._memory.seen[0] //= 2
        return merged


BROKEN = {
    checks.check_scikit_learn: [FitsNothing],
    checks.check_too_early: [AnswersTooEarly],
    checks.check_bad_batches_change_nothing: [TakesNaN, LearnsBeforeItRefuses],
    checks.check_bad_examples_change_nothing: [TakesOneNaN, CountsBeforeItRefuses],
    checks.check_one_class_is_not_enough_to_fit: [FitsOneClass],
    checks.check_batch_equals_loop: [LearnsBackwards, LearnsOneTwice],
    checks.check_progressive_scores: [LooksAhead],
    checks.check_answered_scores_are_remembered: [ForgetsWhatItAnswered],
    checks.check_fit_forgets: [NeverForgets],
    checks.check_zero_weight_is_no_row: [CountsZeroWeights],
    checks.check_a_weight_counts_once: [DoesNotWeighOne],
    checks.check_rows_are_counted: [Miscounts],
    checks.check_input_is_left_alone: [WritesIntoRows],
    checks.check_sparse_equals_dense: [ScalesSparseRows],
    checks.check_mappings_are_rows: [ReadsMappingsInOrder],
    checks.check_missing_values: [ScoresWhatIsMissing],
    checks.check_asking_changes_nothing: [LearnsWhenAsked],
    checks.check_answers_agree: [TurnsProbabilities, DecidesElsewhere],
    checks.check_threshold_changes_decisions_only: [RemembersByTheRule],
    checks.check_single_answers_agree: [ScoresOneElsewhere],
    checks.check_any_two_labels: [AnswersObjects],
    checks.check_rare_class_can_be_named: [IgnoresTheRareClass],
    checks.check_one_class_first: [TakesAnyFirstLabel],
    checks.check_signs_are_labels: [ForgetsWhatSignsMean],
    checks.check_saving_and_loading: [LosesALittle],
    checks.check_bytes: [LosesALittle],
    checks.check_pickling: [CannotBePickled],
    checks.check_copies_are_apart: [SharesItself],
    checks.check_cloning: [KeepsACount],
    checks.check_merging_with_an_empty_model: [CountsAnEmptyOne],
    checks.check_merging_in_any_order: [TakesTheFirst, LosesCountWhenMerged],
    checks.check_merged_models_go_on: [LosesCountWhenMerged],
    checks.check_parts_add_up: [lp.OnlinePerceptron],  # whose weights are averaged, and which does not claim otherwise
    checks.check_same_seed_same_model: [ThrowsDice],
    checks.check_seed_does_not_matter: [lp.RBP],  # which draws, and does not claim otherwise
    checks.check_bounded_memory: [lp.KernelPerceptron],  # which grows, and does not claim otherwise
    checks.check_asking_at_the_same_time: [AsksAcrossThreads],
    checks.check_saving_while_learning: [SavesOldWeights],
}
TWINS = [(check, kind) for check, kinds in BROKEN.items() for kind in kinds]


@pytest.fixture(autouse=True)
def registered():
    """Broken or not, they can be saved."""
    kinds = {kind for _, kind in TWINS if kind.__module__ == __name__}
    for kind in kinds:
        lp.register(kind)
    yield
    for kind in kinds:
        registry.forget(kind.__name__)


def test_every_check_has_a_broken_twin_and_is_public():
    assert BROKEN.keys() == CHECKS.keys()
    assert {check.__name__ for check in CHECKS} == {name for name in checks.__all__ if name.startswith("check_")} - {
        "check_learner"
    }
    assert all(check.__doc__ for check in CHECKS)


def small(kind):
    return kind(budget=5) if kind is lp.RBP else kind()


@pytest.mark.parametrize(("check", "kind"), TWINS, ids=[f"{check.__name__}-{kind.__name__}" for check, kind in TWINS])
def test_the_broken_learner_is_caught_with_a_sentence(check, kind):
    with pytest.raises(AssertionError, match=r" must .*\."):
        check(small(kind))


# ---- the report ----


def test_all_broken_promises_are_told_at_once():
    others = [check.__name__ for check in CHECKS if check.__name__ != "check_rows_are_counted"]
    with pytest.raises(AssertionError, match=r"Miscounts\(\) breaks 1 of its promises:\ncheck_rows_are_counted: "):
        check_learner(Miscounts(), exclude=others)


def test_an_error_of_the_learner_is_a_broken_promise():
    class Stumbles(lp.OnlinePerceptron):
        def answer(self, X):
            raise ZeroDivisionError("by zero")

    with pytest.raises(AssertionError, match=r"check_answers_agree: must run through. Got ZeroDivisionError: by zero"):
        check_learner(Stumbles(), exclude=["check_scikit_learn"])


def test_what_is_left_out_is_told_with_the_reason():
    report = check_learner(lp.KOIL(policy="unbounded"), exclude=["check_scikit_learn", "check_pickling"])
    assert report.left_out["check_pickling"] == "excluded"
    assert report.left_out["check_bounded_memory"] == "claims no such thing: bounded"
    assert "check_bounded_memory left out: claims no such thing: bounded" in str(report)
    assert "check_batch_equals_loop" in report.passed


def test_claims_may_be_given():
    only = [check.__name__ for check in CHECKS if check.__name__ != "check_bounded_memory"]
    with pytest.raises(AssertionError, match="check_bounded_memory"):
        check_learner(lp.KernelPerceptron(), exclude=only, claims={"bounded": True})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"exclude": ["check_everything"]}, "'exclude' parameter must hold names of .*Got 'check_everything'"),
        ({"claims": {"fast": True}}, "'claims' parameter must hold .*Got 'fast'"),
    ],
)
def test_unknown_names_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_learner(lp.OnlinePerceptron(), **arguments)
