"""Splits, tuning, the log of runs, and tests of significance."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats

import lopsided as lp
from lopsided.datasets import Dataset, four_clusters
from lopsided.evaluate import (
    RunLog,
    compare_across_sets,
    fold_splits,
    grid,
    inner_labellings,
    paired_t_test,
    random_splits,
    tune,
    wins_ties_losses,
)
from lopsided.evaluate.records import in_parallel
from lopsided.metrics import auroc


def with_folds(folds=None, inner=None):
    stream = four_clusters(40, 160)
    return Dataset("folded", stream.X, stream.y, ["a", "b"], "", "", folds=folds, inner_folds=inner)


def test_published_folds_are_used_and_the_order_of_rows_is_kept():
    folds = np.random.default_rng(0).integers(1, 6, size=(200, 4))
    splits = fold_splits(with_folds(folds))
    assert [split.number for split in splits] == list(range(1, 21))
    for split in splits:
        repetition, fold = divmod(split.number - 1, 5)
        assert np.array_equal(split.test, np.flatnonzero(folds[:, repetition] == fold + 1))
        assert (np.diff(split.train) > 0).all()
        assert np.array_equal(np.sort(np.concatenate([split.train, split.test])), np.arange(200))


def test_random_folds_are_of_equal_size_and_the_same_each_time():
    first, second = fold_splits(with_folds()), fold_splits(with_folds())
    assert all(split.test.size == 40 for split in first)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(first, second, strict=True))
    halves = list(random_splits(50, 3, test=0.2))
    assert [split.test.size for split in halves] == [10, 10, 10]
    assert not np.array_equal(halves[0].train, halves[1].train)


def test_inner_folds_are_the_published_ones_and_lost_ones_go_by_position():
    inner = np.full((1000, 4), 3)
    inner[:7] = 0
    dataset = with_folds(inner=inner)
    labels = inner_labellings(dataset, fold_splits(dataset)[0])
    assert labels.shape == (160, 4) and labels[7:].min() == labels[7:].max() == 3
    assert labels[:7, 0].tolist() == [1, 2, 3, 4, 5, 1, 2]
    assert inner_labellings(with_folds(), fold_splits(with_folds())[0]).shape == (160, 4)


def test_tuning_finds_what_a_plain_loop_finds():
    stream = four_clusters(40, 160)
    labellings = np.stack([np.arange(200) % 5, np.random.default_rng(0).permutation(200) % 5], axis=1)
    settings = grid(gamma=[0.1, 5.0, 50.0], C=[0.1, 10.0])
    expected = []
    for setting in settings:
        found = []
        for seed in range(2):
            for fold in range(5):
                held = labellings[:, seed] == fold
                model = lp.KOIL(**setting, random_state=seed).fit(stream.X[~held], stream.y[~held])
                found.append(auroc(stream.y[held], model.decision_function(stream.X[held])))
        expected.append(np.mean(found))
    for jobs in (1, 2):
        tuned = tune(lp.KOIL, settings, stream.X, stream.y, labellings, jobs=jobs)
        assert np.allclose(tuned.scores, expected, rtol=0, atol=1e-12)
        assert tuned.parameters == settings[int(np.argmax(expected))] and tuned.score == max(tuned.scores)


def test_of_equal_settings_the_first_wins_and_a_fold_of_one_class_does_not_count():
    X, y = np.random.default_rng(0).standard_normal((20, 2)), np.array([1] * 4 + [0] * 16)
    tuned = tune(lp.KOIL, [{"C": 1.0}, {"C": 1.0}], X, y, np.repeat(np.arange(5), 4)[:, None])
    assert tuned.parameters == {"C": 1.0} and tuned.scores[0] == tuned.scores[1] == float("-inf")


# ---- the log ----


def an_entry(run, value=0.5, method="KOIL"):
    return {"table": "t", "set": "s", "method": method, "run": run, "measures": {"AUC": value}}


def test_what_was_logged_is_there_after_a_crash_and_a_torn_line_is_not(tmp_path):
    path = tmp_path / "deep" / "runs.jsonl"
    log = RunLog(path)
    log.add([an_entry(1), an_entry(2)])
    with path.open("a") as file:
        file.write('{"table": "t", "set": "s", "me')  # a process killed while it wrote
    again = RunLog(path)
    assert again.has("t", "s", "KOIL", runs=2) and not again.has("t", "s", "KOIL", runs=3)
    again.add([an_entry(3, 0.7), an_entry(2, 0.9)])
    entries = RunLog(path).of("t", "s", "KOIL")
    assert [entry["measures"]["AUC"] for entry in entries] == [0.5, 0.9, 0.7]  # the later of two runs 2


def test_versions_stand_in_the_file_where_they_change_and_are_known_of_every_run(tmp_path):
    path, made_with = tmp_path / "runs.jsonl", [{"numpy": text} for text in ("1", "1", "2", "2")]
    log = RunLog(path)
    for run, one in enumerate(made_with, start=1):
        log.add([an_entry(run) | {"versions": one}])
    assert ["versions" in line for line in path.read_text().splitlines()] == [True, False, True, False]
    assert [entry["versions"] for entry in log.entries] == made_with
    assert RunLog(path).entries == log.entries


@pytest.mark.parametrize("line", ["{}", "[1]", "nonsense", json.dumps({"table": "t"})])
def test_a_log_of_something_else_is_refused(tmp_path, line):
    path = tmp_path / "runs.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(ValueError, match=r"Line 1 of the log .*runs\.jsonl must be a JSON object"):
        RunLog(path)


def double_or_fail(number):
    if number == 3:
        raise ValueError("three")
    return [an_entry(number, 2.0 * number)]


@pytest.mark.parametrize("jobs, workers", [(1, None), (2, None), (1, ThreadPoolExecutor)])
def test_a_task_that_fails_does_not_take_the_others_with_it(jobs, workers):
    workers = None if workers is None else workers()
    found = dict(in_parallel(double_or_fail, [(1,), (2,), (3,)], jobs=jobs, workers=workers))
    assert found[1,][0]["measures"]["AUC"] == 2.0 and found[2,][0]["measures"]["AUC"] == 4.0
    assert isinstance(found[3,], ValueError)


# ---- significance ----


def test_the_paired_t_test_is_that_of_scipy():
    rng = np.random.default_rng(0)
    for shift in (0.0, 0.3, 1.0, -1.0):
        first, second = rng.standard_normal(20) + shift, rng.standard_normal(20)
        p = stats.ttest_rel(first, second).pvalue
        expected = int(np.sign(np.mean(first - second))) if p < 0.05 else 0
        assert paired_t_test(first, second) == expected
    assert paired_t_test([1.0, 2.0], [0.0, 1.0]) == 1
    assert paired_t_test([1.0], [0.0]) == paired_t_test([], []) == 0  # one run tells nothing


def test_wins_ties_and_losses_are_counted_by_set():
    base = np.arange(20.0) % 3
    runs = {
        "a": {"ours": base + 1, "theirs": base + 0.1 * (np.arange(20) % 2)},
        "b": {"ours": base, "theirs": base},
        "c": {"ours": base, "theirs": base + 1},
        "d": {"theirs": base},
    }
    assert wins_ties_losses(runs, "ours") == {"theirs": (1, 1, 1)}


def test_ranks_across_sets_have_the_published_critical_difference():
    rng = np.random.default_rng(0)
    means = {str(k): dict(zip("abcde", rng.permutation(5).tolist(), strict=True)) for k in range(14)}
    comparison = compare_across_sets(means)
    # Demsar 2006: q = 2.728 for five methods at 5 %.
    assert comparison.critical_difference == pytest.approx(2.728 * np.sqrt(5 * 6 / (6 * 14)), rel=1e-3)
    assert sum(comparison.mean_ranks.values()) == pytest.approx(15.0)
    assert np.isnan(compare_across_sets({"one": {"a": 1.0}}).friedman_p)


def test_tuning_ends_a_fit_that_is_shorter_than_the_warm_up():
    stream = four_clusters(10, 25, random_state=0)
    found = tune(lp.OB2RMK, grid(max_sweeps=[5, 9]), stream.X, stream.y, np.arange(35)[:, None] % 5 + 1)
    assert max(found.scores) > 0.6
