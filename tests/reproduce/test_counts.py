"""What README, the index and the pages say about the published figures is what the logs of the runs say."""

import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from lopsided.cli.reproduce import reproduce
from lopsided.evaluate import RunLog
from lopsided.reproduce.comparison import Measured, Verdict, judged, outcomes, wins
from lopsided.reproduce.conclusions import Claim, Record, compared
from lopsided.reproduce.costs import seconds, vectors
from lopsided.reproduce.counting import count
from lopsided.reproduce.gaps import fewer_runs_sentence, partly_run, runs_sentence
from lopsided.reproduce.index import Made, read_folder, totals
from lopsided.reproduce.pages import as_markdown, curve_grid, result_grids, runs_of_points, verdict_sentence
from lopsided.reproduce.published import Cell
from lopsided.reproduce.registry import table_named

ROOT = Path(__file__).parents[2]
EVIDENCE = ROOT / "docs/evidence"
OWN = {"koil": "KOIL", "oilk": "OILK", "spa": ("SPA", "BOMKC"), "omcsl": "OMCSL", "b2rmk": ("OB2RMK", "B2RMK")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the evidence, made anew."""
    copy = tmp_path_factory.mktemp("evidence")
    others = ("*.png", "rare-events.jsonl", "rivals.jsonl", "survey.jsonl", "tuned-each.jsonl")
    shutil.copytree(EVIDENCE / "tables", copy / "tables", ignore=shutil.ignore_patterns(*others))
    for arguments in (["index", "--output", copy / "tables"], ["conclusions", "--output", copy]):
        done = CliRunner().invoke(reproduce, list(map(str, arguments)))
        assert done.exit_code == 0, done.output
    return copy


def test_the_index_and_the_conclusions_are_those_of_the_logs(folder):
    for page in ("tables/README.md", "conclusions.md"):
        assert (folder / page).read_text() == (EVIDENCE / page).read_text(), f"{page}: run `lopsided reproduce` anew"


def test_each_page_says_what_its_log_says(folder):
    for one in read_folder(folder / "tables"):
        page = (folder / f"tables/{one.table.name}.md").read_text()
        if one.results:
            said = (verdict_sentence(one.table, one.results), runs_sentence(one.table, one.results))
            assert all(sentence in page for sentence in (*said, *partly_run(one.table, one.results)))
            assert all("\n".join(as_markdown(grid)) in page for grid in result_grids(one.table, one.results))
        assert "\n- Runs: " in page


@pytest.mark.parametrize("path", sorted((EVIDENCE / "tables").glob("*.json")), ids=lambda path: path.stem)
def test_every_figure_is_that_of_its_logged_runs(path):
    """All that a file says of a table follows from the runs in the log beside it, but where the page says otherwise."""
    made, table = json.loads(path.read_text()), table_named(path.stem)
    log = RunLog(path.with_suffix(".jsonl"))
    sets = {entry["set"] for entry in log.entries}
    not_kept = {name for names, why in made["missing"].items() if "not kept" in why for name in names.split(", ")}
    assert {cell["data"] for cell in made["cells"] if cell["here"] is not None} <= sets | not_kept
    for cell, now in zip(made["cells"], outcomes(table, log), strict=True):
        runs = cell["runs"], cell.get("ours_runs", 0)
        if cell["data"] in sets - not_kept or runs == (now.here.runs, now.ours.runs) != (0, 0):
            figures = (now.here.mean, now.here.deviation, now.ours.mean, now.ours.deviation)
            said = [cell.get(name) for name in ("here", "here_deviation", "ours", "ours_deviation")]
            assert [None if value is None else round(value, 9) for value in said] == [
                None if math.isnan(value) else round(value, 9) for value in figures
            ]
            assert runs == (now.here.runs, now.ours.runs)
    for kind, found in (("vectors", vectors(table, log, {})), ("seconds", seconds(table, log, {}))):
        rows = [one.as_json() for one in found if one.cell.data in sets - not_kept]
        assert [row for row in made.get(kind, ()) if row["data"] in sets - not_kept] == rows, kind
    if made["cells"] and not not_kept:
        assert made["wins"] == {method: list(record) for method, record in wins(table, log).items()}
    if made["points"] and sets:
        logged = [(p["data"], p["method"], len(log.of(table.name, p["data"], p["method"]))) for p in made["points"]]
        assert logged == [(p["data"], p["method"], p["runs"]) for p in made["points"]]
        assert "\n".join(as_markdown(curve_grid(table, log))) in path.with_suffix(".md").read_text()


def test_every_number_of_runs_is_in_the_file_of_its_page(folder):
    for one in read_folder(folder / "tables"):
        page = (folder / f"tables/{one.table.name}.md").read_text()
        if one.results:
            assert all(cell["runs"] >= 1 for cell in one.summary["cells"] if cell["here"] is not None)
            for kind, unit in (("vectors", 1.0), ("seconds", 1e-4)):
                for row in one.summary.get(kind, ()):
                    if row["here"] is not None:  # a mean of so many whole numbers
                        total = row["here"] * row["runs"] / unit
                        assert total == pytest.approx(round(total), abs=1e-3), (one.table.name, row)
            counted = [*vectors(one.table, RunLog(), one.summary), *seconds(one.table, RunLog(), one.summary)]
            assert fewer_runs_sentence(one.results, counted) in page
        else:
            points = {(point["data"], point["method"]) for point in one.summary["points"]}
            sets = {data for data, _ in points}
            assert points == {(data, method) for data in sets for method in one.table.methods(data)}
            assert f"\n- {runs_of_points(one.summary['points'])}\n" in page


def test_readme_has_the_counts_of_a_second_count():
    run, near, within = [0, 0], [0, 0], [0, 0]
    printed = dated = 0
    for path in (EVIDENCE / "tables").glob("*.json"):
        made = json.loads(path.read_text())
        for cell in made["cells"]:
            printed += 1
            if cell["here"] is not None:
                own = 0 if cell["method"].startswith(OWN[made["table"].split("-")[0]]) else 1
                away = abs(cell["here"] - cell["value"])
                run[own] += 1
                near[own] += away <= (0.3 if made["table"].startswith("spa") else 0.01)
                dated += cell["deviation"] is not None
                within[own] += cell["deviation"] is not None and away <= cell["deviation"]
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert f"Of {printed} published figures {sum(run)} were run as published" in readme
    assert f"{sum(near)} are within .01 or 0.3 points, to either side" in readme
    assert f"(own methods {near[0]} of {run[0]}, baselines {near[1]} of {run[1]})" in readme
    assert f"and {sum(within)} of {dated} within one published deviation" in readme
    own, others = totals(read_folder(EVIDENCE / "tables"))
    assert ([own.run, others.run], [own.near, others.near], [own.within, others.within]) == (run, near, within)
    both = own + others
    assert both.run == both.either + both.better + both.one_class + both.worse
    assert re.search(r"\d+ (are|were) (within|met)[^.]*or better", readme) is None


def test_a_variant_of_ours_is_shown_and_not_counted():
    table = table_named("b2rmk-3")
    log = RunLog()
    log.add([entry("OB2RMK", run, 0.915) for run in (1, 2)])
    (ours,) = [one for one in outcomes(table, log) if (one.cell.data, one.cell.method) == ("sonar", "OB2RMK")]
    assert ours.verdict is Verdict.NOT_RUN and ours.ours.mean == 0.915
    assert (count([ours], 0.01).run, count([ours], 0.01).ours_alone, count([ours], 0.01).ours_near) == (0, 1, 1)
    log.add([entry("OB2RMK as published", run, 0.82) for run in (1, 2)])
    (both,) = [one for one in outcomes(table, log) if (one.cell.data, one.cell.method) == ("sonar", "OB2RMK")]
    assert (both.verdict, both.here.mean, both.ours.mean) == (Verdict.WORSE, 0.82, 0.915)
    assert (count([both]).run, count([both]).ours, count([both]).ours_alone) == (1, 1, 0)


def entry(method, run, value):
    return {
        "table": "b2rmk-3", "set": "sonar", "method": method, "run": run, "parameters": {}, "measures": {"AUC": value}
    }  # fmt: skip


@pytest.mark.parametrize(
    ("here", "deviation", "verdict"),
    [
        (30.0, 0.0, Verdict.ONE_CLASS),  # always the larger class
        (32.6, 1.0, Verdict.ONE_CLASS),  # worse than that
        (29.75, 0.1, Verdict.ONE_CLASS),
        (29.5, 0.6, Verdict.ONE_CLASS),  # runs do not tell it from that
        (29.5, 0.1, Verdict.BETTER),
        (35.7, 0.1, Verdict.WITHIN),
        (38.5, 0.1, Verdict.WORSE),
    ],
)
def test_always_one_class_is_never_better(here, deviation, verdict):
    cell = Cell("spa-5", "german", "U", "error", 35.75, 1.5)
    assert judged(table_named("spa-5"), cell, Measured(here, deviation, 10)).verdict is verdict
    upside_down = replace(table_named("spa-5"), lower_is_better=False)
    cell = replace(cell, value=100.0 - cell.value)
    assert judged(upside_down, cell, Measured(100.0 - here, deviation, 10)).verdict is verdict


def test_a_wide_deviation_does_not_make_two_means_alike():
    table, cell = table_named("koil-3.3"), Cell("koil-3.3", "sonar", "NORMA", "AUC", 0.9, 0.05)
    assert judged(table, cell, Measured(0.93, 0.05, 20)).within and judged(table, cell, Measured(0.93, 0.05, 20)).alike
    assert judged(table, cell, Measured(0.94, 0.05, 20)).within
    assert not judged(table, cell, Measured(0.94, 0.05, 20)).alike  # 2.5 standard errors
    assert not judged(table, replace(cell, deviation=math.nan), Measured(0.9, 0.05, 20)).alike


def test_wins_and_losses_follow_one_rule_in_print_and_here():
    table = table_named("koil-3.3")
    figures = {  # published are .955 ± .028 and .925 ± .038, then .923 ± .023 and .919 ± .023
        ("sonar", "KOIL_RS++"): Measured(0.90, 0.02, 20),
        ("sonar", "NORMA"): Measured(0.95, 0.02, 20),
        ("australian", "KOIL_RS++"): Measured(0.92, 0.02, 20),
        ("australian", "NORMA"): Measured(0.915, 0.02, 20),
    }
    results = [
        judged(table, Cell("koil-3.3", *place, "AUC", 0.9, 0.03), measured) for place, measured in figures.items()
    ]
    log = RunLog()
    for (name, method), measured in figures.items():  # runs that go together on sonar, and do not on australian
        for run in range(1, 21):
            wave = 0.02 * math.sin(run + (method == "NORMA") * (0.1 if name == "sonar" else 3.0))
            what = {"table": "koil-3.3", "set": name, "method": method, "run": run}
            log.add([what | {"measures": {"AUC": measured.mean + wave}}])
    made = {"koil-3.3": Made(table, {}, results, log)}
    row = compared(Claim("koil-3.3", "KOIL_RS++"), "NORMA", made)
    assert row.before_here == Record(1, 1, 0) and row.here == Record(0, 1, 1) and row.paired == "0/1/1"
    assert row.verdict == "does not hold" and str(row.ours) == "-"
    log.add([what | {"run": 21, "measures": {"AUC": 0.9}}])  # of NORMA on australian alone
    assert compared(Claim("koil-3.3", "KOIL_RS++"), "NORMA", made).paired == "0/0/1"
    made["koil-3.3"] = Made(table, {}, [judged(table, result.cell, Measured()) for result in results])
    assert compared(Claim("koil-3.3", "KOIL_RS++"), "NORMA", made).verdict == "not run"
    assert math.isnan(made["koil-3.3"].results[0].difference)
