"""`--key`, `--time` and `--value`: what keys did before, from the command line, with late labels."""

import json

import numpy as np
import pytest

import lopsided as lp
from cli.conftest import refusal_of
from lopsided.encoding import infer_schema
from lopsided.late import LateLearner

KEYED = (
    "--key",
    "card",
    "--time",
    "when",
    "--value",
    "amount",
    "--label",
    "fraud",
    "--delay",
    "2h",
    "--learner",
    "koil",
)


@pytest.fixture(scope="module")
def payments():
    rng = np.random.default_rng(0)
    n = 240
    card = rng.integers(9, size=n)
    moments = np.datetime64("2024-05-01T00:00:00") + 600 * np.arange(n).astype("timedelta64[s]")
    return {
        "card": [f"c{number}" for number in card],
        "when": [str(moment) for moment in moments],
        "amount": np.round(rng.lognormal(3.0, 1.0, n), 2).tolist(),
        "fraud": (rng.random(n) < np.where(card == 0, 0.7, 0.05)).astype(int).tolist(),
    }


def written(path, rows, start=0, stop=None):
    lines = [",".join(map(str, row)) for row in list(zip(*rows.values(), strict=True))[start:stop]]
    path.write_text("\n".join([",".join(rows), *lines]) + "\n")
    return path


def test_evaluate_gives_the_numbers_of_python(lopsided, tmp_path, payments):
    done = lopsided("evaluate", written(tmp_path / "all.csv", payments), *KEYED, "--json")
    assert done.returncode == 0, done.stderr
    schema = infer_schema(payments, label="fraud", time="when", ignore=["card"])
    history = lp.KeyedHistory(["card"], "when", "amount")
    model = lp.HistoryPipeline(schema, history, learner=lp.KOIL(random_state=0))
    seconds = np.array(payments["when"], dtype="datetime64[s]").astype(float)
    y = np.array(payments["fraud"])
    scores = LateLearner(model, delay="2h", classes=[0, 1]).progressive_scores(payments, y, times=seconds)
    assert json.loads(done.stdout)["record"]["auroc"] == pytest.approx(lp.metrics.auroc(y, scores), abs=1e-12)


def test_learn_keeps_the_history_and_score_reads_it(lopsided, tmp_path, payments):
    """Scoring changes nothing: rows without labels are read as if each were the next."""
    both = [written(tmp_path / "1.csv", payments, 0, 150), written(tmp_path / "2.csv", payments, 150)]
    assert lopsided("learn", *both, *KEYED, "--output", "whole").returncode == 0
    model = lp.load(tmp_path / "whole")
    assert model.history_.n_seen_ == model.n_seen_ == 240 and model.history_.n_keys_ == 9
    scored = lopsided("score", "whole", both[1], "--output", "scores.csv")
    assert scored.returncode == 0, scored.stderr
    assert lp.load(tmp_path / "whole").history_.n_seen_ == 240
    assert lopsided("inspect", "whole").returncode == 0
    done = lopsided("explain", "whole", both[1], "--row", 7, "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    total = sum(part["amount"] for part in facts["parts"]) + facts["rest"]["amount"]
    assert total - facts["threshold"] == pytest.approx(facts["score"], abs=1e-9)
    assert "Got a model of TablePipeline" in refusal_of(lopsided("export", "whole", "-o", "model.onnx"))


def test_keys_need_a_time(lopsided, tmp_path, payments):
    path = written(tmp_path / "all.csv", payments)
    assert "must come with --time" in refusal_of(lopsided("evaluate", path, "--key", "card"))
    said = refusal_of(lopsided("evaluate", path, "--value", "amount", "--time", "when"))
    assert "--value must come with --alerts, such as 100/day, or --key" in said


def test_evaluate_says_which_columns_look_like_keys_and_what_to_add(lopsided, tmp_path, payments):
    path = written(tmp_path / "all.csv", payments)
    done = lopsided("evaluate", path, "--label", "fraud", "--learner", "koil")
    assert done.returncode == 0, done.stderr
    advice = "'card' looks like a key: to learn from what each did before, add --key card --time when --value amount"
    assert advice in done.stderr
    done = lopsided("evaluate", path, *KEYED)
    assert "looks like a key" not in done.stderr
    assert "card    key, its history is learned from" in done.stderr
