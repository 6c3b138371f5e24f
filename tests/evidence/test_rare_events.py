"""The command for rare events: labels are not known too early, what was run is not run again, a log becomes a page."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from lopsided.datasets import Dataset
from lopsided.evaluate import RunLog

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
HOUR = 3600.0


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield
    for name in [name for name in sys.modules if name.startswith("rare_") or name in ("pages", "flights")]:
        del sys.modules[name]


class Remembers:
    """Scores a row by how many rows it has learned; keeps what it was told and when it was fitted."""

    def __init__(self):
        self.learned, self.asked, self.fits = [], [], 0

    def partial_fit(self, X, y, classes=None):
        self.learned += X[:, 0].tolist()
        return self

    def decision_function(self, X):
        self.asked += [(row, len(self.learned)) for row in X[:, 0].tolist()]
        return np.full(X.shape[0], float(len(self.learned)))

    def refit(self):
        self.fits += 1


def stream_in_time(n=400, hours=100.0):
    times = np.sort(np.random.default_rng(0).uniform(0.0, hours * HOUR, n))
    X, y = np.arange(n, dtype=np.float64)[:, None], (np.arange(n) % 5 == 0).astype(np.int64)
    return Dataset("rows", X, y, ["row"], "made here", "numbered rows", times=times)


def test_a_row_is_scored_by_those_whose_labels_had_come():
    from rare_plays import late

    stream, learner = stream_in_time(), Remembers()
    scores = late(learner, stream, block=HOUR, delay=12 * HOUR, refit_every=24 * HOUR).scores
    asked = dict(learner.asked)
    first = stream.times >= 13 * HOUR
    assert set(asked) >= set(np.flatnonzero(first)) and learner.learned == sorted(set(learner.learned))
    for row, known in asked.items():
        begin = stream.times[int(row)] // HOUR * HOUR
        assert known == np.searchsorted(stream.times, begin - 12 * HOUR) and scores[int(row)] == known
    never_asked = np.setdiff1d(np.arange(stream.n_rows), list(asked))
    assert (scores[never_asked] < scores[list(map(int, asked))].min()).all()
    assert learner.fits == 4  # once a day from the first labels on


class Blends:
    """Two parts of which one says how many rows were learned, the other the row itself."""

    def __init__(self):
        self.n = 0

    def partial_fit(self, X, y, classes=None):
        self.n += len(y)

    def decision_function(self, X):
        return X[:, 0]

    def part_scores(self, X):
        said = {"ranker": np.full(X.shape[0], float(self.n)), "trees": X[:, 0], "short": -X[:, 0]}
        said["linear"] = 2.0 * X[:, 0]
        return said | {"blend": X[:, 0], "score": X[:, 0]}

    def progressive_parts(self, X, y, classes=None):
        return self.part_scores(X)


def test_parts_of_a_blend_are_asked_when_rows_come():
    from rare_contestants import parts_of
    from rare_plays import late

    stream = stream_in_time()
    assert set(parts_of(Blends(), stream.X, stream.y)) == {"ranker", "trees", "short", "linear"}
    assert parts_of(Remembers(), stream.X, stream.y) == {}
    played = late(Blends(), stream, block=HOUR, delay=12 * HOUR)
    later = stream.times >= 14 * HOUR
    begins = stream.times[later] // HOUR * HOUR
    assert np.array_equal(played.parts["ranker"][later], np.searchsorted(stream.times, begins - 12 * HOUR))


class History:
    """Says of a row how many labels it knew, and by which key it came."""

    def __init__(self, keys, time, value):
        self.keys, self.known = keys, 0

    def observe(self, table):
        assert list(table) == ["card", "when"]
        rows = np.asarray(table["card"])
        return np.column_stack([np.full(rows.size, self.known), rows]), rows[:, None]

    def learn_labels(self, tokens, y):
        assert tokens[:, 0].tolist() == list(range(self.known, self.known + len(y)))  # in order, each once
        self.known += len(y)

    def get_feature_names_out(self):
        return ["known", "card"]


def test_a_history_knows_the_labels_that_had_come(monkeypatch):
    from dataclasses import replace

    import lopsided as lp

    monkeypatch.setattr(lp, "KeyedHistory", History, raising=False)
    from rare_history import can_remember, with_history

    stream = stream_in_time()
    stream = replace(stream, columns={"card": np.arange(stream.n_rows)})
    found = with_history(stream, ["card"], None, block=HOUR, delay=12 * HOUR)
    assert can_remember() and found.feature_names == ["row", "known", "card"]
    assert np.array_equal(found.X[:, 0], found.X[:, 2])
    begins = stream.times // HOUR * HOUR
    assert np.array_equal(found.X[:, 1], np.searchsorted(stream.times, begins - 12 * HOUR))


def test_the_best_cards_of_a_day():
    from rare_plays import daily_precision

    days, cards = np.array([0, 0, 0, 0, 1, 1]), np.array([7, 7, 8, 9, 8, 9])
    y, scores = np.array([0, 1, 0, 0, 0, 1]), np.array([0.9, 0.1, 0.5, 0.2, 0.8, 0.3])
    assert daily_precision(y, scores, days, cards, 1) == 0.5
    assert daily_precision(y, scores, days, cards, 2) == 0.5


class Adapts:
    """Ranks by the only feature, and turns round 1,000 rows after the 2,000th."""

    def __init__(self):
        self.n = 0

    def decision_function(self, X):
        return X[:, 0] if self.n < 3_000 else -X[:, 0]

    def progressive_scores(self, X, y, classes=None):
        scores = self.decision_function(X)
        self.n += X.shape[0]
        return scores


def test_rows_until_half_is_regained():
    from rare_plays import Change, recovery

    rng = np.random.default_rng(1)
    y = (rng.random(8_000) < 0.2).astype(np.int64)
    X = rng.standard_normal((8_000, 1)) + 2.0 * np.where(np.arange(8_000) < 4_000, y, -y)[:, None]
    stream = Dataset("turns", X, y, ["x"], "made here", "turns round")
    parts = [slice(start, start + 2_000) for start in range(0, 8_000, 2_000)]
    found = recovery(Adapts(), Change(stream, *parts))
    assert found["regained"] == 1_000 and found["before"] > 0.9 > 0.1 > found["fell to"]
    still = recovery(Adapts(), Change(stream, parts[0], parts[1], parts[1], parts[1]))
    assert still["regained"] == 0


def section(play, **options):
    from rare_sections import Section

    return Section("keel", "Sets", "Text.", ["a", "b"], {"KOIL, scaled": 2, "LightGBM": 1}, play, **options)


def test_what_is_in_the_log_is_not_run_again(tmp_path, monkeypatch, capsys):
    from rare_events import fill

    played = []

    def play(kind, name, run):
        played.append((kind, name, run))
        return {"auc": 0.5 + run / 10, "ap": 0.1, "us": 3.0}

    path = tmp_path / "log.jsonl"
    fill(section(play), RunLog(path), ["KOIL, scaled", "LightGBM"])
    first = [(kind, name, 1) for kind in "ab" for name in ("KOIL, scaled", "LightGBM")]
    assert played == [*first, ("a", "KOIL, scaled", 2), ("b", "KOIL, scaled", 2)]
    assert "[keel 6/6] b, KOIL, scaled, run 2: auc 0.700" in capsys.readouterr().out
    fill(section(play), RunLog(path), ["KOIL, scaled", "LightGBM"])
    assert len(played) == 6


def test_a_log_becomes_a_page_with_means_ranks_and_parts():
    from rare_contestants import NEVER, NEW
    from rare_tables import page

    log = RunLog()
    areas = {NEW: (0.9, 0.5), "LightGBM": (0.8, 0.6)}
    for kind, less in (("a", 0.0), ("b", 0.1)):
        for name, (area, precision) in areas.items():
            measures = {"auc": area - less, "ap": precision - less, "us": 10.0}
            if name == NEW:
                measures |= {"auc of trees": 0.7, "ap of trees": 0.7, "auc of ranker": 0.75, "ap of ranker": 0.1}
                measures |= {"auc of short": 0.5, "ap of short": 0.0, "auc of linear": 0.85, "ap of linear": 0.3}
                still = {"auc": area - less + 0.002, "ap": precision, "us": 9.0}
                log.add([{"table": "keel", "set": kind, "method": NEVER, "run": 1, "measures": still}])
            log.add([{"table": "keel", "set": kind, "method": name, "run": 1, "measures": measures}])
    from rare_sections import Section

    known = {"keel": Section("keel", "Sets", "Text.", ["a", "b"], {NEW: 1, "LightGBM": 1, NEVER: 1}, lambda *_: {})}
    text = page(log, known)
    assert "| | a | b | mean, AUC / AP | rank by AUC | rank by AP | us a row |" in text
    assert f"| {NEW} | .900 / .500 | .800 / .400 | .850 / .450 | 1.0 | 2.0 | 10 |" in text
    assert "| LightGBM | .800 / .600 | .700 / .500 | .750 / .550 | 2.0 | 1.0 | 10 |" in text
    blend = (
        "| Sets | 2 | .850 | .750 / .700 / .500 / .850 | +0.000 (-0.050 at worst) | +0.100 (+0.050 at worst) "
        "| .450 | .100 / .700 / .000 / .300 | -0.250 (-0.300 at worst) | -0.250 (-0.300 at worst) |"
    )
    assert blend in text
    assert "| Sets | 2 | .850 | .852 | -0.0020 (-0.002 at worst) | .450 | .500 | -0.0500 (-0.100 at worst) |" in text


def test_streams_of_the_sections_have_their_ratio_and_their_change():
    from rare_sections import change_of, stream_of

    assert stream_of("mixed 1:20", 101).ratio == pytest.approx(20, rel=0.01)
    change = change_of("places, abrupt", 101)
    gap = [
        change.stream.X[part][change.stream.y[part] == 1].mean() > 0
        for part in (change.old, change.apart_old, change.new, change.apart_new)
    ]
    assert gap == [True, True, False, False]


REPOSITORY = Path(__file__).parents[2]


def test_the_page_is_what_the_log_in_the_repository_says():
    from rare_events import LOG, PAGE
    from rare_sections import sections
    from rare_tables import page

    assert page(RunLog(LOG), sections()) in PAGE.read_text()


def test_the_headline_of_the_readme_is_in_the_log():
    """Means over the 27 sets that had no part in any choice, from the lines of the log themselves."""
    lines = (REPOSITORY / "docs" / "evidence" / "tables" / "rare-events.jsonl").read_text().splitlines()
    runs = [run for run in map(json.loads, lines) if run["table"] == "unseen"]
    readme = " ".join((REPOSITORY / "README.md").read_text().split())
    for name in ("RareEventClassifier", "FourierRanker 'auto', focus=6", "LightGBM, lambda 10, positives x5"):
        mine = [run["measures"] for run in runs if run["method"] == name]
        means = [f"{sum(one[key] for one in mine) / 27:.3f}".lstrip("0") for key in ("auc", "ap")]
        assert len(mine) == 27 and " / ".join(means) in readme, (name, means)
