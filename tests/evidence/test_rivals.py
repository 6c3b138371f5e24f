"""Pages of rivals, of the survey's streams, of many kernels: what they say is in their logs; their arithmetic."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from lopsided.evaluate import RunLog

ROOT = Path(__file__).parents[2]
OWN = ("rivals", "survey", "contest", "ranks", "many_kernels", "tuning_protocols", "pages", "flights")


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield
    for name in [name for name in sys.modules if name.startswith("rare_") or name in OWN]:
        del sys.modules[name]


@pytest.mark.parametrize("name", ["rivals", "survey", "tuning_protocols"])
def test_the_page_is_what_the_log_in_the_repository_says(name):
    module = __import__(name)
    assert module.page(RunLog(module.LOG)) in module.PAGE.read_text()


def test_every_stream_of_the_survey_was_run_by_all_on_the_page():
    import survey

    runs = [json.loads(line) for line in survey.LOG.read_text().splitlines()]
    places = [(run["set"], run["method"]) for run in runs]
    assert len(places) == len(set(places)) and {place for place, _ in places} == set(survey.SETS)
    assert len(survey.SETS) == 50


def test_what_the_readme_says_of_rivals_is_in_the_log():
    """Means over the sets of means over the orders, from the lines of the log themselves."""
    runs = [json.loads(line) for line in (ROOT / "docs/evidence/tables/rivals.jsonl").read_text().splitlines()]
    readme = " ".join((ROOT / "README.md").read_text().split())
    for name in ("RareEventClassifier", "CatBoost, balanced"):
        mine = [run["measures"] for run in runs if run["method"] == name]
        assert len(mine) == 54
        for keys in (("auc", "ap"), ("auc from 250", "ap from 250")):
            means = [f"{np.mean([one[key] for one in mine]):.3f}".lstrip("0") for key in keys]
            assert " / ".join(means) in readme, (name, means)


def test_many_kernels_has_a_page_of_the_runs_in_the_logs_of_its_tables():
    import many_kernels

    log = many_kernels.logged()
    assert many_kernels.page(log) in many_kernels.PAGE.read_text()
    assert len(many_kernels.SETS) == 14
    cells = {}
    for table in (many_kernels.ONE, many_kernels.MANY):
        made = json.loads((many_kernels.TABLES / f"{table}.json").read_text())
        cells |= {(table, cell["data"], cell["method"]): cell for cell in made["cells"]}
    for variant in many_kernels.VARIANTS:
        one, letter, ours = many_kernels.contestants(variant)
        for (table, method), kind in ((one, "here"), (letter, "here"), (ours, "ours")):
            for name in many_kernels.SETS:
                values = many_kernels.areas(log, name, table, method)
                expected = cells[table, name, method.removesuffix(" as published")][kind]
                assert len(values) == 20 and np.mean(values) == pytest.approx(expected, abs=1e-9)


def test_holm_never_lets_a_larger_p_come_out_smaller():
    from ranks import holm

    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == {"a": 0.03, "b": 0.06, "c": 0.06}
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}


def test_ranks_and_wins_are_those_of_the_values():
    from ranks import ranked

    values = {f"set {k}": {"a": 0.9, "b": 0.8 + 0.01 * k, "c": 0.9 if k % 2 else 0.7} for k in range(8)}
    found = ranked(values, "a")
    assert found.won == {"b": (8, 0, 0), "c": (4, 4, 0)}
    assert found.p["b"] == pytest.approx(2 * 2 / 2**8) and min(found.mean_ranks, key=found.mean_ranks.get) == "a"


def test_measures_of_windows_are_means_of_those_with_both_classes():
    import survey

    rng = np.random.default_rng(0)
    y, scores = (rng.random(1_500) < 0.1).astype(int), rng.random(1_500)
    y[500:1_000] = 0
    flagged = scores > 0.7
    found = survey.windowed(y, scores, flagged)
    windows = [slice(0, 500), slice(1_000, 1_500)]
    kappas = [cohen_kappa_score(y[rows], flagged[rows]) for rows in windows]
    assert found["kappa"] == pytest.approx(np.mean(kappas))
    recalls = [flagged[rows][y[rows] == 1].mean() * (1 - flagged[rows][y[rows] == 0].mean()) for rows in windows]
    assert found["gmean"] == pytest.approx(np.mean(np.sqrt(recalls)))


class Moves:
    """Its threshold is the number of rows it has learned; scores are numbers of rows plus a half."""

    n = 0

    @property
    def threshold_(self):
        return float(self.n)

    def progressive_scores(self, X, y, classes=None):
        scores = self.n + np.arange(len(y)) - 10.5
        self.n += len(y)
        return scores


def test_a_portion_is_decided_by_the_threshold_before_it(monkeypatch):
    import survey

    seen = {}
    monkeypatch.setitem(survey.CONTESTANTS, "moves", lambda seed: Moves())
    monkeypatch.setattr(survey, "windowed", lambda y, scores, flagged: seen.update(flagged=flagged) or {})
    survey.play("sea 1:20", "moves", 1)
    assert np.array_equal(seen["flagged"], np.arange(survey.ROWS) % survey.PORTION > 10)
