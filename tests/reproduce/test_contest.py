"""A comparison of one's own: the figures are those of the learners, and the log tells one question from another."""

import numpy as np
import pytest
import scipy.sparse as sp

from lopsided import KOIL, SPA, OnlineScaler, StreamPipeline
from lopsided.datasets import load_keel
from lopsided.evaluate import RunLog
from lopsided.metrics import auroc, average_precision
from lopsided.reproduce.contest import contest
from lopsided.reproduce.contest_pages import contest_grid, results_of
from lopsided.reproduce.pages import significance
from lopsided.reproduce.running import run_table
from lopsided.reproduce.table import Effort

pytestmark = pytest.mark.filterwarnings("ignore::lopsided.estimators.base.classifier.CommonClassWarning")

LEARNERS = {"koil": (KOIL, {"gamma": "auto"}), "spa": (SPA, {})}
YEAST = load_keel("yeast4")


def run(table, log, data=None):
    wanted = [(name, method) for name in table.sets for method in table.methods(name)]
    return [step.error for step in run_table(table, wanted, log, data=data, effort=Effort(table.runs), jobs=1)]


def scores_of(learner, X, y):
    return StreamPipeline(OnlineScaler(), learner).progressive_scores(X, y, classes=[0, 1])


def test_one_run_is_the_set_in_its_order():
    table, log = contest(LEARNERS, [], ["yeast4"], rows=400, seed=7), RunLog()
    assert run(table, log) == [None, None]
    koil, spa = results_of(table, log)
    X, y = YEAST.X[:400], YEAST.y[:400]
    scores = scores_of(KOIL(gamma="auto", random_state=7), X, y)
    assert (koil["auroc"], koil["average_precision"]) == (
        round(auroc(y, scores), 4),
        round(average_precision(y, scores), 4),
    )
    assert koil["runs"] == 1 and "auroc_deviation" not in koil
    assert significance(table, log) == []  # one run and one set show nothing
    assert contest_grid(table, log).rows[1][:3] == ["yeast4", "spa", f"{spa['auroc']:.3f}"]


def test_several_runs_have_orders_and_seeds_of_their_own():
    table, log = contest(LEARNERS, ["sgd"], ["yeast4"], rows=200, runs=3, seed=1), RunLog()
    assert run(table, log) == [None] * 3
    X, y = YEAST.X[:200], YEAST.y[:200]
    expected = []
    for number in (1, 2, 3):
        order = np.random.default_rng([1, number]).permutation(200)
        scores = scores_of(KOIL(gamma="auto", random_state=number), X[order], y[order])
        expected.append(auroc(y[order], scores))
    entries = log.of(table.name, "yeast4", "koil")
    assert [entry["measures"]["AUROC"] for entry in entries] == expected
    assert [entry["seed"] for entry in entries] == [1, 2, 3]
    result = results_of(table, log)[0]
    assert result["auroc_deviation"] == round(float(np.std(expected, ddof=1)), 4)
    assert significance(table, log)[0].startswith("Sets on which koil wins, ties, loses")
    assert table.remarks[-1] == "sgd is scikit-learn: RBFSampler, then SGDClassifier by row."


@pytest.mark.parametrize("other", [{"rows": 99}, {"seed": 1}, {"runs": 2}])
def test_another_question_does_not_take_the_answers_of_this_one(other):
    log = RunLog()
    options = {"rows": 100, "seed": 0, "runs": 1}
    run(contest(LEARNERS, [], ["yeast4"], **options), log)
    table = contest(LEARNERS, [], ["yeast4"], **options | other)
    assert results_of(table, log) == [] and run(table, log) == [None, None]


def test_sparse_sets_are_scaled_without_a_centre(tmp_path):
    X = sp.random_array((300, 20), density=0.2, rng=np.random.default_rng(0), format="csr")
    y = (np.asarray(X[:, :3].sum(axis=1)).ravel() > 0.5).astype(int)
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    np.savez(tmp_path / "few.npz", y=y, **parts)
    table, log = contest(LEARNERS, [], ["few"], data=tmp_path), RunLog()
    assert run(table, log, tmp_path) == [None, None]
    assert results_of(table, log)[0]["auroc"] > 0.6


def test_a_learner_that_fails_does_not_take_the_others_with_it():
    learners = {"broken": (KOIL, {"pos_label": "who"}), "spa": (SPA, {})}
    table, log = contest(learners, [], ["yeast4"], rows=100), RunLog()
    first, second = run(table, log)
    assert "who" in first and second is None
    assert [result["learner"] for result in results_of(table, log)] == ["spa"]


def test_sets_of_another_folder_are_another_question(tmp_path):
    for folder, flip in (("one", False), ("two", True)):
        (tmp_path / folder).mkdir()
        np.savez(tmp_path / folder / "mine.npz", X=YEAST.X[:100], y=YEAST.y[:100] ^ flip)
    log = RunLog(tmp_path / "log.jsonl")
    for folder in ("one", "two"):
        table = contest(LEARNERS, [], ["mine"], data=tmp_path / folder)
        assert run(table, log, tmp_path / folder) == [None, None]


def test_fewer_runs_than_the_log_has():
    log = RunLog()
    run(contest({"koil": LEARNERS["koil"]}, [], ["yeast4"], rows=150, runs=4), log)
    table = contest(LEARNERS, [], ["yeast4"], rows=150, runs=2)
    run(table, log)
    asked = log.up_to(2)
    assert [result["runs"] for result in results_of(table, asked)] == [2, 2]
    assert significance(table, asked)[0].startswith("Sets on which koil wins")


def test_a_set_without_an_area_does_not_count(tmp_path):
    np.savez(tmp_path / "alike.npz", X=YEAST.X[:90], y=np.r_[np.zeros(80, dtype=int), np.ones(10, dtype=int)])
    log = RunLog(tmp_path / "log.jsonl")
    table = contest(LEARNERS, [], ["alike", "yeast4"], data=tmp_path, rows=80)
    assert run(table, log, tmp_path) == [None, None, None, None]
    assert "NaN" not in (tmp_path / "log.jsonl").read_text()
    again = RunLog(tmp_path / "log.jsonl")
    assert results_of(table, again)[0]["auroc"] is None and contest_grid(table, again).rows[0][2] == "-"
    assert significance(table, again) == []  # one set is left, and one run
