"""Tables made again: every published cell has a method, cells run, and what comes out is judged rightly."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from lopsided.datasets import Dataset, four_clusters
from lopsided.evaluate import RunLog
from lopsided.kernels import Gaussian
from lopsided.reproduce import costs, gaps, running
from lopsided.reproduce.batch_baselines import KernelPegasos, PairwiseSVM, Pegasos, libsvm, ls_svm, uni_log
from lopsided.reproduce.comparison import Verdict, counts, method_for, outcomes, wins, with_earlier
from lopsided.reproduce.index import write_index
from lopsided.reproduce.kept import with_kept_parameters
from lopsided.reproduce.pages import markdown, point_costs_grid, written
from lopsided.reproduce.published import Cell, published_cells, source_of
from lopsided.reproduce.registry import table_named, tables
from lopsided.reproduce.table import Effort, Method, Table

TABLES = [name for name in tables() if "fig" not in name]
PICTURES = [name for name in tables() if "fig" in name]


def test_there_are_1097_published_cells_with_sources():
    assert sum(len(published_cells(name)) for name in TABLES) == 1097
    assert all("20" in source_of(name) for name in tables())


@pytest.mark.parametrize("name", TABLES)
def test_every_published_cell_has_a_method_or_a_reason_why_not(name):
    table = table_named(name)
    for cell in published_cells(name):
        if cell.measure == "seconds":
            continue
        assert (cell.data in table.sets) != (cell.data in table.impossible), cell
        if cell.data in table.sets:
            assert method_for(table, cell) in table.methods(cell.data), cell
            assert cell.measure in table.measures or cell.measure == "vectors", cell


@pytest.mark.parametrize("name", tables())
def test_methods_build_learners_with_every_setting(name):
    table = table_named(name)
    set_name = next(iter(table.sets))
    for method in table.methods(set_name).values():
        for setting in (method.settings[0], method.settings[-1]):
            learner = method.make(**setting, random_state=0)
            assert hasattr(learner, "decision_function")


def test_an_unknown_table_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"must be one of koil-3\.2.*got 'koil-3\.4'"):
        table_named("koil-3.4")


# ---- running ----


def small(n_positive=40, n_negative=80):
    stream = four_clusters(n_positive, n_negative, random_state=1)
    return stream.X, stream.y


@pytest.fixture
def folder(tmp_path):
    """The sets that some tables want, made of a few synthetic rows."""
    X, y = small()
    signs = np.where(y == 1, 1, -1)
    folds = np.stack([np.random.default_rng(r).permutation(y.size) % 5 + 1 for r in range(4)], axis=1)
    for name in ("s4", "sonar", "german", "w8a", "heart"):
        np.savez(tmp_path / f"{name}.npz", X=X, y=signs, idx_cv=folds)
    np.savez(tmp_path / "a9a.npz", X=X, y=signs, n_train=np.array(90))
    return tmp_path


@pytest.mark.parametrize(
    ("table", "set_name", "methods"),
    [
        ("koil-3.2", "Syn1", ["KOIL_FIFO++", "OPAUC", "RBP"]),
        ("spa-3", "a9a", ["SPA-avg", "LIBSVM"]),
        ("spa-5", "german", ["BOMKC(SPA)", "Per(*)"]),
        ("omcsl-3", "w8a", ["OMCSL-h F", "OPAUC AUROC"]),
        ("b2rmk-2", "german", ["Uni-Log", "LS-SVM", "SVM-OR"]),
        ("b2rmk-3", "sonar", ["OB2RMK", "KOIL_u_FIFO++"]),
        ("koil-fig-3.3", "german", ["RS++ @ 10"]),
        ("koil-fig-3.1", "german", ["FIFO++"]),
        ("omcsl-fig-1", "w8a", ["OMCSL hinge, F"]),
    ],
)
def test_a_cell_runs_and_is_written_as_pages(table, set_name, methods, folder, tmp_path):
    chosen = table_named(table)
    log = RunLog(tmp_path / "out" / "log.jsonl")
    at_hand = running.sets_at_hand(chosen, sets=[set_name], data=folder)
    wanted = running.cells(chosen, at_hand, methods)
    assert len(wanted) == len(methods)
    effort = Effort(2, quick=True)
    steps = list(running.run_table(chosen, wanted, log, data=folder, effort=effort, jobs=1))
    assert [step.error for step in steps] == [None] * len(methods)
    for _, method in wanted:
        for entry in log.of(table, set_name, method):
            assert all(math.isfinite(value) for value in entry["measures"].values())
            assert {"parameters", "seed", "versions", "seconds"} <= set(entry)
    assert not list(running.run_table(chosen, wanted, log, data=folder, effort=effort, jobs=1))  # nothing is left
    paths = written(chosen, log, at_hand.missing, tmp_path / "out", "lopsided reproduce")
    assert [path.suffix for path in paths] == [".md", ".json", ".html", ".png"]
    assert all(path.stat().st_size > 300 for path in paths)


def test_the_same_seed_gives_the_same_record(folder):
    runs = []
    for _ in range(2):
        entries = running.perform(table_named("koil-3.2"), "Syn1", "KOIL_RS++", folder, Effort(3, quick=True))
        runs.append([{k: v for k, v in entry.items() if k != "seconds"} for entry in entries])
    assert runs[0] == runs[1]


def test_parameters_can_be_tuned_on_every_split(folder):
    entries = running.perform(
        table_named("koil-3.2"), "Syn1", "KOIL_RS++", folder, Effort(4, quick=True, tune_each=True)
    )
    once = running.perform(table_named("koil-3.2"), "Syn1", "KOIL_RS++", folder, Effort(4, quick=True))
    assert len({json.dumps(entry["parameters"]) for entry in once}) == 1
    assert len({json.dumps(entry["parameters"]) for entry in entries}) > 1
    assert entries[0]["measures"] == once[0]["measures"]


def test_sets_that_are_not_there_are_told_and_unknown_ones_refused(folder):
    table = table_named("koil-3.3")
    at_hand = running.sets_at_hand(table, sets=None, data=folder)
    assert {"sonar", "german", "heart"} <= set(at_hand.ready)
    assert "at hand" in at_hand.missing["ionosphere"] and "at hand" in at_hand.missing["vowel"]
    with pytest.raises(ValueError, match=r"sets of koil-3\.3 must be among sonar.*got 'moon'"):
        running.sets_at_hand(table, sets=["moon"], data=folder)


# ---- judging ----


def a_table(monkeypatch, cells, *, lower=False):
    method = Method(Gaussian)
    table = Table(
        name="koil-3.2", title="t", sets={"a": "a", "b": "b"}, methods=lambda name: {"m": method, "n": method},
        perform=lambda *_: [], measures=("AUC",), runs=2, reference="m", lower_is_better=lower, own=("m",),
    )  # fmt: skip
    monkeypatch.setattr("lopsided.reproduce.comparison.published_cells", lambda name: cells)
    return table


def entries(set_name, method, values):
    return [
        {"table": "koil-3.2", "set": set_name, "method": method, "run": k, "parameters": {}, "measures": {"AUC": value}}
        for k, value in enumerate(values, start=1)
    ]


@pytest.mark.parametrize(
    ("here", "deviation", "lower", "verdict", "near", "within"),
    [
        (0.905, 0.02, False, Verdict.WITHIN, True, True),
        (0.885, 0.02, False, Verdict.WITHIN, False, True),
        (0.895, 0.001, False, Verdict.NEAR, True, False),
        (0.895, math.nan, False, Verdict.NEAR, True, False),
        (0.95, 0.02, False, Verdict.BETTER, False, False),
        (0.85, 0.02, False, Verdict.WORSE, False, False),
        (0.85, 0.02, True, Verdict.BETTER, False, False),
        (0.95, 0.02, True, Verdict.WORSE, False, False),
    ],
)
def test_a_figure_is_judged_by_its_deviation_and_the_tolerance(
    here, deviation, lower, verdict, near, within, monkeypatch
):
    table = a_table(monkeypatch, [Cell("koil-3.2", "a", "m", "AUC", 0.9, deviation)], lower=lower)
    log = RunLog()
    log.add(entries("a", "m", [here - 0.01, here + 0.01]))
    (result,) = outcomes(table, log)
    assert (result.verdict, result.near, result.within) == (verdict, near, within)
    assert result.difference == pytest.approx(here - 0.9)


def test_pages_count_what_was_run_and_what_was_not(monkeypatch, tmp_path):
    cells = [Cell("koil-3.2", name, method, "AUC", 0.9, 0.01) for name in "ab" for method in "mn"]
    table = a_table(monkeypatch, cells)
    log = RunLog()
    log.add(entries("a", "m", [0.9, 0.91, 0.9]) + entries("a", "n", [0.8, 0.82, 0.81]))
    results = outcomes(table, log)
    assert counts(results)[Verdict.NOT_RUN] == 2 and wins(table, log) == {"n": (1, 0, 0)}
    text = markdown(table, log, results, {"b": "lost"}, "lopsided reproduce koil-3.2")
    assert "1 of 2 figures" in text.replace("**", "") and "n 1/0/0" in text and "- b: lost." in text
    assert (
        "within 0.01 of the published ones, to either side, and 1 of the 2 with a printed deviation within one of it "
        "(own methods 1 and 1 of 1; baselines 0 and 0 of 1). Beyond both are 0 better, 1 worse and 0 no better than "
        "always answering the larger class. 2 of the 4 printed figures were not run as published; of 0 there is a "
        "variant of ours.\n"
    ) in text
    written(table, log, {}, tmp_path, "command")
    index = write_index(tmp_path)
    name = "[koil-3.2](koil-3.2.md): KOIL and baselines on four synthetic sets"
    assert f"| {name} | 4 | 2 | 1 | 1 | 1 | 0 | 0 | 1 | 2 | - |" in index  # by the table of that name: no KOIL in these
    assert "a n 0.9 → 0.81" in index and index in (tmp_path / "README.md").read_text()
    assert json.loads((tmp_path / "koil-3.2.json").read_text())["wins"] == {"n": [1, 0, 0]}
    with pytest.raises(ValueError, match="must hold tables made by"):
        write_index(tmp_path / "empty")


# ---- baselines ----


@pytest.mark.parametrize("make", [PairwiseSVM, uni_log, ls_svm, libsvm, Pegasos, KernelPegasos])
def test_batch_baselines_rank_what_a_line_can_rank(make):
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.3).astype(np.int64)
    X = rng.standard_normal((300, 3)) + 1.5 * y[:, None]
    scores = make(random_state=0).fit(X, y).decision_function(X)
    assert scores[y == 1].mean() > scores[y == 0].mean()
    assert isinstance(Dataset("d", X, y, [], "", "").ratio, float)


def test_pegasos_in_the_kernel_is_what_its_paper_says():
    rng = np.random.default_rng(0)
    X, y, alpha = rng.standard_normal((1100, 4)), rng.integers(0, 2, 1100), 1e-3
    counts = np.zeros(1100)
    signs = 2.0 * y - 1.0
    kernel = np.exp(-0.5 * np.sum((X[:, None] - X[None]) ** 2, axis=2))
    for t in range(1, 1101):
        before = (counts * signs) @ kernel[:, t - 1] / (alpha * (t - 1)) if t > 1 else 0.0
        counts[t - 1] += signs[t - 1] * before < 1.0
    model = KernelPegasos(gamma=0.5, alpha=alpha).fit(X, y)
    assert model.n_support_ == counts.sum() < 1100
    np.testing.assert_allclose(
        model.decision_function(X), (counts * signs) @ kernel / (alpha * 1100), rtol=1e-9, atol=1e-9
    )


def test_vectors_are_compared_one_by_one_and_seconds_as_ratios():
    table, log = table_named("spa-5"), RunLog()
    figures = {"U": (7000.0, 6.0), "BOMKC(SPA)": (500.0, 2.0)}
    for method, (vectors, seconds) in figures.items():
        what = {"table": "spa-5", "set": "german", "method": method, "run": 1, "parameters": {}}
        log.add([what | {"measures": {"error": 30.0, "vectors": vectors}, "seconds": seconds}])
    found = {(one.cell.data, one.cell.method): one for one in costs.vectors(table, log, {})}
    assert found["german", "U"].is_near and not found["german", "BOMKC(SPA)"].is_near  # 6,904 are published
    assert np.isnan(found["german", "DD"].here) and "42 printed numbers 2 were run" in costs.vectors_sentence(
        [*found.values()]
    )
    times = costs.seconds(table, log, {})
    assert "of 36 printed 1 were compared" in costs.seconds_sentence(times)
    grid = costs.seconds_grid(table, times)
    assert grid.headings == ["time, times that of BOMKC(SPA)", "german"]
    assert dict(grid.rows)["U"] == "2.38 → 3 ✓" and dict(grid.rows)["BOMKC(SPA)"] == "1 → 1 ✓"
    later = RunLog()  # times of another day: those of german are kept while its reference is not run again
    later.add([{**log.entries[0], "seconds": 60.0}])
    kept = {"seconds": [one.as_json() for one in times]}
    assert dict(costs.seconds_grid(table, costs.seconds(table, later, kept)).rows)["U"] == "2.38 → 3 ✓"
    later.add([{**log.entries[1], "seconds": 2.0}])
    assert dict(costs.seconds_grid(table, costs.seconds(table, later, kept)).rows)["U"] == "2.38 → 30"


def test_a_time_without_one_of_the_reference_is_compared_with_the_last_printed():
    table, log = table_named("spa-3"), RunLog()
    for method, seconds in (("Pegasos as published", 8.0), ("OSKL-avg", 2.0)):
        what = {"table": "spa-3", "set": "a9a", "method": method, "run": 1, "parameters": {}}
        log.add([what | {"measures": {"accuracy": 80.0}, "seconds": seconds}])
    grid = costs.seconds_grid(table, costs.seconds(table, log, {}))
    assert grid.headings == ["time, times that of SPA-avg; OSKL-avg on a9a", "a9a"]
    assert grid.rows == [["Pegasos", "4.95 → 4 ✓"], ["OSKL-avg", "1 → 1 ✓"]]


def test_pages_say_how_often_and_what_was_not_run():
    table, log = table_named("spa-2"), RunLog()
    for name, method, runs in (("a9a", "SPA", 20), ("a9a", "RBP", 3), ("w7a", "SPA", 5), ("w7a", "RBP", 5)):
        what = {"table": "spa-2", "set": name, "method": method, "parameters": {}}
        log.add([what | {"run": run, "measures": {"accuracy": 80.0}} for run in range(1, runs + 1)])
    results = outcomes(table, log)
    assert gaps.runs_sentence(table, results) == "Runs: 20 a cell, as published; 5 on w7a; 3 of RBP on a9a."
    assert gaps.runs_sentence(table, outcomes(table, RunLog())) == ""
    counted = costs.vectors(table, log, {})
    assert gaps.fewer_runs_sentence(results, counted) == ""
    known = [replace(one, runs=5) if one.cell.data == "a9a" else one for one in counted]
    assert gaps.fewer_runs_sentence(results, known) == (
        "Runs of vectors and times, where these are fewer: 5 of SPA on a9a."
    )
    first, _ = gaps.partly_run(table, results)
    assert first.startswith("Not run as published on a9a: Perceptron, OGD, PA-I, Forgetron, ")
    line = gaps.not_run_line(table, results)
    assert line.startswith("- **spa-2** (62): KDD08, all 11 methods (its file could not be obtained); a9a Perceptron, ")
    assert "codrna, all 11 methods (for time)" in line


def test_one_run_does_not_take_the_place_of_many():
    table, log = table_named("spa-2"), RunLog()
    what = {"table": "spa-2", "set": "a9a", "method": "SPA", "parameters": {}}
    log.add([what | {"run": run, "measures": {"accuracy": 82.0}} for run in (1, 2)])
    earlier = {"cells": [one.as_json() for one in outcomes(table, log)]}
    for runs, mean in ((1, 82.0), (2, 70.0)):
        again = RunLog()
        again.add([what | {"run": run, "measures": {"accuracy": 70.0}} for run in range(1, runs + 1)])
        found = with_earlier(table, outcomes(table, again), earlier)
        assert [one.here.mean for one in found if one.here.runs] == [mean]


def test_runs_that_are_added_later_take_nothing_away(tmp_path):
    """A log of one cell beside a summary of all: its figures, tests and vectors stand, and the new ones are there."""
    table = table_named("spa-5")

    def entry(name, method, run, error):
        what = {"table": "spa-5", "set": name, "method": method, "run": run, "parameters": {}, "seconds": 1.0}
        return what | {"measures": {"error": error + 0.1 * run, "vectors": 100.0 * run}}

    first, later = RunLog(tmp_path / "spa-5.jsonl"), RunLog()
    for name in ("german", "svmguide3"):
        for run in (1, 2):
            first.add([entry(name, "BOMKC(SPA)", run, 20.0), entry(name, "U", run, 30.0 + run)])
    written(table, first, {}, tmp_path, "first")
    (tmp_path / "spa-5.jsonl").unlink()
    before = json.loads((tmp_path / "spa-5.json").read_text())
    later.path = tmp_path / "spa-5.jsonl"
    later.add([entry("german", "DD", run, 25.0) for run in (1, 2)])
    written(table, later, {}, tmp_path, "lopsided reproduce spa-5 --sets german")
    after = json.loads((tmp_path / "spa-5.json").read_text())
    assert before["wins"] == after["wins"] == {"U": [2, 0, 0]}
    known = [{(one["data"], one["method"]): one["here"] for one in made["vectors"]} for made in (before, after)]
    assert known[1] == known[0] | {("german", "DD"): 150.0} and known[0]["german", "DD"] is None
    assert {one["runs"] for made in (after["vectors"], after["seconds"]) for one in made} == {2, None}
    assert all((one["runs"] is None) == (one["here"] is None) for one in after["vectors"])
    page = (tmp_path / "spa-5.md").read_text()
    assert "U 2/0/0" in page and "- svmguide3: figures of earlier runs" in page
    assert "- german: some figures are of earlier runs" in page
    assert "lopsided reproduce spa-5 --sets german,svmguide3\n" in page
    assert [one["here"] for one in after["cells"] if one["method"] == "U" and one["data"] == "german"] == [
        pytest.approx(31.65)
    ]


def test_a_picture_says_what_its_points_cost():
    table, log = table_named("spa-fig-2"), RunLog()
    for run, (vectors, seconds) in enumerate([(100.0, 2.0), (300.0, 1.0)], start=1):
        what = {"table": "spa-fig-2", "set": "a9a", "method": "beta = 5 @ 0.5", "run": run, "parameters": {}}
        log.add([what | {"measures": {"accuracy": 80.0, "vectors": vectors}, "seconds": seconds}])
    grid = point_costs_grid(table, log)
    assert grid.headings == ["set", "curve", "0.5"] and grid.rows == [["a9a", "beta = 5", "200 / 1.00"]]
    assert "200 / 1.00" in markdown(table, log, [], {}, "command")
    assert point_costs_grid(table, RunLog()) is None


def test_parameters_of_a_table_made_before_are_taken_again():
    table, log = table_named("spa-2"), RunLog()
    what = {"table": "spa-2", "set": "a9a", "run": 1, "measures": {"accuracy": 80.0}}
    log.add([what | {"method": "OGD", "parameters": {"learning_rate": 0.1}}])
    summary = {"cells": [one.as_json() for one in outcomes(table, log)]}
    again = with_kept_parameters(table, summary).methods("a9a")
    assert list(again["OGD"].settings) == [{"learning_rate": 0.1}]
    assert len(again["PA-I"].settings) == 4 and len(table.methods("a9a")["OGD"].settings) == 7
    with pytest.raises(ValueError, match="parameters of its own in every run"):
        with_kept_parameters(table_named("b2rmk-3"), {"cells": []})
