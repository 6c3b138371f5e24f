"""What answers have to be: they agree with each other, in any labels, and asking leaves no trace."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.checks.subject import (
    ensure,
    ensure_same_model,
    ensure_same_scores,
    fresh,
    learned,
    stream_for,
)

_ROUNDS = 8  # of the stream, by which a learner that leaves rows unscored has begun to


def check_asking_changes_nothing(learner: Any) -> None:
    """Scores, labels, probabilities and answers may be asked for at any time: the model stays as it was."""
    stream = stream_for(learner)
    asked = learned(fresh(learner), stream, 70)
    before, first = asked.to_bytes(), asked.decision_function(stream.rows())
    for ask in ("decision_function", "raw_scores", "predict", "predict_proba", "answer"):
        getattr(asked, ask)(stream.rows())
    for ask in ("score_one", "raw_score_one", "answer_one"):
        if hasattr(asked, ask):
            getattr(asked, ask)(stream.row(3))
    ensure(asked.to_bytes() == before, "Asking must leave the model as it is, to the byte.")
    ensure_same_scores(asked.decision_function(stream.rows()), first, "Asking twice must give the same scores.")


def check_answers_agree(learner: Any) -> None:
    """`answer`, `decision_function`, `predict` and `predict_proba` tell the same, for many rows and for one."""
    stream = stream_for(learner)
    model = learned(fresh(learner), stream, 70)
    raw, answer, rows = model.raw_scores(stream.rows()), model.answer(stream.rows()), stream.rows()
    ensure_same_scores(answer.score, raw, "'answer' must give the raw scores.")
    ensure(answer.threshold == model.threshold_, "'answer' must name the threshold in force.")
    decisions, probabilities = model.decision_function(rows), model.predict_proba(rows)
    sentence = "'decision_function' must be the raw score less the threshold."
    ensure_same_scores(decisions, raw - model.threshold_, sentence)
    expected = np.where(decisions > 0.0, model.positive_label_, model.negative_label_)
    ensure(np.array_equal(model.predict(rows), expected), "'predict' must be the rare class where the score is > 0.")
    ensure(np.array_equal(answer.decision, expected), "'answer' must decide as 'predict' does.")
    rare = int(np.flatnonzero(model.classes_ == model.positive_label_)[0])
    ensure(
        np.array_equal(answer.probability, probabilities[:, rare]), "'answer' must give the rare class's probability."
    )
    ensure(np.allclose(probabilities.sum(axis=1), 1.0), "Probabilities must add up to 1.")
    order = np.argsort(raw, kind="stable")
    rising = np.diff(probabilities[order, rare])[np.diff(raw[order]) > 1e-6 * max(1.0, np.ptp(raw))]
    ensure((rising > 0.0).all(), "A higher score must have a higher probability.")


def check_threshold_changes_decisions_only(learner: Any) -> None:
    """Whatever rule finds the threshold, scores and probabilities are the same, for many rows and for one."""
    stream = stream_for(learner)
    stream.X = np.tile(stream.X, (_ROUNDS, 1))
    stream.y = (stream.X[:, 0] > 0.0).astype(int)  # as many of either class, so that enough are known of both
    stream.y[:2] = 0, 1
    n_rows, models = len(stream.y), []
    for rule in ("zero", "f1"):
        models.append(learned(_with(fresh(learner), "threshold", rule), stream, n_rows - 30))
        for t in range(n_rows - 30, n_rows):
            models[-1].learn_one(stream.row(t), stream.y[t])
    rows, plain = stream_for(learner).rows(), models[0]
    for model in models[1:]:
        rule = model.threshold_rule_
        sentence = f"The threshold {rule!r} must leave the scores as they are."
        ensure_same_scores(model.raw_scores(rows), plain.raw_scores(rows), sentence)
        sentence = f"The threshold {rule!r} must leave the probabilities as they are."
        ensure_same_scores(model.predict_proba(rows), plain.predict_proba(rows), sentence)


def check_single_answers_agree(learner: Any) -> None:
    """`score_one`, `raw_score_one` and `answer_one` are the answers for a batch of one row."""
    stream = stream_for(learner)
    model = learned(fresh(learner), stream, 70)
    for t in (0, 1, 80):
        row, batch = stream.row(t), model.answer(stream.rows(t, t + 1))
        single, score = model.answer_one(row), float(batch.score[0])
        size = 1e-12 * max(1.0, abs(score))
        ensure(abs(single.score - score) <= size, "'answer_one' must give the score that 'answer' gives.")
        ensure(abs(model.raw_score_one(row) - score) <= size, "'raw_score_one' must be 'raw_scores' of one row.")
        expected = float(model.decision_function(stream.rows(t, t + 1))[0])
        ensure(abs(model.score_one(row) - expected) <= size, "'score_one' must be 'decision_function' of one row.")
        ensure(single.decision == batch.decision[0], "'answer_one' must decide as 'answer' does.")
        near = abs(single.probability - batch.probability[0]) <= 1e-9
        ensure(near, "'answer_one' must give the probability that 'answer' gives.")
        ensure(single.threshold == batch.threshold, "'answer_one' must name the threshold that 'answer' names.")


def check_any_two_labels(learner: Any) -> None:
    """Two labels of any kind give the same model, and come back as what they were."""
    stream = stream_for(learner)
    plain = learned(fresh(learner), stream)
    for common, rare in ((-1, 1), (False, True), ("fine", "fraud"), (2.0, 7.0)):
        named = stream_for(learner)
        named.y = np.where(stream.y == 1, rare, common)
        model = learned(fresh(learner), named)
        ensure(model.classes_.tolist() == [common, rare], f"'classes_' must be {[common, rare]}, sorted.")
        ensure(model.positive_label_ == rare, "The larger label must be the rare class unless 'pos_label' names it.")
        predicted = model.predict(stream.rows())
        ensure(predicted.dtype == named.y.dtype, f"Labels must keep their type. Got {predicted.dtype}.")
        ensure(set(predicted.tolist()) <= {common, rare}, "Predictions must be labels that were learned.")
        sentence = f"The labels {common!r} and {rare!r} must give the scores that 0 and 1 give."
        ensure_same_scores(model.raw_scores(stream.rows()), plain.raw_scores(stream.rows()), sentence)


def check_rare_class_can_be_named(learner: Any) -> None:
    """With `pos_label` the smaller label is the rare class: the same model, with its names exchanged."""
    stream, turned = stream_for(learner), stream_for(learner)
    turned.y = 1 - stream.y
    plain = learned(fresh(learner), stream)
    named = learned(_with(fresh(learner), "pos_label", 0), turned)
    ensure(named.positive_label_ == 0, f"'positive_label_' must be 0 with pos_label=0. Got {named.positive_label_!r}.")
    rows, sentence = stream.rows(), "Scores must rise towards the class that 'pos_label' names."
    ensure_same_scores(named.raw_scores(rows), plain.raw_scores(rows), sentence)
    ensure(np.array_equal(named.predict(rows), 1 - plain.predict(rows)), "Labels must be exchanged with 'pos_label'.")
    exchanged = np.array_equal(named.predict_proba(rows), plain.predict_proba(rows)[:, ::-1])
    ensure(exchanged, "Columns of 'predict_proba' must stand in the order of 'classes_'.")


def _with(learner: Any, name: str, value: Any) -> Any:
    """The learner with a parameter that a pipeline has of its learner, which may be around another one."""
    known, path = learner.get_params(), name
    while path not in known and f"{path.removesuffix(name)}learner" in known:
        path = f"{path.removesuffix(name)}learner__{name}"
    return learner.set_params(**{path: value})


def check_one_class_first(learner: Any) -> None:
    """A stream may begin with one class: 0, 1, -1 and booleans are understood, other labels need `classes`."""
    stream, rows = stream_for(learner), (0, 2, 3)
    for first, second, classes in ((1, 0, [0, 1]), (1, -1, [-1, 1]), (0, 1, [0, 1]), (-1, 1, [-1, 1])):
        model = fresh(learner).learn_one(stream.row(rows[0]), first)
        model.learn_one(stream.row(rows[1]), first).learn_one(stream.row(rows[2]), second)
        ensure(
            model.classes_.tolist() == classes, f"The labels {first}, {second} must be {classes}. Got {model.classes_}."
        )
    announced = fresh(learner).partial_fit(stream.rows(0, 1), ["fraud"], classes=["fine", "fraud"])
    ensure(announced.classes_.tolist() == ["fine", "fraud"], "'classes' must announce labels not seen yet.")
    try:
        fresh(learner).partial_fit(stream.rows(0, 1), ["fraud"])
    except ValueError:
        return
    raise AssertionError("A single label that is no 0, 1 or -1 must be refused without 'classes'. Got no error.")


def check_signs_are_labels(learner: Any) -> None:
    """Signs that carry their labels are learned without being looked up again."""
    from lopsided.labels import LabelMap, Signs

    stream = stream_for(learner)
    signs = np.where(stream.y == 1, 1.0, -1.0)
    stream.y = np.where(stream.y == 1, "fraud", "fine")
    named = learned(fresh(learner), stream)
    signed = fresh(learner).partial_fit(stream.rows(), Signs.of(signs, LabelMap(np.array(["fine", "fraud"]))))
    ensure(signed.classes_.tolist() == ["fine", "fraud"], "A learner must adopt the labels that signs carry.")
    ensure_same_model(named, signed, stream, "Signs must be learned as the labels they stand for.")
