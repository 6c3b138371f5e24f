"""A model for each key of a raw table, against a KeyedLearner that is given the numbers; and the command for it."""

import json

import numpy as np
import pandas as pd
import pytest

import lopsided as lp
from lopsided.encoding import infer_schema

RNG = np.random.default_rng(2)
N = 400
CARDS = RNG.integers(0, 15, N)
TABLE = pd.DataFrame(
    {"card": [f"c{card}" for card in CARDS], "amount": RNG.exponential(10, N), "price": RNG.standard_normal(N)}
)
Y = (np.where(CARDS % 2, 1.0, -1.0) * TABLE["price"].to_numpy() > 0.8).astype(int)


def keyed(**options):
    return lp.KeyedLearner(lp.OCS(loss="logistic", learning_rate=0.1, fit_intercept=True), key="card", **options)


@pytest.mark.parametrize("prior", [None, "global"])
def test_numbers_are_scaled_and_the_key_is_not(prior):
    pipeline = lp.TablePipeline(learner=keyed(prior=prior, max_keys=4, spill="temporary"))
    own = keyed(prior=prior, scaler=lp.OnlineScaler())
    for start in range(0, N, 130):
        part, labels = TABLE[start : start + 130], Y[start : start + 130]
        expected = own.progressive_scores(part, labels)
        np.testing.assert_array_equal(pipeline.progressive_scores(part, labels), expected)
    rows = TABLE.to_dict("records")
    np.testing.assert_array_equal(pipeline.raw_scores(rows), own.raw_scores(TABLE))
    np.testing.assert_array_equal(pipeline.encoder_.from_mappings(rows), pipeline.encoded(TABLE))
    assert [pipeline.raw_score_one(row) for row in rows[:20]] == own.raw_scores(TABLE[:20]).tolist()
    np.testing.assert_array_equal(pipeline.key_codes(TABLE), own.key_codes(TABLE))
    assert pipeline.learner_.n_keys_ == own.n_keys_ == 15
    again = lp.from_bytes(pipeline.to_bytes())
    assert again.learn_one(rows[0], 1).to_bytes() == pipeline.learn_one(rows[0], 1).to_bytes()


def test_words_gaps_and_a_key_that_is_also_learned_from():
    table = TABLE.assign(country=["NO", "SE", None, "XX"] * (N // 4), amount=TABLE["amount"].where(CARDS != 3))
    schema = infer_schema(table.to_dict("list"))  # which hashes the card as a category
    model = lp.TablePipeline(schema, learner=keyed()).partial_fit(table, Y)
    plain = lp.TablePipeline(schema, learner=lp.OCS()).partial_fit(table, Y)
    assert model.n_features_in_ == plain.n_features_in_ + 1
    assert model.encoder_.places()["card"][-1] == model.encoder_.key_place == model.n_features_in_ - 1
    row = {"card": "c1", "amount": None, "price": 1.0, "country": "NO"}
    assert model.score_one(row) == pytest.approx(model.decision_function([row])[0], rel=1e-12)
    nobody = [dict(row, card=None), {name: cell for name, cell in row.items() if name != "card"}]
    assert model.raw_scores(nobody)[0] == model.raw_scores(nobody)[1] == model.raw_score_one(nobody[1])


def test_a_history_and_a_model_for_the_same_key():
    table = TABLE.assign(when=np.arange(N) * 3600.0)
    schema = infer_schema(table.to_dict("list"), keys=["card"], time="when", value="amount")
    model = lp.TablePipeline(schema, learner=keyed())
    scores = model.progressive_scores(table, Y)
    assert model.history_.n_keys_ == 15 == model.learner_.n_keys_ and np.isfinite(scores).all()
    one = lp.TablePipeline(schema, learner=keyed()).compile_ahead()
    found = [one.progressive_scores(table[r : r + 1], Y[r : r + 1], classes=[0, 1])[0] for r in range(N)]
    np.testing.assert_allclose(found, scores, rtol=1e-9, atol=1e-12)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"must be the name of a column\. Got 0"):
        lp.TablePipeline(learner=lp.KeyedLearner(lp.OCS(), key=0)).partial_fit(TABLE, Y)
    model = lp.TablePipeline(learner=keyed()).partial_fit(TABLE, Y)
    with pytest.raises(ValueError, match="must hold the column 'card' of the key"):
        model.raw_scores(TABLE[["amount", "price"]])
    encoded = np.array(model.encoded(TABLE))
    np.testing.assert_array_equal(model.raw_scores(encoded), model.raw_scores(TABLE))
    encoded[3, -1] = 7.0
    with pytest.raises(ValueError, match="keys of encoded rows must be codes"):
        model.raw_scores(encoded)
    assert not hasattr(lp.TablePipeline(), "key_codes")


def test_the_command_keeps_a_model_for_each_value(tmp_path, monkeypatch, capsys):
    from lopsided.cli.main import run

    monkeypatch.chdir(tmp_path)
    TABLE.assign(fraud=Y).to_csv("rows.csv", index=False, float_format="%.6f")
    TABLE.assign(fraud=Y)[:230].to_csv("first.csv", index=False, float_format="%.6f")
    TABLE.assign(fraud=Y)[230:].to_csv("second.csv", index=False, float_format="%.6f")
    common = ["--model-per", "card", "--label", "fraud", "--json"]

    def learned(*arguments):
        assert run(["learn", *arguments]) == 0
        return json.loads(capsys.readouterr().out)

    whole = learned("rows.csv", *common, "-o", "whole.model")
    assert whole["learner"] == "KeyedLearner" and whole["features"] == 3
    table = pd.read_csv("rows.csv")
    expected = lp.TablePipeline(
        lp.load("whole.model").schema_,
        learner=lp.KeyedLearner(
            lp.OCS(variant=2, loss="logistic", learning_rate=0.003, fit_intercept=True), key="card"
        ),
    ).partial_fit(table.drop(columns="fraud"), Y)
    found = lp.load("whole.model")
    np.testing.assert_array_equal(found.raw_scores(table), expected.raw_scores(table))
    # In shards, with a rest in the middle: the same file as in one go.
    shards = ["--engine", "local", "--shards", "3", "--merge-every", "100"]
    learned("first.csv", "second.csv", *common, *shards, "-o", "shards.model")
    learned("first.csv", *common, *shards, "-o", "rest.model")
    learned("first.csv", "second.csv", "--json", *shards, "--resume", "rest.model")
    one, other = lp.load("shards.model"), lp.load("rest.model")
    np.testing.assert_array_equal(one.raw_scores(table), other.raw_scores(table))
    assert one.n_seen_ == N and one.learner_.n_keys_ == 15
    assert run(["learn", "first.csv", "--resume", "whole.model", *shards]) == 2
    assert "must not have learned yet" in capsys.readouterr().err
    assert run(["learn", "first.csv", "--resume", "rest.model", "--model-per", "price"]) == 2
    assert "--model-per must not be changed" in capsys.readouterr().err
